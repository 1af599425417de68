"""What the author decides about buffers: values that overwrite others, sizes, addresses, and created tiles."""

from __future__ import annotations

import pytest

from pypto_spec.driver.check import check_text
from pypto_spec.ir.expr import Sym, add, mod, mul, sym
from pypto_spec.passes.memory.written import never_equal

HEAD = """\
spec: v1
name: k
tensors:
  a: {dtype: fp32, shape: [64, 128]}
  b: {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: inout}
  column: {dtype: fp32, shape: [64, 1], access: inout}
buffers:
  ub: {memory: vec, slots: 1}
  two: {memory: vec, slots: 2}
program:
  - region: k
    body:
"""
LOAD = "load: {into: %s, from: %s, at: [0, 0], shape: [64, 128], buffer: %s}"
STORE = "store: {from: %s, to: out, at: [0, 0]}"


def found(*lines: str) -> list[tuple[str, int]]:
    text = HEAD + "".join(f"      {'' if line[0] == ' ' else '- '}{line}\n" for line in lines)
    return [(d.rule.code, d.primary.span.line - HEAD.count("\n")) for d in check_text(text, "k.yaml")]


def test_second_load_overwrites_the_first() -> None:
    lines = (LOAD % ("t", "a", "ub"), LOAD % ("u", "b", "ub"), "add: {into: y, lhs: t, rhs: u}", STORE % "y")
    assert found(*lines) == [("PS4002", 2)]


def test_both_values_are_shown() -> None:
    text = HEAD + "".join(
        f"      - {line}\n"
        for line in (LOAD % ("t", "a", "ub"), LOAD % ("u", "b", "ub"), "add: {into: y, lhs: t, rhs: u}", STORE % "y")
    )
    (only,) = check_text(text, "k.yaml")
    assert [label.text for label in only.secondary] == ["`t` is put in `ub` here", "`t` is needed here"]
    assert "`u` would overwrite `t`" in only.message
    assert any("another slot" in text for text in only.helps)


@pytest.mark.parametrize(
    "lines",
    [
        (LOAD % ("t", "a", "ub"), "exp: {into: y, x: t, buffer: ub}", STORE % "y"),
        (LOAD % ("t", "a", "ub"), STORE % "t", LOAD % ("u", "b", "ub"), STORE % "u"),
        (
            LOAD % ("t", "a", "two, slot: 0"), LOAD % ("u", "b", "two, slot: 1"),
            "add: {into: y, lhs: t, rhs: u}", STORE % "y",
        ),
        (
            LOAD % ("t", "a", "ub"), "slice: {into: s, x: t, at: [0, 0], shape: [64, 64]}", "exp: {into: e, x: s}",
            "store: {from: e, to: out, at: [0, 0]}", STORE % "t",
        ),
        (
            LOAD % ("t", "a", "ub"), "for: {index: i, count: 4}", "  body:",
            "    - exp: {into: t, x: t, buffer: ub}", STORE % "t",
        ),
        (
            "for: {index: i, count: 4}", "  body:", "    - " + LOAD % ("t", "a", "two, slot: i % 2"),
            "    - " + LOAD % ("u", "b", "two, slot: (i + 1) % 2"), "    - add: {into: y, lhs: t, rhs: u}",
            "    - " + STORE % "y",
        ),
        (
            LOAD % ("t", "a", "ub"), "for: {index: i, count: 4}", "  body:", "    - if: i == 0", "      then:",
            "        - store: {from: t, to: out, at: [0, 0]}", STORE % "t",
        ),
    ],
    ids=["in place", "one after the other", "slots", "views", "carried", "turning slots", "branch"],
)  # fmt: skip
def test_legal_uses(lines: tuple[str, ...]) -> None:
    assert [f for f in found(*lines) if f[0].startswith("PS4")] == []


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (
            (
                LOAD % ("t", "a", "ub"), "row_max: {into: m, x: t, buffer: ub}",
                "store: {from: m, to: column, at: [0, 0]}",
            ),
            2,
        ),
        (
            (
                LOAD % ("t", "a", "ub"), "for: {index: i, count: 4}", "  body:",
                "    - exp: {into: y, x: t, buffer: ub}", "    - " + STORE % "y",
            ),
            4,
        ),
        (
            (
                LOAD % ("t", "a", "ub"), "slice: {into: s, x: t, at: [0, 0], shape: [64, 64]}", LOAD % ("u", "b", "ub"),
                STORE % "u", "exp: {into: e, x: s}", STORE % "e",
            ),
            3,
        ),
        (
            (
                "for: {index: i, count: 4}", "  body:", "    - " + LOAD % ("t", "a", "two, slot: i % 2"),
                "    - " + LOAD % ("u", "b", "two, slot: (i + 2) % 2"), "    - add: {into: y, lhs: t, rhs: u}",
                "    - " + STORE % "y",
            ),
            4,
        ),
    ],
    ids=["over an operand it still reads", "needed in the next round", "through a view", "same slot in turn"],
)  # fmt: skip
def test_overwritten_values(lines: tuple[str, ...], line: int) -> None:
    assert [f for f in found(*lines) if f[0].startswith("PS4")] == [("PS4002", line)]


def with_buffers(buffers: str) -> list[str]:
    text = HEAD[: HEAD.index("  ub:")] + buffers + HEAD[HEAD.index("program:") :]
    lines = (LOAD % ("t", "a", "p"), LOAD % ("u", "b", "q"), "add: {into: y, lhs: t, rhs: u}", STORE % "y")
    done = check_text(text + "".join(f"      - {line}\n" for line in lines), "k.yaml")
    return [f"{d.rule.code} {d.message}" for d in done]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("address: 0", "address: 32736", "share bytes 32736 to 32768 of `vec`"),
        ("address: 0", "address: 32768", None),
        ("address: 0", "address: 16", "would start at byte 16 of `vec`, which is not on its 32 B grid"),
        ("address: 0", "address: 160000", "would take bytes 160000 to 192768 of `vec`"),
        ("bytes: 64", "address: 0", "`t` fp32[64, 128] takes 32768 B (32 KiB), `p` has 64 B"),
        ("bytes: 32768", "bytes: 40000", None),
    ],
)
def test_sizes_and_addresses(first: str, second: str, message: str | None) -> None:
    done = with_buffers(f"  p: {{memory: vec, {first}}}\n  q: {{memory: vec, {second}}}\n")
    assert (done == []) if message is None else (len(done) == 1 and message in done[0]), done


def test_created_tile_is_not_read() -> None:
    create = "create_tile: {into: t, shape: [64, 128], dtype: fp32}"
    assert found(create, STORE % "t") == [("PS2034", 2)]
    assert found(create, "row_max: {into: m, x: t}", "store: {from: m, to: column, at: [0, 0]}")[0] == ("PS2034", 2)
    reshaped = (
        "reshape: {into: s, x: t, shape: [128, 64]}",
        "exp: {into: e, x: s}",
        "reshape: {into: y, x: e, shape: [64, 128]}",
    )
    assert found(create, *reshaped, STORE % "y")[0] == ("PS2034", 3)


def test_created_tile_is_carried() -> None:
    lines = (
        "create_tile: {into: t, shape: [64, 128], dtype: fp32}", "for: {index: i, count: 4}", "  body:",
        "    - load: {into: t, from: a, at: [0, 0], shape: [64, 128]}", STORE % "t",
    )  # fmt: skip
    assert [f for f in found(*lines) if f[0] == "PS2034"] == []


def test_indices_that_never_meet() -> None:
    i = sym(Sym("i", "loop", 0, 7))
    assert never_equal(mod(i, 2), mod(add(i, 1), 2))
    assert never_equal(mul(i, 2), add(mul(i, 2), 1))
    assert never_equal(i, 8)
    assert not never_equal(mod(i, 2), mod(add(i, 2), 2))
    assert not never_equal(i, mod(i, 2))

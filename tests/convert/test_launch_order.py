"""Created tensors, the order of launches, and what tensors hold when they are used."""

from __future__ import annotations

import pytest

from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.rewrite import regions
from tests.convert.reading import errors, findings, marked, read

HEAD = """\
spec: v1
name: k
symbols: {M: {min: 1, max: 64}}
tensors:
  x: {dtype: fp32, shape: [64, 128]}
  io: {dtype: fp32, shape: [64, 128], access: inout}
  sum: {dtype: fp32, shape: [1, 128], access: out}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
"""
TMP = "  - create_tensor: {into: tmp, dtype: fp32, shape: [64, 128]}\n"
OUT = "let: out = x + 1"
SUM = "let: sum = full([1, 128], 0, dtype=fp32)"
ADD = (
    "load: {into: t, from: x, at: [0, 0], shape: [64, 128]}",
    "let: p = col_sum(t)",
    "store: {from: p, to: sum, at: [0, 0], atomic: add}",
)


def launch(name: str, *body: str, after: str = "", indent: str = "  ") -> str:
    """One region; each line of its body is a statement without its dash."""
    lines = [f"- region: {name}", *([f"  after: [{after}]"] if after else []), "  body:"]
    lines += [f"    - {line}" for line in body]
    return "".join(f"{indent}{line}\n" for line in lines)


def spec(*parts: str) -> str:
    """A spec; outputs that its parts do not write are left out."""
    text = HEAD + "".join(parts)
    for name in ("sum", "out"):
        if f"to: {name}" not in text and f"let: {name} =" not in text:
            text = "".join(line for line in text.splitlines(True) if not line.startswith(f"  {name}:"))
    return text


def names(program: Program) -> list[str]:
    return [region.name for region in regions(program.body)]


def only(text: str) -> Diagnostic:
    (found,) = errors(text)
    return found


# Created tensors


def test_a_created_tensor_is_written_by_one_region_and_read_by_the_next() -> None:
    text = spec(TMP, launch("a", "let: tmp = x + 1"), launch("b", "let: out = tmp * 2"))
    program = read(text)
    (tmp,) = program.created
    assert (tmp.name, str(tmp.type)) == ("tmp", "fp32[64, 128]")
    assert findings(text) == []
    printed = to_spec(program)
    assert "  - create_tensor: {into: tmp, dtype: fp32, shape: [64, 128]}\n    src: [9, 5]\n" in printed
    assert str(read(printed).created[0].type) == "fp32[64, 128]"


def test_a_created_tensor_may_have_run_time_extents() -> None:
    text = spec(TMP.replace("64, 128", "M, 2 * M"), launch("a", OUT))
    assert str(read(text).created[0].type) == "fp32[M, 2*M]".replace("2*M", "M * 2")


def test_a_region_reads_back_what_it_wrote() -> None:
    assert errors(spec(TMP, launch("a", "let: tmp = x + 1", "let: out = tmp * 2"))) == []


@pytest.mark.parametrize(
    "parts",
    [
        (launch("a", "let: out = tmp + x"),),
        (launch("a", "let: out = tmp + x"), launch("b", "let: tmp = x + x")),
        ("  - parallel: {index: i, count: 4}\n    body:\n", launch("a", "let: out = tmp + x", indent="      ")),
    ],
)
def test_reading_a_created_tensor_that_nobody_wrote(parts: tuple[str, ...]) -> None:
    found = only(spec(TMP, *parts))
    assert found.rule.code == "PS2034"
    assert "`tmp` is read before anything was stored to it" in found.message
    assert len(found.secondary) == ("let: tmp" in "".join(parts))


def test_after_puts_the_writer_first() -> None:
    text = spec(TMP, launch("a", "let: out = tmp + x", after="b"), launch("b", "let: tmp = x + x"))
    assert names(read(text)) == ["b", "a"]


def test_a_created_tensor_that_nobody_reads() -> None:
    for body, what in (("let: tmp = x + 1", "stored to and never read"), (OUT, "never used")):
        text = spec(TMP, launch("a", body), launch("b", OUT))
        (found,) = findings(text)
        assert (found.rule.code, found.message) == ("PS2020", f"`tmp` is created and {what}")
        assert findings(text.replace(TMP, TMP + "    allow: PS2020\n")) == []


@pytest.mark.parametrize(
    ("around", "word"),
    [
        ("for: {index: i, count: 2}\n    body:\n", "for"),
        ("parallel: {index: i, count: 2}\n    body:\n", "parallel"),
        ("if: M > 3\n    then:\n", "if"),
    ],
)
def test_there_is_one_of_it_for_the_whole_program(around: str, word: str) -> None:
    found = only(spec(f"  - {around}    {TMP}", launch("b", OUT)))
    assert (found.rule.code, found.message) == ("PS7001", f"`create_tensor` inside `{word}` is not there yet")


def test_its_name_is_its_own() -> None:
    found = only(spec(TMP.replace("tmp", "x"), launch("a", OUT)))
    assert (found.rule.code, marked(found.primary.span)) == ("PS2030", "x")
    found = only(spec(TMP, TMP, launch("a", "let: tmp = x + 1", "let: out = tmp * 2")))
    assert (found.rule.code, marked(found.primary.span)) == ("PS2030", "tmp")


# Order


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("let: io = x + 1", "let: out = io * 2"),  # read after write
        ("let: out = io * 2", "let: io = x + 1"),  # write after read
        ("let: out = x + 1", "let: out = x * 2"),  # write after write
    ],
)
def test_without_after_the_order_is_that_of_the_text(first: str, second: str) -> None:
    assert names(read(spec(launch("a", first), launch("b", second)))) == ["a", "b"]
    assert names(read(spec(launch("a", first, after="b"), launch("b", second)))) == ["b", "a"]


def test_what_does_not_depend_on_it_keeps_its_place() -> None:
    text = spec(
        launch("a", "let: io = x + 1", after="late"), launch("b", "let: out = x * 2"), launch("c", "let: out = io + x"),
        launch("late", SUM),
    )  # fmt: skip
    assert names(read(text)) == ["b", "late", "a", "c"]


def test_a_host_loop_is_one_in_its_list() -> None:
    loop = "  - for: {index: i, count: 2}\n    body:\n"
    text = spec(loop, launch("a", "let: io = x + 1", after="b", indent="      "), launch("b", "let: out = x * 2"))
    assert names(read(text)) == ["b", "a"]
    inner = launch("a", "let: io = x + 1", after="b", indent="      ") + launch("b", OUT, indent="      ")
    assert names(read(spec(loop, inner))) == ["b", "a"]


def test_launches_that_wait_for_each_other() -> None:
    found = only(spec(launch("a", "let: io = x + 1", after="b"), launch("b", OUT, after="a")))
    assert found.rule.code == "PS6021"
    assert found.message == "`a` and `b` wait for each other: `a` is `after` `b`, `b` is `after` `a`"
    found = only(spec(launch("a", OUT, after="a")))
    assert found.message == "`a` waits for itself"


def test_a_circle_through_tensors() -> None:
    text = spec(
        launch("a", "let: io = x + 1", after="c"), launch("b", "let: out = io + x"), launch("c", "let: out = x * 2")
    )
    found = only(text)
    assert found.message == (
        "`a`, `c` and `b` wait for each other: `a` is `after` `c`, `c` uses `out` behind `b`, `b` uses `io` behind `a`"
    )
    assert marked(found.primary.span) == "c"


def test_after_names_a_launch() -> None:
    text = spec(
        launch("first", "let: io = x + 1").replace("body", "as: stored\n    body", 1), launch("b", OUT, after="storde")
    )
    found = only(text)
    assert (found.rule.code, marked(found.primary.span), found.helps) == (
        "PS2001",
        "storde",
        ("did you mean `stored`?",),
    )
    assert names(read(text.replace("storde", "stored"))) == ["first", "b"]
    assert only(spec(launch("a", OUT, after="nothing_alike"))).helps == ("regions and launches are `a`",)


# Sums


def test_a_sum_starts_from_zero() -> None:
    assert errors(spec(launch("zero", SUM), launch("add", *ADD))) == []
    assert errors(spec(launch("add", *ADD, after="zero"), launch("zero", SUM))) == []
    assert (
        errors(spec(launch("add", *ADD)).replace("shape: [1, 128], access: out", "shape: [1, 128], access: inout"))
        == []
    )


def test_a_sum_of_nothing() -> None:
    found = only(spec(launch("add", *ADD)))
    assert (found.rule.code, found.message) == (
        "PS6042",
        "region `add` adds to `sum`, and nothing was stored to it before",
    )
    assert marked(found.primary.span) == "sum"
    assert found.helps[0].endswith("whose body is `let: sum = full([1, 128], 0, dtype=fp32)`")


def test_a_sum_that_nothing_orders_behind_its_start() -> None:
    found = only(spec(launch("add", *ADD), launch("zero", SUM)))
    assert found.message == "region `add` adds to `sum`, and region `zero`, which stores to it, runs later"
    assert found.helps[0].startswith("write `after: [zero]` beside region `add`")


def test_a_sum_that_other_blocks_do_not_wait_for() -> None:
    grid = "  - spmd: {index: b, blocks: 4}\n    body:\n"
    zero = "full: {into: z, shape: [1, 128], value: 0, dtype: fp32}", "store: {from: z, to: sum, at: [0, 0]}"
    guarded = "if: b == 0\n          then:\n            - " + "\n            - ".join(zero)
    found = only(spec(grid, launch("add", guarded.replace("\n", "\n  "), *ADD, indent="      ")))
    assert found.message == (
        "region `add` adds to `sum`, and its other blocks do not wait for the one that stores to it"
    )
    assert errors(spec(launch("add", *zero, *ADD))) == []


def test_a_created_tensor_is_a_sum_too() -> None:
    text = spec(TMP.replace("64, 128", "1, 128"), launch("add", *ADD).replace("to: sum", "to: tmp"))
    found = only(text + launch("b", "let: out = x + tmp"))
    assert (found.rule.code, len(found.helps)) == ("PS6042", 1)


# Stores of arrays


def test_an_array_is_stored_to_a_window() -> None:
    text = spec(launch("a", "let: e = x[0:32, 0:64]", "store: {from: e, to: out, at: [32, 64]}"))
    assert errors(text) == []
    found = only(text.replace("at: [32, 64]", "at: [33, 64]"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS3004", "[33, 64]")
    found = only(text.replace("to: out, at: [32, 64]", "to: out, at: [32]"))
    assert found.rule.code == "PS3001"

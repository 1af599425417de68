"""Options without effect, codes that do not exist, numbers of blocks, symbols, and flags where they cannot stand."""

from __future__ import annotations

import pytest

from pypto_spec.driver.check import check_text

TEXT = """\
spec: v1
name: k
tensors:
  a: {dtype: fp32, shape: [64, 64]}
  b: {dtype: fp32, shape: [64, 32]}
  out: {dtype: fp32, shape: [64, 64], access: out}
program:
  - region: k
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [64, 64]}
        allow: PH001
      - exp: {into: y, x: t}
      - store: {from: y, to: out, at: [0, 0]}
        allow: [PH001]
"""


def found(text: str) -> list[tuple[str, int]]:
    return [(d.rule.code, d.primary.span.line) for d in check_text(text, "k.yaml")]


def test_allow_takes_one_word() -> None:
    assert found(TEXT) == []
    unused = TEXT.replace("      - store", "      - abs: {into: z, x: t}\n      - store")
    assert found(unused) == [("PS2020", 13)]
    assert found(unused.replace("x: t}\n      - store", "x: t}\n        allow: PS2020\n      - store")) == []


@pytest.mark.parametrize("option", ["l0c_double_buffer: true", "unit_flag: true"])
def test_options_without_effect(option: str) -> None:
    assert found(TEXT.replace("name: k\n", f"name: k\ntarget: {{{option}}}\n", 1)) == [("PS7002", 3)]


def test_errors_cannot_be_switched_off() -> None:
    assert found(TEXT + "diagnostics: {disable: [PS4001, PH001, PH-MR-001]}\n") == [("PS1023", 15)]
    assert found(TEXT + "diagnostics: {disable: memory-overflow}\n") == [("PS1023", 15)]
    assert found(TEXT.replace("allow: PH001", "allow: [PH001, PS4001]")) == [("PS1023", 11)]


def test_unknown_codes() -> None:
    (only,) = check_text(TEXT + "diagnostics: {disable: [PH-MR-02]}\n", "k.yaml")
    assert only.rule.code == "PS1016"
    assert list(only.helps) == ["did you mean `PH-MR-001`?"]
    assert ("PS1016", 11) in found(TEXT.replace("allow: PH001", "allow: PS202"))


@pytest.mark.parametrize(
    ("beside", "code"),
    [("blocks: 0", "PS1019"), ("blocks: 70000", "PS1019"), ("blocks: M", "PS3035")],
)
def test_beside_a_region(beside: str, code: str) -> None:
    text = TEXT.replace("name: k\n", "name: k\nsymbols: {M: {max: 8}}\n", 1)
    assert found(text.replace("  - region: k\n", f"  - region: k\n    {beside}\n"))[0] == (code, 10)


@pytest.mark.parametrize("launch", ["spmd: {index: i, blocks: 0}", "parallel: {index: i, count: 0}"])
def test_no_blocks(launch: str) -> None:
    body = TEXT[TEXT.index("  - region") :].replace("\n", "\n    ").rstrip()
    text = TEXT[: TEXT.index("  - region")] + f"  - {launch}\n    body:\n    {body}\n"
    assert found(text) == [("PS1019", 8)]


@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        ("{min: 1, max: 100, multiple_of: 16}", None),
        ("{min: 1, max: 100, multiple_of: 0}", "PS1019"),
        ("{min: 17, max: 31, multiple_of: 16}", "PS1019"),
        ("{min: 5, max: 4}", "PS1019"),
    ],
)
def test_symbols(bounds: str, code: str | None) -> None:
    text = TEXT.replace("name: k\n", f"name: k\nsymbols: {{M: {bounds}}}\n", 1)
    assert found(text) == ([] if code is None else [(code, 3)])


def test_flags_need_manual_sync() -> None:
    text = TEXT.replace("      - exp", "      - barrier: v\n      - set_flag: {from: v, to: mte3, id: 0}\n      - exp")
    assert found(text) == [("PS5108", 12)]


def test_binding_an_input_does_not_cascade() -> None:
    text = TEXT.replace("      - exp: {into: y, x: t}", "      - let: b = exp(t)\n      - let: y = b * t")
    assert found(text) == [("PS3012", 12)]

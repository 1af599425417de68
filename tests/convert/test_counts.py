"""How often loops and launches run: counts below the least are refused where they are written, with their values."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from tests.convert.reading import marked

SPEC = """\
spec: v1
name: k
constants: {T: 4, U: T - 8}
symbols: {M: {min: 0, max: 64}}
tensors:
  x: {dtype: fp32, shape: [64, 64]}
  y: {dtype: fp32, shape: [64, 64], access: inout}
program:
"""
COPY = "- load: {into: t, from: x, at: [0, 0], shape: [8, 64]}\n- store: {from: t, to: y, at: [0, 0], atomic: add}\n"

INSIDE = ["for", "pipeline", "unroll"]
OUTSIDE = ["for", "parallel"]
LOOPS = [(word, True) for word in INSIDE] + [(word, False) for word in OUTSIDE]


def indent(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def spec(word: str, fields: str, *, inside: bool) -> str:
    """A spec with one loop or launch, in a region or around one."""
    body = COPY if inside else f"- region: r\n  body:\n{indent(COPY, 4)}"
    loop = f"- {word}: {{index: i, {fields}}}\n  body:\n{indent(body, 4)}"
    return SPEC + indent(f"- region: r\n  body:\n{indent(loop, 4)}" if inside else loop, 2)


def found(text: str, **defines: str) -> list[Diagnostic]:
    return [d for d in compile_source(Source("k.yaml", text), defines=defines).diagnostics if d.rule.code[:2] == "PS"]


def least(word: str) -> int:
    return 1 if word == "parallel" else 0


@pytest.mark.parametrize(("word", "inside"), LOOPS)
@pytest.mark.parametrize(
    ("count", "value", "labels"),
    [
        ("-3", "", []),
        ("T", ", which is -1", ["`T` is -1"]),
        ("$T", ", which is -1", ["`T` is -1"]),
        ("U", ", which is -9", ["`U` is -9"]),
        ("T * 2 + U", ", which is -11", ["`T` is -1", "`U` is -9"]),
    ],
)
def test_negative_count(word: str, inside: bool, count: str, value: str, labels: list[str]) -> None:
    (only,) = found(spec(word, f"count: {count}", inside=inside), T="-1")
    assert (only.rule.code, marked(only.primary.span)) == ("PS1019", count)
    assert only.message == f"`count` is at least {least(word)}, found `{count.removeprefix('$')}`{value}"
    assert [label.text for label in only.secondary] == labels
    assert [marked(label.span) for label in only.secondary] == [label[1] for label in labels]


@pytest.mark.parametrize(("word", "inside"), [(w, i) for w, i in LOOPS if w != "unroll"])
def test_count_that_is_negative_for_every_size(word: str, inside: bool) -> None:
    (only,) = found(spec(word, "count: M - 65", inside=inside))
    assert only.message == f"`count` is at least {least(word)}, found `M - 65`, which is -65 to -1"
    assert found(spec(word, "count: M - 63", inside=inside)) == []


@pytest.mark.parametrize(("word", "inside"), LOOPS)
def test_zero_is_no_error_where_nothing_need_run(word: str, inside: bool) -> None:
    messages = [d.message for d in found(spec(word, "count: T", inside=inside), T="0")]
    assert messages == (["`count` is at least 1, found `T`, which is 0"] if word == "parallel" else [])
    assert found(spec(word, "count: T", inside=inside), T="1") == []


@pytest.mark.parametrize(("word", "inside"), LOOPS)
@pytest.mark.parametrize("span", ["[2, T]", "[2, T, 3]"])
def test_an_empty_range(word: str, inside: bool, span: str) -> None:
    text = spec(word, f"range: {span}", inside=inside)
    if word != "parallel":
        assert found(text, T="-1") == []
        return
    for value in ("-1", "2"):
        (only,) = found(text, T=value)
        assert (only.rule.code, marked(only.primary.span)) == ("PS1019", span)
        assert only.message == (
            f"`range` starts at `2` and stops at `T`, which is {value}: it has no index, "
            "and a launch has at least one block"
        )
        assert [(label.text, marked(label.span)) for label in only.secondary] == [(f"`T` is {value}", "T")]
    assert found(text, T="3") == []


@pytest.mark.parametrize("value", ["-1", "0", "65536"])
def test_blocks(value: str) -> None:
    launch = spec("spmd", "blocks: T", inside=False)
    region = SPEC + "  - region: r\n    blocks: T\n    body:\n      - let: y = x + 1\n"
    for text in (launch, region):
        (only,) = found(text, T=value)
        assert (only.rule.code, marked(only.primary.span)) == ("PS1019", "T")
        assert only.message == f"a launch has 1 to 65535 blocks, found `T`, which is {value}"
        assert [label.text for label in only.secondary] == [f"`T` is {value}"]


def test_blocks_as_they_are_written() -> None:
    (zero,) = found(spec("spmd", "blocks: 0", inside=False))
    assert zero.message == "a launch has 1 to 65535 blocks, found `0`"
    (never,) = found(spec("spmd", "blocks: M - 64", inside=False))
    assert never.message == "a launch has 1 to 65535 blocks, found `M - 64`, which is -64 to 0"


def test_an_unrolled_index_may_make_a_loop_empty() -> None:
    loop = f"- for: {{index: i, count: j - 1}}\n  body:\n{indent(COPY, 4)}"
    loop = f"- unroll: {{index: j, count: 3}}\n  body:\n{indent(loop, 4)}"
    text = SPEC + f"  - region: r\n    body:\n{indent(loop, 6)}"
    assert found(text) == []

"""What the compiler says of a spec that stops in the middle of a line, with the rest of the spec below it."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.load import Format
from pypto_spec.spec.toml_loader import load_toml
from pypto_spec.spec.yaml_loader import load_yaml

YAML = """\
program:
  - region: r
    body:
      - §
      - let: z = exp(t)
golden:
  expect: {out: exp(x)}
"""
TOML = """\
§
k = 1

[[program]]
region = "r"
"""


def found(written: str, format: Format, frame: str | None = None) -> tuple[str, Diagnostic]:
    """The text, and the one finding about it."""
    text = (frame or {"yaml": YAML, "toml": TOML}[format]).replace("§", written)
    load = load_yaml if format == "yaml" else load_toml
    with pytest.raises(CompileError) as caught:
        load(Source(f"s.{format}", text))
    (only,) = caught.value.diagnostics
    return text, only


@pytest.mark.parametrize(
    ("written", "opened", "closed"),
    [
        ("load: {", "{", "}"),
        ("load: {into: t, from: ", "{", "}"),
        ("load: {into: t, from: x", "{", "}"),
        ("load: {into: t, from: x, at: [0, 0]", "{", "}"),
        ("load: {into: t, at: [0,", "[0", "]}"),
        ("load: {into: t, at: [0  # not this [", "[0", "]}"),
        ("load: {into: t, at: [row_max(", "[row", "]}"),
        ('print: {format: "it\'s {t} [", x: [', "[\n", "]}"),
    ],
)
def test_a_bracket_left_open_is_shown_on_its_own_line(written: str, opened: str, closed: str) -> None:
    text, only = found(written, "yaml")
    start = text.index(opened, text.index(written))
    assert only.message == f"`{opened[0]}` is never closed"
    assert (only.primary.span.line, only.primary.span.col) == Source("s", text).position(start)
    (fix,) = only.fixes
    assert fix.replacement.lstrip() == closed
    at = Source("s", text).line_starts()[fix.span.line - 1] + fix.span.col - 1
    load_yaml(Source("s.yaml", text[:at] + fix.replacement + text[at:]))


@pytest.mark.parametrize("written", ["load: {into: t,\n\n", "load: {into: t,\n          from: x,\n"])
def test_a_bracket_some_lines_above_is_shown(written: str) -> None:
    text, only = found(written, "yaml")
    assert only.message == "`{` is never closed"
    assert only.primary.span.line == text[: text.index("{")].count("\n") + 1


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("load: {into: t from: x}", "a `,` or the closing `}` is missing"),
        ("load: {at: [0, 1]]}", "a `,` or the closing `}` is missing"),
        ("load: {\n          a: {b: c}\n          d: {e: f}\n        }", "a `,` or the closing `}` is missing"),
        ("load: {, a: b}", "a key or a value is missing before this"),
    ],
)
def test_a_bracket_that_is_closed_is_not_blamed(written: str, message: str) -> None:
    assert found(written, "yaml")[1].message == message


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("a = ", "a value is missing"),
        ("a = {", "a key is missing, or the closing bracket"),
        ("a = { b = ", "a value is missing"),
        ("a = { b = 1", "`{` is never closed"),
        ("a", "the `=` with a value is missing"),
        ("[a", "`[` is never closed"),
        ("[[a]", "`[[` is never closed"),
        ('a = "x', "a quoted text is never closed"),
        ("a = 'x", "a quoted text is never closed"),
        ('a = ["x"', "`[` is never closed"),
        ('a = ["x",', "`[` is never closed"),
        ("a = [\n  { b = 1 },\n", "`[` is never closed"),
        ("a = [\n  { b = 1 },\n  { c = ", "a value is missing"),
    ],
)
def test_unfinished_toml_says_what_is_missing(written: str, message: str) -> None:
    _, only = found(written, "toml")
    assert only.message == message
    if message.startswith("`[` is") and written.startswith("a"):
        assert (only.primary.span.line, only.primary.span.col) == (1, 5)


def test_a_list_left_open_before_a_table_is_shown() -> None:
    _, only = found("a = [\n  { b = 1 },\n", "toml", "§\n[[c]]\nd = 1\n")
    assert only.message == "`[` is never closed"
    assert only.primary.span.line == 1

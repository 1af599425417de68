"""A spec with all that makes positions hard, and findings on it."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, Rule, Severity, diagnose
from pypto_spec.diagnostics.span import Source, Span

OVERFLOW = Rule("PS4001", "memory-overflow", Severity.ERROR, "live buffers exceed an on-chip memory")
SHAPES = Rule("PS3001", "shape-mismatch", Severity.ERROR, "operand shapes do not fit the operation")
KEY = Rule("PS1001", "unknown-key", Severity.ERROR, "a mapping has a key the language does not know")
SHORT = Rule("PH001", "tile-innermost-dim", Severity.HINT, "rows of a copy are shorter than a GM burst")
LOSS = Rule("PS3900", "value-changed", Severity.WARNING, "a literal changes in the dtype of the tile")

SPEC = Source(
    "sum.yaml",
    """spec: v1
name: sum
tensors:
  a: {dtype: fp32, shape: [64, 64]}   # 输入矩阵
  b: {dtype: fp32, shape: [64, 32]}

program:
  - region: sum
    body:
      - load: {into: 张量, from: a, at: [0, 0], shape: [64, 64]}
      - add: {into: y, lhs: 张量, rhs: u}
      - store:
          from: y
          to: out
          at: [0, 0]

""",
)


def span(line: int, word: str, source: Source = SPEC) -> Span:
    """The first place of `word` on a line."""
    col = source.line(line).index(word) + 1
    return Span(source, line, col, line, col + len(word))


def shape_mismatch() -> Diagnostic:
    """Three labels on one line, one of them on CJK text."""
    return diagnose(
        SHAPES,
        span(11, "add"),
        "`add` needs operands of one shape",
        label="these do not fit",
        secondary=[Label(span(11, "张量"), "[64, 64]"), Label(span(11, "u"), "[64, 32]")],
        helps=["slice `张量` to [64, 32]"],
        figures=[("rows", 64)],
    )


def overflow() -> Diagnostic:
    """Labels on several lines and in a second file, notes of two lines, and a fix."""
    target = Source("targets/a2a3.toml", "\n" * 8 + "vec_bytes = 196608\n")
    return diagnose(
        OVERFLOW,
        span(11, "add"),
        "`vec` memory needs 200.5 KiB at its peak, 192 KiB are available",
        label="the peak is here",
        secondary=[
            Label(span(10, "张量"), "16 KiB from here to line 11"),
            Label(span(4, "fp32"), "4 bytes each"),
            Label(Span(target, 9, 13, 9, 19), "capacity stated here"),
        ],
        notes=["line 10  16384 B\nline 11  16384 B"],
        helps=["`shape: [32, 64]` needs 100 KiB"],
        fixes=[Fix(span(10, "64"), "32"), Fix(Span(SPEC, 3, 1, 3, 1), "# small\n", safe=True)],
        figures=[("needed", 205312), ("available", 196608), ("memory", "vec")],
    )


def several_lines() -> Diagnostic:
    """Spans of several lines, one around the other, with the blank lines that block nodes end with."""
    return diagnose(
        KEY,
        Span(SPEC, 12, 9, 17, 1),
        "unknown key in `store`",
        label="this statement",
        secondary=[
            Label(Span(SPEC, 8, 5, 17, 1), "in this region"),
            Label(Span(SPEC, 10, 13, 11, 12), "between"),
        ],
    )


def short_rows() -> Diagnostic:
    """A hint without label."""
    return diagnose(SHORT, span(10, "shape: [64, 64]"), "moves 16384 bytes as 64 rows of 256 bytes")


def all_samples() -> list[Diagnostic]:
    return [overflow(), shape_mismatch(), several_lines(), short_rows()]

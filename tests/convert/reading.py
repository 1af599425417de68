"""Short ways to a program and its text, for the tests of this folder."""

from __future__ import annotations

import re

from pypto_spec.convert.to_ir import convert
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import CompileError, Diagnostic, Sink
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.ir.nodes import Program
from pypto_spec.spec.models.document import load_document

HEAD = """\
spec: v1
name: k
constants: {N: 128, s: 0.5, big: 100000.0, rounding: floor}
scalars: {eps: fp32, n: int32}
symbols: {M: {min: 1, max: 4096}}
tensors:
  a: {dtype: fp32, shape: [64, 128]}
  r: {dtype: fp32, shape: [64, 1]}
  c: {dtype: fp32, shape: [1, 128]}
  o: {dtype: fp32, shape: [1, 1]}
  h: {dtype: fp16, shape: [64, 128]}
  b: {dtype: bf16, shape: [64, 128]}
  q: {dtype: int32, shape: [64, 128]}
  x: {dtype: fp32, shape: [512, 128]}
  res: {dtype: fp32, shape: [64, 128], access: inout}
  brain: {dtype: bf16, shape: [64, 128], access: inout}
program:
"""


def read(text: str, sink: Sink | None = None, name: str = "k.yaml") -> Program:
    """The program of a whole spec."""
    return convert(load_document(Source(name, text)), sink or Sink())


def region(*lines: str) -> str:
    """A spec with one region of such statements (each without its `- `; further lines of one are indented)."""
    body = "".join(f"      - {line}\n".replace("\n", "\n        ", line.count("\n")) for line in lines)
    return f"{HEAD}  - region: k\n    body:\n{body}"


def statements(text: str) -> list[str]:
    """The printed statements of a spec, without types and places."""
    printed = to_spec(read(text)).partition("program:\n")[2]
    lines = [line for line in printed.splitlines() if not re.match(r" *(src|type):", line)]
    return [re.sub(r"^      ", "", line) for line in lines[2:]]


def lets(*formulas: str) -> list[str]:
    """The printed statements of a region of `let`s."""
    return [line.removeprefix("- ") for line in statements(region(*(f"let: {f}" for f in formulas)))]


def errors(text: str) -> list[Diagnostic]:
    """What is wrong with a spec."""
    try:
        read(text)
    except CompileError as error:
        return list(error.diagnostics)
    return []


def findings(text: str) -> list[Diagnostic]:
    """The warnings and hints of a spec."""
    sink = Sink()
    read(text, sink)
    return sink.found


def marked(span: Span) -> str:
    """The text under a span of one line."""
    assert span.line == span.end_line
    return span.source.line(span.line)[span.col - 1 : span.end_col - 1]

"""Any program, after any pass: its text is read back to the same text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from pypto_spec.convert.to_ir import convert
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import CompileError, Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.ir.nodes import Dump, Program
from pypto_spec.passes.base import Context
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import TARGETS
from tests.convert.programs import bodies, spec
from tests.convert.reading import read

SPECS = Path(__file__).parents[2] / "specs"
GALLERY = sorted([*SPECS.rglob("*.yaml"), *SPECS.rglob("*.toml")])


def reread(text: str, source: str) -> Program:
    return convert(load_document(Source("dump.yaml", text)), Sink(), read_source=lambda _: source)


def check(program: Program, source: str) -> int:
    """Compare after each pass; the number of passes that ran (one may refuse the program)."""
    done = 0
    for step in PASSES:
        try:
            program = step.run(program, Context(TARGETS[program.target.platform], Sink()))
        except CompileError:
            break
        text = to_spec(replace(program, dump=Dump(step.name, "k.yaml", "0" * 64)))
        assert to_spec(reread(text, source)) == text, step.name
        done += 1
    return done


@given(bodies())
def test_before_and_after_each_pass(lines: list[str]) -> None:
    text = spec(lines)
    program = read(text)
    printed = to_spec(replace(program, dump=Dump("none", "k.yaml", "0" * 64)))
    assert to_spec(reread(printed, text)) == printed
    check(program, text)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert check(read(text, name=path.name), text) == len(PASSES)


ROW = """\
spec: v1
name: row
tensors:
  a:   {dtype: fp32, shape: [48, 1]}
  b:   {dtype: fp32, shape: [48, 32]}
  out: {dtype: fp32, shape: [1, 32], access: out}
program:
  - region: row
    body:
      - let: out = matmul(a, b, a_trans=true)
"""
"""A row that L0A stores as a matrix (`zz`), since it comes out of fractals."""


def test_a_row_of_fractals() -> None:
    assert check(read(ROW), ROW) == len(PASSES)

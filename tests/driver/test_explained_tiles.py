"""The tiles that `explain-tiling` names are the ones that are built."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.driver.tiling.spec import matmuls
from pypto_spec.driver.tiling.subject import Subject
from pypto_spec.driver.tiling.text import text
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TileType
from pypto_spec.passes.l0.choice import Choice
from tests.cli.specs import ROOT

SUM = """\
spec: v1
name: sum
target: {l0c_double_buffer: DOUBLE}
tensors:
  a: {dtype: fp16, shape: [128, 1024]}
  b: {dtype: fp16, shape: [1024, 256]}
  out: {dtype: fp32, shape: [128, 256], access: out}
program:
  - region: sum
    body:
      - create_tile: {into: c, shape: [128, 256], dtype: fp32, memory: acc}
      - pipeline: {index: k, count: 4, stages: 2}
        body:
          - load: {into: l, from: a, at: [0, k * 256], shape: [128, 256]}
          - load: {into: r, from: b, at: [k * 256, 0], shape: [256, 256]}
          - matmul_acc: {into: c, acc: c, lhs: l, rhs: r, init: k == 0}
      - store: {from: c, to: out, at: [0, 0]}
"""
READ_TWICE = """\
spec: v1
name: twice
tensors:
  a: {dtype: fp16, shape: [128, 128]}
  b: {dtype: fp16, shape: [128, 256]}
  out: {dtype: fp32, shape: [128, 256], access: out}
  low: {dtype: fp16, shape: [128, 256], access: out}
target: {planner: ptoas}
program:
  - region: twice
    body:
      - load: {into: l, from: a, at: [0, 0], shape: [128, 128]}
      - load: {into: r, from: b, at: [0, 0], shape: [128, 256]}
      - matmul: {into: c, lhs: l, rhs: r}
      - store: {from: c, to: out, at: [0, 0]}
      - store: {from: c, to: low, at: [0, 0]}
"""
GALLERY = tuple(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "specs" / "cube").glob("*.yaml")))
TEXTS = {"sum": SUM.replace("DOUBLE", "false"), "sum_by_two": SUM.replace("DOUBLE", "true"), "read_twice": READ_TWICE}


def _spec(name: str) -> Spec:
    written = TEXTS.get(name) or (ROOT / name).read_text(encoding="utf-8")
    return Spec(Source(name, written), "yaml", written.encode())


@pytest.mark.parametrize("name", [*TEXTS, *GALLERY])
def test_named_tiles_are_built(name: str) -> None:
    spec = _spec(name)
    program = compile_spec(spec, after="AutoTileMatmulL0").program
    assert program is not None
    built: dict[int, set[tuple[int, int, int]]] = {}
    for region in regions(program.body):
        for op in ops(region.body):
            if op.name.startswith("matmul"):
                lhs, rhs = op.operands["lhs"].type, op.operands["rhs"].type
                assert isinstance(lhs, TileType) and isinstance(rhs, TileType)
                built.setdefault(op.loc.span.start[0], set()).add((lhs.rows, rhs.cols, lhs.cols))
    for subject in matmuls(spec).found:
        if not isinstance(subject, Subject) or not isinstance(subject.choice, Choice):
            continue
        assert subject.where is not None
        line = int(subject.where.removeprefix(f"{spec.title}:").split(":")[0])
        tile = subject.choice.winner.tile if subject.built is None else subject.built.tile
        if subject.choice.is_tiled:
            there = tuple(map(min, tile, subject.problem.asked))
            assert there in built[line], subject.where
        assert (subject.built is None) == ("built as" not in text([subject]))


def test_a_sum_keeps_its_accumulator_whole() -> None:
    plain, double = (text(matmuls(_spec(name)).found) for name in ("sum", "sum_by_two"))
    assert "built as" not in plain
    assert "two accumulators cannot be had: it adds to an accumulator, which is one tile" in plain
    assert "l0c_double_buffer" not in plain
    assert "built as 128 x 256 x 64: it adds to an accumulator, which is one tile" in double


def test_a_result_that_is_read_twice_is_not_cut() -> None:
    assert "its result is read 2 times" in text(matmuls(_spec("read_twice")).found)

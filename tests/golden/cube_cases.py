"""Cases for the operators of the cube, which take matrices that fit each other."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from tests.golden.harness import Case
from tests.golden.spec_text import Shape, Spec

WIDTH = 24
"""Columns of a right operand; no multiple of a box in any dtype."""


def _width(shape: Shape) -> int:
    """Columns of the right operand, so few that [K, N] fits `mat`."""
    return WIDTH if shape[1] <= 1024 else 8


def products(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[Case]:
    """matmul and gemv with their suffixes: `shape` is the left operand's, [M, K]."""
    rows, depth = (1 if defn.name.startswith("gemv") else shape[0]), shape[1]
    width, acc = _width(shape), ACCUMULATOR.get(dtype, dtype)
    fields = [f.name for f in defn.fields if f.kind == "tile"]
    plain = defn.name.partition("_")[0]
    for written in ["statement", *(["let"] if defn.function else [])]:
        spec = Spec(f"{name}_{written}")
        spec.load("lhs", dtype, (rows, depth))
        spec.load("rhs", dtype, (depth, width))
        if "bias" in fields:
            spec.load("bias", acc, (1, width))
        if "acc" in fields:
            spec.body.append(f"{plain}: {{into: acc, lhs: lhs, rhs: rhs}}")
        operands = ", ".join(f"{f}: {f}" for f in fields)
        spec.body.append(
            f"let: y = {defn.function}(lhs, rhs)" if written == "let" else f"{defn.name}: {{into: y, {operands}}}"
        )
        spec.store("y", acc, (rows, width))
        yield Case(spec.text(), not acc.is_float)


def stacks(name: str, dtype: DType, shape: Shape) -> Iterator[Case]:
    """batch_matmul of two matrices of `shape` each, and of two with one."""
    (rows, depth), width, acc = shape, _width(shape), ACCUMULATOR.get(dtype, dtype)
    if 2 * depth * max(rows, width) * dtype.bytes > 400_000:
        return
    for left, right in (((2, rows, depth), (2, depth, width)), ((rows, depth), (2, depth, width))):
        spec = Spec(f"{name}_{len(left)}")
        spec.load("lhs", dtype, left)
        spec.load("rhs", dtype, right)
        spec.body.append("batch_matmul: {into: y, lhs: lhs, rhs: rhs}")
        spec.store("y", acc, (2, rows, width))
        yield Case(spec.text(), not acc.is_float)


def views(name: str, dtype: DType, shape: Shape) -> Iterator[Case]:
    """transpose_view of an operand of `shape`, as the right operand [K, N] and as the left one [M, K]."""
    rows, cols = shape
    acc = ACCUMULATOR.get(dtype, dtype)
    for side in ("rhs", "lhs"):
        spec = Spec(f"{name}_{side}")
        spec.load("x", dtype, shape)
        if rows == 1:
            spec.body[-1] = spec.body[-1].replace("}", ", memory: mat, layout: nz}")
        spec.body.append("transpose_view: {into: t, x: x}")
        other = (WIDTH, cols) if side == "rhs" else (rows, WIDTH)
        spec.load("o", dtype, other)
        spec.body.append(
            f"matmul: {{into: y, lhs: {'o' if side == 'rhs' else 't'}, rhs: {'t' if side == 'rhs' else 'o'}}}"
        )
        spec.store("y", acc, (WIDTH, rows) if side == "rhs" else (cols, WIDTH))
        yield Case(spec.text(), not acc.is_float)

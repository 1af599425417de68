"""Cases for the ops of the families `compare` and `divide`, which do not take just any operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypto_spec.ir.dtype import FP32, DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops.compare import MOVABLE
from pypto_spec.ops.compare_steps import COMPARED

if TYPE_CHECKING:
    from tests.golden.spec_text import Spec


def bring(spec: Spec, defn: OpDef, name: str, dtype: DType, shape: tuple[int, ...]) -> None:
    """Load an operand; divisors are odd, so that none is 0."""
    if defn.family == "divide" and name == "rhs" and dtype in defn.dtypes:
        spec.load("even", dtype, shape)
        spec.body.append("ors: {into: rhs, x: even, scalar: 1}")
    else:
        spec.load(name, dtype, shape)


def compared(spec: Spec, defn: OpDef, dtype: DType, shape: tuple[int, int]) -> None:
    """Write what shows the result of a comparison or choice."""
    packed = not defn.name.startswith("select")
    compares = defn.name in ("cmp", "cmps")
    asked = dtype if dtype in COMPARED or compares else FP32
    chosen = dtype if dtype in MOVABLE or not compares else FP32
    for name, kind in (("l", asked), ("r", asked), ("p", chosen), ("q", chosen)):
        spec.load(name, kind, shape)
    if packed:
        by_number = defn.name == "cmps"
        question = "cmps: {into: m, x: l, scalar: 0" if by_number else "cmp: {into: m, lhs: l, rhs: r"
        spec.body.append(f"{question}, cmp_type: gt}}")
        by_bits = "sels: {into: y, mask: m, x: p, scalar: 3}"
        spec.body.append(by_bits if defn.name == "sels" else "sel: {into: y, mask: m, a: p, b: q}")
    else:
        second = "scalar: 0" if defn.name == "selects" else "rhs: r"
        spec.body.append(f"{defn.name}: {{into: y, lhs: l, {second}, cmp_type: le, a: p, b: q}}")
    spec.store("y", chosen, shape)

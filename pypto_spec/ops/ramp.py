"""Counting along lanes: tables 0, step, 2 * step, ... without CreateVecIndex, which takes event ids of its own.

The first eight numbers are sums that slide over a step function: of 64 zeros and 56 times 1/8, the window that starts
r blocks in holds r blocks of eighths, so one WholeReduceSum of 8 repeats, one block apart, gives 0 to 7, exactly. From
there the table doubles: what is there plus a constant is the next part.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_spec.ir.dtype import FP32, INT16, INT32, DType
from pypto_spec.ir.instr import Instr, Number, Ref, ScalarRef
from pypto_spec.ops.numbers import int_range
from pypto_spec.ops.reduce_steps import Draft, cast_run, shift, whole

LIMIT = {"fp32": 1 << 24, "fp16": 1 << 11}
"""Up to this every whole number is exact in the dtype."""


def carrier(dtype: DType) -> DType:
    """The dtype to count in: unsigned integers are counted as signed ones of their width, which wrap alike."""
    return dtype if dtype.is_float or dtype.kind == "int" else {2: INT16, 4: INT32}[dtype.bytes]


def constant(value: int, dtype: DType) -> Number:
    """A whole number in `dtype`; integers wrap around."""
    if dtype.is_float:
        return Number(float(value), dtype)
    low, high = int_range(dtype)
    return Number((value - low) % (high - low + 1) + low, dtype)


def ramp(draft: Draft, dst: Ref, dtype: DType, count: int, step: int = 1, start: int | ScalarRef = 0) -> None:
    """Append the calls that put start, start + step, ... into `count` lanes of `dst`, which is of `dtype`."""
    first = min(dtype.block, count)
    _digits(draft, dst, dtype)
    if step != 1:
        draft.add(Instr("Muls", (dst, dst, constant(step, dtype), first)))
    if start != 0:
        value = start if isinstance(start, ScalarRef) else constant(start, dtype)
        draft.add(Instr("Adds", (dst, dst, value, first)))
    double(draft, dst, dtype, dtype.block, count, lambda done: done * step)


def double(draft: Draft, dst: Ref, dtype: DType, done: int, count: int, further: Callable[[int], int]) -> None:
    """Append what makes `count` lanes of the first `done`; lane i + n is `further(n)` larger than lane i."""
    while done < count:
        more = min(done, count - done)
        draft.add(Instr("Adds", (shift(dst, done), dst, constant(further(done), dtype), more)))
        done += more


def _digits(draft: Draft, dst: Ref, dtype: DType) -> None:
    """0, 1, 2, ... in the first block."""
    steps = draft.area(120, FP32)
    draft.add(
        Instr("Duplicate", (steps, Number(0.0, FP32), 64)),
        Instr("Duplicate", (shift(steps, 64), Number(0.125, FP32), 56)),
    )
    digits = dst if dtype == FP32 else draft.area(dtype.block, FP32)
    draft.add(whole("sum", digits, steps, 64, 8, 1, 1))
    if dtype.block > 8:
        draft.add(Instr("Adds", (shift(digits, 8), digits, Number(8.0, FP32), dtype.block - 8)))
    if dtype != FP32:
        draft.add(cast_run(dst, digits, "CAST_RINT", dtype.block))

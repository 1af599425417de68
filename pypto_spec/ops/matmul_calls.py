"""How the arguments of Mmad and Fixpipe are read, the calls on and from L0C.

* `Mmad(dst, lhs, rhs[, bias], MmadParams(m, n, k, unitFlag, cmatrixSource, cmatrixInitVal))`; AlignedMmadParams, a
  function of ours, is the same with kDirectionAlign: fp32 operands that are padded to 16 along K;
* `Fixpipe(dst, src[, quant], FixpipeParamsV220(nSize, mSize, srcStride, dstStride, reluEn, quantPre, deqScalar, ndNum,
  srcNdStride, dstNdStride, unitFlag))` to GM by rows (dstStride in elements), to L1 as NZ (dstStride in 32 B).

Two things need no flag and no barrier. Mmads one after the other on a tile of at least `PACED` whole fractals: when the
second comes to a fractal the first has left it long ago. And where both have a unit flag, Fixpipe waits for the
fractals of the Mmad before it, and the next Mmad for those of the Fixpipe. Fixpipe to GM, and with factors to L1 as
well, begins with a barrier of its pipe, in the headers of 8.1 and of 2026.

Sources: Ascend C API reference, "matrix computation (ISASI)", for Atlas A2 and A3: units, ranges and grids, and under
UnitFlag and Mmad the number of fractals; `kernel_operator_fixpipe_v2_impl.h` of CANN 8.1 and of asc-devkit for barriers
and for the 128 B that factors are read by.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import Index, bounds, ceil_div, floordiv, mul
from pypto_spec.ir.instr import Arg, Instr, Struct
from pypto_spec.ir.nodes import Condition, Pipe
from pypto_spec.ops.cube_calls import BOX, FRACTAL, ROW, SIDE, ceiling, refs_of
from pypto_spec.ops.decoding import (
    MAX_U16,
    MAX_U32,
    Decoded,
    DTypeOf,
    InstructionError,
    Limit,
    index_of,
    struct_of,
)
from pypto_spec.ops.regions import UNBOUNDED, Access, blocks, high

PACED = 10
"""Fractals of L0C from which on Mmads on one tile need no barrier."""
QUANT_BYTES, QUANT_UNIT = 8, 128
"""A per-channel factor, and the bytes that Fixpipe reads them by."""
MAX_SIZE, MAX_ND_ROWS = 4095, 8192
UNIT_FLAGS = (2, 3)
"""Unit flags that are switched on: kept as it is, and turned over at the end."""

SELF: frozenset[Pipe] = frozenset({"m"})
DRAINED: frozenset[Pipe] = frozenset({"fix"})

_TYPES = frozenset({("int8", "int8", "int32"), ("fp16", "fp16", "fp32"), ("bf16", "bf16", "fp32"), ("fp32",) * 3})
"""Data types of Mmad: left, right, result."""


def decode_mmad(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Mmad(dst, lhs, rhs[, bias], MmadParams(...) or AlignedMmadParams(...))`."""
    dst, lhs, rhs, *more = refs_of(instr, len(instr.args) - 1)
    how = instr.args[-1]
    aligned = isinstance(how, Struct) and how.name == "AlignedMmadParams"
    *sizes, source, init = struct_of(instr, how, "AlignedMmadParams" if aligned else "MmadParams", 6)
    m, n, k, unit = (index_of(instr, a) for a in sizes)
    types = tuple(dtype_of(ref).name for ref in (lhs, rhs, dst))
    if types not in _TYPES or (aligned and types[0] != "fp32"):
        raise InstructionError(f"Mmad does not take {types[0]} and {types[1]} and make {types[2]}")
    if len(more) > 1 or (source is True) != bool(more) or (more and init is not False):
        raise InstructionError("Mmad with a bias has cmatrixSource true and cmatrixInitVal false; without one, not")
    if not isinstance(init, bool | Condition):
        raise InstructionError(f"Mmad: cmatrixInitVal is a boolean, not {init}")
    size, block = dtype_of(lhs).bytes, dtype_of(lhs).block
    tall, wide, deep = (ceiling(high(i), unit_) for i, unit_ in ((m, SIDE), (n, SIDE), (k, block)))
    pitch = ceiling(deep, 2) * 2 if aligned else deep
    result = Access(dst, 4, min(tall * wide * BOX, UNBOUNDED), (), True, ordered=_ordered(m, n, unit))
    accesses = [result]
    if not more and init is not True:
        accesses.append(result._replace(write=False))
    if m == 1:
        accesses.append(Access(lhs, size, ceiling(high(k) * size, FRACTAL) * FRACTAL, (), False))
    else:
        accesses.append(Access(lhs, size, deep * FRACTAL, ((tall, pitch * FRACTAL),), False))
    accesses.append(Access(rhs, size, min(deep * wide * FRACTAL, UNBOUNDED), (), False))
    accesses += [Access(bias, 4, wide * ROW, (), False) for bias in more]
    return Decoded(
        "m",
        tuple(accesses),
        (("m", m, 1, MAX_SIZE), ("n", n, 1, MAX_SIZE), ("k", k, 1, MAX_SIZE), *_unit_limits(unit)),
        grids=((dst.name, BOX), (lhs.name, FRACTAL), (rhs.name, FRACTAL), *((bias.name, ROW) for bias in more)),
        unit=unit,
    )


def _ordered(m: Index, n: Index, unit: Index) -> frozenset[Pipe]:
    """The pipes that need not be told of an Mmad: its own where the tile is large enough, FIX by unit flags."""
    tall, wide = bounds(floordiv(m, SIDE))[0], bounds(floordiv(n, SIDE))[0]
    paced = tall is not None and wide is not None and tall * wide >= PACED
    return (SELF if paced else frozenset()) | (DRAINED if unit != 0 else frozenset())


def decode_fixpipe_gm(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Fixpipe` to GM, by rows."""
    return _fixpipe(instr, dtype_of, gm=True)


def decode_fixpipe_mat(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Fixpipe` to L1, as NZ."""
    return _fixpipe(instr, dtype_of, gm=False)


QUANTS: dict[str, tuple[str, str]] = {
    "F322F16": ("fp32", "fp16"),
    "F322BF16": ("fp32", "bf16"),
    "DEQF16": ("int32", "fp16"),
    "VDEQF16": ("int32", "fp16"),
    "REQ8": ("int32", "int8"),
    "VREQ8": ("int32", "int8"),
    "QF322B8_PRE": ("fp32", "int8"),
    "VQF322B8_PRE": ("fp32", "int8"),
}
"""What a value of QuantMode_t makes of what; `NoQuant` leaves the type as it is. Those with a V take factors of L1."""


def _fixpipe(instr: Instr, dtype_of: DTypeOf, gm: bool) -> Decoded:
    dst, src, *more = refs_of(instr, len(instr.args) - 1)
    values = struct_of(instr, instr.args[-1], "FixpipeParamsV220", 11)
    n, m, src_step, dst_step = (index_of(instr, a) for a in values[:4])
    matrices, *unused, unit = (index_of(instr, a) for a in values[7:])
    _check_quant(instr, values[5], dtype_of(src).name, dtype_of(dst).name, bool(more), gm)
    size = dtype_of(dst).bytes
    wide = ceil_div(n, SIDE)
    drained = ceil_div(m, SIDE) if unit != 0 else m  # by unit flags it waits for whole fractals
    read = blocks(src, 4, wide, mul(drained, BOX if unit != 0 else ROW), mul(src_step, ROW), False)
    if gm:
        write = blocks(dst, size, m, mul(n, size), mul(dst_step, size), True)
    else:
        write = blocks(
            dst, size, ceil_div(n, BLOCK_BYTES // size), mul(m, BLOCK_BYTES), mul(dst_step, BLOCK_BYTES), True
        )
    accesses = [write, read._replace(ordered=SELF) if unit != 0 else read]
    for quant in more:
        width = ceiling(high(n) * QUANT_BYTES, QUANT_UNIT) * QUANT_UNIT
        accesses.append(Access(quant, QUANT_BYTES, width, (), False))
    limits: list[Limit] = [
        ("nSize", n, 0, MAX_SIZE),
        ("mSize", m, 0, MAX_ND_ROWS if gm else MAX_U16),
        ("srcStride", src_step, 0, MAX_U16),
        ("dstStride", dst_step, 1, MAX_U32),
        ("ndNum", matrices, 1, 1),
        *(("stride of matrices", stride, 0, 0) for stride in unused),
        *_unit_limits(unit),
    ]
    return Decoded(
        "fix",
        tuple(accesses),
        tuple(limits),
        unaligned=frozenset({dst.name}) if gm else frozenset(),
        multiples=() if gm else (("nSize", n, SIDE),),
        grids=((src.name, ROW),),
        unit=unit,
        fenced=gm or bool(more),
    )


def _check_quant(instr: Instr, mode: Arg, have: str, want: str, factors: bool, gm: bool) -> None:
    text = getattr(mode, "text", "").removeprefix("QuantMode_t::")
    made = QUANTS.get(text, (want, want) if text == "NoQuant" else None)
    if made != (have, want):
        raise InstructionError(f"Fixpipe with {text or mode} does not make {want} of {have}")
    if text.startswith("V") != factors:
        raise InstructionError(f"Fixpipe with {text} takes {'' if text.startswith('V') else 'no '}factors of L1")
    if not gm and text == "NoQuant":
        raise InstructionError("Fixpipe to L1 narrows fp32 and int32: NoQuant goes to GM only")
    want_form = "CFG_ROW_MAJOR" if gm else "CFG_NZ"
    if instr.template[-1:] != (want_form,):
        raise InstructionError(f"Fixpipe to {'GM' if gm else 'L1'} has the template argument {want_form}")


def _unit_limits(unit: Index) -> Sequence[Limit]:
    """A unit flag is 0, 2 or 3."""
    return () if unit == 0 else (("unitFlag", unit, *UNIT_FLAGS),)

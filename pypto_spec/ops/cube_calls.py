"""How the arguments of the cube's calls are read: loads to L1, L0A, L0B and the bias table, Mmad and Fixpipe.

* `DataCopy(dst in L1, src in GM, Nd2NzParams(ndNum, nValue, dValue, srcNdMatrixStride, srcDValue, dstNzC0Stride,
  dstNzNStride, dstNzMatrixStride))`: rows of GM become column blocks of 32 B, the last one filled up with zeros;
* `LoadData(dst in L0A or L0B, src in L1, MatrixParams(rows, cols, rowStart, colStart, rowCount, colCount, transpose))`:
  a window of an NZ matrix. L0A gets it row block by row block (`zz`), or that of its transpose; L0B always gets `zn`.
  MatrixParams is a function of ours that makes the call's LoadData3DParamsV2;
* `LoadData(dst, src, LoadData2DParams(startIndex, repeatTimes, srcStride, sid, dstGap, ifTranspose, addrMode))`: whole
  fractals of 512 B;
* `LoadDataWithTranspose(dst, src, LoadData2dTransposeParams(startIndex, repeatTimes, srcStride, dstGap, dstFracGap))`:
  squares of 32 x 32 bytes or 16 x 16 elements, each transposed;
* `DataCopy(dst in the bias table, src in L1, DataCopyParams(blockCount, blockLen, srcGap, dstGap))`, blockLen and
  dstGap in 64 B, srcGap in 32 B; fp16 becomes fp32 on the way, and takes twice the bytes there;
* `Mmad(dst, lhs, rhs[, bias], MmadParams(m, n, k, unitFlag, cmatrixSource, cmatrixInitVal))`; AlignedMmadParams, a
  function of ours, is the same with kDirectionAlign: fp32 operands that are padded to 16 along K;
* `Fixpipe(dst, src[, quant], FixpipeParamsV220(nSize, mSize, srcStride, dstStride, reluEn, quantPre, deqScalar, ndNum,
  srcNdStride, dstNdStride, unitFlag))` to GM by rows (dstStride in elements), to L1 as NZ (dstStride in 32 B).

Two things need no flag and no barrier. Mmads one after the other on a tile of at least `PACED` whole fractals: when the
second comes to a fractal the first has left it long ago. And where both have a unit flag, Fixpipe waits for the
fractals of the Mmad before it, and the next Mmad for those of the Fixpipe.

Sources: Ascend C API reference, "matrix computation (ISASI)", for Atlas A2 and A3: units, ranges and grids, and under
UnitFlag and Mmad the number of fractals; asc-devkit: `load_bias_to_c2.h` for the unit of a bias of fp16, and
`kernel_operator_fixpipe_v2_impl.h` for the 128 B that per-channel factors are read by.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import Index, add, bounds, ceil_div, floordiv, mul, sub
from pypto_spec.ir.instr import Arg, Instr, Ref, Struct
from pypto_spec.ir.nodes import Condition, Pipe
from pypto_spec.ops.decoding import (
    MAX_REPEAT,
    MAX_U16,
    MAX_U32,
    Decoded,
    DTypeOf,
    InstructionError,
    Limit,
    index_of,
    numbers_of,
    ref_of,
    struct_of,
)
from pypto_spec.ops.regions import UNBOUNDED, Access, blocks, high

FRACTAL = 512
"""Bytes of a fractal of L0A and L0B: 16 rows of 32 B."""
BOX = 1024
"""Bytes of a fractal of L0C: 16 x 16 elements of 4 B."""
SIDE = 16
"""Rows of a fractal."""
ROW = 64
"""Bytes of a row of a fractal of L0C, and the unit of the bias table."""
PACED = 10
"""Whole fractals of L0C from which on Mmads on one tile need no barrier."""
QUANT_BYTES, QUANT_UNIT = 8, 128
"""A per-channel factor, and the bytes that Fixpipe reads them by."""
MAX_MATRICES, MAX_ROWS, MAX_MMAD, MAX_ND_ROWS = 4095, 16_384, 4095, 8192
UNIT_FLAGS = (2, 3)
"""Unit flags that are switched on: kept as it is, and turned over at the end."""

SELF: frozenset[Pipe] = frozenset({"m"})
DRAINED: frozenset[Pipe] = frozenset({"fix"})


# --- into L1 --------------------------------------------------------------------------------------------------------


def decode_nz(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`DataCopy(dst, src, Nd2NzParams(...))`: GM to L1."""
    dst, src = _refs(instr, 2)
    values = [index_of(instr, a) for a in struct_of(instr, instr.args[2], "Nd2NzParams", 8)]
    matrices, rows, cols, gm_matrix, gm_pitch, column_step, row_step, l1_matrix = values
    if src.name != "from":
        raise InstructionError(f"DataCopy with Nd2NzParams from `{src.name}`, which is not in GM")
    size = dtype_of(src).bytes
    top_rows, top_cols, many = high(rows), high(cols), high(matrices)
    gm = blocks(src, size, rows, mul(cols, size), mul(gm_pitch, size), False)
    gm = gm._replace(steps=(*gm.steps, (many, high(gm_matrix) * size)))
    steps = [(_ceil(top_cols * size, BLOCK_BYTES), high(column_step)), (top_rows, high(row_step))]
    inside = tuple((count, step * BLOCK_BYTES) for count, step in steps)
    return Decoded(
        "mte2",
        (Access(dst, size, BLOCK_BYTES, (*inside, (many, high(l1_matrix) * size)), True), gm),
        (
            ("ndNum", matrices, 0, MAX_MATRICES),
            ("nValue", rows, 0, MAX_ROWS),
            ("dValue", cols, 0, MAX_U16),
            ("srcNdMatrixStride", gm_matrix, 0, MAX_U16),
            ("srcDValue", gm_pitch, 1, MAX_U16),
            ("dstNzC0Stride", column_step, 1, MAX_ROWS),
            ("dstNzNStride", row_step, 1, MAX_ROWS),
            ("dstNzMatrixStride", l1_matrix, 0, MAX_ROWS),
        ),
        unaligned=frozenset({src.name}),
    )


# --- from L1 --------------------------------------------------------------------------------------------------------


def decode_bias(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`DataCopy(dst, src, DataCopyParams(...))`: L1 to the bias table."""
    dst, src = _refs(instr, 2)
    count, length, src_gap, dst_gap = numbers_of(instr, struct_of(instr, instr.args[2], "DataCopyParams", 4))
    have, want = dtype_of(src), dtype_of(dst)
    if want.bytes != 4 or (have is not want and (have.name, want.name) != ("fp16", "fp32")):
        raise InstructionError(f"DataCopy to the bias table makes fp32 or int32, from fp16 fp32, not {want} of {have}")
    width = length * ROW
    wide = width * want.bytes // have.bytes
    return Decoded(
        "mte1",
        (
            Access(dst, want.bytes, wide, ((count, wide + dst_gap * ROW),), True),
            Access(src, have.bytes, width, ((count, width + src_gap * BLOCK_BYTES),), False),
        ),
        (
            ("blockCount", count, 0, MAX_MATRICES),
            ("blockLen", length, 0, MAX_U16),
            ("srcGap", src_gap, 0, MAX_U16),
            ("dstGap", dst_gap, 0, MAX_U16),
        ),
        grids=((dst.name, ROW),),
    )


def decode_left(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`LoadData` to L0A."""
    return _load_data(instr, dtype_of, left=True)


def decode_right(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`LoadData` to L0B."""
    return _load_data(instr, dtype_of, left=False)


def _load_data(instr: Instr, dtype_of: DTypeOf, left: bool) -> Decoded:
    how = instr.args[2] if len(instr.args) == 3 else None
    if isinstance(how, Struct) and how.name == "MatrixParams":
        return _matrix(instr, dtype_of, left)
    dst, src = _refs(instr, 2)
    *rest, transpose, mode = struct_of(instr, instr.args[2], "LoadData2DParams", 7)
    start, repeat, step, sid, gap = (index_of(instr, a) for a in rest)
    size = dtype_of(src).bytes
    if transpose is not False and size != 2:
        raise InstructionError("LoadData with LoadData2DParams transposes 16-bit types only")
    return Decoded(
        "mte1",
        (
            blocks(dst, size, repeat, FRACTAL, mul(add(gap, 1), FRACTAL), True),
            blocks(src, size, repeat, FRACTAL, mul(step, FRACTAL), False)._replace(base=mul(start, FRACTAL)),
        ),
        (
            ("startIndex", start, 0, MAX_U16),
            ("repeatTimes", repeat, 0, MAX_REPEAT),
            ("srcStride", step, 0, MAX_U16),
            ("sid", sid, 0, 0),
            ("dstGap", gap, 0, MAX_U16),
            ("addrMode", index_of(instr, mode), 0, 0),
        ),
        grids=((dst.name, FRACTAL),),
    )


def _matrix(instr: Instr, dtype_of: DTypeOf, left: bool) -> Decoded:
    """`LoadData(dst, src, MatrixParams(...))`."""
    dst, src = _refs(instr, 2)
    *sizes, transpose = struct_of(instr, instr.args[2], "MatrixParams", 7)
    rows, cols, row, col, count_rows, count_cols = (index_of(instr, a) for a in sizes)
    size = dtype_of(src).bytes
    block = BLOCK_BYTES // size
    turned = transpose is True or not left
    if turned and size == 1:
        raise InstructionError(f"LoadData with MatrixParams cannot transpose {dtype_of(src)}")
    multiples = [("cols", cols, block), ("colStart", col, block)]
    if add(col, count_cols) != cols:
        multiples.append(("colCount", count_cols, block))
    if size != 4 and add(row, count_rows) != rows:
        multiples.append(("rowCount", count_rows, SIDE))
    reads = blocks(src, size, ceil_div(count_cols, block), mul(count_rows, BLOCK_BYTES), mul(rows, BLOCK_BYTES), False)
    base = add(mul(floordiv(col, block), mul(rows, BLOCK_BYTES)), mul(row, BLOCK_BYTES))
    return Decoded(
        "mte1",
        (*_written(dst, size, high(count_rows), high(count_cols), turned, left), reads._replace(base=base)),
        (
            ("rows", rows, 1, 32_767),
            ("cols", cols, 1, MAX_U16),
            ("rowStart", row, 0, 32_767),
            ("colStart", col, 0, MAX_U16),
            ("rowCount", count_rows, 1, MAX_U16),
            ("colCount", count_cols, 1, MAX_U16),
            ("rows behind the window", sub(rows, add(row, count_rows)), 0, MAX_U16),
            ("columns behind the window", sub(cols, add(col, count_cols)), 0, MAX_U16),
        ),
        multiples=tuple(multiples),
        grids=((dst.name, FRACTAL),),
    )


def _written(dst: Ref, size: int, rows: int, cols: int, turned: bool, left: bool) -> tuple[Access, ...]:
    """What a window of that many rows and columns becomes.

    Transposed 4-byte elements are taken in squares of 16 x 16: rows are padded to 16, and of a last square that has 8
    columns only these are written.
    """
    block = BLOCK_BYTES // size
    if not (turned and size == 4):
        count = _ceil(rows, SIDE) * _ceil(cols, block)
        return (Access(dst, size, min(count * FRACTAL, UNBOUNDED), (), True),)
    slices = _ceil(rows, SIDE) * SIDE // block
    full, rest = divmod(_ceil(cols, block) * block, SIDE)
    if not left:
        pitch = (full + bool(rest)) * FRACTAL
        return (Access(dst, size, full * FRACTAL + rest * BLOCK_BYTES, ((slices, pitch),), True),)
    found = [Access(dst, size, full * slices * FRACTAL, (), True)] if full else []
    if rest:
        tail = Access(dst, size, rest * BLOCK_BYTES, ((slices, FRACTAL),), True, full * slices * FRACTAL)
        found.append(tail)
    return tuple(found)


def decode_transposed(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`LoadDataWithTranspose(dst, src, LoadData2dTransposeParams(...))`."""
    dst, src = _refs(instr, 2)
    values = [index_of(instr, a) for a in struct_of(instr, instr.args[2], "LoadData2dTransposeParams", 5)]
    start, repeat, step, gap, fractal_gap = values
    size = dtype_of(src).bytes
    parts = 1 if size == 2 else 2
    square = parts * FRACTAL
    writes = blocks(dst, size, repeat, FRACTAL, mul(add(gap, 1), FRACTAL), True)
    if parts > 1:
        writes = writes._replace(steps=(*writes.steps, (parts, (high(fractal_gap) + 1) * FRACTAL)))
    return Decoded(
        "mte1",
        (writes, blocks(src, size, repeat, square, mul(step, square), False)._replace(base=mul(start, square))),
        (
            ("startIndex", start, 0, MAX_U16),
            ("repeatTimes", repeat, 0, MAX_REPEAT),
            ("srcStride", step, 0, MAX_U16),
            ("dstGap", gap, 0, MAX_U16),
            ("dstFracGap", fractal_gap, 0, MAX_U16 if parts > 1 else 0),
        ),
        grids=((dst.name, FRACTAL),),
    )


# --- on and from L0C ------------------------------------------------------------------------------------------------

_TYPES = frozenset({("int8", "int8", "int32"), ("fp16", "fp16", "fp32"), ("bf16", "bf16", "fp32"), ("fp32",) * 3})
"""Data types of Mmad: left, right, result."""


def decode_mmad(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Mmad(dst, lhs, rhs[, bias], MmadParams(...) or AlignedMmadParams(...))`."""
    dst, lhs, rhs, *more = _refs(instr, len(instr.args) - 1)
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
    tall, wide, deep = (_ceil(high(i), unit_) for i, unit_ in ((m, SIDE), (n, SIDE), (k, block)))
    pitch = _ceil(deep, 2) * 2 if aligned else deep
    result = Access(dst, 4, min(tall * wide * BOX, UNBOUNDED), (), True, ordered=_ordered(m, n, unit))
    accesses = [result]
    if not more and init is not True:
        accesses.append(result._replace(write=False))
    if m == 1:
        accesses.append(Access(lhs, size, _ceil(high(k) * size, FRACTAL) * FRACTAL, (), False))
    else:
        accesses.append(Access(lhs, size, deep * FRACTAL, ((tall, pitch * FRACTAL),), False))
    accesses.append(Access(rhs, size, min(deep * wide * FRACTAL, UNBOUNDED), (), False))
    accesses += [Access(bias, 4, wide * ROW, (), False) for bias in more]
    return Decoded(
        "m",
        tuple(accesses),
        (("m", m, 1, MAX_MMAD), ("n", n, 1, MAX_MMAD), ("k", k, 1, MAX_MMAD), *_unit_limits(unit)),
        grids=((dst.name, BOX), (lhs.name, FRACTAL), (rhs.name, FRACTAL), *((bias.name, ROW) for bias in more)),
        unit=unit,
    )


def _ordered(m: Index, n: Index, unit: Index) -> frozenset[Pipe]:
    """The pipes that need not be told of an Mmad: its own where the tile is large enough, FIX by unit flags."""
    tall, wide = bounds(floordiv(m, SIDE))[0], bounds(floordiv(n, SIDE))[0]  # whole ones, as the documents have it
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
    dst, src, *more = _refs(instr, len(instr.args) - 1)
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
        width = _ceil(high(n) * QUANT_BYTES, QUANT_UNIT) * QUANT_UNIT
        accesses.append(Access(quant, QUANT_BYTES, width, (), False))
    limits: list[Limit] = [
        ("nSize", n, 0, MAX_MMAD),
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


# --- pieces ---------------------------------------------------------------------------------------------------------


def _refs(instr: Instr, count: int) -> list[Ref]:
    """The first `count` arguments, which are operands; one more follows."""
    if len(instr.args) != count + 1 or count < 2:
        raise InstructionError(f"{instr.call}: operands and one structure expected, found {len(instr.args)} arguments")
    return [ref_of(instr, a) for a in instr.args[:count]]


def _unit_limits(unit: Index) -> Sequence[Limit]:
    """A unit flag is 0, 2 or 3."""
    return () if unit == 0 else (("unitFlag", unit, *UNIT_FLAGS),)


def _ceil(value: int, unit: int) -> int:
    return -(-value // unit)

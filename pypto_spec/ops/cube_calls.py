"""How the arguments of the cube's loads are read: to L1, L0A, L0B and the bias table.

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
  dstGap in 64 B, srcGap in 32 B; fp16 becomes fp32 on the way, and takes twice the bytes there.

Sources: Ascend C API reference, "matrix computation (ISASI)", for Atlas A2 and A3: units, ranges and grids;
`load_bias_to_c2.h` of asc-devkit for the unit of a bias of fp16.
"""

from __future__ import annotations

from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import add, ceil_div, floordiv, mul, sub
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ops.decoding import (
    MAX_REPEAT,
    MAX_U16,
    Decoded,
    DTypeOf,
    InstructionError,
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
MAX_MATRICES, MAX_ROWS = 4095, 16_384


# --- into L1 --------------------------------------------------------------------------------------------------------


def decode_nz(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`DataCopy(dst, src, Nd2NzParams(...))`: GM to L1."""
    dst, src = refs_of(instr, 2)
    values = [index_of(instr, a) for a in struct_of(instr, instr.args[2], "Nd2NzParams", 8)]
    matrices, rows, cols, gm_matrix, gm_pitch, column_step, row_step, l1_matrix = values
    if src.name != "from":
        raise InstructionError(f"DataCopy with Nd2NzParams from `{src.name}`, which is not in GM")
    size = dtype_of(src).bytes
    top_rows, top_cols, many = high(rows), high(cols), high(matrices)
    gm = blocks(src, size, rows, mul(cols, size), mul(gm_pitch, size), False)
    gm = gm._replace(steps=(*gm.steps, (many, high(gm_matrix) * size)))
    steps = [(ceiling(top_cols * size, BLOCK_BYTES), high(column_step)), (top_rows, high(row_step))]
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
    dst, src = refs_of(instr, 2)
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
    dst, src = refs_of(instr, 2)
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
    dst, src = refs_of(instr, 2)
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
        count = ceiling(rows, SIDE) * ceiling(cols, block)
        return (Access(dst, size, min(count * FRACTAL, UNBOUNDED), (), True),)
    slices = ceiling(rows, SIDE) * SIDE // block
    full, rest = divmod(ceiling(cols, block) * block, SIDE)
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
    dst, src = refs_of(instr, 2)
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


# --- pieces ---------------------------------------------------------------------------------------------------------


def refs_of(instr: Instr, count: int) -> list[Ref]:
    """The first `count` arguments, which are operands; one more follows."""
    if len(instr.args) != count + 1 or count < 2:
        raise InstructionError(f"{instr.call}: operands and one structure expected, found {len(instr.args)} arguments")
    return [ref_of(instr, a) for a in instr.args[:count]]


def ceiling(value: int, unit: int) -> int:
    """The quotient rounded up."""
    return -(-value // unit)

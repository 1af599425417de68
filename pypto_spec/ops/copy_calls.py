"""How the arguments of the vector core's copies are read: DataCopy between GM and UB and inside UB, and DataCopyPad.

* `DataCopy(dst, src, count)` between GM and on-chip memory, `DataCopy(dst, src, DataCopyParams)` inside UB;
* `DataCopyPad(dst, src, DataCopyExtParams, DataCopyPadExtParams)` to UB, without the last one to GM.

A copy writes to GM where its destination is the op's field `to`, and reads GM where its source is the field `from` of
a statement that binds `into`.

Sources: Ascend C guide, copies; kernel headers of CANN 8.1 and 2026.
"""

from __future__ import annotations

from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import add, ceil_div, mul
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ops.decoding import (
    MAX_U16,
    MAX_U32,
    Decoded,
    DTypeOf,
    InstructionError,
    index_of,
    numbers_of,
    ref_of,
)
from pypto_spec.ops.regions import blocks

MAX_COPY_COUNT = 4095
"""DataCopyParams and DataCopyExtParams: blockCount, 12 bit."""
MAX_COPY_BYTES = 2_097_151
"""DataCopyExtParams: blockLen, 21 bit."""


def decode_copy(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`DataCopy` by count or inside UB."""
    dst, src, how = instr.args
    dst, src = ref_of(instr, dst), ref_of(instr, src)
    size = dtype_of(src).bytes
    if isinstance(how, Struct):
        count, length, src_gap, dst_gap = numbers_of(instr, how.args)
        width = length * BLOCK_BYTES
        return Decoded(
            "v",
            (
                blocks(dst, size, count, width, width + dst_gap * BLOCK_BYTES, True),
                blocks(src, size, count, width, width + src_gap * BLOCK_BYTES, False),
            ),
            (
                ("blockCount", count, 0, MAX_COPY_COUNT),
                ("blockLen", length, 0, MAX_U16),
                ("srcGap", src_gap, 0, MAX_U16),
                ("dstGap", dst_gap, 0, MAX_U16),
            ),
        )
    length_bytes = mul(index_of(instr, how), size)
    out, gm = _direction(instr, dst, src)
    return Decoded(
        "mte3" if out else "mte2",
        (blocks(dst, size, 1, length_bytes, 0, True), blocks(src, size, 1, length_bytes, 0, False)),
        (("count", index_of(instr, how), 0, MAX_U32),),
        unaligned=frozenset({gm}),
        multiples=(("bytes of a copy by count", length_bytes, BLOCK_BYTES),),
    )


def _direction(instr: Instr, dst: Ref, src: Ref) -> tuple[bool, str]:
    """Whether a copy goes to GM, and which operand is in GM."""
    if dst.name == "to":
        return True, "to"
    if src.name == "from":
        return False, "from"
    raise InstructionError(f"{instr.call} by count from `{src.name}` to `{dst.name}`: neither is in GM")


def decode_copy_pad(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`DataCopyPad`."""
    dst, src, params = instr.args[:3]
    dst, src = ref_of(instr, dst), ref_of(instr, src)
    assert isinstance(params, Struct)
    count, length, src_gap, dst_gap = (index_of(instr, a) for a in params.args[:4])
    size = dtype_of(src).bytes
    padded = mul(ceil_div(length, BLOCK_BYTES), BLOCK_BYTES)
    out, gm = _direction(instr, dst, src)
    chip_gap, gm_gap = (src_gap, dst_gap) if out else (dst_gap, src_gap)
    chip_ref, gm_ref = (src, dst) if out else (dst, src)
    chip = blocks(chip_ref, size, count, length if out else padded, add(padded, mul(chip_gap, BLOCK_BYTES)), not out)
    far = blocks(gm_ref, size, count, length, add(length, gm_gap), out)
    return Decoded(
        "mte3" if out else "mte2",
        (far, chip) if out else (chip, far),
        (
            ("blockCount", count, 0, MAX_COPY_COUNT),
            ("blockLen", length, 0, MAX_COPY_BYTES),
            ("srcStride", src_gap, 0, MAX_U32),
            ("dstStride", dst_gap, 0, MAX_U32),
        ),
        unaligned=frozenset({gm}),
        multiples=(("blockLen", length, size),),
    )

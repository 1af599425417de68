"""How the arguments of the sorting calls are read: Sort32 and MrgSort.

* `Sort32(dst, src, index, repeat)`: each repeat sorts 32 elements, largest first, into 32 records of 8 B: the element
  in the low bytes (2 or 4), its 32-bit index in the high four. Equal elements keep their order;
* `MrgSort(dst, MrgSortSrcList(a, b, c, d), MergeInfo(lengths of a, b, c and d, lists, repeat))`: `lists` sorted lists
  of records, 2 to 4 of them, become one; among equal records those of the earlier list come first. With more than one
  repeat there are four lists of one length, one behind the other, and the next four follow. `MergeInfo` is a function
  of ours that makes the call's MrgSort4Info, whose own constructor takes an array.

Source: Ascend C API reference, Sort32 and MrgSort for Atlas A2 and A3 (grids, ranges, order of equal elements).
"""

from __future__ import annotations

from pypto_spec.ir.expr import add
from pypto_spec.ir.instr import Instr
from pypto_spec.ops.decoding import MAX_REPEAT, Decoded, DTypeOf, InstructionError, numbers_of, ref_of, struct_of
from pypto_spec.ops.regions import Access, run

RECORD_BYTES = 8
"""Bytes of a record: an element and its index."""
SORTED = 32
"""Elements that one repeat of Sort32 sorts."""
MAX_LIST = 4095
"""Records of one list of MrgSort."""
LISTS = 4
"""Lists that MrgSort takes at most."""


def decode_sort32(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Sort32(dst, src, index, repeat)`."""
    dst, src, index = (ref_of(instr, a) for a in instr.args[:3])
    (repeat,) = numbers_of(instr, instr.args[3:])
    size = dtype_of(src).bytes
    count = repeat * SORTED
    return Decoded(
        "v",
        (
            Access(dst, size, count * RECORD_BYTES, (), True),
            run(src, size, count, False),
            run(index, 4, count, False),
        ),
        (("repeat", repeat, 0, MAX_REPEAT),),
        grids=((dst.name, SORTED * RECORD_BYTES), (src.name, SORTED * size), (index.name, SORTED * 4)),
    )


def decode_merge(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`MrgSort(dst, MrgSortSrcList(...), MergeInfo(...))`."""
    if len(instr.args) != 3:
        raise InstructionError("MrgSort takes a destination, a MrgSortSrcList and a MergeInfo")
    dst = ref_of(instr, instr.args[0])
    sources = [ref_of(instr, a) for a in struct_of(instr, instr.args[1], "MrgSortSrcList", LISTS)]
    *lengths, lists, repeat = numbers_of(instr, struct_of(instr, instr.args[2], "MergeInfo", LISTS + 2))
    size = dtype_of(dst).bytes
    if not 2 <= lists <= LISTS:
        raise InstructionError(f"MrgSort merges 2 to {LISTS} lists, found {lists}")
    total = sum(lengths[:lists])
    if repeat > 1:
        step = lengths[0] * RECORD_BYTES // size
        follow = all(
            (s.name, s.dtype, s.offset) == (sources[0].name, sources[0].dtype, add(sources[0].offset, n * step))
            for n, s in enumerate(sources)
        )
        if lists != LISTS or len(set(lengths)) > 1 or not follow:
            raise InstructionError("MrgSort repeats over four lists of one length, one behind the other, only")
    return Decoded(
        "v",
        (
            Access(dst, size, repeat * total * RECORD_BYTES, (), True),
            *(
                Access(source, size, length * RECORD_BYTES, ((repeat, total * RECORD_BYTES),), False)
                for source, length in zip(sources[:lists], lengths, strict=False)
            ),
        ),
        (
            ("repeat", repeat, 0, MAX_REPEAT),
            *((f"length of list {n}", length, 0, MAX_LIST) for n, length in enumerate(lengths)),
        ),
        grids=tuple((source.name, RECORD_BYTES) for source in sources if source.name != dst.name),
    )

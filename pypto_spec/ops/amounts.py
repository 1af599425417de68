"""How much an instruction does: the elements, bytes and repeats that a cost table is applied to.

They are what the host model records of the same call, so that both lead to the same cycles. For a copy the bytes are
its data and the repeats its rows; for other vector calls a repeat is 256 B of the widest operand. The cube's calls are
in `cube_amounts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.ir.dtype import REPEAT_BYTES
from pypto_spec.ir.expr import Index, ceil_div, mul
from pypto_spec.ir.instr import Instr, Number, Ref, ScalarRef, Struct, Word
from pypto_spec.ops.cube_amounts import CUBE_MEASURES
from pypto_spec.ops.decoding import Amounts, DTypeOf, Measure, MemoryOf, index_of, memory_unknown, ref_of
from pypto_spec.ops.instructions import BINARY, BY_SCALAR, UNARY, WHOLE_REDUCE, form_of
from pypto_spec.ops.sort_calls import RECORD_BYTES, SORTED

NARROWEST = 2
"""Bytes of an element that a repeat counts lanes by at least: narrower types have no more lanes."""


def amounts(instr: Instr, dtype_of: DTypeOf, memory_of: MemoryOf = memory_unknown) -> Amounts | None:
    """The amounts of a call; None where it only changes the state of the scalar stream, or prints."""
    measure = MEASURES.get(form_of(instr, memory_of))
    return None if measure is None else measure(instr, dtype_of)


def _vector(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    widest = max(dtype_of(a).bytes for a in instr.args if isinstance(a, Ref))
    rest = [a for a in instr.args if not isinstance(a, Ref)]
    while isinstance(rest[0], Word | Number | ScalarRef):
        del rest[0]
    first = index_of(instr, rest[0])
    if len(rest) == 1:
        return Amounts(first, mul(first, widest), ceil_div(first, REPEAT_BYTES // max(widest, NARROWEST)))
    repeats = index_of(instr, rest[1])
    elements = mul(first, repeats)
    return Amounts(elements, mul(elements, widest), repeats)


def _whole_reduce(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    mask, repeats = index_of(instr, instr.args[2]), index_of(instr, instr.args[3])
    elements = mul(mask, repeats)
    return Amounts(elements, mul(elements, dtype_of(ref_of(instr, instr.args[1])).bytes), repeats)


def _brcb(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    repeats = index_of(instr, instr.args[2])
    return Amounts(mul(repeats, 8), mul(repeats, REPEAT_BYTES), repeats)


def _counted(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    """Compare, Select and Gather: a count at the end, of elements of the (last) source of data."""
    refs = [a for a in instr.args if isinstance(a, Ref)]
    data = refs[0] if instr.call == "Select" else refs[1]
    count = index_of(instr, instr.args[-1])
    size = mul(count, dtype_of(data).bytes)
    return Amounts(count, size, ceil_div(size, REPEAT_BYTES))


def _transpose(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    return Amounts(256, 512, 2)


def _sort32(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    return _records(mul(index_of(instr, instr.args[3]), SORTED))


def _merge(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    info = instr.args[2]
    assert isinstance(info, Struct)
    *lengths, lists, repeats = (index_of(instr, a) for a in info.args)
    assert isinstance(lists, int)
    total: Index = sum(n for n in lengths[:lists] if isinstance(n, int))
    return _records(mul(total, repeats))


def _records(count: Index) -> Amounts:
    return Amounts(count, mul(count, RECORD_BYTES), ceil_div(mul(count, RECORD_BYTES), REPEAT_BYTES))


def _data_copy(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    how = instr.args[2]
    size = dtype_of(ref_of(instr, instr.args[1])).bytes
    if isinstance(how, Struct):
        rows, length = index_of(instr, how.args[0]), mul(index_of(instr, how.args[1]), 32)
        return Amounts(mul(rows, _elements(length, size)), mul(rows, length), rows)
    count = index_of(instr, how)
    return Amounts(count, mul(count, size), 1)


def _data_copy_pad(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    params = instr.args[2]
    assert isinstance(params, Struct)
    rows, length = (index_of(instr, a) for a in params.args[:2])
    size = dtype_of(ref_of(instr, instr.args[1])).bytes
    return Amounts(mul(rows, _elements(length, size)), mul(rows, length), rows)


def _elements(length: Index, size: int) -> Index:
    return ceil_div(length, size)


def _dump(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    count = index_of(instr, instr.args[2])
    return Amounts(1, mul(count, dtype_of(ref_of(instr, instr.args[0])).bytes), 1)


MEASURES: Mapping[str, Measure] = {
    **dict.fromkeys((*UNARY, *BINARY, *BY_SCALAR, "Cast", "Duplicate", "Copy"), _vector),
    **dict.fromkeys(WHOLE_REDUCE, _whole_reduce),
    **dict.fromkeys(("Compare", "CompareScalar", "Select", "Gather"), _counted),
    "Brcb": _brcb,
    "Transpose": _transpose,
    "Sort32": _sort32,
    "MrgSort": _merge,
    "DataCopy": _data_copy,
    "DataCopyPad": _data_copy_pad,
    "DumpTensor": _dump,
    **CUBE_MEASURES,
}
"""How to measure every form (`FORMS`) that is an instruction of a pipe."""

"""The Ascend C calls that recipes use: pipe, bytes read and written, and limits, from the arguments as printed.

One table, `CALLS`, says how the arguments of each call are to be read; `effect` and `validate` follow from it, and so
does the text of the kernel, since arguments stand in the order of the C++ call:

* vector calls: `Op(dst, sources..., count)` or `Op(dst, sources..., mask, repeat, params)`, `Duplicate` with
  `(dst, value, mask, repeat, dstBlkStride, dstRepStride)`;
* `WholeReduce*(dst, src, mask, repeat, dstRepStride, srcBlkStride, srcRepStride[, order])`, dstRepStride in results,
  `repeat` an index where the number of defined rows is known at run time only;
* `Brcb(dst, src, repeat, BrcbRepeatParams(dstBlkStride, dstRepStride))`;
* `Gather(dst, src, offsets, base, count)`, offsets and base in bytes; `Transpose(dst, src)`;
* `Compare(bits, a, b, mode, count)`, `CompareScalar(bits, a, number, mode, count)`, one bit an element, and
  `Select(dst, bits, a, b, mode, count)`, where b may be a number;
* `Sort32` and `MrgSort` as in `sort_calls`, copies as in `copy_calls`, the cube's calls as in `cube_calls` and
  `matmul_calls`.

Some calls are several instructions in one: what they do, which pipe they take and what they cost depends on the memory
they write, or on their structure. Each of these is a *form* with a name of its own, `LoadData.left` (`form_of`).

Sources: Ascend C guide, "high-dimensional splitting" (units and ranges of masks, repeats and strides), kernel headers
of CANN 8.1 and 2026 (order and types of arguments).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pypto_spec.ir.dtype import BLOCK_BYTES, REPEAT_BYTES
from pypto_spec.ir.expr import bounds, mod, mul
from pypto_spec.ir.instr import Effect, InnerBarrier, Instr, Number, Ref, ScalarRef, Step, Struct, Word
from pypto_spec.ir.types import Memory
from pypto_spec.ops.copy_calls import decode_copy, decode_copy_pad
from pypto_spec.ops.cube_calls import decode_bias, decode_left, decode_nz, decode_right, decode_transposed
from pypto_spec.ops.decoding import (
    MAX_REPEAT,
    MAX_U16,
    MAX_U32,
    Decoded,
    Decoder,
    DTypeOf,
    InstructionError,
    Limit,
    MemoryOf,
    index_of,
    memory_unknown,
    numbers_of,
    ref_of,
)
from pypto_spec.ops.matmul_calls import decode_fixpipe_gm, decode_fixpipe_mat, decode_mmad
from pypto_spec.ops.regions import Access, high, lanes, run
from pypto_spec.ops.sort_calls import decode_merge, decode_sort32

MAX_STRIDE = 255
"""Repeat strides are 8 bit, in 32 B blocks."""


class Call(NamedTuple):
    """How the arguments of a call are to be read; `params` names its struct, `source` the header that declares it.

    `forms` are the readers of its forms by what stands behind the dot of their names; "" is the call itself.
    """

    name: str
    forms: Mapping[str, Decoder]
    params: str | None
    source: str


# --- vector calls ---------------------------------------------------------------------------------------------------


def _vector(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    head = [a for a in instr.args if isinstance(a, Ref)]
    operands = [(ref, dtype_of(ref).bytes, position == 0) for position, ref in enumerate(head)]
    rest = list(instr.args[len(head) :])
    while rest and isinstance(rest[0], Word | Number | ScalarRef):
        del rest[0]
    if len(rest) == 1 and not isinstance(rest[0], Struct):
        count = index_of(instr, rest[0])
        return Decoded(
            "v",
            tuple(run(ref, size, high(count), write) for ref, size, write in operands),
            (("count", count, 1, MAX_U32),),
        )
    strides = numbers_of(instr, rest[2].args if isinstance(rest[2], Struct) else rest[2:])
    mask, repeat = numbers_of(instr, rest[:2])
    if len(strides) != 2 * len(operands):
        raise InstructionError(f"{instr.call}: {len(strides)} strides for {len(operands)} operands")
    half = len(operands)
    top = REPEAT_BYTES // max(size for _, size, _ in operands)
    limits: list[Limit] = [("mask", mask, 1, top), ("repeat", repeat, 0, MAX_REPEAT)]
    accesses: list[Access] = []
    for (ref, size, write), block, step in zip(operands, strides[:half], strides[half:], strict=True):
        accesses += lanes(ref, size, mask, repeat, block, step, write)
        limits.append((f"block stride of `{ref.name}`", block, 1 if write else 0, MAX_STRIDE))
        limits.append((f"repeat stride of `{ref.name}`", step, 0, MAX_STRIDE))
    if len({size for _, size, _ in operands}) > 1 and set(strides[:half]) != {1}:
        raise InstructionError(f"{instr.call}: operands of different widths need block strides of 1")
    return Decoded("v", tuple(accesses), tuple(limits))


def _whole_reduce(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    dst, src, *rest = instr.args
    dst, src = ref_of(instr, dst), ref_of(instr, src)
    order = rest.pop() if isinstance(rest[-1], Word) else None
    mask, dst_step, block, step = numbers_of(instr, [rest[0], *rest[2:]])
    count = index_of(instr, rest[1])
    repeat = high(count)
    if repeat > MAX_REPEAT:
        raise InstructionError(f"{instr.call}: repeat {count} may be above {MAX_REPEAT}")
    size = dtype_of(src).bytes
    alone = instr.call == "WholeReduceSum" or (isinstance(order, Word) and order.text.endswith("ORDER_ONLY_VALUE"))
    only_index = isinstance(order, Word) and order.text.endswith("ORDER_ONLY_INDEX")
    result = 4 if only_index else size if alone else 2 * size
    return Decoded(
        "v",
        (
            Access(dst, size, result, ((repeat, dst_step * result),), True),
            *lanes(src, size, mask, repeat, block, step, False),
        ),
        (
            ("mask", mask, 1, REPEAT_BYTES // size),
            ("repeat", count, 0, MAX_REPEAT),
            ("distance of results", dst_step, 1, MAX_U16),
            ("block stride", block, 0, MAX_U16),
            ("repeat stride", step, 0, MAX_U16),
        ),
        unaligned=frozenset({dst.name}) if alone else frozenset(),
    )


def _brcb(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    dst, src, count, params = instr.args
    dst, src = ref_of(instr, dst), ref_of(instr, src)
    assert isinstance(params, Struct)
    (repeat,) = numbers_of(instr, [count])
    block, step = numbers_of(instr, params.args)
    size = dtype_of(src).bytes
    return Decoded(
        "v",
        (
            Access(dst, size, BLOCK_BYTES, ((8, block * BLOCK_BYTES), (repeat, step * BLOCK_BYTES)), True),
            Access(src, size, 8 * size, ((repeat, 8 * size),), False),
        ),
        (
            ("repeat", repeat, 0, MAX_REPEAT),
            ("block stride", block, 1, MAX_U16),
            ("repeat stride", step, 0, MAX_U16),
        ),
    )


def _gather(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Gather(dst, src, offsets in bytes, base in bytes, count)`; the recipe says how far into `src` it may read."""
    dst, src, offsets, base, count = instr.args
    dst, src, offsets = ref_of(instr, dst), ref_of(instr, src), ref_of(instr, offsets)
    size = dtype_of(src).bytes
    (lanes_,) = numbers_of(instr, [count])
    if instr.reach is None:
        raise InstructionError("Gather: how much of its source it reads is not said")
    return Decoded(
        "v",
        (
            run(dst, size, lanes_, True),
            run(src, size, instr.reach, False),
            run(offsets, dtype_of(offsets).bytes, lanes_, False),
        ),
        (("count", lanes_, 1, MAX_U32), ("base", index_of(instr, base), 0, MAX_U32)),
    )


def _compare(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Compare(bits, a, b, mode, count)` and `CompareScalar(bits, a, number, mode, count)`."""
    dst, *sources = [ref_of(instr, a) for a in instr.args if isinstance(a, Ref)]
    (count,) = numbers_of(instr, instr.args[-1:])
    size = dtype_of(sources[0]).bytes
    return Decoded(
        "v",
        (run(dst, 1, -(-count // 8), True), *(run(ref, size, count, False) for ref in sources)),
        (("count", count, 1, MAX_U32),),
        multiples=(("bytes compared", count * size, REPEAT_BYTES),),
    )


def _select(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Select(dst, bits, a, b or a number, mode, count)`."""
    dst, bits, *sources = [ref_of(instr, a) for a in instr.args if isinstance(a, Ref)]
    (count,) = numbers_of(instr, instr.args[-1:])
    size = dtype_of(dst).bytes
    return Decoded(
        "v",
        (
            run(dst, size, count, True),
            run(bits, 1, -(-count // 8), False),
            *(run(ref, size, count, False) for ref in sources),
        ),
        (("count", count, 1, MAX_U32),),
    )


def _transpose(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`Transpose(dst, src)`: 16 x 16 elements of 16 bits, each side 512 B in a row."""
    dst, src = instr.args
    dst, src = ref_of(instr, dst), ref_of(instr, src)
    side = BLOCK_BYTES // 2
    if dtype_of(dst).bytes != 2 or dtype_of(src).bytes != 2:
        raise InstructionError("Transpose takes 16-bit types")
    return Decoded("v", (run(dst, 2, side * side, True), run(src, 2, side * side, False)))


# --- what is shown, and modes ---------------------------------------------------------------------------------------


def _dump_tensor(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    """`DumpTensor(tensor, desc, count)`, of a tile or a tensor in GM.

    It copies behind a barrier of all pipes of its own; what the scalar stream waits for before it is what it shows.
    """
    source, desc, count = instr.args
    source = ref_of(instr, source)
    number, elements = numbers_of(instr, [desc, count])
    size = dtype_of(source).bytes
    return Decoded(
        "s",
        (run(source, size, elements, False),),
        (("desc", number, 0, MAX_U32), ("count", elements, 1, MAX_U32)),
        unaligned=frozenset({source.name}),
        multiples=(("bytes shown", elements * size, BLOCK_BYTES),),
    )


def _state(instr: Instr, dtype_of: DTypeOf) -> Decoded:
    return Decoded("s", ())


# --- the table ------------------------------------------------------------------------------------------------------

UNARY = ("Abs", "Exp", "Ln", "Sqrt", "Rsqrt", "Reciprocal", "Relu", "Not")
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "And", "Or")
BY_SCALAR = ("Adds", "Muls", "Maxs", "Mins", "LeakyRelu", "ShiftLeft", "ShiftRight")
WHOLE_REDUCE = ("WholeReduceSum", "WholeReduceMax", "WholeReduceMin")

_COPY: Mapping[str, Decoder] = {"": decode_copy, "nz": decode_nz, "bias": decode_bias}
_LOAD: Mapping[str, Decoder] = {"left": decode_left, "right": decode_right}
_TRANSPOSE: Mapping[str, Decoder] = dict.fromkeys(("left", "right"), decode_transposed)
_FIXPIPE: Mapping[str, Decoder] = {"gm": decode_fixpipe_gm, "mat": decode_fixpipe_mat}


def _one(name: str, decoder: Decoder, params: str | None, source: str) -> Call:
    return Call(name, {"": decoder}, params, source)


CALLS: dict[str, Call] = {
    call.name: call
    for call in (
        *(_one(name, _vector, "UnaryRepeatParams", "vec_unary") for name in UNARY),
        *(_one(name, _vector, "UnaryRepeatParams", "vec_binary_scalar") for name in BY_SCALAR),
        *(_one(name, _vector, "BinaryRepeatParams", "vec_binary") for name in BINARY),
        _one("Cast", _vector, "UnaryRepeatParams", "vec_vconv"),
        _one("Duplicate", _vector, None, "vec_duplicate"),
        _one("Copy", _vector, "CopyRepeatParams", "data_copy"),
        *(_one(name, _whole_reduce, None, "vec_reduce") for name in WHOLE_REDUCE),
        _one("Brcb", _brcb, "BrcbRepeatParams", "vec_brcb"),
        _one("Gather", _gather, None, "vec_gather"),
        _one("Transpose", _transpose, None, "vec_transpose"),
        _one("Sort32", decode_sort32, None, "proposal"),
        _one("MrgSort", decode_merge, None, "proposal"),
        *(_one(name, _compare, None, "vec_cmpsel") for name in ("Compare", "CompareScalar")),
        _one("Select", _select, None, "vec_cmpsel"),
        Call("DataCopy", _COPY, None, "data_copy"),
        _one("DataCopyPad", decode_copy_pad, None, "data_copy"),
        Call("LoadData", _LOAD, None, "mm"),
        Call("LoadDataWithTranspose", _TRANSPOSE, "LoadData2dTransposeParams", "mm"),
        _one("Mmad", decode_mmad, None, "mm"),
        Call("Fixpipe", _FIXPIPE, "FixpipeParamsV220", "fixpipe"),
        _one("DumpTensor", _dump_tensor, None, "dump_tensor"),
        _one("printf", _state, None, "dump_tensor"),
        *(_one(name, _state, None, "set_atomic") for name in ("SetAtomicAdd", "SetAtomicNone")),
    )
}
"""Every call a recipe may contain, by its C++ name; its source is the header `kernel_operator_SOURCE_intf.h`."""


FORMS: Mapping[str, Decoder] = {
    f"{call.name}.{form}" if form else call.name: decoder
    for call in CALLS.values()
    for form, decoder in call.forms.items()
}
"""Every form of every call, by its name."""


def form_of(instr: Instr, memory_of: MemoryOf = memory_unknown) -> str:
    """The name of the form that a call has; it needs to know the memory where the structure does not say it."""
    forms = CALLS[instr.call].forms if instr.call in CALLS else {"": None}
    if len(forms) == 1:
        return instr.call
    written = ref_of(instr, instr.args[0])
    params = [a.name for a in instr.args if isinstance(a, Struct)]
    if params == ["Nd2NzParams"]:
        form = "nz"
    elif instr.call == "Fixpipe":
        form = "gm" if written.name == "to" else "mat"
    elif instr.call == "DataCopy" and (not params or memory_of(written) is not Memory.BIAS):
        form = ""
    else:
        form = memory_of(written).value
    if form not in forms:
        raise InstructionError(f"{instr.call} does not write to `{form}`")
    return f"{instr.call}.{form}" if form else instr.call


def decode(instr: Instr, dtype_of: DTypeOf, memory_of: MemoryOf = memory_unknown) -> Decoded:
    """The arguments of a call, understood; KeyError where the call is not in the table."""
    return FORMS[form_of(instr, memory_of)](instr, dtype_of)


def effect(instr: Instr, dtype_of: DTypeOf, memory_of: MemoryOf = memory_unknown) -> Effect:
    """Pipe and byte ranges of one instruction, writes first; ranges are relative to each operand's start.

    `dtype_of` gives an operand's data type, `memory_of` the memory it is in. Copies to GM under `SetAtomicAdd` need
    `effects`, which follows that state.
    """
    decoded = decode(instr, dtype_of, memory_of)
    regions = tuple(r for a in decoded.accesses if (r := a.region()) is not None)
    return Effect(decoded.pipe, regions, unit=decoded.unit, fenced=decoded.fenced)


def effects(steps: Sequence[Step], dtype_of: DTypeOf, memory_of: MemoryOf = memory_unknown) -> Iterator[Effect | None]:
    """The effect of each step of a recipe, None for a barrier; writes to GM under SetAtomicAdd are atomic."""
    atomic = False
    for step in steps:
        if isinstance(step, InnerBarrier):
            yield None
            continue
        if step.call.startswith("SetAtomic"):
            atomic = step.call != "SetAtomicNone"
        found = effect(step, dtype_of, memory_of)
        adds = atomic and any(region.write and region.operand == "to" for region in found.regions)
        yield replace(found, atomic=True) if adds else found


def validate(instr: Instr, dtype_of: DTypeOf, memory_of: MemoryOf = memory_unknown) -> None:
    """Raise InstructionError where an argument is outside its range or an on-chip address is off its 32 B grid."""
    if instr.call not in CALLS:
        raise InstructionError(f"{instr.call} is not in the table of calls")
    decoded = decode(instr, dtype_of, memory_of)
    expected = CALLS[instr.call].params
    for arg in instr.args:
        if isinstance(arg, Struct) and expected is not None and arg.name != expected:
            raise InstructionError(f"{instr.call} takes {expected}, not {arg.name}")
    for what, value, lowest, highest in decoded.limits:
        low, high = bounds(value)
        if (low is not None and low > highest) or (high is not None and high < lowest):
            raise InstructionError(f"{instr.call}: {what} {value} is outside {lowest}..{highest}")
        if isinstance(value, int) and not lowest <= value <= highest:
            raise InstructionError(f"{instr.call}: {what} {value} is outside {lowest}..{highest}")
    for what, value, unit in decoded.multiples:
        if mod(value, unit) != 0:
            raise InstructionError(f"{instr.call}: {what} {value} is not a multiple of {unit}")
    grids = dict(decoded.grids)
    for access in decoded.accesses:
        grid = grids.get(access.ref.name, BLOCK_BYTES)
        if access.ref.name not in decoded.unaligned and mod(mul(access.ref.offset, access.size), grid) != 0:
            raise InstructionError(
                f"{instr.call}: `{access.ref.name}` starts {access.ref.offset} elements of {access.size} B in, "
                f"not on a {grid} B boundary"
            )

"""Effects against a simulator of addresses, and the limits that `validate` checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.dtype import FP16, FP32, INT32, DType
from pypto_spec.ir.expr import Index, Sym, maximum, minimum, mul, sub, sym
from pypto_spec.ir.instr import Effect, InnerBarrier, Instr, Number, Ref, Region, Struct, Word
from pypto_spec.ops.decoding import InstructionError
from pypto_spec.ops.instructions import BINARY, CALLS, effect, effects, validate
from pypto_spec.ops.regions import UNBOUNDED
from tests.ops.machine import Machine
from tests.ops.making import in_vec

Types = dict[str, DType]


def types(found: Types) -> Callable[[Ref], DType]:
    return lambda ref: ref.dtype or found[ref.name]


def spread(regions: Iterable[Region], *, write: bool) -> set[tuple[str, int]]:
    """Every byte of the regions."""
    found: set[tuple[str, int]] = set()
    for region in regions:
        if region.write == write:
            assert isinstance(region.base, int)
            starts = [region.base]
            for count, stride in region.steps:
                starts = [s + k * stride for s in starts for k in range(count)]
            found |= {(region.operand, s + b) for s in starts for b in range(region.width)}
    return found


def same_bytes(instr: Instr, found: Types) -> Effect:
    machine = Machine({name: [1] * 200_000 for name in found}, found)
    machine.run([instr])
    made = effect(instr, types(found), in_vec)
    ((_, reads, writes),) = machine.touched
    assert spread(made.regions, write=False) == reads
    assert spread(made.regions, write=True) == writes
    return made


OFFSET = st.integers(0, 5).map(lambda n: n * 16)
REPEAT = st.integers(0, 6)
STRIDE = st.integers(0, 12)
BLOCK = st.integers(1, 4)


@given(st.sampled_from([FP32, FP16]), st.data())
def test_binary_in_repeat_form(dtype: DType, data: st.DataObject) -> None:
    mask = data.draw(st.integers(1, dtype.lanes))
    blocks = (data.draw(BLOCK), data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3)))
    steps = tuple(data.draw(STRIDE) for _ in range(3))
    refs = tuple(Ref(name, data.draw(OFFSET)) for name in ("into", "lhs", "rhs"))
    instr = Instr("Add", (*refs, mask, data.draw(REPEAT), Struct("BinaryRepeatParams", (*blocks, *steps))))
    assert same_bytes(instr, {"into": dtype, "lhs": dtype, "rhs": dtype}).pipe == "v"


@given(st.sampled_from([(FP32, FP16), (FP16, FP32), (FP32, INT32)]), st.data())
def test_cast_counts_lanes_of_the_wider_type(pair: tuple[DType, DType], data: st.DataObject) -> None:
    mask = data.draw(st.integers(1, 64))
    params = Struct("UnaryRepeatParams", (1, 1, data.draw(STRIDE), data.draw(STRIDE)))
    refs = Ref("into", data.draw(OFFSET)), Ref("x", data.draw(OFFSET))
    instr = Instr("Cast", (*refs, Word("RoundMode::CAST_RINT"), mask, data.draw(REPEAT), params))
    same_bytes(instr, {"into": pair[0], "x": pair[1]})


@given(st.sampled_from([FP32, FP16]), st.data())
def test_duplicate_and_copy(dtype: DType, data: st.DataObject) -> None:
    mask, repeat = data.draw(st.integers(1, dtype.lanes)), data.draw(REPEAT)
    one = Number(1, dtype)
    same_bytes(
        Instr("Duplicate", (Ref("into"), one, mask, repeat, data.draw(BLOCK), data.draw(STRIDE))), {"into": dtype}
    )
    params = Struct("CopyRepeatParams", (data.draw(BLOCK), data.draw(BLOCK), data.draw(STRIDE), data.draw(STRIDE)))
    same_bytes(Instr("Copy", (Ref("into"), Ref("x"), mask, repeat, params)), {"into": dtype, "x": dtype})


@given(st.sampled_from([FP32, FP16]), st.integers(1, 700), OFFSET)
def test_count_forms(dtype: DType, count: int, offset: int) -> None:
    found = {"into": dtype, "x": dtype, "y": dtype}
    same_bytes(Instr("Exp", (Ref("into", offset), Ref("x"), count)), found)
    same_bytes(Instr("Max", (Ref("into", offset), Ref("x"), Ref("y", offset), count)), found)
    same_bytes(Instr("Muls", (Ref("into", offset), Ref("x"), Number(2, dtype), count)), found)
    same_bytes(Instr("Duplicate", (Ref("into", offset), Number(2, dtype), count)), found)
    same_bytes(Instr("Cast", (Ref("into"), Ref("x"), Word("RoundMode::CAST_NONE"), count)), {**found, "into": FP32})


@given(st.sampled_from([FP32, FP16]), st.sampled_from(["Sum", "Max", "Min"]), st.booleans(), st.data())
def test_whole_reduce(dtype: DType, kind: str, alone: bool, data: st.DataObject) -> None:
    mask, repeat = data.draw(st.integers(1, dtype.lanes)), data.draw(st.integers(1, 6))
    order = (Word("ReduceOrder::ORDER_ONLY_VALUE"),) if alone and kind != "Sum" else ()
    args = (mask, repeat, data.draw(BLOCK), data.draw(BLOCK), data.draw(STRIDE))
    same_bytes(Instr(f"WholeReduce{kind}", (Ref("into", 3), Ref("x", 16), *args, *order)), {"into": dtype, "x": dtype})


@given(st.sampled_from([FP32, FP16]), st.integers(0, 6), BLOCK, st.integers(0, 40))
def test_brcb(dtype: DType, repeat: int, block: int, step: int) -> None:
    instr = Instr("Brcb", (Ref("into"), Ref("x", 16), repeat, Struct("BrcbRepeatParams", (block, step))))
    same_bytes(instr, {"into": dtype, "x": dtype})


@given(st.integers(0, 5), st.integers(1, 6), st.integers(0, 6), st.integers(0, 6))
def test_copy_inside_ub(count: int, length: int, src_gap: int, dst_gap: int) -> None:
    params = Struct("DataCopyParams", (count, length, src_gap, dst_gap))
    assert (
        same_bytes(Instr("DataCopy", (Ref("into", 8), Ref("from"), params)), {"into": FP32, "from": FP32}).pipe == "v"
    )


@given(st.integers(1, 5), st.integers(1, 90), st.integers(0, 90), st.integers(0, 6), st.integers(0, 77))
def test_padded_copies(count: int, length: int, gm_gap: int, chip_gap: int, start: int) -> None:
    into = Struct("DataCopyExtParams", (count, 2 * length, 2 * gm_gap, chip_gap, 0))
    pad = Struct("DataCopyPadExtParams<half>", (False, 0, 0, 0))
    load = Instr("DataCopyPad", (Ref("into", 16), Ref("from", start), into, pad))
    assert same_bytes(load, {"into": FP16, "from": FP16}).pipe == "mte2"
    out = Struct("DataCopyExtParams", (count, 2 * length, chip_gap, 2 * gm_gap, 0))
    store = Instr("DataCopyPad", (Ref("to", start), Ref("from", 16), out))
    assert same_bytes(store, {"to": FP16, "from": FP16}).pipe == "mte3"
    for instr in (load, store):
        validate(instr, types({"into": FP16, "from": FP16, "to": FP16}))


def test_runs_that_touch_are_merged() -> None:
    params = Struct("BinaryRepeatParams", (1, 1, 0, 8, 16, 0))
    made = effect(
        Instr("Div", (Ref("into"), Ref("x"), Ref("scratch", 0, FP32), 64, 255, params)),
        types({"into": FP32, "x": FP32}),
    )
    assert made.regions == (
        Region("into", 0, 255 * 256, (), True),
        Region("x", 0, 256, ((255, 512),), False),
        Region("scratch", 0, 32, (), False),
    )


def test_run_time_sizes_are_bounded_from_above() -> None:
    rows, far = Sym("rows", "scalar", 0, 64), Sym("far", "scalar", 0)
    params = Struct("DataCopyExtParams", (sym(rows), 64, mul(sym(far), 4), 0, 0))
    pad = Struct("DataCopyPadExtParams<float>", (False, 0, 0, 0))
    made = effect(Instr("DataCopyPad", (Ref("into"), Ref("from", sym(far)), params, pad)), lambda ref: FP32)
    assert made.regions[0] == Region("into", 0, 64 * 64, (), True)
    assert made.regions[1] == Region("from", mul(sym(far), 4), UNBOUNDED, (), False)


def test_atomic_copies_are_marked() -> None:
    copy = Instr("DataCopy", (Ref("to"), Ref("from"), 64))
    steps = (copy, Instr("SetAtomicAdd", (), ("float",)), copy, InnerBarrier("v"), Instr("SetAtomicNone", ()), copy)
    made = list(effects(steps, lambda ref: FP32))
    assert [None if e is None else (e.pipe, e.atomic) for e in made] == [
        ("mte3", False), ("s", False), ("mte3", True), None, ("s", False), ("mte3", False),
    ]  # fmt: skip


BAD = [
    (Instr("Add", (Ref("a"), Ref("a"), Ref("a"), 64, 256, Struct("BinaryRepeatParams", (1, 1, 1, 8, 8, 8)))), "repeat"),
    (Instr("Add", (Ref("a"), Ref("a"), Ref("a"), 65, 1, Struct("BinaryRepeatParams", (1, 1, 1, 8, 8, 8)))), "mask"),
    (Instr("Add", (Ref("a"), Ref("a"), Ref("a"), 64, 1, Struct("BinaryRepeatParams", (0, 1, 1, 8, 8, 8)))), "block"),
    (Instr("Add", (Ref("a"), Ref("a"), Ref("a"), 64, 1, Struct("BinaryRepeatParams", (1, 1, 1, 256, 8, 8)))), "stride"),
    (Instr("Add", (Ref("a"), Ref("a"), Ref("a"), 64, 1, Struct("UnaryRepeatParams", (1, 1, 8, 8)))), "strides"),
    (Instr("Add", (Ref("a", 4), Ref("a"), Ref("a"), 64)), "32 B boundary"),
    (Instr("Add", (Ref("a"), Ref("a"), Ref("a"), 0)), "count"),
    (Instr("DataCopy", (Ref("into"), Ref("from"), 9)), "multiple"),
    (Instr("DataCopy", (Ref("a"), Ref("b"), 8)), "neither is in GM"),
    (Instr("DataCopy", (Ref("into", 4), Ref("from", 3), 8)), "32 B boundary"),
    (Instr("DataCopyPad", (Ref("to"), Ref("from"), Struct("DataCopyExtParams", (4096, 4, 0, 0, 0)))), "blockCount"),
    (Instr("DataCopyPad", (Ref("to"), Ref("from"), Struct("DataCopyExtParams", (1, 3, 0, 0, 0)))), "multiple"),
    (Instr("DataCopyPad", (Ref("to"), Ref("from"), Struct("DataCopyExtParams", (1, 2_097_152, 0, 0, 0)))), "blockLen"),
    (Instr("Sin", (Ref("a"), Ref("a"), 8)), "not in the table"),
]


@pytest.mark.parametrize(("instr", "why"), BAD)
def test_limits(instr: Instr, why: str) -> None:
    with pytest.raises(InstructionError, match=why):
        validate(instr, lambda ref: FP32)


def test_every_binary_call_is_in_the_table() -> None:
    assert set(BINARY) <= set(CALLS)


def test_repeat_known_at_run_time_counts_with_its_upper_bound() -> None:
    live = maximum(minimum(sub(sym(Sym("M", "dim", 1, 4096)), 64), 48), 0)
    args = (1, 1, 8, Word("ReduceOrder::ORDER_ONLY_VALUE"))

    def reduce(repeat: Index) -> Instr:
        return Instr("WholeReduceMax", (Ref("into"), Ref("x"), 64, repeat, *args))

    dtypes = types({"into": FP32, "x": FP32})
    assert effect(reduce(live), dtypes) == effect(reduce(48), dtypes)
    validate(reduce(live), dtypes)
    for unbounded in (sym(Sym("M", "dim", 1, None)), sym(Sym("M", "dim", 1, 256))):
        with pytest.raises(InstructionError, match="may be above 255"):
            validate(reduce(unbounded), dtypes)

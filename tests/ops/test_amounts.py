"""How much an instruction does, by hand; that it is what the host model records is a test of goldens."""

from __future__ import annotations

from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.expr import Index, Sym, evaluate, mul, sym
from pypto_spec.ir.instr import Arg, Instr, Number, Ref, Struct, Word
from pypto_spec.ops.amounts import MEASURES, amounts
from pypto_spec.ops.instructions import FORMS
from tests.ops.making import in_vec

N = Sym("n", "dim", 0, 100)


def of(call: str, *args: Arg, dtype: str = "fp32") -> tuple[int, ...] | None:
    def dtype_of(ref: Ref) -> DType:
        return ref.dtype or DTYPES[dtype]

    found = amounts(Instr(call, args), dtype_of, in_vec)
    return None if found is None else tuple(evaluate(index, {N: 33}) for index in found)


def test_every_call_is_measured_but_those_of_state() -> None:
    assert set(FORMS) - set(MEASURES) == {"SetAtomicAdd", "SetAtomicNone", "printf"}
    assert of("SetAtomicAdd") is None


def test_a_count_is_rounded_up_to_repeats_of_the_widest_operand() -> None:
    dst, src = Ref("into"), Ref("x")
    assert of("Exp", dst, src, 100) == (100, 400, 2)
    assert of("Exp", dst, src, sym(N)) == (33, 132, 1)
    half = Ref("x", 0, DTYPES["fp16"])
    assert of("Cast", dst, half, Word("RoundMode::CAST_NONE"), 128) == (128, 512, 2)
    byte = Ref("into", 0, DTYPES["int8"])
    assert of("Duplicate", byte, Number(0, DTYPES["int8"]), 300) == (300, 300, 3)


def test_masks_and_repeats() -> None:
    dst, src = Ref("into"), Ref("x")
    strides = Struct("BinaryRepeatParams", (1, 1, 1, 8, 8, 8))
    assert of("Add", dst, src, src, 48, 3, strides) == (144, 576, 3)
    assert of("WholeReduceMax", dst, src, 64, sym(N), 1, 1, 8) == (64 * 33, 256 * 33, 33)
    assert of("Brcb", dst, src, 4, Struct("BrcbRepeatParams", (1, 8))) == (32, 1024, 4)


def test_copies_have_rows() -> None:
    far, near = Ref("from"), Ref("into")
    assert of("DataCopy", near, far, 1024) == (1024, 4096, 1)
    assert of("DataCopy", near, far, Struct("DataCopyParams", (3, 2, 0, 0))) == (48, 192, 3)
    length: Index = mul(sym(N), 4)
    params = Struct("DataCopyExtParams", (sym(N), length, 0, 0, 0))
    assert of("DataCopyPad", near, far, params) == (33 * 33, 4 * 33 * 33, 33)


def test_sorting_counts_records() -> None:
    assert of("Sort32", Ref("into"), Ref("x"), Ref("i"), 3) == (96, 768, 3)
    lists = Struct("MrgSortSrcList", (Ref("a"), Ref("b"), Ref("a"), Ref("a")))
    info = Struct("MergeInfo", (32, 64, 0, 0, 2, 1))
    assert of("MrgSort", Ref("into"), lists, info) == (96, 768, 3)

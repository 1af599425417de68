"""The verifier finds what is broken, and has a check for every property."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_spec.ir.dtype import FP32
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Buffer, BufferRef, Carry, For, Op, Program, Region, Stmt, Value
from pypto_spec.ir.types import ArrayType, Layout, Memory, TileType
from pypto_spec.ir.verifier import CHECKS, is_pitched, verify
from pypto_spec.passes.base import Property
from tests.passes.toys import MAKE, TILE, loc, make, program, region, see, tensor, value

VEC = replace(TILE, memory=Memory.VEC)


def op(result: Value, *operands: Value) -> Op:
    given = {f"x{i}": v for i, v in enumerate(operands)}
    return Op(defn=MAKE, operands=given, attrs={}, results=(result,), loc=loc())


def broken(prop: str, *body: Stmt, **changes: object) -> str | None:
    made: Program = replace(program(region(*body)), **changes)  # type: ignore[arg-type]
    found = verify(made, [prop])
    return found.message if found else None


def test_every_property_has_a_check() -> None:
    assert set(CHECKS) == {p.value for p in Property}


def test_ssa_form() -> None:
    a, b = value("a.1"), value("b.1")
    assert broken("SSAForm", op(a), op(b, a)) is None
    assert broken("SSAForm", op(b, a), op(a)) == "`a.1` is used where it is not defined"
    assert broken("SSAForm", op(a), op(value("a.1"))) == "`a.1` is defined twice"
    assert broken("SSAForm", op(b, tensor("x", 8))) == "`x` is used where it is not defined"


def test_a_value_ends_with_its_loop() -> None:
    a = value("a.1")
    loop = For(index=Sym("i", "loop"), start=0, stop=2, step=1, body=(op(a),), loc=loc())
    assert broken("SSAForm", loop, op(value("b.1"), a)) == "`a.1` is used where it is not defined"


def test_carried_types_are_one() -> None:
    start, arg, end, result = value("a.1"), value("a.2"), value("a.3", TileType(FP32, (1, 1))), value("a.4")
    loop = For(
        index=Sym("i", "loop"), start=0, stop=2, step=1, body=(op(end, arg),), loc=loc(),
        carries=(Carry(arg, start, end, result),),
    )  # fmt: skip
    assert broken("SSAForm", op(start), loop) == "`a.3` is fp32[1, 1] and becomes `a.4`, fp32[8, 16]"


def test_planes() -> None:
    assert broken("SplitIncoreOrch") == "region `r` has no core or no kernel name"
    twice = tuple(replace(region(name=n), core="aiv", kernel="k") for n in "ab")
    assert broken("SplitIncoreOrch", body=twice) == "two kernels are called `k`"


@pytest.mark.parametrize(
    ("prop", "kind", "message"),
    [
        ("IncoreTileOps", ArrayType(FP32, (8, 16)), "`a.1` is still a whole array"),
        ("TileOps2D", TileType(FP32, (2, 8, 16)), "tile `a.1` is fp32[2, 8, 16], not two-dimensional"),
        ("TileMemoryInferred", TILE, "tile `a.1` has no memory"),
        ("HasMemRefs", VEC, "`a.1` has no buffer"),
    ],
)
def test_values(prop: str, kind: TileType | ArrayType, message: str) -> None:
    assert broken(prop, op(value("a.1", kind))) == message
    good = Value("a.1", VEC, BufferRef("vec.0"))
    assert broken(prop, op(good), buffers=(Buffer(name="vec.0", memory=Memory.VEC, loc=loc()),)) is None


def test_tensors_are_not_computed_with() -> None:
    assert broken("IncoreTileOps", op(value("a.1"), tensor("x", 8))) == "`make` works on the tensor `x` itself"


def test_layouts() -> None:
    column, window = value("a.1", TileType(FP32, (8, 1))), value("a.2", TileType(FP32, (8, 16), pitch=64))
    assert broken("LayoutsResolved", op(value("b.1"), column)) == "`make` takes the column vector `a.1` as it is"
    assert broken("LayoutsResolved", op(value("b.1"), window)) == "`make` takes `a.2` with rows 64 elements apart"


def test_pitched() -> None:
    assert not is_pitched(TileType(FP32, (8, 1)))
    assert is_pitched(TileType(FP32, (8, 1), layout=Layout.ND))
    assert not is_pitched(TileType(FP32, (1, 16), pitch=64))
    assert not is_pitched(TileType(FP32, (8, 16), pitch=16))
    assert is_pitched(TileType(FP32, (8, 16), pitch=64))


def test_the_end_of_the_line() -> None:
    buffer = Buffer(name="vec.0", memory=Memory.VEC, loc=loc())
    assert broken("AllocatedMemoryAddr", buffers=(buffer,)) == "buffer `vec.0` has no address or no size"
    assert broken("HasInstructions", make("a.1")) == "`make` was not expanded"
    assert broken("Synchronised") == "the program does not say `sync: manual`"


def test_unknown_operator() -> None:
    found = verify(program(region(make("a.1"))), [], known={})
    assert found is not None
    assert found.message == "`make` is no operator"
    assert verify(program(Region(name="r", body=(make("a.1"), see("a.1")), loc=loc())), [], known=None) is None

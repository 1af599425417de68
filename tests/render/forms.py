"""A program with every form the renderer prints, for type checks and formatting; it computes nothing of sense."""

from __future__ import annotations

import math

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT16, DType
from pypto_spec.ir.expr import Index, Sym, add, floordiv, maximum, minimum, mod, mul, sub, sym
from pypto_spec.ir.instr import Number, Ref, ScalarRef, Step, Struct, Word
from pypto_spec.ir.nodes import BufferRef, Condition, For, Grid, If, Loop, Op, Program, Region, Stmt, Value
from pypto_spec.ir.types import Access
from tests.render import programs as make
from tests.render.programs import at, buffer, call, define, op, scalar, set_flag, tensor, tile, wait_flag

ANY = define("any", "v", into="bind", x="tile", y="tile", scalar="number", other="number")
UNARY = Struct("UnaryRepeatParams", (1, 1, 8, 8))
BINARY = Struct("BinaryRepeatParams", (1, 1, 0, 8, 8, 1))
RINT = Word("RoundMode::CAST_RINT")


def _op(result: Value, *steps: Step, line: int, **operands: Value) -> Op:
    scratch = (BufferRef("spare"), BufferRef("spare", 4096))
    return op(ANY, result, *steps, line=line, scratch=scratch, attrs=None, **operands)


def _vector() -> list[Stmt]:
    f, g = tile("f.1", 16, 128, buffer="f"), tile("g.1", 16, 128, buffer="g")
    h, hh = tile("h.1", 16, 128, buffer="h", dtype=FP16), tile("h.2", 16, 128, buffer="g", dtype=FP16)
    b, n = tile("b.1", 16, 128, buffer="h", dtype=BF16), tile("n.1", 16, 128, buffer="g", dtype=INT32)
    eps, count, half, brain = scalar("eps"), scalar("count", INT32), scalar("scale", FP16), scalar("shift", BF16)
    into, x, y = Ref("into"), Ref("x"), Ref("y")
    spare, other = Ref("scratch", 0, FP32), Ref("scratch.1", 0, FP16)

    def by_scalars(dtype: DType, *values: float | int) -> list[Step]:
        return [call("Adds", into, into, Number(v, dtype), 2048) for v in values]

    def by_arguments(dtype: DType) -> list[Step]:
        return [call("Muls", into, into, ScalarRef(v, dtype), 2048) for v in (eps, count, half, brain)]

    return [
        _op(f, call("Exp", into, x, 2048), call("Exp", into, x, 64, 32, UNARY), line=20, x=g),
        _op(f, call("Add", into, x, y, 2048), call("Max", into, x, spare, 64, 16, BINARY), line=21, x=g, y=f),
        _op(f, *by_scalars(FP32, 0.1, -0.0, 1e-6, 1e30, math.inf, -math.inf, math.nan, 3.4028234663852886e38), line=22),
        _op(h, *by_scalars(FP16, 0.0999755859375, -65504.0, math.inf, math.nan), line=23),
        _op(n, *by_scalars(INT32, 5, -(2**31)), line=24),
        _op(f, *by_arguments(FP32), line=25, x=f, y=f, scalar=eps, other=count),
        _op(h, *by_arguments(FP16), line=26, x=h, y=h, scalar=half, other=brain),
        _op(n, *[call("Adds", into, into, ScalarRef(v, INT32), 2048) for v in (eps, count, half)], line=27),
        _op(b, *[call("Duplicate", into, ScalarRef(v, BF16), 2048) for v in (eps, count, half, brain)], line=28),
        _op(b, call("Duplicate", into, Number(1.5, BF16), 64, 8, 1, 8), line=29),
        _op(f, call("Duplicate", Ref("into", 64, INT32), Number(-8388608, INT32), 64), line=30),
        _op(h, call("Duplicate", Ref("into", 0, UINT16), Number(0xFC00, UINT16), 64), line=31),
        _op(h, call("Duplicate", Ref("into", 0, INT16), Number(-7, INT16), 64), line=32),
        _op(h, call("Cast", into, x, RINT, 2048), call("Cast", into, x, RINT, 64, 8, UNARY), line=33, x=f),
        _op(f, call("Brcb", spare, x, 2, Struct("BrcbRepeatParams", (1, 8))), line=34, x=g),
        _op(f, call("Copy", into, x, 64, 16, Struct("CopyRepeatParams", (1, 1, 16, 16))), line=35, x=g),
        _op(f, call("DataCopy", into, x, Struct("DataCopyParams", (1, 256, 0, 0))), line=36, x=g),
        _op(f, *[call(f"WholeReduce{k}", into, x, 64, 16, 1, 1, 16, Word("ReduceOrder::ORDER_ONLY_VALUE"))
                 for k in ("Max", "Min")], call("WholeReduceSum", into, x, 64, 16, 1, 1, 16), line=37, x=g),
        _op(h, call("Cast", other, x, RINT, 64), call("Adds", into, other, Number(1, FP16), 64), line=38, x=f),
        _op(hh, call("SetMaskCount"), call("SetVectorMask", 0, 100, template=("half", "MaskMode::COUNTER")),
            call("Max", into, x, x, Word("MASK_PLACEHOLDER"), 1, BINARY, template=("half", "false")),
            call("SetMaskNorm"), call("ResetMask"), line=39, x=h),
    ]  # fmt: skip


def _copies(x: Value, out: Value, index: Sym, dim: Sym) -> list[Stmt]:
    i, m = sym(index), sym(dim)
    f = tile("f.9", 16, 128, buffer="f")
    below = sub(i, 20)
    where: list[Index] = [
        mul(floordiv(below, 3), 128), mul(mod(below, 3), 128), mul(maximum(below, 0), 128), mul(minimum(i, m, 7), 128),
        add(mul(mod(i, 2), 128), 64), sub(4096, mul(i, 128)), mul(i, m), mul(floordiv(add(m, i), 5), 128),
    ]  # fmt: skip
    pad = Struct("DataCopyPadExtParams", (False, 0, 0, Number(0, FP32)))
    rows = minimum(16, sub(m, mul(i, 16)))
    loads = [
        op(make.LOAD, f, call("DataCopyPad", Ref("into"), Ref("from", w), Struct("DataCopyExtParams", (
            rows, 512, mul(sub(m, 1), 512), 0, 0)), pad), line=50 + k, from_=x)
        for k, w in enumerate(where)
    ]  # fmt: skip
    last = op(
        make.STORE, None, *[call(c, template=("float",)) for c in ("SetAtomicAdd", "SetAtomicMax", "SetAtomicMin")],
        call("DataCopyPad", Ref("to", mul(i, 128)), Ref("from"), Struct("DataCopyExtParams", (rows, mul(rows, 4), 0,
             mul(rows, 16), 0))), call("SetAtomicNone"), line=60, from_=f, to=out,
    )  # fmt: skip
    return [*loads, set_flag("mte2", "mte3", 58), wait_flag("mte2", "mte3", last), last]


def forms() -> Program:
    """One region in a launch of `M` blocks inside a host loop."""
    dim, block, blocks = Sym("M", "dim", 1, 4096), Sym("blk", "block", 0, 47), Sym("num_blocks()", "blocks", 1, 48)
    host, index, inner = Sym("k", "loop", 0, 3), Sym("i", "loop", 0, 63), Sym("j", "loop", 0, 7)
    x, out = tensor("x", sym(dim), 128), tensor("out", sym(dim), 128, access=Access.INOUT)
    copies = For(index=index, start=sym(block), stop=64, step=sym(blocks), body=tuple(_copies(x, out, index, dim)),
                 loc=at(18))  # fmt: skip
    both = Condition("and", Condition("==", sym(inner), sym(host)), Condition("not", Condition("<", sym(dim), 5)))
    branch = If(condition=Condition("or", both, Condition(">=", mod(sym(inner), 3), 1)),
                then=tuple(_vector()), other=(copies,), loc=at(19))  # fmt: skip
    rounds = For(index=inner, start=0, stop=8, step=3, body=(branch,), loc=at(17))
    region = Region(name="forms", body=(rounds,), loc=at(16), core="aiv", kernel="forms")
    grid = Grid(kind="spmd", index=block, count=minimum(sym(dim), 48), blocks_symbol=blocks, body=(region,), loc=at(15))
    repeat = Loop(index=host, start=0, stop=4, step=1, body=(grid,), loc=at(14))
    sizes = {"f": 8192, "g": 8192, "h": 4096, "spare": 8192}
    places = dict(zip(sizes, (0, 8192, 16384, 20480), strict=True))
    scalars = [scalar("eps"), scalar("count", INT32), scalar("scale", FP16), scalar("shift", BF16)]
    return make.program("forms", [x, out], [repeat], [buffer(n, s, places[n]) for n, s in sizes.items()],
                        scalars=scalars, dims=[dim])  # fmt: skip

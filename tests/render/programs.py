"""Programs as InsertSync leaves them, built by hand: the renderer needs no pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.dtype import FP32, DType
from pypto_spec.ir.expr import Expr, Index, Sym, ceil_div, minimum, mod, mul, sub, sym
from pypto_spec.ir.instr import Arg, InnerBarrier, Instr, Number, Ref, ScalarRef, Step, Struct, Word
from pypto_spec.ir.nodes import (
    Attr,
    Barrier,
    Buffer,
    BufferRef,
    Condition,
    Control,
    For,
    Grid,
    If,
    Op,
    Program,
    Region,
    SetFlag,
    Stmt,
    TargetOptions,
    Value,
    WaitFlag,
)
from pypto_spec.ir.opdef import Field, FieldKind, OpDef
from pypto_spec.ir.types import Access, Memory, ScalarType, TensorType, TileType

SOURCE = Source("specs/some/kernel.yaml", "")


def at(line: int, col: int = 13) -> Loc:
    return Loc(Span(SOURCE, line, col, line, col + 8))


def define(name: str, pipe: Any, effects: Any = "pure", **kinds: FieldKind) -> OpDef:
    """An operator with these fields and nothing behind them."""

    def nothing(*_: Any) -> Any:
        raise AssertionError("only passes ask for this")

    return OpDef(
        name=name, family="test", doc=name, role="elementwise", pipe=pipe, infer=nothing, dtypes=(FP32,),
        torch=nothing, recipe=nothing, scratch=nothing, spaces={}, dtype_of="x", effects=effects,
        fields=tuple(Field(name=n.rstrip("_"), kind=k, doc=n) for n, k in kinds.items()),
    )  # fmt: skip


LOAD = define("load", "mte2", "reads_gm", into="bind", from_="tensor", at="exprs", shape="ints")
STORE = define("store", "mte3", "writes_gm", from_="tile", to="tensor", at="exprs", atomic="word")
EXP = define("exp", "v", into="bind", x="tile")
ADD = define("add", "v", into="bind", lhs="tile", rhs="tile")
SCALED = define("mul_scalar", "v", into="bind", x="tile", scalar="number")
FULL = define("full", "v", into="bind", value="number")
ROW_MAX = define("row_max", "v", into="bind", x="tile", plus="number")

REPEAT = Struct("UnaryRepeatParams", (1, 1, 8, 8))


def tensor(name: str, *shape: Index, access: Access = Access.IN, dtype: DType = FP32) -> Value:
    return Value(name, TensorType(dtype, shape, access))


def scalar(name: str, dtype: DType = FP32) -> Value:
    return Value(name, ScalarType(dtype))


def tile(
    name: str, *shape: int, buffer: str = "vec.0", dtype: DType = FP32, offset: Index = 0, slot: Index | None = None
) -> Value:
    return Value(name, TileType(dtype, shape, Memory.VEC), BufferRef(buffer, offset, slot))


def buffer(name: str, size: int, address: int, slots: int = 1) -> Buffer:
    return Buffer(name=name, memory=Memory.VEC, loc=at(3), bytes=size, address=address, slots=slots, owner="compiler")


def call(name: str, *args: Arg, template: tuple[str, ...] = ()) -> Instr:
    return Instr(name, args, template)


def op(
    defn: OpDef, result: Value | None, *steps: Step, line: int, scratch: tuple[BufferRef, ...] = (),
    attrs: dict[str, Attr] | None = None, **operands: Value,
) -> Op:  # fmt: skip
    return Op(
        defn=defn, operands={n.rstrip("_"): v for n, v in operands.items()}, attrs=attrs or {},
        results=() if result is None else (result,), loc=at(line), scratch=scratch, instrs=steps,
    )  # fmt: skip


def load(result: Value, source: Value, row: Index, line: int, count: Index | None = None) -> Op:
    """Whole rows from `row` on; `count` of them where that is not all."""
    assert isinstance(result.type, TileType)
    rows, cols = result.type.shape
    where = Ref("from", mul(row, cols))
    if count is None:
        step = call("DataCopy", Ref("into"), where, rows * cols)
    else:
        pad = Struct("DataCopyPadExtParams", (False, 0, 0, Number(0, result.type.dtype)))
        step = call("DataCopyPad", Ref("into"), where, Struct("DataCopyExtParams", (count, cols * 4, 0, 0, 0)), pad)
    return op(LOAD, result, step, line=line, attrs={"at": (row, 0), "shape": (rows, cols)}, from_=source)


def store(source: Value, target: Value, row: Index, line: int, count: Index | None = None) -> Op:
    assert isinstance(source.type, TileType)
    rows, cols = source.type.shape
    where = Ref("to", mul(row, cols))
    if count is None:
        step = call("DataCopy", where, Ref("from"), rows * cols)
    else:
        step = call("DataCopyPad", where, Ref("from"), Struct("DataCopyExtParams", (count, cols * 4, 0, 0, 0)))
    return op(STORE, None, step, line=line, attrs={"at": (row, 0)}, from_=source, to=target)


def exp(result: Value, x: Value, line: int, count: int = 8192) -> Op:
    return op(EXP, result, call("Exp", Ref("into"), Ref("x"), count), line=line, x=x)


def set_flag(source: Any, target: Any, line: int, id: Index = 0) -> SetFlag:
    return SetFlag(source=source, target=target, id=id, loc=at(line), pairs=(((line, 13), (line + 1, 13)),))


def wait_flag(source: Any, target: Any, after: Stmt, id: Index = 0) -> WaitFlag:
    """A wait that belongs to the statement `after` it."""
    return WaitFlag(source=source, target=target, id=id, loc=after.loc)


def loop(name: str, stop: Index, body: Callable[[Expr], Sequence[Stmt]], line: int, *, start: Index = 0,
         step: Index = 1) -> For:  # fmt: skip
    index = Sym(name, "loop", 0, stop - 1 if isinstance(stop, int) else None)
    return For(index=index, start=start, stop=stop, step=step, body=tuple(body(sym(index))), loc=at(line))


def region(name: str, *body: Stmt, kernel: str | None = None) -> Region:
    return Region(name=name, body=body, loc=at(12), core="aiv", kernel=kernel or name)


def program(
    name: str, tensors: Sequence[Value], body: Sequence[Control], buffers: Sequence[Buffer] = (),
    scalars: Sequence[Value] = (), dims: Sequence[Sym] = (), about: str = "a program for tests",
) -> Program:  # fmt: skip
    return Program(
        name=name, about=about, target=TargetOptions(sync="manual"), tensors=tuple(tensors), scalars=tuple(scalars),
        body=tuple(body), loc=at(1, 1), dims=tuple(dims), buffers=tuple(buffers),
        tensor_locs={t.name: at(6) for t in tensors},
    )  # fmt: skip


def exp_pipelined() -> Program:
    """The example of the language's description, at depth 1."""
    a, out = tensor("a", 512, 128), tensor("out", 512, 128, access=Access.OUT)
    t, y = tile("t.1", 64, 128), tile("y.1", 64, 128)

    def body(i: Expr) -> list[Stmt]:
        row = mul(i, 64)
        first, then, last = load(t, a, row, 16), exp(y, t, 17), store(y, out, row, 18)
        return [
            wait_flag("mte3", "mte2", first), first, set_flag("mte2", "v", 16),
            wait_flag("mte2", "v", then), then, set_flag("v", "mte3", 17),
            wait_flag("v", "mte3", last), last, set_flag("mte3", "mte2", 18),
        ]  # fmt: skip

    rounds = loop("i", 8, body, 14)
    closing = wait_flag("mte3", "mte2", rounds.body[1])
    kernel = region("exp", set_flag("mte3", "mte2", 18), rounds, closing, kernel="exp_pipelined_exp")
    return program("exp_pipelined", [a, out], [kernel], [buffer("vec.0", 32768, 0)], about="exp over row tiles")


def tail_rows() -> Program:
    """Run-time rows over `auto` blocks, a reduction with scratch and barriers inside, two slots."""
    rows = Sym("M", "dim", 1, 100000)
    block, blocks = Sym("blk", "block", 0, 47), Sym("num_blocks()", "blocks", 1, 48)
    m = sym(rows)
    x, out = tensor("x", m, 256), tensor("out", m, 1, access=Access.OUT)
    eps = scalar("eps")
    count = Sym("i", "loop", 0, None)
    i = sym(count)
    slot = mod(i, 2)
    t, r = tile("t.1", 64, 256, buffer="ub", slot=slot), tile("r.1", 64, 1, buffer="vec.0")
    valid = minimum(64, sub(m, mul(i, 64)))
    first = load(t, x, mul(i, 64), 20, valid)
    pad = Struct("BinaryRepeatParams", (1, 1, 1, 8, 32, 32))
    scratch = Ref("scratch", 0, FP32)
    reduce = op(
        ROW_MAX, r,
        call("Max", scratch, Ref("x"), Ref("x", 64), 64, 64, pad),
        InnerBarrier("v", (((21, 15), (21, 15)),)),
        call("Max", scratch, scratch, Ref("x", 128), 64, 64, pad),
        InnerBarrier("v"),
        call("WholeReduceMax", Ref("into"), scratch, 64, 64, 1, 1, 8, Word("ReduceOrder::ORDER_ONLY_VALUE")),
        InnerBarrier("v"),
        call("Adds", Ref("into"), Ref("into"), ScalarRef(eps, FP32), 64),
        line=21, scratch=(BufferRef("vec.1"),), x=t, plus=eps,
    )  # fmt: skip
    last = op(
        STORE, None,
        call("SetAtomicAdd", template=("float",)),
        call("DataCopyPad", Ref("to", mul(i, 64)), Ref("from"),
             Struct("DataCopyExtParams", (1, mul(valid, 4), 0, 0, 0))),
        call("SetAtomicNone"),
        line=22, attrs={"at": (mul(i, 64), 0), "atomic": "add"}, from_=r, to=out,
    )  # fmt: skip
    inner: list[Stmt] = [
        first, set_flag("mte2", "v", 20), wait_flag("mte2", "v", reduce), Barrier(pipe="v", loc=reduce.loc), reduce,
        set_flag("v", "mte3", 21), wait_flag("v", "mte3", last), last, set_flag("mte3", "mte2", 22, slot),
        WaitFlag(source="mte3", target="mte2", id=slot, loc=last.loc),
    ]  # fmt: skip
    guard = If(condition=Condition("<", i, m), then=tuple(inner), other=(), loc=at(19))
    rounds = For(index=count, start=sym(block), stop=ceil_div(m, 64), step=sym(blocks), body=(guard,), loc=at(18))
    grid = Grid(
        kind="spmd", index=block, count="auto", blocks_symbol=blocks, body=(region("rowmax", rounds),), loc=at(15)
    )
    return program(
        "tail_rows", [x, out], [grid],
        [buffer("ub", 65536, 0, slots=2), buffer("vec.0", 256, 131072), buffer("vec.1", 16384, 131328)],
        scalars=[eps], dims=[rows],
    )  # fmt: skip


def chain(length: int) -> Program:
    """A straight line of `length` statements."""
    a, out = tensor("a", 64, 128), tensor("out", 64, 128, access=Access.OUT)
    first = tile("t.1", 64, 128)
    body: list[Stmt] = [load(first, a, 0, 10)]
    value = first
    for number in range(length):
        new = tile(f"t.{number + 2}", 64, 128, buffer=f"vec.{number % 2}")
        step = exp(new, value, 11 + number)
        body += [Barrier(pipe="v", loc=step.loc), step]
        value = new
    body.append(store(value, out, 0, 12 + length))
    return program(
        "chain", [a, out], [region("chain", *body)], [buffer("vec.0", 32768, 0), buffer("vec.1", 32768, 32768)]
    )


def through_gm() -> Program:
    """Two launches that hand on two tensors of the program's own; one is called like a parameter of the launcher."""
    rows = Sym("M", "dim", 1, 4096)
    x, out = tensor("x", sym(rows), 128), tensor("out", 64, 128, access=Access.OUT)
    first = tensor("workspace", sym(rows), 100, access=Access.INOUT)
    second = tensor("left", 64, 128, access=Access.INOUT)
    unused = tensor("unused", 64, 128, access=Access.INOUT)
    t = tile("t.1", 64, 128)
    up = region("up", load(t, x, 0, 13), store(t, first, 0, 14), store(t, second, 0, 15), kernel="up")
    down = region("down", load(t, first, 0, 17), load(t, second, 0, 18), store(t, out, 0, 19), kernel="down")
    made = program("through_gm", [x, out], [up, down], [buffer("vec.0", 32768, 0)], dims=[rows])
    return replace(made, created=(first, unused, second))

"""Programs of a cube core at the level of instructions: what InsertSync gets, without operators.

Tiles are fp16 [64, 64] in L1, L0A and L0B (where there is room for more rows), and accumulators are fp32 in L0C.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Literal

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.dtype import FP16, FP32
from pypto_spec.ir.expr import Index, Sym, add, mod, mul, sym
from pypto_spec.ir.instr import Arg, Instr, Ref, Struct, Word
from pypto_spec.ir.nodes import (
    Buffer,
    BufferRef,
    Condition,
    For,
    If,
    Op,
    Program,
    Region,
    Stmt,
    TargetOptions,
    Value,
)
from pypto_spec.ir.opdef import Field, Inference, OpDef
from pypto_spec.ir.types import Access, Memory, TensorType, TileType, ValueType
from pypto_spec.passes.insert_sync import INSERT_SYNC
from tests.passes.toys import context

SIDE = 64
BYTES = 160 * SIDE * 2
_SOURCE = Source("cube.yaml", "")
Form = Literal["load", "left", "right", "mmad", "drain", "keep"]


def _infer(inference: Inference) -> ValueType | None:
    raise AssertionError("toys are not inferred")


def _toy(name: str, *fields: str, effects: Literal["pure", "reads_gm", "writes_gm"] = "pure") -> OpDef:
    """An operator of that name whose instructions are written out."""
    kinds = {"into": "bind", "from": "tensor" if effects == "reads_gm" else "tile", "to": "tensor"}
    made = [Field(name=f, kind=kinds.get(f, "tile"), doc="an operand") for f in fields]  # type: ignore[arg-type]
    return OpDef(
        name=name, family="toys", doc="a toy", fields=tuple(made), role="elementwise", pipe="m", infer=_infer,
        dtypes=(FP16,), torch=lambda torch, inputs, attrs: None, recipe=lambda r: (), scratch=lambda r: (),
        spaces={}, dtype_of=fields[-1], effects=effects,
    )  # fmt: skip


DEFNS = {
    "fetch": _toy("fetch", "into", "from", effects="reads_gm"),
    "move": _toy("move", "into", "x"),
    "mmad": _toy("mmad", "into", "lhs", "rhs"),
    "drain": _toy("drain", "from", "to", effects="writes_gm"),
    "keep": _toy("keep", "into", "x"),
}


class Cube:
    """Makes the statements of one region; each stands on a line of its own.

    `l1`, `l0` and `acc` are how many buffers there are of each, `shape` is that of accumulators. With `slots` every
    buffer of L0 has that many.
    """

    def __init__(
        self, l1: int = 2, l0: int = 1, acc: int = 1, *, shape: tuple[int, int] = (64, 64), slots: int = 1
    ) -> None:
        self.lines = self.values = 0
        self.shape = shape
        self.slots = slots
        self.tensors = [Value(f"g{k}", TensorType(FP16, (256, 64), Access.INOUT)) for k in range(2)]
        self.tensors.append(Value("y", TensorType(FP32, (256, 64), Access.INOUT)))
        self.buffers: dict[str, Buffer] = {}
        self.dims: list[Sym] = []
        sizes = ((Memory.MAT, l1, BYTES, 1), (Memory.LEFT, l0, BYTES, slots), (Memory.RIGHT, l0, BYTES, slots))
        for memory, count, size, many in (*sizes, (Memory.ACC, acc, shape[0] * shape[1] * 4, slots)):
            for number in range(count):
                name = f"{memory.value}{number}"
                self.buffers[name] = Buffer(
                    name=name, memory=memory, loc=self.loc(), bytes=size, address=number * size * many, slots=many,
                    owner="compiler",
                )  # fmt: skip

    def loc(self) -> Loc:
        self.lines += 1
        return Loc(Span(_SOURCE, self.lines, 1, self.lines, 2))

    def tile(self, buffer: str, slot: Index | None = None) -> Value:
        self.values += 1
        memory = self.buffers[buffer].memory
        shape, dtype = (self.shape, FP32) if memory is Memory.ACC else ((SIDE, SIDE), FP16)
        return Value(f"v{self.values}", TileType(dtype, shape, memory), BufferRef(buffer, 0, slot))

    def op(self, name: str, operands: dict[str, Value], into: Value | None, call: Instr) -> Op:
        results = () if into is None else (into,)
        return Op(defn=DEFNS[name], operands=operands, attrs={}, results=results, loc=self.loc(), instrs=(call,))

    # -- statements -----------------------------------------------------------------------------------------------

    def load(self, l1: int, tensor: int = 0, row: Index = 0) -> Op:
        """GM to L1."""
        how = Struct("Nd2NzParams", (1, SIDE, SIDE, 0, SIDE, SIDE, 1, 0))
        into, far = self.tile(f"mat{l1}"), self.tensors[tensor]
        call = Instr("DataCopy", (Ref("into"), Ref("from", mul(row, SIDE)), how))
        return self.op("fetch", {"from": far}, into, call)

    def move(self, side: Literal["left", "right"], l0: int, l1: int, slot: Index = 0) -> Op:
        """L1 to L0A or L0B."""
        how = Struct("MatrixParams", (SIDE, SIDE, 0, 0, SIDE, SIDE, False))
        into = self.tile(f"{side}{l0}", self._slot(slot))
        source = self.tile(f"mat{l1}")
        return self.op("move", {"x": source}, into, Instr("LoadData", (Ref("into"), Ref("x"), how)))

    def mmad(self, acc: int, l0: int = 0, init: Arg = True, slot: Index = 0, at: Index = 0, unit: Index = 0) -> Op:
        """L0A times L0B; `at` is the slot of the accumulator."""
        how = Struct("MmadParams", (*self.shape, SIDE, unit, False, init))
        into = self.tile(f"acc{acc}", self._slot(at))
        left, right = (self.tile(f"{side}{l0}", self._slot(slot)) for side in ("left", "right"))
        call = Instr("Mmad", (Ref("into"), Ref("lhs"), Ref("rhs"), how))
        return self.op("mmad", {"lhs": left, "rhs": right}, into, call)

    def drain(self, acc: int, row: Index = 0, at: Index = 0, unit: Index = 0) -> Op:
        """L0C to GM."""
        params = self._fixpipe(SIDE, "NoQuant", unit)
        call = Instr("Fixpipe", (Ref("to", mul(row, SIDE)), Ref("from"), params), ("float", "float", "CFG_ROW_MAJOR"))
        source = self.tile(f"acc{acc}", self._slot(at))
        return self.op("drain", {"from": source, "to": self.tensors[2]}, None, call)

    def back(self, acc: int, tensor: int = 0, row: Index = 0) -> Op:
        """L0C to the GM that loads read, in fp16."""
        params = self._fixpipe(SIDE, "F322F16", 0)
        call = Instr("Fixpipe", (Ref("to", mul(row, SIDE)), Ref("from"), params), ("half", "float", "CFG_ROW_MAJOR"))
        source = self.tile(f"acc{acc}", self._slot(0))
        return self.op("drain", {"from": source, "to": self.tensors[tensor]}, None, call)

    def keep(self, l1: int, acc: int) -> Op:
        """L0C to L1, in fp16."""
        params = self._fixpipe(self.shape[0], "F322F16", 0)
        into, source = self.tile(f"mat{l1}"), self.tile(f"acc{acc}", self._slot(0))
        call = Instr("Fixpipe", (Ref("into"), Ref("x"), params), ("half", "float", "CFG_NZ"))
        return self.op("keep", {"x": source}, into, call)

    def _fixpipe(self, pitch: int, quant: str, unit: Index) -> Struct:
        rows, cols = self.shape
        return Struct(
            "FixpipeParamsV220",
            (cols, rows, rows, pitch, False, Word(f"QuantMode_t::{quant}"), 0, 1, 0, 0, unit),
        )

    def _slot(self, slot: Index) -> Index | None:
        return slot if self.slots > 1 else None

    # -- structure ------------------------------------------------------------------------------------------------

    def index(self, count: int | None) -> Sym:
        return Sym(f"i{self.lines}", "loop", 0, None if count is None else count - 1)

    def loop(self, index: Sym, *body: Stmt, count: Index | None = None) -> For:
        stop = count if count is not None else (index.high or 0) + 1
        return For(index=index, start=0, stop=stop, step=1, body=body, loc=self.loc())

    def branch(self, index: Sym, then: Sequence[Stmt], other: Sequence[Stmt] = ()) -> If:
        return If(condition=Condition("==", sym(index), 0), then=tuple(then), other=tuple(other), loc=self.loc())

    def program(self, *body: Stmt) -> Program:
        region = Region(name="r", body=body, loc=self.loc(), core="aic", kernel="r")
        return Program(
            name="p", about="", target=TargetOptions(), tensors=tuple(self.tensors), scalars=(), body=(region,),
            loc=region.loc, dims=tuple(self.dims), buffers=tuple(self.buffers.values()),
        )  # fmt: skip


def synchronised(program: Program) -> Program:
    """The program with its flags and barriers."""
    return INSERT_SYNC.run(program, context())


def blocked(made: Cube, steps: int = 4, *, rotate: bool = False, unit: bool = False) -> Program:
    """A matmul in blocks of K, the accumulator drained at the end."""
    k = made.index(steps)
    slot: Index = mod(sym(k), made.slots) if rotate else 0
    flag: Index = 2 if unit else 0
    return made.program(
        made.loop(
            k,
            made.load(0, 0, mul(sym(k), SIDE)),
            made.load(1, 1, mul(sym(k), SIDE)),
            made.move("left", 0, 0, slot),
            made.move("right", 0, 1, slot),
            made.mmad(0, 0, Condition("==", sym(k), 0), slot, unit=flag),
        ),
        *((made.mmad(0, 0, False, 0, unit=3),) if unit else ()),
        made.drain(0, unit=3 if unit else 0),
    )


def random_program(rng: Random, size: int = 5) -> Program:
    """Statements over few buffers, with loops and branches."""
    slots = rng.choice([1, 1, 2, 3])
    made = Cube(
        rng.choice([1, 2]), rng.choice([1, 2]), rng.choice([1, 2]), shape=rng.choice([(16, 16), (64, 64)]), slots=slots
    )
    body: list[Stmt] = []
    for _ in range(size):
        kind = rng.randrange(10)
        if kind < 4:
            body.append(_loop(rng, made, [], rng.randint(2, size)))
        else:
            body.append(_statement(rng, made, []))
    return made.program(*body)


def _loop(rng: Random, made: Cube, around: list[Sym], size: int) -> For:
    bounded = rng.random() < 0.7
    index = made.index(rng.choice([1, 2, 3, 8]) if bounded else None)
    count: Index | None = None
    if not bounded:
        count = sym(_dim(made))
    inside = [*around, index]
    body: list[Stmt] = []
    for _ in range(size):
        kind = rng.randrange(12)
        if kind == 0 and len(inside) < 2:
            body.append(_loop(rng, made, inside, 2))
        elif kind == 1:
            then = [_statement(rng, made, inside) for _ in range(rng.randint(1, 2))]
            body.append(made.branch(rng.choice(inside), then))
        else:
            body.append(_statement(rng, made, inside))
    return made.loop(index, *body, count=count)


def _dim(made: Cube) -> Sym:
    if not made.dims:
        made.dims.append(Sym("n", "dim", 0, 64))
    return made.dims[0]


def _statement(rng: Random, made: Cube, around: list[Sym]) -> Op:
    def pick(memory: str) -> int:
        return rng.randrange(sum(name.startswith(memory) for name in made.buffers))

    slot: Index = rng.randrange(made.slots)
    row: Index = rng.choice([0, 64])
    if around and rng.random() < 0.8:
        slot = mod(add(sym(around[-1]), rng.choice([0, 0, 1])), made.slots)
        row = mul(sym(around[-1]), 64)
    kind = rng.choice(("load", "left", "right", "mmad", "mmad", "drain", "back", "keep"))
    if kind == "load":
        return made.load(pick("mat"), rng.randrange(2), row)
    if kind in ("left", "right"):
        return made.move("left" if kind == "left" else "right", pick("left"), pick("mat"), slot)
    if kind == "mmad":
        return made.mmad(pick("acc"), pick("left"), rng.random() < 0.5, slot, slot if rng.random() < 0.5 else 0)
    if kind == "drain":
        return made.drain(pick("acc"), row, slot)
    return made.back(pick("acc"), 0, row) if kind == "back" else made.keep(pick("mat"), pick("acc"))

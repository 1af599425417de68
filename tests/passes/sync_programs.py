"""Random regions of loads, stores and vector ops over few buffers, with loops and branches, as InsertSync gets them."""

from __future__ import annotations

from random import Random

from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.dtype import FP32
from pypto_spec.ir.expr import Index, Sym, add, mul, sym
from pypto_spec.ir.nodes import (
    Attr,
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
from pypto_spec.ir.types import Access, Memory, TensorType, TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.base import Context
from pypto_spec.passes.expand_to_instructions import EXPAND_TO_INSTRUCTIONS
from pypto_spec.passes.insert_sync import INSERT_SYNC
from pypto_spec.targets import A2A3

TILE = TileType(FP32, (4, 64), Memory.VEC)
_SOURCE = Source("random.yaml", "")


class Maker:
    """Makes the statements of one program; each stands on a line of its own."""

    def __init__(self, buffers: int, name: str = "p") -> None:
        self.name = name
        self.lines = self.values = 0
        self.dims: list[Sym] = []
        self.tensors = [Value(f"g{k}", TensorType(FP32, (64, 64), Access.INOUT)) for k in range(2)]
        self.places: list[BufferRef] = []
        self.buffers = [
            Buffer(name=f"b{k}", memory=Memory.VEC, loc=self.loc(), bytes=1024, address=k * 1024, owner="compiler")
            for k in range(buffers)
        ]

    def rotating(self, slots: int) -> str:
        """One more buffer, of several slots."""
        end = max(b.address + 1024 * (b.slots or 1) for b in self.buffers if b.address is not None)
        made = Buffer(
            name=f"r{len(self.buffers)}", memory=Memory.VEC, loc=self.loc(), bytes=1024, address=end, slots=slots,
            owner="compiler",
        )  # fmt: skip
        self.buffers.append(made)
        return made.name

    def place(self, buffer: str, slot: Index) -> int:
        """The number by which statements name a slot of a buffer."""
        self.places.append(BufferRef(buffer, 0, slot))
        return -len(self.places)

    def loc(self) -> Loc:
        self.lines += 1
        return Loc(Span(_SOURCE, self.lines, 1, self.lines, 2))

    def value(self, buffer: int) -> Value:
        self.values += 1
        where = BufferRef(self.buffers[buffer].name) if buffer >= 0 else self.places[-buffer - 1]
        return Value(f"v{self.values}", TILE, where)

    def load(self, into: int, tensor: int = 0, row: Index = 0) -> Op:
        attrs: dict[str, Attr] = {"at": (row, 0), "shape": TILE.shape}
        operands = {"from": self.tensors[tensor]}
        return Op(defn=OPS["load"], operands=operands, attrs=attrs, results=(self.value(into),), loc=self.loc())

    def store(self, tile: int, tensor: int = 0, row: Index = 0) -> Op:
        operands = {"from": self.value(tile), "to": self.tensors[tensor]}
        return Op(defn=OPS["store"], operands=operands, attrs={"at": (row, 0)}, results=(), loc=self.loc())

    def neg(self, into: int, x: int) -> Op:
        return self._vector("neg", into, {"x": x})

    def maximum(self, into: int, lhs: int, rhs: int) -> Op:
        return self._vector("maximum", into, {"lhs": lhs, "rhs": rhs})

    def _vector(self, name: str, into: int, operands: dict[str, int]) -> Op:
        given = {field: self.value(buffer) for field, buffer in operands.items()}
        return Op(defn=OPS[name], operands=given, attrs={}, results=(self.value(into),), loc=self.loc())

    def index(self, last: int) -> Sym:
        return Sym(f"i{self.lines}_{self.values}", "loop", 0, last)

    def dim(self, low: int) -> Sym:
        self.dims.append(Sym(f"n{len(self.dims)}", "dim", low, 8))
        return self.dims[-1]

    def loop(self, index: Sym, stop: Index, *body: Stmt, step: int = 1, start: Index = 0) -> For:
        return For(index=index, start=start, stop=stop, step=step, body=body, loc=self.loc())

    def branch(self, index: Sym, value: int, then: tuple[Stmt, ...], other: tuple[Stmt, ...] = ()) -> If:
        return If(condition=Condition("==", sym(index), value), then=then, other=other, loc=self.loc())

    def program(self, *body: Stmt) -> Program:
        region = Region(name=self.name, kernel=self.name, core="aiv", body=body, loc=self.loc())
        return Program(
            name=self.name, about="", target=TargetOptions(), tensors=tuple(self.tensors), scalars=(), body=(region,),
            loc=self.loc(), buffers=tuple(self.buffers), dims=tuple(self.dims),
        )  # fmt: skip


def random_program(rng: Random, size: int | None = None, *, defined: bool = False, name: str = "p") -> Program:
    """A program of blocks of up to `size` statements; `defined`: every buffer is loaded before anything else."""
    made = Maker(rng.choice([2, 3, 4, 6, 9]), name)
    size = size if size is not None else rng.choice([3, 5, 8])
    first = [made.load(k, k % 2, 4 * k) for k in range(len(made.buffers))] if defined else []
    return made.program(*first, *_block(made, rng, 0, [], size))


def _block(made: Maker, rng: Random, depth: int, around: list[Sym], size: int) -> tuple[Stmt, ...]:
    body: list[Stmt] = []
    for _ in range(rng.randint(1, size)):
        kind = rng.randrange(100)
        if depth < 3 and kind < 18:
            body.append(_loop(made, rng, depth, around, size))
        elif depth < 3 and kind < 28 and around:
            then = _block(made, rng, depth + 1, around, size)
            other = _block(made, rng, depth + 1, around, size) if rng.randrange(2) else ()
            body.append(made.branch(rng.choice(around), rng.randrange(2), then, other))
        else:
            body.append(_op(made, rng, around))
    return tuple(body)


def _loop(made: Maker, rng: Random, depth: int, around: list[Sym], size: int) -> For:
    if rng.randrange(10) < 3:
        index, stop, step = made.index(7), sym(made.dim(rng.randrange(2))), rng.choice([1, 1, 2])
        return made.loop(index, stop, *_block(made, rng, depth + 1, [*around, index], size), step=step)
    trips = rng.choice([1, 2, 3, 8])
    index = made.index(trips - 1)
    return made.loop(index, trips, *_block(made, rng, depth + 1, [*around, index], size))


def _op(made: Maker, rng: Random, around: list[Sym]) -> Op:
    a, b, c = (rng.randrange(len(made.buffers)) for _ in range(3))
    row: Index = rng.choice([0, 4, 8, 60])
    if around and rng.randrange(10) < 6:
        row = add(mul(sym(rng.choice(around)), 4), rng.choice([0, 0, 4]))
    kind = rng.randrange(100)
    if kind < 30:
        return made.load(a, rng.randrange(2), row)
    if kind < 55:
        return made.store(a, rng.randrange(2), row)
    return made.neg(a, b) if kind < 80 else made.maximum(a, b, c)


def synchronised(program: Program) -> Program:
    """The program with its instructions and their flags and barriers."""
    context = Context(A2A3, Sink())
    return INSERT_SYNC.run(EXPAND_TO_INSTRUCTIONS.run(program, context), context)

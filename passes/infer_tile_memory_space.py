"""InferTileMemorySpace: every tile gets the memory it lives in.

A memory that is written is kept. Otherwise a view lives where its input lives, and any other result where the operator
puts it first (for vector operators that is `vec`). What an operator cannot take from where it is, is an error that
says which way data could take.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.memory import NO_PATH
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import For, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, with_parts
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.making import in_memory

_ROUTES: Mapping[str, Mapping[Memory, tuple[Memory, ...]]] = {
    "a2a3": {
        Memory.GM: (Memory.VEC, Memory.MAT),
        Memory.VEC: (Memory.GM,),
        Memory.MAT: (Memory.LEFT, Memory.RIGHT, Memory.BIAS),
        Memory.ACC: (Memory.MAT, Memory.GM),
    },
    "a5": {
        Memory.GM: (Memory.VEC, Memory.MAT),
        Memory.VEC: (Memory.MAT, Memory.GM),
        Memory.MAT: (Memory.LEFT, Memory.RIGHT, Memory.BIAS),
        Memory.ACC: (Memory.VEC, Memory.MAT, Memory.GM),
    },
}
"""Where one copy leads from each memory (PyPTO's memory graphs of Ascend910B and Ascend950)."""


def route(platform: str, start: Memory, end: Memory) -> tuple[Memory, ...] | None:
    """The shortest way from one memory to another, both ends included; None where there is none."""
    edges = _ROUTES[platform]
    before: dict[Memory, Memory | None] = {start: None}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        if here is end:
            way = [here]
            while (step := before[way[-1]]) is not None:
                way.append(step)
            return tuple(reversed(way))
        for there in edges.get(here, ()):
            if there not in before:
                before[there] = here
                queue.append(there)
    return None


class _Inferrer(Rewriter):
    def __init__(self, platform: str) -> None:
        super().__init__()
        self.platform = platform
        self.origin: dict[Value, Loc] = {}

    def region(self, region: Region) -> Region:
        self.origin.clear()
        return super().region(region)

    def op(self, op: Op) -> Sequence[Stmt]:
        for field, value in op.operands.items():
            kind = value.type
            if isinstance(kind, TileType) and kind.memory is not None:
                allowed = op.defn.spaces.get(field)
                if allowed and kind.memory not in allowed:
                    raise self.no_path(op, field, value, kind.memory, allowed[0])
        if len(op.results) != 1 or not isinstance(op.result.type, TileType):
            return (op,)
        result, kind = op.result, op.result.type
        written = op.attrs.get("memory")
        memory = kind.memory or (written if isinstance(written, Memory) else None) or self.preferred(op)
        allowed = op.defn.spaces.get("into", ())
        if allowed and memory not in allowed:
            raise _bad_result(op, memory, allowed)
        self.origin[result] = op.loc
        attrs = op.attrs
        if written is None and any(f.kind == "memory" for f in op.defn.fields):
            attrs = {**attrs, "memory": memory}
        if kind.memory is memory and attrs is op.attrs:
            return (op,)
        if kind.memory is not memory:
            result = self.bind(result, Value(result.name, in_memory(kind, memory), result.buffer))
            self.origin[result] = op.loc
        return (with_parts(op, attrs=attrs, results=(result,)),)

    def preferred(self, op: Op) -> Memory:
        """Where a result goes that nobody placed."""
        if op.defn.role == "view":
            for value in op.operands.values():
                if isinstance(value.type, TileType) and value.type.memory is not None:
                    return value.type.memory
        allowed = op.defn.spaces.get("into")
        return allowed[0] if allowed else Memory.VEC

    def loop(self, loop: For) -> Sequence[Stmt]:
        for carry in loop.carries:
            for value in (carry.arg, carry.result):
                self.follow(value, self.use(carry.init), loop.loc)
        return super().loop(loop)

    def phi(self, phi: Phi) -> Phi:
        self.follow(phi.result, self.use(phi.then), self.origin.get(self.use(phi.then)))
        return super().phi(phi)

    def follow(self, value: Value, model: Value, loc: Loc | None) -> None:
        """A carried or merged value lives where the value it starts from lives."""
        kind, like = value.type, model.type
        if isinstance(kind, TileType) and isinstance(like, TileType) and kind.memory is None:
            value = self.bind(value, Value(value.name, in_memory(kind, like.memory), value.buffer))
        if loc is not None:
            self.origin[value] = loc

    def no_path(self, op: Op, field: str, value: Value, have: Memory, want: Memory) -> CompileError:
        """The error for an operand that stands where the operator cannot take it."""
        name = split(value.name)[0]
        way = route(self.platform, have, want)
        if way is None:
            source = route(self.platform, Memory.GM, want)
            through = f"; `{want.value}` is reached by {_arrows(source)}" if source else ""
            note = f"nothing leads from `{have.value}` to `{want.value}` on {self.platform}{through}"
        else:
            note = f"the way from `{have.value}` to `{want.value}` on {self.platform} is {_arrows(way)}"
        helps = [f"load `{name}` into `{want.value}` instead"]
        if way is not None and way[1] is not Memory.GM:
            helps = [
                f"move it there first: `- move: {{into: {name}_{way[1].value}, from: {name}, memory: {way[1].value}}}`"
            ]
        elif way is not None:
            helps = [f"store `{name}` to a tensor and load that into `{want.value}`"]
        origin = self.origin.get(value)
        found = diagnose(
            NO_PATH,
            op.loc.field(field),
            f"no path from `{have.value}` to `{want.value}`: `{op.name}` takes `{field}` from `{want.value}`, "
            f"and `{name}` is in `{have.value}`",
            label=f"in `{have.value}`",
            secondary=[Label(origin.span, f"`{name}` is put in `{have.value}` here")] if origin else [],
            notes=[note],
            helps=helps,
        )
        return CompileError([found])


def _bad_result(op: Op, memory: Memory, allowed: tuple[Memory, ...]) -> CompileError:
    words = " or ".join(f"`{m.value}`" for m in allowed)
    found = diagnose(
        NO_PATH,
        op.loc.field("memory"),
        f"no path to `{memory.value}`: `{op.name}` puts its result in {words}",
        label="not here",
        helps=[f"write `memory: {allowed[0].value}`, or leave it out"],
    )
    return CompileError([found])


def _arrows(way: tuple[Memory, ...]) -> str:
    return " -> ".join(f"`{m.value}`" for m in way)


def run(program: Program, context: Context) -> Program:
    """Place the tiles of every region."""
    return _Inferrer(context.target.name).program(program)


INFER_TILE_MEMORY_SPACE = Pass(
    name="InferTileMemorySpace",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.INCORE_TILE_OPS}),
    produces=frozenset({Property.TILE_MEMORY_INFERRED}),
    doc=__doc__,
)

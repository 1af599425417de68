"""InferTileMemorySpace: every tile gets the memory it lives in, and what has to move is moved.

A memory that is written is kept. Otherwise a tile goes where its uses ask for it (`places.choice`): operands of a
product are loaded to `mat`, a created tile that a product adds to is an accumulator, a loop carries a tile in the one
memory of all its rounds. Where an operator takes an operand from another memory of the core, one `move` for each
memory is put before the first such use in its block; a window of a tile in `mat` is taken out on the way (`extract`),
and the `slice` itself is gone. What cannot get where it is needed is an error that says which way data could take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, Label, Repair, diagnose
from pypto_spec.diagnostics.rules.memory import NO_PATH
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.expr import Index, add, to_text
from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Attr, For, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.rewrite import Rewriter, used_values, with_parts
from pypto_spec.ir.types import Layout, Memory, TileType
from pypto_spec.ops.matmul_checks import accumulator_as_operand
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.making import in_memory, make
from pypto_spec.passes.places.choice import Places
from pypto_spec.targets.model import Target, route

Window = tuple[Value, tuple[Index, Index], Loc]
"""A tile in `mat`, the first row and column of a window of it, and where that is written."""


class _Inferrer(Rewriter):
    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.origin: dict[Value, Loc] = {}
        self.windows: dict[Value, Window] = {}
        self.moved: dict[tuple[Value, Memory], Value] = {}
        self.places: Places | None = None
        self.names: Names | None = None

    def region(self, region: Region) -> Region:
        self.origin.clear()
        self.windows.clear()
        self.moved.clear()
        self.places, self.names = Places(region.body, self.target), Names.of(region)
        made = super().region(region)
        return replace(made, body=_without_slices(made.body, self.windows)) if self.windows else made

    # Blocks: what is moved in a block is there until its end

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        outside = dict(self.moved)
        made = super().block(body)
        self.moved = outside
        return made

    # Values

    def placed(self, value: Value, loc: Loc | None) -> Value:
        """A value in its memory."""
        kind = value.type
        assert self.places is not None
        if isinstance(kind, TileType) and kind.memory is None:
            value = self.bind(value, Value(value.name, in_memory(kind, self.places[value]), value.buffer))
        if loc is not None:
            self.origin[value] = loc
        return value

    def loop(self, loop: For) -> Sequence[Stmt]:
        for carry in loop.carries:
            for value in (carry.arg, carry.result):
                self.placed(value, loop.loc)
        return super().loop(loop)

    def phi(self, phi: Phi) -> Phi:
        self.placed(phi.result, self.origin.get(self.use(phi.then)))
        return super().phi(phi)

    # Ops

    def op(self, op: Op) -> Sequence[Stmt]:
        if (field := _windowed(op)) is not None and op.operands[field] in self.windows:
            return self.op_of_window(op, op.operands[field])
        if op.name == "assemble" and op.operands["target"] in self.windows:
            raise self.no_window(op)
        made: list[Stmt] = []
        operands = dict(op.operands)
        for field, value in op.operands.items():
            allowed = op.defn.spaces.get(field)
            kind = value.type
            if not allowed or not isinstance(kind, TileType) or kind.memory is None:
                continue
            if kind.memory not in allowed:
                steps, operands[field] = self.brought(op, field, value, kind.memory, allowed[0])
                made += steps
        if any(operands[field] is not value for field, value in op.operands.items()):
            op = with_parts(op, operands=operands)
        made.append(self.result(op))
        return made

    def op_of_window(self, op: Op, source: Value) -> Sequence[Stmt]:
        """A copy of a window of a tile in `mat`, or a view of it, as one of the tile that the window is of."""
        base, start, _ = self.windows[source]
        if op.name == "transpose_view":
            assert self.names is not None
            whole = make("transpose_view", {"x": base}, {}, op.loc, into=self.names.fresh(split(base.name)[0]))
            made = self.result(op)
            self.windows[made.result] = whole.result, (start[1], start[0]), op.loc
            return whole, made
        kind = source.type
        assert isinstance(kind, TileType)
        at = op.attrs.get("at", (0, 0))
        assert isinstance(at, tuple)
        attrs: dict[str, Attr] = {"shape": kind.shape, **op.attrs, "at": tuple(map(add, start, at))}
        for field in [name for name in attrs if name not in {f.name for f in OPS["extract"].fields}]:
            attrs.pop(field)
        return (self.result(replace(op, defn=OPS["extract"], operands={"x": base}, attrs=attrs)),)

    def result(self, op: Op) -> Op:
        """The op with its result in its memory."""
        if len(op.results) != 1 or not isinstance(op.result.type, TileType):
            return op
        result, kind, written = op.result, op.result.type, op.attrs.get("memory")
        assert self.places is not None
        memory = kind.memory or (written if isinstance(written, Memory) else None) or self.places[result]
        allowed = op.defn.spaces.get("into", ())
        if allowed and memory not in allowed:
            raise _bad_result(op, memory, allowed, self.target)
        attrs = op.attrs
        if written is None and any(f.kind == "memory" for f in op.defn.fields):
            attrs = {**attrs, "memory": memory}
        turned = self.is_turned(op, kind, memory)
        if turned:
            attrs = {**attrs, "layout": Layout.NZ.value}
        if op.defn.pipes:
            self.check_way(op, memory)
        found = self.kind(op, attrs, kind, memory) if kind.memory is not memory or turned or op.defn.pipes else kind
        if found != kind:
            result = self.bind(result, Value(result.name, found, result.buffer))
        self.origin[result] = op.loc
        if op.name == "slice" and memory is Memory.MAT:
            self.windows[result] = self.window(op)
        return op if result is op.result and attrs is op.attrs else with_parts(op, attrs=attrs, results=(result,))

    def is_turned(self, op: Op, kind: TileType, memory: Memory) -> bool:
        """Whether a row comes to `mat` as fractals where none is asked for: 1-byte types go to `right` by squares."""
        assert self.places is not None
        row = op.name == "load" and memory is Memory.MAT and kind.rows == 1 and kind.dtype.bytes == 1
        return row and "layout" not in op.attrs and Memory.RIGHT in self.places.bound_for(op.result)

    def kind(self, op: Op, attrs: Mapping[str, Attr], kind: TileType, memory: Memory) -> TileType:
        """The type of a result in a memory that was not known when it was made."""
        if (op.defn.role in ("move", "rearrange") and memory is not Memory.VEC) or op.defn.effects == "reads_gm":
            found = op.defn.infer(Inference(op.defn, op.operands, attrs, op.loc))
            assert isinstance(found, TileType)
            return replace(kind, memory=memory, layout=found.layout)
        return in_memory(kind, memory)

    def check_way(self, op: Op, memory: Memory) -> None:
        """Refuse a copy between memories that no pipe connects."""
        field = "from" if "from" in op.operands else "x"
        value = op.operands[field]
        kind = value.type
        if not isinstance(kind, TileType) or kind.memory is None or (kind.memory, memory) in op.defn.pipes:
            return
        raise self.no_path(op, field, value, kind.memory, memory)

    # What has to move

    def brought(self, op: Op, field: str, value: Value, have: Memory, want: Memory) -> tuple[list[Stmt], Value]:
        """The moves that bring an operand where it is needed, and what it is there."""
        found = self.moved.get((value, want))
        if found is not None:
            return [], found
        way = route(self.target, have, want)
        if way is None or Memory.GM in way or Memory.VEC in way:
            raise self.no_path(op, field, value, have, want)
        if have is Memory.ACC and op.defn.role == "matmul":
            assert isinstance(value.type, TileType)
            raise accumulator_as_operand(Inference(op.defn, op.operands, op.attrs, op.loc), field, value.type)
        steps: list[Stmt] = []
        here = value
        for memory in way[1:]:
            made = self.step(op, here, memory)
            steps.append(made)
            here = made.result
            self.origin[here] = op.loc
        self.moved[value, want] = here
        return steps, here

    def step(self, op: Op, value: Value, memory: Memory) -> Op:
        assert self.names is not None
        name = self.names.fresh(f"{split(value.name)[0]}_{memory.value}")
        window = self.windows.get(value)
        if window is None:
            return make("move", {"from": value}, {"memory": memory}, op.loc, into=name, allow=op.allow)
        kind = value.type
        assert isinstance(kind, TileType)
        source, at, loc = window
        attrs: dict[str, Attr] = {"at": at, "shape": kind.shape, "memory": memory}
        made = make("extract", {"x": source}, attrs, loc, into=name, allow=op.allow)
        result = made.result.type
        assert isinstance(result, TileType)
        return with_parts(made, results=(Value(name, replace(result, valid=kind.valid)),))

    def window(self, op: Op) -> Window:
        """The window that a slice of a tile in `mat` is, of the tile that is no slice itself."""
        at = op.attrs["at"]
        assert isinstance(at, tuple)
        source = op.operands["x"]
        base, start, _ = self.windows.get(source, (source, (0, 0), op.loc))
        return base, (add(start[0], at[0]), add(start[1], at[1])), op.loc

    def no_window(self, op: Op) -> CompileError:
        """The error for an `assemble` into a window of a tile in `mat`, which has no memory of its own."""
        target, at = op.operands["target"], op.attrs["at"]
        base, start, loc = self.windows[target]
        assert isinstance(at, tuple)
        name, whole = split(target.name)[0], split(base.name)[0]
        where = ", ".join(to_text(add(a, b)) for a, b in zip(start, at, strict=True))
        found = diagnose(
            NO_PATH,
            op.loc.field("target"),
            f"no path into `{name}`: it is a window of `{whole}` in `mat`, and `assemble` writes to whole tiles",
            label=f"a window of `{whole}`",
            secondary=[Label(loc.span, "the window is taken here")],
            helps=[f"assemble into `{whole}` itself: `target: {whole}`, `at: [{where}]`"],
        )
        return CompileError([found])

    def no_path(self, op: Op, field: str, value: Value, have: Memory, want: Memory) -> CompileError:
        """The error for an operand that stands where the operator cannot take it."""
        name = split(value.name)[0]
        way = route(self.target, have, want)
        if way is None:
            source = route(self.target, Memory.GM, want)
            through = f"; `{want.value}` is reached by {_arrows(source)}" if source else ""
            note = f"nothing leads from `{have.value}` to `{want.value}` on {self.target.name}{through}"
        else:
            note = f"the way from `{have.value}` to `{want.value}` on {self.target.name} is {_arrows(way)}"
        takes = " or ".join(f"`{m.value}`" for m in op.defn.spaces[field])
        does = f"`{op.name}` takes `{field}` from {takes}, and `{name}` is in `{have.value}`"
        if have in op.defn.spaces[field]:
            does = f"`{op.name}` would have to copy `{name}` that way"
        helps = [f"load `{name}` into `{want.value}` instead"]
        if way is None and (through_gm := route(self.target, Memory.GM, want)) is not None:
            helps = [f"load `{name}` into `{through_gm[1].value}` instead"]
        if have is want:
            note = f"nothing copies a tile within `{have.value}`"
            helps = [f"leave the statement out and use `{name}`"]
            if op.name == "extract":
                helps = [f"leave `memory` out, or write `slice`: the window of `{name}` is copied where it is used"]
        elif way is not None and way[1] is not Memory.GM:
            helps = [
                f"move it there first: `- move: {{into: {name}_{way[1].value}, from: {name}, memory: {way[1].value}}}`"
            ]
        elif way is not None:
            helps = [f"store `{name}` to a tensor and load that into `{way[2].value}`"]
        origin = self.origin.get(value)
        found = diagnose(
            NO_PATH,
            op.loc.field(field),
            f"no path from `{have.value}` to `{want.value}`: {does}",
            label=f"in `{have.value}`",
            secondary=[Label(origin.span, f"`{name}` is put in `{have.value}` here")] if origin else [],
            notes=[note],
            helps=helps,
            fixes=list(self._elsewhere(origin, name, have, want, way)),
        )
        return CompileError([found])

    def _elsewhere(
        self, origin: Loc | None, name: str, have: Memory, want: Memory, way: tuple[Memory, ...] | None
    ) -> Iterator[Repair]:
        """A load into the memory from where there is a way."""
        through = route(self.target, Memory.GM, want)
        if way is None and have is not want and origin is not None and through is not None:
            memory = through[1].value
            title = f"load `{name}` into `{memory}`"
            yield Repair("set", origin.span, ("memory",), memory, title=title)


def _without_slices(body: tuple[Stmt, ...], windows: dict[Value, Window]) -> tuple[Stmt, ...]:
    """The statements without the slices that only named a window; a slice of a slice is used by nothing then either."""
    while True:
        used = used_values(body)
        gone = {v for v in windows if v not in used}
        made = _Dropper(gone).block(body)
        if made is body:
            return body
        body = made


class _Dropper(Rewriter):
    def __init__(self, gone: set[Value]) -> None:
        super().__init__()
        self.gone = gone

    def op(self, op: Op) -> Sequence[Stmt]:
        return () if op.results and op.result in self.gone else (op,)


def _windowed(op: Op) -> str | None:
    """The operand of an op that can be a window of a tile in `mat`: `move`, `extract` and `transpose_view` take one."""
    return {"move": "from", "extract": "x", "transpose_view": "x"}.get(op.name)


def _bad_result(op: Op, memory: Memory, allowed: tuple[Memory, ...], target: Target) -> CompileError:
    """The error for a result that is asked for where its operator does not put it."""
    words = " or ".join(f"`{m.value}`" for m in allowed)
    way = route(target, Memory.GM, memory) if op.defn.effects == "reads_gm" else None
    note = f"`{memory.value}` is reached by {_arrows(way)}" if way else f"only products are in `{memory.value}`"
    first = f"write `memory: {allowed[0].value}`, or leave it out"
    helps = ["leave `memory` out"] if op.defn.effects == "reads_gm" else [first]
    if way is not None and way[-2] in allowed:
        name, first = split(op.result.name)[0], way[-2].value
        helps = [
            "leave `memory` out: a product brings its operands where it takes them",
            f"or write `memory: {first}`, and `- move: {{into: {name}_{memory.value}, from: {name}, memory: "
            f"{memory.value}}}` behind it",
        ]
    found = diagnose(
        NO_PATH,
        op.loc.field("memory"),
        f"no path to `{memory.value}`: `{op.name}` puts its result in {words}",
        label="not here",
        fixes=[Repair("remove", op.loc.field("memory"), ("memory",), title="leave `memory` out")],
        notes=[note] if op.defn.effects == "reads_gm" else [],
        helps=helps,
    )
    return CompileError([found])


def _arrows(way: tuple[Memory, ...]) -> str:
    return " -> ".join(f"`{m.value}`" for m in way)


def run(program: Program, context: Context) -> Program:
    """Place the tiles of every region."""
    return _Inferrer(context.target).program(program)


INFER_TILE_MEMORY_SPACE = Pass(
    name="InferTileMemorySpace",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.INCORE_TILE_OPS}),
    produces=frozenset({Property.TILE_MEMORY_INFERRED}),
    doc=__doc__,
)

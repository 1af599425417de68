"""Writing one component as loops over chunks.

A value that is computed from a finished reduction over an axis can only be had in a later round over that axis. So each
value has a level: how many finished reductions lie on the way to it. There is one loop per level; a loop computes again
what it needs of earlier levels from the tensors, and reductions come out of it as carried accumulators. Values with one
element along the axis are computed once, between the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import FP16, FP32, DType
from pypto_spec.ir.expr import Index, Sym, add, mul, sym
from pypto_spec.ir.naming import Names, unused
from pypto_spec.ir.nodes import Attr, Carry, Condition, For, If, NumberPhi, Op, Stmt, Value
from pypto_spec.ir.orders import cell
from pypto_spec.ir.types import TensorType, TileType
from pypto_spec.passes.chunk.component import AXES, Axis, Component, dims, extent, is_copy, is_store, is_window, sources
from pypto_spec.passes.making import make
from pypto_spec.records import dataclass

PLACES: tuple[tuple[Axis, int], ...] = (("cols", -1), ("rows", -2))
"""Where an axis stands in a shape, from its end."""

Inner = Callable[["Scope"], None]

COMBINE = {"sum": ("add", 0), "prod": ("mul", 0), "max": ("maximum", -1), "min": ("minimum", 1)}
"""For each kind of reduction: the op that joins two partial results, and the sign of its identity (infinite but 0)."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of an axis at hand: `count` elements from `start`; 0 is all that an array has there."""

    start: Index
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """How chunks are shared out over blocks: the block's index, the number of blocks."""

    block: Sym
    blocks: Sym


@dataclass(slots=True)
class Scope:
    """Statements being written, where they stand, and the tiles that stand for arrays there."""

    windows: dict[Axis, Window]
    batch: tuple[Index, ...]
    tiles: dict[Value, Value] = field(default_factory=dict)
    body: list[Stmt] = field(default_factory=list)

    def inner(self, axis: Axis | None = None, window: Window | None = None) -> Scope:
        """A scope inside this one, perhaps at another window."""
        windows = dict(self.windows)
        if axis is not None and window is not None:
            windows[axis] = window
        return Scope(windows, self.batch, dict(self.tiles))


class Writer:
    """Writes the statements of one component."""

    def __init__(self, component: Component, names: Names, indices: set[str], tails: bool = True) -> None:
        """`tails` False leaves out what is left behind full chunks, to measure the chunks alone."""
        self.tails = tails
        self.component = component
        self.names = names
        self.indices = indices
        self.loc: Loc = component.ops[0].loc

    # -- single statements ----------------------------------------------------------------------------------------

    def shape(self, value: Value, scope: Scope) -> tuple[int, ...]:
        """Shape of the tile that stands for an array."""
        whole = dims(value)
        shape = [1] * len(whole)
        for axis, place in PLACES:
            if len(whole) >= -place and whole[place] > 1:
                shape[place] = scope.windows[axis].count or whole[place]
        return tuple(shape)

    def at(self, value: Value, scope: Scope) -> tuple[Index, ...]:
        """Where that tile stands in the array."""
        whole = dims(value)
        at: list[Index] = [0] * len(whole)
        for axis, place in PLACES:
            if len(whole) >= -place and whole[place] > 1:
                at[place] = scope.windows[axis].start
        lead = len(whole) - 2
        for number in range(max(0, lead)):
            if whole[number] > 1:
                at[number] = scope.batch[len(scope.batch) - lead + number]
        return tuple(at)

    def tile(self, value: Value, scope: Scope, user: Op) -> Value:
        """The tile of an array, loaded if it is a tensor."""
        known = scope.tiles.get(value)
        if known is not None:
            return known
        assert isinstance(value.type, TensorType), f"{value.name} is not computed here"
        attrs: dict[str, Attr] = {"at": self.at(value, scope), "shape": self.shape(value, scope)}
        load = make(
            "load", {"from": value}, attrs, user.loc, into=self.names.fresh(f"{value.name}_tile"), allow=user.allow
        )
        scope.body.append(load)
        scope.tiles[value] = load.result
        return load.result

    def statement(self, op: Op, scope: Scope) -> None:
        """Write one op on tiles."""
        if is_store(op):
            operands = {"from": self.tile(op.operands["from"], scope, op), "to": op.operands["to"]}
            at = self.at(op.operands["from"], scope)
            start = op.attrs.get("at")
            if isinstance(start, tuple):
                at = tuple(map(add, start, at))
            attrs = {**op.attrs, "at": at}
            attrs.pop("shape", None)
            scope.body.append(replace(op, operands=operands, attrs=attrs))
            return
        result = op.result
        if is_copy(op):
            scope.tiles[result] = self.tile(op.operands["x"], scope, op)
            return
        name = self.names.fresh(result.name)
        if is_window(op):
            start = op.attrs["at"]
            assert isinstance(start, tuple)
            at = tuple(add(a, b) for a, b in zip(start, self.at(result, scope), strict=True))
            attrs = {"at": at, "shape": self.shape(result, scope)}
            made = make("load", {"from": op.operands["x"]}, attrs, op.loc, into=name, allow=op.allow)
        else:
            operands = {f: v if v not in sources(op) else self.tile(v, scope, op) for f, v in op.operands.items()}
            attrs = dict(op.attrs)
            if "shape" in attrs:
                attrs["shape"] = self.shape(result, scope)
            for axis in ("rows", "cols"):
                if axis in attrs and extent(result, axis) > 1:
                    attrs[axis] = scope.windows[axis].count or extent(result, axis)
            made = make(op.name, operands, attrs, op.loc, into=name, allow=op.allow)
        scope.body.append(made)
        scope.tiles[result] = made.result

    # -- loops ----------------------------------------------------------------------------------------------------

    def fresh_index(self, base: str) -> str:
        """A loop index name that nothing else has."""
        return unused(base, self.indices, 1)

    def plain(self, scope: Scope, axis: Axis, chunk: int, share: Share | None, inner: Inner) -> None:
        """A loop over one axis whose rounds have nothing to do with each other."""
        whole, rest = divmod(self.component.extent(axis), chunk)
        if whole == 1 and not rest:
            inner(scope)
            return
        index = Sym(self.fresh_index("chunk" if axis == "rows" else "part"), "loop", 0, whole - 1)
        body = scope.inner(axis, Window(mul(sym(index), chunk), chunk))
        inner(body)
        scope.body.append(self.loop(index, whole, body.body, (), share))
        if rest and self.tails:
            tail = scope.inner(axis, Window(whole * chunk, rest))
            inner(tail)
            scope.body += only_first(tail.body, share, self.loc)

    def grid(self, scope: Scope, chunks: tuple[int, int], share: Share, order: str | None) -> None:
        """One loop over the grid of chunks, and one over what is left of each row; `chunks` are rows and columns."""
        rows, cols = (self.component.extent(axis) for axis in AXES)
        down, (across, rest) = rows // chunks[0], divmod(cols, chunks[1])
        place = Sym(self.fresh_index("chunk"), "loop", 0, down * across - 1)
        found = cell(order, (down, across), sym(place))
        row, part = found.first
        body = scope.inner()
        if found.condition is not None:
            names = (
                Sym(self.fresh_index("row"), "local", 0, down - 1),
                Sym(self.fresh_index("part"), "local", 0, across - 1),
            )
            numbers = tuple(map(NumberPhi, names, found.first, found.rest))
            body.body.append(If(condition=found.condition, then=(), other=(), loc=self.loc, numbers=numbers))
            row, part = map(sym, names)
        self.piece(body, (mul(row, chunks[0]), mul(part, chunks[1])), chunks)
        scope.body.append(self.loop(place, down * across, body.body, (), share))
        if rest and self.tails:
            index = Sym(self.fresh_index("row"), "loop", 0, down - 1)
            tail = scope.inner()
            self.piece(tail, (mul(sym(index), chunks[0]), across * chunks[1]), (chunks[0], rest))
            scope.body.append(self.loop(index, down, tail.body, (), share))

    def piece(self, scope: Scope, at: tuple[Index, Index], shape: tuple[int, int]) -> None:
        """All ops on one piece of the arrays."""
        scope.windows = dict(zip(AXES, map(Window, at, shape), strict=True))
        for op in self.component.ops:
            self.statement(op, scope)

    def loop(self, index: Sym, count: int, body: list[Stmt], carries: tuple[Carry, ...], share: Share | None) -> For:
        """A loop over `count` chunks, or over this block's share of them."""
        start: Index = sym(share.block) if share else 0
        step: Index = sym(share.blocks) if share else 1
        return For(index=index, start=start, stop=count, step=step, body=tuple(body), loc=self.loc, carries=carries)

    def leveled(self, scope: Scope, axis: Axis, chunk: int, share: Share | None) -> None:
        """All of the component over one axis, a loop per level."""
        levels = self.levels(axis)
        varies = self.component.varies
        for level in range(max(levels.values(), default=0) + 1):
            for op in self.component.ops:
                subject = op.operands["from"] if is_store(op) else op.result
                if levels[subject] == level and not varies(subject, axis) and not self.reduces(op, axis):
                    self.between(op, scope, share)
            targets = [op for op in self.component.ops if self.due(op, axis, levels) == level]
            if targets:
                self.level(scope, axis, chunk, targets, share)

    def between(self, op: Op, scope: Scope, share: Share | None) -> None:
        """An op that stands outside the loop over an axis."""
        if not is_store(op):
            self.statement(op, scope)
            return
        if self.component.reads(op.operands["to"]):
            self.tile(op.operands["to"], scope, op)  # loops that follow want its old contents
        self.tile(op.operands["from"], scope, op)
        only = scope.inner()
        self.statement(op, only)
        scope.body += only_first(only.body, share, self.loc)

    def reduces(self, op: Op, axis: Axis) -> bool:
        """Whether the op joins elements along the axis."""
        role = "row_reduce" if axis == "cols" else "col_reduce"
        return op.defn.role == role and any(self.component.varies(v, axis) for v in sources(op))

    def levels(self, axis: Axis) -> dict[Value, int]:
        """The level of every value."""
        levels: dict[Value, int] = {}
        for op in self.component.ops:
            for value in sources(op):
                levels.setdefault(value, 0)
            if not is_store(op):
                behind = max((levels[v] for v in sources(op)), default=0)
                levels[op.result] = behind + self.reduces(op, axis)
        return levels

    def due(self, op: Op, axis: Axis, levels: dict[Value, int]) -> int | None:
        """In which level's loop a store or reduction is done; None for what is not a purpose of its own.

        A tensor that is also read is stored in the last loop: earlier ones must still find its old contents.
        """
        if self.reduces(op, axis):
            return max(levels[v] for v in sources(op))
        if not is_store(op) or not self.component.varies(op.operands["from"], axis):
            return None
        target = op.operands["to"]
        if self.component.reads(target):
            return max(levels.values())
        return levels[op.operands["from"]]

    def wanted(self, targets: Sequence[Op], scope: Scope) -> list[Op]:
        """The ops a loop must run, in program order: its targets and what they need that is not at hand."""
        maker = {op.result: op for op in self.component.ops if not is_store(op)}
        found = set(targets)
        stack = list(targets)
        while stack:
            for value in sources(stack.pop()):
                op = maker.get(value)
                if op is not None and value not in scope.tiles and op not in found:
                    found.add(op)
                    stack.append(op)
        return [op for op in self.component.ops if op in found]

    def level(self, scope: Scope, axis: Axis, chunk: int, targets: Sequence[Op], share: Share | None) -> None:
        """One loop over an axis, with an accumulator for each reduction in it."""
        wanted = self.wanted(targets, scope)
        whole, rest = divmod(self.component.extent(axis), chunk)
        sums = [op for op in targets if self.reduces(op, axis)]
        if whole == 1 and not rest:
            inner = scope.inner()
            inner.body = scope.body
            for op in wanted:
                self.statement(op, inner)
            for op in sums:
                scope.tiles[op.result] = inner.tiles[op.result]
            return
        accs = {op: self.identity(op, scope) for op in sums}
        index = Sym(self.fresh_index("chunk" if axis == "rows" else "part"), "loop", 0, whole - 1)
        body = scope.inner(axis, Window(mul(sym(index), chunk), chunk))
        args = {op: replace(acc, name=self.names.fresh(acc.name)) for op, acc in accs.items()}
        ends = self.round(body, wanted, args)
        carries = tuple(
            Carry(args[op], accs[op], ends[op], replace(accs[op], name=self.names.fresh(accs[op].name))) for op in sums
        )
        scope.body.append(self.loop(index, whole, body.body, carries, share))
        totals = {op: carry.result for op, carry in zip(sums, carries, strict=True)}
        if rest and self.tails:
            tail = scope.inner(axis, Window(whole * chunk, rest))
            totals = self.round(tail, wanted, totals)
            scope.body += only_first(tail.body, share, self.loc)
        for op in sums:
            scope.tiles[op.result] = self.narrowed(op, totals[op], scope)

    def round(self, scope: Scope, wanted: Sequence[Op], accs: dict[Op, Value]) -> dict[Op, Value]:
        """One chunk: the wanted ops, and each accumulator joined with its part."""
        totals: dict[Op, Value] = {}
        for op in wanted:
            if op not in accs:
                self.statement(op, scope)
                continue
            x = self.tile(op.operands["x"], scope, op)
            acc = accs[op]
            assert isinstance(acc.type, TileType) and isinstance(x.type, TileType)
            if acc.type.dtype is not x.type.dtype:
                x = self.step("cast", {"x": x}, {"dtype": acc.type.dtype}, op, x.name, scope)
            part = self.step(op.name, {"x": x}, dict(op.attrs), op, op.result.name, scope)
            join = COMBINE[op.name.rpartition("_")[2]][0]
            totals[op] = self.step(join, {"lhs": acc, "rhs": part}, {}, op, acc.name, scope)
        return totals

    def step(
        self, name: str, operands: dict[str, Value], attrs: dict[str, Attr], origin: Op, base: str, scope: Scope
    ) -> Value:
        """Write one op of our own; its result."""
        made = make(name, operands, attrs, origin.loc, into=self.names.fresh(base), allow=origin.allow)
        scope.body.append(made)
        return made.result

    def identity(self, op: Op, scope: Scope) -> Value:
        """The accumulator of a reduction before its first chunk; a sum or product of fp16 is kept in fp32."""
        dtype = wide(op)
        sign = COMBINE[op.name.rpartition("_")[2]][1]
        value: float | int = 1 if op.name.endswith("_prod") else 0
        if sign:
            value = sign * float("inf") if dtype.is_float else (2**31 - 1 if sign > 0 else -(2**31))
        attrs: dict[str, Attr] = {"shape": self.shape(op.result, scope), "value": value, "dtype": dtype}
        return self.step("full", {}, attrs, op, op.result.name, scope)

    def narrowed(self, op: Op, total: Value, scope: Scope) -> Value:
        """The finished reduction in its own dtype."""
        kind = op.result.type
        assert isinstance(total.type, TileType)
        if total.type.dtype is kind.dtype:
            return total
        return self.step("cast", {"x": total}, {"dtype": kind.dtype, "mode": "rint"}, op, op.result.name, scope)


def only_first(body: list[Stmt], share: Share | None, loc: Loc) -> list[Stmt]:
    """What cannot be shared out, such as what is left behind the full chunks, is done by block 0."""
    if share is None:
        return body
    return [If(condition=Condition("==", sym(share.block), 0), then=tuple(body), other=(), loc=loc)]


def wide(op: Op) -> DType:
    """The dtype a reduction is accumulated in over chunks."""
    dtype = op.result.type.dtype
    return FP32 if dtype is FP16 and op.name.endswith(("_sum", "_prod")) else dtype

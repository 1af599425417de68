"""Whether a window of a tensor leaves it for some values of the run-time symbols.

The loader refuses a window that is outside for all values, and cannot decide one that depends on run-time sizes; the
kernel has no guard for it. This looks for an example: it takes the bounds of the symbols and a few values between them,
walks through a few blocks and the first and last rounds of the loops, and compares the windows with the extents. What
it finds is certain for those values, which the caller may never pass: a warning. It proves nothing. Windows that depend
on scalars, or stand in a loop with a condition, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.rules.shapes import WINDOW_MAY_LEAVE
from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Index, Sym, evaluate, to_text
from pypto_spec.ir.nodes import Branch, Control, For, Grid, If, Loop, Op, Program, Region, Stmt
from pypto_spec.ir.types import TensorType, TileType
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target

MIDDLE = (2, 37, 1000)
"""Values between the bounds of a symbol that are tried."""
FIRST, LAST = 4, 2
"""Rounds of a loop that are walked: from its start, and before its end."""
MOST_STEPS = 20_000
"""Statements that are looked at, over all values."""

Values = Mapping[Sym, int]


@dataclass(frozen=True, slots=True)
class Window:
    """First element and length along each axis of what a load or store touches."""

    low: tuple[int, ...]
    lengths: tuple[int, ...]


class _Walk:
    def __init__(self, program: Program, target: Target, sink: Sink) -> None:
        self.program = program
        self.target = target
        self.sink = sink
        self.told: set[tuple[int, int]] = set()
        self.steps = 0

    def run(self) -> None:
        for values in _samples(self.program.dims):
            self.controls(self.program.body, values)

    def controls(self, body: Sequence[Control], values: Values) -> None:
        for node in body:
            try:
                if isinstance(node, Region):
                    self.block(node.body, values, node)
                elif isinstance(node, Branch):
                    self.controls(node.then if holds(node.condition, values) else node.other, values)
                elif isinstance(node, Loop):
                    for number in _rounds(node.start, node.stop, node.step, values):
                        self.controls(node.body, {**values, node.index: number})
                else:
                    self.grid(node, values)
            except KeyError:
                continue

    def grid(self, grid: Grid, values: Values) -> None:
        count = self.target.vector_cores if isinstance(grid.count, str) else evaluate(grid.count, values)
        start, step = evaluate(grid.start, values), evaluate(grid.step, values)
        for number in sorted({0, 1, count - 1} & set(range(count))):
            known = {**values, grid.index: start + number * step, grid.blocks_symbol: count}
            self.controls(grid.body, known)

    def block(self, body: Sequence[Stmt], values: Values, region: Region) -> None:
        for stmt in body:
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            try:
                if isinstance(stmt, Op):
                    if stmt.name in ("load", "store"):
                        self.window(stmt, values, region)
                elif isinstance(stmt, For) and stmt.condition is None:
                    for number in _rounds(stmt.start, stmt.stop, stmt.step, values):
                        self.block(stmt.body, {**values, stmt.index: number}, region)
                elif isinstance(stmt, If):
                    self.block(stmt.then if holds(stmt.condition, values) else stmt.other, values, region)
            except KeyError:
                continue

    def window(self, op: Op, values: Values, region: Region) -> None:
        tensor = op.operands["from" if op.name == "load" else "to"]
        assert isinstance(tensor.type, TensorType)
        if op.loc.span.start in self.told:
            return
        found = window_of(op, values)
        if min(found.lengths) <= 0:
            return
        for axis, (low, length, extent) in enumerate(zip(found.low, found.lengths, tensor.type.shape, strict=True)):
            size = evaluate(extent, values)
            if low < 0 or low + length > size:
                self.told.add(op.loc.span.start)
                self.report(op, region, tensor.name, axis, (low, low + length), size, values)
                return

    def report(
        self, op: Op, region: Region, name: str, axis: int, covers: tuple[int, int], size: int, values: Values
    ) -> None:
        known = [s for s in values if s.kind in ("dim", "block", "loop")]
        given = ", ".join(f"{s.name} = {values[s]}" for s in known)
        at = op.attrs["at"]
        assert isinstance(at, tuple)
        first = to_text(at[axis])
        fits = f"min({covers[1] - covers[0]}, {to_text(self.extent(op, axis))} - {first})"
        ways = [f'let only what exists be valid: `valid` with "{fits}" on axis {axis}'] if op.name == "load" else []
        self.sink.report(
            WINDOW_MAY_LEAVE,
            op.loc.field("at"),
            f"with {given} axis {axis} of the window covers {covers[0]} to {covers[1]} of `{name}`, which ends at "
            f"{size}; "
            "the kernel has no guard for it",
            label=f"axis {axis} may leave the tensor",
            helps=[
                *ways,
                "or give the symbols bounds that exclude it: `multiple_of` where sizes are whole tiles, `min`, `max`",
                "or let the loop end where whole windows do",
            ],
            allow=op.allow | region.allow,
        )

    def extent(self, op: Op, axis: int) -> Index:
        kind = op.operands["from" if op.name == "load" else "to"].type
        assert isinstance(kind, TensorType)
        return kind.shape[axis]


def window_of(op: Op, values: Values) -> Window:
    """The window of a load or store; KeyError where it is not known."""
    at = op.attrs["at"]
    assert isinstance(at, tuple)
    extents: tuple[Index, ...]
    shape = op.attrs.get("shape")
    if op.name == "load":
        valid = op.attrs.get("valid") or shape
        assert isinstance(valid, tuple)
        extents = valid
    else:
        tile = op.operands["from"].type
        assert isinstance(tile, TileType)
        extents = tile.valid or tile.shape
        if shape is not None:
            if tile.valid is not None and tile.valid != tile.shape:
                raise KeyError("valid")
            assert isinstance(shape, tuple)
            extents = shape
        extents = (*(1,) * (len(at) - len(extents)), *extents[max(0, len(extents) - len(at)) :])
    return Window(tuple(evaluate(n, values) for n in at), tuple(evaluate(n, values) for n in extents))


def _samples(dims: Sequence[Sym]) -> Iterator[dict[Sym, int]]:
    """Values of the symbols: all smallest, all largest, and each of a few values alone and together."""
    tried = {dim: _values(dim) for dim in dims}
    seen: set[tuple[int, ...]] = set()
    for number in range(max(map(len, tried.values()), default=0)):
        together = {dim: found[min(number, len(found) - 1)] for dim, found in tried.items()}
        for dim, found in tried.items():
            for value in found:
                made = {**together, dim: value}
                key = tuple(made.values())
                if key not in seen:
                    seen.add(key)
                    yield made


def _values(dim: Sym) -> list[int]:
    low = dim.low if dim.low is not None else dim.multiple
    found = {low, low + dim.multiple, *(n // dim.multiple * dim.multiple for n in MIDDLE)}
    if dim.high is not None:
        found.add(dim.high)
    return sorted(n for n in found if n >= low and (dim.high is None or n <= dim.high))


def _rounds(start: Index, stop: Index, step: Index, values: Values) -> list[int]:
    every = range(evaluate(start, values), evaluate(stop, values), evaluate(step, values) or 1)
    return sorted({*every[:FIRST], *every[-LAST:]})


def check_windows(program: Program, target: Target, sink: Sink) -> None:
    """Warn of windows that leave their tensor for some values of the symbols, once for each statement."""
    if program.dims:
        _Walk(program, target, sink).run()

"""Whether a window of a tensor leaves it for some values of the run-time symbols.

The loader refuses a window that is outside for all values, and cannot decide one that depends on run-time sizes; the
kernel has no guard for it. This looks for an example: it takes the bounds of the symbols and a few values between them,
walks through a few blocks and the first and last rounds of the loops, and compares the windows with the extents. What
it finds is certain for those values, which the caller may never pass: a warning. It proves nothing. Windows that depend
on scalars, or stand in a loop with a condition, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.diagnostics.model import Repair, Sink
from pypto_spec.diagnostics.rules.shapes import WINDOW_MAY_LEAVE
from pypto_spec.ir.expr import Sym, evaluate, to_text
from pypto_spec.ir.nodes import Grid, Op, Program, Region
from pypto_spec.ir.types import TensorType
from pypto_spec.ir.walk import Values, Walk
from pypto_spec.ir.window import Window, window_of
from pypto_spec.targets.model import Target

MIDDLE = (2, 37, 1000)
"""Values between the bounds of a symbol that are tried."""
FIRST, LAST = 4, 2
"""Rounds of a loop that are walked: from its start, and before its end."""
MOST_STEPS = 20_000
"""Statements that are looked at, over all values."""


class _Samples(Walk):
    """A few blocks, the first and the last rounds."""

    certain = True

    def __init__(self, target: Target) -> None:
        super().__init__(MOST_STEPS)
        self.target = target

    def pick(self, numbers: range) -> list[int]:
        return sorted({*numbers[:FIRST], *numbers[-LAST:]})

    def blocks(self, grid: Grid, values: Values) -> Iterator[Values]:
        try:
            core = next((node.core for node in grid.body if isinstance(node, Region)), None)
            count = self.target.cores(core) if grid.count == "auto" else evaluate(grid.count, values)
            start, step = evaluate(grid.start, values), evaluate(grid.step, values)
        except KeyError:
            return
        for number in sorted({0, 1, count - 1} & set(range(count))):
            yield {**values, grid.index: start + number * step, grid.blocks_symbol: count}


class _Finder:
    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.told: set[tuple[int, int]] = set()

    def run(self, program: Program, walk: Walk) -> None:
        for values in _samples(program.dims):
            for region, known in walk.regions(program.body, values):
                for op, now in walk.ops(region.body, known):
                    if op.name in ("load", "store"):
                        self.window(op, now, region)

    def window(self, op: Op, values: Values, region: Region) -> None:
        if op.loc.span.start in self.told:
            return
        found = window_of(op)
        kind = found.tensor.type
        assert isinstance(kind, TensorType)
        try:
            low, lengths = found.numbers(values)
            extents = [evaluate(extent, values) for extent in kind.shape]
        except KeyError:
            return
        if min(lengths) <= 0:
            return
        for axis, (first, length, extent) in enumerate(zip(low, lengths, extents, strict=True)):
            if first < 0 or first + length > extent:
                self.told.add(op.loc.span.start)
                self.report(op, region, found, axis, (first, first + length), extent, values)
                return

    def report(
        self, op: Op, region: Region, found: Window, axis: int, covers: tuple[int, int], size: int, values: Values
    ) -> None:
        kind = found.tensor.type
        assert isinstance(kind, TensorType)
        known = [s for s in values if s.kind in ("dim", "block", "loop")]
        given = ", ".join(f"{s.name} = {values[s]}" for s in known)
        fits = f"min({covers[1] - covers[0]}, {to_text(kind.shape[axis])} - {to_text(found.at[axis])})"
        ways = [f'let only what exists be valid: `valid` with "{fits}" on axis {axis}'] if op.name == "load" else []
        self.sink.report(
            WINDOW_MAY_LEAVE,
            op.loc.field("at"),
            f"with {given} axis {axis} of the window covers {covers[0]} to {covers[1]} of `{found.tensor.name}`, "
            f"which ends at {size}; the kernel has no guard for it",
            label=f"axis {axis} may leave the tensor",
            helps=[
                *ways,
                "or give the symbols bounds that exclude it: `multiple_of` where sizes are whole tiles, `min`, `max`",
                "or let the loop end where whole windows do",
            ],
            allow=op.allow | region.allow,
            fixes=[_guarded(op, axis, fits, len(kind.shape))] if op.name == "load" else [],
        )


def _guarded(op: Op, axis: int, fits: str, rank: int) -> Repair:
    """`valid` with what exists along one axis, and the window's extents along the others."""
    shape = op.attrs["shape"]
    assert isinstance(shape, tuple)
    given = op.attrs.get("valid", shape)
    assert isinstance(given, tuple) and len(given) == rank
    valid = [fits if n == axis else _plain(extent) for n, extent in enumerate(given)]
    return Repair("set", op.loc.span, ("valid",), valid, title=f'let only "{fits}" be valid along axis {axis}')


def _plain(extent: object) -> int | str:
    return extent if isinstance(extent, int) else to_text(extent)  # type: ignore[arg-type]


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


def check_windows(program: Program, target: Target, sink: Sink) -> None:
    """Warn of windows that leave their tensor for some values of the symbols, once for each statement."""
    if program.dims:
        _Finder(sink).run(program, _Samples(target))

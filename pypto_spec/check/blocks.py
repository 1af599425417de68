"""Whether two blocks of one launch write the same elements of a tensor.

Blocks run side by side in any order, and no flag orders one after another, so what two of them write without
`atomic` is decided by chance. This looks for an example: it walks through a few blocks of the launch (0, 1, 2 and the
last) and through the first rounds of their loops with the values that are known at compile time, and compares the
windows they store to. What it finds is certain, and an error. It proves nothing: stores whose windows depend on
run-time values are left out, and so is whatever lies behind the rounds it walks. The host model judges the runs that
a golden makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from pypto_spec.diagnostics.model import Label, Sink
from pypto_spec.diagnostics.rules.cores import BLOCKS_OVERLAP
from pypto_spec.ir.expr import bounds
from pypto_spec.ir.nodes import Branch, Control, Grid, Loop, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import ops
from pypto_spec.ir.walk import Values, Walk
from pypto_spec.ir.window import window_of
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target

ROUNDS = 8
"""Rounds of a loop that are walked."""
STORES = 48
"""Stores of one block that are looked at."""


@dataclass(frozen=True, slots=True)
class _Write:
    """The window one store of one block writes: first element and end along each axis."""

    block: int
    op: Op
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def tensor(self) -> Value:
        return self.op.operands["to"]

    def meets(self, other: _Write) -> bool:
        return all(a < d and c < b for a, b, c, d in zip(self.low, self.high, other.low, other.high, strict=True))


def check_blocks(program: Program, target: Target, sink: Sink) -> None:
    """Report tensors that blocks of one launch certainly write at the same place."""
    _controls(program.body, {}, target, sink)


def _controls(body: Sequence[Control], values: Values, target: Target, sink: Sink) -> None:
    for node in body:
        if isinstance(node, Grid):
            for inner in node.body:
                if isinstance(inner, Region):
                    _launch(node, inner, values, target, sink)
        elif isinstance(node, Loop):
            known = {**values, node.index: node.start} if isinstance(node.start, int) else values
            _controls(node.body, known, target, sink)
        elif isinstance(node, Branch):
            _controls(node.then, values, target, sink)
            _controls(node.other, values, target, sink)


def _launch(grid: Grid, region: Region, values: Values, target: Target, sink: Sink) -> None:
    most = target.cores(region.core) if grid.count == "auto" else bounds(grid.count)[1]
    count = most if most is not None else target.cores(region.core)
    if count < 2 or not any(op.name == "store" for op in ops(region.body)):
        return
    found: list[_Write] = []
    for block in sorted({0, 1, min(2, count - 1), count - 1}):
        known = {**values, grid.index: block, grid.blocks_symbol: count}
        found += islice(_writes(region.body, known, block), STORES)
    told: set[Value] = set()
    for first, second in _meetings(found):
        if second.tensor not in told:
            told.add(second.tensor)
            _report(grid, region, first, second, sink)


class _First(Walk):
    """The first rounds of loops."""

    certain = True

    def pick(self, numbers: range) -> range:
        return numbers[:ROUNDS]


def _writes(body: Sequence[Stmt], values: Values, block: int) -> Iterator[_Write]:
    """The windows a block writes, as far as they are known."""
    for op, known in _First().ops(body, values):
        if op.name == "store":
            try:
                low, extents = window_of(op).numbers(known)
            except KeyError:
                continue
            yield _Write(block, op, low, tuple(a + n for a, n in zip(low, extents, strict=True)))


def _meetings(found: list[_Write]) -> Iterator[tuple[_Write, _Write]]:
    """Writes of two blocks that share an element, and are not both atomic; the earlier statement first."""
    by_tensor: dict[Value, list[_Write]] = {}
    for write in found:
        by_tensor.setdefault(write.tensor, []).append(write)
    for writes in by_tensor.values():
        ordered = sorted(writes, key=lambda w: w.low)
        for number, first in enumerate(ordered):
            for second in ordered[number + 1 :]:
                if second.low[0] >= first.high[0]:
                    break
                if first.block != second.block and not (_atomic(first) and _atomic(second)) and first.meets(second):
                    yield (first, second) if first.block < second.block else (second, first)


def _atomic(write: _Write) -> bool:
    return write.op.attrs.get("atomic", "none") == "add"


def _report(grid: Grid, region: Region, first: _Write, second: _Write, sink: Sink) -> None:
    low = tuple(map(max, first.low, second.low))
    high = tuple(map(min, first.high, second.high))
    window = ", ".join(f"{a}:{b}" for a, b in zip(low, high, strict=True))
    name, loc = second.tensor.name, second.op.loc
    labels = [Label(grid.loc.span, "its blocks run side by side")]
    if first.op.loc.span != loc.span:
        labels.append(Label(first.op.loc.span, f"block {first.block} writes here"))
    if loc.dump is not None:
        labels.append(Label(loc.dump, "here in the dump"))
    sink.report(
        BLOCKS_OVERLAP,
        loc.span,
        f"blocks {first.block} and {second.block} of region `{region.name}` both write `{name}[{window}]`",
        label="written by several blocks, in no fixed order",
        secondary=labels,
        helps=[
            "let each block write a part of its own: use the launch's index in `at`, so that windows stay apart",
            "or leave the launch out and write `blocks: auto` beside `region`: statements on whole arrays are then "
            "shared out over the cores",
        ],
        figures=[("first_block", first.block), ("second_block", second.block)],
    )

"""PS2035: outputs of which no store reaches a part.

Every store is a box of indices, taken too large wherever something about it is not known: both arms of an `if`, all
values that an index may have. What lies in no box is written by nobody, whatever the run-time values are. An atomic add
writes nothing in this sense: it needs something that was written before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod

from pypto_spec.diagnostics.model import Label, Sink, accessed
from pypto_spec.diagnostics.rules.names import PARTLY_WRITTEN
from pypto_spec.ir.expr import Index, bounds, substitute
from pypto_spec.ir.loops import trip_bounds
from pypto_spec.ir.nodes import Op, Program, Value
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.ir.walk import Values, Walk
from pypto_spec.ir.window import Window, window_of
from pypto_spec.records import dataclass

MOST_ROUNDS = 4096
"""Rounds of loops that are walked in all; an index of later ones has all its values at once."""
MOST_WORK = 400_000
"""Pairs of boxes and cells that are compared; beyond it, one axis at a time is looked at."""

Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Store:
    """A store and the box it may write: first index and end along each axis; None is all of an axis."""

    op: Op
    box: tuple[tuple[int, int] | None, ...]


def report_coverage(program: Program, sink: Sink) -> None:
    """Report every output with a part that no store reaches."""
    by_tensor: dict[Value, list[Store]] = {}
    for store in _stores(program):
        by_tensor.setdefault(store.op.operands["to"], []).append(store)
    for tensor in program.tensors:
        kind = tensor.type
        assert isinstance(kind, TensorType)
        found = by_tensor.get(tensor)
        if kind.access is not Access.OUT or not found:
            continue
        gap = _gap(kind.shape, found)
        if gap is not None:
            _report(program, tensor, kind.shape, gap, found, sink)


class _All(Walk):
    """Every round of the loops, as long as there are not too many."""

    certain = False

    def __init__(self) -> None:
        super().__init__()
        self.rounds = MOST_ROUNDS

    def pick(self, numbers: range) -> range | None:
        count, _ = trip_bounds(numbers.start, numbers.stop, numbers.step)
        if count > self.rounds:
            return None
        self.rounds -= count
        return numbers


def _stores(program: Program) -> Iterator[Store]:
    walk = _All()
    for region, known in walk.regions(program.body, {}):
        for op, values in walk.ops(region.body, known):
            if op.name == "store" and op.attrs.get("atomic", "none") == "none":
                yield Store(op, _box(window_of(op), values))


def _box(window: Window, values: Values) -> tuple[tuple[int, int] | None, ...]:
    made: list[tuple[int, int] | None] = []
    for first, extent in zip(window.at, window.extents, strict=True):
        low, high = bounds(substitute(first, values))
        most = bounds(substitute(extent, values))[1]
        made.append(None if low is None or high is None or most is None else (low, high + most))
    return tuple(made)


# --- what is left --------------------------------------------------------------------------------------------------


def _gap(shape: Sequence[Index], stores: Sequence[Store]) -> Box | None:
    """A box that no store reaches; axes with run-time extents count as covered, and are (0, 0) in it."""
    axes = [axis for axis, extent in enumerate(shape) if isinstance(extent, int)]
    extents = [n for n in shape if isinstance(n, int)]
    boxes = {
        tuple(_clip(store.box[axis], extent) for axis, extent in zip(axes, extents, strict=True)) for store in stores
    }
    boxes = {box for box in boxes if all(low < high for low, high in box)}
    found = _gap_of_axis(extents, boxes) or _gap_of_cells(extents, boxes)
    if found is None:
        return None
    whole = dict(zip(axes, found, strict=True))
    return tuple(whole.get(axis, (0, 0)) for axis in range(len(shape)))


def _clip(part: tuple[int, int] | None, extent: int) -> tuple[int, int]:
    return (0, extent) if part is None else (max(0, part[0]), min(extent, part[1]))


def _gap_of_axis(extents: Sequence[int], boxes: set[Box]) -> Box | None:
    for axis, extent in enumerate(extents):
        end = 0
        for low, high in [*sorted(box[axis] for box in boxes), (extent, extent)]:
            if low > end:
                return tuple((end, low) if a == axis else (0, n) for a, n in enumerate(extents))
            end = max(end, high)
    return None


def _gap_of_cells(extents: Sequence[int], boxes: set[Box]) -> Box | None:
    cuts = [sorted({0, extent, *(edge for box in boxes for edge in box[axis])}) for axis, extent in enumerate(extents)]
    if prod(len(c) - 1 for c in cuts) * len(boxes) > MOST_WORK:
        return None
    for cell in product(*(list(pairwise(c)) for c in cuts)):
        inside = (
            all(low <= start and end <= high for (start, end), (low, high) in zip(cell, box, strict=True))
            for box in boxes
        )
        if not any(inside):
            return cell
    return None


def _text(name: str, shape: Sequence[Index], box: Box) -> str:
    """A box as a slice; an axis that is all in it, or has a run-time extent, is `:`."""
    parts = [
        f"{low}:{high}" if isinstance(extent, int) and (low, high) != (0, extent) else ":"
        for extent, (low, high) in zip(shape, box, strict=True)
    ]
    return f"{name}[{', '.join(parts)}]"


def _report(
    program: Program, tensor: Value, shape: tuple[Index, ...], gap: Box, stores: Sequence[Store], sink: Sink
) -> None:
    where = _text(tensor.name, shape, gap)
    static = [n for n in shape if isinstance(n, int)]
    share = ""
    if len(static) == len(shape):
        share = f", {prod(high - low for low, high in gap)} of its {prod(static)} elements"
    places = list(dict.fromkeys(store.op.loc.span for store in stores))
    sink.report(
        PARTLY_WRITTEN,
        program.tensor_locs[tensor.name].span,
        f"`{tensor.name}` is written in part: no store reaches `{where}`{share}",
        label="holds there whatever the caller's memory held",
        secondary=[Label(span, "writes elsewhere") for span in places[:3]],
        notes=["an output starts with undefined contents"],
        helps=[
            f"store to `{where}` as well, or make the tensor smaller",
            f"or declare `{tensor.name}` as `access: inout`, if the rest is to stay what it was",
        ],
        fixes=[accessed(tensor.name, "inout")],
    )

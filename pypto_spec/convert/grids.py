"""The heads of `parallel` and `spmd`: their indices, counts and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pypto_spec.convert.context import Reading
from pypto_spec.convert.ranges import as_found, check_count, constants_in, read_range
from pypto_spec.diagnostics.rules.syntax import CONFLICTING_KEYS, MISSING_KEY, OUT_OF_RANGE
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.ir.expr import Index, Sym, add, bounds, ceil_div, mul, sub
from pypto_spec.ir.loops import loop_symbol
from pypto_spec.ir.orders import cells
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

MOST_BLOCKS = 65_535
"""Blocks of one launch (Ascend C guide, kernel launch: blockDim)."""

BLOCKS_HELP = ("write a number or `auto`, or put an `spmd` around the region and share the work out by hand",)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a grid: `indices` with the count of each, the first one from `start` by `step`."""

    indices: tuple[Sym, ...]
    counts: tuple[Index | Literal["auto"], ...]
    start: Index = 0
    step: Index = 1
    most: int | None = None

    @property
    def inner(self) -> tuple[tuple[Sym, Index], ...]:
        """The indices behind the first one."""
        pairs = zip(self.indices[1:], self.counts[1:], strict=True)
        return tuple((index, count) for index, count in pairs if not isinstance(count, str))

    @property
    def blocks(self) -> Sym:
        """A symbol for the number of blocks."""
        total = cells([count for count in self.counts if not isinstance(count, str)])
        high = None if "auto" in self.counts else bounds(total)[1]
        return Sym("num_blocks()", "blocks", 1, high)


def index_nodes(reading: Reading, fields: MappingNode) -> list[Node]:
    """Where the names of the indices stand."""
    node = fields.get("index")
    assert node is not None
    return node.items if isinstance(node, SequenceNode) else [node]


def read_spmd(reading: Reading, fields: MappingNode) -> Head:
    """The head of an `spmd`."""
    (name,) = index_nodes(reading, fields)
    node = fields.get("blocks")
    assert node is not None
    auto = isinstance(node, ScalarNode) and node.value == "auto"
    count: Index | Literal["auto"] = "auto" if auto else check_blocks(reading, node, reading.index(node))
    high = None if isinstance(count, str) else bounds(count)[1]
    return Head((Sym(reading.text(name), "block", 0, None if high is None else max(high - 1, 0)),), (count,))


def read_parallel(reading: Reading, fields: MappingNode) -> Head:
    """The head of a `parallel`."""
    names = index_nodes(reading, fields)
    count = fields.get("count")
    most = _most(reading, fields)
    if not names:
        place = fields.get("index")
        assert place is not None
        help_text = "name one: `index: i`"
        reading.fail(MISSING_KEY, place, "a `parallel` has at least one index", label="no name", helps=[help_text])
    if len(names) > 1 or isinstance(count, SequenceNode):
        return _several(reading, fields, names, most)
    start, stop, step = read_range(reading, fields, least=1)
    if not isinstance(step, int):
        place = fields.get("range") or fields
        reading.fail(NOT_YET, place, "a run-time step of `parallel` is not there yet")
    number = ceil_div(sub(stop, start), step)
    start, stop, step = _shifted(reading, fields, start, stop, step)
    return Head((loop_symbol(reading.text(names[0]), start, stop, step),), (number,), start, step, most)


def _several(reading: Reading, fields: MappingNode, names: Sequence[Node], most: int | None) -> Head:
    """Several indices, with a count for each."""
    node = fields.get("count")
    shown = ", ".join(reading.text(name) for name in names)
    wrong = next((found for key in ("range", "start", "step") if (found := fields.get(key)) is not None), None)
    if wrong is not None:
        reading.fail(
            CONFLICTING_KEYS, wrong, f"`parallel` over [{shown}] starts each index at 0, and takes a `count` only",
            label="for one index only", helps=[f"write `count: [{', '.join('N' for _ in names)}]`, and shift in `at`"],
        )  # fmt: skip
    items = node.items if isinstance(node, SequenceNode) else [node] if node is not None else []
    if len(items) != len(names):
        reading.fail(
            CONFLICTING_KEYS, node if node is not None else fields,
            f"`index` has {_number(len(names), 'name')}, `count` has {_number(len(items), 'number')}",
            label=f"{len(items)} for {len(names)}",
            helps=["write one count for each index: `index: [m, n], count: [MT, NT]`"],
        )  # fmt: skip
    counts: list[Index] = []
    for item in items:
        counts.append(reading.index(item))
        check_count(reading, item, counts[-1], 1)
    pairs = zip(names, counts, strict=True)
    return Head(tuple(loop_symbol(reading.text(name), 0, found, 1) for name, found in pairs), tuple(counts), most=most)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _most(reading: Reading, fields: MappingNode) -> int | None:
    """The blocks that a `parallel` is shared out over at most."""
    node = fields.get("blocks")
    if node is None or (isinstance(node, ScalarNode) and node.value in (None, "auto")):
        return None
    number = reading.static(node, "`blocks`", ("write a number, or leave `blocks` out for as many as there are cores",))
    check_blocks(reading, node, number)
    return number


def check_blocks(reading: Reading, node: Node, count: Index) -> Index:
    """A number of blocks that a launch can have."""
    low, high = bounds(count)
    if (high is not None and high < 1) or (low is not None and low > MOST_BLOCKS):
        reading.fail(
            OUT_OF_RANGE,
            node,
            f"a launch has 1 to {MOST_BLOCKS} blocks, found {as_found(node, count)}",
            label="no number of blocks",
            secondary=constants_in(reading, [node]),
            helps=["write a number from 1 on, or `auto` for as many as the platform has cores"],
        )
    return count


def _shifted(
    reading: Reading, fields: MappingNode, start: Index, stop: Index, step: Index
) -> tuple[Index, Index, Index]:
    """`start` and `step` of a dump, which go with `count`."""
    first, distance = fields.get("start"), fields.get("step")
    if first is not None:
        start = reading.index(first)
    if distance is not None:
        step = reading.index(distance)
    if first is None and distance is None:
        return start, stop, step
    return start, add(start, mul(stop, step)), step

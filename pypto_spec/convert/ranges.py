"""Loop ranges: `count: n` or `range: [start, stop, step]`."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_spec.convert.context import Reading
from pypto_spec.convert.instructions import index_text
from pypto_spec.diagnostics.model import Label
from pypto_spec.diagnostics.rules.syntax import ARITHMETIC, MISSING_KEY, OUT_OF_RANGE
from pypto_spec.ir.expr import Index, bounds
from pypto_spec.ir.loops import trip_bounds
from pypto_spec.spec.formula import names
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode


def read_range(reading: Reading, fields: MappingNode, least: int = 0) -> tuple[Index, Index, Index]:
    """Start, stop and step of a loop that has at least `least` iterations.

    A count is not negative; a range whose stop is not above its start is empty.
    """
    count = fields.get("count")
    if count is not None:
        stop = reading.index(count)
        check_count(reading, count, stop, least)
        return 0, stop, 1
    node = fields.get("range")
    items = reading.items(node, fields, "range")
    if not 1 <= len(items) <= 3:
        reading.fail(
            MISSING_KEY,
            node if node is not None else fields,
            "a loop needs `count` or `range: [start, stop, step]`",
            helps=["write `count: 8`, or `range: [0, 8, 2]`"],
        )
    values = [reading.index(item) for item in items]
    start, stop, *rest = values if len(values) > 1 else (0, values[0])
    step = rest[0] if rest else 1
    low, _ = bounds(step)
    if low is None or low < 1:
        reading.fail(
            ARITHMETIC,
            items[2],
            f"the step of a loop must be positive, found `{index_text(step)}`",
            label="not known to be positive",
            helps=["give a positive number, or a symbol whose `min` is at least 1"],
        )
    most = trip_bounds(start, stop, step)[1]
    if most is not None and most < least:
        first = as_found(items[0], start) if len(items) > 1 else "`0`"
        end = as_found(items[min(len(items), 2) - 1], stop)
        reading.fail(
            OUT_OF_RANGE,
            node if node is not None else fields,
            f"`range` starts at {first} and stops at {end}: it has no index, and a launch has at least one block",
            label="an empty range",
            secondary=constants_in(reading, items),
            helps=["let it stop above its start"],
        )
    return start, stop, step


def check_count(reading: Reading, node: Node, count: Index, least: int) -> None:
    """Refuse a count that is certainly too low."""
    high = bounds(count)[1]
    if high is None or high >= least:
        return
    reading.fail(
        OUT_OF_RANGE,
        node,
        f"`count` is at least {least}, found {as_found(node, count)}",
        label="a launch has at least one block" if least else "no number of iterations",
        secondary=constants_in(reading, [node]),
        helps=[f"write a number from {least} on"],
    )


def as_found(node: Node, index: Index) -> str:
    """An index as it is written, and which numbers that may be."""
    written = node.text.removeprefix("$") if isinstance(node, ScalarNode) else index_text(index)
    low, high = bounds(index)
    if isinstance(index, int):
        return f"`{written}`" if written == str(index) else f"`{written}`, which is {index}"
    if low is not None and high is not None:
        return f"`{written}`, which is {low} to {high}"
    return f"`{written}`, which is " + (f"at most {high}" if high is not None else f"at least {low}")


def constants_in(reading: Reading, nodes: Iterable[Node]) -> list[Label]:
    """The constants that formulas read, with their values, where they are defined."""
    read = {name.id for node in nodes for name in names(reading.expression(node))}
    found = (reading.scope.get(name) for name in sorted(read))
    return [Label(n.span, f"`{n.text}` is {n.constant}") for n in found if n is not None and n.kind == "constant"]

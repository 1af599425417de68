"""Loop ranges: `count: n` or `range: [start, stop, step]`."""

from __future__ import annotations

from pypto_spec.convert.context import Reading
from pypto_spec.convert.instructions import index_text
from pypto_spec.diagnostics.rules.syntax import ARITHMETIC, MISSING_KEY
from pypto_spec.ir.expr import Index, bounds
from pypto_spec.spec.tree import MappingNode


def read_range(reading: Reading, fields: MappingNode) -> tuple[Index, Index, Index]:
    """Start, stop and step of a loop."""
    count = fields.get("count")
    if count is not None:
        return 0, reading.index(count), 1
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
    if len(values) == 1:
        return 0, values[0], 1
    start, stop, *rest = values
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
    return start, stop, step

"""The `strides` of a tensor: what is legal of them, with the numbers of the hardware behind each refusal."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.convert.context import Reading
from pypto_spec.convert.instructions import index_text
from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules.shapes import OVERLAPPING, SHAPE_MISMATCH, SPREAD_ELEMENTS
from pypto_spec.diagnostics.rules.syntax import OUT_OF_RANGE
from pypto_spec.ir.dtype import BLOCK_BYTES, DType
from pypto_spec.ir.expr import Index, bounds
from pypto_spec.ir.strides import are_distinct, dense
from pypto_spec.ir.types import Access
from pypto_spec.spec.tree import MappingNode, Node


def read_strides(
    reading: Reading, name: str, fields: MappingNode, dtype: DType, shape: tuple[Index, ...], access: Access
) -> tuple[Index, ...] | None:
    """The written strides in elements; None where there are none, or where they are those of dense rows."""
    node = fields.get("strides")
    if node is None:
        return None
    items = reading.items(node, fields, "strides")
    if len(items) != len(shape):
        reading.fail(
            SHAPE_MISMATCH, node, f"`strides` of `{name}` has {len(items)} entries, its shape has {len(shape)}",
            label=f"{len(items)} for {len(shape)}", helps=["write one stride per dimension, in elements"],
        )  # fmt: skip
    found = tuple(map(reading.index, items))
    if found == dense(shape):
        return None
    for item, stride in zip(items, found, strict=True):
        low, high = bounds(stride)
        if (high is not None and high < 0) or low is None or low < 0:
            reading.fail(
                OUT_OF_RANGE, item, f"a stride of `{name}` is {_known(stride)}", label="0 or more elements",
                helps=["write how many elements stand from one to the next; symbols have `min` for a lower bound"],
            )  # fmt: skip
    _last(reading, name, items, dtype, shape, found)
    if access is not Access.IN and not are_distinct(shape, found):
        _overlap(reading, name, node, shape, found, access)
    return found


def _known(stride: Index) -> str:
    if isinstance(stride, int):
        return str(stride)
    low = bounds(stride)[0]
    return f"`{index_text(stride)}`, which is {'of unknown size' if low is None else f'at least {low}'}"


def _last(
    reading: Reading, name: str, items: list[Node], dtype: DType, shape: tuple[Index, ...], found: tuple[Index, ...]
) -> None:
    if found[-1] == 1 or shape[-1] == 1:
        return
    gap = f"{found[-1] * dtype.bytes} B" if isinstance(found[-1], int) else f"{index_text(found[-1])} elements"
    reading.fail(
        SPREAD_ELEMENTS,
        items[-1],
        f"the elements of a row of `{name}` stand {gap} apart; a row of a copy is {dtype.bytes} B to 2097151 B in one "
        "piece",
        label="the last stride is 1",
        helps=[
            f"give a copy with its rows dense: `{name}.contiguous()` in torch",
            f"or add a dimension of extent 1, `shape: [..., 1]` with `strides: [..., {index_text(found[-1])}, 1]`: "
            f"each element is then a row of {dtype.bytes} B, which takes {BLOCK_BYTES} B on chip; load it as "
            f"{dtype.block} columns of which one is `valid`",
        ],
    )


def _overlap(
    reading: Reading, name: str, node: Node, shape: tuple[Index, ...], found: tuple[Index, ...], access: Access
) -> None:
    static = all(isinstance(n, int) for n in (*shape, *found))
    extents, strides = (", ".join(map(index_text, items)) for items in (shape, found))
    reading.fail(
        OVERLAPPING,
        node,
        f"elements of the `{access.value}` tensor `{name}` {'share' if static else 'may share'} memory: shape "
        f"[{extents}] with strides [{strides}]",
        label="written at two indices, one place" if static else "not known to be apart",
        helps=[
            "make each stride at least as large as all that the dimensions inside it reach over",
            *([] if static else ["give the symbols bounds that show it: `P: {min: 128}` for rows of 128 elements"]),
            "only an `in` tensor may have elements that overlap",
        ],
        fixes=list(_bounded(shape, found)),
    )


def _bounded(shape: tuple[Index, ...], found: tuple[Index, ...]) -> Iterator[Repair]:
    """A lower bound of the one symbol that is the distance of dense rows of a constant extent."""
    pitches = [stride for stride in found[:-1] if not isinstance(stride, int)]
    cols = shape[-1]
    if len(pitches) == 1 and pitches[0] == found[-2] and isinstance(cols, int) and found[-1] == 1:
        name = index_text(pitches[0])
        if name.isidentifier():
            yield Repair("set", None, ("symbols", name, "min"), cols, title=f"write `min: {cols}` for `{name}`")

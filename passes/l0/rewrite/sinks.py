"""Where the accumulator of a tile goes: to GM by the store behind the matmul, or into a tile of L1."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.ir.expr import add
from pypto_spec.ir.nodes import Attr, Op, Value
from pypto_spec.ir.types import TileType
from pypto_spec.passes.l0.rewrite.grid import Sink
from pypto_spec.passes.l0.rewrite.windows import Part
from pypto_spec.passes.l0.rewrite.writer import Values, Writer


def can_be_cut(store: Op) -> bool:
    """Whether a store writes rows and columns of the tile as rows and columns of the tensor."""
    kind = store.operands["from"].type
    assert isinstance(kind, TileType)
    shape = store.attrs.get("shape")
    if not isinstance(shape, tuple):
        return len(kind.shape) == 2 and len(_at(store)) >= 2
    return len(shape) >= 2 and tuple(shape[-2:]) == kind.shape and all(n == 1 for n in shape[:-2])


def _at(store: Op) -> tuple[Attr, ...]:
    at = store.attrs["at"]
    assert isinstance(at, tuple)
    return at


def to_tensor(store: Op, operands: Mapping[str, Value]) -> Sink:
    """The store of a tile of the output to its place in the tensor; `operands` are the store's, brought up to date."""
    at = store.attrs["at"]
    assert isinstance(at, tuple)
    shape = store.attrs.get("shape")

    def sink(writer: Writer, acc: Value, rows: Part, cols: Part, carried: Values) -> Values:
        attrs = dict(store.attrs)
        attrs["at"] = (*at[:-2], add(at[-2], rows.start), add(at[-1], cols.start))
        if isinstance(shape, tuple):
            attrs["shape"] = (*shape[:-2], rows.extent, cols.extent)
        given = {**operands, "from": acc}
        scales = operands.get("scales")
        if scales is not None:
            given["scales"] = _columns(writer, scales, cols)
        writer.body.append(
            Op(defn=store.defn, operands=given, attrs=attrs, results=(), loc=store.loc, allow=store.allow)
        )
        return carried

    return sink


def _columns(writer: Writer, scales: Value, cols: Part) -> Value:
    """The scales of some columns; one row in L1 is a row of bytes, and a window of it a view."""
    kind = scales.type
    assert isinstance(kind, TileType)
    if kind.cols == cols.extent:
        return scales
    return writer.op("slice", {"x": scales}, {"at": (0, cols.start), "shape": (1, cols.extent)}, scales.name)


def to_tile(name: str, relu: bool) -> Sink:
    """The accumulator as a window of a tile in L1, which is carried from tile to tile."""
    more: dict[str, Attr] = {"relu": True} if relu else {}

    def sink(writer: Writer, acc: Value, rows: Part, cols: Part, carried: Values) -> Values:
        attrs: dict[str, Attr] = {"at": (rows.start, cols.start), **more}
        return (writer.op("assemble", {"target": carried[0], "x": acc}, attrs, name),)

    return sink

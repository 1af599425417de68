"""Which elements of its tensor a `load` or `store` touches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pypto_spec.ir.expr import Index, Sym, evaluate
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.ir.types import TileType


class Window(NamedTuple):
    """Along each axis of a tensor where it starts, and how many elements it has from there.

    Not `exact`: a part of it is touched, it is not said which (of a tile that is valid in part, cut in other axes).
    """

    tensor: Value
    at: tuple[Index, ...]
    extents: tuple[Index, ...]
    exact: bool

    def numbers(self, values: Mapping[Sym, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """First elements and extents of what is touched; KeyError where that is not known."""
        if not self.exact:
            raise KeyError("valid")
        return tuple(evaluate(n, values) for n in self.at), tuple(evaluate(n, values) for n in self.extents)


def window_of(op: Op) -> Window:
    """The window of a `load` or `store`."""
    at, shape = op.attrs["at"], op.attrs.get("shape")
    assert isinstance(at, tuple) and (shape is None or isinstance(shape, tuple))
    if op.name == "load":
        valid = op.attrs.get("valid") or shape
        assert isinstance(valid, tuple)
        return Window(op.operands["from"], at, valid, exact=True)
    tile = op.operands["from"].type
    assert isinstance(tile, TileType)
    extents: tuple[Index, ...] = shape or tile.valid or tile.shape
    extents = (*(1,) * (len(at) - len(extents)), *extents[max(0, len(extents) - len(at)) :])
    exact = shape is None or tile.valid is None or tile.valid == tile.shape
    return Window(op.operands["to"], at, extents, exact)

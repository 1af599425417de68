"""Which windows of its outputs each block of a launch stores, found by walking its loops without computing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from pypto_spec.golden.meaning import Machine
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Call, For, Grid, Jump, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import TileType
from pypto_spec.ops.window import place_valid, place_window


@dataclass(frozen=True, slots=True)
class Window:
    """A window of an output: its first index and its extents."""

    tensor: str
    at: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def part(self) -> tuple[slice, ...]:
        """The window as slices."""
        return tuple(slice(a, a + n) for a, n in zip(self.at, self.shape, strict=True))

    @property
    def size(self) -> int:
        """Its elements."""
        return prod(self.shape)


@dataclass(slots=True)
class _Walk(Machine):
    """A run of one region in which stores only say where they go."""

    found: list[Window] = field(default_factory=list)

    def _op(self, op: Op) -> None:
        if op.defn.effects != "writes_gm":
            return
        tensor, kind = op.operands["to"], op.operands["from"].type
        assert isinstance(kind, TileType)
        at = tuple(self._number(i) for i in _indices(op, "at"))
        written = _indices(op, "shape")
        shape = tuple(map(self._number, written)) if written else place_window(kind.shape, len(at))
        assert shape is not None, "the store was inferred"
        valid = [self._number(n) for n in kind.valid or kind.shape]
        extents = tuple(map(self._number, place_valid(valid, kind.shape, shape)))
        if prod(extents):
            self.found.append(Window(tensor.name, at, extents))

    def _for(self, loop: For) -> None:
        if loop.numbers or any(_matters(s) for s in statements(loop.body)):
            super(_Walk, self)._for(loop)

    def _read(self, value: Value) -> Any:
        return None

    def _write(self, value: Value, content: Any) -> None:
        return None


def _indices(op: Op, field_: str) -> tuple[Any, ...]:
    found = op.attrs.get(field_, ())
    assert isinstance(found, tuple)
    return found


def _matters(stmt: Stmt) -> bool:
    """Whether a loop with this statement in it has to be walked."""
    return isinstance(stmt, Jump | Call) or (isinstance(stmt, Op) and stmt.defn.effects == "writes_gm")


def only_launch(program: Program) -> tuple[Region, Grid | None] | None:
    """The region of a program that is one launch, and its grid; None where there are several launches."""
    grid: Grid | None = None
    body = program.body
    if len(body) == 1 and isinstance(body[0], Grid):
        grid = body[0]
        body = grid.body
    if len(body) != 1 or not isinstance(body[0], Region):
        return None
    return body[0], grid


def stores(
    program: Program, values: Mapping[Sym, int], scalars: Mapping[Value, Any], blocks: int, which: Iterable[int]
) -> dict[int, list[Window]]:
    """The windows that some blocks of the only launch store, in order, where it has so many `blocks`."""
    launch = only_launch(program)
    assert launch is not None
    region, grid = launch
    walk = _Walk(program, dict.fromkeys(program.tensors), scalars, indices=dict(values))
    found: dict[int, list[Window]] = {}
    for block in which:
        if grid is not None:
            walk.indices[grid.index], walk.indices[grid.blocks_symbol] = block, blocks
        walk.found = []
        walk._block(region.body)
        found[block] = walk.found
    return found

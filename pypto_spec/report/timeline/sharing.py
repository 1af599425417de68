"""Which loads of a launch find their bytes in L2, because another core that runs at once reads the same ones.

Blocks that run side by side are taken to be at the same place of the program. What each of them loads there is told by
the first iteration of all loops: as many windows as are different come from GM, the others from L2. Where a window
depends on what is not known, each core counts as one with bytes of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Index, Sym, evaluate
from pypto_spec.ir.nodes import Branch, Control, For, Grid, If, Op, Region, Stmt
from pypto_spec.ir.rewrite import ops

Window = tuple[str, tuple[int, ...]]
"""A tensor's name, and the first element of a window of it."""


def readers(region: Region, grid: Grid | None, values: Mapping[Sym, int], active: int) -> dict[int, int]:
    """For each load, by its place among the region's ops: how many of `active` cores have bytes of their own."""
    places = {id(op): number for number, op in enumerate(ops(region.body))}
    found: dict[int, set[Window]] = {}
    unknown: set[int] = set()
    for block in range(active):
        known = dict(values)
        if grid is not None:
            known[grid.index] = block
        for op, window in _windows(region.body, known):
            if window is None:
                unknown.add(places[id(op)])
            else:
                found.setdefault(places[id(op)], set()).add(window)
    return {place: len(windows) for place, windows in found.items() if place not in unknown}


def launched(body: Sequence[Control], grid: Grid | None = None) -> Iterator[tuple[Region, Grid | None]]:
    """The regions of a program, each with the grid it is launched on."""
    for node in body:
        if isinstance(node, Region):
            yield node, grid
        elif isinstance(node, Branch):
            yield from launched((*node.then, *node.other), grid)
        else:
            yield from launched(node.body, node if isinstance(node, Grid) else grid)


def _windows(body: Sequence[Stmt], known: dict[Sym, int]) -> Iterator[tuple[Op, Window | None]]:
    """The loads of the first iterations, each with its window, None where that is not known."""
    for stmt in body:
        if isinstance(stmt, Op):
            if stmt.defn.effects == "reads_gm":
                yield stmt, _window(stmt, known)
        elif isinstance(stmt, For):
            _note(known, stmt.index, stmt.start)
            for number in stmt.numbers:
                _note(known, number.arg, number.init)
            yield from _windows(stmt.body, known)
            for number in stmt.numbers:
                known.pop(number.result, None)
        elif isinstance(stmt, If):
            yield from _arms(stmt, known)


def _arms(branch: If, known: dict[Sym, int]) -> Iterator[tuple[Op, Window | None]]:
    """The loads of the arm that is taken; of both, unknown, where that is not known."""
    try:
        taken = holds(branch.condition, known)
    except KeyError:
        yield from ((op, None) for op in ops((*branch.then, *branch.other)) if op.defn.effects == "reads_gm")
        for number in branch.numbers:
            known.pop(number.result, None)
        return
    yield from _windows(branch.then if taken else branch.other, known)
    for number in branch.numbers:
        _note(known, number.result, number.then if taken else number.other)


def _note(known: dict[Sym, int], symbol: Sym, value: Index) -> None:
    try:
        known[symbol] = _number(value, known)
    except KeyError:
        known.pop(symbol, None)


def _window(op: Op, known: Mapping[Sym, int]) -> Window | None:
    at = op.attrs["at"]
    assert isinstance(at, tuple)
    try:
        return op.operands["from"].name, tuple(_number(index, known) for index in at)
    except KeyError:
        return None


def _number(index: Index, known: Mapping[Sym, int]) -> int:
    return index if isinstance(index, int) else evaluate(index, known)

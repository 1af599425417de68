"""The order of the statements in a pipeline's body: loads first, then each stage's compute and its stores.

What empties an accumulator stays where it stands, so that the next product may take its place. Where two accumulators
take turns, stages go in pairs: the products of both, then what empties them.

A stable topological order. What must stay in order: a value and its uses; accesses to GM that may share an element and
accesses to a buffer that may share a byte, if one writes; what people see; anything and a flag or barrier. A copy that
has to do with fewer buffers than there are stages loads only when the stage whose buffer it takes over is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from pypto_spec.ir.arguments import compared, indices_of
from pypto_spec.ir.expr import Expr, Index, Sym, bounds, sub, symbols
from pypto_spec.ir.nodes import For, If, Op, Stage, Stmt, Value
from pypto_spec.ir.opdef import issue_pipe
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import Memory, TensorType, TileType
from pypto_spec.passes.memory.uses import entering, leaving
from pypto_spec.passes.memory.written import never_equal

LOADS = frozenset({"mte1", "mte2"})
"""Pipes that bring operands nearer to where they are used."""

_Rank = tuple[int, tuple[int, ...], int, int]
"""Loads before the rest, the stage, compute before stores, the place so far."""

Depths = Mapping[tuple[Memory, int], int]
"""Buffers that the stages of a group share in a memory, where these are fewer than the stages."""


@dataclass(frozen=True, slots=True)
class _Access:
    """A part of a tensor or buffer: the tensor's window, or the buffer's slot; None where any part may be meant."""

    write: bool
    atomic: bool = False
    window: tuple[tuple[Index, int], ...] | None = None
    slot: Index | None = None

    def meets(self, other: _Access) -> bool:
        """Whether the two have to stay in order."""
        if not (self.write or other.write) or (self.atomic and other.atomic):
            return False
        if self.window is not None and other.window is not None:
            return not any(_apart(a, b) for a, b in zip(self.window, other.window, strict=True))
        return self.slot is None or other.slot is None or not never_equal(self.slot, other.slot)


def _apart(first: tuple[Index, int], second: tuple[Index, int]) -> bool:
    """Whether two extents of one axis share nothing for certain."""
    low, high = bounds(sub(second[0], first[0]))
    return (low is not None and low >= first[1]) or (high is not None and high <= -second[1])


@dataclass(slots=True)
class _Node:
    """One statement of the body, with everything in it."""

    stmt: Stmt
    key: tuple[int, tuple[int, ...], int]
    reads: set[Value | Sym] = field(default_factory=set)
    makes: set[Value | Sym] = field(default_factory=set)
    touches: dict[Value | str, list[_Access]] = field(default_factory=dict)
    shows: bool = False
    fence: bool = False

    def touch(self, place: Value | str, access: _Access) -> None:
        self.touches.setdefault(place, []).append(access)


def stage_of(stmt: Stmt) -> tuple[int, ...]:
    """The copies that a statement belongs to, those of the outermost pipeline first."""
    found = [tuple(stage for _, stage in reversed(op.stages)) for op in _ops(stmt)]
    return min(found, default=())


def _ops(stmt: Stmt) -> Iterator[Op]:
    return (s for s in statements((stmt,)) if isinstance(s, Op))


def _is_load(stmt: Stmt) -> bool:
    return isinstance(stmt, Op) and issue_pipe(stmt) in LOADS and bool(stmt.results)


def _key(stmt: Stmt, paired: bool, stays: Callable[[Op], bool]) -> tuple[int, tuple[int, ...], int]:
    stages = stage_of(stmt)
    if isinstance(stmt, Op) and _is_load(stmt) and not stays(stmt):
        return 0, stages, 0
    drains = isinstance(stmt, Op) and issue_pipe(stmt) == "fix"
    if paired and stages:
        return 1, (*stages[:-1], stages[-1] // 2), int(drains)
    stores = isinstance(stmt, Op) and stmt.defn.effects == "writes_gm" and not drains
    return 1, stages, int(stores)


def _stays(body: Sequence[Stmt]) -> Callable[[Op], bool]:
    """Which operands of the cube are not brought to L0 before everything else, because there is no room for all.

    L0 holds a few blocks, and a loop in the body, or a pipeline that was written out in it, fills it by itself.
    """
    loops = any(isinstance(s, For) for s in body)
    own = min((len(s.stages) for s in body if isinstance(s, Op) and s.stages), default=0)
    return lambda op: issue_pipe(op) == "mte1" and (loops or len(op.stages) > own)


def _node(stmt: Stmt, paired: bool, stays: Callable[[Op], bool]) -> _Node:
    made = _Node(stmt, _key(stmt, paired, stays))
    for inner in statements((stmt,)):
        made.reads.update((*entering(inner), *leaving(inner)))
        made.reads.update(s for index in _indices(inner) if isinstance(index, Expr) for s in symbols(index))
        made.makes.update(_made(inner))
        if isinstance(inner, Op):
            _touches(inner, made)
        elif not isinstance(inner, For | If):
            made.fence = True
    return made


def _indices(stmt: Stmt) -> Iterator[Index]:
    if isinstance(stmt, For):
        yield from (stmt.start, stmt.stop, stmt.step)
        for number in stmt.numbers:
            yield from (number.init, number.yielded)
        if stmt.condition is not None:
            yield from compared(stmt.condition)
    elif isinstance(stmt, If):
        yield from compared(stmt.condition)
        for picked in stmt.numbers:
            yield from (picked.then, picked.other)
    else:
        yield from indices_of(stmt)


def _made(stmt: Stmt) -> Iterator[Value | Sym]:
    if isinstance(stmt, Op):
        yield from stmt.results
    elif isinstance(stmt, For):
        for carry in stmt.carries:
            yield from (carry.arg, carry.result)
        for number in stmt.numbers:
            yield from (number.arg, number.result)
    elif isinstance(stmt, If):
        yield from (p.result for p in stmt.phis)
        yield from (n.result for n in stmt.numbers)


def _touches(op: Op, node: _Node) -> None:
    """What an op touches besides the values it makes: GM, and buffers that are chosen already."""
    node.shows = node.shows or op.defn.effects == "shows"
    for name, value in op.operands.items():
        if isinstance(value.type, TensorType):
            writes = op.defn.effects == "writes_gm" and name == "to"
            node.touch(value, _Access(writes, op.attrs.get("atomic", "none") != "none", _window(op, value)))
        elif value.buffer is not None:
            node.touch(value.buffer.buffer, _Access(False, slot=value.buffer.slot))
    if op.defn.role != "view":
        for value in op.results:
            if value.buffer is not None:
                node.touch(value.buffer.buffer, _Access(True, slot=value.buffer.slot))
    for ref in op.scratch:
        node.touch(ref.buffer, _Access(True, slot=ref.slot))


def _window(op: Op, tensor: Value) -> tuple[tuple[Index, int], ...] | None:
    """Start and extent along each axis of what a load or store can touch at most; None where that is not known."""
    tile = op.result if op.defn.effects == "reads_gm" else op.operands.get("from")
    at, shape = op.attrs.get("at"), op.attrs.get("shape")
    if tile is None or not isinstance(at, tuple) or not isinstance(tile.type, TileType):
        return None
    extents = shape if isinstance(shape, tuple) else tile.type.shape
    rank = len(at)
    assert isinstance(tensor.type, TensorType)
    if tensor.type.pitches is not None or len(extents) > rank:
        return None
    found: list[tuple[Index, int]] = []
    for start, extent in zip(at, ((1,) * (rank - len(extents)) + tuple(extents)), strict=True):
        most = bounds(extent)[1]
        if most is None:
            return None
        found.append((start, most))
    return tuple(found)


def _edges(nodes: Sequence[_Node]) -> Iterator[tuple[int, int]]:
    """Pairs of statements that have to stay in order."""
    makers: dict[Value | Sym, int] = {}
    touched: dict[Value | str, list[tuple[int, list[_Access]]]] = {}
    shown: int | None = None
    fence = -1
    for number, node in enumerate(nodes):
        yield from ((makers[name], number) for name in node.reads if name in makers)
        makers.update(dict.fromkeys(node.makes, number))
        for place, accesses in node.touches.items():
            earlier = touched.setdefault(place, [])
            for other, others in earlier:
                if any(a.meets(b) for a in others for b in accesses):
                    yield other, number
            earlier.append((number, accesses))
        if node.shows:
            if shown is not None:
                yield shown, number
            shown = number
        if node.fence:
            yield from ((other, number) for other in range(fence + 1, number))
            fence = number
        elif fence >= 0:
            yield fence, number


def _held_back(nodes: Sequence[_Node], depths: Depths) -> Iterator[tuple[int, int]]:
    """Pairs of a statement and the load that takes its stage's buffer over."""
    by_stage: dict[tuple[Stage, ...], list[int]] = {}
    for number, node in enumerate(nodes):
        for copies in {op.stages[place:] for op in _ops(node.stmt) for place in range(len(op.stages))}:
            by_stage.setdefault(copies, []).append(number)
    for number, node in enumerate(nodes):
        if not _is_load(node.stmt):
            continue
        assert isinstance(node.stmt, Op)
        kind = node.stmt.result.type
        assert isinstance(kind, TileType) and kind.memory is not None
        for place, (group, stage) in enumerate(node.stmt.stages):
            depth = depths.get((kind.memory, group))
            if depth is not None:  # the same copy of all pipelines around
                before = ((group, stage - depth), *node.stmt.stages[place + 1 :])
                yield from ((other, number) for other in by_stage.get(before, ()))


def ordered(
    body: tuple[Stmt, ...], depths: Depths | None = None, *, lazy: bool = False, paired: bool = False
) -> tuple[Stmt, ...]:
    """The body in its canonical order; as it is where what the statements ask for goes round in a circle.

    `depths` holds loads back where stages share buffers. `paired` lets the accumulators of two stages live together.
    `lazy` puts each load right before its first use: what a loop without stages would do, for memories in which nothing
    else fits.
    """
    stays = _stays(body)
    nodes = [_node(stmt, paired, stays) for stmt in body]
    waits: list[set[int]] = [set() for _ in nodes]
    after: list[list[int]] = [[] for _ in nodes]
    for first, then in (*_edges(nodes), *_held_back(nodes, depths or {})):
        if first not in waits[then]:
            waits[then].add(first)
            after[first].append(then)
    ranks: list[_Rank] = [(*node.key, 2 * number + 1) for number, node in enumerate(nodes)]
    if lazy:
        for number in reversed(range(len(nodes))):
            if _is_load(nodes[number].stmt) and after[number]:
                tier, stage, sub, place = min(ranks[n] for n in after[number])
                ranks[number] = (tier, stage, sub, place - 1)
    left = [len(w) for w in waits]
    ready = [(ranks[n], n) for n in range(len(nodes)) if not left[n]]
    heapify(ready)
    made: list[Stmt] = []
    while ready:
        _, number = heappop(ready)
        made.append(nodes[number].stmt)
        for then in after[number]:
            left[then] -= 1
            if not left[then]:
                heappush(ready, (ranks[then], then))
    if len(made) < len(body) or all(a is b for a, b in zip(made, body, strict=True)):
        return body
    return tuple(made)

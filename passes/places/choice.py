"""The memory of every tile of a region, decided before anything is rewritten.

Values that are one tile by name (a carried value, what an `if` gives, a view and what it is a view of, what an op
changes in place) are one group, and live in one memory. Of a group, what is written counts first, then what an operator
fixes, then what the uses ask for, then `vec`. A use asks for the memory where its operator takes the operand; a load or
a created tile, which may be in several, goes where the way to its uses is shortest, and `vec` counts last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target, route


@dataclass(slots=True)
class Group:
    """Values in one memory: `fixed` by what is written or by an operator, `asked` for by uses, `open` to choose from.

    `bound` are the memories that its tiles, or copies of them, are used in.
    """

    fixed: Memory | None = None
    bound: set[Memory] = field(default_factory=set)
    asked: list[Memory] = field(default_factory=list)
    open: tuple[Memory, ...] | None = None


class Places:
    """The memory of each value of a region's body: `places[value]`."""

    def __init__(self, body: Sequence[Stmt], target: Target) -> None:
        self._target = target
        self._parent: dict[Value, Value] = {}
        self._groups: dict[Value, Group] = {}
        self._chosen: dict[Value, Memory] = {}
        found = list(statements(body))
        for stmt in found:
            self._join(stmt)
        for stmt in found:
            if isinstance(stmt, Op):
                self._made(stmt)
        for stmt in reversed(found):
            if isinstance(stmt, Op):
                self._asks(stmt)

    def __getitem__(self, value: Value) -> Memory:
        root = self._root(value)
        found = self._chosen.get(root)
        if found is None:
            found = self._chosen[root] = self._choose(self._group(value))
        return found

    def bound_for(self, value: Value) -> frozenset[Memory]:
        """The memories in which a tile, or a copy of it, is used."""
        return frozenset(self._group(value).bound)

    # -- groups ---------------------------------------------------------------------------------------------------

    def _root(self, value: Value) -> Value:
        while (parent := self._parent.get(value, value)) is not value:
            value = parent
        return value

    def _group(self, value: Value) -> Group:
        return self._groups.setdefault(self._root(value), Group())

    def _join(self, stmt: Stmt) -> None:
        for one, other in _alike(stmt):
            a, b = self._root(one), self._root(other)
            if a is not b:
                self._parent[b] = a

    def _made(self, op: Op) -> None:
        """What an op says of the memory of its result."""
        for result in op.results:
            kind = result.type
            if not isinstance(kind, TileType):
                continue
            group = self._group(result)
            written = op.attrs.get("memory")
            spaces = op.defn.spaces.get("into", ())
            known = kind.memory or (written if isinstance(written, Memory) else None)
            if known is None and len(spaces) == 1:
                known = spaces[0]
            if known is not None and group.fixed is None:
                group.fixed = known
            if known is None and group.open is None and op.defn.role in ("create", "move"):
                group.open = spaces

    def _asks(self, op: Op) -> None:
        """What an op asks of its operands; users come before what they use."""
        for name, value in op.operands.items():
            if not isinstance(value.type, TileType):
                continue
            spaces = op.defn.spaces.get(name, ())
            group = self._group(value)
            if len(spaces) == 1:
                group.asked.append(spaces[0])
                group.bound.add(spaces[0])
            elif op.results and op.defn.pipes:
                group.asked += _sources(op, self[op.result], spaces)
                group.bound |= self._group(op.result).bound | {self[op.result]}

    def _choose(self, group: Group) -> Memory:
        if group.fixed is not None:
            return group.fixed
        wanted = [m for m in group.asked if m is not Memory.VEC] or group.asked
        spaces = group.open or ()
        for memory in wanted:
            if memory in spaces or not spaces:
                return memory
            near = [(len(way), n, s) for n, s in enumerate(spaces) if (way := self._way(s, memory)) is not None]
            if near:
                return min(near)[2]
        return spaces[0] if spaces else Memory.VEC

    def _way(self, start: Memory, end: Memory) -> tuple[Memory, ...] | None:
        way = route(self._target, start, end)
        return None if way is None or Memory.GM in way else way


def _alike(stmt: Stmt) -> Iterator[tuple[Value, Value]]:
    """Pairs of values that a statement makes one tile."""
    if isinstance(stmt, For):
        for carry in stmt.carries:
            for other in (carry.init, carry.yielded, carry.result):
                if isinstance(other.type, TileType):
                    yield carry.arg, other
    elif isinstance(stmt, If):
        for phi in stmt.phis:
            if isinstance(phi.result.type, TileType):
                yield phi.result, phi.then
                yield phi.result, phi.other
    elif isinstance(stmt, Op) and stmt.results:
        source = None
        if stmt.defn.role == "view":
            source = next(iter(stmt.operands.values()))
        elif stmt.defn.reuses is not None:
            source = stmt.operands[stmt.defn.reuses]
        if source is not None and isinstance(source.type, TileType):
            yield stmt.result, source


def _sources(op: Op, end: Memory, spaces: tuple[Memory, ...]) -> list[Memory]:
    """From which memories an op that copies can bring what it makes."""
    found: Mapping[tuple[Memory, Memory], object] = op.defn.pipes
    return [s for s in spaces if (s, end) in found]

"""Where tiles stand on chip, and from which line to which, as the memory map knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from pypto_spec.convert.instructions import index_text
from pypto_spec.editor.facts.model import Key, Range, Sharer, Spot
from pypto_spec.editor.facts.origin import Origins, place
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Buffer, For, If, Op, Program, Region, Value
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.ir.types import TileType
from pypto_spec.records import dataclass
from pypto_spec.report.map.lives import Life, Lives
from pypto_spec.report.map.places import Places, overlap, scratch_name

SHARERS = 6
"""The most that are listed beside a tile."""


@dataclass(slots=True)
class _Stand:
    """All values that one origin has in one place: `key` of those that the text binds, else a `label` and its line."""

    key: Key | None
    label: str
    line: int
    memory: str
    ranges: tuple[Range, ...]
    like: tuple[Key, ...] = ()
    """Bindings that it stands for where nothing else does, see `Origins.like`."""
    values: list[Value] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def spots_of(program: Program, origins: Origins) -> dict[Key, tuple[Spot, ...]]:
    """The places of every binding; those of values that stand for none are told beside them only."""
    found: dict[Key, list[Spot]] = {}
    like: dict[Key, list[Spot]] = {}
    buffers = {b.name: b for b in program.buffers}
    for region in regions(program.body):
        stands = _Stands(region, program, buffers, origins)
        for stand in stands.made.values():
            if stand.key is not None:
                found.setdefault(stand.key, []).append(stands.spot(stand))
            for key in stand.like:
                like.setdefault(key, []).append(stands.spot(stand))
    return {key: tuple(spots) for key, spots in (like | found).items()}


class _Stands:
    """The stands of one region."""

    def __init__(self, region: Region, program: Program, buffers: Mapping[str, Buffer], origins: Origins) -> None:
        self.origins = origins
        self.buffers = buffers
        self.places = Places(buffers, program.target.precision)
        self.lives = Lives(region.body)
        self.lines = _lines(self.lives)
        self.made: dict[tuple[object, ...], _Stand] = {}
        self.names = {key[1] for key in origins.bindings} | {t.name for t in (*program.tensors, *program.created)}
        self.handed = dict(_handed(region))
        self.gone = origins.gone(id(place.stmt.loc) for place in self.lives.places if place.kind == "op")
        inner = self._inner()
        for life in self.lives.of.values():
            self._value(life, inner)
        for area in self.lives.scratch:
            line = self.lines[area.step]
            label = f"{scratch_name(area)} in line {line}"
            ranges = self.places.scratch(area)
            memory = self._memory(area.ref.buffer)
            self._stand(None, label, line, memory, ranges, (label,)).lines.append(line)
        self.by_memory: dict[str, list[_Stand]] = {}
        for stand in self.made.values():
            self.by_memory.setdefault(stand.memory, []).append(stand)

    def _inner(self) -> set[Value]:
        """Results that only go on into the next operator of the same statement: steps on the way to what it binds."""
        found: set[Value] = set()
        for item in self.lives.places:
            if item.kind == "op" and isinstance(item.stmt, Op):
                key = self.origins.key(item.stmt.loc, item.stmt.results[0].name) if item.stmt.results else None
                for value in item.stmt.operands.values():
                    life = self.lives.of.get(value)
                    if life is not None and life.op is not None and life.op.loc is item.stmt.loc and key is not None:
                        found.add(value)
        return found

    def _value(self, life: Life, inner: set[Value]) -> None:
        value = life.value
        assert value.buffer is not None
        key: Key | None = None
        like: tuple[Key, ...] = ()
        if value not in inner:
            key, like = self._keys(value)
        line = self.lines[life.start]
        here = self.origins.of_loc.get(id(life.op.loc), ()) if life.op is not None else ()
        name = self._name(split(here[0][1] if here else value.name)[0])
        ranges = self.places.value(value)
        mark = (value.buffer.buffer, str(value.type)) if key is not None and not ranges else (str(value.type),)
        stand = self._stand(key, name, line, self._memory(value.buffer.buffer), ranges, mark)
        stand.values.append(value)
        stand.like = stand.like or like
        stand.lines += [line, self.lines[life.end], *(self.lines[step] for step in life.uses)]

    def _keys(self, value: Value) -> tuple[Key | None, tuple[Key, ...]]:
        """The binding that a value stands for, or those that it may stand for.

        What a loop carries is what it yields, and a view that stands for nothing what it is a view of.
        """
        seen = {value}
        while (source := self.handed.get(value)) is not None and source not in seen:
            seen.add(source)
            value = source
        life = self.lives.of.get(value)
        if life is None or life.op is None:
            return None, ()
        key = self.origins.key(life.op.loc, value.name)
        if key is not None:
            return key, ()
        like = self.origins.like(life.op, value, self.gone)
        if not like and life.op.defn.role == "view":
            return self._keys(next(iter(life.op.operands.values())))
        return None, like

    def _name(self, name: str) -> str:
        """The author's name in one that passes made of it, such as `x` in `x_l1_left`."""
        known = name
        while known not in self.names and "_" in known:
            known = known.rpartition("_")[0]
        return known if known in self.names else name

    def _memory(self, buffer: str) -> str:
        known = self.buffers.get(buffer)
        return known.memory.value if known is not None else ""

    def _stand(
        self,
        key: Key | None,
        label: str,
        line: int,
        memory: str,
        ranges: tuple[Range, ...],
        mark: tuple[object, ...],
    ) -> _Stand:
        where = (key or (label, line), memory, ranges, *mark)
        known = self.made.get(where)
        if known is None:
            known = self.made[where] = _Stand(key, label, line, memory, ranges)
        return known

    def spot(self, stand: _Stand) -> Spot:
        value = stand.values[0]
        kind = value.type
        assert isinstance(kind, TileType) and value.buffer is not None
        slot = value.buffer.slot
        return Spot(
            type=str(kind),
            valid=valid_text(kind),
            memory=stand.memory or (kind.memory.value if kind.memory is not None else ""),
            layout=kind.order.value,
            bytes=kind.bytes,
            ranges=stand.ranges,
            lines=(min(stand.lines), max(stand.lines)),
            buffer=value.buffer.buffer,
            slot="" if slot is None else index_text(slot),
            values=tuple(v.name for v in stand.values),
            shares=tuple(self._shares(stand)),
        )

    def _shares(self, mine: _Stand) -> Iterable[Sharer]:
        found: dict[tuple[str, int], Sharer] = {}
        own = split(mine.key[1])[0] if mine.key is not None else mine.label
        for other in self.by_memory[mine.memory]:
            name = other.key[1] if other.key is not None else other.label
            if split(name)[0] == own or overlap(mine.ranges, other.ranges) is None:
                continue
            found.setdefault((name, other.line), Sharer(name, other.line))
            if len(found) == SHARERS:
                break
        return sorted(found.values(), key=lambda s: s.line)


def _handed(region: Region) -> Iterator[tuple[Value, Value]]:
    """What loops carry and ifs merge, each with the value that it is next."""
    for stmt in statements(region.body):
        if isinstance(stmt, For):
            for carry in stmt.carries:
                yield carry.arg, carry.yielded
                yield carry.result, carry.yielded
        elif isinstance(stmt, If):
            yield from ((phi.result, phi.then) for phi in stmt.phis)


def valid_text(kind: object) -> str:
    """The extents that are defined, where they are not the shape."""
    if not isinstance(kind, TileType) or kind.valid is None or kind.valid == kind.shape:
        return ""
    return f"[{', '.join(map(index_text, kind.valid))}]"


def _lines(lives: Lives) -> list[int]:
    """The line of each step, from 1; the end of a loop or branch is the last line in it."""
    lines = [0]
    heads: list[int] = []
    for number, item in enumerate(lives.places, 1):
        line = place(item.stmt.loc)[0]
        if item.kind == "end":
            line = max(lines[heads.pop() :], default=line)
        elif item.kind != "op":
            heads.append(number)
        lines.append(line)
    return lines

"""What the author decided about buffers is checked here, before the compiler builds on it.

Values: going through a region backwards with the values that are still needed, no op may write its result where one of
them lives, except over an operand that it may write over (`in_place`). Views and carried values write nothing. Sizes:
a tile ends inside its slot. Addresses: aligned, inside the memory, and apart from buffers that live at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd

from pypto_spec.diagnostics.model import Label, Repair
from pypto_spec.diagnostics.rules.memory import BAD_ADDRESS, BUFFER_TOO_SMALL, OVERWRITTEN
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.expr import Index, Quot, bounds, sub
from pypto_spec.ir.nodes import Buffer, BufferRef, For, If, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TileType
from pypto_spec.passes.base import Context
from pypto_spec.passes.memory.grids import check_views, grids
from pypto_spec.passes.memory.ledger import size
from pypto_spec.passes.memory.lifetimes import Lifetimes, in_place

Live = dict[Value, Loc]
"""Values still needed, and where they are used next."""


def never_equal(a: Index, b: Index) -> bool:
    """Whether two indices are known to differ: by their bounds, or modulo the greatest common factor."""
    distance = sub(a, b)
    if isinstance(distance, int):
        return distance != 0
    low, high = bounds(distance)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return True
    if distance.const % gcd(*(factor for _, factor in distance.terms)):
        return True
    first, second = _remainder(a), _remainder(b)
    if first is None or second is None or first.by != second.by:
        return False
    apart = sub(first.value, second.value)
    return isinstance(apart, int) and apart % first.by != 0


def _remainder(index: Index) -> Quot | None:
    if isinstance(index, int) or index.const != 0 or len(index.terms) != 1:
        return None
    atom, factor = index.terms[0]
    return atom if factor == 1 and isinstance(atom, Quot) and atom.op == "%" else None


def apart(a: Value, b: Value) -> bool:
    """Whether two values of one buffer share no byte for certain."""
    first, second = a.buffer, b.buffer
    assert first is not None and second is not None
    if never_equal(first.slot or 0, second.slot or 0):
        return True
    assert isinstance(a.type, TileType) and isinstance(b.type, TileType)
    low, high = bounds(sub(second.offset, first.offset))
    return (low is not None and low >= a.type.bytes) or (high is not None and high + b.type.bytes <= 0)


def may_overwrite(op: Op, old: Value, new: Value) -> bool:
    """Whether `op` may write `new` over its operand `old`, which is not needed afterwards."""
    if old.buffer is None or new.buffer is None or old.buffer != new.buffer:
        return False
    plain = BufferRef(new.buffer.buffer)  # one place in one slot: which slot does not matter
    names = [n for n, v in op.operands.items() if v is old]
    moved = replace(old, buffer=plain)
    home = replace(new, buffer=plain)
    operands = dict.fromkeys(names, moved)
    results = tuple(home if v is new else v for v in op.results)
    return in_place(replace(op, operands=operands, results=results), plain.buffer, plain.buffer)


class _Region:
    """The values of one region in the buffers that are checked."""

    def __init__(self, region: Region, checked: Mapping[str, Buffer], context: Context) -> None:
        self.context = context
        self.checked = checked
        self.made: dict[Value, Op] = {v: op for op in ops(region.body) for v in op.results if self.watched(v)}
        if self.made:
            self.sizes()
            self.block(region.body, {})

    def watched(self, value: Value) -> bool:
        return value.buffer is not None and value.buffer.buffer in self.checked and isinstance(value.type, TileType)

    def sizes(self) -> None:
        for value, op in self.made.items():
            ref, kind = value.buffer, value.type
            assert ref is not None and isinstance(kind, TileType)
            buffer = self.checked[ref.buffer]
            if buffer.bytes is None or op.defn.role == "view":
                continue
            offset = bounds(ref.offset)[1] or 0
            if offset + kind.bytes <= buffer.bytes:
                continue
            what = f"a slot of `{buffer.name}`" if buffer.slots > 1 else f"`{buffer.name}`"
            more = f" from byte {offset} on" if offset else ""
            self.context.sink.report(
                BUFFER_TOO_SMALL,
                op.loc.field("buffer"),
                f"`{_name(value)}` {kind} takes {size(kind.bytes)}{more}, {what} has {size(buffer.bytes)}",
                label=f"{kind.bytes} B are put here",
                secondary=[Label(buffer.loc.field("bytes"), f"{buffer.bytes} B")],
                helps=[
                    f"write `bytes: {offset + kind.bytes}` or more, or leave `bytes` out: a slot is then as large as "
                    "its largest tile"
                ],
                fixes=[
                    _number(buffer, "bytes", offset + kind.bytes),
                    Repair("remove", buffer.loc.field("bytes"), ("bytes",), title="leave `bytes` out"),
                ],
                figures=[("needed_bytes", offset + kind.bytes), ("available_bytes", buffer.bytes)],
            )

    def block(self, body: Sequence[Stmt], live: Live) -> Live:
        """Check a block; `live` is what is needed behind it, the answer what is needed before it."""
        for stmt in reversed(body):
            if isinstance(stmt, Op):
                self.op(stmt, live)
            elif isinstance(stmt, For):
                live = self.loop(stmt, live)
            elif isinstance(stmt, If):
                live = self.branch(stmt, live)
        return live

    def op(self, op: Op, live: Live) -> None:
        results = [v for v in op.results if self.watched(v)]
        for result in results:
            live.pop(result, None)
        if op.defn.role != "view":
            for result in results:
                for value, use in live.items():
                    if self.meets(value, result):
                        self.report(op, result, value, use)
                for value in dict.fromkeys(op.operands.values()):
                    read = value not in live and self.watched(value) and self.meets(value, result)
                    if read and not may_overwrite(op, value, result):
                        self.report(op, result, value, None)
        for value in op.operands.values():
            if self.watched(value):
                live[value] = op.loc

    def meets(self, a: Value, b: Value) -> bool:
        assert a.buffer is not None and b.buffer is not None
        return a.buffer.buffer == b.buffer.buffer and not apart(a, b)

    def loop(self, loop: For, live: Live) -> Live:
        inner = dict(live)
        for carry in loop.carries:
            inner.pop(carry.result, None)
            if self.watched(carry.yielded):
                inner[carry.yielded] = loop.loc
        outside = self.used(loop.body) - set(self.bound(loop.body)) - {c.arg for c in loop.carries}
        for value in outside:
            inner.setdefault(value, loop.loc)
        before = self.block(loop.body, inner)
        for carry in loop.carries:
            before.pop(carry.arg, None)
            before.pop(carry.result, None)
        for carry in loop.carries:
            if self.watched(carry.init):
                before[carry.init] = loop.loc
        return before

    def branch(self, branch: If, live: Live) -> Live:
        arms: list[Live] = []
        for body, which in ((branch.then, "then"), (branch.other, "other")):
            inner = dict(live)
            for phi in branch.phis:
                inner.pop(phi.result, None)
                value = phi.then if which == "then" else phi.other
                if self.watched(value):
                    inner[value] = branch.loc
            arms.append(self.block(body, inner))
        return {**arms[1], **arms[0]}

    def used(self, body: Sequence[Stmt]) -> set[Value]:
        """Watched values that statements refer to, at whatever depth."""
        found: set[Value] = set()
        for stmt in body:
            if isinstance(stmt, Op):
                found.update(v for v in stmt.operands.values() if self.watched(v))
            elif isinstance(stmt, For):
                found |= self.used(stmt.body)
                found.update(v for c in stmt.carries for v in (c.init, c.yielded) if self.watched(v))
            elif isinstance(stmt, If):
                found |= self.used(stmt.then) | self.used(stmt.other)
                found.update(v for p in stmt.phis for v in (p.then, p.other) if self.watched(v))
        return found

    def bound(self, body: Sequence[Stmt]) -> Iterator[Value]:
        for stmt in body:
            if isinstance(stmt, Op):
                yield from stmt.results
            elif isinstance(stmt, For):
                yield from (v for c in stmt.carries for v in (c.arg, c.result))
                yield from self.bound(stmt.body)
            elif isinstance(stmt, If):
                yield from (p.result for p in stmt.phis)
                yield from self.bound(stmt.then)
                yield from self.bound(stmt.other)

    def report(self, op: Op, new: Value, old: Value, use: Loc | None) -> None:
        assert new.buffer is not None
        name = new.buffer.buffer
        first, second = _name(old), _name(new)
        labels: list[Label] = []
        made = self.made.get(old)
        if made is not None:
            labels.append(Label(made.loc.span, f"`{first}` is put in `{name}` here"))
        if use is not None and use.span != op.loc.span:
            labels.append(Label(use.span, f"`{first}` is needed here"))
        why = (
            f"`{first}` is still needed behind it" if use is not None
            else f"`{op.name}` may not write over `{first}`, which it reads"
        )  # fmt: skip
        buffer = self.checked[name]
        again = "in the same slot of" if buffer.slots > 1 else "in"
        self.context.sink.report(
            OVERWRITTEN,
            op.loc.field("buffer"),
            f"`{second}` would overwrite `{first}`: both are {again} the buffer `{name}`, and {why}",
            label=f"`{second}` is written over `{first}`",
            secondary=labels,
            helps=[
                f"put `{second}` in a buffer of its own, or in another slot of `{name}`",
                "or leave `buffer` out: the compiler then places the tile",
            ],
        )


def _name(value: Value) -> str:
    return value.name.split(".")[0]


def check_values(program: Program, context: Context, *, every: bool = False) -> None:
    """Report values that overwrite others and tiles larger than their buffers; `every`: the compiler's buffers too."""
    checked = {b.name: b for b in program.buffers if every or b.owner == "author"}
    if checked:
        for region in regions(program.body):
            _Region(region, checked, context)


def check_addresses(program: Program, context: Context) -> None:
    """Report written addresses that are misaligned, outside the memory, or taken by what lives at the same time."""
    check_views(program, context)
    asked = grids(program)
    buffers = {b.name: b for b in program.buffers if b.address is not None and b.bytes is not None}
    for name, buffer in list(buffers.items()):
        if _alone(buffer, asked.get(name, 1), context):
            del buffers[name]
    for region in regions(program.body) if buffers else ():
        lives = Lifetimes(region.body)
        here = sorted((b for b in buffers.values() if b.name in lives.of), key=lambda b: (b.memory.value, _range(b)))
        for number, first in enumerate(here):
            for second in here[number + 1 :]:
                if second.memory is not first.memory or _range(second)[0] >= _range(first)[1]:
                    break
                if together(first, second, lives):
                    _clash(first, second, context)


def together(first: Buffer, second: Buffer, lives: Lifetimes) -> bool:
    """Whether two buffers that share bytes may not; where one op turns one into the other, both start at one byte."""
    a, b = lives.of[first.name], lives.of[second.name]
    if a.start > b.end or b.start > a.end:
        return False
    return first.address != second.address or not lives.compatible(a, b)


def _range(buffer: Buffer) -> tuple[int, int]:
    assert buffer.address is not None and buffer.bytes is not None
    return buffer.address, buffer.address + buffer.bytes * buffer.slots


def _alone(buffer: Buffer, asked: int, context: Context) -> bool:
    """Report an address that is wrong whatever else is there, `asked` being a grid in bytes; whether it is."""
    memory = buffer.memory
    start, end = _range(buffer)
    unit, capacity = max(asked, context.target.address_alignment[memory]), context.target.capacity[memory]
    assert buffer.bytes is not None
    if start < 0 or end > capacity:
        context.sink.report(
            BAD_ADDRESS,
            buffer.loc.field("address"),
            f"the buffer `{buffer.name}` would take bytes {start} to {end} of `{memory.value}`, which has "
            f"{size(capacity)}",
            label=f"{size(end - start)} from here on",
            helps=["leave `address` out: the compiler then finds a place", *_lowest(capacity - (end - start), unit)],
            figures=[("start", start), ("end", end), ("available_bytes", capacity)],
            fixes=[_anywhere(buffer)],
        )
    elif start % unit:
        context.sink.report(
            BAD_ADDRESS,
            buffer.loc.field("address"),
            f"the buffer `{buffer.name}` would start at byte {start} of `{memory.value}`, which is not on its {unit} B "
            "grid",
            label=f"a multiple of {unit} is needed",
            helps=[f"write {start // unit * unit} or {(start // unit + 1) * unit}"],
            fixes=[_number(buffer, "address", (start // unit + 1) * unit), _anywhere(buffer)],
        )
    elif buffer.slots > 1 and buffer.bytes % unit:
        context.sink.report(
            BAD_ADDRESS,
            buffer.loc.field("bytes"),
            f"slots of {buffer.bytes} B would put slot 1 of `{buffer.name}` at byte {start + buffer.bytes} of "
            f"`{memory.value}`, which is not on its {unit} B grid",
            label=f"a multiple of {unit} is needed",
            helps=[f"write {(buffer.bytes // unit + 1) * unit}"],
            fixes=[_number(buffer, "bytes", (buffer.bytes // unit + 1) * unit)],
        )
    else:
        return False
    return True


def _lowest(last: int, unit: int) -> list[str]:
    return [f"or write at most {last // unit * unit}"] if last >= 0 else []


def _clash(first: Buffer, second: Buffer, context: Context) -> None:
    at, other = (first, second) if second.owner == "compiler" else (second, first)
    (a, b), (c, d) = _range(at), _range(other)
    context.sink.report(
        BAD_ADDRESS,
        at.loc.field("address"),
        f"the buffers `{at.name}` and `{other.name}` are in use at the same time and share bytes {max(a, c)} to "
        f"{min(b, d)} of `{at.memory.value}`",
        label=f"bytes {a} to {b}",
        secondary=[Label(other.loc.field("address"), f"`{other.name}`: bytes {c} to {d}")],
        helps=["leave `address` out where a place does not matter: the compiler then finds one"],
        figures=[("start", max(a, c)), ("end", min(b, d))],
        fixes=[_anywhere(at)],
    )


def _number(buffer: Buffer, key: str, value: int) -> Repair:
    return Repair("set", buffer.loc.field(key), (key,), value, title=f"write `{key}: {value}`")


def _anywhere(buffer: Buffer) -> Repair:
    return Repair("remove", buffer.loc.field("address"), ("address",), title="leave `address` out")

"""What the planner `ptoas` cannot make of an author's buffer with slots, and why.

Slots that take turns hold one type, are chosen by an index of the loop, and have one event each, which guards the slot
chosen first in an iteration. Each refusal names the declaration and the first of its reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Label, Repair, diagnose
from pypto_spec.diagnostics.rules.memory import SLOTS_REFUSED
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.expr import Expr, Index, to_text
from pypto_spec.ir.nodes import Buffer, For, If, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import ops, statements
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.memory.uses import Uses, entering, leaving
from pypto_spec.passes.sync.rotation import turning
from pypto_spec.records import dataclass

LEAST, MOST = 2, 16
"""Slots of one buffer."""
SPACES = (Memory.VEC, Memory.MAT, Memory.ACC)
"""Memories that have slots."""


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why, where it shows, and where the fact that conflicts with it stands."""

    text: str
    place: Span
    label: str
    other: Label | None = None


@dataclass(frozen=True, slots=True)
class _Tile:
    """A tile that the author put in the declaration."""

    value: Value
    op: Op
    region: Region

    @property
    def kind(self) -> TileType:
        assert isinstance(self.value.type, TileType)
        return self.value.type

    @property
    def name(self) -> str:
        return self.value.name.split(".")[0]

    @property
    def slot(self) -> Index | None:
        assert self.value.buffer is not None
        return self.value.buffer.slot

    def field(self, name: str) -> Span:
        return self.op.loc.field(name)


def refuse_declarations(program: Program, regions: Iterable[Region]) -> None:
    """Raise CompileError with one finding for each of the author's buffers that the planner cannot express."""
    declared = {b.name: b for b in program.buffers if b.owner == "author"}
    tiles: dict[str, list[_Tile]] = {}
    for region in regions if declared else ():
        for op in ops(region.body):
            for value in op.results:
                ref = value.buffer
                if ref is not None and ref.buffer in declared and isinstance(value.type, TileType):
                    tiles.setdefault(ref.buffer, []).append(_Tile(value, op, region))
    found: list[Diagnostic] = []
    for name, bound in tiles.items():
        reason = next(_reasons(declared[name], bound), None)
        if reason is not None:
            found.append(_refusal(declared[name], reason))
    if found:
        raise CompileError(found)


def _refusal(buffer: Buffer, reason: _Reason) -> Diagnostic:
    slots = f"{buffer.slots} slot{'s' * (buffer.slots != 1)}"
    labels = [Label(buffer.loc.span, f"`{buffer.name}`: {slots}")]
    if reason.other is not None and reason.other.span != reason.place:
        labels.append(reason.other)
    return diagnose(
        SLOTS_REFUSED,
        reason.place,
        f"the planner `ptoas` cannot let the slots of the buffer `{buffer.name}` take turns ({slots}): {reason.text}",
        label=reason.label,
        secondary=labels,
        helps=["plan with `target: {planner: pypto}`, which takes any slots, or change what the reason names"],
        fixes=[Repair("set", None, ("target", "planner"), "pypto", title="plan with `planner: pypto`")],
    )


def _reasons(buffer: Buffer, tiles: Sequence[_Tile]) -> Iterator[_Reason]:
    """Every reason against a declaration, the one that counts first."""
    for tile in tiles:
        if tile.slot is None:
            yield _Reason(f"`{tile.name}` takes the whole of it and chooses no slot", tile.field("buffer"), "no `slot`")
    first = tiles[0]
    if not LEAST <= buffer.slots <= MOST:
        yield _Reason(f"{LEAST} to {MOST} slots can", buffer.loc.field("slots"), f"{buffer.slots}", _put(first))
    yield from _indices(tiles)
    for tile in tiles[1:]:
        a, b = first.kind, tile.kind
        if (a.dtype, a.shape, a.layout, a.pitch) != (b.dtype, b.shape, b.layout, b.pitch):
            yield _Reason(
                f"its slots hold tiles of different types, `{first.name}` {a} and `{tile.name}` {b}",
                tile.field("buffer"), f"{b}", _put(first),
            )  # fmt: skip
    yield from _valid(tiles)
    if buffer.memory not in SPACES:
        names = ", ".join(f"`{m.value}`" for m in SPACES)
        yield _Reason(
            f"`{buffer.memory.value}` has no slots; {names} have",
            buffer.loc.field("memory"), "no slots there", _put(first),
        )  # fmt: skip
    yield from _phis(tiles)
    yield from _together(tiles)


def _put(tile: _Tile) -> Label:
    return Label(tile.op.loc.span, f"`{tile.name}` {tile.kind} is put in it here")


def _indices(tiles: Sequence[_Tile]) -> Iterator[_Reason]:
    for tile in tiles:
        slot = tile.slot
        if slot is not None and not isinstance(slot, int) and not _rotates(slot):
            yield _Reason(
                f"`{tile.name}` chooses slot `{to_text(slot)}`; a slot is a number, `i % N` or `(i + c) % N` of "
                "one loop",
                tile.field("slot"), "not a slot in turn",
            )  # fmt: skip


def _rotates(slot: Expr) -> bool:
    """Whether a slot is `(i + c) % N` of one loop index."""
    if slot.const != 0 or len(slot.terms) != 1:
        return False
    atom, factor = slot.terms[0]
    return factor == 1 and turning(atom) is not None


def _valid(tiles: Sequence[_Tile]) -> Iterator[_Reason]:
    first = tiles[0]
    for tile in tiles:
        valid = tile.kind.valid
        if valid is not None and any(not isinstance(n, int) for n in valid):
            text = ", ".join(map(to_text, valid))
            yield _Reason(
                f"how much of `{tile.name}` is valid is known at run time only, [{text}]", tile.op.loc.span, f"[{text}]"
            )
    for tile in tiles[1:]:
        a, b = (t.kind.valid or t.kind.shape for t in (first, tile))
        if a != b:
            one, two = ("x".join(map(str, n)) for n in (a, b))
            yield _Reason(
                f"its slots are valid to different extents, `{first.name}` {one} and `{tile.name}` {two}",
                tile.op.loc.span, f"{two} are valid", _put(first),
            )  # fmt: skip


def _phis(tiles: Sequence[_Tile]) -> Iterator[_Reason]:
    for region in dict.fromkeys(t.region for t in tiles):
        mine = {t.value: t for t in tiles if t.region is region}
        uses = Uses(region.body)
        for node in statements(region.body):
            for value in leaving(node) if isinstance(node, For | If) else ():
                tile = mine.get(uses.owner(value))
                if tile is not None:
                    what = "the loop hands it on" if isinstance(node, For) else "an arm of the `if` gives it"
                    yield _Reason(
                        f"`{tile.name}` leaves its slot: {what}", tile.field("buffer"), "leaves its block",
                        Label(node.loc.span, what),
                    )  # fmt: skip


def _together(tiles: Sequence[_Tile]) -> Iterator[_Reason]:
    """Two tiles that are needed at one time in an iteration of a loop."""
    for region in dict.fromkeys(t.region for t in tiles):
        mine = {t.value: t for t in tiles if t.region is region}
        uses = Uses(region.body)
        for loop in (s for s in statements(region.body) if isinstance(s, For)):
            yield from _in_block(loop.body, mine, uses)


def _in_block(body: Sequence[Stmt], mine: dict[Value, _Tile], uses: Uses) -> Iterator[_Reason]:
    begins: dict[Value, int] = {}
    ends: dict[Value, int] = {}
    for number, node in enumerate(body):
        for inner in statements((node,)):
            for value in (*entering(inner), *leaving(inner)):
                owner = uses.owner(value)
                if owner in begins:
                    ends[owner] = number
        if isinstance(node, Op):
            begins.update({v: number for v in node.results if v in mine})
    for value, begin in begins.items():
        for other, at in begins.items():
            if begin < at < ends.get(value, begin):
                a, b = mine[value], mine[other]
                yield _Reason(
                    f"`{a.name}` and `{b.name}` live in it together within one iteration, and only the slot chosen "
                    "first is guarded",
                    b.field("buffer"), f"`{a.name}` is still needed behind this", _put(a),
                )  # fmt: skip

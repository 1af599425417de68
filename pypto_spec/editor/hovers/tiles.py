"""Tiles and arrays: type, place, life, and who else stands there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.editor.facts.model import Key, Range, Spot, TileFacts
from pypto_spec.editor.facts.view import View
from pypto_spec.ops.reference import PIPES

PLACES = 8
"""The most addresses that are listed."""
GROUPS = 4
"""The most kinds of places that are listed: a cut tile has several sizes."""


def tile_text(view: View, keys: Sequence[Key], here: Key | None = None) -> str:
    """What is known of the tile that a name stands for, `keys[0]`, or one of the others; `here` where it is bound."""
    tiles = [tile for key in keys if (tile := view.facts.tiles.get(key)) is not None]
    if not tiles:
        return ""
    first, *others = tiles
    lines = list(tile_lines(view, first, others))
    if here is None:
        where = view.lines((first.at[0],))
        lines += [f"* bound in {where}"] if where else []
    again = view.lines(tuple(tile.at[0] for tile in others))
    if again:
        lines.append(f"* carried by a loop or picked by an `if`: also bound in {again}")
    return "\n".join([f"**{first.level}** `{first.name}`: `{first.type}`", "", *lines])


def tile_lines(view: View, tile: TileFacts, others: Sequence[TileFacts] = ()) -> Iterator[str]:
    """The list below the head; `others` may stand there too, and then the life is that of all."""
    if tile.valid:
        yield f"* valid: `{tile.valid}`"
    groups = _apart(sorted(grouped(tile.spots), key=lambda group: (group[0].type != tile.type, -group[0].bytes)))
    for group in groups[:GROUPS]:
        yield from _place(tile, group)
    if len(groups) > GROUPS:
        yield f"* and {len(groups) - GROUPS} more kinds of places"
    spots = [spot for one in (tile, *others) for spot in one.spots]
    life = [now for spot in spots for line in spot.lines if (now := view.line(line)) is not None]
    if life and min(life) != max(life):
        yield f"* lives from line {min(life)} to line {max(life)}"
    elif life:
        yield f"* lives in line {life[0]}"
    if tile.view is not None:
        (line, _), name = tile.view
        where = view.lines((line,))
        yield f"* a view of `{name}`" + (f" of {where}" if where else "") + ": no bytes of its own"
    elif tile.pipe:
        yield f"* made by `{tile.op}` on pipe {PIPES.get(tile.pipe, tile.pipe)}"
    else:
        yield f"* made by `{tile.op}`, without an instruction of its own"
    shares = {(s.name, now): None for spot in tile.spots for s in spot.shares if (now := view.line(s.line)) is not None}
    if shares:
        names = ", ".join(f"`{name}` (line {line})" for name, line in sorted(shares, key=lambda s: (s[1], s[0])))
        yield f"* in the same bytes at other times: {names}"


def grouped(spots: Sequence[Spot]) -> list[list[Spot]]:
    """Spots that differ in nothing but where they are."""
    found: dict[tuple[str, str, str, int], list[Spot]] = {}
    for spot in spots:
        found.setdefault((spot.type, spot.memory, spot.layout, spot.bytes), []).append(spot)
    return list(found.values())


def _apart(groups: Sequence[list[Spot]]) -> list[list[Spot]]:
    """Without those that stand in the bytes of earlier ones: the same seen with other extents, or a rest at an edge."""
    kept: list[list[Spot]] = []
    for group in groups:
        known = [(spot.memory, low, high) for other in kept for spot in other for low, high in spot.ranges]
        new = (not spot.ranges or any(not _inside(spot.memory, r, known) for r in spot.ranges) for spot in group)
        if any(new):
            kept.append(group)
    return kept


def _inside(memory: str, piece: Range, known: Sequence[tuple[str, int, int]]) -> bool:
    return any(memory == where and low <= piece[0] and piece[1] <= high for where, low, high in known)


def starts(group: Sequence[Spot]) -> list[int]:
    """The bytes at which spots begin, each once."""
    return sorted({low for spot in group for low, _ in spot.ranges})


def _place(tile: TileFacts, group: Sequence[Spot]) -> Iterator[str]:
    spot = group[0]
    memory = f"`{spot.memory}`" if spot.memory else "not chosen yet"
    as_what = f", as `{spot.type}`" if spot.type != tile.type else ""
    yield f"* memory: {memory}, {spot.bytes:,} B{as_what}, layout `{spot.layout}`"
    found = starts(group)
    if not found:
        return
    shown = ", ".join(f"`{start:,}`" for start in found[:PLACES])
    more = f" and {len(found) - PLACES} more" if len(found) > PLACES else ""
    if len(found) == 1:
        yield f"* address: {shown}"
    elif spot.slot:
        yield f"* addresses: {shown}{more}, by slot `{spot.slot}` of `{spot.buffer}`"
    else:
        yield f"* addresses: {shown}{more}, in turns"

"""What the compiler decided, beside the author's text: nothing that he wrote himself, and a few words at most.

* behind a tile's name: its type where a `let` gives it, its memory and where it begins there;
* behind a product: its tile in L0, where it was cut;
* behind `stages`: how deep the pipeline runs, where that is less;
* behind an output that a `let` makes of whole arrays: the tiles in which it is made;
* behind a region's name: its core;
* behind a buffer's name: its address, and its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.editor.cursor import Written, statements
from pypto_spec.editor.document import Document
from pypto_spec.editor.facts import Facts
from pypto_spec.editor.facts.model import At, BufferFacts, TileFacts
from pypto_spec.editor.facts.view import View
from pypto_spec.editor.hovers.sections import buffer_text, tensor_text
from pypto_spec.editor.hovers.statements import cut_lines, loop_lines, region_lines
from pypto_spec.editor.hovers.tiles import grouped, starts, tile_text
from pypto_spec.editor.model import Inlay
from pypto_spec.editor.names.formulas import Places, parts
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

ADDRESSES = 2
"""The most addresses that stand in a hint; the tip has more."""


def inlays(document: Document, facts: Facts | None, start: int, end: int) -> list[Inlay]:
    """The hints between two code-point offsets, in the order of the text; none of statements changed since `facts`.

    They are those of the first variant of several.
    """
    if facts is None or document.tree is None:
        return []
    view = View(facts, document.source)
    found = [*_buffers(document.tree, view)]
    for statement in statements(document):
        if statement.node.start <= end:
            found += _statement(view, statement)
    return sorted((hint for hint in found if start <= hint.at <= end), key=lambda hint: hint.at)


def _statement(view: View, statement: Written) -> Iterator[Inlay]:
    at = view.at(statement)
    if at is None:
        return
    for name, place in _bound(statement):
        tile = view.facts.tiles.get((at, name))
        if tile is not None:
            text = _tile(tile, statement)
            if text:
                yield Inlay(place, text, tile_text(view, [(at, name)], (at, name)))
        elif name in view.facts.tensors and at not in view.facts.cuts:
            yield from _output(view, at, name, place)
    yield from _product(view, statement, at)
    yield from _control(view, statement, at)


def _output(view: View, at: At, name: str, place: int) -> Iterator[Inlay]:
    """An output that is made of whole arrays, tile by tile."""
    tensor, steps = view.facts.tensors[name], view.facts.steps.get(at, ())
    largest = max(steps, key=lambda step: step.elements, default=None)
    if largest is not None and largest.type and _shape(largest.type) != _shape(tensor.type):
        yield Inlay(place, f": in {_shape(largest.type)}", tensor_text(name, view, ""))


def _shape(type: str) -> str:
    """The shape in the text of a type: `[32, 64]` of `fp32[32, 64]`."""
    return type[type.find("[") :]


def _bound(statement: Written) -> Iterator[tuple[str, int]]:
    """The names that a statement binds, and the offsets behind them."""
    node = statement.value if statement.keyword == "let" else statement.field("into")
    if isinstance(node, ScalarNode) and not node.via:
        target = parts(node.text, let=True)[:1] if statement.keyword == "let" else []
        if statement.keyword != "let":
            yield node.text, node.end
        elif target and target[0].kind == "target" and (places := Places(node)).known:
            yield target[0].text, places.of(target[0].start, target[0].end)[1]
    elif isinstance(node, SequenceNode):
        yield from ((item.text, item.end) for item in node.items if isinstance(item, ScalarNode) and not item.via)


def _tile(tile: TileFacts, statement: Written) -> str:
    """What is said behind the name of a tile."""
    words = [tile.type] if statement.keyword in ("let", "call") else []
    if not tile.spots:
        return _hint(words)
    # The others are what is left at an edge, or stand-ins on the way.
    group = max(grouped(tile.spots), key=lambda group: (group[0].type == tile.type, group[0].bytes))
    spot = group[0]
    if spot.type != tile.type and tile.level == "array":
        words.append(f"in {_shape(spot.type) if spot.type.startswith(tile.dtype) else spot.type}")
    if statement.field("buffer") is not None:
        return _hint(words)
    if spot.memory and statement.field("memory") is None:
        words.append(spot.memory)
    found = starts(group)
    if found and spot.memory:
        shown = "/".join(f"{start:,}" for start in found[:ADDRESSES])
        words.append(f"@ {shown}" + ("/..." if len(found) > ADDRESSES else ""))
    return _hint(words)


def _hint(words: Sequence[str]) -> str:
    return f": {' '.join(words)}" if words else ""


def _product(view: View, statement: Written, at: At) -> Iterator[Inlay]:
    """The tile of a product that was cut."""
    cut = view.facts.cuts.get(at)
    if cut is None or cut.whole or not _ends(statement.value):
        return
    yield Inlay(statement.value.end, f" L0 {cut.m} x {cut.n} x {cut.k}", "\n".join(cut_lines(cut)))


def _ends(node: Node) -> bool:
    """Whether a hint can stand behind a value: it stands where it is written, on one line."""
    text = node.source.text[node.start : node.end]
    return not node.via and "\n" not in text and "\r" not in text


def _control(view: View, statement: Written, at: At) -> Iterator[Inlay]:
    loop = view.facts.loops.get(at)
    stages = statement.field("stages")
    if loop is not None and stages is not None and loop.depth not in (None, loop.stages) and _ends(stages):
        yield Inlay(stages.end, f" runs {loop.depth} deep", "\n".join(loop_lines(loop)))
    region = view.facts.regions.get(at)
    if region is not None and region.core and statement.field("core") is None and _ends(statement.value):
        yield Inlay(statement.value.end, f" {region.core}", "\n".join(region_lines(region)))


def _buffers(tree: MappingNode, view: View) -> Iterator[Inlay]:
    """The author's buffers, with what he left to the compiler."""
    section = tree.get("buffers")
    for key, node in section.items if isinstance(section, MappingNode) else ():
        found = view.facts.buffers.get(key.text)
        line = key.span.line
        same = view.unchanged.before(line, max(line, node.span.end_line)) is not None
        if found is None or not same or key.via or not isinstance(node, MappingNode):
            continue
        text = _buffer(found, node)
        if text:
            yield Inlay(key.end, text, buffer_text(key.text, view, ""))


def _buffer(found: BufferFacts, node: MappingNode) -> str:
    words = []
    if found.bytes is not None and node.get("bytes") is None:
        words.append(f"{found.slots} x {found.bytes:,} B" if found.slots > 1 else f"{found.bytes:,} B")
    if found.address is not None and node.get("address") is None:
        words.append(f"@ {found.address:,}")
    return f" {' '.join(words)}" if words else ""

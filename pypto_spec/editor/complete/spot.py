"""From the place of the cursor in a text to what the language says of it: the forms that may stand there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from pypto_spec.editor.complete.shapes import (
    Fields,
    Items,
    Keys,
    Shape,
    Shapes,
    Statement,
    Statements,
    Table,
    Text,
    keys_of,
)
from pypto_spec.editor.complete.text.tree import Map, Node, Place, Scalar, Seq, Tree
from pypto_spec.records import dataclass
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import BLOCK_KEYS, Keyword, Plane, default_table
from pypto_spec.spec.models.sections import DocumentModel
from pypto_spec.spec.models.statement import SIBLINGS

DOCUMENT: Shapes = (Fields(DocumentModel),)


@dataclass(slots=True, eq=False)
class Block:
    """A list of statements around the cursor, which is in the one with that number."""

    statements: Seq
    number: int
    plane: Plane


@dataclass(slots=True, eq=False)
class Around:
    """A statement around the cursor; `key` is that of the value the cursor is in, or the empty text."""

    node: Map
    keyword: Keyword | None
    key: str
    plane: Plane


@dataclass(slots=True, eq=False)
class Spot:
    """What may stand at the cursor.

    Where a key is being written `mapping` is the mapping it goes into, and `shapes` what that may be; else `shapes` is
    what the value may be. `frames` lead from the outside to the cursor.
    """

    tree: Tree
    scalar: Scalar
    shapes: Shapes
    mapping: Map | None = None
    colon: bool = False
    flow: bool = False
    frames: list[Block | Around] = field(default_factory=list)
    path: tuple[str | int, ...] = ()

    @property
    def reference(self) -> tuple[str, ...]:
        """Where the reference has the mapping around the cursor: from the innermost keyword on (`load`, `region`)."""
        path = tuple("0" if isinstance(step, int) else step for step in self.path)
        around = self.statement
        if around is None or around.keyword is None:
            return path
        name = around.keyword.name
        if around.key == name:
            return path[len(path) - 1 - path[::-1].index(name) :]
        return (name,) if around.key in ("", *around.keyword.options) else path[path[::-1].index(around.key) * -1 - 1 :]

    @property
    def around(self) -> list[Around]:
        """The statements around the cursor, the innermost last."""
        return [frame for frame in self.frames if isinstance(frame, Around)]

    @property
    def statement(self) -> Around | None:
        """The innermost statement around the cursor."""
        return next(reversed(self.around), None)


def keyword_of(node: Map, *, written: bool = False) -> Keyword | None:
    """The keyword of a statement: the first key that is one. With `written` not one that the cursor is in."""
    table = default_table()
    entries = [entry for entry in node.entries if not entry.key.here or (entry.colon and not written)]
    for entry in entries:
        name = entry.key.word
        found = table.get(name)
        if found is not None and name not in SIBLINGS and (name != "yield" or len(entries) == 1):
            return found
    return None


def spot_of(tree: Tree, place: Place) -> Spot:
    """What may stand at a place."""
    spot = Spot(tree, place.scalar, DOCUMENT)
    shapes: Shapes = DOCUMENT
    last = len(place.path) - 1
    for number, step in enumerate(place.path):
        holder = step.holder
        spot.flow = holder.flow
        if isinstance(holder, Map):
            writes = place.entry is not None and number == last
            _note_statement(spot, shapes, holder, "" if writes else str(step.key))
            if writes:
                assert place.entry is not None
                spot.mapping, spot.colon = holder, place.entry.colon
                break
            shapes = tuple(inside(shapes, holder, str(step.key)))
        else:
            assert isinstance(step.key, int)
            plane = next((shape.plane for shape in shapes if isinstance(shape, Statements)), None)
            if plane is not None:
                spot.frames.append(Block(holder, step.key, plane))
            shapes = tuple(_items(shapes))
        spot.path = (*spot.path, step.key)
    spot.shapes = shapes
    return spot


def _note_statement(spot: Spot, shapes: Shapes, holder: Map, key: str) -> None:
    for shape in shapes:
        if isinstance(shape, Statement):
            spot.frames.append(Around(holder, keyword_of(holder), key, shape.plane))


def inside(shapes: Shapes, holder: Map, key: str) -> Iterator[Shape]:
    """What may stand under a key of a mapping that may have these forms."""
    for shape in shapes:
        if isinstance(shape, Fields):
            found = keys_of(shape.model).get(key)
            if found is not None:
                yield from found.shapes
        elif isinstance(shape, Table):
            yield from shape.value
        elif isinstance(shape, Keys):
            yield Text()
        elif isinstance(shape, Statement):
            yield from of_statement(keyword_of(holder), key, shape.plane)


def of_statement(keyword: Keyword | None, key: str, plane: Plane) -> Iterator[Shape]:
    """What may stand under a key of a statement."""
    if keyword is not None and key == keyword.name:
        if not keyword.reserved:
            yield from of_keyword(keyword)
    elif key in BLOCK_KEYS:
        yield Statements((keyword.opens if keyword is not None else None) or plane)
    elif keyword is not None and key in keyword.options:
        found = keys_of(default_table().model(keyword.name)).get(key)
        yield from found.shapes if found is not None else ()
    elif keyword is None or key in keyword.extras:
        found = keys_of(Extras).get(key)
        yield from found.shapes if found is not None else ()


def of_keyword(keyword: Keyword) -> Iterator[Shape]:
    """What a keyword holds."""
    model = default_table().model(keyword.name)
    if keyword.scalar is not None:
        field_ = next(
            (k for name, k in zip(model.model_fields, keys_of(model).values(), strict=False) if name == keyword.scalar),
            None,
        )
        if field_ is not None:
            yield from field_.shapes
    if keyword.fields:
        yield Fields(model)


def _items(shapes: Shapes) -> Iterator[Shape]:
    for shape in shapes:
        if isinstance(shape, Items):
            yield from shape.item
        elif isinstance(shape, Statements):
            yield Statement(shape.plane)


def text_of(node: Node | None) -> str:
    """A value on one line, as it is written."""
    if node is None:
        return ""
    if isinstance(node, Scalar):
        return node.word
    if isinstance(node, Map):
        return "{" + ", ".join(f"{key}: {text_of(value)}" for key, value in node.items()) + "}"
    return "[" + ", ".join(text_of(item) for item in node.items) + "]"

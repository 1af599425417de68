"""Keys: of the document and its sections, keywords of statements, their fields, and what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pypto_spec.editor.complete.docs import detail_of, key_doc, keyword_doc, sentence
from pypto_spec.editor.complete.names import keys_named
from pypto_spec.editor.complete.ranks import rank
from pypto_spec.editor.complete.request import Request, present
from pypto_spec.editor.complete.shapes import Fields, Items, Key, Keys, Shape, Statement, Statements, Table, keys_of
from pypto_spec.editor.complete.snippets import END, Style, Writer
from pypto_spec.editor.complete.spot import DOCUMENT, inside, keyword_of
from pypto_spec.editor.complete.text.tree import Map
from pypto_spec.editor.model import Completion, Edit, Kind
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import Keyword, Plane, default_table
from pypto_spec.spec.models.places import BLOCK_DOCS

_ENDS = re.compile(r"[^\n]*(?:\n[ \t\r]*(?:#[^\n]*)?)*(?:\Z|\n[ \t]*\[)")
"""What stands behind the last line of a table."""


def keys(request: Request, mapping: Map) -> Iterator[Completion]:
    """The keys that can be written into a mapping."""
    spot = request.spot
    assert spot is not None
    for shape in spot.shapes:
        if isinstance(shape, Fields):
            yield from fields(request, mapping, keys_of(shape.model))
        elif isinstance(shape, Keys):
            own = {name: Key(name, "", False, ()) for name in shape.keys}
            yield from fields(request, mapping, own)
        elif isinstance(shape, Table) and shape.keys is not None:
            yield from _named(request, mapping, shape)
        elif isinstance(shape, Statement):
            yield from statement(request, mapping, shape.plane)
        elif isinstance(shape, Statements) and request.style == "block":
            yield from keywords(request, mapping, shape.plane, dash=True)
    if request.style == "table" and request.alone:
        yield from _tables(request, mapping)


def fields(request: Request, mapping: Map, known: Mapping[str, Key]) -> Iterator[Completion]:
    """Fields that are not there yet: first those that must be."""
    there = present(mapping)
    chosen = any(known[name].chosen for name in there if name in known)
    for number, key in enumerate(known.values()):
        if key.name in there or (key.dumps and not request.dump) or (key.chosen and chosen):
            continue
        rank = 0 if key.required else 1 if key.chosen else 2
        if _is_table(request, mapping, key):
            continue  # proposed as a table of its own
        yield _key(request, key, f"{rank}{number:03}")


def _key(request: Request, key: Key, sort: str) -> Completion:
    kind = Kind.SECTION if request.spot is not None and request.spot.shapes == DOCUMENT else Kind.FIELD
    if request.spot is not None and request.spot.colon:
        return Completion(
            key.name, kind, request.edit(key.name), detail_of(key), key_doc(key, request.spot.reference), sort=sort
        )
    text = Writer(request.style).key(key, request.indent)
    path = request.spot.reference if request.spot is not None else ()
    return Completion(key.name, kind, request.edit(text), detail_of(key), key_doc(key, path), "$" in text, sort)


def _named(request: Request, mapping: Map, shape: Table) -> Iterator[Completion]:
    assert shape.keys is not None
    there = present(mapping)
    for number, named in enumerate(keys_named(request, shape.keys)):
        if named.name in there:
            continue
        value = Writer(request.style).value(shape.value)
        key = f'"{named.name}"' if request.toml and not named.name.isidentifier() else named.name
        colon = request.spot is not None and request.spot.colon
        text = key if colon else f"{key}{' = ' if request.toml else ': '}{value}"
        yield Completion(named.name, named.kind, request.edit(text), named.detail, "", not colon, f"0{number:03}")


# Statements


def statement(request: Request, mapping: Map, plane: Plane) -> Iterator[Completion]:
    """The keyword of a statement, or the keys that stand beside the one it has."""
    keyword = keyword_of(mapping, written=True)
    if keyword is None:
        yield from keywords(request, mapping, plane, dash=request.first_in_item(mapping))
        return
    there = present(mapping)
    for number, key in enumerate(beside(keyword)):
        if key.name not in there and not (key.dumps and not request.dump):
            rank = 0 if key.required else 2 if key.name in keyword.options or key.name in keyword.blocks else 3
            yield _key(request, key, f"{rank}{number:03}")


def beside(keyword: Keyword) -> Iterator[Key]:
    """The keys that may stand beside a keyword."""
    for block in keyword.blocks:
        shapes: tuple[Shape, ...] = tuple(inside((Statement("execution"),), Map(0), block))
        yield Key(block, BLOCK_DOCS[block], block in keyword.needs, shapes)
    if keyword.options:
        model = keys_of(default_table().model(keyword.name))
        yield from (key for key in model.values() if key.name in keyword.options)
    yield from (key for key in keys_of(Extras).values() if key.name in keyword.extras)


def keywords(request: Request, mapping: Map, plane: Plane, *, dash: bool) -> Iterator[Completion]:
    """The keywords of a plane, each with what it needs; those that may have the keys that are there already."""
    there = present(mapping)
    colon = request.spot is not None and request.spot.colon
    for number, keyword in enumerate(default_table()):
        if plane not in keyword.planes or keyword.reserved or not there <= keyword.siblings:
            continue
        text = keyword.name if colon else ("- " if dash else "") + whole(request, keyword, there, dash=dash)
        yield Completion(
            keyword.name,
            Kind.KEYWORD,
            request.edit(text),
            short(keyword),
            keyword_doc(keyword),
            "$" in text,
            f"{rank(keyword, request.spot)}{number:03}",
        )


def whole(request: Request, keyword: Keyword, there: set[str], *, dash: bool = False) -> str:
    """A statement with what it needs, where that is not there already."""
    return _whole(keyword, request.style, request.indent + (2 if dash else 0), bool(set(keyword.needs) & there))


@lru_cache(maxsize=4096)
def _whole(keyword: Keyword, style: Style, indent: int, held: bool) -> str:
    writer = Writer(style)
    return f"{keyword.name}{writer.sign}{writer.held(keyword)}" if held else writer.statement(keyword, indent)


def short(keyword: Keyword) -> str:
    """What a keyword does, on one line."""
    head = keyword.doc.strip().split("\n")[0]
    return head if len(head) <= 60 else head[:57].rstrip() + "..."


# TOML tables


def _is_table(request: Request, mapping: Map, key: Key) -> bool:
    """Whether a key of a TOML table is written as a table of its own; in the text that is a header."""
    top = key.shapes[0] if key.shapes else None
    return request.style == "table" and mapping is request.tree.root and isinstance(top, Table | Fields | Statements)


def _tables(request: Request, mapping: Map) -> Iterator[Completion]:
    """Headers of the sections that are not there yet, where a table ends."""
    if not _ENDS.match(request.text, request.word[1]):
        return
    there = present(request.tree.root)
    for number, key in enumerate(keys_of(DOCUMENT[0].model).values() if isinstance(DOCUMENT[0], Fields) else ()):
        if not _is_table(request, request.tree.root, key) or key.name in there or (key.dumps and not request.dump):
            continue
        many = isinstance(key.shapes[0], Statements)
        text = f"[[{key.name}]]\n{END}" if many else f"[{key.name}]\n{END}"
        rank = 0 if key.required and mapping is request.tree.root else 4
        yield Completion(
            f"[[{key.name}]]" if many else f"[{key.name}]",
            Kind.SECTION,
            request.edit(text),
            detail_of(key),
            sentence(key.doc),
            True,
            f"{rank}{number:03}",
        )


def headers(request: Request) -> Iterator[Completion]:
    """The names that may come next in the header of a TOML table."""
    header = request.header
    assert header is not None
    shapes: tuple[Shape, ...] = DOCUMENT
    holder: Map | None = request.tree.root
    for name in header.names:
        shapes = tuple(inside(shapes, holder or Map(0), name))
        value = holder.get(name) if holder is not None else None
        listed = getattr(value, "items", None)
        if isinstance(listed, list) and any(isinstance(shape, Items | Statements) for shape in shapes):
            value = listed[-1] if listed else None
            shapes = tuple(
                Statement(shape.plane) if isinstance(shape, Statements) else shape for shape in _items(shapes)
            )
        holder = value if isinstance(value, Map) else None
    there = present(holder) if holder is not None else set()
    number = 0
    for key in _header_keys(shapes, holder or Map(0)):
        form = key.shapes[0] if key.shapes else None
        many = isinstance(form, Statements) or (isinstance(form, Items) and isinstance(form.item[0], Fields | Table))
        fits = many if header.array else isinstance(form, Table | Fields) or Fields in map(type, key.shapes)
        if fits and (many or key.name not in there) and not (key.dumps and not request.dump):
            number += 1
            start, end = request.real(header.part.start), request.real(header.part.end)
            yield Completion(
                key.name, Kind.SECTION, Edit(start, end, key.name), detail_of(key), key_doc(key), False, f"0{number:03}"
            )


def _items(shapes: tuple[Shape, ...]) -> Iterator[Shape]:
    for shape in shapes:
        if isinstance(shape, Items):
            yield from shape.item
        else:
            yield shape


def _header_keys(shapes: tuple[Shape, ...], holder: Map) -> Iterator[Key]:
    for shape in shapes:
        if isinstance(shape, Fields):
            yield from keys_of(shape.model).values()
        elif isinstance(shape, Statement):
            keyword = keyword_of(holder)
            if keyword is not None:
                yield from beside(keyword)
            else:
                for found in default_table():
                    if shape.plane in found.planes and not found.reserved:
                        yield Key(
                            found.name,
                            found.doc,
                            False,
                            tuple(inside((shape,), Map(0), found.name)) or (Table(None, ()),),
                        )

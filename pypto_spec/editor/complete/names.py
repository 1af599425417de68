"""Names of the spec that fit a place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from pypto_spec.editor.complete.grammars import Names
from pypto_spec.editor.complete.request import Request
from pypto_spec.editor.complete.scope import Named, Scope
from pypto_spec.editor.complete.shapes import Words, keys_of
from pypto_spec.editor.complete.spot import Around, text_of
from pypto_spec.editor.complete.text.tree import Map, Scalar, Seq
from pypto_spec.editor.model import Kind
from pypto_spec.spec.models.sections import Target

VALUES = (Kind.TILE, Kind.ARGUMENT)
WRITTEN = ("out", "inout")


def names(request: Request, wanted: Names) -> list[Named]:
    """The names that fit a field, those most likely first."""
    found: dict[str, Named] = {}
    for named in _NAMES[wanted](request):
        found.setdefault(named.name, named)
    return list(found.values())


keys_named = names
"""Names as the keys of a mapping."""


def tiles(scope: Scope) -> list[Named]:
    """Tiles and arrays, the nearest first."""
    return scope.kinds(*VALUES)[::-1]


def tensors(scope: Scope) -> list[Named]:
    """Tensors, in the order of the text."""
    return scope.kinds(Kind.TENSOR)


def _value(request: Request) -> Iterable[Named]:
    """Tiles; where a region has none yet it may work on whole tensors."""
    return tiles(request.scope) or tensors(request.scope)


def _bind(request: Request) -> Iterator[Named]:
    """What may be bound again, or written to."""
    yield from (named for named in tensors(request.scope) if named.access in WRITTEN)
    yield from tiles(request.scope)
    yield from request.scope.kinds(Kind.NUMBER)[::-1]


def _functions(request: Request) -> Iterator[Named]:
    for called in request.scope.functions.values():
        args = ", ".join(name for name, _ in called.args)
        yield Named(called.name, Kind.FUNCTION, f"({args}) -> {', '.join(called.returns)}")


def _launches(request: Request) -> Iterator[Named]:
    """Regions and launches, but for the region that waits."""
    spot = request.spot
    own: set[str] = set()
    if spot is not None and spot.statement is not None:
        node = spot.statement.node
        own = {text_of(node.get("region")), text_of(node.get("as"))}
    return (named for named in request.scope.launches() if named.name not in own)


def _returned(request: Request) -> Iterator[Named]:
    """What the body of the function around the cursor binds."""
    spot = request.spot
    if spot is None or len(spot.path) < 2:
        return
    functions = request.tree.root.get("functions")
    node = functions.get(str(spot.path[1])) if isinstance(functions, Map) else None
    body = node.get("body") if isinstance(node, Map) else None
    there = _listed(node.get("returns")) if isinstance(node, Map) else set()
    for name in request.scope.bound(body):
        if name not in there:
            yield Named(name, Kind.TILE, "bound in the body")


def _listed(node: object) -> set[str]:
    """The words of a list but for the one that is being written."""
    items = node.items if isinstance(node, Seq) else [node]
    return {item.word for item in items if isinstance(item, Scalar) and not item.here}


def _carried(request: Request) -> Iterable[Named]:
    return request.scope.carried.values()


def _arguments(request: Request) -> Iterator[Named]:
    """The arguments of the function that is called."""
    spot = request.spot
    around = spot.statement if spot is not None else None
    for name, what in called_arguments(request.scope, around):
        yield Named(name, Kind.ARGUMENT, what or "argument")


def called_arguments(scope: Scope, around: Around | None) -> tuple[tuple[str, str], ...]:
    """The arguments of the function that a statement calls, each with what it must be."""
    value = around.node.get("call") if around is not None else None
    called = scope.functions.get(text_of(value.get("function"))) if isinstance(value, Map) else None
    return called.args if called is not None else ()


def _choices(request: Request) -> Iterator[Named]:
    yield from request.scope.kinds(Kind.CONSTANT)
    for key in keys_of(Target).values():
        words = " | ".join(word for shape in key.shapes if isinstance(shape, Words) for word, _ in shape.words)
        yield Named(f"target.{key.name}", Kind.FIELD, words or "true | false")


_NAMES: Mapping[Names, Callable[[Request], Iterable[Named]]] = {
    "bind": _bind,
    "value": _value,
    "shown": lambda request: [*tiles(request.scope), *tensors(request.scope)],
    "source": lambda request: sorted(tensors(request.scope), key=lambda named: named.access == "out"),
    "sink": lambda request: [named for named in tensors(request.scope) if named.access in WRITTEN],
    "buffer": lambda request: request.scope.buffers.values(),
    "function": _functions,
    "launch": _launches,
    "returned": _returned,
    "carried": _carried,
    "argument": _arguments,
    "output": lambda request: [n for n in tensors(request.scope) if n.access in WRITTEN and not _created(request, n)],
    "input": lambda request: [
        *(n for n in tensors(request.scope) if n.access != "out" and not _created(request, n)),
        *request.scope.kinds(Kind.SCALAR),
    ],
    "symbol": lambda request: request.scope.kinds(Kind.SYMBOL),
    "choice": _choices,
}


def _created(request: Request, named: Named) -> bool:
    """Whether a tensor is no argument of the program."""
    section = request.tree.root.get("tensors")
    return not isinstance(section, Map) or named.name not in {entry.key.word for entry in section.entries}

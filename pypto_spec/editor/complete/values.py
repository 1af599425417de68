"""Values: words, names, codes, and what opens a list or a mapping."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.editor.complete.docs import keyword_doc, sentence
from pypto_spec.editor.complete.expressions import expressions
from pypto_spec.editor.complete.keys import short, whole
from pypto_spec.editor.complete.names import names
from pypto_spec.editor.complete.ranks import rank
from pypto_spec.editor.complete.request import Request
from pypto_spec.editor.complete.scope import Named
from pypto_spec.editor.complete.shapes import (
    Codes,
    Fields,
    Formula,
    Items,
    Keys,
    Name,
    Shape,
    Shapes,
    Statement,
    Statements,
    Table,
    Truth,
    Words,
)
from pypto_spec.editor.complete.snippets import Writer
from pypto_spec.editor.complete.text.tree import Scalar, Seq
from pypto_spec.editor.model import Completion, Kind
from pypto_spec.spec.models.keywords import default_table

TRUTH = ("false", "true")


def values(request: Request, shapes: Shapes) -> Iterator[Completion]:
    """What can stand as a value of one of some forms."""
    spot = request.spot
    assert spot is not None
    for shape in alone(shapes):
        if isinstance(shape, Formula):
            yield from expressions(request, shape.grammar)
    text = spot.scalar.text
    if (
        text.strip() != text[text.find(request.typed) :].strip()
        and request.typed != spot.scalar.word[: len(request.typed)]
    ):
        return  # something else stands there as well
    if request.typed[:1] == "$":
        yield from _constants(request, shapes)
        return
    for shape in alone(shapes):
        if isinstance(shape, Words):
            yield from words(request, shape)
        elif isinstance(shape, Truth):
            yield from _truth(request, shape)
        elif isinstance(shape, Name) and shape.names is not None:
            taken = _listed(request)
            yield from (
                of_name(request, named, f"0{number:03}")
                for number, named in enumerate(names(request, shape.names))
                if named.name not in taken
            )
        elif isinstance(shape, Codes):
            yield from _codes(request)
        elif isinstance(shape, Statement):
            yield from _statements(request, shape)
        else:
            yield from _opening(request, shape)


def alone(shapes: Shapes) -> Iterator[Shape]:
    """The forms, with those of an item that may stand without brackets."""
    for shape in shapes:
        if isinstance(shape, Items) and shape.alone:
            yield from shape.item
        yield shape


def words(request: Request, shape: Words) -> Iterator[Completion]:
    """The words of a field, and the constants that hold one."""
    for number, (word, meaning) in enumerate(shape.words):
        detail = "default" if word == shape.default else ""
        text = request.quoted(word)
        yield Completion(word, Kind.WORD, request.edit(text), detail, sentence(meaning), sort=f"0{number:03}")
    held = {word for word, _ in shape.words}
    yield from (parameter(request, named) for named in request.scope.kinds(Kind.CONSTANT) if named.value in held)


def _truth(request: Request, shape: Truth) -> Iterator[Completion]:
    for word in TRUTH:
        detail = "default" if word == shape.default else ""
        yield Completion(word, Kind.WORD, request.edit(word), detail, sort=f"0{word}")
    for named in request.scope.kinds(Kind.CONSTANT):
        if named.of == "bool":
            yield parameter(request, named)


def parameter(request: Request, named: Named) -> Completion:
    """A constant in the place of the word that it holds."""
    word = f"${named.name}"
    return Completion(word, Kind.CONSTANT, request.edit(request.quoted(word)), named.detail, sort=f"1{named.name}")


def _constants(request: Request, shapes: Shapes) -> Iterator[Completion]:
    """What can follow a `$`: the constants that hold what the field wants."""
    for named in request.scope.kinds(Kind.CONSTANT):
        if any(_holds(named, shape) for shape in alone(shapes)):
            yield parameter(request, named)


def _holds(named: Named, shape: Shape) -> bool:
    if isinstance(shape, Words):
        return named.of == "word" and named.value in {word for word, _ in shape.words}
    if isinstance(shape, Truth):
        return named.of == "bool"
    if isinstance(shape, Formula):
        return shape.grammar not in ("let", "constant", "golden", "format")
    return isinstance(shape, Name) and named.of == "word"


def of_name(request: Request, named: Named, sort: str) -> Completion:
    """A name of the spec."""
    return Completion(named.name, named.kind, request.edit(request.quoted(named.name)), named.detail, sort=sort)


def _codes(request: Request) -> Iterator[Completion]:
    """The codes of warnings and hints; an error cannot be switched off."""
    spot = request.spot
    insists = spot is not None and spot.statement is not None and spot.path[-1:] == ("error",)
    insists = insists or (spot is not None and "error" in spot.path[-2:] and spot.statement is not None)
    taken = _listed(request)
    for code, rule in all_rules().items():
        wanted = rule.severity is Severity.HINT or (rule.severity is Severity.WARNING and not insists)
        if wanted and code not in taken and rule.name not in taken:
            text = request.quoted(code)
            yield Completion(code, Kind.WORD, request.edit(text), rule.name, sentence(rule.summary), sort=f"0{code}")


def _listed(request: Request) -> set[str]:
    """What stands in the list around the cursor already."""
    spot = request.spot
    node: object = request.tree.root
    for step in (
        spot.path[:-1] if spot is not None and isinstance(spot.path[-1:][0] if spot.path else None, int) else ()
    ):
        if isinstance(node, Seq):
            node = node.items[step] if isinstance(step, int) and step < len(node.items) else None
        else:
            node = node.get(str(step)) if hasattr(node, "get") else None
    items = node.items if isinstance(node, Seq) else ()
    return {item.word for item in items if isinstance(item, Scalar) and not item.here}


def _statements(request: Request, shape: Statement) -> Iterator[Completion]:
    """Whole statements in braces, as items of a list in brackets."""
    spot = request.spot
    for number, keyword in enumerate(default_table()):
        if shape.plane in keyword.planes and not keyword.reserved:
            text = Writer(request.style).braces([whole(request, keyword, set())])
            sort = f"{rank(keyword, spot)}{number:03}"
            detail, doc = short(keyword), keyword_doc(keyword)
            yield Completion(keyword.name, Kind.KEYWORD, request.edit(text), detail, doc, True, sort)


def _opening(request: Request, shape: Shape) -> Iterator[Completion]:
    """What opens a list or a mapping, where nothing is typed yet."""
    spot = request.spot
    if request.typed or spot is None or spot.mapping is not None or spot.scalar.quote or spot.scalar.word:
        return
    if isinstance(shape, Items | Statements):
        label, text = "[...]", Writer(request.style).value((Items((), False),))
        if isinstance(shape, Items) and not shape.alone:
            text = Writer(request.style).value((shape,))
    elif isinstance(shape, Fields):
        label, text = "{...}", Writer(request.style).mapping(shape.model)
    elif isinstance(shape, Table | Keys):
        label, text = "{...}", Writer(request.style).value((shape,))
    else:
        return
    yield Completion(label, Kind.SNIPPET, request.edit(text), "", "", True, f"9{label}")

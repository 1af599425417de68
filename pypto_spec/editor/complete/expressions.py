"""What can stand in a formula: names in scope, functions, words, and arguments by name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_spec.convert.exprs import FUNCTIONS as WHOLE
from pypto_spec.editor.complete import formulas
from pypto_spec.editor.complete.docs import function_doc, sentence
from pypto_spec.editor.complete.formulas import Cursor, Level
from pypto_spec.editor.complete.functions import CHOICE, Function, Param, functions_of
from pypto_spec.editor.complete.grammars import Grammar
from pypto_spec.editor.complete.names import called_arguments, names, tensors, tiles
from pypto_spec.editor.complete.request import Request
from pypto_spec.editor.complete.scope import Named
from pypto_spec.editor.complete.text.tree import CURSOR
from pypto_spec.editor.model import Completion, Edit, Kind
from pypto_spec.spec.formula.parser import RESERVED

_FLOATS = ("inf", "nan")
_TRUTHS = ("true", "false")


class Place:
    """A formula with the cursor in it. `sizes` tells that sizes are wanted here whatever the formula is."""

    def __init__(self, request: Request, grammar: Grammar, text: str, inner: int, cursor: Cursor) -> None:
        self.request = request
        self.scope = request.scope
        self.text = text
        self.cursor = cursor
        self.start, self.end = inner + cursor.start, inner + cursor.end
        self.outer = grammar
        self.function: Function | None = None
        self.param: Param | None = None
        self.grammar = grammar
        level = cursor.levels[-1] if cursor.levels else None
        call = cursor.call
        if call is not None:
            self.function = functions_of(grammar, self.scope).get(call.name)
            self.param = active(self.function, call)[1] if self.function is not None else None
        if any(inner.kind == "slice" for inner in cursor.levels) or (level is not None and level.kind == "list"):
            self.grammar, self.param = "size", None
        elif self.param is not None and self.param.kind in ("expr", "condition"):
            self.grammar = "size" if self.param.kind == "expr" and grammar != "constant" else grammar


def place_of(request: Request, grammar: Grammar, *, calls: bool = False) -> Place | None:
    """The cursor in the formula around it; None where no word can stand, unless it is about the calls around it."""
    spot = request.spot
    assert spot is not None
    scalar = spot.scalar
    text = scalar.text.replace(CURSOR, "")
    at = scalar.text.find(CURSOR)
    inner = scalar.inner
    if text.lstrip()[:1] == "$":
        return None
    if grammar == "format":
        opened = _brace(text, at)
        if opened is None:
            return None
        text, at, inner = text[opened:], at - opened, inner + opened
    cursor = formulas.read(text, at, grammar == "let", numbers=calls)
    return Place(request, grammar, text, inner, cursor) if cursor is not None else None


def _brace(text: str, at: int) -> int | None:
    """Where the expression in braces around an offset starts; None outside of braces."""
    opened: int | None = None
    place = 0
    while place < at:
        if opened is None and text[place : place + 2] == "{{":
            place += 1
        elif text[place] == "{":
            opened = place + 1
        elif text[place] == "}":
            opened = None
        place += 1
    return opened


def active(function: Function, level: Level) -> tuple[int | None, Param | None]:
    """The argument that is being written: its number and itself; None where the function has no such argument."""
    params = function.params
    if level.keyword:
        return next(((n, p) for n, p in enumerate(params) if p.name == level.keyword), (None, None))
    if level.given:  # behind an argument by name
        return None, None
    if level.argument < len(params):
        return level.argument, params[level.argument]
    return (len(params), params[-1]) if function.more and params else (None, None)


def expressions(request: Request, grammar: Grammar) -> Iterator[Completion]:
    """What can stand at the cursor in a formula."""
    place = place_of(request, grammar)
    if place is None:
        return
    if place.cursor.target:
        yield from _targets(place)
        return
    if not place.cursor.operand:
        yield from _signs(place)
        return
    if place.function is not None and place.param is None and place.grammar != "size":
        yield from _by_name(place)
        return
    if place.param is not None and place.param.words:
        yield from _words(place, place.param)
    elif place.param is not None and place.param.kind == "flag":
        yield from (_item(place, word, Kind.WORD, sort=f"0{word}") for word in _TRUTHS)
    elif place.param is not None and place.param.kind in ("ints", "exprs"):
        yield _item(place, "[...]", Kind.SNIPPET, "[${1}]", place.param.doc, snippet=True, sort="0")
    else:
        for number, named in enumerate(readable(place)):
            yield _item(place, named.name, named.kind, detail=named.detail, sort=f"0{number:03}")
        yield from _functions(place)
        yield from _reserved(place)
    yield from _by_name(place)


def _targets(place: Place) -> Iterator[Completion]:
    """What a `let` may bind, with the sign behind it."""
    if place.text[: place.cursor.start].strip():
        return
    follows = place.cursor.follows == "="
    for number, named in enumerate(names(place.request, "bind")):
        text = named.name if follows else f"{named.name} = "
        yield _item(place, named.name, named.kind, text, named.detail, sort=f"0{number:03}")


def readable(place: Place) -> list[Named]:
    """The names that a formula can read here."""
    scope, grammar = place.scope, place.grammar
    constants = [named for named in scope.kinds(Kind.CONSTANT) if named.of != "word"]
    whole = [named for named in scope.names.values() if named.whole]
    if grammar == "let":
        return _of_let(place, whole)
    if grammar == "golden":
        return [*names(place.request, "input"), *scope.kinds(Kind.SYMBOL), *constants]
    if grammar == "value":
        return _of_value(place, whole)
    if grammar == "number":
        return [*constants, *scope.kinds(Kind.SCALAR)]
    if grammar == "constant":
        own = place.request.spot.path[-1] if place.request.spot is not None and place.request.spot.path else ""
        return [named for named in constants if named.name != own]
    if grammar == "fixed":
        return [named for named in whole if named.kind is Kind.CONSTANT or named.fixed]
    if grammar == "extent":
        return [named for named in whole if named.kind in (Kind.CONSTANT, Kind.SYMBOL)]
    near = [named for named in whole if named.kind in (Kind.INDEX, Kind.NUMBER)][::-1]
    far = [named for named in whole if named.kind not in (Kind.INDEX, Kind.NUMBER)]
    if grammar == "condition":
        far += [named for named in scope.kinds(Kind.CONSTANT) if not named.whole]
    if grammar == "format":
        far += [named for named in scope.kinds(Kind.CONSTANT, Kind.SCALAR) if not named.whole]
    return [*near, *far]


def _of_let(place: Place, whole: list[Named]) -> list[Named]:
    """Operands of a `let`: tiles and what goes with them, or integers where it computes a number."""
    scope = place.scope
    numbers = [named for named in whole if named.kind not in (Kind.SCALAR, Kind.CONSTANT)][::-1]
    if _is_number(place):
        return [*numbers, *(named for named in whole if named.kind in (Kind.SCALAR, Kind.CONSTANT))]
    operands = [*tiles(scope), *tensors(scope), *scope.kinds(Kind.SCALAR)]
    operands += [named for named in scope.kinds(Kind.CONSTANT) if named.of != "word"]
    own = place.function is not None and place.function.own
    return [*operands, *numbers] if own or _may_be_number(place) else operands


def _is_number(place: Place) -> bool:
    """Whether a `let` computes a number: it reads what tiles are not computed with."""
    numbers = {named.name for named in place.scope.kinds(Kind.SYMBOL, Kind.INDEX, Kind.NUMBER)}
    return bool(numbers & set(place.cursor.names)) and _may_be_number(place)


def _may_be_number(place: Place) -> bool:
    """Whether a `let` may compute a number still: neither a tile nor a function of tiles stands before the cursor."""
    values = {named.name for named in place.scope.kinds(Kind.TILE, Kind.TENSOR, Kind.ARGUMENT)}
    if values & set(place.cursor.names):
        return False
    called = re.findall(r"([A-Za-z_]\w*)\s*\(", place.text[: place.cursor.start])
    return not any(name in functions_of("let", place.scope) and name not in WHOLE for name in called)


def _of_value(place: Place, whole: list[Named]) -> list[Named]:
    """What a call, a loop or an arm hands on."""
    scope, spot = place.scope, place.request.spot
    constants = scope.kinds(Kind.CONSTANT)
    around = spot.statement if spot is not None else None
    key = str(spot.path[-1]) if spot is not None and spot.path else ""
    what = dict(called_arguments(scope, around)).get(key, "")
    if what == "tensor":
        return tensors(scope)
    if what == "index":
        return whole
    if what == "scalar":
        return [*scope.kinds(Kind.SCALAR), *(named for named in constants if named.of != "word")]
    if what:
        return [*tiles(scope), *tensors(scope)]
    rest = [named for named in whole if named.kind not in (Kind.CONSTANT, Kind.SCALAR)]
    return [*tiles(scope), *tensors(scope), *rest, *scope.kinds(Kind.SCALAR), *constants]


def _functions(place: Place) -> Iterator[Completion]:
    grammar = place.grammar
    if grammar in ("number", "value"):
        return
    found = functions_of(grammar, place.scope)
    if grammar == "let" and _may_be_number(place):
        found = {**functions_of("size", place.scope), **({} if _is_number(place) else found)}
    for function in found.values():
        text, snippet = function.name, False
        if place.cursor.follows != "(":
            stops = ", ".join(f"${{{n}:{p.name}}}" for n, p in enumerate((p for p in function.params if p.required), 1))
            text, snippet = f"{function.name}({stops})", bool(stops)
        yield _item(
            place,
            function.name,
            Kind.FUNCTION,
            text,
            function.text[len(function.name) :],
            snippet=snippet,
            doc=function_doc(function),
            sort=f"{1 if function.own else 2}{function.name}",
            commas="," in text,
        )


def _reserved(place: Place) -> Iterator[Completion]:
    """Words of the grammar that are values."""
    found: tuple[str, ...] = ()
    if place.grammar == "condition":
        found = ("not", *_TRUTHS)
    elif place.grammar in ("number", "let", "golden") and place.request.typed:
        found = _FLOATS
    elif place.grammar == "constant" and place.request.typed:
        found = _TRUTHS
    yield from (_item(place, word, Kind.WORD, sort=f"8{word}") for word in found if word in RESERVED)


def _signs(place: Place) -> Iterator[Completion]:
    """What joins conditions, behind an operand."""
    chosen = place.function is not None and place.function.name == CHOICE
    if place.grammar == "condition" or chosen:
        blank = place.text[: place.cursor.start][-1:] in (" ", ")", "]")
        yield from (_item(place, word, Kind.OPERATOR, sort=f"0{word}") for word in ("and", "or") if blank)


def _words(place: Place, param: Param) -> Iterator[Completion]:
    for number, word in enumerate(param.words):
        detail = "default" if word == param.default else ""
        yield _item(place, word, Kind.WORD, detail=detail, doc=sentence(param.doc), sort=f"0{number:03}")
    for named in place.scope.kinds(Kind.CONSTANT):
        if named.value in param.words:
            yield _item(place, named.name, Kind.CONSTANT, detail=named.detail, sort=f"1{named.name}")


def _by_name(place: Place) -> Iterator[Completion]:
    """Arguments of the call that can be given by name: those that may be left out, or that are no operands."""
    call, function = place.cursor.call, place.function
    level = place.cursor.levels[-1] if place.cursor.levels else None
    if call is None or function is None or level is not call or call.keyword or not call.first:
        return
    for number, param in enumerate(function.params):
        operand = param.required and param.kind in ("any", "tile", "number", "expr")
        given = number < call.argument - len(call.given) or param.name in call.given
        if not operand and not given:
            text = param.name if place.cursor.follows == "=" else f"{param.name}="
            detail = " | ".join(param.words[:4]) or param.kind
            yield _item(
                place, f"{param.name}=", Kind.ARGUMENT, text, detail, doc=sentence(param.doc), sort=f"3{number:02}"
            )


def _item(
    place: Place,
    label: str,
    kind: Kind,
    text: str = "",
    detail: str = "",
    *,
    doc: str = "",
    snippet: bool = False,
    sort: str = "",
    commas: bool = False,
) -> Completion:
    """A proposal within a formula: quotes come with it where the formula needs them."""
    request = place.request
    text = text or label
    scalar = request.spot.scalar if request.spot is not None else None
    assert scalar is not None
    start, end = place.start, place.end
    also: list[Edit] = []
    needs = not scalar.quote and (request.toml or (commas and request.spot is not None and request.spot.flow))
    if needs:
        first, last = request.real(scalar.start), request.real(scalar.end)
        text = f'"{text}' if first == start else text
        also += [Edit(first, first, '"')] if first != start else []
        text = f'{text}"' if last == end else text
        also += [Edit(last, last, '"')] if last != end else []
    before = request.text[start - 1 : start]
    if request.real(scalar.start) == start and before in ((":", "-") if not request.toml else ("=",)):
        text = f" {text}"
    return Completion(label, kind, Edit(start, end, text), detail, doc, snippet, sort, tuple(also))

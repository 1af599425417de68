"""The call around the cursor."""

from __future__ import annotations

from pypto_spec.editor.complete.docs import function_doc
from pypto_spec.editor.complete.expressions import active, place_of
from pypto_spec.editor.complete.functions import functions_of
from pypto_spec.editor.complete.grammars import Grammar
from pypto_spec.editor.complete.request import Request
from pypto_spec.editor.complete.shapes import Formula
from pypto_spec.editor.complete.values import alone
from pypto_spec.editor.model import Signature


def signature_at(request: Request) -> Signature | None:
    """The innermost call around the cursor whose function is known."""
    spot = request.spot
    if spot is None:
        return None
    for shape in alone(spot.shapes):
        if isinstance(shape, Formula):
            found = _in_formula(request, shape.grammar)
            if found is not None:
                return found
    return None


def _in_formula(request: Request, grammar: Grammar) -> Signature | None:
    place = place_of(request, grammar, calls=True)
    if place is None:
        return None
    known = {**functions_of("size", request.scope), **functions_of(grammar, request.scope)}
    for level in reversed(place.cursor.levels):
        function = known.get(level.name) if level.kind == "call" else None
        if function is not None:
            parameters = []
            at = len(function.name) + 1
            for param in function.params:
                parameters.append((at, at + len(param.text)))
                at += len(param.text) + 2
            if function.more:
                parameters.append((at, at + 3))
            number, _ = active(function, level)
            return Signature(function.text, tuple(parameters), number, function_doc(function))
    return None

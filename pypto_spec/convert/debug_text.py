"""The text of a `debug: {print: ...}`: what stands in its braces becomes integers, numbers and run-time scalars."""

from __future__ import annotations

import re
from typing import NoReturn

from pypto_spec.convert.context import Reading
from pypto_spec.diagnostics.model import Fix
from pypto_spec.diagnostics.rules.syntax import DEBUG_TEXT
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Value
from pypto_spec.ops.debug import PRINTED, bad_character, pieces
from pypto_spec.spec.formula import FormulaError, parse_expression
from pypto_spec.spec.formula import Name as NameExpr
from pypto_spec.spec.formula.nodes import Expr as Part
from pypto_spec.spec.tree import Node, ScalarNode

EXAMPLE = 'write it as `print: "block {b}: row {i * 64}"`; a brace that is text is doubled, `{{`'


def read_format(reading: Reading, node: Node) -> tuple[str, tuple[Index, ...], dict[str, Value]]:
    """The text with `{}` for each integer and `{name}` for each scalar, the integers, and the scalars as operands.

    Raises CompileError at the part of the text that is wrong. Constants that are no integers are put into the text.
    """
    text = reading.text(node)
    made, values, scalars = "", list[Index](), dict[str, Value]()
    at = 0
    try:
        found = list(pieces(text))
    except ValueError as error:
        _fail(reading, node, error.args[1], error.args[1] + 1, f"the text has {error.args[0]}", EXAMPLE)
    for literal, held in found:
        bad = bad_character(literal)
        if bad is not None:
            _fail(reading, node, 0, len(text), *bad)
        made += literal.replace("{", "{{").replace("}", "}}")
        if held is None:
            break
        at = text.index("{" + held + "}", at) + 1
        shown = _held(reading, node, held, at)
        if isinstance(shown, str):
            made += shown
        elif isinstance(shown, Value):
            made += f"{{{shown.name}}}"
            scalars[PRINTED + shown.name] = shown
        else:
            made += "{}"
            values.append(shown)
        at += len(held)
    return made, tuple(values), scalars


def _held(reading: Reading, node: Node, held: str, at: int) -> Index | Value | str:
    """What one pair of braces shows."""
    if not held.strip() or ":" in held or "!" in held:
        _fail(
            reading, node, at - 1, at + len(held) + 1,
            "braces hold one integer expression or the name of a scalar or constant, and nothing about its form",
            EXAMPLE, instead=f"{{{shown}}}" if (shown := re.split("[:!]", held)[0].strip()) else "",
        )  # fmt: skip
    try:
        expr = parse_expression(held)
        known = _named(reading, expr)
        return reading.exprs.index(expr) if known is None else known
    except FormulaError as error:
        if not isinstance(node, ScalarNode) or node.text[:1] == "$":
            _fail(reading, node, 0, 0, f"`{held}`: {error.message}", error.help)
        error.start, error.end = error.start + at, error.end + at
        raise reading.formula_error(error, node) from None


def _named(reading: Reading, expr: Part) -> Value | str | None:
    """The value of a name that is no integer: a run-time scalar, or the text of a constant."""
    found = reading.scope.get(expr.id) if isinstance(expr, NameExpr) else None
    if found is None:
        return None
    if found.kind == "scalar" and found.index is None:
        return found.value
    if found.kind == "constant" and type(found.constant) is not int:
        text = str(found.constant)
        return text.lower() if isinstance(found.constant, bool) else text
    return None


def _fail(
    reading: Reading, node: Node, start: int, end: int, message: str, way_out: str, instead: str = ""
) -> NoReturn:
    """Refuse a part of the text; `instead` is what could stand there."""
    plain = isinstance(node, ScalarNode) and node.text[:1] != "$" and end > start
    place = node.sub_span(start, end) if plain and isinstance(node, ScalarNode) else node
    fixes = [Fix(place, instead, title=f"write `{instead}`")] if instead and isinstance(place, Span) else []
    reading.fail(DEBUG_TEXT, place, message, label="here", helps=[way_out], fixes=[] if node.via else fixes)

"""Functions of the spec inside a `let`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pypto_spec.convert.let_terms import Number, Scalar, Term, Tile
from pypto_spec.convert.numbers import is_number
from pypto_spec.diagnostics.rules.calls import BAD_CALL
from pypto_spec.diagnostics.rules.shapes import NO_TILE
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Value
from pypto_spec.spec.formula import Call, Expr, FormulaError, Name
from pypto_spec.spec.models.document import Function

if TYPE_CHECKING:
    from pypto_spec.convert.let import Formula


def called(formula: Formula, function: Function, call: Call) -> Term:
    """A call of a function of the spec that returns one tile; its arguments stand in its order, or by name."""
    maker = formula.maker
    place = maker.node.sub_span(call.start, call.start + len(call.func))
    if len(function.model.returns) != 1:
        raise maker.fail(
            BAD_CALL,
            call,
            f"`{function.name}` returns {len(function.model.returns)} values; in a formula it must be one",
            label="not one value",
            helps=("use the statement `call`, which names all of them",),
        )
    wanted = list(function.model.args)
    if len(call.args) > len(wanted):
        raise maker.fail(
            BAD_CALL, call, f"`{function.name}` takes {len(wanted)} arguments, found {len(call.args)}",
            label="too many", helps=(f"it takes {', '.join(wanted) or 'none'}",),
        )  # fmt: skip
    written: dict[str, Expr] = dict(zip(wanted, call.args, strict=False)) | {k.name: k.value for k in call.keywords}
    given = {name: (_given(formula, expr), maker.node.sub_span(expr.start, expr.end)) for name, expr in written.items()}
    assert formula.functions is not None
    made, (result,) = formula.functions.call(function, given, place, maker.loc)
    if not isinstance(result, Value):
        raise maker.fail(
            NO_TILE, call, f"`{function.name}` returns a number here; use the statement `call`", label="no tile"
        )
    value = Value(formula.reading.fresh.name(maker.target), result.type)
    maker.made.append(replace(made, returned=(result,), results=(value,)))
    return Tile(value, value.type.dtype, call)


def _given(formula: Formula, expr: Expr) -> Value | Index | float:
    """An argument of a function of the spec."""
    found = formula.reading.scope.get(expr.id) if isinstance(expr, Name) else None
    if found is not None and found.kind == "scalar" and found.value is not None:
        return found.value  # an integer one as well: the body may compute with it
    if is_number(expr, formula.reading.scope):
        try:
            return formula.reading.exprs.index(expr)
        except FormulaError as error:
            raise formula.reading.formula_error(error, formula.maker.node) from None
    term = formula.term(expr)
    if isinstance(term, Number | Scalar):
        return term.value
    return formula.maker.exact(term)

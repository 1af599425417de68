"""Function calls in a `let`: arguments by position or by name become the fields of an op."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from pypto_spec.convert.instructions import index_text
from pypto_spec.convert.let_called import called
from pypto_spec.convert.let_composites import COMPOSITES, composite
from pypto_spec.convert.let_terms import Number, Scalar, Term, Tile
from pypto_spec.diagnostics.rules.names import UNKNOWN_FUNCTION
from pypto_spec.diagnostics.rules.shapes import BAD_ARGUMENT, RUNTIME_SIZE
from pypto_spec.diagnostics.rules.syntax import UNKNOWN_WORD
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.dtype import DTYPES, FP32, DType
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Attr
from pypto_spec.ir.opdef import Field, OpDef
from pypto_spec.ir.types import Memory
from pypto_spec.ops.registry import OPS, function, functions
from pypto_spec.spec.formula import Boolean, Call, Expr, FormulaError, ListExpr, Name

if TYPE_CHECKING:
    from pypto_spec.convert.formula_place import Stretch
    from pypto_spec.convert.let import Formula

T = TypeVar("T")

GOLDEN_ONLY = frozenset(
    {
        "floor",
        "ceil",
        "round",
        "trunc",
        "sign",
        "erf",
        "layer_norm",
        "rms_norm",
    }
)
"""Functions that the formulas of `golden` have and kernels do not have yet."""

_INSTEAD = {"max": "maximum", "min": "minimum", "pow": "exp", "sum": "row_sum", "ln": "log", "reciprocal": "recip"}

_FOLDS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "abs": abs,
    "neg": lambda x: -x,
    "recip": lambda x: 1.0 / x,
    "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "relu": lambda x: max(x, 0),
}


class Calls:
    """Reads the calls of one formula."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def term(self, call: Call) -> Term:
        """The op of a call."""
        if call.func == "where":
            return self.formula.choices.where(call)
        if call.func in COMPOSITES:
            return composite(self.formula, call)
        defns = function(call.func)
        if not defns:
            own = self.formula.reading.functions.get(call.func)
            if own is not None:
                return called(self.formula, own, call)
            raise self._unknown(call)
        if call.func == "cast":
            return self._cast(call, defns[0])
        written = self._arguments(call, defns)
        if len(defns) > 1:
            return self._pair(call, written)
        return self._plain(call, defns[0], written)

    def _pair(self, call: Call, written: dict[str, Expr]) -> Term:
        """A function of two operands that spread like those of an infix sign."""
        left, right = (self.formula.term(arg) for arg in written.values())
        return self.formula.binary(call.func, left, right, call)

    def _plain(self, call: Call, defn: OpDef, written: dict[str, Expr]) -> Term:
        terms: dict[str, Term] = {}
        attrs: dict[str, Attr] = {}
        for field in defn.fields:
            expr = written.get(field.name)
            if expr is None:
                continue
            if field.kind in ("tile", "number"):
                terms[field.name] = self.formula.term(expr)
            else:
                attrs[field.name] = self.attr(field, expr)
        tiles = [f for f in defn.fields if f.kind == "tile"]
        if len(terms) == 1 and tiles:
            (term,) = terms.values()
            if isinstance(term, Number) and call.func in _FOLDS:
                return Number(self._fold(call, term.value), call)
        for field in tiles:
            if isinstance(terms.get(field.name), Number | Scalar):
                raise self.formula.maker.fail(
                    BAD_ARGUMENT,
                    terms[field.name].at,
                    f"`{call.func}` takes a tile as `{field.name}`",
                    label="a number",
                )
        for field in defn.fields:
            found = terms.get(field.name)
            if field.kind == "number" and isinstance(found, Tile):
                raise self.formula.maker.fail(
                    BAD_ARGUMENT, found.at, f"`{call.func}` takes a number as `{field.name}`", label="a tile"
                )
            dtype = attrs.get("dtype")
            if isinstance(found, Number) and not tiles and isinstance(dtype, DType):
                self.formula.maker.check_literal(found, dtype)
        return self.formula.maker.apply(defn, terms, attrs, call)

    def _fold(self, call: Call, value: float) -> float:
        try:
            return _FOLDS[call.func](value)
        except (ValueError, OverflowError, ZeroDivisionError):
            raise self.formula.maker.fail(
                BAD_ARGUMENT, call, f"`{call.func}({value})` has no value", label="outside its domain"
            ) from None

    def _cast(self, call: Call, defn: OpDef) -> Term:
        formula = self.formula
        written = self._arguments(call, (defn,))
        term = formula.term(written["x"])
        dtype = cast(DType, self.attr(defn.field("dtype"), written["dtype"]))
        attrs: dict[str, Attr] = {"dtype": dtype}
        if "mode" in written:
            attrs["mode"] = self.attr(defn.field("mode"), written["mode"])
        if not isinstance(term, Tile):
            raise formula.maker.fail(
                BAD_ARGUMENT,
                term.at,
                "`cast` of a number: numbers take the dtype of the tile beside them",
                label="a number",
                helps=("leave the cast out",),
            )
        value = term.value
        if "mode" not in attrs and value.type.dtype == dtype and (term.dtype == dtype or dtype == FP32):
            return Tile(value, dtype, call)  # it is that already; fp32 results of bf16 operands stay unrounded
        places: dict[str, Stretch] = {"x": written["x"], "dtype": written["dtype"]}
        if "mode" in written:
            places["mode"] = written["mode"]
        return formula.maker.emit(defn, {"x": value}, attrs, places, call)

    # Arguments

    def _arguments(self, call: Call, defns: tuple[OpDef, ...]) -> dict[str, Expr]:
        """The arguments by field name; for a function of several operators by the fields of the first."""
        defn = defns[0]
        fields = [f for f in defn.fields if f.kind != "bind"]
        written: dict[str, Expr] = {}
        takes = ", ".join(f.name if f.required else f"{f.name}=..." for f in fields)
        usage = f"write `{call.func}({takes})`"
        if len(call.args) > len(fields):
            extra = call.args[len(fields)]
            raise self.formula.maker.fail(
                BAD_ARGUMENT,
                extra,
                f"`{call.func}` takes {len(fields)} argument{'' if len(fields) == 1 else 's'}, found {len(call.args)}",
                label="one too many",
                helps=(usage,),
            )
        for field, arg in zip(fields, call.args, strict=False):
            written[field.name] = arg
        names = [f.name for f in fields]
        for keyword in call.keywords:
            if keyword.name not in names:
                meant = did_you_mean(keyword.name, names)
                raise self.formula.maker.fail(
                    BAD_ARGUMENT,
                    keyword,
                    f"`{call.func}` has no argument `{keyword.name}`",
                    label="unknown argument",
                    helps=(meant or usage,),
                )
            if keyword.name in written:
                raise self.formula.maker.fail(
                    BAD_ARGUMENT,
                    keyword,
                    f"`{keyword.name}` of `{call.func}` is given twice",
                    label="given by position already",
                    helps=(usage,),
                )
            written[keyword.name] = keyword.value
        missing = [f for f in fields if f.required and f.name not in written]
        if missing:
            raise self.formula.maker.fail(
                BAD_ARGUMENT,
                call,
                f"`{call.func}` needs `{missing[0].name}`: {missing[0].doc}",
                label=f"`{missing[0].name}` is missing",
                helps=(usage,),
            )
        return written

    def attr(self, field: Field, expr: Expr) -> Attr:
        """An argument that is neither a tile nor a number."""
        if field.kind == "dtype":
            return self._word(expr, DTYPES, "dtype")
        if field.kind == "memory":
            return self._word(expr, {m.value: m for m in Memory}, "memory")
        if field.kind in ("word", "flag") and isinstance(expr, Boolean):
            return expr.value
        if field.kind == "flag":
            raise self.formula.maker.fail(
                BAD_ARGUMENT, expr, f"`{field.name}` is true or false", label="neither", helps=("write `true`",)
            )
        if field.kind == "word":
            return self._word(expr, {w: w for w in field.words}, f"`{field.name}`")
        if field.kind in ("ints", "exprs"):
            if not isinstance(expr, ListExpr):
                raise self.formula.maker.fail(
                    BAD_ARGUMENT,
                    expr,
                    f"`{field.name}` is a list",
                    label="no list",
                    helps=("write it in brackets: `[64, 128]`",),
                )
            return tuple(self._index(item, field.kind == "ints") for item in expr.items)
        return self._index(expr, False)

    def _index(self, expr: Expr, static: bool) -> Index:
        reading = self.formula.reading
        try:
            value = reading.exprs.index(expr)
        except FormulaError as error:
            raise reading.formula_error(error, self.formula.maker.node) from None
        if static and not isinstance(value, int):
            raise self.formula.maker.fail(
                RUNTIME_SIZE,
                expr,
                f"a size must be known at compile time, found `{index_text(value)}`",
                label="depends on run-time values",
            )
        return value

    def _word(self, expr: Expr, words: Mapping[str, T], what: str) -> T:
        text = expr.id if isinstance(expr, Name) else ""
        reading = self.formula.reading
        constant = reading.scope.get(text)
        if text not in words and constant is not None and isinstance(constant.constant, str):
            text = constant.constant
        if text not in words:
            shown = self.formula.maker.node.text[expr.start : expr.end]
            raise self.formula.maker.fail(
                UNKNOWN_WORD,
                expr,
                f"`{shown}` is no {what}",
                label="unknown word",
                helps=(did_you_mean(shown, words) or f"one of {', '.join(words)}",),
            )
        return words[text]

    def _unknown(self, call: Call) -> Exception:
        at = Name(call.func, call.start, call.start + len(call.func))
        name = call.func
        if name in GOLDEN_ONLY:
            return self.formula.maker.fail(
                NOT_YET,
                at,
                f"`{name}` exists in the formulas of `golden` only; kernels do not have it yet",
                label="not in kernels yet",
                helps=("write it out with the functions that kernels have: `docs/ops.md` lists them",),
            )
        instead = _INSTEAD.get(name)
        meant = (
            f"did you mean `{instead}`?"
            if instead
            else did_you_mean(name, (*self.formula.reading.functions, *functions(), *COMPOSITES, "where"))
        )
        return self.formula.maker.fail(
            UNKNOWN_FUNCTION,
            at,
            f"there is no function `{name}`",
            label="unknown function",
            helps=(meant or f"there are {_listed()}",),
        )


def is_known_function(name: str) -> bool:
    """Whether `let` has a function, or the language an operator, of that name."""
    return name in OPS or name in COMPOSITES or name in GOLDEN_ONLY or name == "where" or bool(function(name))


def _listed() -> str:
    return ", ".join(f"`{f}`" for f in (*functions(), *COMPOSITES, "where"))

"""Integer expressions and conditions of a spec as indices and conditions of the IR.

Errors are FormulaErrors: they know offsets into the formula, and the reader of the node makes the diagnostic.
"""

from __future__ import annotations

from typing import Literal, cast

from pypto_spec.convert.instructions import index_text
from pypto_spec.convert.scope import Kind, PoisonedError, Scope
from pypto_spec.convert.scope import Name as Meaning
from pypto_spec.diagnostics.rules.names import NOT_A_VALUE, UNDEFINED_NAME
from pypto_spec.diagnostics.rules.shapes import NOT_AN_INDEX
from pypto_spec.diagnostics.rules.syntax import ARITHMETIC, NUMBER_RANGE
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir import expr as ir
from pypto_spec.ir.expr import Index, Sym
from pypto_spec.ir.nodes import Condition, Relation
from pypto_spec.spec.formula import (
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
    FormulaError,
    ListExpr,
    Logical,
    Name,
    Number,
    Subscript,
    Unary,
)
from pypto_spec.spec.formula.integer import evaluate

FUNCTIONS = ("min", "max", "ceil_div", "abs", "num_blocks")
"""Functions of integer expressions."""

_LIMIT = 1 << 63
_WORDS_OF_INDEX = "integers, constants, symbols, loop indices and `+ - * // % min max ceil_div`"


class Expressions:
    """Reads expressions where the names of a scope are in force."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.affine = True
        """Whether products of run-time values are refused, as everywhere but in tensor shapes and dumps."""
        self.blocks: list[Sym] = []
        """The `num_blocks()` symbols of the grids around this point, the innermost last."""

    def index(self, expr: Expr) -> Index:
        """The index an expression stands for. Raises FormulaError."""
        if isinstance(expr, Number):
            if isinstance(expr.value, int):
                return self._fits(expr.value, expr)
            raise _no_index(expr, f"an integer is needed here, found {expr.value!r}", "write an integer")
        if isinstance(expr, Name):
            return self._name(expr)
        if isinstance(expr, Binary):
            return self._fits(self._binary(expr), expr)
        if isinstance(expr, Unary) and expr.op in "+-":
            value = self.index(expr.operand)
            return self._fits(ir.neg(value), expr) if expr.op == "-" else value
        if isinstance(expr, Call):
            return self._fits(self._call(expr), expr)
        what = {Subscript: "a slice", ListExpr: "a list", Boolean: "a boolean"}.get(type(expr), "a condition")
        raise _no_index(expr, f"an integer expression is needed here, found {what}", f"it is made of {_WORDS_OF_INDEX}")

    def _fits(self, value: Index, expr: Expr) -> Index:
        const = value if isinstance(value, int) else value.const
        if -_LIMIT <= const < _LIMIT:
            return value
        raise FormulaError(
            "the value does not fit in 64 bits",
            expr.start,
            expr.end,
            "sizes are 64-bit integers",
            rule=NUMBER_RANGE,
            label="this part",
        )

    def _name(self, expr: Name) -> Index:
        found = self.scope.get(expr.id)
        if found is None:
            raise UndefinedNameError(expr, ("constant", "symbol", "index", "number"))
        if found.index is not None:
            return found.index
        if found.kind == "constant":
            value = found.constant
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            shown = f"the word `{value}`" if isinstance(value, str) else repr(value)
            raise NotIntegerError(expr, found, f"an integer is needed here, `{expr.id}` is {shown}")
        if found.kind == "value" and found.value is None:
            raise PoisonedError
        raise FormulaError(
            f"`{expr.id}` is {found.what}, not an integer",
            expr.start,
            expr.end,
            f"sizes and indices are made of {_WORDS_OF_INDEX}",
            rule=NOT_A_VALUE,
            label="no integer",
        )

    def _binary(self, expr: Binary) -> Index:
        op = expr.op
        if op == "/":
            swap = expr.left.end, expr.right.start, "/", "//"
            raise _no_index(expr, "`/` in an integer expression", "use `//` (rounds down) or `ceil_div(a, b)`", swap)
        left, right = self.index(expr.left), self.index(expr.right)
        if op == "+":
            return ir.add(left, right)
        if op == "-":
            return ir.sub(left, right)
        if op == "*":
            if self.affine and not isinstance(left, int) and not isinstance(right, int):
                raise _no_index(
                    expr,
                    f"a product of the run-time values `{index_text(left)}` and `{index_text(right)}`",
                    "one factor must be a constant: addresses are affine, so that windows can be proven apart",
                )
            return ir.mul(left, right)
        if op == "**":
            if isinstance(left, int) and isinstance(right, int):
                return cast(
                    int,
                    evaluate(
                        Binary("**", _number(left, expr.left), _number(right, expr.right), expr.start, expr.end), {}
                    ),
                )
            raise _no_index(expr, "a power of run-time values", "both operands of `**` must be constants")
        divisor = self._divisor(right, expr.right, op)
        return ir.floordiv(left, divisor) if op == "//" else ir.mod(left, divisor)

    def _divisor(self, value: Index, expr: Expr, op: str) -> int:
        if not isinstance(value, int):
            raise _no_index(expr, f"the divisor of `{op}` must be a constant", "divide by an integer or a constant")
        if value <= 0:
            raise FormulaError(
                f"the divisor of `{op}` must be positive, found {value}",
                expr.start,
                expr.end,
                "divide by a positive constant",
                rule=ARITHMETIC,
                label=f"this is {value}",
            )
        return value

    def _call(self, expr: Call) -> Index:
        name = expr.func
        if name not in FUNCTIONS:
            raise FormulaError(
                f"`{name}` is no function of integer expressions",
                expr.start,
                expr.start + len(name),
                did_you_mean(name, FUNCTIONS) or f"known are {', '.join(f'`{f}`' for f in FUNCTIONS)}",
                rule=UNDEFINED_NAME,
                label="unknown here",
            )
        if expr.keywords:
            raise _no_index(expr, f"`{name}` takes no named arguments", "leave the name out")
        least, most = {"min": (2, 64), "max": (2, 64), "ceil_div": (2, 2), "abs": (1, 1), "num_blocks": (0, 0)}[name]
        if not least <= len(expr.args) <= most:
            takes = str(least) if least == most else f"{least} to {most}"
            word = "argument" if takes == "1" else "arguments"
            raise _no_index(
                expr, f"`{name}` takes {takes} {word}, found {len(expr.args)}", "nest the calls, or leave arguments out"
            )
        if name == "num_blocks":
            if not self.blocks:
                raise _no_index(expr, "`num_blocks()` stands outside `spmd`", "use it inside the body of an `spmd`")
            return ir.sym(self.blocks[-1])
        args = [self.index(arg) for arg in expr.args]
        if name == "ceil_div":
            return ir.ceil_div(args[0], self._divisor(args[1], expr.args[1], "ceil_div"))
        if name == "abs":
            return ir.maximum(args[0], ir.neg(args[0]))
        return ir.minimum(*args) if name == "min" else ir.maximum(*args)

    # Conditions

    def condition(self, expr: Expr) -> Condition:
        """The condition an expression stands for. Raises FormulaError."""
        if isinstance(expr, Logical):
            op = cast(Literal["and", "or"], expr.op)
            return Condition(op, self.condition(expr.left), self.condition(expr.right))
        if isinstance(expr, Unary) and expr.op == "not":
            return Condition("not", self.condition(expr.operand))
        if isinstance(expr, Compare) and not self._is_word(expr.left) and not self._is_word(expr.right):
            return Condition(cast(Relation, expr.op), self.index(expr.left), self.index(expr.right))
        if isinstance(expr, Name) and (found := self.scope.get(expr.id)) is not None and found.kind != "constant":
            way_out = f"compare it, as in `{expr.id} > 0`" if found.index is not None else "it is made of integers"
            raise _no_index(expr, f"a condition is needed here, `{expr.id}` is {found.what}", way_out)
        constants = {n.text: n.constant for n in self.scope if n.kind == "constant" and n.constant is not None}
        value = evaluate(expr, constants)
        if not isinstance(value, bool):
            raise _no_index(expr, f"a condition is needed here, found `{value}`", "compare it, as in `i > 0`")
        return Condition("==" if value else "!=", 0, 0)

    def _is_word(self, expr: Expr) -> bool:
        """Whether this operand of a comparison is a word, or a constant that is no integer."""
        if not isinstance(expr, Name):
            return False
        found = self.scope.get(expr.id)
        return found is not None and found.kind == "constant" and type(found.constant) is not int


class NotIntegerError(FormulaError):
    """A constant that is no integer stands where an integer is needed."""

    def __init__(self, expr: Name, found: Meaning, message: str) -> None:
        value = found.constant
        whole = isinstance(value, float) and value.is_integer() and abs(value) < _LIMIT
        way_out = (
            f"write `{expr.id}: {int(cast(float, value))}`, without a point" if whole else "write an integer constant"
        )
        super().__init__(message, expr.start, expr.end, way_out, rule=NOT_AN_INDEX, label="this part")
        self.found = found


class UndefinedNameError(FormulaError):
    """A name that means nothing here; suggestions are names of these `kinds`."""

    def __init__(self, expr: Name, kinds: tuple[Kind, ...]) -> None:
        super().__init__(f"`{expr.id}` is not defined here", expr.start, expr.end, "", rule=UNDEFINED_NAME)
        self.name = expr.id
        self.kinds = kinds


def _no_index(expr: Expr, message: str, help_text: str, swap: tuple[int, int, str, str] | None = None) -> FormulaError:
    return FormulaError(message, expr.start, expr.end, help_text, rule=NOT_AN_INDEX, label="this part", swap=swap)


def _number(value: int, like: Expr) -> Expr:
    return Number(value, like.start, like.end) if value >= 0 else Unary("-", Number(-value), like.start, like.end)

"""Comparisons and `where` in a `let`.

`where(a > b, x, y)` is one choice (`select`). A condition made of several is unfolded into nested choices: `p and q`
chooses by q where p holds, `p or q` by q where p does not, `not p` takes the two values the other way round. A
comparison that stands alone is a packed predicate (`cmp`), which `where(m, x, y)` takes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypto_spec.convert.formula_place import Stretch
from pypto_spec.convert.let_terms import Number, Scalar, Term, Tile, spread_kinds
from pypto_spec.diagnostics.rules.shapes import BAD_ARGUMENT, NO_TILE
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.ir.dtype import BF16, UINT8, DType
from pypto_spec.ir.nodes import Attr, Value
from pypto_spec.ops.compare import MODES
from pypto_spec.ops.registry import OPS
from pypto_spec.records import dataclass
from pypto_spec.spec.formula import Call, Compare, Expr, Logical, Unary

if TYPE_CHECKING:
    from pypto_spec.convert.let import Formula

_WORD = {sign: word for word, sign in MODES.items()}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""What a comparison is with its sides exchanged."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A condition: `and`, `or`, `not` of others, `mask` (a predicate), or a comparison by its word."""

    word: str
    inner: tuple[Asked, ...] = ()
    terms: tuple[Term, ...] = ()

    def tiles(self) -> list[Tile]:
        """Every tile in it."""
        return [t for t in self.terms if isinstance(t, Tile)] + [t for asked in self.inner for t in asked.tiles()]


def _common(tiles: list[Tile]) -> tuple[int, ...]:
    """The shape that all tiles spread to, as far as they do."""
    shapes = [t.shape for t in tiles]
    if len({len(s) for s in shapes}) > 1 or not all(isinstance(n, int) for s in shapes for n in s):
        return shapes[0]
    return tuple(map(max, zip(*shapes, strict=True)))


class Choices:
    """Reads the comparisons and choices of one formula."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def predicate(self, expr: Compare) -> Term:
        """A comparison by itself: a packed predicate."""
        sign, left, right = self._sides(expr)
        maker = self.formula.maker
        attrs: dict[str, Attr] = {"cmp_type": _WORD[sign]}
        lhs = self._exact(left)
        if isinstance(right, Tile):
            operands = {"lhs": lhs, "rhs": self._exact(right)}
            return maker.emit(OPS["cmp"], operands, attrs, {"lhs": left.at, "rhs": right.at}, expr)
        operands = {"x": lhs, **self._number(right, lhs.type.dtype, attrs)}
        return maker.emit(OPS["cmps"], operands, attrs, {"x": left.at, "scalar": right.at}, expr)

    def where(self, call: Call) -> Term:
        """`where(condition, a, b)`."""
        fail = self.formula.maker.fail
        names = ("condition", "a", "b")
        written = dict(zip(names, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.name not in names or keyword.name in written:
                raise fail(
                    BAD_ARGUMENT,
                    keyword,
                    f"`where` takes `{keyword.name}` not so",
                    label="unknown or twice",
                    helps=("write `where(condition, a, b)`",),
                )
            written[keyword.name] = keyword.value
        if len(written) < 3 or len(call.args) > 3:
            raise fail(
                BAD_ARGUMENT,
                call,
                f"`where` takes 3 arguments, found {len(call.args) + len(call.keywords)}",
                label="a condition and two values",
                helps=("write `where(condition, a, b)`",),
            )
        asked = self._condition(written["condition"])
        a, b = self.formula.term(written["a"]), self.formula.term(written["b"])
        values = [t for t in (a, b) if isinstance(t, Tile)]
        tiles = [t for t in (*asked.tiles(), *values) if t.dtype != UINT8 or t in values]
        if not tiles:
            raise fail(
                NO_TILE,
                call,
                "`where` of two numbers by a predicate: their dtype and shape are not known",
                label="packed bits and numbers",
                helps=("make one of the values a tile: `full([M, N], 1, dtype=fp32)`",),
            )
        shape = _common(tiles)
        dtype = (values or tiles)[0].dtype
        return self._choose(asked, self._branch(a, shape, dtype), self._branch(b, shape, dtype), shape, call)

    # Conditions

    def _condition(self, expr: Expr) -> Asked:
        """A condition, its terms computed once."""
        if isinstance(expr, Logical):
            return Asked(expr.op, (self._condition(expr.left), self._condition(expr.right)))
        if isinstance(expr, Unary) and expr.op == "not":
            return Asked("not", (self._condition(expr.operand),))
        if isinstance(expr, Compare):
            sign, left, right = self._sides(expr)
            return Asked(_WORD[sign], (), (left, right))
        term = self.formula.term(expr)
        if not isinstance(term, Tile) or term.dtype != UINT8:
            raise self.formula.maker.fail(
                BAD_ARGUMENT,
                expr,
                "`where` takes a comparison, or a predicate that `cmp` made, as its condition",
                label=f"{term.value.type}" if isinstance(term, Tile) else "a number",
                helps=(f"for what is not zero write `where({self.formula.maker.text(expr)} != 0, ...)`",),
            )
        return Asked("mask", (), (term,))

    def _choose(self, asked: Asked, a: Tile, b: Tile, shape: tuple[int, ...], call: Call) -> Tile:
        if asked.word in ("and", "or"):
            left, right = asked.inner
            inner = self._choose(right, a, b, shape, call)
            return self._choose(left, *((inner, b) if asked.word == "and" else (a, inner)), shape, call)
        if asked.word == "not":
            return self._choose(asked.inner[0], b, a, shape, call)
        if asked.word != "mask":
            return self._compared(asked, a, b, shape, call)
        (mask,) = asked.terms
        assert isinstance(mask, Tile)
        operands = {"mask": mask.value, "a": self._exact(a), "b": self._exact(b)}
        return self.formula.maker.emit(OPS["sel"], operands, {}, {"mask": mask.at, "a": a.at, "b": b.at}, call)

    def _compared(self, asked: Asked, a: Tile, b: Tile, shape: tuple[int, ...], call: Call) -> Tile:
        left, right = asked.terms
        assert isinstance(left, Tile)
        attrs: dict[str, Attr] = {"cmp_type": asked.word}
        operands: dict[str, Value] = {"lhs": self._wide(self._spread(left, shape))}
        places: dict[str, Stretch] = {"lhs": left.at}
        if isinstance(right, Tile):
            operands["rhs"] = self._wide(self._spread(right, shape))
            places["rhs"] = right.at
        else:
            operands |= self._number(right, operands["lhs"].type.dtype, attrs)
            places["scalar"] = right.at
        operands |= {"a": self._exact(a), "b": self._exact(b)}
        places |= {"a": a.at, "b": b.at}
        defn = OPS["select" if isinstance(right, Tile) else "selects"]
        ordered = {f.name: operands[f.name] for f in defn.fields if f.name in operands}
        fields = {f.name: attrs[f.name] for f in defn.fields if f.name in attrs}
        return self.formula.maker.emit(defn, ordered, fields, places, call)

    def _sides(self, expr: Compare) -> tuple[str, Tile, Term]:
        """The sign and both sides, a tile on the left."""
        left, right = self.formula.term(expr.left), self.formula.term(expr.right)
        if isinstance(left, Tile):
            return expr.op, left, right
        if isinstance(right, Tile):
            return _TURNED[expr.op], right, left
        raise self.formula.maker.fail(
            NO_TILE, expr, "a comparison of numbers is known at compile time or is an `if`", label="no tile in it"
        )

    # Operands

    def _branch(self, term: Term, shape: tuple[int, ...], dtype: DType) -> Tile:
        return self._spread(term, shape) if isinstance(term, Tile) else self.filled(term, shape, dtype)

    def filled(self, term: Number | Scalar, shape: tuple[int, ...], dtype: DType) -> Tile:
        """A number as a tile."""
        maker = self.formula.maker
        attrs: dict[str, Attr] = {"shape": shape}
        operands: dict[str, Value] = {}
        if isinstance(term, Number):
            maker.check_literal(term, dtype)
            attrs["value"] = term.value
        else:
            operands["value"] = term.value
        attrs["dtype"] = dtype
        places = {"value": term.at, "shape": term.at, "dtype": term.at}
        return Tile(maker.emit(OPS["full"], operands, attrs, places, term.at).value, dtype, term.at)

    def _spread(self, tile: Tile, shape: tuple[int, ...]) -> Tile:
        """A vector spread to a shape; what does not fit is left for the op to refuse."""
        kinds = spread_kinds(shape, tile.shape)
        if kinds is None or kinds[0] != "tile" or kinds[1] == "tile":
            return tile
        return self.formula.spread(tile, shape, kinds[1])

    def _wide(self, tile: Tile) -> Value:
        """What can be compared: bf16 as fp32."""
        return self.formula.maker.widened(tile) if tile.dtype == BF16 else tile.value

    def _exact(self, tile: Tile) -> Value:
        return self.formula.maker.exact(tile)

    def _number(self, term: Term, dtype: DType, attrs: dict[str, Attr]) -> dict[str, Value]:
        if isinstance(term, Scalar):
            return {"scalar": term.value}
        assert isinstance(term, Number)
        self.formula.maker.check_literal(term, dtype)
        attrs["scalar"] = term.value
        return {}


def unfinished(formula: Formula, expr: Logical | Unary) -> Exception:
    """Why `and`, `or` and `not` do not stand alone."""
    return formula.maker.fail(
        NOT_YET,
        expr,
        f"`{expr.op}` of predicates stands in the condition of `where` only",
        label="a predicate by itself",
        helps=("write it there: `where(a > 0 and b > 0, x, y)`",),
    )

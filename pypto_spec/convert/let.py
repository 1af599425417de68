"""`let: y = exp(t - m) * s` as a chain of one-op statements.

The last statement binds `y`; those before bind versions `y.1`, `y.2`, ... that the text does not use. `let: out = e`
with an output tensor computes `out.1` and stores the whole of it. `let: y = x` is a `reshape` to the same shape, which
costs nothing.

Numbers: operands of one operator have one dtype (else `cast`); a literal takes the tile's. bf16 is computed in fp32:
each bf16 operand is widened once in a `let`, and the result is rounded (rint) where it is bound. Explicit `cast`s count
as written: `cast(x * y, fp32)` of bf16 tiles is the unrounded product.
"""

from __future__ import annotations

from math import prod
from typing import cast

from pypto_spec.convert.calls import CallReader
from pypto_spec.convert.instructions import index_text
from pypto_spec.convert.let_calls import Calls
from pypto_spec.convert.let_fold import fold
from pypto_spec.convert.let_ops import OpMaker
from pypto_spec.convert.let_terms import Number, Scalar, Term, Tile, spread_help, spread_kinds
from pypto_spec.convert.let_where import Choices, unfinished
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules.names import NOT_A_VALUE
from pypto_spec.diagnostics.rules.shapes import (
    BAD_ARGUMENT,
    DTYPE_MISMATCH,
    INTEGER_DIVISION,
    LEVEL_MIX,
    NO_TILE,
    RUNTIME_EXTENT,
    RUNTIME_SIZE,
    SHAPE_MISMATCH,
)
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import BF16
from pypto_spec.ir.expr import Index, sub
from pypto_spec.ir.nodes import Attr, Stmt, Value
from pypto_spec.ir.types import ScalarType, TensorType, TileType
from pypto_spec.ops.registry import OPS, Operand, form
from pypto_spec.spec.formula import (
    Binary,
    Call,
    Compare,
    Expr,
    FormulaError,
    Let,
    ListExpr,
    Logical,
    Name,
    Slice,
    Subscript,
    Unary,
)
from pypto_spec.spec.formula import Boolean as BooleanExpr
from pypto_spec.spec.formula import Number as NumberExpr
from pypto_spec.spec.tree import MappingNode, ScalarNode


class LetReader:
    """Reads `let` statements of one program."""

    def __init__(self, ops: OpReader) -> None:
        self.ops = ops
        self.calls: CallReader | None = None

    def read(self, let: Let, node: ScalarNode, statement: MappingNode, loc: Loc) -> list[Stmt]:
        """The ops of one `let`, the last of which binds its name or stores to its tensor."""
        reading = self.ops.reading
        maker = OpMaker(self.ops, node, loc, let.target, self.ops.allow(statement))
        formula = Formula(maker, self.calls)
        found = reading.scope.get(let.target)
        output = None
        if found is not None and found.kind != "value" and not found.argument:
            output = self.ops.output(let.target, (node, let.start, let.end))
        value = formula.value(let.value, stored=output is not None)
        if output is None:
            self.ops.bind(maker.named(value), (node, let.start, let.end))
        else:
            places = {"from": let.value, "to": let, "into": let.value}
            maker.made.append(self.ops.store(value, output, maker.loc_of(places, let.value)))
        return maker.made


class Formula:
    """One formula: its terms become ops in the order in which they are computed."""

    def __init__(self, maker: OpMaker, functions: CallReader | None = None) -> None:
        self.maker = maker
        self.functions = functions
        self.reading = maker.reading
        self.calls = Calls(self)
        self.choices = Choices(self)

    def value(self, expr: Expr, stored: bool) -> Value:
        """The value of the whole formula; it is the result of the last op unless it is only `stored`."""
        maker = self.maker
        term = self.term(expr)
        if isinstance(term, Scalar | Number):
            raise maker.fail(
                NO_TILE,
                expr,
                f"`{maker.target}` would be a number; a `let` binds a tile or array",
                label="no tile in it",
                helps=(
                    "put it into `constants`, or spread it over a tile: "
                    f"`full([64, 128], {maker.text(expr)}, dtype=fp32)`",
                ),
            )
        value = term.value
        if value.type.dtype != term.dtype:  # bf16 computed in fp32: rounded here
            return maker.emit(OPS["cast"], {"x": value}, {"dtype": BF16, "mode": "rint"}, {"x": expr}, expr).value
        if maker.is_last(value) or (stored and not isinstance(value.type, TensorType)):
            return value
        return maker.emit(OPS["reshape"], {"x": value}, {"shape": term.shape}, {"x": expr}, expr).value

    # Terms

    def term(self, expr: Expr) -> Term:
        """One term."""
        if isinstance(expr, Name):
            return self._name(expr)
        if isinstance(expr, NumberExpr):
            return Number(expr.value, expr)
        if isinstance(expr, Binary):
            return self.binary(expr.op, self.term(expr.left), self.term(expr.right), expr)
        if isinstance(expr, Unary) and expr.op in "+-":
            return self._sign(expr)
        if isinstance(expr, Call):
            return self.calls.term(expr)
        if isinstance(expr, Subscript):
            return self._subscript(expr)
        if isinstance(expr, Compare):
            return self.choices.predicate(expr)
        if isinstance(expr, Logical | Unary):
            raise unfinished(self, expr)
        what = {ListExpr: "a list", BooleanExpr: "a boolean"}.get(type(expr), "this")
        raise self.maker.fail(BAD_ARGUMENT, expr, f"{what} is no tile and no number", label="cannot be computed with")

    def _name(self, expr: Name) -> Term:
        found = self.reading.scope.get(expr.id)
        if found is None:
            span = self.maker.node.sub_span(expr.start, expr.end)
            raise self.reading.scope.undefined(expr.id, span, ("tensor", "value", "scalar", "constant"))
        if found.kind == "constant":
            value = found.constant
            if isinstance(value, int | float) and not isinstance(value, bool):
                return Number(value, expr)
            raise self.maker.fail(
                NOT_A_VALUE, expr, f"the constant `{expr.id}` is `{value}`, no number", label="no number"
            )
        if found.kind in ("index", "symbol"):
            raise self.maker.fail(
                NOT_A_VALUE,
                expr,
                f"`{expr.id}` is {found.what}; tiles are computed with tiles and numbers",
                label="an integer for sizes and indices",
                helps=("a run-time number comes in through `scalars`",),
            )
        operand = self.maker.ops.use(found, (self.maker.node, expr.start, expr.end))
        if isinstance(operand.type, ScalarType):
            return Scalar(operand, expr)
        return Tile(operand, operand.type.dtype, expr)

    def _sign(self, expr: Unary) -> Term:
        term = self.term(expr.operand)
        if isinstance(term, Number):
            return Number(-term.value if expr.op == "-" else term.value, expr)
        if expr.op == "+":
            return term
        if isinstance(term, Scalar):
            raise self._scalar_arithmetic(expr)
        chosen = form("-", "tile")
        assert chosen is not None
        return self.maker.apply(chosen.defn, {chosen.fields[0]: term}, {}, expr)

    def _scalar_arithmetic(self, expr: Expr) -> CompileError:
        return self.maker.fail(
            NOT_YET,
            expr,
            "arithmetic between run-time scalars is not there yet",
            label="no tile in it",
            helps=("apply the scalars to the tile one after the other, or pass the result as a scalar of its own",),
        )

    # Operators

    def binary(self, sign: str, left: Term, right: Term, expr: Expr) -> Term:
        """An infix sign, or a function of two operands, with what it needs to fit."""
        if isinstance(left, Number) and isinstance(right, Number):
            return Number(fold(self, sign, left, right, expr), expr)
        if not isinstance(left, Tile) and not isinstance(right, Tile):
            raise self._scalar_arithmetic(expr)
        self._integers(sign, left, right, expr)
        if isinstance(left, Tile) and isinstance(right, Tile):
            return self._tiles(sign, left, right, expr)
        return self._form(sign, ("tile", "scalar") if isinstance(left, Tile) else ("scalar", "tile"), left, right, expr)

    def _integers(self, sign: str, left: Term, right: Term, expr: Expr) -> None:
        tile = left if isinstance(left, Tile) else right
        assert isinstance(tile, Tile)
        if sign != "/" or tile.dtype.is_float:
            return
        texts = [self.maker.text(t.at) for t in (left, right)]
        casts = [
            f"cast({text}, fp32)" if isinstance(t, Tile) else text for t, text in zip((left, right), texts, strict=True)
        ]
        raise self.maker.fail(
            INTEGER_DIVISION,
            expr,
            f"`/` of {tile.dtype} tiles: it could round or not",
            label=f"{tile.dtype} here",
            helps=(
                f"for a fraction cast first: `{' / '.join(casts)}`",
                "whole division is `//`",
            ),
            fixes=[self.maker.fix(expr, f" {way} ".join(parts)) for way, parts in (("//", texts), ("/", casts))],
        )

    def _tiles(self, sign: str, left: Tile, right: Tile, expr: Expr) -> Term:
        self._one_level(left, right)
        self._one_dtype(sign, left, right)
        a, b = left.shape, right.shape
        kinds = spread_kinds(a, b)
        if kinds is not None:
            return self._form(sign, kinds, left, right, expr)
        if len(a) == len(b) and all(x == y or 1 in (x, y) for x, y in zip(a, b, strict=True)):
            # [M, 1] and [1, N]: the column becomes [M, N] first.
            cols = max(a[-1], b[-1])
            pair = (self._spread(left, cols), right) if a[-1] == 1 else (left, self._spread(right, cols))
            return self._tiles(sign, *pair, expr)
        raise self.maker.fail(
            SHAPE_MISMATCH,
            right.at,
            f"`{sign}` of {left.value.type} and {right.value.type}",
            label=str(right.value.type),
            secondary=(self.maker.label(left, str(left.value.type)),),
            helps=(spread_help(a, b),),
        )

    def _spread(self, tile: Tile, cols: int) -> Tile:
        """A [M, 1] tile as [M, cols]."""
        return self.maker.apply(OPS["row_expand"], {"x": tile}, {"cols": cols}, tile.at)

    def _spread_vector(self, sign: str, kinds: tuple[Operand, Operand], left: Term, right: Term, expr: Expr) -> Term:
        """An operator that has no form of its own for vectors: the vector is spread first."""
        assert isinstance(left, Tile)
        assert isinstance(right, Tile)
        if kinds[1] == "tile":
            return self._tiles(sign, self.spread(left, right.shape, kinds[0]), right, expr)
        return self._tiles(sign, left, self.spread(right, left.shape, kinds[1]), expr)

    def spread(self, vector: Tile, shape: tuple[int, ...], kind: Operand) -> Tile:
        """A [M, 1] or [1, N] vector in a shape."""
        rows = prod(shape[:-1])
        if kind == "col":
            return self.maker.apply(OPS["col_expand"], {"x": vector}, {"rows": rows}, vector.at)
        if vector.shape != (*shape[:-1], 1):  # a single element goes down the rows first
            vector = self.maker.apply(OPS["col_expand"], {"x": vector}, {"rows": rows}, vector.at)
        return self._spread(vector, shape[-1])

    def _one_level(self, left: Tile, right: Tile) -> None:
        if isinstance(left.value.type, TileType) is isinstance(right.value.type, TileType):
            return
        whole, tile = (right, left) if isinstance(left.value.type, TileType) else (left, right)
        name = self.maker.text(whole.at)
        shape = ", ".join(str(n) for n in whole.shape)
        zeros = ", ".join("0" for _ in whole.shape)
        raise self.maker.fail(
            LEVEL_MIX,
            whole.at,
            f"`{name}` is a whole array, `{self.maker.text(tile.at)}` a tile on chip",
            label="not on chip",
            secondary=(self.maker.label(tile, "a tile"),),
            helps=(f"bring it on chip first: `- load: {{into: NAME, from: {name}, at: [{zeros}], shape: [{shape}]}}`",),
        )

    def _one_dtype(self, sign: str, left: Tile, right: Tile) -> None:
        if left.dtype == right.dtype:
            return
        narrow, wide = sorted((left, right), key=lambda t: (t.dtype.is_float, t.dtype.bytes))
        raise self.maker.fail(
            DTYPE_MISMATCH,
            right.at,
            f"`{sign}` of {left.dtype} and {right.dtype}",
            label=f"{right.dtype}",
            secondary=(self.maker.label(left, f"{left.dtype}"),),
            helps=(f"cast one of them: `cast({self.maker.text(narrow.at)}, {wide.dtype})`",),
            fixes=[self.maker.fix(narrow.at, f"cast({self.maker.text(narrow.at)}, {wide.dtype})")],
        )

    def _form(self, sign: str, kinds: tuple[Operand, Operand], left: Term, right: Term, expr: Expr) -> Term:
        swapped = _SWAPPED.get(sign) if kinds in (("row", "tile"), ("col", "tile")) else None
        if swapped is not None:
            return self.maker.apply(OPS[f"{kinds[0]}_expand_{swapped}"], {"v": left, "x": right}, {}, expr)
        chosen = form(sign, *kinds)
        if chosen is None and form(sign, "tile", "tile") is not None:
            if isinstance(left, Number | Scalar) and isinstance(right, Tile):
                return self._tiles(sign, self.choices.filled(left, right.shape, right.dtype), right, expr)
            return self._spread_vector(sign, kinds, left, right, expr)
        if chosen is None:
            raise self.maker.fail(
                NOT_YET,
                expr,
                f"`{sign}` of tiles is not there yet",
                label="no operator for it",
                helps=(_INSTEAD.get(sign, "compute it from other operators"),),
            )
        terms = dict(zip(chosen.fields, (left, right), strict=True))
        ordered = {f.name: terms[f.name] for f in chosen.defn.fields if f.name in terms}
        return self.maker.apply(chosen.defn, ordered, {}, expr)

    # Slices

    def _subscript(self, expr: Subscript) -> Term:
        term = self.term(expr.value)
        if not isinstance(term, Tile):
            raise self.maker.fail(BAD_ARGUMENT, expr, "a number has no slices", label="no tile or tensor")
        extents = cast("tuple[Index, ...]", term.shape)
        if len(expr.indices) != len(extents):
            raise self.maker.fail(
                SHAPE_MISMATCH,
                expr,
                f"{term.value.type} takes {len(extents)} indices, found {len(expr.indices)}",
                label=f"needs {len(extents)}",
                helps=("give one slice per dimension; `:` takes all of it",),
            )
        ranges = [self._range(item, extent) for item, extent in zip(expr.indices, extents, strict=True)]
        attrs: dict[str, Attr] = {"at": tuple(low for low, _ in ranges), "shape": tuple(size for _, size in ranges)}
        places = {"x": expr.value, "at": expr, "shape": expr}
        made = self.maker.emit(OPS["slice"], {"x": term.value}, attrs, places, expr)
        return Tile(made.value, term.dtype, expr)

    def _range(self, item: Expr | Slice, extent: Index) -> tuple[Index, int]:
        fail = self.maker.fail
        if not isinstance(item, Slice):
            text = self.maker.text(item)
            end = str(item.value + 1) if isinstance(item, NumberExpr) else f"{text} + 1"
            raise fail(
                BAD_ARGUMENT,
                item,
                "an index would drop a dimension; tiles keep theirs",
                label="no slice",
                helps=(f"for one row or column write `{text}:{end}`",),
            )
        if item.step is not None:
            raise fail(NOT_YET, item.step, "a slice with a step is not there yet", label="the step")
        try:
            lower = self.reading.exprs.index(item.lower) if item.lower is not None else 0
            upper = self.reading.exprs.index(item.upper) if item.upper is not None else extent
        except FormulaError as error:
            raise self.reading.formula_error(error, self.maker.node) from None
        size = sub(upper, lower)
        if not isinstance(size, int) and size == extent:
            raise fail(
                RUNTIME_EXTENT,
                item,
                f"the slice takes the whole of an axis with the run-time extent `{index_text(size)}`; statements on "
                "whole arrays need compile-time shapes",
                label="run-time extent",
                helps=(
                    "cut tiles of a fixed shape out of it with `load` (and `valid` for the last one) in a `for` loop",
                ),
            )
        if not isinstance(size, int):
            raise fail(
                RUNTIME_SIZE,
                item,
                f"the slice takes `{index_text(size)}` elements, which is not known at compile time",
                label="run-time size",
                helps=("make it a fixed size: `x[a:a + 64]`",),
            )
        if size <= 0:
            raise fail(
                BAD_ARGUMENT,
                item,
                f"the slice takes {size} elements",
                label="empty",
                helps=("the end must be greater than the start; negative ones do not count from the end",),
            )
        return lower, size


_SWAPPED = {"-": "rsub", "/": "rdiv"}
"""Operators whose spread vector stands left."""

_INSTEAD = {
    "**": "multiply, or write `exp(log(x) * p)`",
}

"""The ops of a formula: made in order, with names, places, and bf16 operands widened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from pypto_spec.convert.formula_place import FormulaPlace, Stretch
from pypto_spec.convert.let_terms import Number, Scalar, Term, Tile
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.diagnostics.model import CompileError, Fix, Label, Rule
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import BF16, FP32, DType
from pypto_spec.ir.nodes import Attr, Op, Stmt, Value
from pypto_spec.ir.opdef import Inference, OpDef
from pypto_spec.ir.types import ArrayType, TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.tree import ScalarNode


class OpMaker:
    """Makes the ops of one `let`."""

    def __init__(self, ops: OpReader, node: ScalarNode, loc: Loc, target: str, allow: frozenset[str]) -> None:
        self.ops = ops
        self.reading = ops.reading
        self.node = node
        self.loc = loc
        self.target = target
        self.allow = allow
        self.made: list[Stmt] = []
        self._wide: dict[Value, Value] = {}

    # Places and errors

    def text(self, at: Stretch) -> str:
        """A stretch of the formula."""
        return self.node.text[at.start : at.end]

    def label(self, term: Tile, text: str) -> Label:
        """A label beside a term."""
        return Label(self.node.sub_span(term.at.start, term.at.end), text)

    def fail(
        self,
        rule: Rule,
        at: Stretch,
        message: str,
        *,
        label: str = "",
        helps: Iterable[str] = (),
        secondary: Iterable[Label] = (),
        fixes: Iterable[Fix] = (),
    ) -> CompileError:
        """The error at a stretch of the formula."""
        place = FormulaPlace(self.node, {}, at)
        return place.error(rule, message, label=label, helps=helps, secondary=secondary, fixes=fixes)

    def fix(self, at: Stretch, text: str, title: str = "") -> Fix:
        """Another text for a stretch of the formula."""
        return Fix(self.node.sub_span(at.start, at.end), text, title=title)

    def loc_of(self, fields: Mapping[str, Stretch], whole: Stretch) -> Loc:
        """The place of one op: the whole `let`, its fields at their stretches of the formula."""
        place = FormulaPlace(self.node, fields, whole) if self.loc.dump is None else None
        return Loc(self.loc.span, place, self.loc.dump)

    def check_literal(self, term: Number, dtype: DType) -> None:
        """Warn where a number changes as it takes the tile's dtype."""
        place = FormulaPlace(self.node, {}, term.at)
        self.ops.check_literal(term.value, dtype, lambda: place.span, self.allow)

    # Ops

    def apply(self, defn: OpDef, terms: Mapping[str, Term], attrs: Mapping[str, Attr], at: Stretch) -> Tile:
        """An op on terms. bf16 operands are widened where the op has no bf16 of its own; the result counts as bf16."""
        operands: dict[str, Value] = {}
        fields: dict[str, Attr] = dict(attrs)
        narrow = any(isinstance(t, Tile) and t.dtype == BF16 for t in terms.values()) and BF16 not in defn.dtypes
        dtype: DType | None = None
        for name, term in terms.items():
            if isinstance(term, Tile):
                operands[name] = self.widened(term) if narrow else self.exact(term)
                dtype = operands[name].type.dtype
            elif isinstance(term, Scalar):
                operands[name] = term.value
            else:
                fields[name] = term.value
        for term in terms.values():
            if isinstance(term, Number) and dtype is not None:
                self.check_literal(term, dtype)
        ordered = {f.name: fields[f.name] for f in defn.fields if f.name in fields}
        made = self.emit(defn, operands, ordered, {name: term.at for name, term in terms.items()}, at)
        return Tile(made.value, BF16, at) if narrow and made.dtype == FP32 else made

    def widened(self, tile: Tile) -> Value:
        """A bf16 value in fp32, made once; any other as it is."""
        if tile.value.type.dtype != BF16:
            return tile.value
        wide = self._wide.get(tile.value)
        if wide is None:
            wide = self.emit(OPS["cast"], {"x": tile.value}, {"dtype": FP32}, {"x": tile.at}, tile.at).value
            self._wide[tile.value] = wide
        return wide

    def exact(self, tile: Tile) -> Value:
        """The value in the dtype it counts as, for an op that works on bf16 itself."""
        if tile.value.type.dtype == tile.dtype:
            return tile.value
        attrs: dict[str, Attr] = {"dtype": tile.dtype, "mode": "rint"}
        return self.emit(OPS["cast"], {"x": tile.value}, attrs, {"x": tile.at}, tile.at).value

    def emit(
        self,
        defn: OpDef,
        operands: Mapping[str, Value],
        attrs: Mapping[str, Attr],
        places: Mapping[str, Stretch],
        at: Stretch,
    ) -> Tile:
        """Append one op; its result has a version of the target's name."""
        place = cast(Loc, FormulaPlace(self.node, places, at))  # spans only if the rule refuses
        kind = defn.infer(Inference(defn, operands, attrs, place, self.reading.level))
        assert isinstance(kind, TileType | ArrayType)
        value = Value(self.reading.fresh.name(self.target), kind)
        loc = self.loc_of(places, at)
        self.made.append(Op(defn=defn, operands=operands, attrs=attrs, results=(value,), loc=loc, allow=self.allow))
        return Tile(value, kind.dtype, at)

    def is_last(self, value: Value) -> bool:
        """Whether this is the result of the last op."""
        last = self.made[-1] if self.made else None
        return isinstance(last, Op) and last.results[0] is value

    def named(self, value: Value) -> Value:
        """The result of the last op under the name that the `let` binds."""
        last = self.made[-1]
        assert isinstance(last, Op)
        assert last.results[0] is value
        self.reading.fresh.give_back(value.name)
        named = Value(self.target, value.type)
        self.made[-1] = Op(
            defn=last.defn,
            operands=last.operands,
            attrs=last.attrs,
            results=(named,),
            loc=last.loc,
            allow=last.allow,
        )
        return named

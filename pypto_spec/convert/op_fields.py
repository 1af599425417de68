"""The fields of an op statement that are no tiles: numbers, words, sizes, and written types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pypto_spec.convert.context import PoisonedError, Reading
from pypto_spec.diagnostics.rules.names import NOT_A_VALUE
from pypto_spec.diagnostics.rules.shapes import SHAPE_MISMATCH
from pypto_spec.diagnostics.rules.syntax import UNKNOWN_WORD, WRONG_TYPE
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.nodes import Attr, Value
from pypto_spec.ir.types import ArrayType, Layout, Memory, TileType, ValueType
from pypto_spec.spec.formula import FormulaError
from pypto_spec.spec.formula import Name as NameExpr
from pypto_spec.spec.formula.integer import evaluate
from pypto_spec.spec.tree import Node, ScalarNode, SequenceNode
from pypto_spec.targets.too_large import TooLargeError, is_too_large

_MEMORIES = {m.value: m for m in Memory}
_LAYOUTS = {layout.value: layout for layout in Layout}


class FieldReader:
    """Reads single fields."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def read(self, kind: str, node: Node, words: tuple[str, ...]) -> Attr:
        """A field that is neither a value nor a number."""
        return _READERS[kind](self, node, words)

    def number(self, node: Node) -> float | int | Value:
        """A literal, the value of constants, or a run-time scalar."""
        reading = self.reading
        if not isinstance(node, ScalarNode) or isinstance(node.value, bool) or node.value is None:
            reading.fail(WRONG_TYPE, node, "a number is needed here", label="not a number")
        if not isinstance(node.value, str):
            return node.value
        expr = reading.expression(node)
        try:
            if isinstance(expr, NameExpr):
                found = reading.scope.get(expr.id)
                if found is None:
                    raise reading.scope.undefined(expr.id, node.span, ("constant", "scalar"))
                if found.value is not None:
                    return found.value
                if found.kind == "value":
                    raise PoisonedError
                if found.kind != "constant":
                    reading.fail(
                        NOT_A_VALUE,
                        node,
                        f"`{expr.id}` is {found.what}: it is no number a tile can take",
                        label="not a number",
                        helps=["a `scalars` argument or a constant can stand here"],
                    )
            value = evaluate(expr, reading.constants)
        except FormulaError as error:
            raise reading.formula_error(error, node) from None
        if isinstance(value, str | bool):
            reading.fail(WRONG_TYPE, node, f"a number is needed here, `{node.text}` is `{value}`", label="not a number")
        return value

    def written_type(self, node: Node) -> ValueType:
        """A `type:` mapping."""
        reading = self.reading
        fields = reading.mapping(node, node, "type")
        dtype = self.dtype(fields.get("dtype"), fields)
        shape = tuple(reading.static(n, "an extent") for n in reading.items(fields.get("shape"), fields, "shape"))
        level = fields.get("level")
        if level is not None and reading.text(level) == "tensor":
            return ArrayType(dtype, shape)
        parts = fields.get("valid")
        if isinstance(parts, SequenceNode) and len(parts.items) != len(shape):
            reading.fail(
                SHAPE_MISMATCH,
                parts,
                f"`valid` has {len(parts.items)} extents, `shape` has {len(shape)}",
                label="one for each extent of the shape",
                helps=["write as many extents as the shape has, or leave `valid` out where all of it is"],
            )
        memory, layout, valid, pitch = (fields.get(k) for k in ("memory", "layout", "valid", "pitch"))
        lives_in = _memory(self, memory, ()) if memory is not None else None
        if shape and min(shape) > 0 and is_too_large(dtype, shape, lives_in):
            raise TooLargeError(dtype, shape, node.span)
        return TileType(
            dtype,
            shape,
            lives_in,
            self._word(layout, _LAYOUTS, "layout") if layout is not None else None,
            tuple(map(reading.index, reading.items(valid, fields, "valid"))) if valid is not None else None,
            reading.static(pitch, "a pitch") if pitch is not None else None,
        )

    def dtype(self, node: Node | None, parent: Node) -> DType:
        """A dtype by name."""
        found: DType = self._word(node if node is not None else parent, DTYPES, "dtype")
        return found

    def _word(self, node: Node, words: Mapping[str, Any], what: str) -> Any:
        text = self.reading.text(node)
        if text not in words:
            self.reading.fail(
                UNKNOWN_WORD,
                node,
                f"`{text}` is no {what}",
                label="unknown word",
                helps=[did_you_mean(text, words) or f"one of {', '.join(words)}"],
            )
        return words[text]


def _memory(reader: FieldReader, node: Node, words: tuple[str, ...]) -> Memory:
    found: Memory = reader._word(node, _MEMORIES, "memory")
    return found


def _read_word(reader: FieldReader, node: Node, words: tuple[str, ...]) -> Attr:
    if isinstance(node, ScalarNode) and isinstance(node.value, bool):
        return node.value
    found: str = reader._word(node, {w: w for w in words}, "word of this field") if words else reader.reading.text(node)
    return found


def _flag(reader: FieldReader, node: Node) -> bool:
    if isinstance(node, ScalarNode) and isinstance(node.value, bool):
        return node.value
    reader.reading.fail(WRONG_TYPE, node, "`true` or `false` is needed here", label="neither")


def _ints(reader: FieldReader, node: Node, words: tuple[str, ...]) -> Attr:
    return tuple(reader.reading.static(item, "a size") for item in reader.reading.items(node, node, "a list of sizes"))


_READERS: dict[str, Callable[[FieldReader, Node, tuple[str, ...]], Attr]] = {
    "ints": _ints,
    "exprs": lambda r, node, _: tuple(map(r.reading.index, r.reading.items(node, node, "a list of expressions"))),
    "expr": lambda r, node, _: r.reading.index(node),
    "flag": lambda r, node, _: _flag(r, node),
    "condition": lambda r, node, _: r.reading.condition(node),
    "dtype": lambda r, node, _: r.dtype(node, node),
    "text": lambda r, node, _: r.reading.text(node),
    "word": _read_word,
    "memory": _memory,
}

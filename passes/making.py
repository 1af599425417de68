"""Making ops inside passes: types come from the definition's own shape rule."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.nodes import Attr, BufferRef, Op, Value
from pypto_spec.ir.opdef import Inference, OpDef
from pypto_spec.ir.types import ArrayType, Memory, TileType, ValueType
from pypto_spec.ops.registry import OPS
from pypto_spec.targets.too_large import TooLargeError, is_too_large


def infer(defn: OpDef, operands: Mapping[str, Value], attrs: Mapping[str, Attr], loc: Loc) -> TileType:
    """The tile an op gives for these operands."""
    shape = attrs.get("shape")
    if defn.effects == "reads_gm" and isinstance(shape, tuple):
        extents = [n for n in shape if isinstance(n, int)]
        if is_too_large(operands["from"].type.dtype, extents):
            raise TooLargeError(operands["from"].type.dtype, extents, loc.span)
    made: ValueType | None = defn.infer(Inference(defn, operands, attrs, loc))
    if isinstance(made, ArrayType):
        return TileType(made.dtype, made.shape)
    assert isinstance(made, TileType), f"{defn.name} gives {made}"
    return made


def make(
    name: str,
    operands: Mapping[str, Value],
    attrs: Mapping[str, Attr],
    loc: Loc,
    *,
    into: Value | str,
    like: Value | None = None,
    buffer: BufferRef | None = None,
    allow: frozenset[str] = frozenset(),
) -> Op:
    """An op of the registry binding `into`: a value as it is, or a new one of that name with the inferred type.

    A new value gets the memory of `like`, which is known only where that pass has run.
    """
    defn = OPS[name]
    if isinstance(into, str):
        kind = infer(defn, operands, attrs, loc)
        if like is not None and isinstance(like.type, TileType) and kind.memory is None:
            kind = in_memory(kind, like.type.memory)
        into = Value(into, kind, buffer)
    return Op(defn=defn, operands=operands, attrs=attrs, results=(into,), loc=loc, allow=allow)


def in_memory(kind: TileType, memory: Memory | None) -> TileType:
    """The type of the tile in that memory."""
    return TileType(kind.dtype, kind.shape, memory, kind.layout, kind.valid, kind.pitch)

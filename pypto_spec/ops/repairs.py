"""Repairs that shape and dtype rules ask for: an operand that is made another one first."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.diagnostics.model import Fix, Repair
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import TensorType


def cast_first(inference: Inference, field: str, dtype: DType) -> tuple[Fix | Repair, ...]:
    """A cast of an operand: a statement before this one, or in a formula a call around it."""
    span, name = inference.loc.field(field), inference.operands[field].name
    if isinstance(inference.operands[field].type, TensorType) and isinstance(inference.loc, Loc):
        return ()
    start, end = span.offsets
    text = span.source.text[start:end]
    if not isinstance(inference.loc, Loc):
        return (Fix(span, f"cast({text}, {dtype})", title=f"write `cast({text}, {dtype})`"),) if text else ()
    fresh = f"{name}_{dtype}"
    return _first(inference, field, {"cast": {"into": fresh, "x": name, "dtype": dtype.name}}, fresh)


def load_first(inference: Inference, field: str) -> tuple[Fix | Repair, ...]:
    """A load of a whole tensor of constant extents, as a statement before this one."""
    kind, name = inference.type(field), inference.operands[field].name
    shape: Sequence[object] = getattr(kind, "shape", ())
    if not isinstance(kind, TensorType) or not all(isinstance(n, int) for n in shape):
        return ()
    fresh = f"{name}_t"
    load = {"into": fresh, "from": name, "at": [0] * len(shape), "shape": list(shape)}
    return _first(inference, field, {"load": load}, fresh)


def _first(inference: Inference, field: str, statement: dict[str, object], fresh: str) -> tuple[Repair, ...]:
    """A statement before this one, whose result takes the place of an operand that is written as a name."""
    span, name = inference.loc.field(field), inference.operands[field].name
    start, end = span.offsets
    text = span.source.text[start:end]
    if text.strip("'\"") != name or not isinstance(inference.loc, Loc):
        return ()
    (keyword,) = statement
    title = f"put a `{keyword}` of `{name}` in front, and use `{fresh}`"
    return (
        Repair("before", inference.loc.span, value=statement, title=title, also=((span, text.replace(name, fresh)),)),
    )

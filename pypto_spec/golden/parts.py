"""Golden formulas on a window of their result: operands are cut first, where the formula allows it.

An elementwise operation needs the window of its operands (all of an axis that is broadcast), a product the rows of one
and the columns of the other, a reduction all of its axis. What is none of these is computed whole, and then cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_spec.golden.formula import Operation, apply, operands, value
from pypto_spec.golden.need_torch import torch
from pypto_spec.spec.formula import names
from pypto_spec.spec.formula.nodes import Binary, Call, Compare, Expr, Logical, Name, Unary
from pypto_spec.spec.formula.parser import parse_expression

Part = tuple[slice, ...]
"""A window, a slice for each axis."""

WHOLE = slice(None)

ELEMENTWISE = frozenset({
    "exp", "log", "sqrt", "rsqrt", "abs", "neg", "relu", "sigmoid", "tanh", "sin", "cos", "floor", "ceil", "round",
    "trunc", "sign", "erf", "recip", "square", "silu", "gelu", "cast", "where", "maximum", "minimum",
})  # fmt: skip
"""Functions of which an element of the result needs the same element of each operand."""
REDUCED = {
    f"{axis}_{name}": number
    for axis, number in (("row", -1), ("col", -2))
    for name in ("sum", "max", "min", "mean", "prod")
}
"""Functions that leave one element of an axis, and which axis."""
ALONG = {
    **REDUCED,
    **dict.fromkeys(("softmax", "log_softmax", "layer_norm", "rms_norm"), -1),
}
"""Functions that need all of an axis, and which."""


class Parts:
    """Evaluates parts of formulas; `given` gives tensors as they are, and everything else."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.names = given
        self.wide: dict[str, Any] = {}
        self.shapes: dict[Expr, tuple[int, ...]] = {}
        self.whole: dict[Expr, Any] = {}

    def shape(self, text: str) -> tuple[int, ...]:
        """The shape of a formula's value, found without computing it."""
        return self._shape(parse_expression(text))

    def evaluate(self, text: str, part: Part) -> Any:
        """That part of a formula's value, in float64 or int64."""
        return self._part(parse_expression(text), part)

    def _shape(self, expr: Expr) -> tuple[int, ...]:
        if expr not in self.shapes:
            self.shapes[expr] = self._found_shape(expr)
        return self.shapes[expr]

    def _found_shape(self, expr: Expr) -> tuple[int, ...]:
        if isinstance(expr, Name):
            return tuple(getattr(self.names.get(expr.id), "shape", ()))
        if isinstance(expr, Unary | Binary | Compare | Logical | Call):
            shapes = [self._shape(o) for o in operands(expr)]
            if not isinstance(expr, Call) or expr.func in ELEMENTWISE:
                return tuple(torch().broadcast_shapes(*shapes))
            first = shapes[0] if shapes else ()
            if expr.func == "transpose":
                return (*first[:-2], first[-1], first[-2])
            if _is_product(expr):
                batch = torch().broadcast_shapes(*(s[:-2] for s in shapes))
                return (*batch, first[-2], shapes[1][-1])
            along = _axis(expr, first)
            if along is not None:
                return tuple(1 if n == along and expr.func in REDUCED else e for n, e in enumerate(first))
        return tuple(getattr(self._whole(expr), "shape", ()))

    def _whole(self, expr: Expr) -> Any:
        if expr not in self.whole:
            for name in {n.id for n in names(expr)} & self.names.keys() - self.wide.keys():
                found = self.names[name]
                self.wide[name] = found.to(_wide(found)) if isinstance(found, torch().Tensor) else found
            self.whole[expr] = value(expr, self.wide)
        return self.whole[expr]

    def _part(self, expr: Expr, part: Part) -> Any:
        if not self._shape(expr):
            return self._whole(expr)
        if isinstance(expr, Name):
            found = self.names[expr.id][part]
            return found.to(_wide(found))
        if isinstance(expr, Unary | Binary | Compare | Logical | Call):
            cuts = self._cuts(expr, part)
            if cuts is not None:
                made = apply(expr, [self._part(o, c) for o, c in zip(operands(expr), cuts, strict=True)], self.names)
                along = _axis(expr, part)
                return made if along is None else made[_only(part, along)]
        return self._whole(expr)[part]

    def _cuts(self, expr: Operation, part: Part) -> list[Part] | None:
        """The part of each operand that a part of the result needs; None where only the whole operation is defined."""
        shapes = [self._shape(o) for o in operands(expr)]
        if not isinstance(expr, Call) or expr.func in ELEMENTWISE:
            return [_aligned(part, s) for s in shapes]
        if expr.func == "transpose":
            return [(*part[:-2], part[-1], part[-2])]
        if _is_product(expr):
            sides = ((part[-2], WHOLE), (WHOLE, part[-1]))
            return [(*_aligned(part[:-2], s[:-2]), *side) for s, side in zip(shapes, sides, strict=True)]
        along = _axis(expr, part)
        if along is None:
            return None
        return [tuple(WHOLE if n == along else p for n, p in enumerate(part)), *(() for _ in shapes[1:])]


def _is_product(call: Call) -> bool:
    return call.func == "matmul" and len(call.args) == 2 and not call.keywords


def _axis(expr: Operation, axes: Sequence[object]) -> int | None:
    """The axis of which a function needs all, counted from the front."""
    if not isinstance(expr, Call) or expr.func not in ALONG or any(k.name == "axis" for k in expr.keywords):
        return None
    return len(axes) + ALONG[expr.func]


def _only(part: Part, axis: int) -> Part:
    """The part along one axis, all of the others."""
    return tuple(p if n == axis else WHOLE for n, p in enumerate(part))


def _wide(value: Any) -> Any:
    return torch().float64 if value.is_floating_point() else torch().int64


def _aligned(part: Part, shape: Sequence[int]) -> Part:
    """The part of an operand of this shape that a part of the result needs: all of an axis that is broadcast."""
    mine = part[len(part) - len(shape) :] if shape else ()
    return tuple(WHOLE if extent == 1 else found for found, extent in zip(mine, shape, strict=True))

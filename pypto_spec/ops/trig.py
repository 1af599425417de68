"""sin and cos in fp32: the argument is brought into half a period around 0, then an odd polynomial of degree 9.

`x - n * pi` is computed with pi in four parts of 8, 11, 11 and 24 bits (Cody and Waite), so that the products with n
are exact for |n| below 2^13. Against the exact value the error is at most 2e-7 for |x| up to 8192, also relative to
small results up to 1000; it grows to 1e-6 at 65536. Beyond, and for inf, results mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from pypto_spec.ir.dtype import FP32, INT32
from pypto_spec.ir.instr import Number, Ref, Step, Word
from pypto_spec.ir.opdef import OpDef, Recipe
from pypto_spec.ir.types import TileType
from pypto_spec.ops.build import INTO, X, in_vec, infer_same
from pypto_spec.ops.numbers import rounded
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, part, scratch_like

Kind = Literal["sin", "cos"]

PI_PARTS = (3.140625, 0.0009675025939941406, 1.5099067240953445e-07, 5.126688136514179e-12)
"""pi, its leading bits first; the last part is rounded to fp32."""
INVERSE_PI = 0.3183098861837907
POLYNOMIAL = (-0.16666659712791443, 0.008333079516887665, -0.00019810491357930005, 2.607542683108477e-06)
"""sin(r) = r + r * (c0 r^2 + c1 r^4 + ...) for |r| <= pi / 2, least squares of the relative error: 2.3e-8."""


def _number(value: float) -> tuple[Number]:
    return (Number(rounded(value, FP32), FP32),)


def _as_int(of: Part) -> Part:
    """The same area holding int32."""
    tile = TileType(INT32, of.tile.shape, of.tile.memory, of.tile.layout)
    return Part(Ref(of.ref.name, 0, INT32), tile)


def _whole(into: Part, x: Part, mode: str) -> Iterator[Step]:
    """x as whole numbers, by way of int32 in `into`."""
    whole = _as_int(into)
    yield from calls("Cast", whole, x, extra=(Word(f"RoundMode::CAST_{mode}"),))
    yield from calls("Cast", x, whole, extra=(Word("RoundMode::CAST_NONE"),))


def _steps(of: Recipe, kind: Kind) -> Iterator[Step]:
    into, x = part(of, "into"), part(of, "x")
    n, product, square = (scratch_like(x.tile, area) for area in range(3))
    yield from calls("Muls", n, x, extra=_number(INVERSE_PI))
    if kind == "cos":  # cos(x) = sin(x - (n - 1/2) pi) with the sign of n
        yield from calls("Adds", n, n, extra=_number(0.5))
    yield from _whole(product, n, "RINT")
    if kind == "cos":
        yield from calls("Adds", n, n, extra=_number(-0.5))
    left = x
    for value in PI_PARTS:
        yield from calls("Muls", product, n, extra=_number(value))
        yield from calls("Sub", into, left, product)
        left = into
    if kind == "cos":
        yield from calls("Adds", n, n, extra=_number(0.5))
    # The sign is 1 - 2 (n mod 2) = 1 - 2 n + 4 floor(n / 2).
    yield from calls("Muls", product, n, extra=_number(0.5))
    yield from _whole(square, product, "FLOOR")
    yield from calls("Muls", product, product, extra=_number(4))
    yield from calls("Muls", n, n, extra=_number(-2))
    yield from calls("Add", n, n, product)
    yield from calls("Adds", n, n, extra=_number(1))
    yield from calls("Mul", square, into, into)
    yield from calls("Muls", product, square, extra=_number(POLYNOMIAL[-1]))
    for value in POLYNOMIAL[-2::-1]:
        yield from calls("Adds", product, product, extra=_number(value))
        yield from calls("Mul", product, product, square)
    yield from calls("Mul", product, product, into)
    yield from calls("Add", into, into, product)
    yield from calls("Mul", into, into, n)


def _recipe(kind: Kind) -> Callable[[Recipe], tuple[Step, ...]]:
    return lambda of: tuple(_steps(of, kind))


def _scratch(of: Recipe) -> tuple[int, ...]:
    return (scratch_like(of.tile("x")).tile.bytes,) * 3


def _meaning(kind: Kind) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        return getattr(torch, kind)(inputs["x"])

    return meaning


_WORDS: dict[Kind, str] = {"sin": "sine", "cos": "cosine"}

for _kind, _word in _WORDS.items():
    define(
        OpDef(
            name=_kind,
            family="trig",
            doc=f"the {_word} of x in radians, element by element; wrong by at most 2e-7 for |x| up to 8192, 1e-6 up "
            "to 65536",
            fields=(INTO, X),
            role="elementwise",
            pipe="v",
            infer=infer_same("x"),
            dtypes=(FP32,),
            dtype_of="x",
            torch=_meaning(_kind),
            recipe=_recipe(_kind),
            scratch=_scratch,
            spaces=in_vec("into", "x"),
            function=_kind,
            example=f"- {_kind}: {{into: y, x: a}}",
        )
    )

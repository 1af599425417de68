"""`cast`: conversion of dtypes with a rounding mode.

What the hardware (dav-2201) converts in one instruction, and in which modes, is `NATIVE`; the other pairs become the
shortest chain (`cast_chain`, split by the pass LegalizeTileCast). int32 to fp16 is no native pair here although an
instruction exists: it scales by a register that has no documented default.

The default mode is `trunc` from float to an integer (as torch and C do), `rint` wherever else a value can change.
Out-of-range values saturate where the result is an integer, and NaN becomes 0; floats overflow to infinity.

Sources: Ascend C guide, Cast (2201 table), precision conversion rules, `PyPTO` GetTcvtAdjacency.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, DTYPES, FP16, FP32, INT8, INT16, INT32, INT64, UINT8, DType
from pypto_spec.ir.instr import Step, Word
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import ValueType
from pypto_spec.ops.build import (
    INTO,
    X,
    check_dtype,
    common_valid,
    dtype_of_torch,
    fresh,
    in_vec,
    listing,
    no_scratch,
    shaped,
)
from pypto_spec.ops.numbers import FORMAT
from pypto_spec.ops.registry import define
from pypto_spec.ops.rounding import round_to
from pypto_spec.ops.steps import calls, copy_steps, part

MODES = {
    "none": "no rounding: for conversions that are exact",
    "rint": "to the nearest, halves to even",
    "floor": "towards minus infinity",
    "ceil": "towards plus infinity",
    "round": "to the nearest, halves away from zero",
    "trunc": "towards zero",
    "odd": "to odd: the last bit is set where something was cut off",
}
"""Rounding modes: keep, half to even, down, up, half away from zero, towards zero, to odd (where inexact)."""

_ROUNDING = frozenset({"rint", "floor", "ceil", "round", "trunc"})
_NONE = frozenset({"none"})
_NEAREST = frozenset({"rint", "round"})

NATIVE: Mapping[tuple[DType, DType], frozenset[str]] = {
    (INT8, FP16): _NONE,
    (UINT8, FP16): _NONE,
    (INT16, FP16): _ROUNDING | _NONE,
    (INT16, FP32): _NONE,
    (FP16, INT8): _ROUNDING | _NONE,
    (FP16, UINT8): _ROUNDING | _NONE,
    (FP16, INT16): _ROUNDING,
    (FP16, INT32): _ROUNDING,
    (FP16, FP32): _NONE,
    (BF16, INT32): _ROUNDING,
    (BF16, FP32): _NONE,
    (INT32, INT16): _NONE,
    (INT32, FP32): _ROUNDING | _NONE,
    (INT32, INT64): _NONE,
    (FP32, INT16): _ROUNDING,
    (FP32, FP16): _ROUNDING | _NONE | {"odd"},
    (FP32, BF16): _ROUNDING,
    (FP32, INT32): _ROUNDING,
    (FP32, INT64): _ROUNDING,
    (INT64, INT32): _NONE,
    (INT64, FP32): _ROUNDING,
}
"""Modes of each pair that one Cast instruction converts on dav-2201."""

_SOURCES = tuple(d for d in DTYPES.values() if any(d == src for src, _ in NATIVE))


def exact(src: DType, dst: DType) -> bool:
    """Whether every value of `src` is a value of `dst`."""
    if src == dst:
        return True
    if src.is_float:
        return dst.is_float and FORMAT[src.name][0] <= FORMAT[dst.name][0] and dst.bytes > src.bytes
    digits = 8 * src.bytes - (src.kind == "int")
    if dst.is_float:
        return digits <= FORMAT[dst.name][0]
    return digits <= 8 * dst.bytes - (dst.kind == "int") and (src.kind == dst.kind or src.kind == "uint")


def default_mode(src: DType, dst: DType) -> str:
    """The mode where none is written: `none` where no value is rounded, else `trunc` to integers, `rint` to floats."""
    if exact(src, dst) or not (src.is_float or dst.is_float):
        return "none"
    return "rint" if dst.is_float else "trunc"


def cast_chain(src: DType, dst: DType) -> list[DType] | None:
    """The dtypes a value passes through, `dst` last: one for a native pair, none for `src` itself; None: no way.

    The shortest chain; among those the one that loses digits as late as possible, then the one that turns into a float
    of the same width before it changes the width.
    """
    if src == dst:
        return []
    frontier: list[list[DType]] = [[src]]
    seen = {src}
    while frontier:
        for path in frontier:
            if (path[-1], dst) in NATIVE:
                return [*path[1:], dst]
        longer: list[list[DType]] = []
        for path in frontier:
            here = path[-1]
            steps = [b for a, b in NATIVE if a == here and b not in seen]
            longer += [[*path, to] for to in sorted(steps, key=lambda to: _rank(here, to))]
        seen.update(path[-1] for path in longer)
        frontier = longer
    return None


def _rank(here: DType, to: DType) -> tuple[bool, bool, int]:
    return not exact(here, to), not (to.is_float and to.bytes == here.bytes), to.bytes


def cast_steps(src: DType, dst: DType, mode: str | None = None) -> list[tuple[DType, str]]:
    """The chain with the mode of each conversion: the mode of the whole wherever digits can be lost.

    For floor, ceil and trunc rounding twice is rounding once. To the nearest it is not (72.51 is 72.5 in fp16, and then
    72), except by way of a number rounded to odd that has two digits more than the last one: so fp32 goes to 8-bit
    integers, at no cost.
    """
    whole = mode or default_mode(src, dst)
    steps: list[tuple[DType, str]] = []
    for to in cast_chain(src, dst) or ():
        use = whole in NATIVE[src, to] and not exact(src, to)
        by_odd = whole in _NEAREST and to is not dst and "odd" in NATIVE[src, to]
        steps.append((to, "odd" if by_odd else whole if use else default_mode(src, to)))
        src = to
    return steps


def _infer(inference: Inference) -> ValueType:
    (x,) = shaped(inference, "x")
    check_dtype(inference, x.dtype, "x")
    dst, mode = inference.attr("dtype"), inference.attr("mode")
    chain = cast_chain(x.dtype, dst)
    if chain is None:
        reachable = [d.name for d in DTYPES.values() if cast_chain(x.dtype, d) is not None]
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"no conversion leads from {x.dtype} to {dst}; from {x.dtype} there are {listing(reachable, 'and')}",
            "dtype",
            label=f"from {x.dtype}",
            helps=(f"choose one of {listing(reachable)}",),
        )
    legal = NATIVE.get((x.dtype, dst), _ROUNDING)
    if chain and mode is not None and mode not in legal:
        names = [m for m in MODES if m in legal]
        raise inference.fail(
            rules.CAST_MODE,
            f"`cast` from {x.dtype} to {dst} cannot round by `{mode}`; it has {listing(names, 'and')}",
            "mode",
            label="this conversion does not have it",
            helps=(f"leave `mode` out, which means `{default_mode(x.dtype, dst)}`, or choose {listing(names)}",),
            fixes=(
                Repair(
                    "set",
                    inference.loc.field("mode"),
                    ("mode",),
                    default_mode(x.dtype, dst),
                    title=f"write `mode: {default_mode(x.dtype, dst)}`",
                ),
            ),
        )
    return fresh(x, dtype=dst, valid=common_valid(x))


def _recipe(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    pair = x.tile.dtype, into.tile.dtype
    if pair[0] == pair[1]:
        return tuple(copy_steps(into, x))
    assert pair in NATIVE, f"LegalizeTileCast splits the cast from {pair[0]} to {pair[1]}"
    mode = of.attr("mode") or default_mode(*pair)
    return tuple(calls("Cast", into, x, extra=(Word(f"RoundMode::CAST_{mode.upper()}"),)))


def _meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    x = inputs["x"]
    src = dtype_of_torch(x.dtype)
    if src is None:  # float64, of a reference: rounded as fp32 would be
        return round_to(torch, x, attrs["dtype"], attrs.get("mode") or default_mode(FP32, attrs["dtype"]))
    for dst, mode in cast_steps(src, attrs["dtype"], attrs.get("mode")):
        x = round_to(torch, x, dst, mode)
    return x


define(
    OpDef(
        name="cast",
        family="cast",
        doc="x in another dtype; pairs without an instruction of their own go through fp32 or fp16",
        fields=(
            INTO,
            X,
            Field(name="dtype", kind="dtype", doc="the new dtype", examples=("fp16",)),
            Field(
                name="mode",
                kind="word",
                doc="rounding; left out: `trunc` from float to integer, `rint` (half to even) elsewhere",
                required=False,
                words=tuple(MODES),
                meanings=MODES,
                examples=("rint",),
            ),
        ),
        role="elementwise",
        pipe="v",
        infer=_infer,
        dtypes=_SOURCES,
        dtype_of="x",
        torch=_meaning,
        recipe=_recipe,
        scratch=no_scratch,
        spaces=in_vec("into", "x"),
        no_alias=frozenset({"x"}),
        function="cast",
        example="- cast: {into: y, x: a, dtype: bf16, mode: rint}",
    )
)

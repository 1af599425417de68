"""Whole division of int32, exact over its full range: floordiv and rem (sign of the divisor), fmod (of the dividend).

There is no such instruction. A quotient in fp32 is off by at most 2^-22 of itself and one half, so what it leaves of
the dividend is below half the divisor and 512; that is divided again, which leaves at most half the divisor, and one
correction by the divisor makes the sign right. All of it is exact because int32 products wrap around. By a positive
literal power of two floordiv is a shift and rem a mask. A divisor of 0 gives anything.

Not for floats: a - trunc(a / b) * b rounds twice, and for a quotient that fp32 rounds to a whole number it is off by a
whole divisor. -2^31 by -1 wraps around to -2^31.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BLOCK_BYTES, FP32, INT32, DType
from pypto_spec.ir.instr import Instr, Number, Ref, ScalarRef, Word
from pypto_spec.ir.opdef import Inference, OpDef, Recipe
from pypto_spec.ir.types import TileType, ValueType
from pypto_spec.ops.bits import bitwise
from pypto_spec.ops.build import (
    INTO,
    LHS,
    RHS,
    SCALAR,
    X,
    check_dtype,
    common_valid,
    fresh,
    in_vec,
    infer_same,
    shaped,
)
from pypto_spec.ops.numbers import check_scalar, literal, number_arg, torch_number
from pypto_spec.ops.reduce_steps import Draft
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, flat_count, one_block, part

Kind = Literal["floordiv", "rem", "fmod"]

_RINT = Word("RoundMode::CAST_RINT")
_TOP = (Number(31, INT32),)
"""A shift that leaves the sign alone: 0 or -1."""


def _as(of: Part, dtype: DType) -> Part:
    """A scratch area read as another dtype of the same width."""
    return Part(Ref(of.ref.name, 0, dtype), replace(of.tile, dtype=dtype))


def _area(draft: Draft, like: TileType) -> Part:
    dense = TileType(INT32, like.shape, like.memory, like.layout)
    return Part(draft.area(dense.span_elements, INT32), dense)


PIECE = 2048
"""Elements divided at a time: the five areas of such a piece take 40 KiB."""


def _pieces(draft: Draft, kind: Kind, into: Part, a: Part, b: Part, *, one: bool = False) -> None:
    """Divide piece by piece in the same scratch; `one`: b is a piece of equal divisors."""
    count = flat_count([p.tile for p in ((into, a) if one else (into, a, b))])
    assert count is not None, "ResolveBackendOpLayouts makes the rows dense"
    mark = draft.next
    for start in range(0, count, PIECE):
        draft.next = mark
        tile = TileType(INT32, (1, min(PIECE, count - start)))
        cut = [Part(Ref(p.ref.name, start, p.ref.dtype) if start else p.ref, tile) for p in (into, a, b)]
        _divide(draft, kind, cut[0], cut[1], Part(b.ref, tile) if one else cut[2])


def _divide(draft: Draft, kind: Kind, into: Part, a: Part, b: Part) -> None:
    ratio, divisor, quotient, left, product = (_area(draft, a.tile) for _ in range(5))
    f, g = _as(ratio, FP32), _as(divisor, FP32)
    add = draft.add
    add(*calls("Cast", f, a, extra=(_RINT,)), *calls("Cast", g, b, extra=(_RINT,)), *calls("Div", f, f, g))
    add(*calls("Cast", quotient, f, extra=(_RINT,)))
    add(*calls("Mul", product, quotient, b), *calls("Sub", left, a, product))
    add(*calls("Cast", f, left, extra=(_RINT,)), *calls("Div", f, f, g), *calls("Cast", product, f, extra=(_RINT,)))
    if kind == "floordiv":
        add(*calls("Add", quotient, quotient, product))
    add(*calls("Mul", product, product, b), *calls("Sub", left, left, product))
    # All ones where something is left and its sign is wrong.
    wrong, spare = divisor, ratio
    add(
        *bitwise("xor", product, left, a if kind == "fmod" else b, spare),
        *calls("ShiftRight", wrong, product, extra=_TOP),
    )
    add(*calls("Muls", product, left, extra=(Number(-1, INT32),)), *bitwise("or", product, product, left, spare))
    add(*calls("ShiftRight", product, product, extra=_TOP), *bitwise("and", wrong, wrong, product, spare))
    if kind == "floordiv":
        add(*calls("Add", into, quotient, wrong))
        return
    step = b
    if kind == "fmod":  # the divisor with the sign of the dividend
        step = quotient
        add(*bitwise("xor", product, a, b, spare), *calls("ShiftRight", product, product, extra=_TOP))
        add(*bitwise("xor", quotient, b, product, spare), *calls("Sub", quotient, quotient, product))
    add(*bitwise("and", wrong, wrong, step, spare), *calls("Add", into, left, wrong))


def _tiles(of: Recipe, kind: Kind) -> Draft:
    draft = Draft()
    _pieces(draft, kind, part(of, "into"), part(of, "lhs"), part(of, "rhs"))
    return draft


def _by_number(of: Recipe, kind: Kind) -> Draft:
    draft = Draft()
    into, x = part(of, "into"), part(of, "x")
    value = literal(of, "scalar", INT32)
    if value is not None and value > 0 and kind != "fmod" and int(value) & (int(value) - 1) == 0:
        _by_power(draft, kind, into, x, int(value))
        return draft
    by: Number | ScalarRef = number_arg(of, "scalar", INT32)
    count = flat_count([into.tile, x.tile])
    assert count is not None
    filled = _area(draft, TileType(INT32, (1, min(PIECE, count))))
    draft.add(*calls("Duplicate", filled, extra=(by,)))
    _pieces(draft, kind, into, x, filled, one=True)
    return draft


def _by_power(draft: Draft, kind: Kind, into: Part, x: Part, value: int) -> None:
    if kind == "floordiv":
        draft.add(*calls("ShiftRight", into, x, extra=(Number(value.bit_length() - 1, INT32),)))
        return
    block = one_block(x.tile)
    draft.area(BLOCK_BYTES // INT32.bytes, INT32)
    draft.add(Instr("Duplicate", (block.ref, Number(value - 1, INT32), INT32.block)))
    draft.add(*bitwise("and", into, x, block, block))


# --- shapes and meaning ---------------------------------------------------------------------------------------------


def _check(inference: Inference, field: str) -> None:
    (x,) = shaped(inference, field)
    if not x.dtype.is_float:
        check_dtype(inference, x.dtype, field)
        return
    name = inference.operands[field].name
    raise inference.fail(
        rules.DTYPE_UNSUPPORTED,
        f"`{inference.defn.name}` of {x.dtype} would be off by a whole divisor where the quotient is rounded up to a "
        "whole number; it takes int32",
        field,
        label=f"{x.dtype} here",
        helps=(
            f"where that is acceptable write it out: `cast({name} / n, int32, mode=floor)`",
            f"cast to int32 if `{name}` holds whole numbers",
        ),
    )


def _infer_tiles(inference: Inference) -> ValueType:
    _check(inference, "lhs")
    made: ValueType = infer_same("lhs", "rhs")(inference)
    return made


def _infer_number(inference: Inference) -> ValueType:
    _check(inference, "x")
    (x,) = shaped(inference, "x")
    check_scalar(inference, "scalar", x.dtype)
    if "scalar" not in inference.operands and int(inference.attr("scalar")) == 0:
        raise inference.fail(
            rules.BAD_ARGUMENT, f"`{inference.defn.name}` by 0 has no value", "scalar", label="the divisor"
        )
    return fresh(x, valid=common_valid(x))


def _meaning(kind: Kind) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        a = inputs["lhs"] if "lhs" in inputs else inputs["x"]
        b = inputs["rhs"] if "rhs" in inputs else torch_number(torch, inputs, attrs, "scalar", a.dtype).expand_as(a)
        wide, by = a.to(torch.int64), b.to(torch.int64)
        by = torch.where(by == 0, torch.ones_like(by), by)
        if kind == "floordiv":
            return torch.div(wide, by, rounding_mode="floor").to(a.dtype)
        return (torch.remainder if kind == "rem" else torch.fmod)(wide, by).to(a.dtype)

    return meaning


_WORDS: dict[Kind, tuple[str, str | None, str | None]] = {
    "floordiv": ("the whole quotient, rounded down", "//", None),
    "rem": ("what floordiv leaves, with the sign of the divisor", "%", None),
    "fmod": ("what the quotient rounded towards zero leaves, with the sign of the dividend", None, "fmod"),
}


def _pair(make: Callable[[Recipe, Kind], Draft], kind: Kind) -> tuple[Any, Any]:
    return lambda of: tuple(make(of, kind).steps), lambda of: tuple(make(of, kind).areas)


for _kind, (_doc, _infix, _function) in _WORDS.items():
    for _many in (False, True):
        _recipe, _scratch = _pair(_by_number if _many else _tiles, _kind)
        define(
            OpDef(
                name=f"{_kind}s" if _many else _kind,
                family="divide",
                doc=f"{_doc}, element by element{', by a number' if _many else ''}; exact over the full range of "
                "int32, and anything where the divisor is 0",
                fields=(INTO, X, SCALAR) if _many else (INTO, LHS, RHS),
                role="elementwise",
                pipe="v",
                infer=_infer_number if _many else _infer_tiles,
                dtypes=(INT32,),
                dtype_of="x" if _many else "lhs",
                torch=_meaning(_kind),
                recipe=_recipe,
                scratch=_scratch,
                spaces=in_vec("into", *(("x",) if _many else ("lhs", "rhs"))),
                infix=_infix,
                function=_function,
                example=f"- {_kind}s: {{into: y, x: a, scalar: 7}}"
                if _many
                else f"- {_kind}: {{into: y, lhs: a, rhs: b}}",
            )
        )

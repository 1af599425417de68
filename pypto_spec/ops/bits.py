"""Bits of integers: and or xor not, ands ors xors with a number, shls shrs by a number.

And, Or and Not exist for 16-bit lanes; elements of 8, 32 and 64 bits are read as half, twice and four times as many.
There is no xor: it is `(a | b) & ~(a & b)`. Shifts go by one count for all elements, which is below the width of the
dtype; shrs keeps the sign of signed dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BLOCK_BYTES, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32
from pypto_spec.ir.instr import Instr, Ref, Step
from pypto_spec.ir.opdef import Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, TileType, ValueType
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
    no_scratch,
    shaped,
)
from pypto_spec.ops.numbers import check_scalar, number_arg, torch_number
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, one_block, part, scratch_like

Word = Literal["and", "or", "xor"]

INTEGERS = (INT32, INT16, UINT32, UINT16)
"""Dtypes of shifts, and of what spreads a number."""
WIDTHS = (*INTEGERS, INT8, UINT8, INT64)
"""Dtypes whose bits can be taken as they are."""


def lanes16(of: Part) -> Part:
    """The same bytes as 16-bit lanes; the last lane of a row of bytes may hold one that is nobody's."""
    tile, size = of.tile, of.tile.dtype.bytes
    if size == UINT16.bytes:
        return of
    assert isinstance(of.ref.offset, int)
    rows, cols = (1, tile.rows) if tile.order is Layout.DN else (tile.rows, tile.cols)
    pitch = tile.row_pitch * size // UINT16.bytes if rows > 1 else None
    narrow = TileType(UINT16, (rows, -(-cols * size // UINT16.bytes)), tile.memory, Layout.ND, pitch=pitch)
    return Part(Ref(of.ref.name, of.ref.offset * size // UINT16.bytes, UINT16), narrow, of.block)


def bitwise(word: Word, into: Part, lhs: Part, rhs: Part, spare: Part) -> Iterator[Step]:
    """`into = lhs WORD rhs`; `spare` is a tile of its own for xor. `into` may be one of the operands."""
    target, a, b, s = (lanes16(p) for p in (into, lhs, rhs, spare))
    if word == "xor":
        yield from calls("And", s, a, b)
        yield from calls("Not", s, s)
        yield from calls("Or", target, a, b)
        yield from calls("And", target, target, s)
        return
    yield from calls("And" if word == "and" else "Or", target, a, b)


def _two(word: Word) -> Callable[[Recipe], tuple[Step, ...]]:
    def recipe(of: Recipe) -> tuple[Step, ...]:
        lhs = part(of, "lhs")
        return tuple(bitwise(word, part(of, "into"), lhs, part(of, "rhs"), scratch_like(lhs.tile)))

    return recipe


def _two_scratch(word: Word) -> Callable[[Recipe], tuple[int, ...]]:
    return lambda of: (scratch_like(of.tile("lhs")).tile.bytes,) if word == "xor" else ()


def _by_number(word: Word) -> Callable[[Recipe], tuple[Step, ...]]:
    def recipe(of: Recipe) -> tuple[Step, ...]:
        x = part(of, "x")
        dtype = x.tile.dtype
        block = one_block(x.tile)
        fill = Instr("Duplicate", (block.ref, number_arg(of, "scalar", dtype), dtype.block))
        return (fill, *bitwise(word, part(of, "into"), x, block, scratch_like(x.tile, 1)))

    return recipe


def _number_scratch(word: Word) -> Callable[[Recipe], tuple[int, ...]]:
    def scratch(of: Recipe) -> tuple[int, ...]:
        return (BLOCK_BYTES, scratch_like(of.tile("x")).tile.bytes) if word == "xor" else (BLOCK_BYTES,)

    return scratch


def _not(of: Recipe) -> tuple[Step, ...]:
    return tuple(calls("Not", lanes16(part(of, "into")), lanes16(part(of, "x"))))


def _shift(call: str) -> Callable[[Recipe], tuple[Step, ...]]:
    def recipe(of: Recipe) -> tuple[Step, ...]:
        x = part(of, "x")
        return tuple(calls(call, part(of, "into"), x, extra=(number_arg(of, "scalar", x.tile.dtype),)))

    return recipe


# --- shapes ---------------------------------------------------------------------------------------------------------


def _infer_number(inference: Inference) -> ValueType:
    (x,) = shaped(inference, "x")
    check_dtype(inference, x.dtype, "x")
    check_scalar(inference, "scalar", x.dtype)
    return fresh(x, valid=common_valid(x))


def _infer_shift(inference: Inference) -> ValueType:
    made = _infer_number(inference)
    count, width = inference.attr("scalar"), 8 * made.dtype.bytes
    if "scalar" not in inference.operands and not (count == int(count) and 0 <= count < width):
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`{inference.defn.name}` of {made.dtype} by {count} bits; a count is 0 to {width - 1}",
            "scalar",
            label="not a count of bits",
        )
    return made


# --- meaning --------------------------------------------------------------------------------------------------------


def _in_int64(torch: Any, compute: Any, *tensors: Any) -> Any:
    """`compute` in int64, which torch has every operator for, and back with wrapping."""
    return compute(*(t.to(torch.int64) for t in tensors)).to(tensors[0].dtype)


def _meaning(word: str) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        named = "x" if "x" in inputs else "lhs"
        first = inputs[named]
        second = (
            inputs["rhs"]
            if named == "lhs"
            else torch_number(torch, inputs, attrs, "scalar", torch.int64).to(first.dtype).expand_as(first)
        )
        return _in_int64(torch, getattr(torch, word), first, second)

    return meaning


def _not_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return _in_int64(torch, torch.bitwise_not, inputs["x"])


_COUNT = replace(SCALAR, doc="bits to shift by, 0 to the width of the dtype minus 1", examples=(3, "n"))
_TWO: dict[Word, str] = {
    "and": "the bits that both have",
    "or": "the bits that one or both have",
    "xor": "the bits that one of them has",
}

for _word, _doc in _TWO.items():
    define(
        OpDef(
            name=_word,
            family="bits",
            doc=f"{_doc}, element by element",
            fields=(INTO, LHS, RHS),
            role="elementwise",
            pipe="v",
            infer=infer_same("lhs", "rhs"),
            dtypes=WIDTHS,
            dtype_of="lhs",
            torch=_meaning(f"bitwise_{_word}"),
            recipe=_two(_word),
            scratch=_two_scratch(_word),
            spaces=in_vec("into", "lhs", "rhs"),
            function=f"bit_{_word}",
            example=f"- {_word}: {{into: y, lhs: a, rhs: b}}",
        )
    )
for _word, _doc in _TWO.items():
    define(
        OpDef(
            name=f"{_word}s",
            family="bits",
            doc=f"{_doc} of x and a number, element by element",
            fields=(INTO, X, SCALAR),
            role="elementwise",
            pipe="v",
            infer=_infer_number,
            dtypes=INTEGERS,
            dtype_of="x",
            torch=_meaning(f"bitwise_{_word}"),
            recipe=_by_number(_word),
            scratch=_number_scratch(_word),
            spaces=in_vec("into", "x"),
            function=f"bit_{_word}",
            example=f"- {_word}s: {{into: y, x: a, scalar: 15}}",
        )
    )
define(
    OpDef(
        name="not",
        family="bits",
        doc="every bit of x turned over",
        fields=(INTO, X),
        role="elementwise",
        pipe="v",
        infer=infer_same("x"),
        dtypes=WIDTHS,
        dtype_of="x",
        torch=_not_meaning,
        recipe=_not,
        scratch=no_scratch,
        spaces=in_vec("into", "x"),
        function="bit_not",
        example="- not: {into: y, x: a}",
    )
)
for _name, _call, _torch, _doc in (
    ("shls", "ShiftLeft", "bitwise_left_shift", "x shifted left by a number of bits; what leaves the dtype is lost"),
    ("shrs", "ShiftRight", "bitwise_right_shift", "x shifted right by a number of bits; signed dtypes keep their sign"),
):
    define(
        OpDef(
            name=_name,
            family="bits",
            doc=_doc,
            fields=(INTO, X, _COUNT),
            role="elementwise",
            pipe="v",
            infer=_infer_shift,
            dtypes=INTEGERS,
            dtype_of="x",
            torch=_meaning(_torch),
            recipe=_shift(_call),
            scratch=no_scratch,
            spaces=in_vec("into", "x"),
            function=_name.removesuffix("s"),
            example=f"- {_name}: {{into: y, x: a, scalar: 3}}",
        )
    )

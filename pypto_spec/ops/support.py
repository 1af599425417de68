"""What exists for which dtype and in which form, and why the rest does not: checked by tests, printed in `docs/ops.md`.

`OpDef.dtypes` says which dtypes an operator takes. Every other pair of operator and dtype has its reason in `NO_DTYPE`,
and every form of an operator that is refused has it in `NO_FORM`. The operator matrix of the tests runs what is not
listed, and proves that what is listed is refused.

Sources: the Ascend C reference of dav-2201 (dtypes of each vector call), PyPTO's operator catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.opdef import OpDef

FORMS: Mapping[str, str] = {
    "whole": "all of the tile is defined",
    "rows": "fewer rows are valid than the tile has",
    "columns": "fewer columns are valid, in no multiple of 32 B",
    "corner": "both",
    "run-time rows": "the number of valid rows is known at run time only, from a symbol",
    "run-time columns": "the number of valid columns is known at run time only, from a symbol",
    "extents": "a loop walks over a tensor whose extents are no multiples of the tile's",
    "one row": "[1, N]",
    "one column": "[M, 1]",
    "255 rows": "as many rows as one instruction repeats",
    "256 rows": "one more",
}
"""The forms in which every operator is tested with every dtype."""

PARTS = ("rows", "columns", "corner", "run-time rows", "run-time columns", "extents")
"""The forms in which only a part of the tile is valid."""
_COLUMNS = ("columns", "corner", "run-time columns", "extents")
_RUNTIME_ROWS, _RUNTIME_COLUMNS = ("run-time rows", "extents"), ("run-time columns", "extents")


class NoDType(NamedTuple):
    """Why operators or whole families do not exist for some dtypes; names and dtypes are separated by spaces.

    `let`: a formula takes the dtype nevertheless, by casts.
    """

    ops: str
    dtypes: str
    reason: str
    let: bool = False


class NoForm(NamedTuple):
    """Why operators or whole families are refused in some forms; `dtypes` where it is only some.

    `partly`: some ways to write it are refused and others are not.
    """

    ops: str
    forms: tuple[str, ...]
    reason: str
    dtypes: str = ""
    partly: bool = False


_ARITHMETIC = "binary scalar unary activation trig"
_NUMERIC = f"{_ARITHMETIC} divide reduce product arg expand"
_FLOATS = (
    "div divs rdivs exp log sqrt rsqrt recip lrelu prelu arg row_expand_div row_expand_rdiv row_expand_expdif "
    "col_expand_div col_expand_rdiv col_expand_expdif"
)

NO_DTYPE: tuple[NoDType, ...] = (
    NoDType(
        "matmul transpose_view",
        "int32 int16 int64 uint8 uint16 uint32",
        "the cube multiplies halves, bf16, fp32 and int8, and nothing else: cast the tensor in a region of its own",
    ),
    NoDType("sin cos", "fp16", "the argument is reduced in four steps that need fp32: cast, and cast the result back"),
    NoDType(_FLOATS, "int32 int16", "the instruction takes half and float only: cast to fp32"),
    NoDType("sin cos", "int32 int16", "the argument is reduced in fp32: cast to it"),
    NoDType(
        "reduce product", "int16", "totals of 16 bits overflow early, and no instruction reduces them: cast to fp32"
    ),
    NoDType("divide", "int16", "quotients are made in int32: cast to fp32, then to int32"),
    NoDType(
        "divide",
        "fp32 fp16",
        "a rounded quotient may be one off, and its remainder with it: cast whole numbers to int32",
    ),
    NoDType("cmp cmps", "int16", "Compare takes half, float and (equality) int32: cast to fp32"),
    NoDType("divide cmp cmps", "bf16", "the vector unit has no arithmetic on bf16: cast to fp32, and back"),
    NoDType(_NUMERIC, "bf16", "the vector unit has no arithmetic on bf16: a `let` goes through fp32", let=True),
    NoDType(
        f"{_NUMERIC} cmp cmps", "int8 uint8", "the vector unit has no arithmetic on 8 bits: cast to fp16, and back"
    ),
    NoDType(f"{_NUMERIC} cmp cmps", "int64", "the vector unit has no arithmetic on 64 bits: cast to int32 or fp32"),
    NoDType(f"{_NUMERIC} cmp cmps", "uint32 uint16", "arithmetic is signed, and no Cast leads from or to this dtype"),
    NoDType("tri", "bf16 uint32 uint16", "made by arithmetic: make it in fp32 or a signed dtype, and cast"),
    NoDType("arange", "bf16", "8 binary digits hold whole numbers up to 256 only: count in int32, and cast"),
    NoDType("bits", "fp32 fp16 bf16", "bits of numbers with exponents mean nothing"),
    NoDType("ands ors xors", "int8 uint8 int64", "Duplicate, which spreads the number, writes 16 and 32 bits"),
    NoDType("shl shr shls shrs", "int8 uint8 int64", "shifts take elements of 16 and 32 bits"),
    NoDType("cast", "uint32 uint16", "no Cast leads from or to this dtype"),
    NoDType(
        "create pad", "int8 uint8 int64", "Duplicate writes elements of 16 and 32 bits: make an int32 tile, and cast"
    ),
    NoDType("pick", "int8 uint8 int64", "Gather and Transpose take elements of 16 and 32 bits"),
    NoDType("sort", "bf16 int32 int16 int8 uint8 int64 uint32 uint16", "Sort32 and MrgSort order half and float: cast"),
    NoDType("row_expand col_expand", "int8 uint8 int64", "Brcb and Copy move elements of 16 and 32 bits"),
    NoDType("sel sels select selects", "int8 uint8 int64", "Select moves elements of 16 and 32 bits"),
)
"""The first row that names the operator, or else the first that names its family, gives the reason."""

NO_FORM: tuple[NoForm, ...] = (
    NoForm("full arange tri", PARTS, "it reads no tile, and makes whole ones; set_validshape narrows the result"),
    NoForm("row_expand", ("columns", "run-time columns"), "its operand has one column"),
    NoForm("col_expand", ("rows", "run-time rows"), "its operand has one row"),
    NoForm("reshape", PARTS, "rows that are not whole would lie with holes between them; fillpad makes them whole"),
    NoForm(
        "assemble", _COLUMNS, "an undefined rest of `x` would be written over the target; fillpad fills it", partly=True
    ),
    NoForm("concat", _COLUMNS, "behind a part of `lhs` would be a hole; extract the part, or fill it up", partly=True),
    NoForm("gather", _RUNTIME_ROWS, "undefined indices would be addresses; fill them with fillpad"),
    NoForm("gather", ("run-time columns",), "undefined indices would be addresses; those of `x` may be", partly=True),
    NoForm("sort32 mrgsort", _COLUMNS, "Sort32 takes whole blocks of 32: fillpad, or sort and topk, which pad"),
    NoForm("mrgsort_lists", ("run-time columns", "extents"), "how many records are merged is known at compile time"),
    NoForm("topk", ("columns", "corner"), "no more elements are taken than are valid", partly=True),
    NoForm("sort", ("run-time columns", "extents", "one column"), "rows of a known length are sorted, from two on"),
    NoForm("cmp cmps sel sels", ("one column",), "bits are packed in rows; select and selects take columns"),
    NoForm("concat", ("one column",), "a column of 8 or 64 bits cannot be spread", "int8 uint8 int64"),
    NoForm("gemv gemv_acc gemv_bias", ("rows", "run-time rows"), "the left operand is one row"),
    NoForm("row_argmax row_argmin", ("one column",), "every position is 0"),
)


class SupportError(LookupError):
    """A pair of operator and dtype is neither defined nor explained."""


def no_dtype(defn: OpDef, dtype: DType) -> NoDType | None:
    """Why the operator does not take a dtype; None where it does. SupportError where nobody has said why."""
    if dtype in defn.dtypes:
        return None
    for name in (defn.name, defn.family):
        for row in NO_DTYPE:
            if name in row.ops.split() and dtype.name in row.dtypes.split():
                return row
    raise SupportError(f"{defn.name} does not take {dtype}, and NO_DTYPE in ops/support.py does not say why")


def no_form(defn: OpDef, dtype: DType, form: str) -> NoForm | None:
    """Why the operator is refused in a form; None where it is not."""
    for row in NO_FORM:
        named = {defn.name, defn.family} & set(row.ops.split())
        if named and form in row.forms and (not row.dtypes or dtype.name in row.dtypes.split()):
            return row
    return None


def pairs(defn: OpDef) -> Iterator[tuple[DType, NoDType | None]]:
    """Every dtype with the reason why the operator does not take it, or None."""
    for dtype in DTYPES.values():
        yield dtype, no_dtype(defn, dtype)

"""The examples of the reference page: an operator on 64 rows of 128 elements, and on other ways between memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.diagnostics.span import NOWHERE, Loc
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT32, INT64, UINT8, DType
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.ir.opdef import Field, Inference, OpDef
from pypto_spec.ir.types import Access, Memory, TensorType, TileType, ValueType
from pypto_spec.ops.cube.mmad import ACCUMULATOR

ROWS, COLS = 64, 128
ON = ("tile", "tensor")
"""The kinds of fields that are operands."""

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "slice": {"at": (0, 64), "shape": (64, 64)},
    "reshape": {"shape": (32, 256)},
    "cast": {"dtype": BF16},
    "full": {"value": 0},
    "extract": {"at": (0, 3), "shape": (64, 64)},
    "assemble": {"at": (0, 0)},
    "fillpad": {"pad": "zero"},
    "gather_mask": {"pattern": "p0101"},
    "mrgsort": {"run": 16},
    "topk": {"k": 8},
    **{name: {"scalar": 3} for name in ("ands", "ors", "xors", "shls", "shrs", "floordivs", "rems", "fmods")},
    "fillpad_inplace": {"pad": "zero"},
    "fillpad_expand": {"shape": (ROWS, 2 * COLS), "pad": "zero"},
    "set_validshape": {"valid": (40, COLS)},
    "arange": {"shape": (1, COLS), "start": 0, "dtype": INT32},
}
"""Fields of the example where `ATTRS` does not fit."""

ATTRS: Mapping[str, Any] = {
    "at": (0, 0),
    "shape": (ROWS, COLS),
    "dtype": FP32,
    "scalar": 2.0,
    "slope": 0.5,
    "cmp_type": "gt",
    "rows": ROWS,
    "cols": COLS,
}
"""Required fields of the example, by name."""

WAYS: tuple[tuple[str, Memory, Memory, DType, Mapping[str, Any]], ...] = (
    ("load", Memory.GM, Memory.MAT, FP16, {"memory": Memory.MAT}),
    ("move", Memory.MAT, Memory.LEFT, FP16, {"memory": Memory.LEFT}),
    ("move", Memory.MAT, Memory.RIGHT, FP16, {"memory": Memory.RIGHT}),
    ("move", Memory.ACC, Memory.MAT, FP32, {"memory": Memory.MAT, "dtype": FP16}),
    ("extract", Memory.MAT, Memory.LEFT, FP16, {"memory": Memory.LEFT, "at": (0, 64)}),
    ("extract", Memory.MAT, Memory.RIGHT, FP16, {"memory": Memory.RIGHT, "at": (0, 64)}),
    ("assemble", Memory.ACC, Memory.MAT, FP32, {}),
    ("store", Memory.ACC, Memory.GM, FP32, {}),
)
"""Ways between memories that the page shows besides an operator's example: from, to, the operand's dtype, fields."""


def example(defn: OpDef) -> Op:
    """The operator on tiles of 64 x 128 elements, or the vectors that belong to such."""
    dtype = FP32 if FP32 in defn.dtypes else defn.dtypes[0]
    operands = {f.name: Value(f.name, _operand(defn, f, dtype)) for f in defn.fields if f.kind in ON}
    operands.pop("scales", None)
    return _made(defn, operands, _attrs(defn))


def _attrs(defn: OpDef) -> dict[str, Any]:
    own = EXAMPLES.get(defn.name, {})
    attrs: dict[str, Any] = {}
    for field in defn.fields:
        if field.name in own:
            attrs[field.name] = own[field.name]
        elif field.required and field.kind not in (*ON, "bind"):
            attrs[field.name] = ATTRS[field.name]
    return attrs


def _made(defn: OpDef, operands: Mapping[str, Value], attrs: Mapping[str, Any]) -> Op:
    made = defn.infer(Inference(defn, operands, attrs, Loc(NOWHERE)))
    results = () if made is None else (Value("into", made),)
    return Op(defn=defn, operands=operands, attrs=attrs, results=results, loc=Loc(NOWHERE))


def _operand(defn: OpDef, field: Field, dtype: DType) -> ValueType:
    if field.name == "mask":
        return TileType(UINT8, (ROWS, 32), Memory.VEC)
    if field.name == "scales" or defn.role == "matmul":
        return _of_the_cube(defn, field.name, dtype)
    if field.kind == "tensor":
        return TensorType(dtype, (8 * ROWS, COLS), Access.INOUT)
    shape = (ROWS, COLS)
    if field.name == "index":
        return TileType(INT32, (ROWS, COLS if defn.name == "sort32" else COLS // 2), Memory.VEC)
    vector = field.name != defn.dtype_of or defn.name in ("row_expand", "col_expand")
    if defn.role in ("row_expand", "col_expand") and vector:
        shape = (ROWS, 1) if defn.role == "row_expand" else (1, COLS)
    return TileType(dtype, shape, defn.spaces[field.name][0])


def _of_the_cube(defn: OpDef, field: str, dtype: DType) -> TileType:
    """An operand of a product [64, 128] x [128, 64], or the scales behind it."""
    if field == "scales":
        return TileType(INT64, (1, COLS), Memory.MAT)
    rows = 1 if defn.name.startswith("gemv") else ROWS
    shape = {"lhs": (rows, COLS), "rhs": (COLS, ROWS), "acc": (rows, ROWS), "bias": (1, ROWS)}[field]
    kind = dtype if field in ("lhs", "rhs") else ACCUMULATOR[dtype]
    stack = (2,) if defn.name.startswith("batch") else ()
    return TileType(kind, (*stack, *shape), defn.spaces[field][0])


def ways(defn: OpDef) -> Iterator[tuple[str, Op]]:
    """The operator between other memories than those of its example, and what to call that."""
    for name, start, end, dtype, attrs in WAYS:
        if name != defn.name:
            continue
        operands = {f.name: Value(f.name, _operand(defn, f, dtype)) for f in defn.fields if f.required and f.kind in ON}
        source = "x" if "x" in operands else "from"
        kind = operands[source].type
        if start is not Memory.GM:
            assert isinstance(kind, TileType)
            operands[source] = Value(source, replace(kind, memory=start))
        if "target" in operands:
            target = operands["target"].type
            assert isinstance(target, TileType)
            operands["target"] = Value("target", replace(target, dtype=FP16, memory=end))
        yield f"`{start.value}` to `{end.value}`", _made(defn, operands, {**_attrs(defn), **attrs})

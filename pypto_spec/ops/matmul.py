"""Products of matrices on the cube: matmul, matmul_acc, matmul_bias and the GEMV forms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index
from pypto_spec.ir.instr import Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Memory, TileType, ValueType
from pypto_spec.ops.build import INTO, no_scratch, no_steps, torch_dtype
from pypto_spec.ops.cube.leaving import FINAL, PHASE, flag_of, is_distance
from pypto_spec.ops.cube.mmad import ACCUMULATOR, OPERANDS, mmad
from pypto_spec.ops.matmul_arrays import infer_arrays
from pypto_spec.ops.matmul_checks import (
    added,
    check_acc,
    check_bias,
    check_extents,
    check_level,
    check_operands,
    matrices,
    valid_of,
)
from pypto_spec.ops.matmul_stacks import infer_stacks
from pypto_spec.ops.registry import define

LHS = Field(name="lhs", kind="tile", doc="left operand [M, K]", examples=("a",))
RHS = Field(name="rhs", kind="tile", doc="right operand [K, N], of the same dtype", examples=("b",))
ACC = Field(name="acc", kind="tile", doc="the accumulator [M, N] to add to, changed in place", examples=("c",))
BIAS = Field(name="bias", kind="tile", doc="one row [1, N] of the accumulator's dtype", examples=("d",))
INIT = Field(
    name="init",
    kind="condition",
    doc="when to start from zero instead of adding to `acc`",
    required=False,
    examples=("k == 0",),
)
A_TRANS = Field(name="a_trans", kind="flag", doc="`lhs` is [K, M] (whole arrays only)", required=False, default=False)
B_TRANS = Field(name="b_trans", kind="flag", doc="`rhs` is [N, K] (whole arrays only)", required=False, default=False)
DTYPE = Field(
    name="dtype",
    kind="dtype",
    doc="dtype of the result (whole arrays only); by default the accumulator's, fp32 or int32",
    required=False,
)

SPACES: Mapping[str, tuple[Memory, ...]] = {
    "into": (Memory.ACC,),
    "lhs": (Memory.LEFT,),
    "rhs": (Memory.RIGHT,),
    "acc": (Memory.ACC,),
    "bias": (Memory.BIAS,),
}


def _infer(vector: bool, inference: Inference) -> ValueType:
    if not vector and not isinstance(inference.type("lhs"), TileType):
        return infer_arrays(inference)
    lhs, rhs = matrices(inference, "lhs", "rhs")
    if not vector:
        check_level(inference)
    check_operands(inference, lhs, rhs)
    check_extents(inference, lhs, rhs, vector)
    acc = ACCUMULATOR[lhs.dtype]
    shape = (lhs.rows, rhs.cols)
    valid: tuple[Index, Index] = (valid_of(lhs)[0], valid_of(rhs)[1])
    made = TileType(acc, shape, Memory.ACC, valid=None if valid == shape else valid)
    if "acc" in inference.operands:
        check_acc(inference, made)
        made = added(inference, made)
    if "bias" in inference.operands:
        check_bias(inference, made)
    _check_final(inference)
    return made


def _check_final(inference: Inference) -> None:
    """A unit flag known at run time only is computed from indices."""
    final = inference.attr("final")
    if final is None:
        return
    if inference.attr("phase") != "partial":
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            "`final` says when a `phase: partial` is the last one after all",
            "final",
            label="without `phase: partial`",
            helps=("write `phase: partial` beside it, or leave `final` out",),
        )
    if not is_distance(final):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            "`final` is one `==`, or several joined by `and`",
            "final",
            label="no distance of indices",
            helps=("compare the index with its last value, such as `k == 448`",),
        )


# --- recipes and meaning --------------------------------------------------------------------------------------------


def _recipe(of: Recipe) -> tuple[Step, ...]:
    init: Any = not of.has("acc")
    if of.has("acc") and of.attr("init") is not None:
        init = of.attr("init")
    flag = flag_of(of.attr("phase"), of.attr("final"))
    return tuple(mmad(of.tile("lhs"), of.tile("rhs"), init=init, bias=of.has("bias"), unit_flag=flag))


def product(torch: Any, lhs: Any, rhs: Any) -> Any:
    """The product in the accumulator's dtype; of fp32 operands exact products are summed with more than its bits."""
    if not lhs.dtype.is_floating_point:
        return torch.matmul(lhs.to(torch.int64), rhs.to(torch.int64)).to(torch.int32)
    return torch.matmul(lhs.to(torch.float64), rhs.to(torch.float64)).to(torch.float32)


def _meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    lhs, rhs = inputs["lhs"], inputs["rhs"]
    lhs = lhs.transpose(-1, -2) if attrs.get("a_trans") else lhs
    rhs = rhs.transpose(-1, -2) if attrs.get("b_trans") else rhs
    made = product(torch, lhs, rhs)
    if "bias" in inputs:
        made = made + inputs["bias"]
    if "acc" in inputs and not attrs.get("init"):
        made = made + inputs["acc"]
    dtype = attrs.get("dtype")
    return made if dtype is None else made.to(torch_dtype(torch, dtype))


def _define(name: str, doc: str, fields: tuple[Field, ...], example: str, function: str | None = None) -> None:
    vector = name.startswith("gemv")
    names = {f.name for f in fields}
    define(
        OpDef(
            name=name,
            family="matmul",
            doc=doc,
            fields=(*fields, PHASE, FINAL),
            role="matmul",
            pipe="m",
            infer=partial(_infer, vector),
            dtypes=OPERANDS,
            dtype_of="lhs",
            torch=_meaning,
            recipe=_recipe,
            scratch=no_scratch,
            spaces={field: spaces for field, spaces in SPACES.items() if field in names},
            reuses="acc" if "acc" in names else None,
            function=function,
            example=example,
        )
    )


_FORMS: tuple[tuple[str, tuple[Field, ...], str, str], ...] = (
    ("", (INTO, LHS, RHS), "{}, in a new accumulator", "into: c, lhs: a, rhs: b"),
    ("_acc", (INTO, ACC, LHS, RHS, INIT), "{}, added to an accumulator", "into: c, acc: c, lhs: a, rhs: b"),
    ("_bias", (INTO, LHS, RHS, BIAS), "{}, with a bias added to each row", "into: c, lhs: a, rhs: b, bias: d"),
)

for _suffix, _fields, _doc, _example in _FORMS:
    _more = (A_TRANS, B_TRANS, DTYPE) if not _suffix else ()
    _define(
        f"matmul{_suffix}",
        _doc.format("the product of two matrices"),
        (*_fields, *_more),
        f"- matmul{_suffix}: {{{_example}}}",
        "matmul" if not _suffix else None,
    )
for _suffix, _fields, _doc, _example in _FORMS:
    _define(
        f"gemv{_suffix}",
        _doc.format("the product of one row and a matrix, by the cube's vector form"),
        _fields,
        f"- gemv{_suffix}: {{{_example}}}",
    )

define(
    OpDef(
        name="batch_matmul",
        family="matmul",
        doc="the products of two stacks of matrices, pair by pair; stored, or brought back for another one",
        fields=(
            INTO,
            Field(name="lhs", kind="tile", doc="left operands [..., M, K]", examples=("a",)),
            Field(
                name="rhs",
                kind="tile",
                doc="right operands [..., K, N], as many, or one of either for all of the other",
                examples=("b",),
            ),
        ),
        role="matmul",
        pipe="m",
        infer=infer_stacks,
        dtypes=OPERANDS,
        dtype_of="lhs",
        torch=_meaning,
        recipe=no_steps,  # FlattenTileNdTo2D makes a matmul of each pair
        scratch=no_scratch,
        spaces={field: SPACES[field] for field in ("into", "lhs", "rhs")},
        example="- batch_matmul: {into: c, lhs: a, rhs: b}",
    )
)

"""The shape rule of a product of whole arrays, of any number of leading dimensions that are broadcast."""

from __future__ import annotations

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import ArrayType
from pypto_spec.ops.build import check_dtype, listing, same_dtype, shape_text, shaped
from pypto_spec.ops.cube.fixpipe import outputs
from pypto_spec.ops.cube.mmad import ACCUMULATOR


def infer_arrays(inference: Inference) -> ArrayType:
    """[..., M, K] and [..., K, N], or transposed, to [..., M, N], rounded to `dtype` where one is given."""
    lhs, rhs = shaped(inference, "lhs", "rhs")
    for field, found in (("lhs", lhs), ("rhs", rhs)):
        if len(found.shape) < 2:
            name = inference.operands[field].name
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` needs rows and columns, `{name}` is {shape_text(found.shape)}",
                field,
                helps=(f"give it two dimensions: `reshape({name}, [1, {found.shape[-1]}])`",),
            )
    check_dtype(inference, lhs.dtype, "lhs")
    same_dtype(inference, "lhs", "rhs")
    m, k = _turned(lhs.shape, inference.attr("a_trans"))
    depth, n = _turned(rhs.shape, inference.attr("b_trans"))
    if k != depth:
        left, right = (inference.operands[f].name for f in ("lhs", "rhs"))
        ways = [flag for flag, fits in (("b_trans", k == n), ("a_trans", m == depth)) if fits]
        added = [f"`{flag}=true`" for flag in ways if not inference.attr(flag)]
        helps = [f"{listing(added)} takes it transposed"] if added else []
        helps += [f"leave `{flag}` out" for flag in ways if inference.attr(flag)]
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`matmul` of {shape_text(lhs.shape)} `{left}` and {shape_text(rhs.shape)} `{right}`: "
            f"K is {k} on the left and {depth} on the right",
            "rhs",
            label=f"K is {depth} here",
            helps=tuple(helps) or ("K must be one extent",),
        )
    return ArrayType(_dtype(inference, ACCUMULATOR[lhs.dtype]), (*broadcast(inference, lhs.shape, rhs.shape), m, n))


def _turned(shape: tuple[int, ...], turned: bool) -> tuple[int, int]:
    return (shape[-1], shape[-2]) if turned else (shape[-2], shape[-1])


def _dtype(inference: Inference, acc: DType) -> DType:
    dtype: DType | None = inference.attr("dtype")
    fits = outputs(acc, scaled=False)
    if dtype is None or dtype in fits:
        return dtype or acc
    raise inference.fail(
        rules.DTYPE_UNSUPPORTED,
        f"the product adds up in {acc}, which does not leave the cube as {dtype}",
        "dtype",
        label=f"{dtype} here",
        helps=(f"write {listing([f'`dtype={d}`' for d in fits])}",),
    )


def broadcast(inference: Inference, lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    """The leading dimensions of a product; refuses those that are neither alike nor 1."""
    a, b = lhs[:-2], rhs[:-2]
    size = max(len(a), len(b))
    a, b = (1,) * (size - len(a)) + a, (1,) * (size - len(b)) + b
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.defn.name}` of {shape_text(lhs)} and {shape_text(rhs)}: the leading dimensions must be "
            "alike, or 1",
            "rhs",
            label=f"{shape_text(rhs[:-2])} here, {shape_text(lhs[:-2])} in `lhs`",
            helps=("take as many matrices of both, or one",),
        )
    return tuple(max(pair) for pair in zip(a, b, strict=True))

"""Products of all dtypes and odd extents, in every form, through the whole compiler on the host model.

The normal run takes one form of each dtype and extents, which rotate; the `long` run takes all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import pytest

from pypto_spec.ir.dtype import INT8, DType
from pypto_spec.ops.cube.mmad import ACCUMULATOR, OPERANDS
from tests.golden.harness import Case, assert_good
from tests.golden.spec_text import Spec

pytest.importorskip("torch")

M, N, K = (1, 17, 129), (1, 24, 33), (8, 36, 100)
Extents = tuple[int, int, int]


def operand(spec: Spec, name: str, dtype: DType, shape: tuple[int, int], turned: bool) -> str:
    """Load an operand, stored with its axes exchanged or not, and give its name."""
    if not turned:
        spec.load(name, dtype, shape)
        return name
    spec.load(f"{name}_s", dtype, shape[::-1])
    if shape[1] == 1:
        spec.body[-1] = spec.body[-1].replace("}", ", memory: mat, layout: nz}")
    spec.body.append(f"transpose_view: {{into: {name}, x: {name}_s}}")
    return name


def multiplied(spec: Spec, dtype: DType, mnk: Extents, turned: str = "", op: str = "matmul", more: str = "") -> None:
    """`y`, the product of `l` and `r`; `turned` names the operands that are stored transposed."""
    m, n, k = mnk
    left, right = operand(spec, "l", dtype, (m, k), "l" in turned), operand(spec, "r", dtype, (k, n), "r" in turned)
    spec.body.append(f"{op}: {{into: y, lhs: {left}, rhs: {right}{more}}}")


def plain(spec: Spec, dtype: DType, mnk: Extents, turned: str = "") -> bool:
    multiplied(spec, dtype, mnk, turned)
    spec.store("y", ACCUMULATOR[dtype], mnk[:2])
    return dtype is INT8


def moved(spec: Spec, dtype: DType, mnk: Extents) -> bool:
    """Every move is written, of a window where the tile is too large for L0."""
    m, n, k = mnk
    rows = min(m, 64)
    spec.load("l", dtype, (m, k))
    spec.load("r", dtype, (k, n))
    spec.body += [
        f"extract: {{into: l0, x: l, at: [0, 0], shape: [{rows}, {k}], memory: left}}",
        "move: {into: r0, from: r, memory: right}",
        "matmul: {into: y, lhs: l0, rhs: r0}",
    ]
    spec.store("y", ACCUMULATOR[dtype], (rows, n))
    return dtype is INT8


def with_bias(spec: Spec, dtype: DType, mnk: Extents) -> bool:
    spec.load("d", ACCUMULATOR[dtype], (1, mnk[1]))
    multiplied(spec, dtype, mnk, op="matmul_bias", more=", bias: d")
    spec.store("y", ACCUMULATOR[dtype], mnk[:2])
    return dtype is INT8


def summed(spec: Spec, dtype: DType, mnk: Extents) -> bool:
    """K goes by in blocks of 32, the last of which is partly valid; the first starts from zero."""
    m, n, k = mnk
    acc, depth = ACCUMULATOR[dtype], f"min(32, {k} - k * 32)"
    spec.tensor("a", dtype, (m, k))
    spec.tensor("b", dtype, (k, n))
    spec.body.append(f"create_tile: {{into: c, shape: [{m}, {n}], dtype: {acc}}}")
    inner = (
        f"load: {{into: l, from: a, at: [0, k * 32], shape: [{m}, 32], valid: [{m}, '{depth}']}}",
        f"load: {{into: r, from: b, at: [k * 32, 0], shape: [32, {n}], valid: ['{depth}', {n}]}}",
        "matmul_acc: {into: s, acc: u, lhs: l, rhs: r, init: k == 0}",
        "yield: {u: s}",
    )
    lines = "".join(f"\n          - {line}" for line in inner)
    head = f"for: {{index: k, count: {-(-k // 32)}}}\n        carry: {{u: {{init: c}}}}\n        results: {{y: u}}"
    spec.body.append(f"{head}\n        body:{lines}")
    spec.store("y", acc, (m, n))
    return dtype is INT8


def narrowed(spec: Spec, dtype: DType, mnk: Extents) -> bool:
    """Rounded to 16 bits on the way out, int32 by a scale, and cut at zero."""
    multiplied(spec, dtype, mnk)
    out = "bf16" if dtype.name == "bf16" else "fp16"
    spec.tensors.append(f"out: {{dtype: {out}, shape: [{mnk[0]}, {mnk[1]}], access: out}}")
    scale = ", quant: 0.0625" if dtype is INT8 else ""
    spec.body.append(f"store: {{from: y, to: out, at: [0, 0], relu: true{scale}}}")
    return False


def added(spec: Spec, dtype: DType, mnk: Extents) -> bool:
    multiplied(spec, dtype, mnk)
    spec.tensor("out", ACCUMULATOR[dtype], mnk[:2], "inout")
    spec.body += ["store: {from: y, to: out, at: [0, 0], atomic: add}"] * 2
    return dtype is INT8


def of_one_row(spec: Spec, dtype: DType, mnk: Extents) -> bool:
    multiplied(spec, dtype, (1, *mnk[1:]), op="gemv")
    spec.store("y", ACCUMULATOR[dtype], (1, mnk[1]))
    return dtype is INT8


FORMS: Mapping[str, Callable[[Spec, DType, Extents], bool]] = {
    "plain": plain,
    "left": lambda spec, dtype, mnk: plain(spec, dtype, mnk, "l"),
    "right": lambda spec, dtype, mnk: plain(spec, dtype, mnk, "r"),
    "both": lambda spec, dtype, mnk: plain(spec, dtype, mnk, "lr"),
    "moved": moved,
    "bias": with_bias,
    "summed": summed,
    "narrowed": narrowed,
    "added": added,
    "gemv": of_one_row,
}
"""What is written, and whether its result is exact."""


def case(form: str, dtype: DType, mnk: Extents) -> Case:
    """The case of a form."""
    spec = Spec(f"c_{form}_{dtype}_{'_'.join(map(str, mnk))}")
    exact = FORMS[form](spec, dtype, mnk)
    return Case(spec.text(), exact)


def some() -> Iterator[Case]:
    """One form of each dtype and extents."""
    forms = list(FORMS)
    for number, (dtype, *mnk) in enumerate(product(OPERANDS, M, N, K)):
        m, n, k = mnk
        yield case(forms[number * 3 % len(forms)], dtype, (m, n, k))


def test_one_form_of_each_extent() -> None:
    assert_good(list(some()))


@pytest.mark.long
@pytest.mark.parametrize("form", list(FORMS))
def test_every_form_of_each_extent(form: str) -> None:
    assert_good([case(form, dtype, (m, n, k)) for dtype, m, n, k in product(OPERANDS, M, N, K)])

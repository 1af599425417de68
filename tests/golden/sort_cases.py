"""Specs for what sorts, as text for the op matrix: results are taken apart, since records have undefined bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.opdef import OpDef
from tests.golden.spec_text import Shape, Spec

TIES = "golden: {inputs: {g_x: {values: [-.inf, -2, 0, 1, 1.5, .inf]}}}"
"""Inputs with many equal elements and both infinities."""


def _apart(spec: Spec, dtype: DType, rows: int, count: int) -> None:
    spec.tensor("values", dtype, (rows, count), "out")
    spec.tensor("places", DTYPES["int32"], (rows, count), "out")
    spec.body += [
        "record_values: {into: v, x: p}",
        "record_indices: {into: q, x: p}",
        "store: {from: v, to: values, at: [0, 0]}",
        "store: {from: q, to: places, at: [0, 0]}",
    ]


def sorts(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """Each op of the family on tiles of these rows: plain inputs, and inputs with ties and infinities."""
    rows, cols = shape
    whole = defn.name in ("sort32", "mrgsort", "mrgsort_lists")
    most = 5_000 if defn.name == "mrgsort_lists" else 9_000
    if (cols == 1 and rows > 1 and whole) or rows * cols > most:
        return
    cols = -(-cols // 32) * 32 if whole and defn.name != "mrgsort_lists" else cols
    for word, more in (("ties", TIES), ("plain", "")):
        for k in sorted({1, min(cols, 9), cols}) if defn.name == "topk" else (0,):
            spec = Spec(f"{name}_{word}{k}")
            spec.load("x", dtype, (rows, cols))
            count = cols
            if whole:
                spec.load("n", DTYPES["uint32"], (rows, cols))
                spec.body.append("sort32: {into: s, x: x, index: n}")
            if defn.name == "topk":
                spec.body.append(f"topk: {{into: p, x: x, k: {k}}}")
                count = k
            elif defn.name == "sort32":
                spec.body[-1] = "sort32: {into: p, x: x, index: n}"
            elif defn.name == "mrgsort":
                spec.body.append("mrgsort: {into: p, x: s, run: 32}")
            elif defn.name == "mrgsort_lists":
                spec.body += [
                    f"topk: {{into: u, x: x, k: {min(cols, 5)}}}",
                    "sort: {into: w, x: x}",
                    "mrgsort_lists: {into: p, a: u, b: w, c: u}",
                ]
                del spec.body[1:3], spec.tensors[1]
                count = cols + 2 * min(cols, 5)
            else:
                spec.body.append("sort: {into: p, x: x}")
            _apart(spec, dtype, rows, count)
            yield spec.text(more)


SORTS: Mapping[str, Callable[[OpDef, str, DType, Shape], Iterator[str]]] = dict.fromkeys(
    ("sort32", "mrgsort", "mrgsort_lists", "sort", "topk", "record_values", "record_indices"), sorts
)
"""The specs of an op, a dtype and a shape, by the op's name; all results are exact."""

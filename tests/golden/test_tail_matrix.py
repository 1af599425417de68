"""Tiles of which a run-time part is valid, or nothing: the rendered C++ against torch on that part alone.

The output is `inout` and comes with values, so that whatever a tail writes beyond what is valid shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch")

from pypto_spec.golden.compare import allowed_for, compare
from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ir.dtype import DTYPES
from tests.convert.reading import errors
from tests.golden.harness import Case, Failure, assert_good, make

SPEC = """\
spec: v1
name: {name}
symbols: {{M: {{min: 0, max: {rows}}}, N: {{min: 0, max: {cols}}}}}
tensors:
  a:   {{dtype: {dtype}, shape: [{rows}, {cols}]}}
  out: {{dtype: {dtype}, shape: [{orows}, {ocols}], access: inout}}
program:
  - region: {name}
    body:
      - load: {{into: t, from: a, at: [0, 0], shape: [{rows}, {cols}], valid: [{vr}, {vc}]}}
{body}
      - store: {{from: y, to: out, at: [0, 0]}}
golden:
  inputs: {{a: {{min: -3, max: 3}}, out: {{min: -3, max: 3}}}}
  sizes: [{sizes}]
"""

SHAPES = ((8, 16), (5, 33), (1, 70), (20, 9))
COLUMNS = ((9, 1), (1, 1), (40, 1))
RUN_TIME = (("M", None), (None, "N"), ("M", "N"))
FLOATS, NUMBERS = ("fp32", "fp16"), ("fp32", "fp16", "int32")


@dataclass(frozen=True)
class Form:
    """Statements from `t` to `y`, and the same on the valid part; `along` is the axis that is reduced."""

    name: str
    lines: tuple[str, ...]
    meaning: Callable[[Any], Any]
    dtypes: tuple[str, ...]
    along: int | None = None


def _reduce(kind: str, along: int) -> Callable[[Any], Any]:
    def meaning(x: Any) -> Any:
        module = torch()
        exact = x.double() if x.is_floating_point() else x.long()
        if x.shape[along]:
            if kind in ("max", "min"):
                return (module.amax if kind == "max" else module.amin)(exact, dim=along, keepdim=True)
            return getattr(exact, kind)(dim=along, keepdim=True)
        shape = [1 if axis == along % 2 else n for axis, n in enumerate(x.shape)]
        if kind in ("sum", "prod"):
            return module.full(shape, int(kind == "prod"), dtype=exact.dtype)
        sign = -1 if kind == "max" else 1
        limits = None if x.is_floating_point() else module.iinfo(x.dtype)
        value = sign * float("inf") if limits is None else limits.min if kind == "max" else limits.max
        return module.full(shape, value, dtype=exact.dtype)

    return meaning


def _spread(kind: str, along: int, combine: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    reduced = _reduce(kind, along)
    return lambda x: combine(x.double() if x.is_floating_point() else x.long(), reduced(x))


FORMS = (
    Form("copy", ("- move: {into: y, from: t}",), lambda x: x, ("fp32", "fp16", "bf16", "int32", "int16")),
    Form("plus", ("- let: y = t * 2 + t",), lambda x: x * 3, NUMBERS),
    Form("exp", ("- let: y = exp(t)",), lambda x: x.double().exp(), FLOATS),
    Form("bf16", ("- let: y = t * 2",), lambda x: x * 2, ("bf16",)),
    Form(
        "there",
        ("- cast: {into: w, x: t, dtype: fp32}", "- cast: {into: y, x: w, dtype: fp16}"),
        lambda x: x,
        ("fp16",),
    ),
    Form("rowspread", ("- let: y = t - row_max(t)",), _spread("max", -1, lambda x, r: x - r), FLOATS),
    Form("colspread", ("- let: y = t - col_max(t)",), _spread("max", -2, lambda x, r: x - r), FLOATS),
    *(
        Form(f"{axis}_{kind}", (f"- {axis}_{kind}: {{into: y, x: t}}",), _reduce(kind, along), NUMBERS, along)
        for axis, along in (("row", -1), ("col", -2))
        for kind in ("sum", "max", "min", "prod")
    ),
)


def _cases(form: Form) -> Iterator[tuple[str, str]]:
    for dtype in form.dtypes:
        for rows, cols in SHAPES if form.along == -1 or form.name == "rowspread" else (*SHAPES, *COLUMNS):
            for number, (some_rows, some_cols) in enumerate(RUN_TIME):
                tried = {(rows, cols), (0, cols), (rows, 0), (0, 0), (1, 1), (max(1, rows - 1), max(1, cols - 1))}
                name = f"{form.name}_{dtype}_{rows}_{cols}_{number}"
                yield dtype, SPEC.format(
                    name=name, dtype=dtype, rows=rows, cols=cols, vr=some_rows or rows, vc=some_cols or cols,
                    orows=1 if form.along == -2 else rows, ocols=1 if form.along == -1 else cols,
                    body="\n".join(f"      {line}" for line in form.lines),
                    sizes=", ".join(f"{{M: {m}, N: {n}}}" for m, n in sorted(tried)),
                )  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_valid_part_is_right_and_nothing_else_is_touched(form: Form) -> None:
    made = [(dtype, make(Case(text))) for dtype, text in _cases(form)]
    refused = [str(one) for _, one in made if isinstance(one, Failure)]
    assert not refused, "\n".join(refused[:3])
    good = [(dtype, one) for dtype, one in made if not isinstance(one, Failure)]
    library = compile_kernels([KernelSource(k.name, k.text) for _, one in good for k in one.rendered.kernels])
    wrong: list[str] = []
    for dtype, one in good:
        subject = Subject(one.frontend, one.program, one.rendered, library)
        for values in sizes(one.program):
            extents = {symbol.name: value for symbol, value in values.items()}
            run = GoldenRun(subject, values, 0)
            for schedule in (0, 3):
                outputs, faults = run.run(schedule, 1)
                wrong += [f"{one.program.name} {extents}: {fault}" for fault in faults]
                expected = _expected(form, run, one.case.text, extents)
                found = compare("out", outputs["out"], expected, DTYPES[dtype], allowed_for(DTYPES[dtype]))
                wrong += [f"{one.program.name} {extents}: {found}"] if found is not None else []
                wrong += (
                    [f"{one.program.name} {extents}: neighbours"]
                    if _touched(form, run, outputs, one.case.text, extents)
                    else []
                )
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong[:6]])


def _extent(text: str, extents: dict[str, int], shape: tuple[int, ...]) -> tuple[int, int]:
    rows = extents["M"] if "valid: [M" in text else shape[0]
    return rows, extents["N"] if ", N]}" in text else shape[1]


def _stored(form: Form, rows: int, cols: int) -> tuple[int, int]:
    return (1 if form.along == -2 else rows), (1 if form.along == -1 else cols)


def _expected(form: Form, run: GoldenRun, text: str, extents: dict[str, int]) -> Any:
    a, before = run.inputs["a"], run.inputs["out"]
    rows, cols = _extent(text, extents, tuple(a.shape))
    after = before.double() if before.is_floating_point() else before.long()
    kept_rows, kept_cols = _stored(form, rows, cols)
    if kept_rows and kept_cols:
        after[:kept_rows, :kept_cols] = form.meaning(a[:rows, :cols]).to(after.dtype)
    return after


def _touched(form: Form, run: GoldenRun, outputs: dict[str, Any], text: str, extents: dict[str, int]) -> bool:
    before, after = run.inputs["out"], outputs["out"]
    rows, cols = _stored(form, *_extent(text, extents, tuple(run.inputs["a"].shape)))
    outside = torch().ones_like(before, dtype=torch().bool)
    outside[:rows, :cols] = False
    return bool((before != after)[outside].any())


def test_softmax_over_a_run_time_number_of_columns() -> None:
    text = """\
spec: v1
name: softmax_tail
symbols: {N: {min: 1, max: 100}}
tensors:
  a:   {dtype: fp32, shape: [16, N]}
  out: {dtype: fp32, shape: [16, N], access: out}
program:
  - region: softmax_tail
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [16, 100], valid: [16, N]}
      - let: y = softmax(t)
      - store: {from: y, to: out, at: [0, 0]}
golden:
  sizes: [{N: 1}, {N: 7}, {N: 64}, {N: 99}, {N: 100}]
  expect: {out: softmax(a)}
"""
    assert_good([Case(text, schedules=3)])


MEAN = """\
spec: v1
name: mean
symbols: {N: {min: 1, max: 64}}
tensors:
  a:   {dtype: fp32, shape: [8, 64]}
  out: {dtype: fp32, shape: [8, 1], access: out}
program:
  - region: mean
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [8, 64], valid: [8, COUNT]}
      - let: y = row_mean(t)
      - store: {from: y, to: out, at: [0, 0]}
golden: {expect: {out: "row_mean(a[:, 0:40])"}}
"""


def test_a_mean_divides_by_what_is_valid() -> None:
    assert_good([Case(MEAN.replace("COUNT", "40"))])
    (found,) = errors(MEAN.replace("COUNT", "N"))
    assert found.rule.code == "PS3010"
    assert "row_sum(t) * inverse" in found.helps[0]

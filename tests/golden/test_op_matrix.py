"""Every operator with every legal dtype in every form, through the whole compiler on the host model.

The pairs and forms come from the registry and the table of what is refused (`ops/support.py`): a pair or form that is
in neither, or refused though the table does not say so, or good though it does, is a failure. Besides, each operator
and dtype takes one further shape; the `long` run takes all of them, and every case of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from pypto_spec.ir.dtype import BF16, DTYPES, FP32, DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops import support
from pypto_spec.ops.numbers import int_range, largest
from pypto_spec.ops.sort_calls import MAX_LIST
from pypto_spec.ops.support import FORMS, NO_DTYPE, NO_FORM, SupportError, no_dtype, no_form, pairs
from tests.golden.harness import Case, assert_good
from tests.golden.matrix import all_forms, form_cases, is_let, refusal
from tests.golden.op_cases import OPS, cases, casts, shapes
from tests.golden.spec_text import Shape
from tests.golden.tails import TILE

pytest.importorskip("torch")

MOST = 2
"""Cases of one operator, dtype and further shape in the normal run."""
GROUPS = 12


def in_all_forms(defn: OpDef) -> Iterator[Case]:
    """The cases of what the operator does not refuse; none for a form is a failure."""
    for dtype, form in all_forms(defn):
        reason = no_form(defn, dtype, form)
        if reason is None:
            found = form_cases(defn, dtype, form)
        elif reason.partly:
            found = list(islice((c for c in form_cases(defn, dtype, form, True) if not refusal(c, defn)), 1))
        else:
            continue
        assert found, f"{defn.name} of {dtype} has no good case for `{form}`, and NO_FORM does not say why"
        yield from found


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_form_means_what_torch_means(group: int) -> None:
    assert_good([case for defn in list(OPS.values())[group::GROUPS] for case in in_all_forms(defn)])


# --- the tables of what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPS)
def test_every_dtype_is_taken_or_refused_for_a_reason(name: str) -> None:
    defn = OPS[name]
    for dtype, reason in pairs(defn):
        if reason is None:
            continue
        found = list(cases(defn, dtype, TILE, f"{name}_{dtype}", False))
        assert found, f"no case asks for {name} of {dtype}"
        for case in found:
            if is_let(case) and reason.let:
                continue  # one of the matrix
            message = refusal(case, defn)
            assert message is not None, f"NO_DTYPE says that {name} of {dtype} is refused; it is not:\n{case.text}"
            assert message.startswith(("PS3003", "PS3030")), message


@pytest.mark.parametrize("name", OPS)
def test_every_listed_form_is_refused(name: str) -> None:
    defn = OPS[name]
    for dtype, form in all_forms(defn):
        reason = no_form(defn, dtype, form)
        if reason is None:
            continue
        found = form_cases(defn, dtype, form, every=reason.partly)
        if reason.partly:
            assert any(refusal(c, defn) for c in found), f"{name} of {dtype} is never refused as NO_FORM says: {reason}"
        else:
            good = [c.text for c in found if not refusal(c, defn)]
            assert not good, f"{name} of {dtype} is not refused as NO_FORM says: {reason}\n{good[0]}"


def test_no_line_of_the_tables_is_idle() -> None:
    reasons = {row for defn in OPS.values() for _, row in pairs(defn) if row is not None}
    assert set(NO_DTYPE) == reasons
    known = {name for defn in OPS.values() for name in (defn.name, defn.family)}
    for row in NO_FORM:
        assert set(row.ops.split()) <= known
        assert set(row.forms) <= set(FORMS)
        for name in row.ops.split():
            assert any(no_form(d, t, f) == row for d in OPS.values() if name in (d.name, d.family)
                       for t, f in all_forms(d))  # fmt: skip


def test_a_new_op_needs_its_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "NO_DTYPE", tuple(row for row in NO_DTYPE if "binary" not in row.ops))
    with pytest.raises(SupportError, match="add does not take bf16"):
        no_dtype(OPS["add"], BF16)
    assert no_dtype(OPS["add"], FP32) is None


# --- further shapes -------------------------------------------------------------------------------------------------

FURTHER = ("odd", "tail", "r257", "pitch", "tiny", "long", "tall")


LONGEST = {"mrgsort_lists": MAX_LIST, "matmul": 512}
"""The most columns that operators take; of products K, of whose right operand 16 columns of 4 bytes fit L0B twice."""


def takes(defn: OpDef, dtype: DType, shape: Shape) -> bool:
    """Whether the operator takes a shape at all."""
    if shape[1] > LONGEST.get("matmul" if defn.role == "matmul" else defn.name, shape[1]):
        return False
    return shape[1] > 1 or no_form(defn, dtype, "one column") is None


def further(defn: OpDef) -> Iterator[Case]:
    """One further shape for each dtype of an operator."""
    number = list(OPS).index(defn.name)
    for place, dtype in enumerate(defn.dtypes):
        word = FURTHER[(number + place * 3) % len(FURTHER)]
        shape = shapes(dtype)[word]
        if takes(defn, dtype, shape):
            yield from islice(cases(defn, dtype, shape, f"{defn.name}_{dtype}_{word}", False), MOST)


@pytest.mark.parametrize("group", range(2))
def test_further_shapes(group: int) -> None:
    assert_good([case for defn in list(OPS.values())[group::2] for case in further(defn)])


FRACTIONS = (
    -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.0, -0.75, 3.25, 127.5, -128.5, 1.0009765625, 1.00048828125, 1.00146484375,
    1.00390625, 1.01171875, 2047.5, 4097.0, 300.0, -40000.0, 70000.0, 3e9, -3e9, 1e19, -1e19, 1e30,
)  # fmt: skip
"""Values half way between two of the narrower dtypes, and beyond their ends."""
WHOLE = (
    0, 1, -1, 100, 127, -128, 200, 255, 257, 259, 2049, 2051, 32767, -32768, 65535, 70000, 16777217, 16777219, 33554435,
    2147483647, -2147483648, 4294967297, 9007199254740993,
)  # fmt: skip


def edges(dtype: DType) -> list[float]:
    """The values that a dtype holds of those that are hard to convert."""
    if dtype.is_float:
        return [v for v in FRACTIONS if abs(v) < largest(dtype)]
    low, high = int_range(dtype)
    return [v for v in WHOLE if low <= v <= high]


@pytest.mark.parametrize("half", range(2))
def test_every_conversion_in_every_mode(half: int) -> None:
    found = [
        replace(c, text=f"{c.text}golden: {{inputs: {{g_x: {{values: {edges(src)}}}}}}}\n")
        for src in OPS["cast"].dtypes[half::2]
        for c in casts(f"modes_{src}", src, (5, 300), True)
    ]
    assert len(found) > 100
    assert_good(found)


@pytest.mark.long
@pytest.mark.parametrize("word", list(shapes(DTYPES["fp32"])))
@pytest.mark.parametrize("group", range(6))
def test_all_shapes(group: int, word: str) -> None:
    assert_good([
        case
        for defn in list(OPS.values())[group::6]
        for dtype in defn.dtypes
        if takes(defn, dtype, shapes(dtype)[word])
        for case in cases(defn, dtype, shapes(dtype)[word], f"{defn.name}_{dtype}_{word}", True)
    ])  # fmt: skip

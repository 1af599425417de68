"""The operator matrix: every operator, with every dtype, in every form, from the tables of the operators themselves."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops.support import FORMS, PARTS, no_dtype, pairs
from tests.golden.harness import Case, Failure, make
from tests.golden.op_cases import cases, written_as_let
from tests.golden.spec_text import Shape
from tests.golden.tails import TILE, NotCutError, cut

_MAKERS = {"compare": ("cmp",), "sort": ("sort", "sort32"), "matmul": ("matmul", "gemv")}
"""The operators that make what others of a family take; a dtype is refused there already."""

MOST = 2
"""Cases of an operator, a dtype and a small form, of what is perhaps many; which they are differs from form to form."""


def whole_shapes(form: str, dtype: DType) -> tuple[Shape, ...]:
    """Shapes of a form of whole tiles; those behind the first are for ops that have no case of that."""
    rows = {"255 rows": 255, "256 rows": 256}.get(form)
    if rows is not None:
        return (rows, 24), (rows, dtype.block), (rows, 8)
    return {"whole": (TILE,), "one row": ((1, 100), (1, 96)), "one column": ((70, 1), (64, 1))}[form]


def form_cases(defn: OpDef, dtype: DType, form: str, every: bool = False) -> list[Case]:
    """The cases of an operator and a dtype in a form; some of them, or all."""
    name = f"{defn.name}_{dtype}_{list(FORMS).index(form)}"
    if form in PARTS:
        found = list(_cut(_taken(defn, dtype, TILE, name), form))
    else:
        taken = (list(_taken(defn, dtype, shape, name)) for shape in whole_shapes(form, dtype))
        found = next((cases for cases in taken if cases), [])
    if every or not found:
        return found
    first = list(FORMS).index(form) % len(found)
    return [*found[first:], *found[:first]][: MOST if form in ("whole", "one row", "one column") else 1]


def _taken(defn: OpDef, dtype: DType, shape: Shape, name: str) -> Iterator[Case]:
    """The cases that use the operator in a way that the dtype allows: a formula only, where it needs casts."""
    reason = no_dtype(defn, dtype)
    for case in cases(defn, dtype, shape, name, False):
        if reason is None or (reason.let and is_let(case)):
            yield case


def is_let(case: Case) -> bool:
    """Whether the operator stands in a formula."""
    return "- let:" in case.text


def _cut(whole: Iterator[Case], form: str) -> Iterator[Case]:
    for case in whole:
        try:
            yield cut(case, form)
        except NotCutError:
            continue


def all_forms(defn: OpDef) -> Iterator[tuple[DType, str]]:
    """Every dtype that an operator takes, in every form."""
    for dtype, reason in pairs(defn):
        if reason is None or (reason.let and has_let(defn)):
            yield from ((dtype, form) for form in FORMS)


def has_let(defn: OpDef) -> bool:
    """Whether a formula can mean the operator, between operands of one shape or a vector."""
    return bool(written_as_let(defn))


def refusal(case: Case, defn: OpDef) -> str | None:
    """The message with which the compiler refuses a case because of the operator; None where it does not."""
    made = make(case)
    if not isinstance(made, Failure) or made.stage != "frontend":
        return None
    named = {defn.name, *_MAKERS.get(defn.family, ()), *({f"`{defn.infix}`"} if defn.infix else ())}
    return made.message if any(name in made.message for name in named) else None

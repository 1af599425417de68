"""The part of the reference page that says what exists: operators by dtype, forms, and why others are missing."""

from __future__ import annotations

from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops.registry import OPS
from pypto_spec.ops.support import FORMS, NO_DTYPE, NO_FORM, no_dtype

_HEAD = """\
## What exists

Operators by dtype (of the operand that the operator's entry names). A number is the reason, below, why a pair does not
exist; `let` stands where a formula takes the dtype by going through fp32, and the statement does not. Everything else
is tested, in each of the forms that follow, against torch.
"""


def support() -> str:
    """The section."""
    return "\n".join([_HEAD, _dtypes(), _reasons(), _forms(), _refused()])


def _dtypes() -> str:
    """Operators whose dtypes are the same share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for defn in OPS.values():
        rows.setdefault(tuple(_cell(defn, dtype) for dtype in DTYPES.values()), []).append(f"`{defn.name}`")
    lines = [_row(["operators", *DTYPES]), _row(["---"] * (1 + len(DTYPES)))]
    lines += [_row([" ".join(names), *cells]) for cells, names in rows.items()]
    return "\n".join([*lines, ""])


def _cell(defn: OpDef, dtype: DType) -> str:
    reason = no_dtype(defn, dtype)
    if reason is None:
        return "yes"
    number = f"{1 + NO_DTYPE.index(reason)}"
    formula = reason.let and (defn.infix is not None or defn.function is not None)
    return f"`let` ({number})" if formula else number


def _reasons() -> str:
    return "\n".join([*(f"{number}. {row.reason}" for number, row in enumerate(NO_DTYPE, 1)), ""])


def _forms() -> str:
    lines = [_row(["form", "meaning"]), _row(["---"] * 2)]
    return "\n".join([*lines, *(_row([form, meaning]) for form, meaning in FORMS.items()), ""])


def _refused() -> str:
    lines = ["Forms that are refused, or, where it says so, refused for some operands:", ""]
    lines += [_row(["operators", "forms", "dtypes", "reason"]), _row(["---"] * 4)]
    for row in NO_FORM:
        names = " ".join(f"`{name}`" for name in row.ops.split())
        reason = f"for some operands: {row.reason}" if row.partly else row.reason
        lines.append(_row([names, ", ".join(row.forms), ", ".join(row.dtypes.split()) or "all", reason]))
    return "\n".join([*lines, ""])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"

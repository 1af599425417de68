"""The reference of the functions of formulas: of `let`, of integer expressions and constants, and of `golden`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pypto_spec.convert.exprs import FUNCTIONS as INDEX_FUNCTIONS
from pypto_spec.convert.let_calls import GOLDEN_ONLY
from pypto_spec.convert.let_composites import COMPOSITES, usage
from pypto_spec.ops.reference import let_forms
from pypto_spec.ops.registry import function, functions
from pypto_spec.spec.formula.integer import FUNCTIONS
from pypto_spec.spec.models.reference import LANGUAGE

CHOICE: Final = "where"
"""The function of `let` that is syntax of its own: its first argument is a comparison."""

_WHERE: Final = "`where(c, a, b)` is `a` where the comparison `c` holds, and `b` elsewhere: `where(x > 0, x, 0.5 * x)`."

_OF_NUMBERS: Final = {"expressions of constants": FUNCTIONS, "integer expressions": frozenset(INDEX_FUNCTIONS)}
_NUMBERS: Final = {
    "min": "the least of its arguments",
    "max": "the largest of its arguments",
    "abs": "the absolute value",
    "ceil_div": "`ceil_div(a, b)` is a / b, rounded up",
    "num_blocks": "`num_blocks()` is the number of blocks of the launch",
    "sqrt": "the square root",
    "exp": "e to the power x",
    "log": "the natural logarithm",
}
"""What the functions of numbers are; a test finds one without words."""


def function_names() -> list[str]:
    """Every function of a formula, in the order of the reference."""
    return list(dict.fromkeys([*functions(), *COMPOSITES, CHOICE, *_NUMBERS, *sorted(GOLDEN_ONLY)]))


def function_text(name: str) -> str | None:
    """What there is to know of a function, in Markdown; None where there is none of that name."""
    parts = list(_parts(name))
    if not parts:
        return None
    return "\n\n".join([f"# `{name}`: a function of formulas", *(text for text, _ in parts), parts[0][1]]) + "\n"


def _parts(name: str) -> Iterator[tuple[str, str]]:
    """What a function is in each kind of formula, with the page that says more."""
    defns = function(name)
    if defns:
        heads = {d.doc for d in defns}
        lines = [f"In a `let`{': ' + heads.pop() if len(heads) == 1 else ', by its operands'}.", ""]
        for defn in defns:
            forms = ", ".join(f"`{form}`" for form in let_forms(defn)) or f"`{name}(...)`"
            lines.append(f"* {forms}: `{defn.name}`" + (f", {defn.doc}" if len(defns) > 1 else ""))
        yield "\n".join(lines), f"Page: docs/ops.md#{defns[0].name}"
    if name in COMPOSITES:
        text = f"In a `let`: `{usage(name)}` computes {COMPOSITES[name].formula}"
        yield f"{text}. It becomes a chain of operators.", f"Page: {LANGUAGE}#functions-that-are-formulas"
    if name == CHOICE:
        yield f"In a `let`: {_WHERE}", f"Page: {LANGUAGE}#let"
    kinds = [title for title, known in _OF_NUMBERS.items() if name in known]
    if kinds:
        yield f"Of numbers, in {' and in '.join(kinds)}: {_NUMBERS[name]}.", f"Page: {LANGUAGE}#integer-expressions"
    if name in GOLDEN_ONLY:
        yield "In the formulas of `golden`; kernels do not have it yet.", "Page: docs/goldens.md#the-reference"

"""What is wrong with formulas, and where exactly."""

from __future__ import annotations

import pytest

from pypto_spec.convert.let_calls import GOLDEN_ONLY
from pypto_spec.convert.let_composites import COMPOSITES
from pypto_spec.golden.functions import FUNCTIONS
from pypto_spec.ops.registry import functions
from tests.convert.reading import errors, marked, region

CASES = [
    # formula, code, what is underlined, message, a piece of the help
    ("y = aa + 1", "PS2001", "aa", "`aa` is not defined here", "did you mean `a`?"),
    ("a = r", "PS3012", "a", "`a` is an input: it cannot be written", "another name"),
    ("N = a", "PS2030", "N", "`N` cannot name a value: it is a constant already", "`N_2`"),
    ("eps = a", "PS2030", "eps", "`eps` cannot name a value: it is a scalar already", "`eps_2`"),
    ("y = a * M", "PS2033", "M", "`M` is a symbol; tiles are computed with tiles and numbers", "`scalars`"),
    ("y = a * rounding", "PS2033", "rounding", "the constant `rounding` is `floor`, no number", ""),
    ("y = exq(a)", "PS2032", "exq", "there is no function `exq`", "did you mean `exp`?"),
    ("y = max(a, 0)", "PS2032", "max", "there is no function `max`", "did you mean `maximum`?"),
    ("y = erf(a)", "PS7001", "erf", "`erf` exists in the formulas of `golden` only", "ops.md"),
    ("y = softmax(q)", "PS3003", "q", "`softmax` does not exist for int32; it takes fp32, fp16 or bf16", "cast(q"),
    ("y = softmax(2)", "PS3034", "2", "`softmax` takes a tile as `x`", ""),
    ("y = softmax(a, a)", "PS3034", "a", "`softmax` takes 1 argument, found 2", "write `softmax(x)`"),
    ("y = softmax(a, axis=0)", "PS3034", "axis", "`softmax` has no argument `axis`", "write `softmax(x)`"),
    ("y = gelu(a)", "PS3034", "gelu(a)", "`gelu` by the error function does not exist", "approximate=tanh"),
    ("y = gelu(a, approximate=erf)", "PS1016", "erf", "`erf` is no form of `gelu`", "tanh"),
    ("y = bit_and(a, 1)", "PS3003", "a", "`ands` does not exist for fp32", "int32"),
    ("y = a * bit_or(1, 0.5)", "PS3034", "bit_or(1, 0.5)", "`bit_or` takes integers, found 1 and 0.5", ""),
    ("y = where(a, a, 0)", "PS3034", "a", "`where` takes a comparison, or a predicate", "!= 0"),
    ("y = where(a > 0, a)", "PS3034", "where(a > 0, a)", "`where` takes 3 arguments, found 2", "where(condition"),
    ("y = where(1 > 0, a, 0)", "PS3033", "1 > 0", "a comparison of numbers", ""),
    ("y = h * a", "PS3002", "a", "`*` of fp16 and fp32", "`cast(h, fp32)`"),
    ("y = exp(a + r) - (h + h)", "PS3002", "h + h", "`-` of fp32 and fp16", "`cast(h + h, fp32)`"),
    ("y = b + a", "PS3002", "a", "`+` of bf16 and fp32", "`cast(b, fp32)`"),
    ("y = q / n", "PS3030", "q / n", "`/` of int32 tiles: it could round or not", "`cast(q, fp32) / n`"),
    ("y = a // 2", "PS3003", "a", "`floordivs` of fp32 would be off by a whole divisor", "mode=floor"),
    ("y = a > 0", "PS3011", "a", "`cmps` works with packed bits", "where("),
    ("y = a > 0 and a < 1", "PS7001", "a > 0 and a < 1", "`and` of predicates stands in the condition", "where("),
    ("y = a + reshape(a, [32, 256])", "PS3001", "reshape(a, [32, 256])", "`+` of fp32[64, 128] and fp32[32, 256]", ""),
    ("y = 2 * s", "PS3033", "2 * s", "`y` would be a number; a `let` binds a tile or array", "`constants`"),
    ("y = eps * n + a", "PS7001", "eps * n", "arithmetic between run-time scalars is not there yet", ""),
    ("y = exp(a, a)", "PS3034", "a", "`exp` takes 1 argument, found 2", "write `exp(x)`"),
    ("y = exp(x=a, x1=2)", "PS3034", "x1", "`exp` has no argument `x1`", "did you mean"),
    ("y = exp(a, x=a)", "PS3034", "x", "`x` of `exp` is given twice", "write"),
    ("y = cast(a)", "PS3034", "cast(a)", "`cast` needs `dtype`: the new dtype", "write `cast(x, dtype, mode=...)`"),
    ("y = cast(a, fp61)", "PS1016", "fp61", "`fp61` is no dtype", "did you mean `fp16`?"),
    ("y = cast(a, fp16, mode=rnt)", "PS1016", "rnt", "`rnt` is no `mode`", "did you mean `rint`?"),
    ("y = cast(1, fp16)", "PS3034", "1", "`cast` of a number: numbers take the dtype of the tile beside them", ""),
    ("y = row_sum(1)", "PS3034", "1", "`row_sum` takes a tile as `x`", ""),
    ("y = full([8, 8], a, dtype=fp32)", "PS3034", "a", "`full` takes a number as `value`", ""),
    ("y = full([M, 8], 0, dtype=fp32)", "PS3031|PS3035", "M", "a size must be known at compile time, found `M`", ""),
    ("y = full(8, 0, dtype=fp32)", "PS3034", "8", "`shape` is a list", "`[64, 128]`"),
    ("y = log(-1) + a", "PS3034", "log(-1)", "`log(-1)` has no value", ""),
    ("y = a[0, :]", "PS3034", "0", "an index would drop a dimension; tiles keep theirs", "`0:1`"),
    ("y = a[0:M, :]", "PS3035", "0:M", "the slice takes `M` elements, which is not known at compile time", ""),
    ("y = a[8:8, :]", "PS3034", "8:8", "the slice takes 0 elements", "the end must be greater"),
    ("y = a[::2, :]", "PS7001", "2", "a slice with a step is not there yet", ""),
    ("y = a[:]", "PS3001", "a[:]", "fp32[64, 128] takes 2 indices, found 1", "`:` takes all of it"),
    ("y = a[60:70, :]", "PS3004", None, "", ""),
    ("y = 2[0:1]", "PS3034", "2[0:1]", "a number has no slices", ""),
    ("y = [1, 2]", "PS3034", "[1, 2]", "a list is no tile and no number", ""),
    ("y = exp(q)", "PS3003", "q", "`exp` does not exist for int32", ""),
    ("res = r + 1", "PS3001", "r + 1", "binding the output `res` stores the whole of it", "store a part"),
    ("res = h + 1", "PS3002", "h + 1", "a fp16 array stored to the fp32 tensor `res`", "cast"),
]


@pytest.mark.parametrize(("formula", "code", "under", "message", "help_text"), CASES, ids=[c[0] for c in CASES])
def test_error(formula: str, code: str, under: str | None, message: str, help_text: str) -> None:
    (found,) = errors(region(f"let: {formula}"))
    assert found.rule.code in code.split("|")
    assert found.message.startswith(message)
    assert help_text in " / ".join(found.helps)
    assert under is None or marked(found.primary.span) == under


def test_places_in_escaped_text() -> None:
    """A double-quoted formula with an escape: columns are those of the file."""
    (found,) = errors(region('let: "y = a \\x2b hh"'))
    assert marked(found.primary.span) == "hh"


def test_both_operands_are_shown() -> None:
    (found,) = errors(region("let: y = exp(h) * (a + 1)"))
    assert [marked(label.span) for label in found.secondary] == ["exp(h)"]


def test_tiles_and_tensors_do_not_mix() -> None:
    (found,) = errors(region("load: {into: t, from: a, at: [0, 0], shape: [64, 128]}", "let: y = t + exp(a)"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS3011", "exp(a)")


def test_errors_do_not_cascade() -> None:
    text = region("let: y = nothing + 1", "let: z = y * 2", "exp: {into: w, x: z}", "let: res = w", "let: v = none")
    assert [d.message for d in errors(text)] == ["`nothing` is not defined here", "`none` is not defined here"]


def test_functions_of_golden_are_known() -> None:
    """Each function of a golden formula is one of `let`, or named as one that kernels do not have."""
    assert frozenset(FUNCTIONS) - {*functions(), *COMPOSITES, "where"} == GOLDEN_ONLY

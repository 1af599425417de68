"""A fix does what it says: its finding is gone, nothing gets worse, and every rule has one or a reason not to."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import ALIASED, Label, diagnose
from pypto_spec.diagnostics.pages import Example
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.diagnostics.render.common import fix_title
from pypto_spec.diagnostics.rules.without_fix import WITHOUT_FIX
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.diagnostics.suggest import Meant
from tests.diagnostics.fixed import FORMS, Form, check, errors, fixes, in_form, state, with_fix
from tests.diagnostics.test_pages import WITH_EXAMPLE, run

QUICK = ("as written", "toml tables")
"""The forms of each `make test`."""

HEAD = "spec: v1\nname: k\n"
TENSORS = "tensors:\n  a: {dtype: fp32, shape: [64, 64]}\n  out: {dtype: fp32, shape: [64, 64], access: out}\n"


def spec(*body: str, head: str = HEAD, tensors: str = TENSORS) -> str:
    lines = "".join(f"      - {line}\n" for line in body)
    return f"{head}{tensors}program:\n  - region: r\n    body:\n{lines}"


LOAD = "load: {into: t, from: a, at: [0, 0], shape: [64, 64]}"
STORE = "store: {from: y, to: out, at: [0, 0]}"
GOOD = spec(LOAD, "exp: {into: y, x: t}", STORE)
INTEGERS = TENSORS.replace("a: {dtype: fp32", "a: {dtype: int32")


def headed(line: str) -> str:
    return GOOD.replace("name: k\n", f"name: k\n{line}\n")


CASES: dict[str, tuple[str, str, str]] = {
    "missing version": ("PS1015", GOOD.replace("spec: v1\n", ""), "add `spec: v1`"),
    "missing name": ("PS1015", GOOD.replace("name: k\n", ""), "add `name: kernel`"),
    "missing word": ("PS1015", GOOD.replace("dtype: fp32, ", "", 1), "add `dtype: fp32`"),
    "missing index": (
        "PS1015",
        spec(LOAD, "for: {count: 4}\n        body: [{exp: {into: y, x: t}}]", "exp: {into: y, x: t}", STORE),
        "add `index: i`",
    ),
    "bool in quotes": ("PS1014", headed('target: {unit_flag: "true"}'), 'replace `"true"` by `true`'),
    "number for a word": ("PS1014", GOOD.replace("name: k", "name: 12"), 'replace `12` by `"12"`'),
    "same key twice": ("PS1004", headed("name: k"), "take the second `name` out"),
    "key twice in braces": ("PS1004", GOOD.replace("x: t}", "x: t, x: t}"), "take the second `x` out"),
    "tab in a line": ("PS1005", GOOD.replace("region: r", "region:\tr"), "write blanks for the tab"),
    "formula among statements": ("PS1021", spec(LOAD, "y = exp(t)", STORE), "insert `let:`"),
    "formula in brackets": (
        "PS1021",
        f"{HEAD}{TENSORS}program: [{{region: r, body: [out = exp(a)]}}]\n",
        "replace `out = exp(a)` by",
    ),
    "assignment for comparison": ("PS1017", headed("constants: {B: 2 = 2}"), "replace `=` by `==`"),
    "division of an index": ("PS3032", GOOD.replace("at: [0, 0], shape", "at: [0 / 2, 0], shape"), "write `//`"),
    "argument of a function": ("PS3034", spec("let: out = cast(a, fp32, mod=rint)"), "replace `mod` by `mode`"),
    "parameter": (
        "PS2001",
        headed("constants: {MODE: 1}").replace("dtype: fp32", "dtype: $MOD", 1),
        "replace `MOD` by `MODE`",
    ),
    "buffer": (
        "PS2001",
        headed("buffers: {ring: {memory: vec}}").replace(
            "[64, 64]}\n      - exp", "[64, 64], buffer: rign}\n      - exp"
        ),
        "replace `rign` by `ring`",
    ),
    "code": (
        "PS1016",
        headed("diagnostics: {disable: [tile-innermost-dm]}"),
        "replace `tile-innermost-dm` by `tile-innermost-dim`",
    ),
    "axis": (
        "PS2072",
        headed("constants: {TR: 8}\nvariants:\n  matrix: {TR: [8, 16]}\n  exclude: [{TRR: 8}]"),
        "replace `TRR` by `TR`",
    ),
    "format in braces": (
        "PS1060",
        spec(LOAD, "exp: {into: y, x: t}", 'debug: {print: "n {N:3d}"}', STORE, head=HEAD + "constants: {N: 3}\n"),
        "write `{N}`",
    ),
    "too large": (
        "PS4001",
        "spec: v1\nname: k\nconstants: {TR: 512}\ntensors:\n  a: {dtype: fp32, shape: [512, 128]}\n"
        "  out: {dtype: fp32, shape: [512, 128], access: out}\nprogram:\n  - region: r\n    body:\n"
        "      - for: {index: i, count: 512 // TR}\n        body:\n"
        "          - load: {into: t, from: a, at: [i * TR, 0], shape: [TR, 128]}\n"
        "          - exp: {into: y, x: t}\n          - store: {from: y, to: out, at: [i * TR, 0]}\n",
        "`TR`: 512 -> 256",
    ),
    "cast in a formula": (
        "PS3003",
        spec("let: out = cast(exp(a), fp32)", tensors=INTEGERS),
        "write `cast(a, fp32)`",
    ),
    "cast in brackets": (
        "PS3003",
        f"{HEAD}{INTEGERS}program: [{{region: r, body: [{{let: out = exp(a)}}]}}]\n",
        "write `cast(a, fp32)`",
    ),
}
"""By name: the code, a spec that has it, and the title of its fix."""


@pytest.mark.parametrize("form", [pytest.param(f, marks=[] if f in QUICK else pytest.mark.long) for f in FORMS])
@pytest.mark.parametrize("page", [p for p in WITH_EXAMPLE if p.command != "test"], ids=lambda page: page.code)
def test_fixes_of_pages(page: object, form: Form) -> None:
    from pypto_spec.diagnostics.pages import Page

    assert isinstance(page, Page) and page.bad is not None
    made = in_form(page.bad, form)
    if made is not None:
        judge(*made, page.code)


@pytest.mark.parametrize("case", CASES)
def test_fixes_of_cases(case: str) -> None:
    code, text, title = CASES[case]
    found = check(text, "yaml")
    offered = [fix_title(fix) for d in found if d.rule.code == code for fix in d.fixes]
    assert any(one.startswith(title) for one in offered), (offered, [d.message for d in found])
    judge(text, "yaml", code)


def judge(text: str, kind: str, code: str) -> None:
    """Apply each fix by itself: its finding is gone, and the spec gets as far as before with no more errors."""
    before = state(text, kind)
    found = list(before.findings)
    assert code in {d.rule.code for d in found}
    for diagnostic, fix in fixes(found, text):
        after = state(with_fix(text, fix), kind)
        same = [d.message for d in found if d.rule is diagnostic.rule].count(diagnostic.message)
        left = [d.message for d in after.findings if d.rule is diagnostic.rule].count(diagnostic.message)
        assert left < same, f"{fix_title(fix)}\n{after.text}"
        assert after.no_worse_than(before), after.text
        if fix.safe:
            assert errors(after.findings) <= errors(found), after.text


def test_every_rule_has_a_fix_or_a_reason_for_none() -> None:
    fixed = {code for code, _, _ in CASES.values()}
    for page in WITH_EXAMPLE:
        fixed |= {d.rule.code for d in run(page, page.bad) if d.fixes}
    assert fixed | set(WITHOUT_FIX) == set(all_rules())
    assert not fixed & set(WITHOUT_FIX), "a rule that has a fix needs no reason"


def test_a_suggestion_is_a_fix_only_where_the_word_stands_and_no_alias_brought_it() -> None:
    source = Source("k.yaml", 'x: "tiel"\n')
    span, rule = Span(source, 1, 4, 1, 10), all_rules()["PS2001"]
    (fix,) = diagnose(rule, span, "", helps=[Meant("tiel", ["tile"])]).fixes
    assert with_fix(source.text, fix) == 'x: "tile"\n'
    aliased = [Label(span, ALIASED)]
    assert diagnose(rule, span, "", helps=[Meant("tiel", ["tile"])], secondary=aliased).fixes == ()
    assert diagnose(rule, span, "", helps=[Meant("tiel", ["tile", "tie"])]).fixes == ()
    assert diagnose(rule, span, "", helps=[Meant("other", ["tile"])]).fixes == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_kept(end: str) -> None:
    text = spec(LOAD, "exp: {into: z, x: t}", "exp: {into: y, x: t}", STORE).replace("\n", end)
    ((_, fix),) = fixes(check(text, "yaml"), text)
    assert with_fix(text, fix) == spec(LOAD, "exp: {into: y, x: t}", STORE).replace("\n", end)


def test_a_page_in_every_form() -> None:
    assert in_form(Example("yaml", GOOD), "toml tables") is not None
    for form in FORMS:
        made = in_form(Example("yaml", GOOD), form)
        assert made is not None and check(*made) == [], made

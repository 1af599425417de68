"""Code actions: fixes, ways to live with hints, and small refactorings."""

from __future__ import annotations

import random

import pytest

from pypto_spec.driver.check import check_text
from pypto_spec.editor.actions import actions
from pypto_spec.editor.document import open_document
from pypto_spec.editor.model import Action
from tests.diagnostics.test_fixes import GOOD, LOAD, STORE, headed, spec

HINT = spec(
    "for: {index: j, count: 8}\n        body:\n"
    "          - load: {into: t, from: a, at: [0, j * 8], shape: [64, 8]}\n"
    "          - exp: {into: y, x: t}\n          - store: {from: y, to: out, at: [0, j * 8]}"
)


def offered(text: str, at: str, name: str = "k.yaml") -> dict[str, Action]:
    start = text.index(at)
    found = actions(open_document(name, text), check_text(text, name), start, start)
    assert len({action.title for action in found}) == len(found)
    return {action.title: action for action in found}


def applied(text: str, action: Action) -> str:
    for edit in sorted(action.edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def test_fixes_of_the_finding_under_the_cursor() -> None:
    text = spec(LOAD, "exp: {into: y, x: tt}", STORE)
    (fix,) = (a for a in offered(text, "tt}").values() if a.code)
    assert (fix.title, fix.code, fix.safe) == ("replace `tt` by `t`", "PS2001", False)
    assert applied(text, fix) == GOOD
    assert not [a for a in offered(text, "load").values() if a.code]


def test_hints_can_be_allowed_and_disabled() -> None:
    found = offered(HINT, "load")
    allowed = applied(HINT, found["allow PH001 in this statement"])
    assert "shape: [64, 8]}\n            allow: [PH001]\n" in allowed
    assert len(check_text(allowed, "k.yaml")) == len(check_text(HINT, "k.yaml")) - 1
    assert check_text(applied(HINT, found["disable PH001 in this spec"]), "k.yaml") == []


def test_a_code_more_in_a_list_that_is_there() -> None:
    text = HINT.replace("name: k\n", "name: k\ndiagnostics: {disable: PS8001}\n")
    assert "disable: [PS8001, PH001]" in applied(text, offered(text, "load")["disable PH001 in this spec"])


def test_the_spec_at_large_has_hints_too() -> None:
    text = headed("target: {unit_flag: true}")
    found = offered(text, "true}")
    assert set(found) == {"leave `unit_flag` out", "disable PS7002 in this spec"}
    assert applied(text, found["leave `unit_flag` out"]) == GOOD


def test_errors_cannot_be_silenced() -> None:
    text = spec(LOAD, "exp: {into: y, x: tt}", STORE)
    assert not any("PS2001" in title for title in offered(text, "tt}"))


@pytest.mark.parametrize(
    ("statement", "formula"),
    [
        ("exp: {into: y, x: t}", "let: y = exp(t)"),
        ("add: {into: y, lhs: t, rhs: t}", "let: y = t + t"),
        ("maximum: {into: y, lhs: t, rhs: t}", "let: y = maximum(t, t)"),
        ("neg: {into: y, x: t}", "let: y = -t"),
    ],
)
def test_an_operator_as_a_formula(statement: str, formula: str) -> None:
    text = spec(LOAD, statement, STORE)
    made = applied(text, offered(text, statement)[f"write it as `{formula}`"])
    assert made == spec(LOAD, formula, STORE)
    assert check_text(made, "k.yaml") == []


def test_a_loop_written_out() -> None:
    made = applied(HINT, offered(HINT, "for:")["write `unroll` in place of `for`"])
    assert "unroll: {index: j" in made
    assert "write `for` in place of `unroll`" in offered(made, "unroll:")


def test_toml() -> None:
    text = (
        'spec = "v1"\nname = "k"\n[tensors]\na = {dtype = "fp32", shape = [64, 64]}\n'
        'out = {dtype = "fp32", shape = [64, 64], access = "out"}\n[[program]]\nregion = "r"\n'
        '[[program.body]]\nload = {into = "t", from = "a", at = [0, 0], shape = [64, 8]}\n'
        '[[program.body]]\nexp = {into = "y", x = "t"}\n'
        '[[program.body]]\nstore = {from = "y", to = "out", at = [0, 0]}\n'
    )
    found = offered(text, "load", "k.toml")
    assert 'allow = ["PH001"]' in applied(text, found["allow PH001 in this statement"])
    made = applied(text, offered(text, "exp =", "k.toml")["write it as `let: y = exp(t)`"])
    assert 'let = "y = exp(t)"\n' in made


def test_any_place_of_any_half_typed_text() -> None:
    draw = random.Random(7)
    findings = check_text(HINT, "k.yaml")
    for _ in range(300):
        cut = draw.randrange(len(HINT))
        text = HINT[:cut] + draw.choice(["", "{", "- ", ": ", "\t", "[1, ", "&a *a"]) + HINT[cut + draw.randrange(3) :]
        at = draw.randrange(len(text) + 1)
        assert isinstance(actions(open_document("k.yaml", text), findings, at, min(len(text), at + 3)), list)

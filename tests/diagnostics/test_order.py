from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pypto_spec.diagnostics.model import Diagnostic, Fix, Severity, diagnose
from pypto_spec.diagnostics.render import FORMATS, arrange, render, summary
from pypto_spec.diagnostics.render.common import fix_text, text_of
from pypto_spec.diagnostics.span import Source, Span
from tests.diagnostics.samples import KEY, LOSS, SHAPES, SHORT, SPEC, all_samples, overflow, shape_mismatch, span


def test_order_is_file_then_position_then_code() -> None:
    other = Source("a.yaml", "x\ny\n")
    at = [
        diagnose(KEY, Span(other, 2, 1, 2, 2), "m"),
        diagnose(SHORT, span(1, "spec"), "m"),
        diagnose(KEY, span(2, "name"), "m"),
        diagnose(SHAPES, span(2, "name"), "m"),
        diagnose(KEY, span(10, "load"), "m"),
    ]
    assert arrange(reversed(at)) == at


@pytest.mark.parametrize("format", FORMATS)
def test_output_does_not_depend_on_the_order_of_finding(format: str) -> None:
    findings = all_samples() * 2
    expected = render(findings, format)
    for seed in range(10):
        random.Random(seed).shuffle(findings)
        assert render(findings, format) == expected


def test_identical_findings_merge_even_from_two_readings_of_a_file() -> None:
    again = Source(SPEC.name, SPEC.text)
    first = shape_mismatch()
    second = replace(first, primary=replace(first.primary, span=replace(first.primary.span, source=again)))
    assert arrange([first, second]) == [first]


@pytest.mark.parametrize(
    "other",
    [
        replace(overflow(), message="other"),
        replace(overflow(), notes=()),
        replace(overflow(), helps=("other",)),
        replace(overflow(), fixes=()),
        replace(overflow(), figures=()),
        replace(overflow(), secondary=()),
        replace(overflow(), severity=Severity.WARNING),
    ],
)
def test_findings_that_differ_do_not_merge(other: Diagnostic) -> None:
    assert len(arrange([overflow(), other])) == 2


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], "no findings"),
        ([KEY], "1 error"),
        ([SHORT, SHORT], "2 hints"),
        ([SHORT, KEY, LOSS, KEY], "2 errors, 1 warning, 1 hint"),
    ],
)
def test_summary(rules: list[object], expected: str) -> None:
    assert summary(diagnose(rule, span(1, "spec"), "m") for rule in rules) == expected  # type: ignore[arg-type]


def test_summary_counts_a_promoted_hint_as_an_error() -> None:
    assert summary([replace(diagnose(SHORT, span(1, "spec"), "m"), severity=Severity.ERROR)]) == "1 error"


def test_fixes_in_words() -> None:
    assert fix_text(Fix(span(10, "64"), "32")) == "line 10: replace `64` with `32`"
    assert fix_text(Fix(Span(SPEC, 3, 1, 3, 1), "x")) == "line 3: insert `x` at column 1"
    assert fix_text(Fix(span(2, "name: sum"), "")) == "line 2: delete `name: sum`"


def test_text_of_a_span_of_several_lines() -> None:
    assert text_of(Span(SPEC, 1, 7, 3, 4)) == "v1\nname: sum\nten"

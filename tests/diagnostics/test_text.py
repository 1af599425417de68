from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.model import Diagnostic, Label, diagnose
from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.render.width import text_width
from pypto_spec.diagnostics.span import NOWHERE, Source, Span
from tests.diagnostics.samples import (
    KEY,
    SPEC,
    all_samples,
    overflow,
    several_lines,
    shape_mismatch,
    short_rows,
    span,
)

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    "sample", [overflow, shape_mismatch, several_lines, short_rows], ids=lambda sample: sample.__name__
)
def test_text(sample: Callable[[], Diagnostic], text_snapshot: SnapshotAssertion) -> None:
    assert render([sample()]) == text_snapshot


def test_all_findings_and_the_summary(text_snapshot: SnapshotAssertion) -> None:
    assert render(all_samples()) == text_snapshot


def test_colour_adds_escape_sequences_and_nothing_else() -> None:
    coloured = render(all_samples(), colour=True)
    assert "\x1b[1;31merror[PS4001]\x1b[0m" in coloured
    assert [line.rstrip() for line in ESCAPE.sub("", coloured).split("\n")] == render(all_samples()).split("\n")


def test_no_findings_no_text() -> None:
    assert render([]) == ""


def body(*labels: tuple[int, int, str], line: str) -> list[str]:
    """The lines under `line` for labels (start, end, text) in 0-based columns, the first one primary, bars cut off."""
    source = Source("k.yaml", line)
    first, *rest = [Label(Span(source, 1, start + 1, 1, end + 1), text) for start, end, text in labels]
    text = render([diagnose(KEY, first.span, "m", label=first.text, secondary=rest)])
    return [row[4:] for row in text.split("\n") if row.startswith("  | ")]


def test_label_stands_beside_its_mark() -> None:
    assert body((3, 6, "here"), line="a: bcd") == ["   ^^^ here"]


def test_marks_without_text() -> None:
    assert body((3, 6, ""), (0, 1, ""), line="a: bcd") == ["-  ^^^"]


def test_two_labels_at_one_place_both_show() -> None:
    assert body((3, 6, "one"), (3, 6, "two"), line="a: bcd") == ["   ^^^ one", "   |", "   two"]


def test_label_inside_another() -> None:
    assert body((5, 6, "inner"), (3, 8, "outer"), line="a: bcdef") == ["   --^--", "   | |", "   | inner", "   outer"]


def test_primary_shows_through_an_equal_secondary() -> None:
    assert body((3, 4, "p"), (3, 8, "s"), line="a: bcdef") == ["   ^----", "   |", "   p", "   s"]


@pytest.mark.parametrize(
    ("line", "start", "end", "expected"),
    [
        ("键: 值x", 3, 4, "    ^^"),
        ("键: 值x", 4, 5, "      ^"),
        ("\tx: y", 4, 5, "       ^"),
        ("e\u0301: y", 4, 5, "   ^"),
        ("ok: ", 9, 9, "         ^"),
    ],
)
def test_carets_stand_under_what_they_mark(line: str, start: int, end: int, expected: str) -> None:
    assert body((start, end, ""), line=line) == [expected]


def test_crlf_lines_show_without_their_ends() -> None:
    source = Source("k.yaml", "spec: v1\r\nname: k\r\n")
    text = render([diagnose(KEY, Span(source, 2, 7, 2, 8), "m")])
    assert "\r" not in text
    assert "2 | name: k\n  |       ^\n" in text


def test_gap_of_one_line_is_filled_and_a_wider_one_is_not() -> None:
    text = render(
        [diagnose(KEY, span(1, "spec"), "m", secondary=[Label(span(3, "tensors")), Label(span(7, "program"))])]
    )
    assert re.findall(r"^(\d(?= \|)|\.\.\.)", text, re.MULTILINE) == ["1", "2", "3", "...", "7"]


def test_long_span_shows_its_first_lines_and_its_last() -> None:
    text = render([diagnose(KEY, Span(SPEC, 1, 1, 15, 21), "m")])
    assert re.findall(r"^( ?\d+(?= \|)|\.\.\.)", text, re.MULTILINE) == [" 1", " 2", "...", "15"]


def test_a_finding_without_source_has_no_snippet() -> None:
    assert render([diagnose(KEY, NOWHERE, "m")]).split("\n")[:3] == [
        "error[PS1001]: m",
        " --> <none>:1:1",
        "  = explain: pypto-spec explain PS1001",
    ]


def test_escape_sequences_of_a_spec_do_not_reach_the_terminal() -> None:
    source = Source("\x1b[2Jk.yaml", "a: \x1b]0;pwned\x07 \u202e\x9b")
    d = diagnose(KEY, Span(source, 1, 4, 1, 5), "bad \x1b[2J", label="\x1b", notes=["\x1b\n\x9b"], helps=["\u202e"])
    text = render([d])
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "a: ␛]0;pwned␇" in text


def test_long_line_is_cut_around_each_group_of_labels(text_snapshot: SnapshotAssertion) -> None:
    line = "x: " + "a" * 150 + " HERE " + "宽" * 200 + " THERE " + "c" * 100
    source = Source("long.yaml", line)
    here, there = line.index("HERE"), line.index("THERE")
    labels = [
        Label(Span(source, 1, there + 1, 1, there + 6), "two"),
        Label(Span(source, 1, there + 6, 1, there + 7), "three"),
        Label(Span(source, 1, 1, 1, 400), "wider than a line"),
    ]
    text = render([diagnose(KEY, Span(source, 1, here + 1, 1, here + 5), "m", label="one", secondary=labels)])
    assert text == text_snapshot


def test_a_megabyte_on_one_line_takes_no_time_and_no_room() -> None:
    source = Source("long.yaml", "x: [" + "1, " * 350_000 + "]")
    text = render([diagnose(KEY, Span(source, 1, 900_000, 1, 900_001), "m", label="here")])
    assert len(text) < 600
    assert "^ here" in text


TEXTS = st.text(st.sampled_from("ab :,[]\t宽한e\u0301\r\n\U0001f600"), max_size=300)


@given(text=TEXTS, data=st.data())
def test_any_spans_in_any_text(text: str, data: st.DataObject) -> None:
    """Every label shows exactly once, and a caret of a short span stands under the text it marks."""
    source = Source("k.yaml", text)
    offsets = st.integers(0, len(text))
    labels = []
    for number in range(data.draw(st.integers(1, 4))):
        low, high = sorted((data.draw(offsets), data.draw(offsets)))
        labels.append(Label(Span(source, *source.position(low), *source.position(high)), f"<{number}>"))
    first, *rest = labels
    shown = render([diagnose(KEY, first.span, "m", label=first.text, secondary=rest)])
    if not text:
        return
    for label in labels:
        assert shown.count(label.text) == 1
    assert all(line == line.rstrip() for line in shown.split("\n"))


@given(
    before=st.text("ab 宽\t:", max_size=150),
    word=st.text("xy", min_size=1, max_size=30),
    after=st.text("c宽", max_size=200),
)
def test_carets_are_as_wide_as_the_word_and_under_it(before: str, word: str, after: str) -> None:
    source = Source("k.yaml", before + word + after)
    text = render([diagnose(KEY, Span(source, 1, len(before) + 1, 1, len(before) + len(word) + 1), "m")])
    lines = text.split("\n")
    row = next(n for n, line in enumerate(lines) if line.startswith("1 | "))
    shown, carets = lines[row], lines[row + 1]
    column = carets.index("^")
    assert carets[column:] == "^" * len(word)
    assert text_width(shown[: shown.index(word)]) == column

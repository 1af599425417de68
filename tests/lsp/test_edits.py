"""The smallest edits between two texts, edits that are made together, and snippets without places to fill in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.editor.model import Action, Edit
from pypto_spec.lsp.edits import edits_between
from pypto_spec.lsp.features.acting import together
from pypto_spec.lsp.features.completing import plain

LINES = st.lists(st.sampled_from(["a: 1\n", "b: [名, 2]\r\n", "  c\n", "\n", "# 😀 x\n", "z\r", "end"]), max_size=12)


def applied(text: str, edits: list[Edit]) -> str:
    made, at = [], 0
    for edit in edits:
        assert at <= edit.start <= edit.end
        made += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*made, text[at:]])


@given(LINES, LINES)
def test_edits_make_the_new_text(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    found = edits_between(before, after)
    assert applied(before, found) == after
    assert bool(found) == (before != after)


def test_edits_are_small() -> None:
    old = "a: 1\nb:   2\nc: 3\nd: 4\n"
    assert edits_between(old, "a: 1\nb: 2\nc: 3\nd: [4]\n") == [Edit(8, 10, ""), Edit(20, 21, "[4]")]


def test_long_texts_are_not_matched_line_by_line() -> None:
    old = "".join(f"line {n}\n" for n in range(5_000))
    new = old.replace("line 10\n", "LINE 10\n").replace("line 20\n", "LINE 20\n")
    (edit,) = edits_between(old, new)
    assert applied(old, [edit]) == new
    assert edit.end - edit.start < 200


def test_line_ends_stay_whole() -> None:
    (edit,) = edits_between("a\r\nb\r\n", "a\nb\r\n")
    assert (edit.start, edit.end, edit.text) == (1, 3, "\n")


def test_actions_that_touch_wait_for_their_turn() -> None:
    first = Action("first", (Edit(5, 8, "x"), Edit(20, 20, "y")))
    second = Action("second", (Edit(8, 9, "z"), Edit(30, 31, "")))
    third = Action("third", (Edit(20, 20, "y"), Edit(2, 3, "w")))
    assert together([first, second, third]) == [Edit(2, 3, "w"), Edit(5, 8, "x"), Edit(20, 20, "y")]


def test_snippets_for_editors_without_them() -> None:
    assert plain("load: {into: ${1:tile}, from: ${2}, at: [$3]}$0") == "load: {into: tile, from: , at: []}"
    assert plain(r"cost \$5 \} \\") == "cost $5 } \\"

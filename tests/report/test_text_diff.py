"""A diff holds both texts in their order, and its marks hold what differs."""

from __future__ import annotations

from time import process_time
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.report import text_diff
from pypto_spec.report.text_diff import Diff, Line, diff

WORDS = st.sampled_from(["- load: {into: t", "- exp: {into: y", "x: t}", "src: [1, 2]", "type: fp32", "\U0001f600", ""])
TEXTS = st.lists(st.lists(WORDS, max_size=3).map(" ".join), max_size=12)


def sides(found: Diff) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """The places of the lines on either side, and the pairs of lines that stayed."""
    old: list[int] = []
    new: list[int] = []
    same: list[tuple[int, int]] = []
    for row in found.rows:
        if isinstance(row, Line):
            old += [row.old] if row.old is not None else []
            new += [row.new] if row.new is not None else []
        else:
            a, b, length = row
            old += range(a, a + length)
            new += range(b, b + length)
            same += zip(range(a, a + length), range(b, b + length), strict=True)
    return old, new, same


def cut(text: str, marks: tuple[tuple[int, int], ...]) -> str:
    """A line without its marked stretches, which are counted in UTF-16 units."""
    data = text.encode("utf-16-le")
    for start, end in reversed(marks):
        data = data[: 2 * start] + data[2 * end :]
    return data.decode("utf-16-le")


@given(old=TEXTS, new=TEXTS, limit=st.sampled_from([0, text_diff.MOST_PAIRS]), ahead=st.sampled_from([2, 24]))
def test_a_diff_is_both_texts(old: list[str], new: list[str], limit: int, ahead: int) -> None:
    with patch.object(text_diff, "MOST_PAIRS", limit), patch.object(text_diff, "AHEAD", ahead):
        found = diff(old, new)
    left, right, same = sides(found)
    assert left == list(range(len(old)))
    assert right == list(range(len(new)))
    assert all(old[a] == new[b] for a, b in same)
    assert found.removed == len(old) - len(same)
    assert found.added == len(new) - len(same)
    for row in found.rows:
        if isinstance(row, Line) and row.words is not None:
            assert row.old is not None
            assert row.new is not None
            assert cut(old[row.old], row.words[0]) == cut(new[row.new], row.words[1])


def test_lines_are_paired_by_what_they_say() -> None:
    old = ["buffers:", "  - load: {into: t.1, from: x}", "    src: [3, 1]", "  - exp: {into: y.1, x: t.1}"]
    new = [old[0], "  - set_flag: {from: v}", "  - load: {into: t.1, from: x, buffer: vec.0}", old[2], old[3] + "}"]
    rows = diff(old, new).rows
    assert rows == (
        (0, 0, 1),
        Line(None, 1),
        Line(1, 2, ((), ((29, 44),))),
        (2, 3, 1),
        Line(3, 4, ((), ((28, 29),))),
    )
    assert new[2][29:44] == ", buffer: vec.0"


def test_a_long_stretch_without_a_line_of_its_own_is_paired_too() -> None:
    old = [line for n in range(400) for line in (f"- load: {{into: t, at: [{n}, 0]}}", "  src: [3, 1]")]
    new = [line for n in range(400) for line in (f"- load: {{into: t.{n}, at: [{n}, 0]}}", "  src: [3, 1]")]
    new[100:100] = ["- set_flag: {from: v}", "- barrier: {pipe: v}"]
    started = process_time()
    found = diff(old, new)
    assert process_time() - started < 5
    pairs = {row.old: row.new for row in found.rows if isinstance(row, Line) and row.old is not None}
    assert pairs == {n: n if n < 100 else n + 2 for n in range(0, 800, 2)}
    assert (found.removed, found.added) == (400, 402)

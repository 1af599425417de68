from __future__ import annotations

import pytest

from pypto_spec.diagnostics.suggest import closest, did_you_mean

KEYWORDS = ["load", "store", "slice", "row_sum", "row_max", "row_min", "exp", "pipeline", "parallel", "shape", "dtype"]


@pytest.mark.parametrize(
    ("word", "best"),
    [("laod", "load"), ("row-sum", "row_sum"), ("LOAD", "load"), ("pipline", "pipeline"), ("shapes", "shape")],
)
def test_best_suggestion(word: str, best: str) -> None:
    assert closest(word, KEYWORDS)[0] == best


def test_nothing_near() -> None:
    assert closest("quux", KEYWORDS) == []
    assert did_you_mean("quux", KEYWORDS) is None


def test_the_word_itself_and_the_empty_word_get_none() -> None:
    assert closest("load", ["load"]) == []
    assert closest("", KEYWORDS) == []


def test_order_does_not_depend_on_the_candidates_order() -> None:
    assert closest("row_mux", KEYWORDS) == closest("row_mux", reversed(KEYWORDS))


def test_a_far_second_is_left_out() -> None:
    assert closest("stor", ["store", "shtor_x"]) == ["store"]


def test_sentences() -> None:
    assert did_you_mean("laod", KEYWORDS) == "did you mean `load`?"
    assert did_you_mean("row_m", ["row_max", "row_min"]) == "did you mean `row_max` or `row_min`?"
    assert did_you_mean("aa", ["aab", "aac", "aad", "aae"]) == "did you mean `aab`, `aac` or `aad`?"


def test_huge_words_cost_nothing() -> None:
    assert closest("a" * 1_000_000, ["a" * 999_999, "load"]) == []
    assert closest("load", ["a" * 1_000_000]) == []

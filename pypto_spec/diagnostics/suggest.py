"""Did you mean: the known words nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_LONGEST = 64
"""Words longer than this get no suggestion: the comparison is quadratic, and nobody misspells that."""

_ALIKE = 0.6
"""Least likeness (0 to 1) of a suggestion; difflib's own default."""


def closest(word: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """The candidates most like `word`, best first, at most `limit` of them, ties in alphabetical order.

    Case and the choice between `-` and `_` do not count. `word` itself is not a suggestion. A candidate much less like
    the word than the best one is left out, since a list of guesses reads as if the compiler had no idea.
    """
    if not word or len(word) > _LONGEST:
        return []
    plain = _plain(word)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(plain)
    scored: list[tuple[float, str]] = []
    for candidate in set(candidates) - {word}:
        if len(candidate) > _LONGEST:
            continue
        matcher.set_seq1(_plain(candidate))
        if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE:
            scored.append((matcher.ratio(), candidate))
    scored.sort(key=lambda item: (-item[0], item[1]))
    return [name for score, name in scored[:limit] if score >= max(_ALIKE, scored[0][0] - 0.15)]


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """The sentence for a `help`, such as "did you mean `load`?"; None where nothing is near."""
    names = [f"`{name}`" for name in closest(word, candidates)]
    if not names:
        return None
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"did you mean {listed}?"


def _plain(word: str) -> str:
    return word.casefold().replace("-", "_")

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


class Meant(str):
    """A suggestion as the sentence of a `help`. Where one name is near, `diagnose` makes a fix of it."""

    word: str
    names: tuple[str, ...]

    def __new__(cls, word: str, names: Iterable[str]) -> Meant:
        listed = [f"`{name}`" for name in names]
        text = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
        made = super().__new__(cls, f"did you mean {text}?")
        made.word, made.names = word, tuple(names)
        return made


def did_you_mean(word: str, candidates: Iterable[str]) -> Meant | None:
    """The sentence for a `help`, such as "did you mean `load`?"; None where nothing is near."""
    names = closest(word, candidates)
    return Meant(word, names) if names else None


def _plain(word: str) -> str:
    return word.casefold().replace("-", "_")

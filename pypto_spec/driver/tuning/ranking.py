"""The order of candidates, and what may be compared with what."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pypto_spec.driver.tuning.candidate import Candidate, Modelled, Refused
from pypto_spec.records import dataclass
from pypto_spec.spec.formula.integer import Value

Key = tuple[bool, Fraction, int, tuple[tuple[int, float, str], ...]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates with figures, best first, and the others in the order they came.

    `resized`: the arguments of some differ, and cycles for each element of output decide. `resizing` are the constants
    that change them, as far as the candidates show it.
    """

    ranked: tuple[Candidate, ...]
    refused: tuple[Candidate, ...]
    resized: bool
    resizing: tuple[str, ...]

    def place(self, candidate: Candidate) -> int:
        """The place of a candidate, or the one it would take: 1 is the best."""
        mine = key(candidate, self.resized)
        return 1 + sum(key(other, self.resized) < mine for other in self.ranked if other is not candidate)


def rank(candidates: Sequence[Candidate], current: Candidate, names: Sequence[str]) -> Ranking:
    """Rank candidates, with the current values of the spec for comparison.

    A candidate that leaves part of an output unwritten did less than the others: it is refused, unless the current
    values leave it as well.
    """
    allowed = isinstance(current.result, Modelled) and current.result.partly is not None
    for candidate in candidates:
        result = candidate.result
        if isinstance(result, Modelled) and result.partly is not None and not allowed:
            candidate.result = Refused("PS2035", result.partly)
    ranked = [c for c in candidates if isinstance(c.result, Modelled)]
    compared = [*ranked, *([current] if isinstance(current.result, Modelled) else [])]
    resized = len({c.figures.arguments for c in compared}) > 1
    ranked.sort(key=lambda c: key(c, resized))
    refused = tuple(c for c in candidates if isinstance(c.result, Refused))
    return Ranking(tuple(ranked), refused, resized, _resizing(ranked, names) if resized else ())


def key(candidate: Candidate, resized: bool) -> Key:
    """What decides: whole timelines before cut ones, cycles (for each element), bytes on chip, smaller values."""
    figures = candidate.figures
    cycles = figures.per_element if resized else Fraction(figures.timeline.cycles)
    return not figures.timeline.complete, cycles, figures.bytes, tuple(map(_order, candidate.values))


def _order(value: Value) -> tuple[int, float, str]:
    return (1, 0.0, value) if isinstance(value, str) else (0, value, "")


def _resizing(candidates: Sequence[Candidate], names: Sequence[str]) -> tuple[str, ...]:
    """The constants that change the arguments where all others stay as they are."""
    found: list[str] = []
    for axis, name in enumerate(names):
        groups: dict[tuple[Value, ...], set[object]] = {}
        for candidate in candidates:
            others = candidate.values[:axis] + candidate.values[axis + 1 :]
            groups.setdefault(others, set()).add(candidate.figures.arguments)
        if any(len(group) > 1 for group in groups.values()):
            found.append(name)
    return tuple(found)

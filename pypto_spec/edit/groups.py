"""Which neighbouring lines have their values aligned."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.edit.pieces import WIDTH
from pypto_spec.records import dataclass

APART = 4
"""By how much the keywords of statements that are aligned may differ in length."""


@dataclass(frozen=True, slots=True)
class Line:
    """A member that takes one line: `key` columns up to the colon, `length` columns with one blank behind it.

    `flow`: its value stands in brackets or braces; `mapping`: in braces; `blank`: an empty line stands above it.
    """

    key: int
    length: int
    flow: bool
    blank: bool
    mapping: bool


def columns(lines: Sequence[Line | None], mapping: bool) -> list[int]:
    """How far behind its start the value of each member stands, 0 where it just follows the colon.

    In a mapping of names all values are aligned where all stand in braces on one line, as those of `tensors` do. In a
    list neighbouring statements are; those with a formula (`- let: ...`) stand among them without taking part.
    """
    if mapping:
        whole = len(lines) > 1 and all(line is not None and line.mapping for line in lines)
        return _aligned(list(lines), WIDTH) if whole else [0] * len(lines)
    made: list[int] = []
    group: list[Line | None] = []
    for line in lines:
        if line is None or line.blank:
            made += _aligned(group, APART)
            group = []
        if line is None:
            made.append(0)
        else:
            group.append(line)
    return made + _aligned(group, APART)


def _aligned(group: list[Line | None], apart: int) -> list[int]:
    keys = [line.key for line in group if line is not None and line.flow]
    longest = max(keys, default=0)
    wide = any(line is not None and line.flow and line.length + longest - line.key > WIDTH for line in group)
    if not keys or wide or longest - min(keys) > apart:
        return [0] * len(group)
    return [longest + 1 if line is not None and line.flow else 0 for line in group]

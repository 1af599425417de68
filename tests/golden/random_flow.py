"""The control flow of random programs: loops of all kinds, branches, jumps, and numbers that are bound again.

A number always lies in 0 to 3, so that windows may be made of it; one that counts a `while` grows first in its body,
so that every loop ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

MOST = 3
"""The largest value of a number."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a name holds."""

    dtype: str
    rows: int
    cols: int
    rough: bool = False
    valid: tuple[int, int] | None = None
    window: str = ""
    """What it is a slice of: names of slices are not bound again, as rows at other distances do not meet."""


@dataclass(frozen=True, slots=True)
class Index:
    """A loop index, block number or number in scope, with its largest value."""

    name: str
    high: int


class Flow:
    """The part of a program being drawn that makes blocks of blocks."""

    symbol: bool
    leaving: bool
    """Whether a jump may stand here: in a `for` or `while`, and in no `unroll` inside it."""
    numbers: list[Index]
    draw: st.DrawFn

    def pick(self, items: Iterable[T]) -> T:
        raise NotImplementedError

    def chance(self, percent: int) -> bool:
        raise NotImplementedError

    def fresh(self, base: str) -> str:
        raise NotImplementedError

    def block_of(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int, size: int) -> list[str]:
        raise NotImplementedError

    def declare(self) -> tuple[list[str], tuple[Index, ...]]:
        """The numbers of a region."""
        self.numbers = [Index(self.fresh("n"), MOST) for _ in range(self.draw(st.integers(0, 2)))]
        return [f"- let: {n.name} = {self.draw(st.integers(0, MOST))}" for n in self.numbers], tuple(self.numbers)

    def flow(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        """A loop, a branch, or a number bound again."""
        choice = self.draw(st.integers(0, 99))
        if choice < 30 or not indices:
            return self.loop(env, indices, depth)
        if choice < 45:
            return self.pipeline(env, indices, depth)
        if choice < 55:
            return self.unroll(env, indices, depth)
        if choice < 65:
            return self.while_(env, indices, depth)
        if choice < 75 and self.numbers:
            return self.number(indices)
        return self.branch(env, indices, depth)

    def number(self, indices: tuple[Index, ...]) -> list[str]:
        name = self.pick(self.numbers).name
        other = self.pick([i.name for i in indices])
        value = self.pick([f"({name} + 1) % 4", f"({name} + {other}) % 4", f"{other} * 3 % 4", f"{name} // 2",
                           f"min({name} + 1, 3)", f"3 - {name}"])  # fmt: skip
        return [f'- let: "{name} = {value}"']

    def body(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int, leaving: bool) -> list[str]:
        """The body of a loop."""
        before, self.leaving = self.leaving, leaving
        made = self.block_of(dict(env), indices, depth + 1, self.draw(st.integers(1, 5)))
        self.leaving = before
        return made

    def loop(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        name = self.fresh("i")
        if self.symbol and self.chance(40):
            high, head = 3, f"index: {name}, count: K"
        elif self.chance(30):
            first, step = self.draw(st.integers(0, 2)), self.draw(st.integers(1, 3))
            stop = first + self.draw(st.integers(0, 5))
            high, head = max(stop - 1, first), f"index: {name}, range: [{first}, {stop}, {step}]"
        elif self.numbers and self.chance(30):
            high, head = MOST, f"index: {name}, range: [{self.pick(self.numbers).name}, 4, 1]"
        else:
            count = self.draw(st.integers(1, 4))
            high, head = count - 1, f"index: {name}, count: {count}"
        if self.numbers and self.chance(15):
            head += f", while: {self.pick(self.numbers).name} < {self.draw(st.integers(1, 3))}"
        body = self.body(env, (*indices, Index(name, high)), depth, True)
        return [f"- for: {{{head}}}", "  body:", *(f"    {line}" for line in body)]

    def pipeline(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        name, stages = self.fresh("p"), self.draw(st.integers(1, 4))
        first, step = (0, 1) if self.chance(60) else (self.draw(st.integers(0, 2)), self.draw(st.integers(1, 2)))
        if self.symbol and self.chance(40):
            high, stop = 3, "K"
        elif self.numbers and self.chance(20):
            high, stop = MOST, self.pick(self.numbers).name
        else:
            last = first + self.draw(st.integers(0, 9))
            high, stop = last - 1, str(last)
        head = f"index: {name}, range: [{first}, {stop}, {step}], stages: {stages}"
        body = self.body(env, (*indices, Index(name, max(high, first))), depth, False)
        return [f"- pipeline: {{{head}}}", "  body:", *(f"    {line}" for line in body)]

    def unroll(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        name, count = self.fresh("u"), self.draw(st.integers(1, 3))
        body = self.body(env, (*indices, Index(name, count - 1)), depth, False)
        return [f"- unroll: {{index: {name}, count: {count}}}", "  body:", *(f"    {line}" for line in body)]

    def while_(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        name, most = self.fresh("w"), self.draw(st.integers(0, MOST))
        first = self.draw(st.integers(0, 2))
        body = self.body(env, (*indices, Index(name, max(most, first + 1))), depth, True)
        more = f" and {self.pick(self.numbers).name} != 2" if self.numbers and self.chance(30) else ""
        return [
            f"- let: {name} = {first}",
            f"- while: {name} < {most}{more}",
            "  body:",
            f"    - let: {name} = {name} + 1",
            *(f"    {line}" for line in body),
        ]

    def branch(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        index = self.pick(indices)
        number = self.draw(st.integers(0, 2))
        test = self.pick([f"== {number}", f"< {number}", "% 2 == 0", f">= {number}"])
        lines = [f"- if: {index.name} {test}", "  then:", *self.arm(env, indices, depth)]
        if self.chance(50):
            lines += ["  else:", *self.arm(env, indices, depth)]
        return lines

    def arm(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        made = self.block_of(dict(env), indices, depth + 1, self.draw(st.integers(1, 3)))
        if self.leaving and self.chance(30):
            made.append(f"- {self.pick(['break', 'continue'])}:")
        return [f"    {line}" for line in made]

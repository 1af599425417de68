"""Names of SSA values: `t.3` is version 3 of `t`; new versions skip the numbers that are in use."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_spec.ir.nodes import Region
from pypto_spec.ir.rewrite import definitions, local_symbols


def split(name: str) -> tuple[str, int | None]:
    """The base of a name and its version: `t.3` gives `t` and 3, `t` gives `t` and None."""
    base, dot, tail = name.rpartition(".")
    if dot and base and tail.isascii() and tail.isdigit() and (tail == "0" or tail[0] != "0"):
        return base, int(tail)
    return name, None


def unused(name: str, taken: set[str], first: int = 2) -> str:
    """The name, with a number from `first` on where it is taken; it is taken then."""
    made, number = name, first
    while made in taken:
        made, number = f"{name}{number}", number + 1
    taken.add(made)
    return made


class Names:
    """The versions taken in one region, by values and by the symbols of its loops and ifs, and new ones."""

    __slots__ = ("_next", "_taken")

    def __init__(self, names: Iterable[str]) -> None:
        self._taken: dict[str, set[int]] = {}
        self._next: dict[str, int] = {}
        for name in names:
            base, number = split(name)
            if number is not None:
                self._taken.setdefault(base, set()).add(number)

    @classmethod
    def of(cls, region: Region) -> Names:
        """The names that a region defines."""
        return cls((*(v.name for v in definitions(region.body)), *(s.name for s in local_symbols(region.body))))

    def fresh(self, name: str) -> str:
        """The next free version of the base of `name`."""
        base = split(name)[0]
        number = self._next.get(base, 1)
        taken = self._taken.get(base, ())
        while number in taken:
            number += 1
        self._next[base] = number + 1
        return f"{base}.{number}"

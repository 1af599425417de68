"""Slots that rotate with a loop: accesses at `(i + c) % N` of one allocation, `i` the index of that loop, step 1.

Two of them, rounds apart, meet only where their residues do. A loop with such slots is run for some rounds one by one
(`Places.periods`), and each round's accesses stand at their exact slots; all else of them is, as in any loop, that of
some later round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from pypto_spec.ir.access import Access, overlap
from pypto_spec.ir.expr import Atom, Expr, Index, Quot, Sym, add, mul, sub, substitute, sym
from pypto_spec.records import dataclass


def turning(atom: Atom) -> tuple[Sym, int, int] | None:
    """Index, c and N of an `(i + c) % N`."""
    if isinstance(atom, Quot) and atom.op == "%" and len(atom.value.terms) == 1:
        symbol, factor = atom.value.terms[0]
        if isinstance(symbol, Sym) and symbol.kind == "loop" and factor == 1:
            return symbol, atom.value.const, atom.by
    return None


@dataclass(frozen=True, slots=True)
class Moves:
    """What the symbols stand for in the round at hand: `values` anywhere, `exact` inside an `(i + c) % N`."""

    values: Mapping[Sym, Index] = field(default_factory=dict)
    exact: Mapping[Sym, Index] = field(default_factory=dict)

    def access(self, access: Access) -> Access:
        """The access in that round."""
        if isinstance(access.base, int):
            return access
        base = self._exactly(access.base) if self.exact else substitute(access.base, self.values)
        return access.at(base)

    def _exactly(self, index: Expr) -> Index:
        base: Index = index.const
        for atom, factor in index.terms:
            found = turning(atom)
            values = self.exact if found is not None and found[0] in self.exact else self.values
            base = add(base, mul(substitute(Expr(((atom, 1),), 0), values), factor))
        return base

    def round(self, index: Sym, number: int, ahead: Mapping[Sym, Index], former: Moves) -> Moves:
        """Round `number` of a loop inside: `ahead` of the `former` round, `number` rounds behind the first (`self`)."""
        here = {index: former.values.get(index, sym(index))}
        values = {**self.values, **ahead, index: substitute(ahead[index], here)}
        return Moves(values, {**self.exact, index: add(self.values.get(index, sym(index)), number)})


STILL = Moves()
"""The first round of every loop."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A base in parts: `rest + size * ((symbol + ahead) % count)`."""

    rest: Index
    size: int
    symbol: Sym
    ahead: int
    count: int


@lru_cache(maxsize=4096)
def _slot(base: Expr) -> _Slot | None:
    found = [(known, atom, factor) for atom, factor in base.terms if (known := turning(atom)) is not None]
    if len(found) != 1:
        return None
    (symbol, ahead, count), atom, factor = found[0]
    return _Slot(sub(base, mul(Expr(((atom, 1),), 0), factor)), factor, symbol, ahead, count)


def same_slot(former: Access, access: Access) -> tuple[Sym, int] | None:
    """Index and N where both are in slots `(i + c) % N` that meet only for equal remainders of `i`."""
    if isinstance(former.base, int) or isinstance(access.base, int):
        return None
    a, b = _slot(former.base), _slot(access.base)
    if a is None or b is None or (a.size, a.symbol, a.count, a.ahead) != (b.size, b.symbol, b.count, b.ahead):
        return None
    rest = sub(b.rest, a.rest)
    if not isinstance(rest, int):
        return None
    apart = any(_touch(former, access, rest + a.size * slots) for slots in range(1 - a.count, a.count) if slots)
    return None if apart else (a.symbol, a.count)


def meet(former: Access, access: Access, lag: int, most: int) -> bool:
    """Whether an access can share a byte with one of `lag` rounds ago; `most` rounds ago stands for all before, too.

    Only rotating slots tell rounds apart. Whatever else meets in some later round has been seen to meet in the next.
    """
    if isinstance(former.base, int) or isinstance(access.base, int):
        return lag <= 1 and overlap(former, access)
    a, b = _slot(former.base), _slot(access.base)
    if a is not None and b is not None and (a.size, a.symbol, a.count) == (b.size, b.symbol, b.count):
        rest = sub(b.rest, a.rest)
        if isinstance(rest, int):
            turn = (b.ahead - a.ahead) % a.count
            if lag == most < a.count:
                apart = range(1 - a.count, a.count)
            else:
                apart = range(turn - a.count, turn + 1, a.count) if turn else range(1)
            return any(_touch(former, access, rest + a.size * slots) for slots in apart)
    return lag <= 1 and overlap(former, access)


def _touch(a: Access, b: Access, distance: int) -> bool:
    return overlap(a.at(0), b.at(distance))

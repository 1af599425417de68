"""Flag ids that change with the index of a loop, as `base + (i + c) % N`: in how many rounds they come round.

Such a loop is looked at as if its body stood there that many times, each copy (a *turn*) with a remainder of its own:
the ids are numbers then. Of an id that never comes round the turns are all the rounds there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, lcm

from pypto_spec.ir.expr import Expr, Index, Quot, Sym, bounds, sub, symbols
from pypto_spec.ir.nodes import For, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import statements

MOST_TURNS = 60
"""Turns of one loop that are told apart: the least common multiple of 1 to 6."""


def flag_ids(body: Sequence[Stmt]) -> Iterator[Index]:
    """The ids of all flags inside that are not numbers."""
    for node in statements(body):
        if isinstance(node, SetFlag | WaitFlag) and not isinstance(node.id, int):
            yield node.id


def turns(loop: For) -> int:
    """How many turns of a loop have to be told apart so that no flag's id depends on its index; 0: no id does.

    Also 0 where no number of turns is enough, or more than `MOST_TURNS`: the ids are not known then.
    """
    found = 0
    for index in flag_ids(loop.body):
        if loop.index in symbols(index):
            period = _period(index, loop.index)
            found = lcm(found or 1, period if period is not None else _most_trips(loop))
    return found if found <= MOST_TURNS and isinstance(loop.step, int) and loop.step > 0 else 0


def _most_trips(loop: For) -> int:
    high = bounds(sub(loop.stop, loop.start))[1]
    if high is None or not isinstance(loop.step, int) or loop.step <= 0:
        return MOST_TURNS + 1
    return max(1, -(-high // loop.step))


def _period(index: Index, symbol: Sym) -> int | None:
    """By how much a symbol can grow without changing an index; None where by nothing."""
    found = 1
    for atom, _ in () if isinstance(index, int) else index.terms:
        if symbol not in symbols(Expr(((atom, 1),), 0)):
            continue
        if not isinstance(atom, Quot) or atom.op != "%":
            return None
        period = _wrap(atom.value, symbol, atom.by)
        if period is None:
            return None
        found = lcm(found, period)
    return found


def _wrap(index: Index, symbol: Sym, by: int) -> int | None:
    """By how much a symbol can grow so that an index grows by a multiple of `by`."""
    found = 1
    for atom, factor in () if isinstance(index, int) else index.terms:
        if atom is symbol:
            period: int | None = by // gcd(by, factor)
        elif isinstance(atom, Quot) and atom.op == "//":
            period = _wrap(atom.value, symbol, atom.by * by)
        else:
            period = _period(Expr(((atom, 1),), 0), symbol)
        if period is None:
            return None
        found = lcm(found, period)
    return found

"""Numbers that loops carry and ifs pick, as variables of the kernel.

A loop's number is one variable from before the loop to behind it; an `if`'s is assigned at the end of its arms.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.expr import sym, symbols
from pypto_spec.ir.nodes import For, If, NumberPhi
from pypto_spec.ir.rewrite import local_symbols
from pypto_spec.render.scope import Scope


def open_numbers(loop: For, scope: Scope) -> Iterator[str]:
    """The definitions in front of a loop."""
    starts = [scope.cpp.index(n.init) for n in loop.numbers]
    for number, start in zip(loop.numbers, starts, strict=True):
        name = scope.number(number.arg)
        scope.symbols[number.result] = name
        yield f"int64_t {name} = {start};"


def advances(loop: For, scope: Scope) -> Iterator[str]:
    """The assignments at the end of an iteration; all of them read what the numbers were during it."""
    moving = [n for n in loop.numbers if n.yielded != sym(n.arg)]
    changed: set[object] = set()
    crossing = False
    for number in moving:
        crossing = crossing or not changed.isdisjoint(symbols(number.yielded))
        changed.add(number.arg)
    texts = [scope.cpp.index(n.yielded) for n in moving]
    if crossing:
        names = [scope.names.unique(f"next_{scope.symbols[n.arg]}") for n in moving]
        yield from (f"const int64_t {name} = {text};" for name, text in zip(names, texts, strict=True))
        texts = names
    for number, text in zip(moving, texts, strict=True):
        yield f"{scope.symbols[number.arg]} = {text};"


def open_picks(branch: If, scope: Scope) -> Iterator[str]:
    """The definitions in front of an `if`: as `else` would have it, where that is known already."""
    for number in branch.numbers:
        start = scope.cpp.index(number.other) if _known(branch, number) else "0"
        yield f"int64_t {scope.number(number.result)} = {start};"


def picks(branch: If, scope: Scope, arm: int) -> list[str]:
    """The assignments at the end of an arm: 0 is `then`, 1 is `else`."""
    chosen: list[str] = []
    for number in branch.numbers:
        known, value = _known(branch, number), number.other if arm else number.then
        if not (known if arm else False) and (known or value != 0):
            chosen.append(f"{scope.symbols[number.result]} = {scope.cpp.index(value)};")
    return chosen


def _known(branch: If, number: NumberPhi) -> bool:
    """Whether what `else` gives is known before the `if`."""
    return symbols(number.other).isdisjoint(local_symbols(branch.other))

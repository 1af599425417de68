"""Integer index expressions: quasi-affine, int64, kept in one canonical form.

An `Index` is a plain `int` where it is constant, otherwise an `Expr`: a constant plus integer multiples of atoms. Atoms
are symbols (loop indices, block index, `num_blocks()`, run-time dimensions, integer scalars and locals), quotients and
remainders by a positive constant, minima and maxima, and products of atoms. Two expressions that simplify to the same
sum compare equal, so `(j + 1) * 64 - j * 64` is the int 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from itertools import count
from typing import Literal

from pypto_spec.records import dataclass

_SERIAL = count()


@dataclass(frozen=True, slots=True, eq=False)
class Sym:
    """A symbol; two symbols are the same only if they are the same object.

    `low` and `high` are inclusive bounds of its value, None where unknown, and it is a multiple of `multiple`. `kind`
    says who gives it its value; a `local` one is made inside a region: a number that a loop carries or an `if` picks.
    """

    name: str
    kind: Literal["loop", "block", "blocks", "dim", "scalar", "local"]
    low: int | None = None
    high: int | None = None
    multiple: int = 1
    serial: int = field(default_factory=lambda: next(_SERIAL), repr=False)


@dataclass(frozen=True, slots=True)
class Quot:
    """`value // by` or `value % by` (floor semantics, `by` > 0)."""

    op: Literal["//", "%"]
    value: Expr
    by: int


@dataclass(frozen=True, slots=True)
class Extremum:
    """`min` or `max` of two or more indices."""

    op: Literal["min", "max"]
    items: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A product of two atoms: legal to compute with, but no longer affine."""

    left: Atom
    right: Atom


Atom = Sym | Quot | Extremum | Product


@dataclass(frozen=True, slots=True)
class Expr:
    """`const + sum(coefficient * atom)`; at least one term, no zero coefficient, terms in a fixed order."""

    terms: tuple[tuple[Atom, int], ...]
    const: int

    def __str__(self) -> str:
        return to_text(self)


Index = int | Expr


def _key(atom: Atom) -> tuple[int, str, int]:
    if isinstance(atom, Sym):
        return 0, atom.name, atom.serial
    return 1, _atom_text(atom), 0


def _make(terms: Mapping[Atom, int], const: int) -> Index:
    kept = [(a, c) for a, c in terms.items() if c]
    if not kept:
        return const
    if len(kept) > 1:
        kept.sort(key=lambda item: _key(item[0]))
    return Expr(tuple(kept), const)


def sym(symbol: Sym) -> Expr:
    """The expression that is just this symbol."""
    return Expr(((symbol, 1),), 0)


def _atom(atom: Atom) -> Expr:
    return Expr(((atom, 1),), 0)


def add(a: Index, b: Index) -> Index:
    """a + b."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a + b
        return b if a == 0 else Expr(b.terms, b.const + a)
    if isinstance(b, int):
        return a if b == 0 else Expr(a.terms, a.const + b)
    total = dict(a.terms)
    for atom, coefficient in b.terms:
        total[atom] = total.get(atom, 0) + coefficient
    return _make(total, a.const + b.const)


def mul(a: Index, b: Index) -> Index:
    """a * b; a product of two symbols is kept as a `Product` atom."""
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        if isinstance(a, int):
            return a * b
        if b == 0:
            return 0
        return a if b == 1 else Expr(tuple((t, c * b) for t, c in a.terms), a.const * b)
    assert isinstance(a, Expr)
    total: Index = mul(a, b.const)
    total = add(total, mul(Expr(b.terms, 0), a.const) if a.const else 0)
    for left, p in a.terms:
        for right, q in b.terms:
            first, second = sorted((left, right), key=_key)
            total = add(total, mul(_atom(Product(first, second)), p * q))
    return total


def neg(a: Index) -> Index:
    """-a."""
    return mul(a, -1)


def sub(a: Index, b: Index) -> Index:
    """a - b."""
    return add(a, neg(b))


def floordiv(a: Index, by: int) -> Index:
    """a // by, by > 0. Terms divisible by `by` leave the quotient."""
    if isinstance(a, int):
        return a // by
    if by == 1:
        return a
    whole: dict[Atom, int] = {}
    rest: dict[Atom, int] = {}
    for atom, c in a.terms:
        (whole if c % by == 0 else rest)[atom] = c // by if c % by == 0 else c
    inner = _make(rest, a.const % by)
    outer = _make(whole, a.const // by)
    low, high = bounds(inner)
    if low is not None and high is not None and low // by == high // by:
        return add(outer, low // by)
    assert isinstance(inner, Expr)
    return add(outer, _atom(Quot("//", inner, by)))


def mod(a: Index, by: int) -> Index:
    """a % by, by > 0, result in 0..by-1."""
    if isinstance(a, int):
        return a % by
    if by == 1:
        return 0
    inner = _make(
        {t: 0 if isinstance(t, Sym) and c * t.multiple % by == 0 else c % by for t, c in a.terms}, a.const % by
    )
    if isinstance(inner, int):
        return inner % by
    low, high = bounds(inner)
    if low is not None and high is not None and 0 <= low and high < by:
        return inner
    return _atom(Quot("%", inner, by))


def ceil_div(a: Index, by: int) -> Index:
    """Smallest integer not below a / by, by > 0."""
    return floordiv(add(a, by - 1), by)


def _extremum(op: Literal["min", "max"], items: Iterable[Index]) -> Index:
    flat: list[Index] = []
    for item in items:
        if isinstance(item, Expr) and item.const == 0 and len(item.terms) == 1 and item.terms[0][1] == 1:
            only = item.terms[0][0]
            if isinstance(only, Extremum) and only.op == op:
                flat.extend(only.items)
                continue
        flat.append(item)
    kept: list[Index] = []
    for item in flat:
        if any(_decides(op, other, item) for other in kept):
            continue
        kept = [other for other in kept if not _decides(op, item, other)]
        kept.append(item)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda e: (isinstance(e, int), to_text(e)))
    return _atom(Extremum(op, tuple(kept)))


def _decides(op: str, a: Index, b: Index) -> bool:
    """Whether `a` is known to be at least as extreme as `b`."""
    low, high = bounds(sub(a, b))
    return (high is not None and high <= 0) if op == "min" else (low is not None and low >= 0)


def minimum(*items: Index) -> Index:
    """The smallest of the items."""
    return _extremum("min", items)


def maximum(*items: Index) -> Index:
    """The largest of the items."""
    return _extremum("max", items)


Bounds = tuple[int | None, int | None]


def bounds(a: Index) -> Bounds:
    """Inclusive bounds from interval arithmetic over the symbols' own bounds; None where unbounded."""
    if isinstance(a, int):
        return a, a
    low: int | None = a.const
    high: int | None = a.const
    for atom, c in a.terms:
        first, second = _atom_bounds(atom)
        if c < 0:
            first, second = second, first
        low = None if low is None or first is None else low + c * first
        high = None if high is None or second is None else high + c * second
    return low, high


def _atom_bounds(atom: Atom) -> Bounds:
    if isinstance(atom, Sym):
        return atom.low, atom.high
    if isinstance(atom, Quot):
        low, high = bounds(atom.value)
        if atom.op == "//":
            return None if low is None else low // atom.by, None if high is None else high // atom.by
        return 0, atom.by - 1
    if isinstance(atom, Extremum):
        pairs = [bounds(i) for i in atom.items]
        lows = [p[0] for p in pairs]
        highs = [p[1] for p in pairs]
        known_lows = [x for x in lows if x is not None]
        known_highs = [x for x in highs if x is not None]
        if atom.op == "min":
            return min(known_lows) if len(known_lows) == len(lows) else None, min(known_highs, default=None)
        return max(known_lows, default=None), max(known_highs) if len(known_highs) == len(highs) else None
    a, b = _atom_bounds(atom.left)
    c, d = _atom_bounds(atom.right)
    if a is None or b is None or c is None or d is None:
        positive = a is not None and c is not None and a >= 0 and c >= 0
        return (a * c, None) if positive and a is not None and c is not None else (None, None)
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def substitute(a: Index, values: Mapping[Sym, Index]) -> Index:
    """Replace symbols by indices and simplify again."""
    if isinstance(a, int) or not values:
        return a
    total: Index = a.const
    for atom, c in a.terms:
        total = add(total, mul(_atom_substitute(atom, values), c))
    return total


def _atom_substitute(atom: Atom, values: Mapping[Sym, Index]) -> Index:
    if isinstance(atom, Sym):
        return values.get(atom, sym(atom))
    if isinstance(atom, Quot):
        inner = substitute(atom.value, values)
        return floordiv(inner, atom.by) if atom.op == "//" else mod(inner, atom.by)
    if isinstance(atom, Extremum):
        return _extremum(atom.op, [substitute(i, values) for i in atom.items])
    return mul(_atom_substitute(atom.left, values), _atom_substitute(atom.right, values))


def evaluate(a: Index, values: Mapping[Sym, int]) -> int:
    """The value for given symbols; KeyError where one is missing."""
    result = substitute(a, values)
    if isinstance(result, int):
        return result
    raise KeyError(", ".join(sorted(s.name for s in symbols(result))))


def symbols(a: Index) -> frozenset[Sym]:
    """All symbols in an index."""
    if isinstance(a, int):
        return frozenset()
    found: set[Sym] = set()
    stack: list[Atom] = [atom for atom, _ in a.terms]
    while stack:
        atom = stack.pop()
        if isinstance(atom, Sym):
            found.add(atom)
        elif isinstance(atom, Quot):
            found |= symbols(atom.value)
        elif isinstance(atom, Extremum):
            for item in atom.items:
                found |= symbols(item)
        else:
            stack += [atom.left, atom.right]
    return frozenset(found)


def coefficient(a: Index, symbol: Sym) -> int | None:
    """The factor of a symbol in an affine index; None where the symbol also stands inside another atom."""
    if isinstance(a, int):
        return 0
    factor = 0
    for atom, c in a.terms:
        if atom is symbol:
            factor = c
        elif not isinstance(atom, Sym) and symbol in symbols(_atom(atom)):
            return None
    return factor


Namer = Callable[[Sym], str]


def to_text(a: Index, name: Namer = lambda s: s.name) -> str:
    """Spec text of an index; parses back to the same index."""
    if isinstance(a, int):
        return str(a)
    parts: list[str] = []
    for atom, c in a.terms:
        text = _atom_text(atom, name)
        size = abs(c)
        if size != 1:
            text = f"{text} * {size}"
        sign = "-" if c < 0 else "+"
        parts.append(f" {sign} {text}" if parts else (f"-{text}" if c < 0 else text))
    if a.const:
        parts.append(f" {'-' if a.const < 0 else '+'} {abs(a.const)}")
    return "".join(parts)


def _atom_text(atom: Atom, name: Namer = lambda s: s.name) -> str:
    if isinstance(atom, Sym):
        return name(atom)
    if isinstance(atom, Quot):
        inner = to_text(atom.value, name)
        simple = len(atom.value.terms) == 1 and atom.value.terms[0][1] == 1 and atom.value.const == 0
        wrapped = inner if simple and isinstance(atom.value.terms[0][0], Sym) else f"({inner})"
        return f"({wrapped} {atom.op} {atom.by})"
    if isinstance(atom, Extremum):
        return f"{atom.op}({', '.join(to_text(i, name) for i in atom.items)})"
    return f"{_atom_text(atom.left, name)} * {_atom_text(atom.right, name)}"

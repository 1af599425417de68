"""Integers that a region computes: `let: k = 2 * i`, carried by loops and picked by `if`s.

They need no statement of their own: a name stands for an index over symbols, and a symbol is made only where control
decides, at a loop's head, behind it, and behind an `if`. What can be said of its range is said once, here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pypto_spec.convert.exprs import FUNCTIONS, Expressions
from pypto_spec.convert.scope import Scope
from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.expr import Bounds, Index, Sym, bounds, sym
from pypto_spec.spec.formula import Binary, Call, Expr, FormulaError, Unary, names
from pypto_spec.spec.formula import Name as NameExpr
from pypto_spec.spec.formula import Number as NumberExpr
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import Call as CallStatement
from pypto_spec.spec.models.structure import LetStatement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

_SIGNS = frozenset({"+", "-", "*", "//", "%", "**"})


def is_number(expr: Expr, scope: Scope) -> bool:
    """Whether a formula computes an integer from integers: there is no tile, no float and no unknown name in it."""
    if isinstance(expr, NumberExpr):
        return isinstance(expr.value, int)
    if isinstance(expr, NameExpr):
        found = scope.get(expr.id)
        if found is None:
            return False
        return found.index is not None or (found.kind == "constant" and type(found.constant) is int)
    if isinstance(expr, Binary):
        return expr.op in _SIGNS and is_number(expr.left, scope) and is_number(expr.right, scope)
    if isinstance(expr, Unary):
        return expr.op in "+-" and is_number(expr.operand, scope)
    if isinstance(expr, Call):
        return expr.func in FUNCTIONS and not expr.keywords and all(is_number(arg, scope) for arg in expr.args)
    return False


Update = Expr | None
"""What a name is bound to again: a formula, or something that is not looked into."""


def assigned(items: Sequence[Statement], scope: Scope) -> dict[str, list[Update]]:
    """What statements, and those inside them, bind to names that are numbers in `scope`."""
    found: dict[str, list[Update]] = {}
    for name, update in _bound(items):
        known = scope.get(name)
        if known is not None and known.rebound and known.index is not None:
            found.setdefault(name, []).append(update)
    return found


def _bound(items: Sequence[Statement]) -> Iterator[tuple[str, Update]]:
    for item in items:
        if isinstance(item.model, LetStatement):
            yield item.model.formula.target, item.model.formula.value
        elif isinstance(item.model, CallStatement):
            yield from ((name, None) for name in item.model.into)
        for key in ("carry", "results"):
            beside = item.node.get(key)
            if isinstance(beside, MappingNode):
                yield from ((name.text, None) for name, _ in beside.items)
            elif isinstance(beside, SequenceNode):
                yield from ((name.text, None) for name in beside.items if isinstance(name, ScalarNode))
        for block in item.blocks():
            yield from _bound(block)


def handed_on(items: Sequence[Statement]) -> Iterator[tuple[str, Node]]:
    """What jumps among and inside statements hand on by hand."""
    for item in items:
        if item.keyword in ("break", "continue") and isinstance(item.value, MappingNode):
            given = item.value.get("yield")
            if isinstance(given, MappingNode):
                yield from ((name.text, node) for name, node in given.items)
        for block in item.blocks():
            yield from handed_on(block)


def unless_bound(expr: Expr, items: Sequence[Statement]) -> Update:
    """A formula at the end of statements as one at their start; nothing where they bind a name in it again."""
    bound = {name for name, _ in _bound(items)}
    return None if any(name.id in bound for name in names(expr)) else expr


def union(items: Iterable[Index]) -> Bounds:
    """Bounds that hold for each of some indices."""
    low: int | None = None
    high: int | None = None
    first = True
    for item in items:
        a, b = bounds(item)
        low = a if first else None if a is None or low is None else min(a, low)
        high = b if first else None if b is None or high is None else max(b, high)
        first = False
    return low, high


def local(name: str, limits: Bounds) -> Sym:
    """A symbol for a number within bounds."""
    return Sym(name, "local", *limits)


def carried_bounds(
    starts: Mapping[str, Index], updates: Mapping[str, Sequence[Update]], exprs: Expressions
) -> dict[str, Bounds]:
    """Bounds of carried numbers that hold at the head of every iteration.

    A bound of the initial value stays where every update keeps it, given that all that are left held before.
    """
    limits = {name: bounds(start) for name, start in starts.items()}
    while True:
        trial = {name: sym(local(name, limit)) for name, limit in limits.items()}
        with exprs.scope.assuming(trial):
            after = {name: [_bounds(exprs, expr) for expr in updates.get(name, ())] for name in limits}
        kept = {name: _kept(limit, after[name]) for name, limit in limits.items()}
        if kept == limits:
            return kept
        limits = kept


def _bounds(exprs: Expressions, expr: Update) -> Bounds:
    """Bounds of a formula; unknown where it reads what is only bound further inside."""
    if expr is None:
        return None, None
    try:
        return bounds(exprs.index(expr))
    except (FormulaError, CompileError):
        return None, None


def _kept(limit: Bounds, after: Sequence[Bounds]) -> Bounds:
    low, high = limit
    if low is not None and any(a is None or a < low for a, _ in after):
        low = None
    if high is not None and any(b is None or b > high for _, b in after):
        high = None
    return low, high

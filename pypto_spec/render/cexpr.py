"""Index expressions and conditions as C++ on int64_t.

C++ divides towards zero: a quotient or remainder of something that may be negative goes through a helper with floor
semantics, all others are plain `/` and `%`. `helpers` collects the helper functions that were used.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_spec.ir.expr import Atom, Expr, Extremum, Index, Quot, Sym, bounds
from pypto_spec.ir.nodes import Condition


class Cpp:
    """Prints indices; `name` gives the C++ name of a symbol."""

    __slots__ = ("_texts", "helpers", "name")

    def __init__(self, name: Callable[[Sym], str]) -> None:
        self.name = name
        self.helpers: set[str] = set()
        self._texts: dict[int, tuple[Expr, str]] = {}

    def index(self, index: Index) -> str:
        """C++ text of an index, without outer parentheses."""
        if isinstance(index, int):
            return str(index)
        known = self._texts.get(id(index))
        if known is None:
            known = self._texts[id(index)] = (index, self._sum(index))
        return known[1]

    def forget(self) -> None:
        """Forget printed texts, because a symbol got another name."""
        self._texts.clear()

    def _sum(self, index: Expr) -> str:
        parts: list[str] = []
        alone = len(index.terms) == 1 and index.const == 0
        for atom, factor in sorted(index.terms, key=lambda term: term[1] < 0):
            size = abs(factor)
            text = self._atom(atom, bare=alone and factor == 1)
            if size != 1:
                text = f"{text} * {size}"
            if parts:
                parts.append(f"{'-' if factor < 0 else '+'} {text}")
            else:
                parts.append(f"-{text}" if factor < 0 else text)
        if index.const:
            if parts[0].startswith("-"):
                parts[0] = f"- {parts[0][1:]}"
                parts.insert(0, str(index.const))
            else:
                parts.append(f"{'-' if index.const < 0 else '+'} {abs(index.const)}")
        return " ".join(parts)

    def _atom(self, atom: Atom, bare: bool) -> str:
        if isinstance(atom, Sym):
            return self.name(atom)
        if isinstance(atom, Quot):
            return self._quotient(atom, bare)
        if isinstance(atom, Extremum):
            return self._extremum(atom)
        return f"{self._atom(atom.left, False)} * {self._atom(atom.right, False)}"

    def _quotient(self, atom: Quot, bare: bool) -> str:
        inner, by = atom.value, atom.by
        low = bounds(inner)[0]
        natural = low is not None and low >= 0
        if natural and atom.op == "//" and inner.const == by - 1:
            return self._call("CeilDivide", self.index(Expr(inner.terms, 0)), str(by))
        if not natural:
            return self._call("FloorDivide" if atom.op == "//" else "FloorRemainder", self.index(inner), str(by))
        single = len(inner.terms) == 1 and inner.terms[0][1] == 1 and inner.const == 0
        text = self.index(inner)
        simple = single and isinstance(inner.terms[0][0], Sym | Extremum)
        text = f"{text if simple else f'({text})'} {'/' if atom.op == '//' else '%'} {by}"
        return text if bare else f"({text})"

    def _extremum(self, atom: Extremum) -> str:
        called = "SmallerOf" if atom.op == "min" else "LargerOf"
        text = self.index(atom.items[0])
        for item in atom.items[1:]:
            text = self._call(called, text, self.index(item))
        return text

    def _call(self, helper: str, *args: str) -> str:
        self.helpers.add(helper)
        return f"{helper}({', '.join(args)})"

    def condition(self, condition: Condition) -> str:
        """C++ text of a condition, without outer parentheses."""
        if condition.op == "not":
            return f"!({self._side(condition.left)})"
        assert condition.right is not None
        if condition.op in ("and", "or"):
            sides = [self.operand(s, condition.op) for s in (condition.left, condition.right)]
            return f" {'&&' if condition.op == 'and' else '||'} ".join(sides)
        return f"{self._side(condition.left)} {condition.op} {self._side(condition.right)}"

    def _side(self, side: Index | Condition) -> str:
        return self.condition(side) if isinstance(side, Condition) else self.index(side)

    def operand(self, side: Index | Condition, op: str) -> str:
        """C++ text of one side of `&&` or `||`."""
        text = self._side(side)
        mixed = isinstance(side, Condition) and side.op in ("and", "or") and side.op != op
        return f"({text})" if mixed else text

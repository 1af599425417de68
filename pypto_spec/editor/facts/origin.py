"""Where values come from in the text: passes keep the place of a statement, so a place leads back to its binding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pypto_spec.convert.formula_place import FormulaPlace
from pypto_spec.diagnostics.span import Loc
from pypto_spec.editor.facts.model import At, Key, PartFacts
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Call, For, If, Op, Program, Stmt, Value
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.ir.types import ArrayType, TileType
from pypto_spec.records import dataclass


def place(loc: Loc) -> At:
    """Where a statement begins in the file that was compiled: in a dump, its own place there."""
    return (loc.dump or loc.span).start


_VERSIONS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.[0-9]+")


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """A name that a statement of the text binds, as it was read."""

    key: Key
    value: Value
    op: Op | Call


class Origins:
    """The bindings of a program as it was read, and the statements that their places stand for."""

    def __init__(self, program: Program) -> None:
        self.bindings: dict[Key, Binding] = {}
        self.of_loc: dict[int, list[Key]] = {}
        """By the identity of a place; the program, which is alive while facts are made, keeps it alive."""
        written = set(_VERSIONS.findall(program.loc.span.source.text))
        for region in regions(program.body):
            for stmt in statements(region.body):
                if isinstance(stmt, Op | Call):
                    self._bind(stmt, written)

    def _bind(self, stmt: Op | Call, written: set[str]) -> None:
        for value in stmt.results:
            if split(value.name)[1] is not None and value.name not in written:
                continue  # an intermediate result of a formula: no text has its name
            key = place(stmt.loc), value.name
            self.bindings.setdefault(key, Binding(key, value, stmt))
            self.of_loc.setdefault(id(stmt.loc), []).append(key)

    def key(self, loc: Loc, name: str) -> Key | None:
        """The binding that a value of some later program stands for, by its place and name."""
        base = split(name)[0]
        for key in self.of_loc.get(id(loc), ()):
            if split(key[1])[0] == base:
                return key
        return None

    def like(self, op: Op, value: Value, gone: Mapping[str, Key]) -> tuple[Key, ...]:
        """The bindings that a value of another name may stand for, because a pass turned or fused what makes it.

        It is made at the place of the binding by the same operator, or has its type; or it has its name, and nothing
        else is left of the binding.
        """
        same = (self.bindings[key] for key in self.of_loc.get(id(op.loc), ()))
        made = [b.key for b in same if isinstance(b.op, Op) and (b.op.name == op.name or _alike(b.value, value))]
        base = split(value.name)[0]
        while base not in gone and "_" in base:
            base = base.rpartition("_")[0]  # `h_l1` is `h` in L1
        named = gone.get(base)
        return (*made, named) if named is not None and named not in made else tuple(made)

    def gone(self, left: Iterable[int]) -> dict[str, Key]:
        """The bindings by name that no statement of a later program stands for, of names that are bound once.

        Whole arrays are among them in any case: products of them are made at the place of the last of a chain.
        """
        present = set(left)
        alive = {key for loc, keys in self.of_loc.items() if loc in present for key in keys}
        times = Counter(name for _, name in self.bindings)
        return {
            key[1]: key
            for key, binding in self.bindings.items()
            if times[key[1]] == 1 and (key not in alive or isinstance(binding.value.type, ArrayType))
        }


def _alike(a: Value, b: Value) -> bool:
    return str(a.type) == str(b.type)


class Reads:
    """What each statement reads, of the program in SSA form: a value that loops carry may be several bindings."""

    def __init__(self, program: Program, origins: Origins) -> None:
        self.origins = origins
        self.sources: dict[Value, list[Value]] = {}
        self.made: dict[Value, Op] = {}
        self.fields: dict[tuple[At, str], dict[Key, None]] = {}
        self.parts: dict[tuple[At, int, int], PartFacts] = {}
        self.views: dict[Key, Key] = {}
        every = [list(statements(region.body)) for region in regions(program.body)]
        for stmts in every:
            self._define(stmts)
        for stmts in every:
            for stmt in stmts:
                if isinstance(stmt, Op):
                    self._read(stmt)

    def _define(self, stmts: Iterable[Stmt]) -> None:
        for stmt in stmts:
            if isinstance(stmt, Op):
                self.made.update((value, stmt) for value in stmt.results)
            elif isinstance(stmt, For):
                for carry in stmt.carries:
                    self.sources[carry.arg] = self.sources[carry.result] = [carry.init, carry.yielded]
            elif isinstance(stmt, If):
                self.sources.update((phi.result, [phi.then, phi.other]) for phi in stmt.phis)

    def keys(self, value: Value) -> Iterator[Key]:
        """The bindings that a value may be, the one before a loop first."""
        pending, seen = [value], {value}
        while pending:
            current = pending.pop(0)
            op, key = self.made.get(current), None
            if op is not None:
                key = self.origins.key(op.loc, current.name)
                if key is not None:
                    yield key
            through = list(op.operands.values()) if op is not None and key is None and op.defn.role == "view" else []
            for source in (*self.sources.get(current, ()), *through):
                if source not in seen:
                    seen.add(source)
                    pending.append(source)

    def _read(self, op: Op) -> None:
        at, fields = place(op.loc), op.loc.fields
        formula = fields if isinstance(fields, FormulaPlace) else None
        for name, value in op.operands.items():
            if not isinstance(value.type, TileType | ArrayType):
                continue
            keys = tuple(dict.fromkeys(self.keys(value)))
            if formula is None:
                self.fields.setdefault((at, name), {}).update(dict.fromkeys(keys))
            elif (stretch := formula.fields.get(name)) is not None:
                self._part((at, stretch.start, stretch.end), str(value.type), keys)
        for value in op.results:
            if formula is not None:
                self._part((at, formula.whole.start, formula.whole.end), str(value.type), ())
            key = self.origins.key(op.loc, value.name)
            if key is not None and op.defn.role == "view":
                source = next(self.keys(next(iter(op.operands.values()))), None)
                if source is not None and source != key:
                    self.views.setdefault(key, source)

    def _part(self, stretch: tuple[At, int, int], type: str, keys: tuple[Key, ...]) -> None:
        known = self.parts.get(stretch)
        if known is None or (not known.keys and keys):
            self.parts[stretch] = PartFacts(type, keys)

"""Where the statements of a region stand, and what the instructions of an op do at their final addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pypto_spec.ir.access import Access, accesses
from pypto_spec.ir.expr import Expr, Sym
from pypto_spec.ir.loops import least_trips
from pypto_spec.ir.nodes import Buffer, BufferRef, For, If, Op, Stmt
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.rewrite import statements
from pypto_spec.ops.instructions import effects
from pypto_spec.passes.sync.model import PIPE_INDEX, holder_key
from pypto_spec.passes.sync.rotation import turning

Path = tuple[tuple[tuple[int, int], int, Stmt], ...]
"""The blocks around a statement, outermost first: each with the number and the statement that lead on."""


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction with its place in the op, its pipe and its accesses; `fenced` is as in `Effect`."""

    number: int
    pipe: int
    accesses: tuple[Access, ...]
    atomic: bool
    fenced: bool = False


class Places:
    """The shape of one region."""

    def __init__(self, body: tuple[Stmt, ...], buffers: Mapping[str, Buffer]) -> None:
        self.buffers = buffers
        self.order: dict[Stmt, int] = {s: n for n, s in enumerate(statements(body))}
        self.paths: dict[Op, Path] = {}
        self.depths: dict[For, int] = {}
        self.around: dict[For, tuple[For, ...]] = {}
        """A loop and those around it, outermost first."""
        self.periods: dict[For, int] = {}
        """The largest N of the slots `(i + c) % N` in a loop over i, for the loops that have any."""
        self._loop_of: dict[Sym, For] = {}
        self._steps: dict[Op, tuple[Step, ...]] = {}
        self._block(body, (0, 0), ())

    def _block(self, body: tuple[Stmt, ...], key: tuple[int, int], above: Path) -> None:
        for number, stmt in enumerate(body):
            here = (*above, (key, number, stmt))
            if isinstance(stmt, Op):
                self.paths[stmt] = here
                self._rotating(stmt)
            elif isinstance(stmt, For):
                self.depths[stmt] = len(here)
                self.around[stmt] = tuple(s for _, _, s in here if isinstance(s, For))
                if stmt.kind != "while" and stmt.step == 1:
                    self._loop_of[stmt.index] = stmt
                self._block(stmt.body, holder_key(stmt, 0), here)
            elif isinstance(stmt, If):
                self._block(stmt.then, holder_key(stmt, 0), here)
                self._block(stmt.other, holder_key(stmt, 1), here)

    def _rotating(self, op: Op) -> None:
        """Note the periods of the slots of an op."""
        values = (*op.operands.values(), *op.results)
        for ref in (*(v.buffer for v in values), *op.scratch):
            if ref is not None and not (isinstance(ref.slot, int | None) and isinstance(ref.offset, int)):
                self._periods(ref)

    def _periods(self, ref: BufferRef) -> None:
        for index in (ref.slot, ref.offset):
            for atom, _ in index.terms if isinstance(index, Expr) else ():
                found = turning(atom)
                if found is not None and found[0] in self._loop_of:
                    loop = self._loop_of[found[0]]
                    self.periods[loop] = max(self.periods.get(loop, 1), found[2])

    def short(self, rounds: Mapping[For, int]) -> set[For]:
        """Loops that may end before `rounds` (2 where not given) of theirs, and all around such a loop.

        Nothing relies on their last round.
        """
        found: set[For] = set()
        for loop, around in self.around.items():
            if least_trips(loop) < rounds.get(loop, 2):
                found.update(around)
        return found

    def meet(self, first: Op, second: Op, inside: For | None) -> tuple[Stmt, Stmt]:
        """The statements of the deepest common block (of the body of `inside`, if carried) that hold the two ops."""
        a, b = self.paths[first], self.paths[second]
        if inside is not None:
            depth = next(n for n, (_, _, stmt) in enumerate(a) if stmt is inside) + 1
            return a[depth][2], b[depth][2]
        for (key_a, index_a, stmt_a), (key_b, index_b, stmt_b) in zip(a, b, strict=False):
            if key_a == key_b and index_a != index_b:
                return stmt_a, stmt_b
        raise AssertionError("an op does not order itself")

    def steps(self, op: Op) -> tuple[Step, ...]:
        """The instructions of an op that touch memory."""
        found = self._steps.get(op)
        if found is None:
            found = self._steps[op] = tuple(self._measure(op))
        return found

    def _measure(self, op: Op) -> Iterator[Step]:
        view = OpRecipe(op, "exact")

        for number, does in enumerate(effects(op.instrs or (), view.dtype_of, view.memory_of)):
            if does is not None and does.regions:
                touched = tuple(accesses(op, does.regions, self.buffers))
                yield Step(number, PIPE_INDEX[does.pipe], touched, does.atomic, does.fenced)

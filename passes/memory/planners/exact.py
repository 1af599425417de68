"""The exact planner: non-overlap packing over lifetimes, by the CP-SAT solver of OR-tools, an optional extra.

The same problem gives the same answer on every machine: one worker, a fixed seed, and a limit that counts the solver's
own steps, not time. What it places is checked against the problem before anybody sees it.

Buffers that are in use together become boxes, statements by addresses, that must not overlap; pairs of which that does
not say it all (in place, kept apart on purpose) are told one by one. Addresses count in the largest common grid.
"""

from __future__ import annotations

from importlib.util import find_spec
from math import gcd
from typing import TYPE_CHECKING, Any, Literal

from pypto_spec.ir.types import round_up
from pypto_spec.passes.memory.planners.bound import Bound, lower_bound
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.problem import Placement, Problem
from pypto_spec.records import dataclass

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver, IntVar

LIMIT = 10.0
"""Deterministic seconds for one question: five to ten seconds of one core."""
SEED = 0


@dataclass(frozen=True, slots=True)
class Fits:
    """A placement within the capacity."""

    placement: Placement


@dataclass(frozen=True, slots=True)
class NoFit:
    """Proven: there is none. `bound` where the buffers of one statement alone are too much."""

    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The limit came first: there may be one."""


@dataclass(frozen=True, slots=True)
class NotInstalled:
    """OR-tools is not there to be asked."""


Answer = Fits | NoFit | Exhausted | NotInstalled


class BrokenPlacementError(Exception):
    """The solver's answer is not a solution: a bug of this model of the problem."""


def installed() -> bool:
    """Whether OR-tools can be imported; without importing it, which takes half a second."""
    return find_spec("ortools") is not None


def fits(problem: Problem, limit: float | None = None) -> Answer:
    """Whether the problem has a placement that ends within its capacity.

    What the bound over statements refutes needs no search, and so no OR-tools.
    """
    bound = lower_bound(problem)
    if bound.end > problem.capacity:
        return NoFit(bound)
    if not installed():
        return NotInstalled()
    model = _Model(problem, problem.capacity)
    status = model.solve(LIMIT if limit is None else limit)
    if status == "infeasible":
        return NoFit()
    return Exhausted() if status == "unknown" else Fits(model.placement(proven=False))


def optimum(problem: Problem, limit: float = LIMIT) -> tuple[Placement, int]:
    """The placement with the lowest end that was found, and the bound: none ends below so many bytes.

    The two meet where the placement is `proven`. Raises ImportError without OR-tools.
    """
    start, bound = first_fit(problem), lower_bound(problem).end
    if start.end <= bound:
        return start, bound
    model = _Model(problem, start.end)
    model.minimise(bound, start)
    status = model.solve(limit)
    if status == "infeasible":
        raise BrokenPlacementError(f"no placement ends at {start.end}, but first fit has one")
    bound = max(bound, model.bound())
    if status == "unknown":
        return start, bound
    found = model.placement(proven=status == "optimal")
    return found, found.end if found.proven else bound


class _Model:
    """The problem as a model of CP-SAT, all addresses in units of `unit` bytes, with ends up to `most` bytes."""

    def __init__(self, problem: Problem, most: int) -> None:
        from ortools.sat.python import cp_model

        self.problem = problem
        self.most = most
        self.unit = gcd(*(i.grid for i in problem.items if i.address is None)) or 1
        for item in problem.items:
            if item.address is not None:
                self.unit = gcd(self.unit, item.address)
        self.model: CpModel = cp_model.CpModel()
        self.solver: CpSolver = cp_model.CpSolver()
        self.possible = True
        self.steps: dict[int, IntVar] = {}
        self.starts = [self._start(n) for n in range(len(problem.items))]
        self._constrain()

    def _units(self, size: int) -> int:
        return round_up(size, self.unit) // self.unit

    def _start(self, n: int) -> Any:
        """The address of an item: a number, or a variable times its grid."""
        item = self.problem.items[n]
        if item.address is not None:
            self.possible &= item.address + item.bytes <= self.most
            return item.address // self.unit
        low, high = -(-self.problem.reserved // item.grid), (self.most - item.bytes) // item.grid
        if high < low:
            self.possible = False
            return 0
        self.steps[n] = self.model.new_int_var(low, high, item.name)
        return self.steps[n] * (item.grid // self.unit)

    def _constrain(self) -> None:
        if not self.possible:
            return
        items = self.problem.items
        boxed = self._boxes()
        model = self.model
        across, along = [], []
        for n, (start, end) in boxed.items():
            across.append(model.new_fixed_size_interval_var(start, end - start, f"life {n}"))
            along.append(model.new_fixed_size_interval_var(self.starts[n], self._units(items[n].bytes), f"bytes {n}"))
        model.add_no_overlap_2d(across, along)
        for a, b in sorted(self.problem.apart):
            if not (a in boxed and b in boxed and boxed[a][0] < boxed[b][1] and boxed[b][0] < boxed[a][1]):
                self._differ(a, b, level=False)
        for a, b in sorted(self.problem.level):
            self._differ(a, b, level=True)

    def _boxes(self) -> dict[int, tuple[int, int]]:
        """The lives, in half statements, of the items that boxes are right for.

        Where an op may work in place, what it reads ends half a statement before what it makes begins, so that the two
        boxes do not meet; so do no others whose pair may share bytes.
        """
        items = self.problem.items
        last = max((i.end for i in items), default=0)
        lives = [[0, 2 * last + 2] if i.alone else [2 * i.start, 2 * i.end + 1] for i in items]
        for a, b in self.problem.level:
            first = a if items[a].end == items[b].start else b
            lives[first][1] = min(lives[first][1], 2 * items[first].end)
        boxed: dict[int, tuple[int, int]] = {}
        order = sorted((n for n in range(len(items)) if lives[n][0] < lives[n][1]), key=lambda n: lives[n])
        live: list[int] = []
        for n in order:
            live = [m for m in live if lives[m][1] > lives[n][0]]
            if all((min(n, m), max(n, m)) in self.problem.apart for m in live):
                boxed[n] = (lives[n][0], lives[n][1])
                live.append(n)
        return boxed

    def _differ(self, a: int, b: int, *, level: bool) -> None:
        """One below the other, or, where they are level, both at one address."""
        items, starts = self.problem.items, self.starts
        if items[a].address is not None and items[b].address is not None:
            return
        below, above = self.model.new_bool_var(f"{a} below {b}"), self.model.new_bool_var(f"{b} below {a}")
        choices = [below, above]
        self.model.add(starts[a] + self._units(items[a].bytes) <= starts[b]).only_enforce_if(below)
        self.model.add(starts[b] + self._units(items[b].bytes) <= starts[a]).only_enforce_if(above)
        if level:
            same = self.model.new_bool_var(f"{a} at {b}")
            self.model.add(starts[a] == starts[b]).only_enforce_if(same)
            choices.append(same)
        self.model.add_exactly_one(choices)

    def minimise(self, bound: int, start: Placement) -> None:
        """Ask for the lowest end, at least `bound` bytes, from a known placement on. Ends count in bytes."""
        if not self.possible:
            return
        ends = self.model.new_int_var(bound, self.most, "end")
        for item, address in zip(self.problem.items, self.starts, strict=True):
            self.model.add(address * self.unit + item.bytes <= ends)
        for n, step in self.steps.items():
            item = self.problem.items[n]
            self.model.add_hint(step, start.addresses[item.name] // item.grid)
        self.model.minimize(ends)

    def solve(self, limit: float) -> Literal["fits", "optimal", "infeasible", "unknown"]:
        """Search within the limit."""
        from ortools.sat.python import cp_model

        if not self.possible:
            return "infeasible"
        parameters = self.solver.parameters
        parameters.num_workers = 1
        parameters.random_seed = SEED
        parameters.max_deterministic_time = limit
        status = self.solver.solve(self.model)
        if status == cp_model.OPTIMAL:
            return "optimal"
        if status == cp_model.FEASIBLE:
            return "fits"
        return "infeasible" if status == cp_model.INFEASIBLE else "unknown"

    def bound(self) -> int:
        """The best bound of the end that the solver has, in bytes."""
        return int(self.solver.best_objective_bound) if self.possible else 0

    def placement(self, *, proven: bool) -> Placement:
        """The addresses found, judged by the problem itself."""
        addresses = {
            item.name: (start if isinstance(start, int) else self.solver.value(start)) * self.unit
            for item, start in zip(self.problem.items, self.starts, strict=True)
        }
        end = self.problem.end(addresses)
        faults = self.problem.faults(addresses)
        if faults or end > self.most:
            raise BrokenPlacementError("; ".join(faults) or f"it ends at {end}, {self.most} were available")
        return Placement(addresses, end, proven)

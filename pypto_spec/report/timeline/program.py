"""The modelled timeline of a finished program, by walking it: no C++ is compiled or run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from pypto_spec.ir.expr import Index, Sym
from pypto_spec.ir.nodes import Control, Grid, Loop, Program, Region
from pypto_spec.report.timeline.keys import Budget, Keys, TooMuchError
from pypto_spec.report.timeline.known import Guesses, residual, symbols_of
from pypto_spec.report.timeline.launches import BlockTime, LaunchTime, Total, block_time, in_waves
from pypto_spec.report.timeline.machine import Machine, StuckError
from pypto_spec.report.timeline.model import SizesFrom, Timeline
from pypto_spec.report.timeline.shape import Shape, UnknownStepError, shape_of
from pypto_spec.report.timeline.walk import Walker
from pypto_spec.targets.model import Target

MOST_EVENTS = 50_000
"""Events simulated for one program; what is more is left out, and the timeline is not complete."""
MOST_LOOKS = 50_000
"""Iterations, blocks and launches looked at for one program."""


def modelled(
    program: Program,
    target: Target,
    *,
    sizes: Mapping[str, int] | None = None,
    spans: bool = False,
    jump: bool = True,
) -> Timeline:
    """The modelled timeline of a program after its last pass.

    `sizes` gives values to run-time dimensions and integer scalars; without it the golden's first sizes are taken, or
    the bounds of each symbol. `spans` keeps when each instruction ran. `jump=False` goes through every iteration.
    """
    return _Modelled(program, target, sizes, spans, jump).timeline()


class _Modelled:
    def __init__(
        self, program: Program, target: Target, sizes: Mapping[str, int] | None, spans: bool, jump: bool
    ) -> None:
        self.program = program
        self.target = target
        self.buffers = {b.name: b for b in program.buffers}
        self.spans = spans
        self.jump = jump
        self.guesses = Guesses()
        self.budget = Budget(MOST_EVENTS, MOST_LOOKS)
        self.total = Total()
        self.sizes_from: SizesFrom = "compile time"
        self.given: dict[str, int] = dict(sizes or {})
        self.sizes = self._sizes(sizes)
        self.shapes: dict[tuple[Region, int, int], Shape] = {}
        self.made: dict[Hashable, LaunchTime] = {}

    def timeline(self) -> Timeline:
        complete = True
        try:
            self.controls(self.program.body, dict(self.sizes))
        except TooMuchError:
            complete = False
            self.guesses.note("the program is too long to simulate: what is left out is not counted")
        except (StuckError, UnknownStepError) as error:
            complete = False
            self.guesses.note(str(error))
        named = {dim.name: value for dim, value in self.sizes.items()}
        notes = tuple(self.guesses.made)
        return self.total.timeline(self.program.name, self.target, named, self.sizes_from, notes, complete)

    def _sizes(self, sizes: Mapping[str, int] | None) -> dict[Sym, int]:
        dims = self.program.dims
        golden = self.program.golden
        if sizes is not None:
            self.sizes_from = "given"
        elif dims and golden is not None and golden.sizes:
            self.sizes_from = "golden"
            self.given |= golden.sizes[0]
        elif dims:
            self.sizes_from = "bounds"
        made: dict[Sym, int] = {}
        for dim in dims:
            if dim.name in self.given:
                made[dim] = self.given[dim.name]
                continue
            low = dim.low if dim.low is not None else dim.multiple
            made[dim] = max(dim.high, low) // dim.multiple * dim.multiple if dim.high is not None else low
        return made

    # -- the control plane ----------------------------------------------------------------------------------------

    def controls(self, body: Sequence[Control], values: dict[Sym, int]) -> None:
        for node in body:
            self.budget.look()
            if isinstance(node, Region):
                self.launch(node, node.blocks if node.blocks is not None else 1, None, values)
            elif isinstance(node, Grid):
                for inner in node.body:
                    assert isinstance(inner, Region), "a launch holds regions only"
                    self.launch(inner, node.count, node, values)
            elif isinstance(node, Loop):
                self.loop(node, values)
            else:
                self.controls(node.then if self.guesses.truth(node.condition, values) else node.other, values)

    def loop(self, loop: Loop, values: dict[Sym, int]) -> None:
        start, stop, step = (self.guesses.number(i, values) for i in (loop.start, loop.stop, loop.step))
        for index in range(start, stop, step):
            self.controls(loop.body, {**values, loop.index: index})

    def launch(self, region: Region, count: Index | str, grid: Grid | None, values: dict[Sym, int]) -> None:
        cores = self.target.cores(region.core)
        blocks = cores if isinstance(count, str) else self.guesses.number(count, values)
        if blocks <= 0:
            return
        time = self.launch_time(region, blocks, cores, grid, values)
        self.total.add(region.kernel or region.name, region.name, region.core or "aiv", time)

    def launch_time(
        self, region: Region, blocks: int, cores: int, grid: Grid | None, values: dict[Sym, int]
    ) -> LaunchTime:
        """One launch, from what was made before where nothing that matters differs."""
        shape = self.shape(region, blocks, min(cores, blocks), grid)
        needs = {s for read in shape.reads for s in symbols_of(read)}
        known = self.known(needs, values)
        which = (region, blocks, *(residual(read, known) for read in shape.reads))
        made = self.made.get(which)
        if made is None:
            made = self.made[which] = self.simulated(region, blocks, cores, grid, known)
        return made

    def known(self, needs: set[Sym], values: Mapping[Sym, int]) -> dict[Sym, int]:
        """The values of symbols, with those of scalars that were given by name."""
        named = {s: self.given[s.name] for s in needs if s.kind == "scalar" and s.name in self.given}
        return {**{s: value for s, value in values.items() if s in needs}, **named}

    def simulated(
        self, region: Region, blocks: int, cores: int, grid: Grid | None, known: Mapping[Sym, int]
    ) -> LaunchTime:
        shape = self.shape(region, blocks, min(cores, blocks), grid)
        index = grid.index if grid is not None else Sym("block", "block", 0)
        keys = Keys(index, shape, known, self.budget)

        def simulate(block: int, active: int) -> BlockTime:
            machine = Machine(self.target.costs, keep_spans=self.spans)
            form = self.shape(region, blocks, active, grid)
            Walker(form, machine, {**known, index: block}, self.budget, self.guesses, jump=self.jump).run()
            return block_time(machine)

        return in_waves(blocks, cores, keys.at, simulate)

    def shape(self, region: Region, blocks: int, active: int, grid: Grid | None) -> Shape:
        which = (region, blocks, active)
        found = self.shapes.get(which)
        if found is None:
            fixed: dict[Sym, Index] = dict(self.sizes)
            if grid is not None:
                fixed[grid.blocks_symbol] = blocks
            found = self.shapes[which] = shape_of(region, self.target, fixed, active, self.buffers, grid)
        return found

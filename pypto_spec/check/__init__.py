"""The race and deadlock checker: proves the order of every region, or says what is missing.

It runs on every build, on the final program. It knows final addresses, pipes, flags and barriers, nothing of how they
were chosen. What it cannot decide is an error.

**The machine.** The scalar program dispatches instructions in order into one queue per pipe. A pipe issues in order,
but an instruction may start before the one before it is done. `barrier: p` makes later work of p start after all its
earlier work is done (`all`: of every pipe). A set takes effect once all earlier work of its pipe is done, and holds
up nothing behind it; a wait holds up its pipe's queue (scalar: dispatch itself) until the flag is up, and lowers it.

**The method.** An abstract interpretation. Work of one pipe between two of its sets or barriers is one *epoch*. The
state holds for each pipe, and for each flag that is up, the epochs not known to be complete: dispatching adds its
epoch to all of them; a barrier empties the pipe's own; a set copies its pipe's knowledge, with all of the pipe's own
work, into the flag; a wait takes the flag's knowledge over. For a flag that is down the state holds the epoch of the
wait that lowered it; the next set is right only if its pipe knows that wait to be over. Two accesses race if they
share a byte, one writes (not both atomic), and the epoch of the earlier is not known to be complete on the pipe of
the later. Waits can only be for sets dispatched before them, so that no wait can stand in a circle of waits.

What the hardware orders by itself is no race: two accesses of the very same bytes whose instructions say so
(`Region.ordered`). That those which wait by unit flags get them is looked at apart (`units.py`).

Branches: both arms are run, the states joined (a flag that only one arm leaves up makes every later set, wait or end
of the region an error). Loops: epochs of a loop are told apart by iteration: this one, 1 ago, ..., D or more ago; the
body is interpreted until the state at its head is stable, and then once more to report. Addresses of earlier
iterations follow from the loop index: exact `k` iterations ago for k < D, any multiple of the step beyond. D is 2, or
N where a slot is `i % N`, up to 8. A loop whose flags have ids as `i % N` is taken as one with N of its rounds in each,
which may end behind any of them (`turns.py`). Behind a loop its iterations are no longer told apart; with a trip count
that may be 0, the state before the loop is joined in, and one of at least 2 leaves out the end of the first round.

**The bound.** Without branches and loops the verdict is exact for the machine above, except that a wait dispatched
before its set is refused (queues are finite) and, past 512 pieces or distances, two strided accesses count as
overlapping. Beyond that it errs only on the side of an error: conditions are not evaluated, both arms count
everywhere; ids must be numbers, or come round with a loop; iterations D and more ago are treated alike; counts, lengths
and offsets known at run time only stand for all their values; one wrong flag is reported once. It sees one core: of two
blocks that write the same elements of a tensor it only looks for examples (`blocks.py`), and two arguments that the
caller lets overlap are not compared.
"""

from __future__ import annotations

from pypto_spec.check.blocks import check_blocks
from pypto_spec.check.build import Builder
from pypto_spec.check.model import Effects
from pypto_spec.check.report import Reporter
from pypto_spec.check.units import Units
from pypto_spec.check.walk import Walker
from pypto_spec.check.windows import check_windows
from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.nodes import Program, Region
from pypto_spec.ir.rewrite import regions
from pypto_spec.targets.model import Target

__all__ = ["Effects", "check_program", "check_region"]


def check_program(program: Program, target: Target, sink: Sink, effects: Effects) -> None:
    """Report to `sink` whatever keeps a region from being proven free of races, deadlock and flags left over.

    `effects` says what the steps of an op do: `pypto_spec.ops.instructions.effects`.
    """
    for region in regions(program.body):
        check_region(program, region, target, sink, effects)
    check_blocks(program, target, sink)
    check_windows(program, target, sink)


def check_region(program: Program, region: Region, target: Target, sink: Sink, effects: Effects) -> None:
    """`check_program` for one region."""
    out = Reporter(sink)
    builder = Builder(region, program.buffers, target.event_ids, effects, out)
    flow = builder.flow(region)
    if not out.refused:  # a statement that could not be taken would show again as races and flags left over
        Walker(flow, out).run()
        if builder.units:
            Units(builder.units, builder.locate, out).run(region.body)

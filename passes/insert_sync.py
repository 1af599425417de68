"""InsertSync: the flags and barriers that order a region's instructions.

Within one core every pipe runs by itself: an instruction is ordered after another one only by a flag (between pipes)
or a barrier (on one pipe). From the final addresses this pass finds every pair that touches the same bytes, one of
them writing, and orders it: RAW, WAR and WAW, through on-chip memories and GM, within a round of a loop and from one
round to the next. Slots that rotate with a loop, `(i + c) % N`, are told apart by their rounds, and have an event id
each where the ids suffice. What is ordered by way of something else gets nothing of its own, and neither does what the
hardware orders (`Region.ordered`). Between two pipes that have no flag on this core stands `barrier: all`.
`passes/sync/` holds the parts: the abstract run that finds the needs, the event ids, and the rebuilding.

With `sync: manual` the author's flags stand and nothing is added; the checker judges them.
"""

from __future__ import annotations

from dataclasses import replace

from pypto_spec.ir.nodes import Buffer, Program, Region
from pypto_spec.ir.rewrite import Rewriter
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.sync.analysis import Analysis
from pypto_spec.passes.sync.emit import Emitter
from pypto_spec.passes.sync.flags import Flags
from pypto_spec.targets.events import FLAG_KINDS


class _Inserter(Rewriter):
    def __init__(self, buffers: dict[str, Buffer], ids: int) -> None:
        super().__init__()
        self.buffers = buffers
        self.ids = ids

    def region(self, region: Region) -> Region:
        kinds = FLAG_KINDS[region.core or "aiv"]
        analysis = Analysis(region.body, self.buffers, self.ids, kinds)
        flags = Flags(analysis, self.ids)
        while flags.again:
            analysis.run()
            flags = Flags(analysis, self.ids)
        return replace(region, body=Emitter(flags.edges, analysis.all_fences()).block(region.body))


def run(program: Program, context: Context) -> Program:
    """Add the flags and barriers of every region, unless the program says it has its own."""
    if program.target.sync == "manual":
        return program
    buffers = {b.name: b for b in program.buffers}
    placed = _Inserter(buffers, context.target.event_ids).program(program)
    return replace(placed, target=replace(program.target, sync="manual"))


INSERT_SYNC = Pass(
    name="InsertSync",
    run=run,
    requires=frozenset({Property.HAS_INSTRUCTIONS}),
    produces=frozenset({Property.SYNCHRONISED}),
    doc=__doc__,
)

"""LowerPipelineToSlots: with the planner `ptoas`, a pipeline's loads rotate through the slots of one buffer.

The body is not copied. Each load of a pipeline with F stages gets a buffer of F slots and fills slot `i % F`, so the
copy of one iteration may run while earlier ones still use the other slots; there is one event for each slot. The loop
becomes an ordinary one: no rest to divide, whatever the trip count. A loop that does not lend itself to that (a step
other than 1, a loaded tile that is carried, looked into or changed in place, slots that do not fit) is left to
LowerPipelineLoops, as a whole, with all pipelines in it, and a hint says why.

What the author declared with slots has to be something this planner can express; else it is refused here (PS4010).
Under the planner `pypto` this pass does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules.sync import SLOTS_DECLINED
from pypto_spec.ir.expr import mod, sym, to_text
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import BufferRef, For, If, Op, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import issue_pipe
from pypto_spec.ir.rewrite import Rewriter, ops, regions, statements, with_parts
from pypto_spec.ir.types import Memory, TileType, round_up
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.memory.buffers import BufferPool
from pypto_spec.passes.memory.uses import Uses, base_of
from pypto_spec.passes.stages.refusals import SPACES, refuse_declarations
from pypto_spec.passes.stages.room import live_bytes


class _Slots(Rewriter):
    """Binds the loads of the pipelines of one region."""

    def __init__(self, region: Region, pool: BufferPool, context: Context, pinned: dict[Memory, int]) -> None:
        super().__init__()
        self.allow = region.allow
        self.body = region.body
        self.pool = pool
        self.context = context
        self.target = context.target
        self.taken = dict(pinned)
        """Bytes of buffers with slots so far, the author's and ours, by memory."""
        self.placed = {v for op in ops(region.body) for v in op.results if v.buffer is not None}
        """The values in them."""
        self.declined = 0
        """Pipelines around this point that are not given slots."""
        self.uses = Uses(region.body)
        self.carried = _carried(region.body, self.uses)
        self.bases = {base for op in ops(region.body) if (base := base_of(op)) is not None}

    def loop(self, loop: For) -> Sequence[Stmt]:
        if loop.kind != "pipeline" or loop.stages == 1:
            return super().loop(loop)
        if self.declined or _within_the_cube(loop):
            return self._decline(loop)
        loads = [s for s in loop.body if isinstance(s, Op) and s.defn.effects == "reads_gm" and s.results]
        free = [op for op in loads if op.result.buffer is None]
        needs = self._needs(free, loop.stages)
        reason = self._reason(loop, free, needs)
        if reason is not None:
            self._tell(loop, reason)
            return self._decline(loop)
        self.taken.update({m: self.taken.get(m, 0) + size for m, size in needs.items()})
        self.placed.update(op.result for op in free)
        slot = mod(sym(loop.index), loop.stages)
        renewed: dict[Stmt, Op] = {}
        for op in free:
            kind = op.result.type
            assert isinstance(kind, TileType) and kind.memory is not None
            place = self.pool.fresh(kind.memory, kind.bytes, op.loc, slots=loop.stages)
            made = Value(op.result.name, kind, BufferRef(place.buffer, slot=slot))
            renewed[op] = with_parts(op, results=(self.bind(op.result, made),))
        body = tuple(renewed.get(s, s) for s in loop.body)
        return super().loop(replace(loop, body=body, kind="for", stages=1))

    def _decline(self, loop: For) -> Sequence[Stmt]:
        """Leave a loop and what is in it to LowerPipelineLoops, whose copies would fill one slot at once."""
        self.declined += 1
        made = super().loop(loop)
        self.declined -= 1
        return made

    def _reason(self, loop: For, loads: Sequence[Op], needs: dict[Memory, int]) -> str | None:
        """Why the loads of a loop do not rotate through slots, if they do not."""
        if not loads:
            return "nothing is loaded straight into its body, but into buffers of the author's or in blocks inside it"
        if loop.step != 1:
            return f"its index goes on by {to_text(loop.step)}, and slots are taken in turn by an index that counts"
        if not (isinstance(loop.start, int) and loop.start % loop.stages == 0):
            return f"it starts at {to_text(loop.start)}, which is not known to be a multiple of {loop.stages}"
        for op in loads:
            why = self._fixed(op)
            if why is not None:
                return f"`{split(op.result.name)[0]}` {why}"
        return None if self._fits(needs, loads) else self._too_large(needs)

    def _fixed(self, op: Op) -> str | None:
        """Why a loaded tile cannot stand in another slot each time, if it cannot."""
        value = op.result
        kind = value.type
        assert isinstance(kind, TileType)
        if kind.memory not in SPACES:
            return "goes to a memory without slots"
        if kind.valid is not None and not all(isinstance(n, int) for n in kind.valid):
            return "is valid to an extent known at run time only"
        if value in self.carried:
            return "is handed on by a loop or an `if`"
        return "is sliced, reshaped or changed in place" if value in self.bases else None

    def _too_large(self, needs: dict[Memory, int]) -> str:
        sizes = ", ".join(f"{size} B of `{memory.value}`" for memory, size in needs.items())
        return f"its slots take {sizes}, which do not fit beside what else is there"

    def _tell(self, loop: For, reason: str) -> None:
        self.context.sink.report(
            SLOTS_DECLINED,
            loop.loc.field("stages"),
            f"with the planner `ptoas` the loads of this pipeline take no slots: {reason}",
            label="lowered by copies of its body",
            notes=["the result is the same, and so is the overlap of loads and compute as far as memory goes"],
            helps=["change that, or write `target: {planner: pypto}`, which copies the body of every pipeline"],
            fixes=[Repair("set", None, ("target", "planner"), "pypto", title="plan with `planner: pypto`")],
            allow=loop.allow | self.allow,
        )

    def _needs(self, loads: Sequence[Op], stages: int) -> dict[Memory, int]:
        found: dict[Memory, int] = {}
        for op in loads:
            kind = op.result.type
            assert isinstance(kind, TileType) and kind.memory is not None
            size = round_up(kind.bytes, self.target.address_alignment[kind.memory]) * stages
            found[kind.memory] = found.get(kind.memory, 0) + size
        return found

    def _fits(self, needs: dict[Memory, int], loads: Sequence[Op]) -> bool:
        """Whether the slots, which share with nobody, fit beside those there are and what else the region needs."""
        others = live_bytes(self.body, self.placed | {op.result for op in loads})
        return all(
            self.taken.get(memory, 0) + size + others.get(memory, 0) <= self.target.capacity[memory]
            for memory, size in needs.items()
        )


def _within_the_cube(loop: For) -> bool:
    """Whether a pipeline brings operands from L1 to L0 and loads nothing: L0 has no slots, so nothing is missed."""
    found = list(ops(loop.body))
    return any(issue_pipe(op) == "mte1" for op in found) and not any(op.defn.effects == "reads_gm" for op in found)


def _carried(body: Sequence[Stmt], uses: Uses) -> set[Value]:
    """Values that a loop starts from or hands on, or an `if` gives; views counted as what they look at."""
    found: set[Value] = set()
    for node in statements(body):
        if isinstance(node, For):
            found.update(uses.owner(v) for c in node.carries for v in (c.init, c.yielded))
        elif isinstance(node, If):
            found.update(uses.owner(v) for p in node.phis for v in (p.then, p.other))
    return found


class _Regions(Rewriter):
    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.pool = BufferPool(program)
        self.context = context

    def region(self, region: Region) -> Region:
        if not any(isinstance(s, For) and s.kind == "pipeline" and s.stages > 1 for s in statements(region.body)):
            return region
        used = {v.buffer.buffer for op in ops(region.body) for v in op.results if v.buffer is not None}
        pinned: dict[Memory, int] = {}
        for buffer in self.pool.buffers:
            if buffer.name in used:
                pinned[buffer.memory] = pinned.get(buffer.memory, 0) + (buffer.bytes or 0) * buffer.slots
        body = _Slots(region, self.pool, self.context, pinned).block(region.body)
        return region if body is region.body else replace(region, body=body)


def run(program: Program, context: Context) -> Program:
    """Give the loads of pipelines slots, where the planner is `ptoas`."""
    if program.target.planner != "ptoas":
        return program
    refuse_declarations(program, regions(program.body))
    rewriter = _Regions(program, context)
    made = rewriter.program(program)
    return made if made is program else replace(made, buffers=tuple(rewriter.pool.buffers))


LOWER_PIPELINE_TO_SLOTS = Pass(
    name="LowerPipelineToSlots",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.TILE_MEMORY_INFERRED}),
    doc=__doc__,
)

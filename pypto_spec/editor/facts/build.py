"""From a compile with its stages to facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pypto_spec.driver.session import Compiled
from pypto_spec.editor.facts.control import launches_of, loops_of
from pypto_spec.editor.facts.model import At, Facts, Key, StepFacts, TileFacts
from pypto_spec.editor.facts.origin import Origins, Reads
from pypto_spec.editor.facts.sections import buffers_of, symbols_of, tensors_of
from pypto_spec.editor.facts.spots import spots_of, valid_text
from pypto_spec.editor.facts.steps import cuts_of, pipe_of, steps_of
from pypto_spec.ir.nodes import Call, Op, Program
from pypto_spec.ir.types import TileType
from pypto_spec.passes.convert_to_ssa import CONVERT_TO_SSA


def facts_of(compiled: Compiled) -> Facts:
    """The facts of a compile that kept its stages. After an error they are of what the last pass before it left."""
    source, variant = compiled.spec.source, compiled.spec.variant
    if not compiled.stages:
        return Facts(source=source, variant=variant)
    read, last = compiled.stages[0][1], compiled.stages[-1][1]
    origins = Origins(read)
    ssa = dict(compiled.stages).get(CONVERT_TO_SSA.name)
    reads = Reads(ssa if ssa is not None else read, origins)
    steps = steps_of(last)
    done = compiled.program is not None
    tiles = _tiles(origins, reads, last, steps, done)
    return Facts(
        source=source,
        variant=variant,
        done=done,
        tiles=tiles,
        reads={mark: tuple(keys) for mark, keys in reads.fields.items() if keys},
        parts=reads.parts,
        steps=steps,
        loops=loops_of(compiled, read, tiles),
        regions=launches_of(last),
        cuts=cuts_of(last, read),
        tensors=tensors_of(read),
        symbols=symbols_of(read),
        buffers=buffers_of(last.buffers, tiles.values()),
    )


def together(every: Iterable[Facts]) -> Facts | None:
    """The facts of all variants of one text: those of the first, with the others beside it; None of none."""
    first, *others = every or (None,)
    return None if first is None else replace(first, others=tuple(others))


def _tiles(
    origins: Origins, reads: Reads, last: Program, steps: Mapping[At, Sequence[StepFacts]], done: bool
) -> dict[Key, TileFacts]:
    spots = spots_of(last, origins)
    found: dict[Key, TileFacts] = {}
    for key, binding in origins.bindings.items():
        at, name = key
        kind, op = binding.value.type, binding.op
        source = reads.views.get(key)
        mine = spots.get(key, ())
        chain, seen = source, {key}
        while not mine and chain is not None and chain not in seen:
            seen.add(chain)
            mine, chain = spots.get(chain, ()), reads.views.get(chain)
        found[key] = TileFacts(
            name=name,
            at=at,
            level="tile" if isinstance(kind, TileType) else "array",
            type=str(kind),
            dtype=kind.dtype.name,
            valid=valid_text(kind),
            op=op.name if isinstance(op, Op) else op.function,
            pipe=_pipe(op, steps.get(at, ()), done),
            spots=mine,
            view=source,
        )
    return found


def _pipe(op: Op | Call, steps: Sequence[StepFacts], done: bool) -> str:
    """Where what makes a tile issues; empty where it is part of another instruction in the end, or has none."""
    if isinstance(op, Call):
        return ""
    return next((step.pipe for step in steps if step.op == op.name), "" if done else pipe_of(op))

"""The launches of a program for given sizes, in the order in which the host makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Sym, evaluate
from pypto_spec.render.model import HostLoop, HostStep, Launch, RenderedKernel
from pypto_spec.targets.model import Target


@dataclass(frozen=True, slots=True)
class Run:
    """One launch: a kernel, its number of blocks, and the values of run-time sizes and host loop indices."""

    kernel: RenderedKernel
    blocks: int
    values: Mapping[Sym, int]


def cores_for(target: Target, auto_blocks: int) -> dict[str, int]:
    """What `blocks: auto` finds, by core: so many vector cores, and the cube cores that belong to them."""
    return {"aiv": auto_blocks, "aic": max(1, auto_blocks * target.cube_cores // target.vector_cores)}


def launches(steps: Sequence[HostStep], values: Mapping[Sym, int], auto_blocks: Mapping[str, int]) -> Iterator[Run]:
    """Every launch; `auto_blocks` is what `blocks: auto` finds on the platform, by core."""
    for step in steps:
        if isinstance(step, Launch):
            blocks = step.kernel.blocks
            count = auto_blocks[step.kernel.core] if isinstance(blocks, str) else evaluate(blocks, values)
            yield Run(step.kernel, count, values)
        elif isinstance(step, HostLoop):
            first, last = evaluate(step.start, values), evaluate(step.stop, values)
            for index in range(first, last, evaluate(step.step, values)):
                yield from launches(step.body, {**values, step.index: index}, auto_blocks)
        else:
            yield from launches(step.then if holds(step.condition, values) else step.other, values, auto_blocks)

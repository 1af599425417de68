"""What is accepted is right: the kernels of damaged specs that compile run on the host model without a finding."""

from __future__ import annotations

import functools
import re
from math import prod

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.driver.compile import compile_source
from pypto_spec.golden.goldens import golden_test
from pypto_spec.golden.run import Outcome, Subject
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import TensorType
from pypto_spec.passes.base import Pass
from pypto_spec.render.model import RenderedProgram
from pypto_spec.render.program import render_kernels
from pypto_spec.spec.reader import decode
from tests.robustness.mutants import Mutant, mutants

MOST_ELEMENTS = 1_000_000
"""Of the largest tensor; the host model interprets each copy."""

OUTSIDE = "out-of-bounds"
"""What the host model calls an access outside a tensor."""

Accepted = tuple[Mutant, Program, Program, RenderedProgram]


def accepted(count: int, first: int, most: int) -> list[Accepted]:
    """Mutants that compile, each kernel once."""
    made: list[Accepted] = []
    seen: set[tuple[str, ...]] = set()
    for mutant in mutants(count, first):
        try:
            source = decode(f"kernel.{mutant.format}", mutant.data)
        except CompileError:
            continue
        read: list[Program] = []
        keep = functools.partial(_keep, read)
        done = compile_source(source, format=mutant.format, on_pass=keep)
        if not done.ok or done.program is None or done.program.target.platform != "a2a3":
            continue
        rendered = render_kernels(done.program)
        texts = tuple(re.sub("//.*", "", k.text) for k in rendered.kernels)
        if texts in seen or any(elements(t.type) > MOST_ELEMENTS for t in done.program.tensors):
            continue
        seen.add(texts)
        made.append((mutant, read[0], done.program, rendered))
    return made[:most]


def _keep(read: list[Program], _: Pass | None, program: Program) -> None:
    read.append(program)


def elements(kind: object) -> int:
    assert isinstance(kind, TensorType)
    return prod(n if isinstance(n, int) else 100 for n in kind.shape)


def batches(found: list[Accepted]) -> list[list[Accepted]]:
    """Programs whose kernels can stand in one library."""
    made: list[list[Accepted]] = []
    for one in found:
        names = {k.name for k in one[3].kernels}
        free = (b for b in made if len(b) < 12 and not any(names & {k.name for k in o[3].kernels} for o in b))
        home = next(free, None)
        if home is None:
            made.append(home := [])
        home.append(one)
    return made


def findings(found: list[Accepted]) -> list[str]:
    wrong: list[str] = []
    for batch in batches(found):
        library = compile_kernels([KernelSource(k.name, k.text) for one in batch for k in one[3].kernels])
        for mutant, frontend, program, rendered in batch:
            outcome: Outcome = golden_test(Subject(frontend, program, rendered, library), schedules=2)
            # With run-time sizes, what a window reaches and which blocks share it shows when it runs, not before.
            late = [f for f in outcome.faults if f.finding.kind == OUTSIDE or "by blocks" in f.finding.message]
            faults = [f for f in outcome.faults if not (program.dims and f in late)]
            if faults:
                wrong.append(f"mutant({mutant.seed}) of {mutant.origin} ({mutant.what}): {faults[0]}")
    return wrong


def test_some() -> None:
    assert findings(accepted(150, 0, 12)) == []


@pytest.mark.long
@pytest.mark.parametrize("block", range(6))
def test_many(block: int) -> None:
    assert findings(accepted(1500, 1500 * block, 100)) == []

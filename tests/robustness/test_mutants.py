"""Damaged specs: an answer each time, in bounded time, and never a failure of the compiler."""

from __future__ import annotations

from time import process_time

import pytest

from pypto_spec.diagnostics.model import CompileError, Severity
from pypto_spec.diagnostics.render import render
from pypto_spec.driver.compile import compile_source
from pypto_spec.render.program import render_kernels
from pypto_spec.spec.reader import decode
from tests.robustness.mutants import Mutant, mutants

MOST_SECONDS = 1.0
"""Of processor time for one spec; a good one takes a hundredth."""

SLOW_ONCE = 0.5
"""What imports and first uses may take besides."""

# Found by this test once: shapes that no memory holds, asked for by size.
SEEDS = (302, 652, 826, 1289, 2402, 2570, 3179, 3219, 3430, 5208, 5625, 5829, 5990, 6116, 7179, 7452)


def problem(mutant: Mutant) -> str | None:
    """What is wrong with the compiler's answer; None where it is good."""
    started = process_time()
    try:
        source = decode(f"kernel.{mutant.format}", mutant.data)
    except CompileError as error:
        return None if render(error.diagnostics) else "an empty message"
    done = compile_source(source, format=mutant.format)
    text = render(done.diagnostics)
    if done.failure is not None or "error[PS9" in text:
        return f"failed with {done.failure!r}: {text}"
    if done.ok and done.program is not None:
        render_kernels(done.program)
    elif not any(d.level is Severity.ERROR for d in done.diagnostics):
        return "neither a program nor an error"
    if (took := process_time() - started) > MOST_SECONDS + SLOW_ONCE:
        return f"took {took:.1f} s"
    lines = source.text.count("\n") + source.text.count("\r") + 1
    outside = [d for d in done.diagnostics if d.primary.span.source is source and d.primary.span.line > lines]
    return f"a place outside the text: {outside}" if outside else None


def report(chosen: list[Mutant]) -> str:
    found = [(m, text) for m in chosen if (text := problem(m)) is not None]
    return "\n".join(f"mutant({m.seed}) of {m.origin} ({m.what}): {text}" for m, text in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_those_that_failed_once(seed: int) -> None:
    assert report(list(mutants(1, seed))) == ""


def test_some() -> None:
    assert report(list(mutants(400))) == ""


@pytest.mark.long
@pytest.mark.parametrize("block", range(20))
def test_many(block: int) -> None:
    assert report(list(mutants(500, 400 + 500 * block))) == ""

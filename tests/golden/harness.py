"""Specs as text, compiled all the way and run on the host model, many at a time.

A case is a spec whose name no other case of the batch has. `check_all` gives back what is wrong, with the spec's text:
the compiler refused it, the race checker did, g++ did, a run had findings, or an output differs from its reference.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

from pypto_spec.check import check_program
from pypto_spec.convert.to_ir import convert
from pypto_spec.diagnostics.model import CompileError, Severity, Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.golden.compare import Allowed, compare
from pypto_spec.golden.run import AUTO_BLOCKS, GoldenRun, Subject, sizes
from pypto_spec.host.compile import CompileError as CxxError
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.host.run import HostLibrary
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import Memory
from pypto_spec.ops.instructions import effects
from pypto_spec.passes.base import Context
from pypto_spec.passes.pipeline import run
from pypto_spec.render.model import RenderedProgram
from pypto_spec.render.program import render_kernels
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import TARGETS, Target

BATCH = 80
"""Kernels in one call of the C++ compiler."""

EXACT = Allowed(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Case:
    """One spec. `exact`: outputs must be equal to the reference, but for those whose names end in `rough`.

    `expect` may compute the outputs from the inputs instead (exact float64 or int64 values by name, and the sizes).
    `vec` is the capacity of the vector memory in bytes, where it is not the target's own.
    """

    text: str
    exact: bool = False
    vec: int | None = None
    expect: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    allowed: Allowed | None = None
    schedules: int = 2
    rough: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that went wrong, and how."""

    case: Case
    stage: str
    message: str

    def __str__(self) -> str:
        vec = f" (with {self.case.vec} bytes of vec)" if self.case.vec is not None else ""
        return f"{self.stage}{vec}: {self.message}\n{self.case.text}"


@dataclass(frozen=True, slots=True)
class Made:
    """A case down to its kernels."""

    case: Case
    frontend: Program
    program: Program
    rendered: RenderedProgram


@cache
def target(name: str, vec: int | None) -> Target:
    """The target, perhaps with less vector memory."""
    found = TARGETS[name]
    return found if vec is None else replace(found, capacity={**found.capacity, Memory.VEC: vec})


def make(case: Case) -> Made | Failure:
    """Compile one case, checker included, and render it."""
    stage = "frontend"
    sink = Sink()
    try:
        program = frontend = convert(load_document(Source("case.yaml", case.text), "yaml"), sink)
        sink.stop_on_errors()
        stage = "passes"
        context = Context(target(program.target.platform, case.vec), sink)
        program = run(program, context)
        stage = "checker"
        check_program(program, context.target, sink, effects)
        sink.stop_on_errors()
        stage = "render"
        return Made(case, frontend, program, render_kernels(program))
    except CompileError as error:
        wrong = [d for d in (*sink.found, *error.diagnostics) if d.level is Severity.ERROR]
        said = dict.fromkeys(f"{d.rule.code}: {d.message}" for d in wrong)
        return Failure(case, stage, "; ".join(said) or str(error))


def _kernels(made: Made) -> list[KernelSource]:
    return [KernelSource(k.name, k.text) for k in made.rendered.kernels]


def _compile(batch: Sequence[Made]) -> dict[int, HostLibrary | str]:
    """A library for each case of the batch, or what g++ says of it."""
    try:
        together = compile_kernels([k for made in batch for k in _kernels(made)])
        return {id(made): together for made in batch}
    except CxxError as error:
        if len(batch) == 1:
            return {id(batch[0]): str(error)}
        return {key: value for made in batch for key, value in _compile([made]).items()}


def execute(made: Made, library: HostLibrary) -> Failure | None:
    """Run one case over its schedules and sizes and compare."""
    case = made.case
    subject = Subject(made.frontend, made.program, made.rendered, library)
    for values in sizes(made.program):
        try:
            golden = GoldenRun(subject, values, seed=0)
        except Exception as error:
            return Failure(case, "reference", f"{type(error).__name__}: {error}")
        expected = golden.expected if case.expect is None else case.expect(_exact(golden))
        for schedule in range(case.schedules):
            outputs, faults = golden.run(schedule, AUTO_BLOCKS[schedule % len(AUTO_BLOCKS)])
            if faults:
                return Failure(case, f"schedule {schedule}", "; ".join(str(f) for f in faults[:3]))
            for tensor in golden.outputs:
                dtype = tensor.type.dtype
                exact = case.exact and not (case.rough and tensor.name.endswith(case.rough))
                allowed = EXACT if exact else (case.allowed or golden.allowed(tensor))
                wrong = compare(tensor.name, outputs[tensor.name], expected[tensor.name], dtype, allowed)
                if wrong is not None:
                    return Failure(case, f"schedule {schedule}, sizes {values}", str(wrong))
    return None


def _exact(golden: GoldenRun) -> dict[str, Any]:
    given = {**golden.inputs, **golden.scalars}
    exact = {name: value.double() if value.is_floating_point() else value.long() for name, value in given.items()}
    return {**exact, **{symbol.name: value for symbol, value in golden.values.items()}}


def _batches(cases: Iterable[Made], size: int) -> Iterable[list[Made]]:
    waiting = iter(cases)
    while batch := list(islice(waiting, size)):
        yield batch


def check_all(cases: Sequence[Case], batch: int = BATCH) -> list[Failure]:
    """Compile and run every case; g++ works on one batch while others are prepared and run."""
    failures: list[Failure] = []
    made: list[Made] = []
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        waiting = []
        group: list[Made] = []
        for case in cases:
            one = make(case)
            if isinstance(one, Failure):
                failures.append(one)
                continue
            group.append(one)
            made.append(one)
            if len(group) == batch:
                waiting.append(pool.submit(_compile, group))
                group = []
        if group:
            waiting.append(pool.submit(_compile, group))
        libraries: dict[int, HostLibrary | str] = {}
        done = iter(waiting)
        for one in made:
            while id(one) not in libraries:
                libraries.update(next(done).result())
            library = libraries[id(one)]
            failed = Failure(one.case, "g++", library) if isinstance(library, str) else execute(one, library)
            if failed is not None:
                failures.append(failed)
    return failures


def report(failures: Sequence[Failure], most: int = 5) -> str:
    """The failures as text for an assertion, the first few in full."""
    shown = "\n\n".join(str(f) for f in failures[:most])
    rest = "".join(f"\n... {f.stage}: {f.message[:200]}" for f in failures[most:40])
    return f"{len(failures)} cases failed:\n{shown}{rest}"


def assert_good(cases: Sequence[Case]) -> None:
    """Every case must come out right."""
    failures = check_all(cases)
    assert not failures, report(failures)

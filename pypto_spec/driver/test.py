"""`pypto-spec test`: goldens of many specs; their kernels are compiled in batches, and they run side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from time import perf_counter

from pypto_spec.diagnostics.model import Diagnostic, diagnose, has_errors
from pypto_spec.diagnostics.rules.internal import INTERNAL_ERROR
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.build import DIALECTS, no_dialect
from pypto_spec.driver.faults import outcome_findings
from pypto_spec.driver.inputs import Gathered, Spec, UsageError
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.driver.timeline import run_timeline
from pypto_spec.driver.workers import Died, cores, run_all
from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.goldens import golden_test
from pypto_spec.golden.need_torch import TorchMissingError, torch
from pypto_spec.golden.run import Outcome, Subject
from pypto_spec.host.compile import CompileError, CompilerMissingError, KernelSource, MachineError, compile_kernels
from pypto_spec.records import dataclass
from pypto_spec.render.model import RenderedProgram
from pypto_spec.render.program import render_kernels
from pypto_spec.report.timeline import Timeline
from pypto_spec.report.timeline.machine import StuckError

BATCH = 12
"""Most kernels in one call of the C++ compiler."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TestOptions:
    """What the command line says."""

    __test__ = False

    schedules: int = 5
    seed: int = 0
    jobs: int = 0
    defines: Mapping[str, str] = field(default_factory=dict)
    debug: bool = False
    timeline: bool = False
    timing: bool = False
    """Only time the kernels: no data is drawn, moved or compared."""


@dataclass(slots=True)
class Tested:
    """What came of one spec; `outcome` is None where it did not get as far as running.

    `timeline` is there where it was asked for and the run was good.
    """

    spec: Spec
    compiled: Compiled
    rendered: RenderedProgram | None = None
    subject: Subject | None = None
    outcome: Outcome | None = None
    timeline: Timeline | None = None
    seconds: float = 0.0
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether it ran and every run was good."""
        return self.outcome is not None and self.outcome.ok and not has_errors(self.findings)


def prepare(specs: Sequence[Spec], defines: Mapping[str, str], jobs: int = 0, debug: bool = False) -> list[Tested]:
    """Compile specs down to kernels loaded for the host model. Raises UsageError where torch or g++ is missing."""
    made = [rendered(spec, defines, debug) for spec in specs]
    make_ready(made, jobs)
    return made


def rendered(spec: Spec, defines: Mapping[str, str], debug: bool = False) -> Tested:
    """Compile one spec down to the text of its kernels."""
    done = compile_spec(spec, defines=defines, keep_stages=True, debug=debug)
    tested = Tested(spec, done, findings=list(done.findings))
    if done.program is None:
        return tested
    if done.program.target.platform not in DIALECTS:
        tested.findings.append(no_dialect(done))
        return tested
    tested.rendered = render_kernels(done.program, spec.sha256 if done.program.dump is None else None)
    return tested


def make_ready(made: Sequence[Tested], jobs: int = 0) -> None:
    """Load the kernels of what was rendered for the host model. Raises UsageError where torch or g++ is missing."""
    ready = [t for t in made if t.rendered is not None]
    if not ready:
        return
    try:
        _compile_batches(ready, jobs or cores())
        for tested in ready:
            _load(tested)
    except (CompilerMissingError, MachineError, TorchMissingError) as error:
        raise UsageError(str(error)) from error


def _kernels(tested: Tested) -> list[KernelSource]:
    assert tested.rendered is not None
    return [KernelSource(k.name, k.text) for k in tested.rendered.kernels]


def _compile_batches(ready: Sequence[Tested], jobs: int) -> None:
    """Fill the cache of compiled kernels; a batch that is refused is left for `_load` to find out which it was."""
    from concurrent.futures import ThreadPoolExecutor

    batches: list[dict[str, KernelSource]] = []
    for kernel in (k for tested in ready for k in _kernels(tested)):
        home = next(
            (b for b in batches if b.get(kernel.name, kernel) == kernel and (len(b) < BATCH or kernel.name in b)), None
        )
        if home is None:
            home = {}
            batches.append(home)
        home[kernel.name] = kernel
    with ThreadPoolExecutor(max(1, min(jobs, len(batches)))) as pool:
        waiting = [pool.submit(compile_kernels, list(batch.values())) for batch in batches]
        torch()  # the import takes longer than anything else here, so it runs beside the C++ compiler
        for one in waiting:
            try:
                one.result()
            except CompileError:
                continue


def _load(tested: Tested) -> None:
    assert tested.rendered is not None and tested.compiled.program is not None
    try:
        library = compile_kernels(_kernels(tested))
    except CompileError as error:
        loc = tested.compiled.program.loc
        tested.findings.append(
            diagnose(
                INTERNAL_ERROR, loc.span, f"the rendered C++ does not compile: {str(error).splitlines()[0]}",
                notes=[str(error), "this is a bug of the compiler, not of the spec"],
            )
        )  # fmt: skip
        return
    tested.subject = Subject(tested.compiled.frontend, tested.compiled.program, tested.rendered, library)


def run_goldens(gathered: Gathered, options: TestOptions, progress: Progress | None = None) -> Iterator[Tested]:
    """The result of every spec, in the order of the specs."""
    yield from run_prepared(prepare(gathered.specs, options.defines, options.jobs, options.debug), options, progress)


def run_prepared(made: Sequence[Tested], options: TestOptions, progress: Progress | None = None) -> Iterator[Tested]:
    """The results of what `make_ready` loaded, in that order."""
    subjects = [t.subject for t in made if t.subject is not None]

    def work(place: int) -> tuple[Outcome, float, Timeline | None]:
        started = perf_counter()
        subject = subjects[place]
        if options.timing:
            outcome, timeline = _timed(subject, options.seed)
            return outcome, perf_counter() - started, timeline
        outcome = golden_test(subject, schedules=options.schedules, seed=options.seed)
        seconds = perf_counter() - started
        wanted = options.timeline and outcome.ok
        return outcome, seconds, run_timeline(subject, seed=options.seed) if wanted else None

    if progress is not None:
        progress(0, len(subjects))
    results = run_all(work, len(subjects), options.jobs or cores())
    done = 0
    for tested in made:
        if tested.subject is not None:
            result = next(results)
            if isinstance(result, Died):
                tested.findings.append(_died(tested, result))
            else:
                tested.outcome, tested.seconds, tested.timeline = result
                tested.findings += outcome_findings(tested.spec, tested.subject, tested.outcome)
            done += 1
            if progress is not None:
                progress(done, len(subjects))
        yield tested


def _timed(subject: Subject, seed: int) -> tuple[Outcome, Timeline | None]:
    """A run of the kernels and their queues without data, for the modelled timeline alone."""
    outcome = Outcome(subject.program.name, "timing only", runs=1)
    try:
        return outcome, run_timeline(subject, seed=seed, data=False)
    except (GoldenError, StuckError) as error:
        outcome.error = str(error)
        return outcome, None


def _died(tested: Tested, result: Died) -> Diagnostic:
    assert tested.compiled.program is not None
    return diagnose(
        INTERNAL_ERROR,
        tested.compiled.program.loc.span,
        f"the golden run failed: {result.why}",
        notes=[*([result.traceback] if result.traceback else []), "this is a bug of the compiler, not of the spec"],
    )


def test_text(  # not a test of ours: what the pages' tests call
    text: str,
    name: str = "<text>",  # noqa: PT028
    defines: Mapping[str, str] | None = None,  # noqa: PT028
) -> list[Diagnostic]:
    """The findings of the golden test of a text."""
    from pypto_spec.spec.load import format_of

    spec = Spec(Source(name, text), format_of(name), text.encode())
    options = TestOptions(jobs=1, defines=dict(defines or {}))
    return [d for tested in run_goldens(Gathered([spec]), options) for d in tested.findings]

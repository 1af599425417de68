"""`pypto-spec tune`: the constants of a spec with the smallest modelled makespan whose golden is good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from time import perf_counter

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.rules.internal import INTERNAL_ERROR
from pypto_spec.driver.build import DIALECTS
from pypto_spec.driver.inputs import Spec, UsageError
from pypto_spec.driver.session import INTERNAL, compile_spec
from pypto_spec.driver.tuning.candidate import Candidate, Modelled, Refused, model, refused
from pypto_spec.driver.tuning.ranking import Ranking, rank
from pypto_spec.driver.tuning.space import Space, known_names, plain
from pypto_spec.driver.workers import Died, cores, run_all
from pypto_spec.records import dataclass
from pypto_spec.spec.formula.constants import resolve_constants
from pypto_spec.spec.formula.integer import Value
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import MappingNode, ScalarNode
from pypto_spec.spec.variants import read_variants

Progress = Callable[[int, int, str], None]
"""How many are done, of how many, and what it is."""


PAYS_FROM = 1.0
"""Seconds of work from which on more processes are quicker than one, judged by the first candidate."""


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """What the command line says; `goldens` is how many candidates are to be proven, 0 for none."""

    goldens: int
    jobs: int = 0
    seed: int = 0
    schedules: int = 5


@dataclass(slots=True)
class Tuning:
    """What came of it. `current` are the values of the spec as it is, one of the candidates or a row besides.

    `winner` is the best candidate whose golden is good, or, where none are run, the best. Without one, `why` says what
    is in the way, and `findings` what is wrong with the spec.
    """

    spec: Spec
    space: Space
    ranking: Ranking
    current: Candidate
    winner: Candidate | None = None
    why: str | None = None
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether the compiler itself failed on a candidate."""
        return any(isinstance(c.result, Refused) and c.result.code in INTERNAL for c in self.ranking.refused)

    def defines(self, candidate: Candidate) -> dict[str, str]:
        """All constants that a candidate sets."""
        return {**self.space.fixed, **candidate.choice}


def tune_spec(spec: Spec, space: Space, options: TuneOptions, progress: Progress | None = None) -> Tuning:
    """Model all candidates, and run the goldens of the best.

    Raises UsageError where the space is none of this spec, or goldens cannot be run here, and CompileError where the
    spec cannot be read.
    """
    reader = _Reader(spec, space)
    current = Candidate({}, reader.values({}), model(spec, space.fixed))
    candidates = _modelled(reader, options, progress)
    same = next((c for c in candidates if c.values == current.values), None)
    made = Tuning(spec, space, rank(candidates, current, space.names), same or current)
    if not made.ranking.ranked:
        made.why = "no candidate gives a program" if made.ranking.refused else "there is no candidate"
        shown = compile_spec(spec, defines=made.defines(made.current))
        made.findings = [] if shown.ok else shown.findings
        return made
    best = made.ranking.ranked[0]
    if not best.figures.timeline.complete:
        made.why = (
            "no candidate can be modelled to its end, so there is nothing to compare; make the sizes smaller: `sizes` "
            "of the golden, or a constant that is fixed with -D"
        )
    elif options.goldens == 0:
        made.winner = best
    else:
        _prove(made, options, progress)
    return made


class _Reader:
    """The constants of a spec, and what the values of a choice mean in it."""

    def __init__(self, spec: Spec, space: Space) -> None:
        self.spec = spec
        self.space = space
        root = load(spec.source, spec.format)
        self.section = root.get("constants")
        names = [key.text for key, _ in self.section.items] if isinstance(self.section, MappingNode) else []
        matrix = root.find("variants", "matrix")
        axes = [key.text for key, _ in matrix.items] if isinstance(matrix, MappingNode) else []
        known_names(space, names, axes, spec.name)
        variants, _ = read_variants(root, space.fixed)
        chosen = next((v for v in variants if v.key == spec.variant), None)
        self.nodes: Mapping[str, ScalarNode] | None = chosen.nodes if chosen is not None else None

    def values(self, choice: Mapping[str, str]) -> tuple[Value, ...]:
        """The values of the axes; where something is wrong, what their texts mean by themselves."""
        found, errors = resolve_constants(self.section, {**self.space.fixed, **choice}, self.nodes)
        if not errors:
            return tuple(found[name].value for name in self.space.names)
        written = {name: choice.get(name, "") for name in self.space.names}
        return tuple(text if (value := plain(text)) is None else value for text in written.values())


def _modelled(reader: _Reader, options: TuneOptions, progress: Progress | None) -> list[Candidate]:
    """All candidates, side by side where that pays."""
    spec, space = reader.spec, reader.space
    choices = list(space.choices())

    def work(place: int) -> Modelled | Refused:
        return model(spec, {**space.fixed, **choices[place]})

    def results() -> Iterator[Modelled | Refused | Died]:
        started = perf_counter()
        yield from run_all(work, 1, 1)
        left = len(choices) - 1
        alone = (perf_counter() - started) * left < PAYS_FROM
        yield from run_all(lambda place: work(place + 1), left, options.jobs or (1 if alone else cores()))

    made: list[Candidate] = []
    for result in results():
        choice = choices[len(made)]
        if isinstance(result, Died):
            result = Refused(INTERNAL_ERROR.code, result.why)
        made.append(Candidate(choice, reader.values(choice), result))
        if progress is not None:
            progress(len(made), len(choices), "modelled")
    return made


def _prove(tuning: Tuning, options: TuneOptions, progress: Progress | None) -> None:
    """Run goldens, best candidates first, until enough are good.

    Where none of the first is good and that of the current values is not either, the golden is to blame and no more
    are run.
    """
    _can_run(tuning.ranking.ranked[0].figures.timeline.platform)
    waiting = [c for c in tuning.ranking.ranked if c.figures.timeline.complete]
    current = tuning.current
    good = 0
    while waiting and good < options.goldens:
        batch, waiting = waiting[: options.goldens - good], waiting[options.goldens - good :]
        if progress is not None:
            progress(good, options.goldens, "goldens good")
        _run(tuning, [c for c in batch if c.golden is None], options)
        good += sum(c.golden is True for c in batch)
        if good:
            continue
        if current.golden is None and isinstance(current.result, Modelled):
            _run(tuning, [current], options)
        if current.golden is False:
            break
    proven = (c for c in tuning.ranking.ranked if c.golden)
    tuning.winner = next(proven, None)
    if tuning.winner is None:
        if current.golden is False:
            given = "".join(f" -D {name}={text}" for name, text in tuning.space.fixed.items())
            command = f"pypto-spec test {tuning.spec.name}{given}"
            tuning.why = f"the golden fails with the current values as well; `{command}` says why"
        else:
            tuning.why = "the golden of no candidate is good"


def _can_run(platform: str) -> None:
    if platform not in DIALECTS:
        raise UsageError(f"goldens cannot be run for `{platform}`; rank without them: --goldens 0")


def _run(tuning: Tuning, batch: Sequence[Candidate], options: TuneOptions) -> None:
    """Run the goldens of some candidates."""
    from pypto_spec.driver.test import TestOptions, make_ready, rendered, run_prepared

    made = [rendered(tuning.spec, tuning.defines(candidate)) for candidate in batch]
    chosen = TestOptions(options.schedules, options.seed, options.jobs)
    try:
        make_ready(made, options.jobs)
    except UsageError as error:
        raise UsageError(f"{error}\nwithout goldens, nothing of that is needed: --goldens 0") from error
    for candidate, tested in zip(batch, run_prepared(made, chosen), strict=True):
        candidate.golden = tested.ok
        if not tested.ok:
            candidate.said = refused(tested.findings)

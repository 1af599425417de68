"""`pypto-spec mutate`: every flag and barrier is taken away in turn; host model and checker must object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field

from pypto_spec.driver.inputs import Gathered
from pypto_spec.driver.test import Tested, TestOptions, prepare
from pypto_spec.driver.workers import Died, cores, run_all
from pypto_spec.golden.mutate import judge
from pypto_spec.records import dataclass


@dataclass(slots=True)
class Mutated:
    """What came of one spec's mutants: how many of each kind, and those that somebody let pass, in words."""

    tested: Tested
    kinds: Counter[str] = field(default_factory=Counter)
    survivors: list[str] = field(default_factory=list)
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether no mutant is left alive."""
        return not self.survivors and self.error is None and self.tested.subject is not None


def mutate_specs(gathered: Gathered, options: TestOptions) -> Iterator[Mutated]:
    """The mutants of every spec, in the order of the specs. Raises UsageError without torch or g++."""
    made = prepare(gathered.specs, options.defines, options.jobs)
    subjects = [t.subject for t in made if t.subject is not None]

    def work(place: int) -> tuple[Counter[str], list[str]]:
        verdicts = judge(subjects[place])
        kinds = Counter(str(v.mutant.kind) for v in verdicts)
        alive = [f"{v.mutant}: {_missing(v.host, v.race, v.checker)}" for v in verdicts if not v.dead]
        return kinds, alive

    results = run_all(work, len(subjects), options.jobs or cores())
    for tested in made:
        mutated = Mutated(tested)
        if tested.subject is not None:
            result = next(results)
            if isinstance(result, Died):
                mutated.error = result.why
            else:
                mutated.kinds, mutated.survivors = result
        yield mutated


def _missing(host: bool, race: bool, checker: bool) -> str:
    said = [("the host model objects", host), ("names a race", race), ("the checker objects", checker)]
    return ", ".join(f"{word}: {'yes' if yes else 'no'}" for word, yes in said)

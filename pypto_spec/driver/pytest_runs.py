"""Goldens for the pytest plugin: all collected specs are compiled together, each runs when its turn comes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pypto_spec.diagnostics.model import Severity, has_errors
from pypto_spec.diagnostics.render import render
from pypto_spec.driver.faults import outcome_findings
from pypto_spec.driver.inputs import UsageError, gather
from pypto_spec.driver.test import Tested, prepare
from pypto_spec.driver.variants import expand
from pypto_spec.golden.goldens import golden_test


def variant_keys(file: str) -> list[str | None]:
    """The keys of the variants of a spec; None alone where it has none."""
    try:
        return [spec.variant for spec in expand(gather([os.path.relpath(file)]), {}).specs] or [None]
    except UsageError:
        return [None]


class Runner:
    """The specs of one pytest session."""

    def __init__(self, files: Sequence[str]) -> None:
        self.problem: str | None = None
        self.tested: dict[tuple[str, str | None], Tested] = {}
        self.unread = ""
        try:
            gathered = expand(gather([os.path.relpath(file) for file in files]), {})
            self.unread = render(gathered.findings)
            self.tested = {(os.path.abspath(t.spec.name), t.spec.variant): t for t in prepare(gathered.specs, {})}
        except UsageError as error:
            self.problem = str(error)

    def run(self, file: str, variant: str | None, schedules: int, seed: int) -> str:
        """What is wrong with one spec, or one variant of it; empty where its golden is good."""
        if self.problem is not None:
            return self.problem
        tested = self.tested.get((os.path.abspath(file), variant))
        if tested is None:
            return self.unread or f"{file} cannot be read"
        findings = list(tested.findings)
        if tested.subject is not None:
            outcome = golden_test(tested.subject, schedules=schedules, seed=seed)
            findings += outcome_findings(tested.spec, tested.subject, outcome)
        errors = [d for d in findings if d.level is Severity.ERROR]
        return render(errors) if has_errors(findings) else ""

"""Goldens for the pytest plugin: all collected specs are compiled together, each runs when its turn comes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.render import render
from pypto_spec.driver.faults import outcome_findings
from pypto_spec.driver.inputs import UsageError, gather
from pypto_spec.driver.session import has_errors
from pypto_spec.driver.test import Tested, prepare
from pypto_spec.golden.run import golden_test


class Runner:
    """The specs of one pytest session."""

    def __init__(self, files: Sequence[str]) -> None:
        self.problem: str | None = None
        self.tested: dict[str, Tested] = {}
        self.unread = ""
        try:
            gathered = gather([os.path.relpath(file) for file in files])
            self.unread = render(gathered.findings)
            self.tested = {os.path.abspath(t.spec.name): t for t in prepare(gathered.specs, {})}
        except UsageError as error:
            self.problem = str(error)

    def run(self, file: str, schedules: int, seed: int) -> str:
        """What is wrong with one spec; empty where its golden is good."""
        if self.problem is not None:
            return self.problem
        tested = self.tested.get(os.path.abspath(file))
        if tested is None:
            return self.unread or f"{file} cannot be read"
        findings = list(tested.findings)
        if tested.subject is not None:
            outcome = golden_test(tested.subject, schedules=schedules, seed=seed)
            findings += outcome_findings(tested.spec, tested.subject, outcome)
        errors = [d for d in findings if d.level is Severity.ERROR]
        return render(errors) if has_errors(findings) else ""

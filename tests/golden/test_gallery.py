"""The gallery is right: every golden over several schedules, and no mutant of its kernels is left alive."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pypto_spec.driver.inputs import gather

pytest.importorskip("torch")

SPECS = Path(__file__).parents[2] / "specs"


def test_every_golden_passes_over_several_schedules() -> None:
    from pypto_spec.driver.test import TestOptions, run_goldens

    tested = list(run_goldens(gather([str(SPECS)]), TestOptions(schedules=6)))
    assert len(tested) >= 20
    assert [(t.spec.name, [d.message for d in t.findings]) for t in tested if not t.ok] == []
    outcomes = [t.outcome for t in tested if t.outcome is not None]
    assert {o.label for o in outcomes} == {"golden", "python"}
    assert min(o.runs for o in outcomes) >= 6


def test_no_mutant_is_left_alive() -> None:
    from pypto_spec.driver.mutate import mutate_specs
    from pypto_spec.driver.test import TestOptions

    totals: Counter[str] = Counter()
    for one in mutate_specs(gather([str(SPECS)]), TestOptions()):
        assert one.ok, (one.tested.spec.name, one.error, one.survivors)
        totals += one.kinds
    assert set(totals) == {"set", "wait", "dependency", "barrier", "inner barrier"}
    assert min(totals.values()) > 20

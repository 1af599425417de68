"""What is said of pipelines that lose depth, and of one that does not fit at all."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.render import render
from pypto_spec.driver.check import check_text
from pypto_spec.passes import memory_reuse
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.stages import depth
from tests.driver.test_depth_advice import BESIDE, CONSTANTS, LITERALS, NESTED
from tests.passes.packed_specs import KEPT

SPECS = {
    "stages alone": CONSTANTS,
    "literals": LITERALS,
    "tiles beside": BESIDE,
    "nested": NESTED,
    "gaps": KEPT,
    "as much as a loop": CONSTANTS.replace("TR: 64", "TR: 256"),
    "promoted": LITERALS.replace("tensors:", "diagnostics: {error: [PH-MR-001]}\ntensors:", 1),
}


@pytest.mark.parametrize("name", SPECS)
def test_text(name: str, monkeypatch: pytest.MonkeyPatch, text_snapshot: SnapshotAssertion) -> None:
    for module in (exact, memory_reuse, depth):
        monkeypatch.setattr(module, "installed", lambda: False)
    assert render(check_text(SPECS[name], "kernel.yaml", {})) == text_snapshot

"""What a kernel author reads after a typical mistake, and whether the way out that it names works."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import Compilation, compile_source
from tests.messages.cube_mistakes import CUBE, CUBE_MISTAKES
from tests.messages.mistakes import GOOD, MISTAKES, TOML, Mistake

ALL = (*MISTAKES, *CUBE_MISTAKES)


def compiled(mistake: Mistake, new: str) -> Compilation:
    assert mistake.base.count(mistake.old) >= 1
    name = "kernel.toml" if mistake.base is TOML else "kernel.yaml"
    return compile_source(Source(name, mistake.base.replace(mistake.old, new, 1)))


@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: mistake.name)
def test_message(mistake: Mistake, text_snapshot: SnapshotAssertion) -> None:
    found = compiled(mistake, mistake.new).diagnostics
    assert mistake.code in [d.rule.code for d in found]
    assert render(found) == text_snapshot


@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: mistake.name)
def test_every_message_names_a_place_and_a_way_out(mistake: Mistake) -> None:
    for found in compiled(mistake, mistake.new).diagnostics:
        assert found.primary.text, "no label"
        assert found.helps, "no help"


@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: mistake.name)
def test_way_out_works(mistake: Mistake) -> None:
    done = compiled(mistake, mistake.way_out)
    assert done.ok, render(done.diagnostics)


@pytest.mark.parametrize("text", [GOOD, TOML, CUBE], ids=["yaml", "toml", "cube"])
def test_the_specs_themselves_are_good(text: str) -> None:
    name = "kernel.toml" if text is TOML else "kernel.yaml"
    assert [d for d in compile_source(Source(name, text)).diagnostics if d.level is Severity.ERROR] == []

"""Depth that the author insists on: kept by an exact placement where OR-tools is installed, else an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.check import check_text
from pypto_spec.driver.compile import compile_source
from pypto_spec.passes import memory_reuse
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.stages import depth
from tests.cli.run import run
from tests.passes.packed_specs import KEPT, ONLY_EXACT

needs_ortools = pytest.mark.skipif(not exact.installed(), reason="needs OR-tools: pip install 'pypto-spec[exact]'")

WHERE = {
    "spec": ("tensors:", "diagnostics: {error: [PH-MR-001]}\ntensors:"),
    "loop": ("stages: 2}", "stages: 2}\n        error: [PH-MR-001]"),
    "name": ("stages: 2}", "stages: 2}\n        error: [pipeline-depth]"),
}

TOO_MUCH = KEPT.replace("shape: [56, 128]", "shape: [64, 128]").replace("i * 56", "i * 64").replace("[224,", "[256,")


def promoted(text: str, where: str) -> str:
    return text.replace(*WHERE[where], 1)


def built(text: str, folder: Path) -> tuple[Result, Path]:
    """What a build into a folder says, and the folder."""
    file, out = folder / "kept.yaml", folder / "out"
    file.write_text(text)
    return run("build", str(file), "-o", str(out)), out


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if OR-tools were not installed."""
    for module in (exact, memory_reuse, depth):
        monkeypatch.setattr(module, "installed", lambda: False)


@needs_ortools
@pytest.mark.parametrize("where", WHERE)
def test_an_exact_placement_keeps_the_depth(where: str, tmp_path: Path) -> None:
    done, out = built(promoted(KEPT, where), tmp_path)
    assert done.exit_code == 0, done.output
    assert "PH-MR-001" not in done.output
    (kernel,) = json.loads((out / "manifest.json").read_text())["kernels"]
    assert kernel["placed_by"] == {"vec": "exact"}
    report = (out / "report/memory.txt").read_text().splitlines()
    assert report[1] == "  vec: 188416 of 188416 B (100.0 %), placed by exact"
    assert report[2].endswith(": 2 of 2 stages have buffers of up to 28672 B")


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.usefixtures("hidden")
def test_without_ortools_it_is_an_error_and_nothing_is_written(where: str, tmp_path: Path) -> None:
    done, out = built(promoted(KEPT, where), tmp_path)
    assert done.exit_code == 1
    assert "error[PH-MR-001]: the pipeline asks for 2 stages and gets 1: in `vec` 1 of 2 buffers fit" in done.output
    assert "or install the exact search, which may still keep them apart" in done.output
    assert not out.exists()
    assert run("check", str(tmp_path / "kept.yaml")).exit_code == 1


@pytest.mark.parametrize("where", WHERE)
def test_where_nothing_keeps_it_it_is_an_error(where: str, tmp_path: Path) -> None:
    done, out = built(promoted(TOO_MUCH, where), tmp_path)
    assert done.exit_code == 1
    assert "error[PH-MR-001]" in done.output
    assert "exact" not in done.output
    assert not out.exists()


@needs_ortools
def test_a_hint_only_advises_the_exact_placement() -> None:
    done = compile_source(Source("k.yaml", KEPT))
    (found,) = done.diagnostics
    assert found.level is Severity.HINT
    assert depth.ADVISED in found.helps
    assert done.program is not None
    assert {b.planner for b in done.program.buffers} == {"first_fit"}
    assert [(d.requested, d.achieved) for d in done.depths] == [(2, 1)]


@pytest.mark.usefixtures("hidden")
def test_without_ortools_a_hint_says_how_to_install_it() -> None:
    (found,) = compile_source(Source("k.yaml", KEPT)).diagnostics
    assert found.level is Severity.HINT
    assert any("pip install" in text for text in found.helps)
    assert depth.ADVISED not in found.helps


def test_a_trial_asks_no_search_and_promotes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object) -> exact.Answer:
        raise AssertionError("a trial must not search")

    monkeypatch.setattr(memory_reuse, "fits", never)
    for where in WHERE:
        (found,) = compile_source(Source("k.yaml", promoted(KEPT, where)), trial=True).diagnostics
        assert found.level is Severity.HINT


def test_a_hint_that_nobody_hears_asks_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object) -> exact.Answer:
        raise AssertionError("nobody is told")

    monkeypatch.setattr(memory_reuse, "fits", never)
    silent = KEPT.replace("stages: 2}", "stages: 2}\n        allow: [PH-MR-001]")
    assert compile_source(Source("k.yaml", silent)).diagnostics == []


@needs_ortools
def test_what_only_the_exact_search_places_keeps_its_depth_as_well() -> None:
    done = compile_source(Source("k.yaml", ONLY_EXACT))
    assert done.diagnostics == []
    assert [(d.requested, d.achieved) for d in done.depths] == [(2, 2)]
    assert done.program is not None
    assert {b.planner for b in done.program.buffers} == {"exact"}


@pytest.mark.usefixtures("hidden")
def test_what_only_the_exact_search_places_is_an_overflow_without_it() -> None:
    (found,) = check_text(ONLY_EXACT, "k.yaml")
    assert found.rule.code == "PS4001"
    assert any("pip install" in text for text in found.helps)

"""The figures of the L0 tile chooser: all of them, with their sources."""

from __future__ import annotations

import dataclasses

import pytest

from pypto_spec.targets import A2A3, A5, TARGETS
from pypto_spec.targets.l0 import MEANINGS, UNITS, L0Costs

PUBLISHED = {
    # figure: (a2a3, a5), from PyPTO's backend handlers
    "left_bandwidth": (129.7, 206.3),
    "right_bandwidth": (85.4, 223.8),
    "drain_bandwidth": (118.0, 30.0),
    "drain_fixed": (164.0, 343.4),
    "drain_row": (4.45, 4.59),
    "drain_penalty": (2.6, 0.26),
    "drain_block": (32, 32),
    "mad_head": (21, 25),
    "mad_fractal": (32, 32),
    "mad_fp32_passes": (2, 8),
    "fractal": (16, 16),
    "int32_rows": (32, 16),
}

FIGURES = {f.name for f in dataclasses.fields(L0Costs)} - {"sources"}


def test_every_figure_has_a_source_a_unit_and_a_meaning() -> None:
    assert set(UNITS) == set(MEANINGS) == FIGURES
    for target in TARGETS.values():
        assert {name for name in FIGURES if target.l0.sources.get(name)} == FIGURES
        assert set(target.l0.sources) == FIGURES


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_figures_are_the_published_ones(name: str) -> None:
    assert (getattr(A2A3.l0, name), getattr(A5.l0, name)) == PUBLISHED[name]


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_what_differs_has_a_source_of_its_own(name: str) -> None:
    same = getattr(A2A3.l0, name) == getattr(A5.l0, name)
    assert (A2A3.l0.sources[name] == A5.l0.sources[name]) == same


def test_sources_do_not_tell_two_tables_apart() -> None:
    """Choices are kept by their problem, which holds the figures."""
    renamed = dataclasses.replace(A2A3.l0, sources={})
    assert renamed == A2A3.l0
    assert hash(renamed) == hash(A2A3.l0)
    assert A2A3.l0 != A5.l0

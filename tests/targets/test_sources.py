"""Every figure of a target says where it comes from, and a5 does not lend what differs from a2a3's sources."""

from __future__ import annotations

import dataclasses

from pypto_spec.targets import A2A3, A5, TARGETS


def test_every_figure_has_a_source() -> None:
    for target in TARGETS.values():
        figures = {f.name for f in dataclasses.fields(target)} - {"name", "costs", "l0", "sources"}
        assert {name for name in figures if not target.sources.get(name)} == set()


def test_what_differs_has_a_source_of_its_own() -> None:
    for name in ("capacity", "vector_cores", "cube_cores", "gm_burst_bytes", "npu_arch", "builds"):
        assert getattr(A2A3, name) != getattr(A5, name)
        assert A2A3.sources[name] != A5.sources[name]

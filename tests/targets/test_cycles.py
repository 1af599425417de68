"""The cost table, and cycles worked out by hand."""

from __future__ import annotations

import dataclasses
from math import ceil

import pytest

from pypto_spec.ops.instructions import CALLS
from pypto_spec.targets import A2A3, A5, TARGETS
from pypto_spec.targets.costs import UNITS
from pypto_spec.targets.cycles import cycles


def test_every_figure_has_a_source_and_every_plain_one_a_unit() -> None:
    for target in TARGETS.values():
        costs = target.costs
        figures = {f.name for f in dataclasses.fields(costs)} - {"sources", "vector"}
        assert set(costs.sources) == figures | {f"vector.{call}" for call in costs.vector}
        assert set(UNITS) == figures - {"vector_default"}
        assert all(costs.sources.values())
        assert set(costs.vector) <= set(CALLS)


def test_a5_says_that_its_figures_are_those_of_a2a3() -> None:
    assert all("no published figure for Ascend 950" in source for source in A5.costs.sources.values())
    assert dataclasses.replace(A5.costs, sources=A2A3.costs.sources) == A2A3.costs


def test_bandwidths_are_converted_at_the_clock() -> None:
    assert A2A3.costs.bytes_per_cycle(100.9) == pytest.approx(58.5625, abs=1e-3)
    for gib in (100.9, 188.46, 1024.0):
        for size in (1, 31, 512, 32_768, 10**9):
            assert A2A3.costs.through(gib, size) == ceil(size / A2A3.costs.bytes_per_cycle(gib))


@pytest.mark.parametrize(
    ("pipe", "call", "bytes", "repeats", "active", "expected"),
    [
        ("v", "Exp", 32_768, 128, 1, 31 + 2 * 128),
        ("v", "Add", 32_768, 128, 1, 24 + 2 * 128),
        ("v", "Add", 400, 2, 1, 24 + 2 * 2 + 16),  # the second repeat is not full
        ("v", "Div", 256, 1, 1, 30 + 4),
        ("v", "WholeReduceSum", 16_384, 64, 1, 46 + 7 * 64),
        ("v", "ShiftLeft", 512, 2, 1, 6 + 2 * 2),  # no figure of its own
        ("v", "DataCopy", 32_768, 64, 1, 24 + 56),  # 594.3 B a cycle
        ("mte2", "DataCopy", 32_768, 1, 1, 214 + 560),  # 58.56 B a cycle
        ("mte2", "DataCopyPad", 16 * 32, 16, 1, 214 + 140),  # 16 rows of 32 B move 16 bursts of 512 B
        ("mte2", "DataCopy", 32_768, 1, 48, 214 + 2_048),  # 768 B a cycle for 48 cores
        ("mte3", "DataCopy", 32_768, 1, 1, 107 + 300),  # 109.4 B a cycle
        ("mte3", "DataCopy", 32_768, 1, 48, 107 + 763),  # 2,064 B a cycle for 48 cores
        ("s", "DumpTensor", 128, 1, 1, 1),
    ],
)
def test_cycles(pipe: str, call: str, bytes: int, repeats: int, active: int, expected: int) -> None:
    assert cycles(A2A3, pipe, call, bytes=bytes, repeats=repeats, active=active) == expected


def test_bursts_are_those_of_the_target() -> None:
    assert cycles(A5, "mte2", "DataCopyPad", bytes=16 * 32, repeats=16) == 214 + 35


@pytest.mark.parametrize(
    ("pipe", "form", "bytes", "repeats", "active", "readers", "expected"),
    [
        ("mte2", "DataCopy.nz", 65_536, 128, 1, None, 67 + 837),  # 78.36 B a cycle
        ("mte2", "DataCopy.nz", 65_536, 128, 24, None, 67 + 2_048),  # 768 B a cycle for 24 cores
        ("mte2", "DataCopy.nz", 65_536, 128, 24, 4, 67 + 837),  # 4 of them read GM, at 768; 24 read L2, at 2,640
        ("mte2", "DataCopy.nz", 128 * 32, 128, 1, None, 67 + 837),  # rows of 32 B move bursts of 512 B
        ("mte1", "LoadData.left", 32_768, 64, 1, None, 253),  # 129.7 B a cycle
        ("mte1", "LoadDataWithTranspose.left", 32_768, 64, 1, None, 253),
        ("mte1", "LoadData.right", 32_768, 64, 1, None, 384),  # 85.4 B a cycle
        ("mte1", "DataCopy.bias", 256, 1, 1, None, 20 + 8),
        ("m", "Mmad", 0, 8 * 16 * 4, 1, None, 21 + 512),  # fp16 128 x 256 x 64
        ("fix", "Fixpipe.gm", 128 * 1_024, 128, 1, None, 1_275),  # 164 + 128 rows of 256 fp32 at 118 B a cycle
        ("fix", "Fixpipe.gm", 64 * 64, 64, 1, None, 449),  # 164 + 64 rows at least 4.45 cycles each
        ("fix", "Fixpipe.gm", 64 * 192, 64, 1, None, 782),  # 24 blocks, of odd part 3: 5.2 cycles a row more
        ("fix", "Fixpipe.mat", 128 * 1_024, 128, 1, None, 20 + 512),
    ],
)
def test_cycles_of_the_cube(
    pipe: str, form: str, bytes: int, repeats: int, active: int, readers: int | None, expected: int
) -> None:
    assert cycles(A2A3, pipe, form, bytes=bytes, repeats=repeats, active=active, readers=readers) == expected

"""AutoTileMatmulL0: what it writes is what was there, in tiles that fit, and needs no more than PyPTO's does."""

from __future__ import annotations

import pytest

from pypto_spec.ir.types import Memory, TileType
from pypto_spec.targets import A2A3
from tests.passes.tiling_programs import LOADS, Run, differing, spec

FORMS = [
    ((64, 64, 512), "fp16"),
    ((48, 80, 336), "fp16"),
    ((40, 72, 1000), "fp16"),
    ((256, 256, 32), "fp32"),
    ((256, 256, 128), "fp32"),
    ((256, 256, 192), "bf16"),
    ((272, 272, 64), "bf16"),
    ((320, 320, 64), "bf16"),
    ((128, 512, 128), "fp16"),
    ((300, 200, 100), "int8"),
    ((100, 264, 300), "fp32"),
    ((16, 2048, 64), "fp16"),
]
TARGETS = ["", "planner: ptoas", "l0c_double_buffer: true"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("shape", "dtype"), FORMS, ids=lambda v: "x".join(map(str, v)) if isinstance(v, tuple) else v)
def test_the_tiles_are_the_matmul(shape: tuple[int, int, int], dtype: str, target: str) -> None:
    run = Run(spec(shape, dtype, target=target))
    assert differing(run) == []
    assert set(run.codes) <= {"PH-AT-008"}


@pytest.mark.parametrize(("shape", "dtype"), FORMS)
def test_what_is_written_fits(shape: tuple[int, int, int], dtype: str) -> None:
    run = Run(spec(shape, dtype), after="AutoTileMatmulL0")
    for name in ("extract", "move"):
        for op in run.ops(name):
            kind = op.result.type
            assert isinstance(kind, TileType) and kind.memory in (Memory.LEFT, Memory.RIGHT)
            assert kind.bytes <= A2A3.capacity[kind.memory]


def test_k_alone_is_a_pipeline_that_carries_the_accumulator() -> None:
    run = Run(spec((128, 256, 272)), after="AutoTileMatmulL0")
    (loop,) = run.loops()
    assert (loop.kind, loop.stages, len(loop.carries)) == ("pipeline", 2, 1)
    assert (loop.start, loop.stop, loop.step) == (0, 256, 64)
    inside, rest = run.ops("matmul_acc")
    assert "init" in inside.attrs and "init" not in rest.attrs


def test_what_fits_is_left_alone() -> None:
    run = Run(spec((64, 64, 64)), after="AutoTileMatmulL0")
    assert run.after["AutoTileMatmulL0"] is run.after["LegalizeTileCast"]
    assert run.codes == []


BARS = [
    (spec((256, 256, 32), "fp32"), 6, 0, {"acc": 131072, "left": 32768, "mat": 65536, "right": 32768}),
    (spec((256, 256, 128), "fp32"), 23, 8, {"acc": 131072, "left": 32768, "mat": 262144, "right": 65536}),
]


@pytest.mark.parametrize(("text", "flags", "barriers", "most"), BARS, ids=["k32", "k128"])
def test_no_more_flags_barriers_and_bytes_than_pypto(
    text: str, flags: int, barriers: int, most: dict[str, int]
) -> None:
    run = Run(text)
    given, between = run.counts()
    assert given.total() <= flags
    assert between <= barriers
    assert all(size <= most[memory] for memory, size in run.bytes().items())


CHAIN = (
    LOADS
    + """\
- load: {into: d1, from: b, at: [0, 0], shape: [<K>, <N>]}
- matmul: {into: c, lhs: a1, rhs: b1}
- move: {into: c1, from: c, memory: mat, dtype: fp16}
- matmul: {into: e, lhs: c1, rhs: d1}
- store: {from: e, to: out, at: [0, 0]}
"""
)


@pytest.mark.parametrize("target", TARGETS)
def test_a_chain_keeps_what_is_between_in_mat(target: str) -> None:
    run = Run(spec((192, 256, 256), body=CHAIN, target=target))
    assert differing(run) == []
    assert [op.attrs["memory"] for op in run.ops("create_tile")].count(Memory.MAT) == 1
    flags, barriers = run.counts()
    assert barriers <= 8
    if not target:  # as PyPTO was run
        assert flags.total() <= 26

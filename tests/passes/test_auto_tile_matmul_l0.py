"""AutoTileMatmulL0: what it writes is what was there, in tiles that fit, and needs no more than PyPTO's does."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import CompileError
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


SUM = """\
- create_tile: {into: c, shape: [<M>, <N>], dtype: fp32, memory: acc}
- pipeline: {index: i, count: 4, stages: %d}
  body:
    - load: {into: a1, from: a, at: [0, i * 128], shape: [<M>, 128]}
    - load: {into: b1, from: b, at: [i * 128, 0], shape: [128, <N>]}
    - matmul_acc: {into: c, acc: c, lhs: a1, rhs: b1, init: i == 0}
- store: {from: c, to: out, at: [0, 0]}
"""


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize(("m", "n"), [(256, 320), (200, 330), (64, 64)])
def test_stages_of_nested_pipelines_do_not_multiply_in_l0(m: int, n: int, stages: int) -> None:
    run = Run(spec((m, n, 512), body=SUM % stages))
    assert differing(run) == []
    assert "PH-MR-001" not in run.codes
    assert all(run.bytes()[memory] <= 65536 for memory in ("left", "right"))


def test_a_loop_loads_only_what_a_tile_needs() -> None:
    run = Run(spec((256, 320, 512), body=SUM % 2), after="AutoTileMatmulL0")
    loads = [op.result.type.shape for op in run.ops("load") if isinstance(op.result.type, TileType)]
    assert loads == [(256, 128), (128, 128), (256, 128), (128, 64)]
    (loop, *_) = run.loops()
    assert (loop.kind, loop.start, loop.stop, loop.step) == ("for", 0, 256, 128)


def test_an_accumulator_that_is_read_in_between_stays_one_tile() -> None:
    """It does not fit then, which is said where it is."""
    twice = SUM % 2 + "- store: {from: c, to: out, at: [0, 0]}\n"
    with pytest.raises(CompileError) as raised:
        Run(spec((256, 320, 512), body=twice))
    assert raised.value.diagnostics[-1].rule.code == "PS4001"
    assert any(d.rule.code == "PH-AT-006" for d in raised.value.diagnostics)


PREDICATED = """\
- create_tile: {into: c, shape: [<M>, <N>], dtype: fp32, memory: acc}
- load: {into: a1, from: a, at: [0, 0], shape: [<M>, <K>]}
- load: {into: b1, from: b, at: [0, 0], shape: [<K>, <N>]}
- for: {index: i, count: 3}
  body:
    - matmul_acc: {into: c, acc: c, lhs: a1, rhs: b1, init: i < 2}
- store: {from: c, to: out, at: [0, 0]}
"""


def test_a_condition_of_the_author_counts_at_the_first_block_only() -> None:
    run = Run(spec((128, 128, 512), body=PREDICATED))
    assert differing(run) == []


BIAS = LOADS + (
    "- load: {into: d, from: bias, at: [0, 0], shape: [1, <N>]}\n"
    "- matmul_bias: {into: c, lhs: a1, rhs: b1, bias: d}\n"
    "- store: {from: c, to: out, at: [0, 0]}\n"
)


@pytest.mark.parametrize("shape", [(128, 512, 128), (384, 240, 32), (64, 96, 512), (300, 500, 40)])
def test_a_bias_is_where_a_sum_begins(shape: tuple[int, int, int]) -> None:
    run = Run(spec(shape, body=BIAS))
    assert differing(run) == []
    assert len(run.ops("matmul_bias")) >= 1
    assert run.bytes()["bias"] <= A2A3.capacity[Memory.BIAS]


@pytest.mark.parametrize("more", ["relu: true", "atomic: add", "relu: true, atomic: add"])
def test_what_a_store_does_on_the_way_every_tile_does(more: str) -> None:
    body = LOADS + f"- matmul: {{into: c, lhs: a1, rhs: b1}}\n- store: {{from: c, to: out, at: [0, 0], {more}}}\n"
    run = Run(spec((256, 256, 64), body=body, access="inout"))
    assert differing(run) == []
    assert len(run.loops()) > 0

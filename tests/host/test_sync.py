"""Ordering: what is sound stays silent under many schedules, and every dropped flag or barrier is found."""

from __future__ import annotations

import pytest

from pypto_spec.host import Arg, KernelSource, ScalarArg
from tests.host.rendered import Batch, gm, line_of, values

BATCH = Batch()
AO = (("a", "fp32"), ("out", "fp32"))
TILES, TILE = 8, 512

ONE_BUFFER = f"""
LocalTensor<float> t = ub.GetWithOffset<float>({TILE}, 0);
SetFlag<HardEvent::MTE3_MTE2>(0); // sync
for (int32_t i = 0; i < {TILES}; ++i) {{
WaitFlag<HardEvent::MTE3_MTE2>(0); // sync
DataCopy(t, ga[i * {TILE}], {TILE});
SetFlag<HardEvent::MTE2_V>(0); // sync
WaitFlag<HardEvent::MTE2_V>(0); // sync
Adds(t, t, 1.0f, {TILE});
PipeBarrier<PIPE_V>(); // sync
Muls(t, t, 2.0f, {TILE});
SetFlag<HardEvent::V_MTE3>(0); // sync
WaitFlag<HardEvent::V_MTE3>(0); // sync
DataCopy(gout[i * {TILE}], t, {TILE});
SetFlag<HardEvent::MTE3_MTE2>(0); // sync
}}
WaitFlag<HardEvent::MTE3_MTE2>(0); // sync
"""

TWO_SLOTS = f"""
LocalTensor<float> x = ub.GetWithOffset<float>({2 * TILE}, 0);
LocalTensor<float> y = ub.GetWithOffset<float>({2 * TILE}, 8192);
SetFlag<HardEvent::V_MTE2>(0); // sync
SetFlag<HardEvent::V_MTE2>(1); // sync
SetFlag<HardEvent::MTE3_V>(0); // sync
SetFlag<HardEvent::MTE3_V>(1); // sync
for (int32_t i = 0; i < {TILES}; ++i) {{
const int32_t s = i % 2;
WaitFlag<HardEvent::V_MTE2>(s); // sync
DataCopy(x[s * {TILE}], ga[i * {TILE}], {TILE});
SetFlag<HardEvent::MTE2_V>(s); // sync
WaitFlag<HardEvent::MTE2_V>(s); // sync
WaitFlag<HardEvent::MTE3_V>(s); // sync
Adds(y[s * {TILE}], x[s * {TILE}], 1.0f, {TILE});
SetFlag<HardEvent::V_MTE2>(s); // sync
PipeBarrier<PIPE_V>(); // sync
Muls(y[s * {TILE}], y[s * {TILE}], 2.0f, {TILE});
SetFlag<HardEvent::V_MTE3>(s); // sync
WaitFlag<HardEvent::V_MTE3>(s); // sync
DataCopy(gout[i * {TILE}], y[s * {TILE}], {TILE});
SetFlag<HardEvent::MTE3_V>(s); // sync
}}
WaitFlag<HardEvent::V_MTE2>(0); // sync
WaitFlag<HardEvent::V_MTE2>(1); // sync
WaitFlag<HardEvent::MTE3_V>(0); // sync
WaitFlag<HardEvent::MTE3_V>(1); // sync
"""

# A wait dispatched before its set: legal, the pipe of the wait stands still until then.
WAIT_FIRST = f"""
LocalTensor<float> t = ub.GetWithOffset<float>({TILE * TILES}, 0);
WaitFlag<HardEvent::MTE2_V>(0); // sync
Adds(t, t, 1.0f, {TILE * TILES});
PipeBarrier<PIPE_V>(); // sync
Muls(t, t, 2.0f, {TILE * TILES});
SetFlag<HardEvent::V_MTE3>(0); // sync
DataCopy(t, ga, {TILE * TILES});
SetFlag<HardEvent::MTE2_V>(0); // sync
WaitFlag<HardEvent::V_MTE3>(0); // sync
DataCopy(gout, t, {TILE * TILES});
"""

BARRIER_ALL = f"""
LocalTensor<float> t = ub.GetWithOffset<float>({TILE}, 0);
for (int32_t i = 0; i < {TILES}; ++i) {{
DataCopy(t, ga[i * {TILE}], {TILE});
PipeBarrier<PIPE_ALL>(); // sync
Adds(t, t, 1.0f, {TILE});
PipeBarrier<PIPE_ALL>(); // sync
Muls(t, t, 2.0f, {TILE});
PipeBarrier<PIPE_ALL>(); // sync
DataCopy(gout[i * {TILE}], t, {TILE});
PipeBarrier<PIPE_ALL>(); // sync
}}
"""

# V told by a flag to itself instead of a barrier, two loads of one place kept apart by a barrier of MTE2.
OWN_PIPE = f"""
LocalTensor<float> t = ub.GetWithOffset<float>({TILE * TILES}, 0);
DataCopy(t, ga[8], {TILE});
PipeBarrier<PIPE_MTE2>(); // sync
DataCopy(t, ga, {TILE * TILES});
SetFlag<HardEvent::MTE2_V>(5); // sync
WaitFlag<HardEvent::MTE2_V>(5); // sync
Adds(t, t, 1.0f, {TILE * TILES});
SetFlag<HardEvent::V_V>(5); // sync
WaitFlag<HardEvent::V_V>(5); // sync
Muls(t, t, 2.0f, {TILE * TILES});
SetFlag<HardEvent::V_MTE3>(5); // sync
WaitFlag<HardEvent::V_MTE3>(5); // sync
DataCopy(gout, t, {TILE * TILES});
"""

# The scalar stream reads what V made and decides with it, then writes a scalar that V uses.
SCALAR = f"""
LocalTensor<float> t = ub.GetWithOffset<float>({TILE * TILES}, 0);
LocalTensor<float> s = ub.GetWithOffset<float>(64, {4 * TILE * TILES});
Duplicate(s, 1.0f, 8);
DataCopy(t, ga, {TILE * TILES});
SetFlag<HardEvent::V_S>(0); // sync
WaitFlag<HardEvent::V_S>(0); // sync
const float one = s.GetValue(0);
s.SetValue(1, 2.0f);
const float two = s.GetValue(1);
SetFlag<HardEvent::MTE2_V>(0); // sync
WaitFlag<HardEvent::MTE2_V>(0); // sync
SetFlag<HardEvent::S_V>(0); // sync
WaitFlag<HardEvent::S_V>(0); // sync
Duplicate(s, 0.0f, 8);
Adds(t, t, one, {TILE * TILES});
PipeBarrier<PIPE_V>(); // sync
Muls(t, t, two, {TILE * TILES});
SetFlag<HardEvent::V_MTE3>(0); // sync
WaitFlag<HardEvent::V_MTE3>(0); // sync
DataCopy(gout, t, {TILE * TILES});
"""

# GM written and read again by the same core.
THROUGH_GM = f"""
LocalTensor<float> t = ub.GetWithOffset<float>({TILE * TILES}, 0);
LocalTensor<float> u = ub.GetWithOffset<float>({TILE * TILES}, {4 * TILE * TILES});
DataCopy(t, ga, {TILE * TILES});
SetFlag<HardEvent::MTE2_V>(0); // sync
WaitFlag<HardEvent::MTE2_V>(0); // sync
Adds(t, t, 1.0f, {TILE * TILES});
SetFlag<HardEvent::V_MTE3>(0); // sync
WaitFlag<HardEvent::V_MTE3>(0); // sync
DataCopy(gout, t, {TILE * TILES});
SetFlag<HardEvent::MTE3_MTE2>(0); // sync
WaitFlag<HardEvent::MTE3_MTE2>(0); // sync
DataCopy(u, gout, {TILE * TILES});
SetFlag<HardEvent::MTE2_V>(1); // sync
WaitFlag<HardEvent::MTE2_V>(1); // sync
Muls(u, u, 2.0f, {TILE * TILES});
SetFlag<HardEvent::V_MTE3>(1); // sync
WaitFlag<HardEvent::V_MTE3>(1); // sync
DataCopy(gout, u, {TILE * TILES});
"""

SOUND = {
    "one_buffer": ONE_BUFFER,
    "two_slots": TWO_SLOTS,
    "wait_first": WAIT_FIRST,
    "barrier_all": BARRIER_ALL,
    "own_pipe": OWN_PIPE,
    "scalar": SCALAR,
    "through_gm": THROUGH_GM,
}
for _name, _body in SOUND.items():
    BATCH.kernel(_name, AO, _body)


def sync_lines(source: KernelSource) -> list[int]:
    return [i for i, line in enumerate(source.text.splitlines(), 1) if line.endswith("// sync")]


def fresh() -> list[Arg]:
    return [gm("fp32", [float(i % 77) for i in range(TILES * TILE)], readonly=True), gm("fp32", [0.0] * (TILES * TILE))]


@pytest.mark.parametrize("name", SOUND)
def test_sound_kernel_is_silent_and_right_under_any_schedule(name: str) -> None:
    wanted = [(i % 77 + 1) * 2.0 for i in range(TILES * TILE)]
    for seed in range(60):
        args = fresh()
        report = BATCH.run(name, args, seed=seed)
        assert report.findings == (), (seed, report)
        assert values(args[1]) == wanted, seed


@pytest.mark.parametrize("name", SOUND)
def test_every_dropped_sync_is_found_whatever_the_schedule(name: str) -> None:
    lines = sync_lines(BATCH.sources[name])
    assert len(lines) >= 4
    for line in lines:
        for seed in (0, 1, 2, 3):
            report = BATCH.run(name, fresh(), seed=seed, drop=[line])
            assert report.findings, (line, seed, BATCH.sources[name].text.splitlines()[line - 1])


@pytest.mark.parametrize("name", ["one_buffer", "two_slots"])
def test_every_dropped_pair_is_a_race(name: str) -> None:
    source = BATCH.sources[name].text.splitlines()
    kinds = {line.split("HardEvent::")[1].split(">")[0] for line in source if "SetFlag<" in line}
    for kind in kinds:
        pair = [i for i, line in enumerate(source, 1) if f"Flag<HardEvent::{kind}>" in line]
        for seed in (0, 1, 2):
            report = BATCH.run(name, fresh(), seed=seed, drop=pair)
            assert "race" in report.kinds(), (kind, report)


def test_findings_do_not_depend_on_the_schedule() -> None:
    source = BATCH.sources["one_buffer"]
    barrier = next(i for i, line in enumerate(source.text.splitlines(), 1) if "PIPE_V" in line)
    seen = {
        frozenset((f.kind, f.lines) for f in BATCH.run("one_buffer", fresh(), seed=seed, drop=[barrier]).findings)
        for seed in range(20)
    }
    assert len(seen) == 1


BATCH.kernel(
    "transitive",
    AO,
    """
    LocalTensor<float> t = ub.GetWithOffset<float>(64, 0);
    LocalTensor<float> u = ub.GetWithOffset<float>(64, 1024);
    DataCopy(t, ga, 64); // first
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(u, t, 1.0f, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, u, 64);
    SetFlag<HardEvent::MTE3_MTE2>(0);
    WaitFlag<HardEvent::MTE3_MTE2>(0);
    DataCopy(t, ga[64], 64); // second
    """,
)
BATCH.kernel(
    "no_pipe_is_sequential",
    AO,
    """
    LocalTensor<float> t = ub.GetWithOffset<float>(64, 0);
    LocalTensor<float> u = ub.GetWithOffset<float>(64, 1024);
    DataCopy(t, ga, 64); // first
    DataCopy(u, ga, 64);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(u, u, 1.0f, 64); // early
    Adds(t, t, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    SetFlag<HardEvent::V_MTE3>(0);
    Muls(u, u, 2.0f, 64); // late
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, u, 64); // store
    """,
)


def test_order_through_a_third_pipe_counts() -> None:
    for seed in range(10):
        assert BATCH.run("transitive", [gm("fp32", [1.0] * 128), gm("fp32", [0.0] * 64)], seed=seed).ok


def test_a_flag_covers_only_what_stands_before_it() -> None:
    source = BATCH.sources["no_pipe_is_sequential"]
    for seed in range(10):
        report = BATCH.run(source.name, [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)], seed=seed)
        assert [f.lines for f in report.findings] == [(line_of(source, "late"), line_of(source, "store"))]
        assert "RAW" in report.findings[0].message


BATCH.kernel(
    "rows_of_results",
    AO,
    """
    LocalTensor<float> t = ub.GetWithOffset<float>(4096, 0);
    LocalTensor<float> r = ub.GetWithOffset<float>(64, 32768);
    DataCopy(t, ga, 4096);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    for (int32_t i = 0; i < 64; ++i) {
    WholeReduceSum(r[i], t[i * 64], 64, 1, 1, 1, 8);
    }
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, r, 64);
    """,
)


def test_neighbouring_bytes_are_not_a_race() -> None:
    for seed in range(6):
        args: list[Arg] = [gm("fp32", [float(i // 64) for i in range(4096)]), gm("fp32", [0.0] * 64)]
        assert BATCH.run("rows_of_results", args, seed=seed).ok
        assert values(args[1]) == [64.0 * i for i in range(64)]


BATCH.kernel(
    "blocks_share_rows",
    (*AO, ("rows", "int32_t")),
    """
    LocalTensor<float> t = ub.GetWithOffset<float>(64, 0);
    for (int32_t i = GetBlockIdx(); i < rows; i += GetBlockNum()) {
    DataCopy(t, ga[i * 64], 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gout[i * 64], t, 64);
    PipeBarrier<PIPE_ALL>();
    }
    """,
)


@pytest.mark.parametrize("blocks", [1, 3, 20, 48])
def test_blocks_with_rows_of_their_own(blocks: int) -> None:
    for seed in range(4):
        args: list[Arg] = [gm("fp32", range(64 * 40)), gm("fp32", [0.0] * 64 * 40), ScalarArg(40)]
        assert BATCH.run("blocks_share_rows", args, blocks=blocks, seed=seed).ok
        assert values(args[1]) == [float(i) for i in range(64 * 40)]


def test_records_name_every_dispatched_call() -> None:
    report = BATCH.run("transitive", [gm("fp32", [1.0] * 128), gm("fp32", [0.0] * 64)], records=True)
    assert [(r.pipe, r.name) for r in report.records[:4]] == [
        ("MTE2", "DataCopy"),
        ("MTE2", "SetFlag"),
        ("V", "WaitFlag"),
        ("V", "Adds"),
    ]
    assert (report.records[0].bytes, report.records[3].elements) == (256, 64)
    assert report.records[0].line == line_of(BATCH.sources["transitive"], "first")
    assert report.instructions + report.syncs == len(report.records)


BATCH.kernel(
    "read_then_in_place",
    AO,
    """
    LocalTensor<float> t = ub.GetWithOffset<float>(64, 0);
    LocalTensor<float> u = ub.GetWithOffset<float>(64, 1024);
    DataCopy(t, ga, 64);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(u, t, 1.0f, 64); // reads
    PipeBarrier<PIPE_V>(); // sync
    Muls(t, t, 2.0f, 64); // changes what was read
    PipeBarrier<PIPE_V>();
    Add(u, u, t, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, u, 64);
    """,
)


def test_an_instruction_in_place_does_not_hide_who_read_before_it() -> None:
    source = BATCH.sources["read_then_in_place"]
    for seed in range(10):
        args = [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]
        assert BATCH.run("read_then_in_place", args, seed=seed).ok
        assert values(args[1]) == [4.0] * 64
        args = [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]
        (finding,) = BATCH.run("read_then_in_place", args, seed=seed, drop=sync_lines(source)).findings
        assert finding.kind == "race"
        assert set(finding.lines) == {line_of(source, "reads"), line_of(source, "changes what was read")}

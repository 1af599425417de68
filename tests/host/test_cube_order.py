"""Order on a cube core: what is sound stays silent under many schedules, and every dropped flag or barrier is found."""

from __future__ import annotations

import pytest

from pypto_spec.host import Arg, KernelSource
from tests.host.cube import HEAD, up
from tests.host.rendered import Batch, gm, line_of, values
from tests.host.test_cube_forms import copy_out, flat, matrix, product

BATCH = Batch()
M, N, K, STEP, TILES = 32, 48, 64, 16, 3
ABC = (("a", "fp16"), ("b", "fp16"), ("c", "fp32"))

TENSORS = """
LocalTensor<half> a1 = l1.GetWithOffset<half>(2048, 0);
LocalTensor<half> b1 = l1.GetWithOffset<half>(4096, 65536);
LocalTensor<half> a2 = l0a.GetWithOffset<half>(4096, 0);
LocalTensor<half> b2 = l0b.GetWithOffset<half>(4096, 0);
LocalTensor<float> co = l0c.GetWithOffset<float>(8192, 0);
"""


def step(slot: str, k: str) -> str:
    """Loads step `k` into slot `slot` of L1 and L0."""
    return f"""
DataCopy(a1[{slot} * {M * STEP}], ga[{k} * {STEP}], Nd2NzParams(1, {M}, {STEP}, 0, {K}, {M}, 1, 0));
DataCopy(b1[{slot} * {STEP * N}], gb[{k} * {STEP * N}], Nd2NzParams(1, {STEP}, {N}, 0, {N}, {STEP}, 1, 0));
"""


def split(slot: str) -> str:
    return f"""
LoadData(a2[{slot} * {M * STEP}], a1[{slot} * {M * STEP}], MatrixParams<half>({M}, {STEP}, 0, 0, {M}, {STEP}, false));
LoadData(b2[{slot} * {STEP * N}], b1[{slot} * {STEP * N}], MatrixParams<half>({STEP}, {N}, 0, 0, {STEP}, {N}, false));
"""


def mad(slot: str, k: str, co: str = "co", flag: str = "0") -> str:
    return (
        f"Mmad({co}, a2[{slot} * {M * STEP}], b2[{slot} * {STEP * N}], "
        f"MmadParams({M}, {N}, {STEP}, {flag}, false, {k} == 0));\n"
    )


# One buffer of each memory, used for each step of k and each of three products one after the other. The loads between
# two Mmads order those, too.
ONE_OF_EACH = f"""
{TENSORS}
SetFlag<HardEvent::MTE1_MTE2>(0); // sync
SetFlag<HardEvent::M_MTE1>(0); // sync
SetFlag<HardEvent::FIX_M>(0); // sync
for (int32_t t = 0; t < {TILES}; ++t) {{
WaitFlag<HardEvent::FIX_M>(0); // sync
for (int32_t k = 0; k < {K // STEP}; ++k) {{
WaitFlag<HardEvent::MTE1_MTE2>(0); // sync
{step("0", "k")}
SetFlag<HardEvent::MTE2_MTE1>(0); // sync
WaitFlag<HardEvent::MTE2_MTE1>(0); // sync
WaitFlag<HardEvent::M_MTE1>(0); // sync
{split("0")}
SetFlag<HardEvent::MTE1_MTE2>(0); // sync
SetFlag<HardEvent::MTE1_M>(0); // sync
WaitFlag<HardEvent::MTE1_M>(0); // sync
{mad("0", "k")}
SetFlag<HardEvent::M_MTE1>(0); // sync
}}
SetFlag<HardEvent::M_FIX>(0); // sync
WaitFlag<HardEvent::M_FIX>(0); // sync
{copy_out(M, N, to=f"gc[t * {M * N}]")}
SetFlag<HardEvent::FIX_M>(0); // sync
}}
WaitFlag<HardEvent::MTE1_MTE2>(0); // sync
WaitFlag<HardEvent::M_MTE1>(0); // sync
WaitFlag<HardEvent::FIX_M>(0); // sync
"""

# Two slots of L1 and L0, two accumulators.
TWO_OF_EACH = f"""
{TENSORS}
for (int32_t s = 0; s < 2; ++s) {{
SetFlag<HardEvent::MTE1_MTE2>(s); // sync
SetFlag<HardEvent::M_MTE1>(s); // sync
SetFlag<HardEvent::FIX_M>(s); // sync
}}
for (int32_t t = 0; t < {TILES}; ++t) {{
LocalTensor<float> sums = co[t % 2 * 2048];
WaitFlag<HardEvent::FIX_M>(t % 2); // sync
for (int32_t k = 0; k < {K // STEP}; ++k) {{
const int32_t s = k % 2;
WaitFlag<HardEvent::MTE1_MTE2>(s); // sync
{step("s", "k")}
SetFlag<HardEvent::MTE2_MTE1>(s); // sync
WaitFlag<HardEvent::MTE2_MTE1>(s); // sync
WaitFlag<HardEvent::M_MTE1>(s); // sync
{split("s")}
SetFlag<HardEvent::MTE1_MTE2>(s); // sync
SetFlag<HardEvent::MTE1_M>(s); // sync
WaitFlag<HardEvent::MTE1_M>(s); // sync
PipeBarrier<PIPE_M>(); // sync
{mad("s", "k", "sums")}
SetFlag<HardEvent::M_MTE1>(s); // sync
}}
SetFlag<HardEvent::M_FIX>(t % 2); // sync
WaitFlag<HardEvent::M_FIX>(t % 2); // sync
{copy_out(M, N, "sums", to=f"gc[t * {M * N}]")}
SetFlag<HardEvent::FIX_M>(t % 2); // sync
}}
for (int32_t s = 0; s < 2; ++s) {{
WaitFlag<HardEvent::MTE1_MTE2>(s); // sync
WaitFlag<HardEvent::M_MTE1>(s); // sync
WaitFlag<HardEvent::FIX_M>(s); // sync
}}
"""

# M and FIX keep step by unit flags alone.
UNITS = (
    "\n".join(x for x in ONE_OF_EACH.splitlines() if "M_FIX" not in x and "FIX_M" not in x)
    .replace(mad("0", "k"), mad("0", "k", flag=f"k == {K // STEP - 1} ? 3 : 2"))
    .replace("0, 1, 0, 0, 0)", "0, 1, 0, 0, 3)")
)

SOUND = {"one_of_each": ONE_OF_EACH, "two_of_each": TWO_OF_EACH, "units": UNITS}
SOURCES = {name: BATCH.kernel(name, ABC, body, head=HEAD) for name, body in SOUND.items()}
A, B = matrix(M, K, 1), matrix(K, N, 2)


def arguments() -> list[Arg]:
    return [gm("fp16", flat(A), readonly=True), gm("fp16", flat(B), readonly=True), gm("fp32", [0] * (TILES * M * N))]


def sync_lines(source: KernelSource) -> list[int]:
    return [i for i, line in enumerate(source.text.splitlines(), 1) if line.endswith("// sync")]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", SOUND)
def test_sound_kernel_is_clean_and_right(name: str, seed: int) -> None:
    args = arguments()
    assert BATCH.run(name, args, seed=seed).findings == ()
    assert values(args[2]) == flat(product(A, B)) * TILES


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, source in SOURCES.items() for line in sync_lines(source)]
)
def test_every_dropped_line_is_found(name: str, line: int) -> None:
    for seed in (0, 1, 2):
        assert BATCH.run(name, arguments(), seed=seed, drop=[line]).findings


KINDS = ("MTE2_MTE1", "MTE1_MTE2", "MTE1_M", "M_MTE1", "M_FIX", "FIX_M", "PIPE_M")
PLACES = {"MTE2_MTE1": "L1", "MTE1_MTE2": "L1", "MTE1_M": "L0", "M_MTE1": "L0", "M_FIX": "L0C", "FIX_M": "L0C"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in ("one_of_each", "two_of_each") for kind in KINDS if f"{kind}>" in SOUND[name]],
)
def test_without_one_kind_of_order_there_is_a_race(name: str, kind: str) -> None:
    source = SOURCES[name]
    lines = [i for i, line in enumerate(source.text.splitlines(), 1) if f"{kind}>" in line]
    for seed in (0, 1, 2):
        report = BATCH.run(name, arguments(), seed=seed, drop=lines)
        assert "race" in report.kinds(), report
        assert any(PLACES.get(kind, "L0C") in f.message for f in report.findings)


# ---- what the cube core orders by itself ----------------------------------------------------------------------


def two_mads(m: int, n: int) -> str:
    """Two Mmads on one tile with no barrier between; (m / 16) * (n / 16) decides."""
    sizes = f"{m}, {n}, 16"
    return f"""
    {TENSORS}
    DataCopy(a1, ga, Nd2NzParams(1, {m}, 16, 0, 16, {up(m, 16)}, 1, 0));
    DataCopy(b1, gb, Nd2NzParams(1, 16, {n}, 0, {n}, 16, 1, 0));
    PipeBarrier<PIPE_ALL>();
    LoadData(a2, a1, MatrixParams<half>({up(m, 16)}, 16, 0, 0, {up(m, 16)}, 16, false));
    LoadData(b2, b1, MatrixParams<half>(16, {n}, 0, 0, 16, {n}, false));
    PipeBarrier<PIPE_ALL>();
    Mmad(co, a2, b2, MmadParams({sizes}, 0, false, true)); // first
    Mmad(co, a2, b2, MmadParams({sizes}, 0, false, false)); // second
    PipeBarrier<PIPE_ALL>();
    {copy_out(m, n)}
    """


NEEDS_BARRIER = {(48, 48): True, (32, 80): False, (63, 48): True, (64, 48): False}
for _m, _n in NEEDS_BARRIER:
    BATCH.kernel(f"mads_{_m}_{_n}", ABC, two_mads(_m, _n), head=HEAD)


@pytest.mark.parametrize(("m", "n"), NEEDS_BARRIER)
def test_mads_on_one_tile_need_a_barrier_where_they_are_small(m: int, n: int) -> None:
    name = f"mads_{m}_{n}"
    for seed in range(6):
        args = [gm("fp16", [1] * (m * 16)), gm("fp16", [1] * (16 * n)), gm("fp32", [0] * (m * n))]
        report = BATCH.run(name, args, seed=seed)
        assert report.kinds() == ({"race"} if NEEDS_BARRIER[m, n] else set())
        assert set(values(args[2])) == {32}
        for finding in report.findings:
            assert finding.lines == tuple(line_of(BATCH.sources[name], tag) for tag in ("first", "second"))
            assert "WAW" in finding.message
            assert "L0C" in finding.message


DRAINS = f"""
{TENSORS}
{step("0", "0")}
PipeBarrier<PIPE_ALL>();
{split("0")}
PipeBarrier<PIPE_ALL>();
{mad("0", "0")}
PipeBarrier<PIPE_ALL>();
{copy_out(M, N)}
{copy_out(M, N)}
SetFlag<HardEvent::FIX_MTE2>(0); // sync
WaitFlag<HardEvent::FIX_MTE2>(0); // sync
DataCopy(l1.GetWithOffset<float>(64, 131072), gc, 64); // again
"""
BATCH.kernel("drains", ABC, DRAINS, head=HEAD)


def test_fixpipes_follow_each_other() -> None:
    """Each begins with a barrier of its pipe, in both header sets."""
    for seed in range(6):
        assert BATCH.run("drains", arguments(), seed=seed).findings == ()


def test_gm_that_fixpipe_wrote_is_read_in_order() -> None:
    source = BATCH.sources["drains"]
    for seed in range(3):
        report = BATCH.run("drains", arguments(), seed=seed, drop=sync_lines(source))
        assert report.kinds() == {"race"}
        for finding in report.findings:
            assert line_of(source, "again") in finding.lines
            assert "RAW on GM argument 2" in finding.message


SLOPPY = f"""
{TENSORS}
{step("0", "0")}
{step("0", "1")}
PipeBarrier<PIPE_ALL>();
{split("0")}
PipeBarrier<PIPE_MTE1>(); // sync
{split("0")}
PipeBarrier<PIPE_ALL>();
"""
BATCH.kernel("overlapping", ABC, SLOPPY, head=HEAD)


def test_overlapping_loads_on_one_pipe() -> None:
    for seed in range(3):
        report = BATCH.run("overlapping", arguments(), seed=seed)
        assert report.kinds() == {"race"}
        assert all("WAW on L1" in f.message for f in report.findings)
        report = BATCH.run("overlapping", arguments(), seed=seed, drop=sync_lines(BATCH.sources["overlapping"]))
        assert any("WAW on L0A" in f.message for f in report.findings)
        assert any("WAW on L0B" in f.message for f in report.findings)


UNIT_MIXED = f"""
{TENSORS}
{step("0", "0")}
PipeBarrier<PIPE_ALL>();
{split("0")}
PipeBarrier<PIPE_ALL>();
{mad("0", "0", flag="3")}
{copy_out(M, N).replace("0, 1, 0, 0, 0)", "0, 1, 0, 0, 3)").replace("// drain", "// reads")}
{mad("0", "0").replace("));", ")); // plain")}
PipeBarrier<PIPE_ALL>();
"""
BATCH.kernel("unit_mixed", ABC, UNIT_MIXED, head=HEAD)


def test_unit_flags_order_only_those_that_use_them() -> None:
    source = BATCH.sources["unit_mixed"]
    for seed in range(6):
        report = BATCH.run("unit_mixed", arguments(), seed=seed)
        reads, plain = line_of(source, "reads"), line_of(source, "plain")
        assert any(f.kind == "race" and set(f.lines) == {reads, plain} for f in report.findings)

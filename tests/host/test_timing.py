"""A run for its timing alone: the same records without data, for sizes no CPU computes."""

from __future__ import annotations

import pytest

from pypto_spec.host import Arg, GmArg, Record, ScalarArg
from tests.host import test_cube_forms as forms
from tests.host import test_cube_order as order
from tests.host import test_faults as vector
from tests.host.cube import HEAD, Matmul
from tests.host.rendered import SIZE, Batch, gm, line_of

BATCH = Batch()


def emptied(args: list[Arg]) -> list[Arg]:
    return [
        a if isinstance(a, ScalarArg) else GmArg(None, a.dtype, nbytes=len(a.data), readonly=a.readonly) for a in args
    ]


@pytest.mark.parametrize("name", forms.CASES)
def test_forms_are_recorded_alike(name: str) -> None:
    *_, args = forms.operands(forms.CASES[name])
    whole = forms.BATCH.run(name, args, records=True)
    assert forms.BATCH.run(name, emptied(args), records=True, timing=True).records == whole.records


@pytest.mark.parametrize("name", order.SOUND)
@pytest.mark.parametrize("blocks", [1, 4])
def test_pipelines_are_recorded_alike(name: str, blocks: int) -> None:
    args = order.arguments()
    whole = order.BATCH.run(name, args, records=True, blocks=blocks)
    assert order.BATCH.run(name, emptied(args), records=True, blocks=blocks, timing=True).records == whole.records


def test_a_vector_kernel_is_recorded_alike() -> None:
    whole = vector.BATCH.run("sound", vector.ao(), records=True)
    timed = vector.BATCH.run("sound", emptied(vector.ao()), records=True, timing=True)
    assert timed.ok
    assert timed.records == whole.records


AMOUNTS = {
    # call: pipe, elements, bytes, repeats
    "load_a": ("MTE2", "DataCopy.nz", 17 * 36, 17 * 36 * 4, 36),
    "split_a": ("MTE1", "LoadData.left", 2 * 6 * 128, 2 * 6 * 512, 2 * 6),
    "split_b": ("MTE1", "LoadData.right", 3 * 6 * 128, 3 * 6 * 512, 3 * 6),
    "split_bias": ("MTE1", "DataCopy.bias", 48, 192, 1),
    "mad": ("M", "Mmad", 17 * 33 * 36, 0, 2 * 3 * 5 * 2),
    "drain": ("FIX", "Fixpipe.gm", 17 * 33, 17 * 33 * 4, 17),
}
_AMOUNTS = Matmul("fp32", 17, 33, 36, a_trans=True, bias=True)
BATCH.kernel("amounts", _AMOUNTS.params(), _AMOUNTS.body(), head=HEAD)
_BYTES = Matmul("int8", 17, 33, 36)
BATCH.kernel("bytes", _BYTES.params(), _BYTES.body(), head=HEAD)


def amounts(record: Record) -> tuple[str, str, int, int, int]:
    return record.pipe, record.name, record.elements, record.bytes, record.repeats


@pytest.mark.parametrize("tag", AMOUNTS)
def test_amounts(tag: str) -> None:
    *_, args = forms.operands(_AMOUNTS)
    line = line_of(BATCH.sources["amounts"], tag)
    (record,) = [r for r in BATCH.run("amounts", args, records=True).records if r.line == line]
    assert amounts(record) == AMOUNTS[tag]


def test_amounts_of_squares() -> None:
    *_, args = forms.operands(_BYTES)
    line = line_of(BATCH.sources["bytes"], "split_b")
    (record,) = [r for r in BATCH.run("bytes", args, records=True).records if r.line == line]
    assert amounts(record) == ("MTE1", "LoadDataWithTranspose.right", 2 * 2 * 512, 2 * 2 * 512, 4)


SIDE, TILE_M, TILE_N, STEP = 6144, 128, 256, 64
LARGE = f"""
LocalTensor<half> a1 = l1.GetWithOffset<half>({2 * TILE_M * STEP}, 0);
LocalTensor<half> b1 = l1.GetWithOffset<half>({2 * TILE_N * STEP}, 65536);
LocalTensor<half> a2 = l0a.GetWithOffset<half>({2 * TILE_M * STEP}, 0);
LocalTensor<half> b2 = l0b.GetWithOffset<half>({2 * TILE_N * STEP}, 0);
LocalTensor<float> co = l0c.GetWithOffset<float>({TILE_M * TILE_N}, 0);
for (int32_t t = GetBlockIdx(); t < {(SIDE // TILE_M) * (SIDE // TILE_N)}; t += GetBlockNum()) {{
const int64_t row = t / {SIDE // TILE_N} * {TILE_M};
const int64_t column = t % {SIDE // TILE_N} * {TILE_N};
for (int32_t k = 0; k < {SIDE // STEP}; ++k) {{
DataCopy(a1[k % 2 * {TILE_M * STEP}], ga[row * {SIDE} + k * {STEP}],
Nd2NzParams(1, {TILE_M}, {STEP}, 0, {SIDE}, {TILE_M}, 1, 0));
DataCopy(b1[k % 2 * {TILE_N * STEP}], gb[(int64_t)k * {STEP * SIDE} + column],
Nd2NzParams(1, {STEP}, {TILE_N}, 0, {SIDE}, {STEP}, 1, 0));
LoadData(a2, a1, MatrixParams<half>({TILE_M}, {STEP}, 0, 0, {TILE_M}, {STEP}, false));
LoadData(b2, b1, MatrixParams<half>({STEP}, {TILE_N}, 0, 0, {STEP}, {TILE_N}, false));
SetFlag<HardEvent::MTE1_M>(0);
WaitFlag<HardEvent::MTE1_M>(0);
Mmad(co, a2, b2, MmadParams({TILE_M}, {TILE_N}, {STEP}, 0, false, k == 0));
}}
Fixpipe<float, float, CFG_ROW_MAJOR>(gc[row * {SIDE} + column], co,
FixpipeParamsV220({TILE_N}, {TILE_M}, {TILE_M}, {SIDE}, false, NoQuant, 0, 1, 0, 0, 0));
}}
"""
BATCH.kernel("large", (("a", "fp16"), ("b", "fp16"), ("c", "fp32")), LARGE, head=HEAD)


def test_a_size_that_no_cpu_computes() -> None:
    args: list[Arg] = [GmArg(None, d, nbytes=SIDE * SIDE * SIZE[d]) for d in ("fp16", "fp16", "fp32")]
    report = BATCH.run("large", args, blocks=24, timing=True)
    assert report.ok
    tiles = (SIDE // TILE_M) * (SIDE // TILE_N)
    assert report.instructions == tiles * (SIDE // STEP * 5 + 1)


def test_addresses_and_sizes_are_still_looked_at() -> None:
    args: list[Arg] = [GmArg(None, d, nbytes=SIDE * SIDE * SIZE[d]) for d in ("fp16", "fp16", "fp32")]
    args[1] = GmArg(None, "fp16", nbytes=SIDE * SIDE)
    assert BATCH.run("large", args, blocks=24, timing=True).kinds() == {"out-of-bounds"}


def test_a_run_with_data_needs_data() -> None:
    with pytest.raises(TypeError):
        BATCH.run("amounts", [GmArg(None, "fp32", nbytes=4)] * 4)


BATCH.kernel(
    "scalars",
    (("a", "fp32"), ("n", "int32_t")),
    "for (int32_t i = 0; i < (int32_t)ga.GetValue(n); ++i) {\nPipeBarrier<PIPE_M>();\n}",
    head=HEAD,
)


def test_scalars_are_read_where_they_are_given() -> None:
    args: list[Arg] = [gm("fp32", [0.0, 3.0]), ScalarArg(1)]
    report = BATCH.run("scalars", args, timing=True)
    assert (report.findings, report.syncs) == ((), 4)
    assert BATCH.run("scalars", emptied(args), timing=True).kinds() == {"unsupported"}

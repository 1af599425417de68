"""Faults on the way to L0, and of the core as such, planted in a cube kernel that is otherwise correct."""

from __future__ import annotations

import pytest

from pypto_spec.host import Arg, ScalarArg
from tests.host.cube import HEAD, Matmul
from tests.host.planted import BIASED, BYTES, LOAD, PLAIN, TURNED, WINDOW, Fault, find, plant, split
from tests.host.rendered import HEAD as VECTOR_HEAD
from tests.host.rendered import Batch, gm
from tests.host.test_cube_forms import operands

BATCH = Batch()


def short(case: Matmul) -> list[Arg]:
    *_, args = operands(case)
    return [gm("fp16", [1] * 2000, readonly=True), *args[1:]]


def many(case: Matmul) -> list[Arg]:
    return [*operands(case)[-1], ScalarArg(256)]


FAULTS: dict[str, Fault] = {
    # -- which core and which memory
    "vector_call_on_a_cube_core": Fault(
        "wrong-core",
        PLAIN,
        "// drain",
        "// drain\nAdds(co, co, 1.0f, 64); // bad",
        ("bad",),
        ("Adds", "cube core"),
    ),
    "barrier_of_v": Fault(
        "wrong-core", PLAIN, "// drain", "// drain\nPipeBarrier<PIPE_V>(); // bad", ("bad",), ("PIPE_V", "cube core")
    ),
    "flag_of_v": Fault(
        "flag-kind",
        PLAIN,
        "// drain",
        "// drain\nSetFlag<HardEvent::MTE2_V>(0); // bad",
        ("bad",),
        ("MTE2_V", "cube core"),
    ),
    "ub_on_a_cube_core": Fault(
        "wrong-memory",
        PLAIN,
        head=HEAD.replace("TBuf<TPosition::C2> bt", "TBuf<TPosition::VECIN> bt"),
        says=("InitBuffer in UB", "cube core"),
    ),
    "l1_too_large": Fault(
        "out-of-bounds", PLAIN, head=HEAD.replace("(l1, 524160)", "(l1, 524288)"), says=("524160 bytes of L1",)
    ),
    "bias_table_too_large": Fault(
        "out-of-bounds", PLAIN, head=HEAD.replace("(bt, 1024)", "(bt, 1056)"), says=("1024 bytes of BT",)
    ),
    "flag_before_destroy": Fault(
        "flag-before-destroy",
        PLAIN,
        head=HEAD.replace("    pipe.Destroy();\n", ""),
        says=("the TPipe may hold this event",),
    ),
    "event_that_the_pipe_holds": Fault(
        "flag-before-destroy",
        PLAIN,
        head=HEAD.replace("    pipe.Destroy();", "    SetFlag<HardEvent::M_MTE1>(2); // bad\n    pipe.Destroy();"),
        says=("M_MTE1",),
    ),
    "operands_exchanged": Fault(
        "wrong-memory", PLAIN, "Mmad(co, a2, b2", "Mmad(co, b2, a2", ("mad",), ("fm is in L0B", "only L0A")
    ),
    "sums_in_l1": Fault(
        "wrong-memory",
        PLAIN,
        "= l0c.GetWithOffset<float>(2304, 0)",
        "= l1.GetWithOffset<float>(2304, 0)",
        ("mad",),
        ("dst is in L1", "only L0C"),
    ),
    "gm_to_left": Fault("wrong-memory", PLAIN, "DataCopy(a1, ga", "DataCopy(a2, ga", ("load_a",), ("only L1",)),
    "load_to_sums": Fault("wrong-memory", PLAIN, "LoadData(a2", "LoadData(a1", ("split_a",), ("only L0A and L0B",)),
    "bias_from_gm_to_table": Fault(
        "wrong-memory", BIASED, "DataCopy(bias1, gbias", "DataCopy(bias2, gbias", ("load_bias",), ("only L1",)
    ),
    "bias_in_l1": Fault("wrong-memory", BIASED, "b2, bias2, Mmad", "b2, bias1, Mmad", ("mad",), ("only BT",)),
    # -- GM to L1
    "rows_beyond_the_call": Fault(
        "repeat", PLAIN, LOAD, "Nd2NzParams(1, 16385, 64, 0, 64, 48, 1, 0)", ("load_a",), ("nValue 16385", "16384")
    ),
    "pitch_beyond_the_call": Fault(
        "stride", PLAIN, LOAD, "Nd2NzParams(1, 40, 64, 0, 65536, 48, 1, 0)", ("load_a",), ("srcDValue 65536", "65535")
    ),
    "column_stride_of_nothing": Fault(
        "stride", PLAIN, LOAD, "Nd2NzParams(1, 40, 64, 0, 64, 0, 1, 0)", ("load_a",), ("dstNzC0Stride 0",)
    ),
    "column_blocks_overlap": Fault(
        "overlap", PLAIN, LOAD, "Nd2NzParams(1, 40, 64, 0, 64, 32, 1, 0)", ("load_a",), ("40 rows", "dstNzC0Stride 32")
    ),
    "gm_out_of_bounds": Fault("out-of-bounds", PLAIN, lines=("load_a",), says=("[0, 5120)", "4000 bytes"), args=short),
    "l1_misaligned": Fault(
        "misaligned", PLAIN, "DataCopy(a1, ga", "DataCopy(a1[8], ga", ("load_a",), ("L1 byte 16", "32 B")
    ),
    "l1_out_of_its_buffer": Fault(
        "out-of-bounds",
        PLAIN,
        LOAD,
        "Nd2NzParams(1, 40, 64, 0, 64, 16384, 1, 0)",
        ("load_a",),
        ("buffer is [0, 524160)",),
    ),
    "pad_on_a_cube_core": Fault(
        "unsupported",
        PLAIN,
        "DataCopy(a1, ga, " + LOAD + ");",
        "DataCopyPad(a1, ga, DataCopyExtParams(1, 64, 0, 0, 0), DataCopyPadExtParams<half>()); ",
        ("load_a",),
        ("DataCopyPad", "cube core"),
    ),
    # -- L1 to L0
    "left_misaligned": Fault(
        "misaligned", PLAIN, "LoadData(a2, a1, M", "LoadData(a2[128], a1, M", ("split_a",), ("L0A byte 256", "512 B")
    ),
    "window_out_of_the_matrix": Fault(
        "out-of-bounds",
        PLAIN,
        WINDOW,
        WINDOW.replace("0, 0, 48, 64", "16, 0, 48, 64"),
        ("split_a",),
        ("48 rows from 16", "48 x 64"),
    ),
    "window_start_unaligned": Fault(
        "misaligned", PLAIN, WINDOW, WINDOW.replace("0, 0, 48, 64", "0, 8, 48, 32"), ("split_a",), ("kStartPt 8", "16")
    ),
    "window_of_another_height": Fault(
        "layout",
        PLAIN,
        WINDOW,
        WINDOW.replace("(48, 64, 0, 0, 48, 64", "(64, 64, 0, 0, 64, 64"),
        ("split_a", "load_a"),
        ("64 rows a column block", "wrote it with 48"),
    ),
    "window_of_bytes_to_right": Fault(
        "unsupported-dtype",
        BYTES,
        "LoadDataWithTranspose(b2[0], b1[0], LoadData2dTransposeParams(0, 2, 2, 1, 0));",
        "LoadData(b2, b1, MatrixParams<int8_t>(64, 64, 0, 0, 64, 64, false));",
        ("split_b",),
        ("int8", "LoadDataWithTranspose does it"),
    ),
    "window_with_a_filter": Fault(
        "unsupported",
        PLAIN,
        lines=("split_a",),
        says=("filters",),
        head=HEAD.replace("p.l1H = 1;", "p.l1H = 1; p.filterW = 3;"),
    ),
    "repeats_beyond_the_call": Fault(
        "repeat",
        PLAIN,
        WINDOW,
        split(0, "n", 3, 0, 0, "false", 0),
        ("split_a",),
        ("repeatTimes 256", "255"),
        args=many,
        params=(("n", "int32_t"),),
    ),
    "fractals_of_bytes_turned": Fault(
        "unsupported-dtype",
        BYTES,
        "LoadData(a2, a1, MatrixParams<int8_t>(48, 64, 0, 0, 48, 64, false)); // split_a",
        split(0, 2, 3, 0, 0, "true", 0),
        ("split_a",),
        ("ifTranspose with int8",),
    ),
    "backwards": Fault("unsupported", PLAIN, WINDOW, split(0, 4, 3, 0, 0, "false", 1), ("split_a",), ("addrMode 1",)),
    "squares_of_short_columns": Fault(
        # 16 rows a column block are no square of 32: the second half is the next column block.
        "layout",
        BYTES.but(k=16),
        "Nd2NzParams(1, 16, 64, 0, 64, 32, 1, 0)",
        "Nd2NzParams(1, 16, 64, 0, 64, 16, 1, 0)",
        ("split_b", "load_b"),
        ("1024 B", "row 0 of column block 0", "row 0 of column block 1"),
    ),
    "fractal_across_columns": Fault(
        "layout",
        TURNED.but(n=40),
        "Nd2NzParams(1, 40, 64, 0, 64, 48, 1, 0)); // load_b",
        "Nd2NzParams(1, 40, 64, 0, 64, 40, 1, 0)); // load_b",
        ("split_b", "load_b"),
        ("row 32 of column block 0", "row 0 of column block 1"),
    ),
    "wrong_type_in_l1": Fault(
        "wrong-dtype",
        PLAIN,
        "LoadData(a2, a1, MatrixParams<half>",
        "LoadData(a2.ReinterpretCast<bfloat16_t>(), a1.ReinterpretCast<bfloat16_t>(), MatrixParams<bfloat16_t>",
        ("split_a",),
        ("as bf16", "hold fp16"),
    ),
    "mixed_cores": Fault(
        "unsupported",
        PLAIN,
        says=("both kinds of core",),
        head=HEAD.replace("KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"),
    ),
    # -- the bias table
    "bias_beyond_the_table": Fault(
        "out-of-bounds", BIASED, "DataCopyParams(1, 3, 0, 0)", "DataCopyParams(1, 17, 0, 0)", ("split_bias",), ("BT",)
    ),
    "bias_type": Fault(
        "unsupported-dtype",
        BIASED,
        "DataCopy(bias2, bias1, DataCopyP",
        "DataCopy(bias2.ReinterpretCast<half>(), bias1.ReinterpretCast<half>(), DataCopyP",
        ("split_bias",),
        ("L1 to BT of fp16 to fp16",),
    ),
    "bias_by_count": Fault(
        "unsupported", BIASED, "DataCopyParams(1, 3, 0, 0)", "48", ("split_bias",), ("DataCopyParams",)
    ),
}


plant(BATCH, FAULTS)


@pytest.mark.parametrize("seed", [0, 1, 5])
@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(name: str, seed: int) -> None:
    find(BATCH, name, FAULTS[name], seed)


CUBE_CALLS = {
    "nd2nz": "DataCopy(x, ga, Nd2NzParams(1, 1, 8, 0, 8, 1, 1, 0)); // bad",
    "load": "LoadData(x, x, LoadData2DParams(0, 1, 1, 0, 0, false, 0)); // bad",
    "mmad": "Mmad(x, x, x, MmadParams(16, 16, 16, 0, false, true)); // bad",
    "fixpipe": "Fixpipe<float, float, CFG_ROW_MAJOR>(ga, x, FixpipeParamsV220(16, 16, 16, 16, false)); // bad",
    "barrier": "PipeBarrier<PIPE_M>(); // bad",
}
for _name, _call in CUBE_CALLS.items():
    BATCH.kernel(
        f"vector_{_name}",
        (("a", "fp32"),),
        f"LocalTensor<float> x = ub.GetWithOffset<float>(64, 0);\n{_call}",
        head=VECTOR_HEAD,
    )


@pytest.mark.parametrize("name", CUBE_CALLS)
def test_cube_call_on_a_vector_core(name: str) -> None:
    report = BATCH.run(f"vector_{name}", [gm("fp32", [0.0] * 64)])
    assert [f.kind for f in report.findings] == ["wrong-core"]
    assert "vector core" in report.findings[0].message

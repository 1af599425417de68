"""Every fault the host model promises to find, planted in a kernel that is otherwise correct."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pypto_spec.host import Arg, GmArg, ScalarArg
from tests.host.rendered import HEAD, Batch, gm, line_of

BATCH = Batch()
AO = (("a", "fp32"), ("out", "fp32"))

LOAD = """
LocalTensor<float> x = ub.GetWithOffset<float>(1024, 0);
LocalTensor<float> y = ub.GetWithOffset<float>(1024, 4096);
DataCopy(x, ga, 1024); // load
SetFlag<HardEvent::MTE2_V>(0); // set1
WaitFlag<HardEvent::MTE2_V>(0); // wait1
"""
STORE = """
SetFlag<HardEvent::V_MTE3>(0); // set2
WaitFlag<HardEvent::V_MTE3>(0); // wait2
DataCopy(gout, y, 1024); // store
"""


def ao() -> list[Arg]:
    return [gm("fp32", [1.0] * 1024, readonly=True), gm("fp32", [0.0] * 1024)]


def aliased() -> list[Arg]:
    data = gm("fp32", [1.0] * 1024).data
    return [GmArg(data, "fp32"), GmArg(data, "fp32")]


@dataclass
class Fault:
    kind: str
    body: str
    lines: tuple[str, ...] | None = None
    says: tuple[str, ...] = ()
    params: tuple[tuple[str, str], ...] = AO
    args: Callable[[], list[Arg]] = ao
    blocks: int = 1
    ub: int = 65536
    end: bool = True
    head: str = HEAD


def op(text: str) -> str:
    return LOAD + text + STORE


def with_scalar(value: int) -> Callable[[], list[Arg]]:
    return lambda: [*ao(), ScalarArg(value)]


ADDS = "Adds(y, x, 1.0f, 1024); // op\n"
SCALAR = (*AO, ("n", "int32_t"))

FAULTS: dict[str, Fault] = {
    "raw_between_pipes": Fault(
        "race",
        LOAD.replace("SetFlag<", "// SetFlag<").replace("WaitFlag<", "// WaitFlag<") + ADDS + STORE,
        ("load", "op"),
        ("RAW", "MTE2", "on V", "UB bytes [0, 4096)"),
    ),
    "war_on_reload": Fault(
        "race",
        op(ADDS + "DataCopy(x, ga, 1024); // again\n"),
        ("op", "again"),
        ("WAR", "MTE2"),
    ),
    "waw_on_two_loads": Fault(
        "race",
        LOAD.replace("// load", "// load\nDataCopy(x, ga[0], 1024); // again") + ADDS + STORE,
        ("load", "again"),
        ("WAW", "MTE2"),
    ),
    "address_overlap": Fault(
        "race",
        LOAD + ADDS + "LocalTensor<float> z = ub.GetWithOffset<float>(1024, 8160);\n"
        "DataCopy(z, ga, 1024); // other\n" + STORE,
        ("op", "other"),
        ("WAW", "UB bytes [8160, 8192)"),
    ),
    "missing_v_barrier": Fault(
        "race",
        op(ADDS + "Muls(y, y, 2.0f, 1024); // second\n"),
        ("op", "second"),
        ("RAW", "V"),
    ),
    "uninitialised_to_gm": Fault(
        "undefined",
        op("Adds(y, x, 1.0f, 1000); // op\n"),
        ("store",),
        ("96 undefined bytes", "UB byte 8096"),
    ),
    "undefined_through_v": Fault(
        "undefined",
        LOAD.replace("(x, ga, 1024)", "(x, ga, 512)") + ADDS + STORE,
        ("store",),
        ("2048 undefined bytes",),
    ),
    "undefined_reduced": Fault(
        "undefined",
        op(
            "Duplicate(y, 0.0f, 1024);\nLocalTensor<float> z = ub.GetWithOffset<float>(64, 8192);\n"
            "LocalTensor<float> w = ub.GetWithOffset<float>(64, 16384);\n"
            "WholeReduceSum(w, z, 64, 1, 1, 1, 8); // op\n"
        ),
        ("op",),
        ("WholeReduceSum",),
    ),
    "undefined_scalar": Fault(
        "undefined",
        op("Duplicate(y, 0.0f, 1024);\nfloat v = ub.GetWithOffset<float>(8, 8192).GetValue(0); // op\n(void)v;\n"),
        ("op",),
        ("scalar",),
    ),
    "gm_out_of_bounds": Fault(
        "out-of-bounds",
        LOAD.replace("(x, ga, 1024)", "(x, ga[8], 1024)") + ADDS + STORE,
        ("load",),
        ("[32, 4128)", "GM argument 0", "4096 bytes"),
    ),
    "gm_before_start": Fault(
        "out-of-bounds",
        LOAD.replace("(x, ga, 1024)", "(x, ga[(uint64_t)-8], 1024)") + ADDS + STORE,
        ("load",),
        ("[-32, 4064)",),
    ),
    "gm_write_out_of_bounds": Fault(
        "out-of-bounds",
        LOAD + ADDS + STORE.replace("gout,", "gout[1016],"),
        ("store",),
        ("GM argument 1",),
    ),
    "beyond_buffer": Fault("out-of-bounds", op(ADDS), ("op",), ("buffer is [0, 8160)",), ub=8160),
    "beyond_ub": Fault("out-of-bounds", op(ADDS), None, ("InitBuffer of 188448 bytes",), ub=188448),
    "misaligned_copy": Fault(
        "misaligned",
        LOAD.replace("DataCopy(x, ga, 1024)", "DataCopy(x[1], ga, 512)") + ADDS + STORE,
        ("load",),
        ("UB byte 4", "32 B"),
    ),
    "misaligned_operand": Fault("misaligned", op("Adds(y, x[4], 1.0f, 512); // op\n"), ("op",), ("UB byte 16",)),
    "misaligned_cut": Fault(
        "misaligned",
        op(ADDS + "LocalTensor<float> z = ub.GetWithOffset<float>(8, 8200); // cut\n(void)z;\n"),
        ("cut",),
        ("8200",),
    ),
    "truncated_length": Fault(
        "truncated",
        LOAD.replace("(x, ga, 1024)", "(x, ga, 1023)") + ADDS + STORE,
        ("load",),
        ("4092", "4064"),
    ),
    "double_set": Fault(
        "double-set",
        LOAD.replace("// set1", "// set1\nSetFlag<HardEvent::MTE2_V>(0); // twice") + ADDS + STORE,
        ("set1", "twice"),
        ("MTE2_V id 0",),
    ),
    "double_set_by_order": Fault(
        # Each set has its wait, but nothing tells MTE2 that V consumed the first.
        "double-set",
        LOAD + "LocalTensor<float> z = ub.GetWithOffset<float>(1024, 8192);\nDataCopy(z, ga, 1024);\n"
        "SetFlag<HardEvent::MTE2_V>(0); // twice\nWaitFlag<HardEvent::MTE2_V>(0);\n" + ADDS + STORE,
        ("set1", "twice"),
        ("nothing orders that wait",),
    ),
    "leftover_flag": Fault(
        "leftover-flag", op(ADDS + "SetFlag<HardEvent::V_MTE2>(3); // left\n"), ("left",), ("id 3",)
    ),
    "deadlock": Fault("deadlock", op(ADDS + "WaitFlag<HardEvent::MTE3_V>(1); // stuck\n"), None, ("MTE3_V id 1",)),
    "deadlock_of_dispatch": Fault("deadlock", op(ADDS + "WaitFlag<HardEvent::V_S>(1); // stuck\n"), ("stuck",)),
    "flag_id": Fault("flag-id", op(ADDS + "SetFlag<HardEvent::V_MTE2>(6); // bad\n"), ("bad",), ("0 to 5",)),
    "flag_kind": Fault("flag-kind", op(ADDS + "SetFlag<HardEvent::M_FIX>(0); // bad\n"), ("bad",), ("M_FIX",)),
    "flag_before_destroy": Fault(
        "flag-before-destroy",
        LOAD.replace("// wait1", "// wait1\npipe.Destroy();") + ADDS + STORE,
        ("set1",),
        ("Destroy",),
        head=HEAD.replace("    pipe.Destroy();\n", ""),
    ),
    "missing_destroy": Fault(
        "missing-destroy", "", None, ("never destroyed",), head=HEAD.replace("    pipe.Destroy();\n", "")
    ),
    "missing_end_barrier": Fault("missing-end-barrier", op(ADDS), ("store",), ("PIPE_ALL",), end=False),
    "wrong_memory": Fault(
        "wrong-memory", op(ADDS + "LocalTensor<float> none;\nAdds(none, x, 1.0f, 64); // bad\n"), ("bad",), ("dst",)
    ),
    "wrong_position": Fault(
        "wrong-memory", op(ADDS), None, ("L1",), head=HEAD.replace("TPosition::VECIN", "TPosition::A1")
    ),
    "wrong_dtype": Fault(
        "wrong-dtype",
        op(ADDS),
        ("store",),
        ("fp32", "int32"),
        args=lambda: [gm("fp32", [1.0] * 1024), gm("int32", [0] * 1024)],
    ),
    "written_input": Fault(
        "readonly",
        op(ADDS),
        ("store",),
        ("GM argument 1",),
        args=lambda: [gm("fp32", [1.0] * 1024), gm("fp32", [0.0] * 1024, readonly=True)],
    ),
    "repeat_256": Fault(
        "repeat",
        op(ADDS + "Add(y, x, x, 64, n, {1, 1, 1, 8, 8, 8}); // bad\n"),
        ("bad",),
        ("256",),
        params=SCALAR,
        args=with_scalar(256),
    ),
    "repeat_stride_256": Fault(
        "stride",
        op(ADDS + "Add(y, x, x, 64, 1, BinaryRepeatParams(1, 1, 1, n, 8, 8)); // bad\n"),
        ("bad",),
        ("256",),
        params=SCALAR,
        args=with_scalar(256),
    ),
    "dst_block_stride_0": Fault(
        "stride", op(ADDS + "Add(y, x, x, 64, 1, {0, 1, 1, 8, 8, 8}); // bad\n"), ("bad",), ("stride 0",)
    ),
    "mask_0": Fault(
        "mask",
        op(ADDS + "Add(y, x, x, (uint64_t)n, 1, {1, 1, 1, 8, 8, 8}); // bad\n"),
        ("bad",),
        params=SCALAR,
        args=with_scalar(0),
    ),
    "mask_over_lanes": Fault(
        "mask", op(ADDS + "Add(y, x, x, 65, 1, {1, 1, 1, 8, 8, 8}); // bad\n"), ("bad",), ("65", "64")
    ),
    "bit_mask_over_lanes": Fault(
        "mask", op(ADDS + "uint64_t m[2] = {1, 1};\nAdd(y, x, x, m, 1, {1, 1, 1, 8, 8, 8}); // bad\n"), ("bad",)
    ),
    "partial_overlap": Fault("overlap", op("Adds(y, y[8], 1.0f, 512); // bad\n" + ADDS), ("bad",), ("src0",)),
    "repeat_feeds_repeat": Fault("overlap", op(ADDS + "Add(x, x, y, 64, 2, {1, 1, 1, 8, 0, 8}); // bad\n"), ("bad",)),
    "mask_mode_left": Fault("state-left", op(ADDS + "SetMaskCount(); // bad\n"), ("bad",), ("counter",)),
    "vector_mask_left": Fault(
        "state-left", op(ADDS + "SetVectorMask<float>(0, 3); // bad\n"), ("bad",), ("ResetMask",)
    ),
    "atomic_left": Fault("state-left", op(ADDS + "SetAtomicAdd<float>(); // bad\n"), ("bad",), ("SetAtomicNone",)),
    "atomic_dtype": Fault("wrong-dtype", op(ADDS + "SetAtomicAdd<int32_t>();\n") + "SetAtomicNone();\n", ("store",)),
    "unsupported_dtype": Fault(
        "unsupported-dtype",
        op(ADDS + "LocalTensor<bfloat16_t> h = ub.GetWithOffset<bfloat16_t>(64, 8192);\nAdd(h, h, h, 64); // bad\n"),
        ("bad",),
        ("bf16",),
    ),
    "unsupported_cast": Fault(
        "unsupported-dtype",
        op(
            ADDS + "LocalTensor<bfloat16_t> h = ub.GetWithOffset<bfloat16_t>(64, 8192);\n"
            "LocalTensor<half> k = ub.GetWithOffset<half>(64, 16384);\nCast(h, k, RoundMode::CAST_RINT, 64); // bad\n"
        ),
        ("bad",),
        ("fp16", "bf16"),
    ),
    "deq_scale_missing": Fault(
        "state",
        op(
            ADDS + "LocalTensor<half> k = ub.GetWithOffset<half>(64, 16384);\n"
            "Cast(k, x.ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, 64); // bad\n"
        ),
        ("bad",),
    ),
    "blocks_race_on_gm": Fault(
        "race", op(ADDS), ("store", "store"), ("WAW", "GM argument 1", "blocks 0 and 1"), blocks=2
    ),
    "block_reads_what_another_writes": Fault(
        # In place through two names of one tensor: ordered on one core, a race between two.
        "race",
        op(ADDS),
        ("load", "store"),
        ("GM argument",),
        blocks=2,
        args=aliased,
    ),
    "gm_raw_on_one_core": Fault(
        "race", op(ADDS) + "DataCopy(x, gout, 1024); // back\n", ("store", "back"), ("RAW", "GM argument 1")
    ),
    "endless_calls": Fault("endless", "while (true) {\nPipeBarrier<PIPE_V>(); // op\n}\n", ("op",)),
    "endless_scalar": Fault("endless", op(ADDS) + "volatile int spin = 1;\nwhile (spin != 0) {\n}\n", None),
    "division_by_zero": Fault(
        "crash", op(ADDS) + "volatile int z = n;\nz = 1000 / z;\n", None, params=SCALAR, args=with_scalar(0)
    ),
    "wild_pointer": Fault("crash", op(ADDS) + "*(volatile float*)a = 1.0f;\n", None),
    "endless_recursion": Fault(
        "crash",
        op(ADDS) + "recurse(1);\n",
        None,
        head=HEAD.replace(
            "extern", "static int recurse(volatile int n) { return n == 0 ? 0 : recurse(n + 1) + n; }\nextern", 1
        ),
    ),
    "too_many_buffers": Fault(
        "buffers",
        "",
        None,
        ("64",),
        head=HEAD.replace(
            "    pipe.Destroy();\n",
            "    for (int i = 0; i < 64; ++i) {\n        TBuf<TPosition::VECIN> more;\n"
            "        pipe.InitBuffer(more, 32);\n    }\n    pipe.Destroy();\n",
        ),
    ),
    "scalar_gm_write": Fault("unsupported", op(ADDS) + "gout.SetValue(0, 1.0f); // bad\n", ("bad",)),
    "stale_scalar_read": Fault(
        "stale", op(ADDS) + "PipeBarrier<PIPE_ALL>();\nfloat v = gout.GetValue(0); // bad\n(void)v;\n", ("bad",)
    ),
    "scalar_read_unordered": Fault(
        "race", op(ADDS + "float v = y.GetValue(3); // bad\n(void)v;\n"), ("op", "bad"), ("RAW",)
    ),
    "scalar_write_unordered": Fault("race", op("y.SetValue(3, 1.0f); // bad\n" + ADDS), ("bad", "op"), ("WAW",)),
}


for _name, _fault in FAULTS.items():
    BATCH.kernel(_name, _fault.params, _fault.body, ub=_fault.ub, end=_fault.end, head=_fault.head)
BATCH.kernel("sound", AO, op(ADDS))


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_some_blocks_of_a_launch(seed: int) -> None:
    """They are the blocks they are in the whole launch, and race with each other alone."""
    name = "blocks_race_on_gm"
    (race,) = BATCH.run(name, ao(), blocks=9, seed=seed, only=(7, 2)).findings
    assert "blocks 2 and 7" in race.message
    alone = BATCH.run(name, ao(), blocks=9, seed=seed, only=(7,), records=True)
    assert alone.findings == ()
    assert {record.block for record in alone.records} == {7}
    for wrong in ((9,), (-1, 2)):
        with pytest.raises(ValueError, match="of 9"):
            BATCH.run(name, ao(), blocks=9, only=wrong)


@pytest.mark.parametrize("seed", [0, 1, 5])
@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(name: str, seed: int) -> None:
    fault = FAULTS[name]
    report = BATCH.run(name, fault.args(), blocks=fault.blocks, seed=seed, max_steps=3_000_000, max_events=20_000)
    matching = [f for f in report.findings if f.kind == fault.kind]
    assert matching, report
    if fault.lines is not None:
        wanted = tuple(line_of(BATCH.sources[name], tag) for tag in fault.lines)
        matching = [f for f in matching if set(f.lines) == set(wanted)]
        assert matching, (wanted, report)
        for line in wanted:
            assert any(str(line) in f.message for f in matching)
    assert any(all(word in f.message for word in fault.says) for f in matching), matching


@pytest.mark.parametrize("seed", range(12))
def test_kernel_without_the_fault_is_clean(seed: int) -> None:
    args = ao()
    report = BATCH.run("sound", args, seed=seed)
    assert report.findings == ()
    assert report.instructions == 3


def test_process_survives_faults_one_after_another() -> None:
    for _ in range(3):
        for name in ("division_by_zero", "endless_recursion", "wild_pointer"):
            fault = FAULTS[name]
            assert "crash" in BATCH.run(name, fault.args()).kinds()
        assert BATCH.run("sound", ao()).ok

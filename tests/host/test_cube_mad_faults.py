"""Faults of Mmad, Fixpipe and unit flags, planted in a cube kernel that is otherwise correct."""

from __future__ import annotations

import pytest

from tests.host.cube import HEAD, sync
from tests.host.planted import (
    BIASED,
    BYTES,
    DRAIN,
    FLOATS,
    MAD,
    PLAIN,
    TURNED,
    TWICE,
    WINDOW,
    Fault,
    find,
    plant,
    split,
)
from tests.host.rendered import Batch

BATCH = Batch()

FAULTS: dict[str, Fault] = {
    # -- Mmad
    "m_beyond_the_call": Fault(
        "repeat", PLAIN, MAD, "MmadParams(4096, 48, 64, 0, false, true)", ("mad",), ("m 4096", "4095")
    ),
    "sums_misaligned": Fault("misaligned", PLAIN, "Mmad(co,", "Mmad(co[128],", ("mad",), ("L0C byte 512", "1024 B")),
    "types_that_do_not_meet": Fault(
        "unsupported-dtype",
        PLAIN,
        "Mmad(co, a2,",
        "Mmad(co, a2.ReinterpretCast<float>(),",
        ("mad",),
        ("fp32 and fp16",),
    ),
    "operand_of_another_type": Fault(
        "wrong-dtype",
        PLAIN,
        "Mmad(co, a2, b2,",
        "Mmad(co, a2.ReinterpretCast<bfloat16_t>(), b2.ReinterpretCast<bfloat16_t>(),",
        ("mad", "split_a"),
        ("as bf16", "loaded it as fp16"),
    ),
    "more_rows_than_were_loaded": Fault(
        "undefined",
        PLAIN,
        MAD,
        "MmadParams(49, 48, 64, 0, false, true)",
        ("mad",),
        ("L0A byte 6144", "(3, 0) of 4 x 4"),
    ),
    "less_k_than_was_loaded": Fault(
        "layout",
        PLAIN,
        MAD,
        "MmadParams(40, 48, 48, 0, false, true)",
        ("mad", "split_a"),
        ("fractal (1, 0) of 3 x 3", "rows from 16", "rows from 0 and k from 48"),
    ),
    "less_n_than_was_loaded": Fault(
        "layout",
        PLAIN,
        MAD,
        "MmadParams(40, 32, 64, 0, false, true)",
        ("mad", "split_b"),
        ("L0B", "columns from 32 and k from 0"),
    ),
    "k_not_aligned": Fault(
        "layout",
        FLOATS,
        "AlignedMmadParams(",
        "MmadParams(",
        ("mad", "split_a"),
        ("kDirectionAlign false", "fractal (1, 0) of 3 x 5"),
    ),
    "k_aligned_for_nothing": Fault(
        "layout",
        FLOATS.but(a_trans=False),
        "Mmad(co, a2, b2, MmadParams(",
        "Mmad(co, a2, b2, AlignedMmadParams(",
        ("mad", "split_a"),
        ("kDirectionAlign true",),
    ),
    "rows_of_fractals_apart": Fault(
        "layout",
        TURNED,
        "LoadData(b2[768], b1[768], LoadData2DParams(0, 3, 1, 0, 0, false, 0));",
        "LoadData(b2[768], b1[768], LoadData2DParams(0, 3, 2, 0, 0, false, 0));",
        ("mad", "split_b1"),
        ("columns from",),
    ),
    "one_row_of_a_matrix": Fault(
        "layout",
        PLAIN,
        MAD,
        "MmadParams(1, 48, 64, 0, false, true)",
        ("mad", "split_a"),
        ("m = 1", "pass m = 16"),
    ),
    "a_row_for_a_matrix": Fault(
        "layout",
        PLAIN,
        WINDOW,
        "DataCopy(a1, ga, Nd2NzParams(1, 1, 1024, 0, 1024, 1, 1, 0)); // again\n"
        + sync("MTE2_MTE1", 1)
        + split(0, 12, 0, 0, 0, "false", 0),
        ("mad", "split_a"),
        ("loaded a row there",),
    ),
    "bias_that_is_not_read": Fault(
        "bias",
        BIASED,
        "MmadParams(40, 48, 64, 0, true, false)",
        "MmadParams(40, 48, 64, 0, true, true)",
        ("mad",),
        ("cmatrixInitVal is true",),
    ),
    "bias_misaligned": Fault(
        "misaligned", BIASED, "b2, bias2, Mmad", "b2, bias2[8], Mmad", ("mad",), ("BT byte 32", "64 B")
    ),
    "source_without_bias": Fault(
        "unsupported", PLAIN, MAD, "MmadParams(40, 48, 64, 0, true, false)", ("mad",), ("fourth argument",)
    ),
    "dead_fields": Fault(
        "unsupported", PLAIN, MAD, "MmadParams(40, 48, 64, false, 3, false, false, false)", ("mad",), ("fmOffset",)
    ),
    "tile_of_another_height": Fault(
        "layout",
        TWICE,
        "MmadParams(40, 48, 64, 0, false, false)",
        "MmadParams(32, 48, 64, 0, false, false)",
        ("mad1", "mad"),
        ("2 boxes a column", "one of 3"),
    ),
    "sums_of_nothing": Fault(
        "undefined",
        PLAIN,
        MAD,
        "MmadParams(40, 48, 64, 0, false, false)",
        ("drain",),
        ("1920 undefined elements", "row 0, column 0"),
    ),
    # -- Fixpipe
    "rows_that_were_not_computed": Fault(
        "undefined",
        PLAIN,
        DRAIN,
        DRAIN.replace("(48, 40, 48, 48", "(40, 48, 48, 40"),
        ("drain",),
        ("320 undefined elements", "row 40, column 0"),
    ),
    "columns_of_another_tile": Fault(
        "layout",
        PLAIN,
        DRAIN,
        DRAIN.replace("(48, 40, 48, 48", "(32, 32, 32, 48"),
        ("drain", "mad"),
        ("48 rows apart", "srcStride 32"),
    ),
    "columns_beyond_the_call": Fault(
        "repeat", PLAIN, DRAIN, DRAIN.replace("(48, 40", "(4096, 40"), ("drain",), ("nSize 4096", "4095")
    ),
    "rows_beyond_fixpipe": Fault(
        "repeat", PLAIN, DRAIN, DRAIN.replace("(48, 40", "(48, 8193"), ("drain",), ("mSize 8193", "8192")
    ),
    "rows_that_overlap": Fault(
        "overlap", PLAIN, DRAIN, DRAIN.replace("48, 48, false", "48, 40, false"), ("drain",), ("dstStride 40",)
    ),
    "drain_misaligned": Fault("misaligned", PLAIN, "(gc, co,", "(gc, co[8],", ("drain",), ("L0C byte 32", "64 B")),
    "result_out_of_bounds": Fault(
        "out-of-bounds", PLAIN, "(gc, co,", "(gc[1], co,", ("drain",), ("GM argument 2", "7680 bytes")
    ),
    "several_matrices": Fault(
        "unsupported", PLAIN, DRAIN, DRAIN.replace("0, 1, 0, 0, 0)", "0, 2, 9, 9, 0)"), ("drain",), ("ndNum",)
    ),
    "cast_that_does_not_exist": Fault(
        "unsupported-dtype",
        PLAIN,
        "QuantMode_t::NoQuant",
        "QuantMode_t::F322F16",
        ("drain",),
        ("fp32 to fp32", "F322F16"),
    ),
    "fp32_to_l1": Fault(
        "unsupported-dtype",
        PLAIN,
        "Fixpipe<float, float, CFG_ROW_MAJOR>(gc, co,",
        "Fixpipe<float, float, CFG_NZ>(l1.GetWithOffset<float>(4096, 400000), co,",
        ("drain",),
        ("Fixpipe.mat of fp32 to fp32",),
    ),
    "rows_to_l1": Fault(
        "unsupported",
        PLAIN,
        "Fixpipe<float, float, CFG_ROW_MAJOR>(gc, co,",
        "Fixpipe<half, float, CFG_ROW_MAJOR>(l1.GetWithOffset<half>(4096, 400000), co,",
        ("drain",),
        ("only CFG_NZ",),
    ),
    "columns_to_l1_unrounded": Fault(
        "stride",
        PLAIN,
        "Fixpipe<float, float, CFG_ROW_MAJOR>(gc, co, FixpipeParamsV220(48,",
        "Fixpipe<half, float, CFG_NZ>(l1.GetWithOffset<half>(4096, 400000), co, FixpipeParamsV220(40,",
        ("drain",),
        ("nSize 40", "multiple of 16"),
    ),
    "scale_that_was_not_set": Fault(
        "scale",
        BYTES.but(out="fp16", quant="DEQF16"),
        "FixpipeParamsV220(64, 40, 48, 64, false, QuantMode_t::DEQF16, 0, 1, 0, 0, 0)",
        "Unset()",
        ("drain",),
        ("was not set",),
        head=HEAD.replace(
            "static constexpr int32_t",
            "inline FixpipeParamsV220 Unset() { FixpipeParamsV220 p(64, 40, 48, 64, false); p.quantPre = "
            "QuantMode_t::DEQF16; return p; }\nstatic constexpr int32_t",
        ),
    ),
    "atomic_of_another_type": Fault(
        "wrong-dtype",
        PLAIN,
        "Fixpipe<",
        "SetAtomicAdd<half>();\nFixpipe<",
        ("drain",),
        ("fp32 while atomics are set for fp16",),
    ),
    "sums_of_another_type": Fault(
        "wrong-dtype",
        PLAIN.but(out="int32"),
        "Fixpipe<int32_t, float, CFG_ROW_MAJOR>(gc, co,",
        "Fixpipe<int32_t, int32_t, CFG_ROW_MAJOR>(gc, co.ReinterpretCast<int32_t>(),",
        ("drain", "mad"),
        ("as int32", "wrote fp32"),
    ),
    # -- unit flags
    "unit_flag_of_one": Fault(
        "unit-flag", PLAIN, MAD, MAD.replace("64, 0,", "64, 1,"), ("mad",), ("unitFlag 1", "0, 2 or 3")
    ),
    "unit_flag_set_for_nobody": Fault(
        "unit-flag", PLAIN, MAD, MAD.replace("64, 0,", "64, 3,"), ("mad",), ("[0, 9216)", "still set at kernel end")
    ),
    "unit_flag_of_a_part": Fault(
        "unit-flag",
        PLAIN.but(unit=True),
        "FixpipeParamsV220(48, 40, 48, 48",
        "FixpipeParamsV220(32, 40, 48, 48",
        ("mad",),
        ("[6144, 9216)",),
    ),
    "unit_flag_never_set": Fault(
        "deadlock",
        PLAIN.but(unit=True),
        "64, 3, false, true)",
        "64, 2, false, true)",
        says=("pipe FIX waits", "unit flag of L0C bytes [0, 512)"),
    ),
    "unit_flag_set_twice": Fault(
        # Fixpipe takes the sums of the first.
        "unit-flag",
        TWICE.but(unit=True),
        "64, 2, false, true)",
        "64, 3, false, true)",
        ("mad1",),
        ("still set at kernel end",),
    ),
    "unit_flag_never_reset": Fault(
        "deadlock",
        PLAIN.but(unit=True, extra="Mmad(co, a2, b2, MmadParams(40, 48, 64, 2, false, true));\n"),
        "0, 3)); // drain",
        "0, 2)); // drain",
        says=("pipe M waits", "reset the unit flag", "[0, 512)"),
    ),
}


plant(BATCH, FAULTS)


@pytest.mark.parametrize("seed", [0, 1, 5])
@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(name: str, seed: int) -> None:
    find(BATCH, name, FAULTS[name], seed)

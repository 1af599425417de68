"""What every call of the cube core computes, against integers that all of its types hold exactly."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from pypto_spec.host import Arg, GmArg
from tests.host.cube import HEAD, RIGHT, Matmul, sync, up
from tests.host.rendered import CPP, SIZE, Batch, gm, round_to, values

BATCH = Batch()
Matrix = list[list[int]]

SIZES = ((17, 33, 36), (32, 48, 64), (64, 16, 100), (16, 130, 20), (1 + 48, 7, 8))
FORMS = {
    f"form_{dtype}_{'t' if a else 'n'}{'t' if b else 'n'}_{m}_{n}_{k}": Matmul(dtype, m, n, k, a, b)
    for dtype, a, b, (m, n, k) in itertools.product(
        ("fp16", "bf16", "fp32", "int8"), (False, True), (False, True), SIZES
    )
}
VARIANTS = {
    "steps": Matmul("fp16", 20, 40, 24, steps=4),
    "steps_large": Matmul("fp16", 64, 64, 16, steps=3),
    "steps_int8": Matmul("int8", 20, 40, 64, steps=3),
    "bias": Matmul("fp16", 20, 40, 24, bias=True),
    "bias_steps": Matmul("fp32", 20, 40, 24, bias=True, steps=2),
    "bias_int8": Matmul("int8", 20, 40, 64, bias=True),
    "unit": Matmul("bf16", 20, 40, 24, unit=True),
    "unit_steps": Matmul("fp16", 33, 40, 24, steps=3, unit=True),
    "relu": Matmul("fp16", 20, 40, 24, relu=True),
    "relu_int8": Matmul("int8", 20, 40, 64, relu=True),
    "to_fp16": Matmul("fp16", 20, 40, 24, out="fp16", quant="F322F16"),
    "to_bf16": Matmul("bf16", 20, 40, 24, out="bf16", quant="F322BF16", relu=True),
}
_CHOSEN = random.Random(5)
RANDOM = {
    f"random_{i}": Matmul(
        _CHOSEN.choice(["fp16", "bf16", "fp32", "int8"]),
        _CHOSEN.randint(2, 64),
        _CHOSEN.randint(1, 128),
        _CHOSEN.randint(1, 128),
        _CHOSEN.random() < 0.5,
        _CHOSEN.random() < 0.5,
        bias=_CHOSEN.random() < 0.5,
        unit=_CHOSEN.random() < 0.5,
        steps=_CHOSEN.randint(1, 3),
    )
    for i in range(24)
}
for _name, _case in RANDOM.items():
    if up(_case.mad_n, 16) != up(_case.n, 16):  # boxes that Fixpipe does not read would keep their unit flags
        RANDOM[_name] = _case.but(unit=False)
CASES = FORMS | VARIANTS | RANDOM


def matrix(rows: int, columns: int, seed: int, most: int = 4) -> Matrix:
    made = random.Random(seed)
    return [[made.randint(-most, most) for _ in range(columns)] for _ in range(rows)]


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def turned(a: Matrix, turn: bool) -> list[int]:
    return [x for row in (zip(*a, strict=True) if turn else a) for x in row]


def flat(a: Sequence[Sequence[float]]) -> list[float]:
    return [x for row in a for x in row]


def operands(case: Matmul) -> tuple[Matrix, Matrix, list[int], list[Arg]]:
    a, b = matrix(case.m, case.k, 1), matrix(case.k, case.n, 2)
    bias = matrix(1, case.n, 3, 50)[0]
    args: list[Arg] = [
        gm(case.dtype, turned(a, case.a_trans), readonly=True),
        gm(case.dtype, turned(b, case.b_trans), readonly=True),
    ]
    if case.bias:
        args.append(gm(case.acc, bias, readonly=True))
    args.append(gm(case.target, [7] * (case.m * case.n)))
    return a, b, bias, args


for _name, _case in CASES.items():
    BATCH.kernel(_name, _case.params(), _case.body(), head=HEAD)


@pytest.mark.parametrize("name", CASES)
def test_product_is_exact(name: str) -> None:
    case = CASES[name]
    a, b, bias, args = operands(case)
    wanted = [
        [
            round_to(case.target, max(x, 0) if case.relu else x)
            for x in (case.steps * y + (z if case.bias else 0) for y, z in zip(row, bias, strict=True))
        ]
        for row in product(a, b)
    ]
    for seed in (0, 1, 5):
        report = BATCH.run(name, args, seed=seed)
        assert report.findings == ()
        assert values(args[-1]) == flat(wanted)


# ---- windows, rows, chains and what Fixpipe writes beside plain rows ------------------------------------------


def copy_out(
    m: int, n: int, source: str = "co", pitch: int = 0, dtype: str = "float", to: str = "gc", flags: str = ""
) -> str:
    return (
        f"Fixpipe<{dtype}, {dtype}, CFG_ROW_MAJOR>({to}, {source}, FixpipeParamsV220({n}, {m}, {pitch or up(m, 16)}, "
        f"{n}, false, QuantMode_t::NoQuant, 0, 1, 0, 0, 0)); // drain\n{flags}"
    )


WHOLE_M, WHOLE_N, WHOLE_K = 64, 96, 80
WINDOWS = {
    # dtype, a_trans, first row, column and k of the window, its size
    f"window_{dtype}_{int(trans)}": (dtype, trans, 16, 32, 32, 30, 40, 40)
    for dtype, trans in itertools.product(("fp16", "fp32"), (False, True))
}
for _name, (_dtype, _trans, _m0, _n0, _k0, _m, _n, _k) in WINDOWS.items():
    _t, _c0 = CPP[_dtype], 32 // SIZE[_dtype]
    _a_rows, _a_cols = (WHOLE_K, WHOLE_M) if _trans else (WHOLE_M, WHOLE_K)
    _at = (_k0, _m0) if _trans else (_m0, _k0)
    _size = (up(_k, 16), up(_m, _c0)) if _trans else (up(_m, 16), up(_k, _c0))
    _make = "AlignedMmadParams" if _trans and _dtype == "fp32" else "MmadParams"
    BATCH.kernel(
        _name,
        (("a", _dtype), ("b", _dtype), ("c", "fp32")),
        f"""
        LocalTensor<{_t}> a1 = l1.GetWithOffset<{_t}>({_a_rows * _a_cols}, 0);
        LocalTensor<{_t}> b1 = l1.GetWithOffset<{_t}>({WHOLE_K * WHOLE_N}, {RIGHT});
        LocalTensor<{_t}> a2 = l0a.GetWithOffset<{_t}>(8192, 1024);
        LocalTensor<{_t}> b2 = l0b.GetWithOffset<{_t}>(8192, 512);
        LocalTensor<float> co = l0c.GetWithOffset<float>(4096, 2048);
        DataCopy(a1, ga, Nd2NzParams(1, {_a_rows}, {_a_cols}, 0, {_a_cols}, {_a_rows}, 1, 0));
        DataCopy(b1, gb, Nd2NzParams(1, {WHOLE_K}, {WHOLE_N}, 0, {WHOLE_N}, {WHOLE_K}, 1, 0));
        {sync("MTE2_MTE1")}
        LoadData(a2, a1, MatrixParams<{_t}>({_a_rows}, {_a_cols}, {_at[0]}, {_at[1]}, {_size[0]}, {_size[1]},
        {"true" if _trans else "false"}));
        LoadData(b2, b1, MatrixParams<{_t}>({WHOLE_K}, {WHOLE_N}, {_k0}, {_n0}, {up(_k, 16)}, {up(_n, _c0)}, false));
        {sync("MTE1_M")}
        Mmad(co, a2, b2, {_make}({_m}, {_n}, {_k}, 0, false, true));
        {sync("M_FIX")}
        {copy_out(_m, _n)}
        """,
        head=HEAD,
    )


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_of_a_matrix_by_start_points(name: str) -> None:
    dtype, trans, m0, n0, k0, m, n, k = WINDOWS[name]
    a, b = matrix(WHOLE_M, WHOLE_K, 1), matrix(WHOLE_K, WHOLE_N, 2)
    args = [gm(dtype, turned(a, trans)), gm(dtype, flat(b)), gm("fp32", [0] * (m * n))]
    assert BATCH.run(name, args).findings == ()
    part = product([row[k0 : k0 + k] for row in a[m0 : m0 + m]], [row[n0 : n0 + n] for row in b[k0 : k0 + k]])
    assert values(args[-1]) == flat(part)


GEMV = {f"gemv_{dtype}_{k}": (dtype, 40, k) for dtype in ("fp16", "fp32", "int8") for k in (20, 200)}
for _name, (_dtype, _n, _k) in GEMV.items():
    _mm = Matmul(_dtype, 1, _n, _k, b_trans=True)
    _repeat = -(-_k * SIZE[_dtype] // 512)
    BATCH.kernel(
        _name,
        _mm.params(),
        _mm.tensors()
        + f"DataCopy(a1, ga, Nd2NzParams(1, 1, {_k}, 0, {_k}, 1, 1, 0));\n"
        + _mm.load().splitlines()[1]
        + "\n"
        + sync("MTE2_MTE1")
        + f"LoadData(a2, a1, LoadData2DParams(0, {_repeat}, 1, 0, 0, false, 0));\n"
        + _mm.split_b()
        + sync("MTE1_M")
        + _mm.mads()
        + sync("M_FIX")
        + _mm.drain(),
        head=HEAD,
    )


@pytest.mark.parametrize("name", GEMV)
def test_one_row_is_read_as_it_lies(name: str) -> None:
    dtype, n, k = GEMV[name]
    case = Matmul(dtype, 1, n, k, b_trans=True)
    a, b, _, args = operands(case)
    assert BATCH.run(name, args).findings == ()
    assert values(args[-1]) == flat(product(a, b))


# A row, 16 rows of which are computed and one is stored: no GEMV.
_ROW = Matmul("fp16", 1, 40, 36)
BATCH.kernel(
    "row_of_sixteen",
    _ROW.params(),
    _ROW.tensors()
    + _ROW.load()
    + sync("MTE2_MTE1")
    + _ROW.split_a()
    + _ROW.split_b()
    + sync("MTE1_M")
    + "Mmad(co, a2, b2, MmadParams(16, 40, 36, 0, false, true));\n"
    + sync("M_FIX")
    + _ROW.drain(),
    head=HEAD,
)


def test_a_tail_of_one_row_goes_as_sixteen() -> None:
    a, b, _, args = operands(_ROW)
    assert BATCH.run("row_of_sixteen", args).findings == ()
    assert values(args[-1]) == flat(product(a, b))


# nd rows loaded one by one, because their pitch is beyond what the call can say; no rows of L1 are touched twice.
_PITCH = Matmul("fp16", 3, 16, 16)
BATCH.kernel(
    "row_by_row",
    _PITCH.params(),
    _PITCH.tensors()
    + "for (int32_t i = 0; i < 3; ++i) {\n"
    + "DataCopy(a1[i * 16], ga[i * 70000], Nd2NzParams(1, 1, 16, 0, 16, 16, 1, 0));\n}\n"
    + _PITCH.load().splitlines()[1]
    + "\n"
    + sync("MTE2_MTE1")
    + "LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));\n"
    + _PITCH.split_b()
    + sync("MTE1_M")
    + _PITCH.mads()
    + sync("M_FIX")
    + _PITCH.drain(),
    head=HEAD,
)


def test_rows_farther_apart_than_a_call_can_say() -> None:
    a, b, _, args = operands(_PITCH)
    wide = [0] * (2 * 70000 + 16)
    for i, row in enumerate(a):
        wide[i * 70000 : i * 70000 + 16] = row
    args[0] = gm("fp16", wide)
    assert BATCH.run("row_by_row", args).findings == ()
    assert values(args[-1]) == flat(product(a, b))


# (A @ B) @ D, with the first product rounded to fp16 in L1.
CHAIN_M, CHAIN_N, CHAIN_K, CHAIN_L = 20, 32, 24, 48
_CHAIN = Matmul("fp16", CHAIN_M, CHAIN_N, CHAIN_K)
BATCH.kernel(
    "chain",
    (("a", "fp16"), ("b", "fp16"), ("d", "fp16"), ("c", "fp32")),
    _CHAIN.tensors()
    + f"LocalTensor<half> mid = l1.GetWithOffset<half>({32 * CHAIN_N}, 300000 / 32 * 32);\n"
    + f"LocalTensor<half> d1 = l1.GetWithOffset<half>({CHAIN_N * CHAIN_L}, 320000);\n"
    + "LocalTensor<float> co2 = l0c.GetWithOffset<float>(4096, 65536);\n"
    + _CHAIN.load()
    + f"DataCopy(d1, gd, Nd2NzParams(1, {CHAIN_N}, {CHAIN_L}, 0, {CHAIN_L}, {CHAIN_N}, 1, 0));\n"
    + sync("MTE2_MTE1")
    + _CHAIN.split_a()
    + _CHAIN.split_b()
    + sync("MTE1_M")
    + _CHAIN.mads()
    + sync("M_FIX")
    + sync("M_MTE1")
    + f"Fixpipe<half, float, CFG_NZ>(mid, co, FixpipeParamsV220({CHAIN_N}, {CHAIN_M}, 32, 32, true, "
    "QuantMode_t::F322F16, 0, 1, 0, 0, 0));\n"
    + sync("FIX_MTE1")
    + f"LoadData(a2, mid, MatrixParams<half>(32, {CHAIN_N}, 0, 0, 32, {CHAIN_N}, false));\n"
    + f"LoadData(b2, d1, MatrixParams<half>({CHAIN_N}, {CHAIN_L}, 0, 0, {CHAIN_N}, {CHAIN_L}, false));\n"
    + sync("MTE1_M")
    + f"Mmad(co2, a2, b2, MmadParams({CHAIN_M}, {CHAIN_L}, {CHAIN_N}, 0, false, true));\n"
    + sync("M_FIX")
    + copy_out(CHAIN_M, CHAIN_L, "co2"),
    head=HEAD,
)


def test_chained_products_through_l1() -> None:
    a, b = matrix(CHAIN_M, CHAIN_K, 1), matrix(CHAIN_K, CHAIN_N, 2)
    d = matrix(CHAIN_N, CHAIN_L, 3)
    args = [
        gm("fp16", flat(a)),
        gm("fp16", flat(b)),
        gm("fp16", flat(d)),
        gm("fp32", [0] * (CHAIN_M * CHAIN_L)),
    ]
    for seed in range(4):
        assert BATCH.run("chain", args, seed=seed).findings == ()
    middle = [[max(x, 0) for x in row] for row in product(a, b)]
    assert values(args[-1]) == flat(product(middle, d))


_ATOMIC = Matmul("fp16", 20, 40, 24)
BATCH.kernel(
    "atomic",
    _ATOMIC.params(),
    _ATOMIC.body().replace("Fixpipe<", "SetAtomicAdd<float>();\nFixpipe<").replace("// drain", "\nSetAtomicNone();"),
    head=HEAD,
)
_BLOCKS = Matmul("fp16", 16, 16, 16)
BATCH.kernel(
    "nz_to_gm",
    (("a", "fp16"), ("b", "fp16"), ("c", "fp32")),
    _ATOMIC.body()
    .replace("CFG_ROW_MAJOR", "CFG_NZ")
    .replace("FixpipeParamsV220(40, 20, 32, 40", "FixpipeParamsV220(48, 20, 32, 42"),
    head=HEAD,
)


def test_atomic_adds_to_gm_by_several_blocks() -> None:
    a, b, _, args = operands(_ATOMIC)
    for seed in (0, 3):
        args[-1] = gm("fp32", [7] * (20 * 40))
        assert BATCH.run("atomic", args, blocks=3, seed=seed).findings == ()
        assert values(args[-1]) == [7 + 3 * x for x in flat(product(a, b))]


def test_column_blocks_to_gm() -> None:
    a, b, _, args = operands(_ATOMIC.but(n=40))
    args[-1] = gm("fp32", [7] * (3 * 42 * 8))
    report = BATCH.run("nz_to_gm", args)
    # Columns 40 to 47 were not computed.
    assert [f.kind for f in report.findings] == ["undefined"]
    assert "160 undefined elements" in report.findings[0].message
    got, wanted = values(args[-1]), product(a, b)
    for row, column in itertools.product(range(20), range(40)):
        assert got[(column // 16) * 42 * 8 + row * 16 + column % 16] == wanted[row][column]


def test_sums_of_int8_saturate() -> None:
    args: list[Arg] = [
        gm("int8", [127] * 16 * 32),
        gm("int8", [127] * 32 * 16),
        gm("int32", [2**31 - 1000] * 16),
        gm("int32", [0] * 256),
    ]
    assert BATCH.run("saturated", args).findings == ()
    assert set(values(args[-1])) == {2**31 - 1}


_SATURATED = Matmul("int8", 16, 16, 32, b_trans=True, bias=True)
BATCH.kernel("saturated", _SATURATED.params(), _SATURATED.body(), head=HEAD)


def test_fp32_keeps_all_its_digits_and_adds_in_the_order_of_k() -> None:
    case = Matmul("fp32", 16, 16, 8)
    row = [2.0**24, 1.0, 1.0, -(2.0**24), 0.5 + 2.0**-20, 0, 0, 0]
    args: list[Arg] = [gm("fp32", row * 16), gm("fp32", [1.0] * 128), gm("fp32", [0] * 256)]
    assert BATCH.run("digits", args).findings == ()
    assert set(values(args[-1])) == {0.5 + 2.0**-20}
    assert case.k == 8


_DIGITS = Matmul("fp32", 16, 16, 8)
BATCH.kernel("digits", _DIGITS.params(), _DIGITS.body(), head=HEAD)


def test_arguments_may_be_given_by_address() -> None:
    a, b, _, args = operands(_DIGITS)
    kept = [bytearray(x.data) for x in args if isinstance(x, GmArg)]
    assert BATCH.run("digits", [*args[:2], GmArg(kept[2], "fp32")]).ok
    assert values(GmArg(kept[2], "fp32")) == flat(product(a, b))

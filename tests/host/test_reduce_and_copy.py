"""Reductions, Brcb and every way of moving data, against references written apart from the engine."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest

from pypto_spec.host import Arg, RunReport
from tests.host.rendered import CPP, SIZE, Batch, gm, round_to, values

BATCH = Batch()
SPACE = 32768
FLOATS = ("fp32", "fp16")


def lanes(dtype: str) -> int:
    return 256 // SIZE[dtype]


def vector(name: str, dtype: str, body: str, src: str | None = None) -> None:
    """A kernel that applies ``body`` to x (in ``a``) and z (in and out)."""
    src = src or dtype
    BATCH.kernel(
        name,
        (("a", src), ("out", dtype)),
        f"""
        LocalTensor<{CPP[src]}> x = ub.GetWithOffset<{CPP[src]}>({SPACE // SIZE[src]}, 0);
        LocalTensor<{CPP[dtype]}> z = ub.GetWithOffset<{CPP[dtype]}>({SPACE // SIZE[dtype]}, {SPACE});
        DataCopy(x, ga, {SPACE // SIZE[src]});
        DataCopy(z, gout, {SPACE // SIZE[dtype]});
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        {body}
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(gout, z, {SPACE // SIZE[dtype]});
        """,
        ub=2 * SPACE,
    )


def floats(dtype: str, count: int, seed: int = 0) -> list[float]:
    generator = random.Random(seed)
    return [round_to(dtype, generator.uniform(-8, 8)) for _ in range(count)]


def apply(name: str, dtype: str, x: list[float], old: list[float], src: str | None = None) -> list[float]:
    args: list[Arg] = [gm(src or dtype, x, readonly=True), gm(dtype, old)]
    report = BATCH.run(name, args, seed=2)
    assert report.findings == ()
    return values(args[1])


def tree(numbers: list[float]) -> float:
    """Neighbours added in fp32 until one is left."""
    row = list(numbers)
    while len(row) > 1:
        pairs = [round_to("fp32", a + b) for a, b in zip(row[::2], row[1::2], strict=False)]
        row = pairs + row[len(row) // 2 * 2 :]
    return row[0]


for _d in FLOATS:
    _l = lanes(_d)
    vector(f"sum_{_d}", _d, f"WholeReduceSum(z, x, {_l}, 5, 1, 1, 10);")
    vector(f"sum_mask_{_d}", _d, f"WholeReduceSum(z, x, {_l - 13}, 3, 2, 1, 8);")
    vector(f"max_{_d}", _d, f"WholeReduceMax(z, x, {_l - 3}, 5, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);")
    vector(f"min_{_d}", _d, f"WholeReduceMin(z, x, {_l}, 5, 1, 1, 8);")
    vector(
        f"bits_{_d}",
        _d,
        "uint64_t m[2] = {0xF0F1, 0};\nWholeReduceMax(z, x, m, 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);",
    )
    vector(f"blocksum_{_d}", _d, f"BlockReduceSum(z, x, 3, {_l}, 1, 1, 8);")
    vector(f"blockmax_{_d}", _d, f"BlockReduceMax(z, x, 3, {_l}, 1, 1, 8);")
    vector(f"blockmin_{_d}", _d, f"BlockReduceMin(z, x, 3, {_l}, 1, 1, 8);")
    vector(f"pair_{_d}", _d, f"PairReduceSum(z, x, 3, {_l}, 1, 1, 8);")
    vector(
        f"counter_{_d}",
        _d,
        f"SetMaskCount();\nSetVectorMask<{CPP[_d]}, MaskMode::COUNTER>({2 * _l + 9});\n"
        f"WholeReduceSum<{CPP[_d]}, false>(z, x, MASK_PLACEHOLDER, 1, 1, 1, 8);\nSetMaskNorm();\nResetMask();",
    )
for _d in ("fp32", "fp16", "int32", "bf16"):
    vector(f"brcb_{_d}", _d, "Brcb(z, x, 3, {1, 8});")
vector("brcb_strided", "fp32", "Brcb(z, x, 3, BrcbRepeatParams(2, 20));")


@pytest.mark.parametrize("dtype", FLOATS)
def test_whole_reduce_sum_is_a_tree_in_fp32(dtype: str) -> None:
    n = SPACE // SIZE[dtype]
    x = floats(dtype, n)
    old = [1.0] * n
    width = lanes(dtype)
    pitch = 10 * 32 // SIZE[dtype]
    wanted = [round_to(dtype, tree(x[r * pitch : r * pitch + width])) for r in range(5)] + old[5:]
    assert apply(f"sum_{dtype}", dtype, x, old) == wanted
    masked = list(old)
    for r in range(3):
        masked[2 * r] = round_to(dtype, tree(x[r * width : r * width + width - 13]))
    assert apply(f"sum_mask_{dtype}", dtype, x, old) == masked
    rows = [x[:width], x[width : 2 * width], x[2 * width : 2 * width + 9]]
    assert apply(f"counter_{dtype}", dtype, x, old) == [round_to(dtype, tree(r)) for r in rows] + old[3:]


@pytest.mark.parametrize("dtype", FLOATS)
def test_whole_reduce_max_and_min(dtype: str) -> None:
    n = SPACE // SIZE[dtype]
    x = floats(dtype, n)
    old = [1.0] * n
    width = lanes(dtype)
    assert apply(f"max_{dtype}", dtype, x, old)[:6] == [max(x[r * width : r * width + width - 3]) for r in range(5)] + [
        1
    ]
    chosen = [i for i in range(16) if 0xF0F1 >> i & 1]
    assert apply(f"bits_{dtype}", dtype, x, old)[:2] == [max(x[r * width + i] for i in chosen) for r in range(2)]
    x[40] = x[41] = x[width + 3] = -64.0
    got = apply(f"min_{dtype}", dtype, x, old)
    assert got[0] == got[2] == -64.0
    form = "<e" if dtype == "fp16" else "<f"
    index = [int.from_bytes(struct.pack(form, v), "little") for v in got[1:4:2]]
    assert index == [40, 3]  # the first of equals, stored as the bits of an integer


@pytest.mark.parametrize("dtype", FLOATS)
def test_block_and_pair_reductions(dtype: str) -> None:
    n = SPACE // SIZE[dtype]
    x = floats(dtype, n)
    old = [1.0] * n
    block = 32 // SIZE[dtype]
    blocks = [x[i * block : (i + 1) * block] for i in range(24)]
    assert apply(f"blocksum_{dtype}", dtype, x, old)[:25] == [round_to(dtype, tree(b)) for b in blocks] + [1.0]
    assert apply(f"blockmax_{dtype}", dtype, x, old)[:25] == [max(b) for b in blocks] + [1.0]
    assert apply(f"blockmin_{dtype}", dtype, x, old)[:25] == [min(b) for b in blocks] + [1.0]
    half = lanes(dtype) // 2
    got = apply(f"pair_{dtype}", dtype, x, old)
    stride = 128 // SIZE[dtype]
    for r in range(3):
        row = x[r * lanes(dtype) : (r + 1) * lanes(dtype)]
        assert got[r * stride : r * stride + half] == [
            round_to(dtype, a + b) for a, b in zip(row[::2], row[1::2], strict=True)
        ]


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "int32", "bf16"])
def test_brcb_spreads_one_element_a_block(dtype: str) -> None:
    n = SPACE // SIZE[dtype]
    x = [float(i % 100) for i in range(n)]
    block = 32 // SIZE[dtype]
    wanted = [v for v in x[:24] for _ in range(block)]
    assert apply(f"brcb_{dtype}", dtype, x, [0.0] * n)[: 24 * block + 1] == [*wanted, 0.0]


def test_brcb_strides() -> None:
    n = SPACE // 4
    x = [float(i) for i in range(n)]
    got = apply("brcb_strided", "fp32", x, [0.5] * n)
    wanted = [0.5] * n
    for r in range(3):
        for j in range(8):
            at = (r * 20 + j * 2) * 8
            wanted[at : at + 8] = [x[r * 8 + j]] * 8
    assert got == wanted


# -- movement ----------------------------------------------------------------------------------------------------------

COPY = """
LocalTensor<{cpp}> x = ub.GetWithOffset<{cpp}>({n}, 0);
Duplicate(x, ({cpp})99, {n});
SetFlag<HardEvent::V_MTE2>(0);
WaitFlag<HardEvent::V_MTE2>(0);
{load}
SetFlag<HardEvent::MTE2_MTE3>(0);
WaitFlag<HardEvent::MTE2_MTE3>(0);
{store}
"""


def copy(name: str, dtype: str, load: str, store: str, n: int = 2048) -> None:
    BATCH.kernel(name, (("a", dtype), ("out", dtype)), COPY.format(cpp=CPP[dtype], n=n, load=load, store=store))


copy("blocks_in", "fp32", "DataCopy(x, ga, {4, 2, 3, 1});", "DataCopy(gout, x, 2048);")
copy("blocks_out", "fp32", "DataCopy(x, ga, 1024);", "DataCopy(gout, x, {4, 2, 1, 3});", 1024)
copy("pad_in", "fp16", "DataCopyPad(x, ga, {5, 46, 10, 1, 0}, {true, 2, 3, half(7)});", "DataCopy(gout, x, 512);", 512)
copy(
    "pad_none", "fp16", "DataCopyPad(x, ga, {5, 46, 10, 0, 0}, {false, 0, 0, half(0)});", "DataCopy(gout, x, 512);", 512
)
copy("pad_out", "fp16", "DataCopy(x, ga, 512);", "DataCopyPad(gout, x, {5, 46, 1, 6, 0});", 512)
copy(
    "pad_garbage", "fp16", "DataCopyPad(x, ga, {1, 46, 0, 0, 0}, {false, 2, 3, half(7)});", "DataCopy(gout, x, 32);", 32
)
copy(
    "pad_rows",
    "fp32",
    "DataCopyPad(x[1024], ga, {2, 36, 0, 3, 0}, {true, 0, 7, 0.0f});",
    "DataCopy(gout, x[1024], 128);",
)
vector("ub_to_ub", "fp32", "DataCopy(z, x, 512);")
vector("ub_to_ub_blocks", "fp32", "DataCopy(z, x, {4, 2, 3, 1});")


def moved(name: str, dtype: str, a: list[float], out: list[float]) -> tuple[list[float], RunReport]:
    args: list[Arg] = [gm(dtype, a, readonly=True), gm(dtype, out)]
    report = BATCH.run(name, args, seed=1)
    return values(args[1]), report


def test_block_copies() -> None:
    a = [float(i) for i in range(2048)]
    got, report = moved("blocks_in", "fp32", a, [0.0] * 2048)
    wanted = [99.0] * 2048
    for i in range(4):
        wanted[i * 24 : i * 24 + 16] = a[i * 40 : i * 40 + 16]
    assert got == wanted and report.ok
    got, report = moved("blocks_out", "fp32", a[:1024], [0.0] * 1024)
    wanted = [0.0] * 1024
    for i in range(4):
        wanted[i * 40 : i * 40 + 16] = a[i * 24 : i * 24 + 16]
    assert got == wanted and report.ok


def test_padded_copies() -> None:
    a = [float(i) for i in range(512)]
    got, report = moved("pad_in", "fp16", a, [0.0] * 512)
    wanted = [99.0] * 512
    for i in range(5):  # 2 + 23 + 3 elements are 56 B, so a row takes 64 B and the gap 32 B more
        wanted[i * 48 : i * 48 + 32] = [7.0, 7.0, *a[i * 28 : i * 28 + 23], *[7.0] * 7]
    assert got == wanted and report.ok
    got, report = moved("pad_none", "fp16", a, [0.0] * 512)
    wanted = [99.0] * 512
    for i in range(5):  # without padding the filler repeats the first element of the row
        wanted[i * 32 : i * 32 + 32] = [*a[i * 28 : i * 28 + 23], *[a[i * 28]] * 9]
    assert got == wanted and report.ok
    got, report = moved("pad_out", "fp16", a, [0.0] * 512)
    wanted = [0.0] * 512
    for i in range(5):
        wanted[i * 26 : i * 26 + 23] = a[i * 48 : i * 48 + 23]
    assert got == wanted and report.ok


def test_padding_without_a_value_is_undefined() -> None:
    _, report = moved("pad_garbage", "fp16", [1.0] * 64, [0.0] * 64)
    assert report.kinds() == {"undefined"}
    assert "18 undefined bytes" in report.findings[0].message


def test_copies_inside_ub() -> None:
    n = SPACE // 4
    x = [float(i) for i in range(n)]
    assert apply("ub_to_ub", "fp32", x, [0.0] * n) == x[:512] + [0.0] * (n - 512)
    wanted = [0.0] * n
    for i in range(4):
        wanted[i * 24 : i * 24 + 16] = x[i * 40 : i * 40 + 16]
    assert apply("ub_to_ub_blocks", "fp32", x, [0.0] * n) == wanted


# -- atomics -----------------------------------------------------------------------------------------------------------

for _d in ("fp32", "fp16", "bf16", "int32", "int16"):
    for _op in ("Add", "Max", "Min"):
        BATCH.kernel(
            f"atomic_{_op}_{_d}",
            (("a", _d), ("out", _d)),
            f"""
            LocalTensor<{CPP[_d]}> x = ub.GetWithOffset<{CPP[_d]}>(64, 0);
            DataCopy(x, ga[GetBlockIdx() * 64], 64);
            SetFlag<HardEvent::MTE2_MTE3>(0);
            WaitFlag<HardEvent::MTE2_MTE3>(0);
            SetAtomic{_op}<{CPP[_d]}>();
            DataCopy(gout, x, 64);
            SetAtomicNone();
            """,
        )


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "int32", "int16"])
@pytest.mark.parametrize("op", ["Add", "Max", "Min"])
def test_atomics_of_many_blocks_meet_without_a_race(op: str, dtype: str) -> None:
    blocks = 6
    a = [float((i * 7) % 23 - 11) for i in range(blocks * 64)]
    for seed in (0, 1, 2, 3):
        args: list[Arg] = [gm(dtype, a), gm(dtype, [2.0] * 64)]
        report = BATCH.run(f"atomic_{op}_{dtype}", args, blocks=blocks, seed=seed)
        assert report.findings == ()
        columns = [[2.0, *(a[b * 64 + i] for b in range(blocks))] for i in range(64)]
        folds: dict[str, Callable[[list[float]], float]] = {"Add": sum, "Max": max, "Min": min}
        assert values(args[1]) == [folds[op](c) for c in columns]


BATCH.kernel(
    "atomic_order",
    (("a", "fp32"), ("out", "fp32")),
    """
    LocalTensor<float> x = ub.GetWithOffset<float>(8, 0);
    DataCopy(x, ga[GetBlockIdx() * 8], 8);
    SetFlag<HardEvent::MTE2_MTE3>(0);
    WaitFlag<HardEvent::MTE2_MTE3>(0);
    SetAtomicAdd<float>();
    DataCopy(gout, x, 8);
    SetAtomicNone();
    """,
)


def test_order_of_atomic_adds_depends_on_the_schedule() -> None:
    a = [v for v in (1e8, 1.0, -1e8, 1.0) for _ in range(8)]
    results = set()
    for seed in range(24):
        args: list[Arg] = [gm("fp32", a), gm("fp32", [0.0] * 8)]
        assert BATCH.run("atomic_order", args, blocks=4, seed=seed).ok
        results.add(values(args[1])[0])
    assert len(results) > 1

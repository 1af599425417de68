"""Compare, Select and Gather, and how undefined lanes pass through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pypto_spec.host import Arg
from tests.host.rendered import CPP, Batch, gm, values

BATCH = Batch()
MODES: dict[str, Callable[[float, float], bool]] = {
    "LT": lambda a, b: a < b,
    "GT": lambda a, b: a > b,
    "EQ": lambda a, b: a == b,
    "LE": lambda a, b: a <= b,
    "GE": lambda a, b: a >= b,
    "NE": lambda a, b: a != b,
}
N = 256


def body(dtype: str, steps: str, loaded: int = N) -> str:
    cpp = CPP[dtype]
    return f"""
    LocalTensor<{cpp}> x = ub.GetWithOffset<{cpp}>({N}, 0);
    LocalTensor<{cpp}> y = ub.GetWithOffset<{cpp}>({N}, 4096);
    LocalTensor<{cpp}> z = ub.GetWithOffset<{cpp}>({N}, 8192);
    LocalTensor<uint8_t> bits = ub.GetWithOffset<uint8_t>(64, 12288);
    LocalTensor<uint32_t> offsets = ub.GetWithOffset<uint32_t>({N}, 16384);
    DataCopy(x, ga, {loaded});
    DataCopy(y, gb, {N});
    DataCopy(offsets, go, {N});
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    {steps}
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, z, {loaded});
    """


def kernel(name: str, dtype: str, steps: str, loaded: int = N) -> None:
    params = (("a", dtype), ("b", dtype), ("o", "uint32"), ("out", dtype))
    BATCH.kernel(name, params, body(dtype, steps, loaded))


for _dtype in ("fp32", "fp16"):
    for _mode in MODES:
        kernel(
            f"tensors_{_dtype}_{_mode}",
            _dtype,
            f"Compare(bits, x, y, CMPMODE::{_mode}, {N});\nPipeBarrier<PIPE_V>();\n"
            f"Select(z, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, {N});",
        )
        kernel(
            f"scalar_{_dtype}_{_mode}",
            _dtype,
            f"CompareScalar(bits, x, ({CPP[_dtype]})3.0f, CMPMODE::{_mode}, {N});\nPipeBarrier<PIPE_V>();\n"
            f"Select(z, bits, x, ({CPP[_dtype]})-1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, {N});",
        )
    kernel(f"gather_{_dtype}", _dtype, f"Gather(z, x, offsets, 0, {N});")
    kernel(f"transpose_{_dtype}", _dtype, "Transpose(z, x);")
kernel("transpose_itself", "fp16", "Transpose(x, x);\nAdds(z, x, (half)0.0f, 8);")
kernel("transpose_early", "fp16", "Transpose(y, x);\nTranspose(z, y);")
PICK = f"PipeBarrier<PIPE_V>();\nSelect(z, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, {N});"
# The last lanes of x are undefined; bits and picked lanes of the same byte stay defined.
kernel("tail_undefined", "fp32", f"Compare(bits, x, y, CMPMODE::LT, {N});\n{PICK}", 248)
kernel("tail_stored", "fp32", f"Compare(bits, x, y, CMPMODE::LT, {N});\n{PICK}\nAdds(z, z, 0.0f, 8);", 248)
# The opposite of bits of which the last are undefined; what they pick is stored up to there.
kernel(
    "opposite",
    "fp32",
    f"Compare(bits, x, y, CMPMODE::LT, {N});\nPipeBarrier<PIPE_V>();\n"
    f"Not(bits.ReinterpretCast<uint16_t>(), bits.ReinterpretCast<uint16_t>(), {N // 16});\n{PICK}",
    248,
)
kernel("odd_length", "fp32", f"Compare(bits, x, y, CMPMODE::LT, {N - 8});\n{PICK}")
kernel("int32_less", "int32", f"Compare(bits, x, y, CMPMODE::LT, {N});\nAdds(z, x, 0, {N});")
kernel("no_barrier", "fp32", f"Compare(bits, x, y, CMPMODE::LT, {N});\n{PICK.splitlines()[1]}")
kernel("gather_undefined", "fp32", f"Gather(z, x, offsets[{N}], 0, 8);\nAdds(z, x, 0.0f, {N});")


def arguments(dtype: str, offsets: Sequence[float] | None = None) -> list[Arg]:
    a = [float(i % 7) for i in range(N)]
    b = [float(i % 5) for i in range(N)]
    return [gm(dtype, a), gm(dtype, b), gm("uint32", offsets or [0] * N), gm(dtype, [9.0] * N)]


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("mode", MODES)
def test_compare_and_select(mode: str, dtype: str) -> None:
    holds = MODES[mode]
    for seed in (0, 2):
        args = arguments(dtype)
        assert BATCH.run(f"tensors_{dtype}_{mode}", args, seed=seed).findings == ()
        a, b = values(args[0]), values(args[1])
        assert values(args[3]) == [x if holds(x, y) else y for x, y in zip(a, b, strict=True)]
        args = arguments(dtype)
        assert BATCH.run(f"scalar_{dtype}_{mode}", args, seed=seed).findings == ()
        assert values(args[3]) == [x if holds(x, 3.0) else -1.0 for x in a]


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
def test_gather_takes_byte_offsets(dtype: str) -> None:
    size = 4 if dtype == "fp32" else 2
    order = [(i * 37) % N for i in range(N)]
    args = arguments(dtype, [i * size for i in order])
    assert BATCH.run(f"gather_{dtype}", args).findings == ()
    a = values(args[0])
    assert values(args[3]) == [a[i] for i in order]


def test_transpose_turns_a_block_of_16_bits() -> None:
    for seed in (0, 2):
        args = arguments("fp16")
        assert BATCH.run("transpose_fp16", args, seed=seed).findings == ()
        a = values(args[0])
        assert values(args[3]) == [a[(i % 16) * 16 + i // 16] for i in range(N)]


@pytest.mark.parametrize(
    ("name", "dtype", "kind"),
    [
        ("transpose_fp32", "fp32", "unsupported-dtype"),
        ("transpose_itself", "fp16", "overlap"),
        ("transpose_early", "fp16", "race"),
    ],
)
def test_transpose_faults(name: str, dtype: str, kind: str) -> None:
    assert kind in BATCH.run(name, arguments(dtype)).kinds()


@pytest.mark.parametrize(("offset", "kind"), [(1, "misaligned"), (70000, "out-of-bounds")])
def test_gather_checks_its_addresses(offset: int, kind: str) -> None:
    report = BATCH.run("gather_fp32", arguments("fp32", [*[0] * (N - 1), offset]))
    assert kind in report.kinds()


def test_undefined_tail_of_a_compared_row() -> None:
    assert BATCH.run("tail_undefined", arguments("fp32")).findings == ()


def test_opposite_of_partly_defined_bits() -> None:
    args = arguments("fp32")
    assert BATCH.run("opposite", args).findings == ()
    a, b = values(args[0]), values(args[1])
    assert values(args[3])[:248] == [y if x < y else x for x, y in zip(a, b, strict=True)][:248]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("odd_length", "truncated"),
        ("int32_less", "unsupported-dtype"),
        ("no_barrier", "race"),
        ("gather_undefined", "undefined"),
        ("tail_stored", "race"),
    ],
)
def test_faults(name: str, kind: str) -> None:
    dtype = "int32" if name == "int32_less" else "fp32"
    for seed in (0, 1):
        assert kind in BATCH.run(name, arguments(dtype), seed=seed).kinds()

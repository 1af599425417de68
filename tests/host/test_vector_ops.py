"""Every elementwise instruction, in all its shapes, against arithmetic written apart from the engine."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from pypto_spec.host import Arg, RunReport
from tests.host.rendered import CPP, SIZE, Batch, gm, pack, round_to, unpack, values

BATCH = Batch()
FLOATS = ("fp32", "fp16")
NUMBERS = ("fp32", "fp16", "int16", "int32")
SPACE = 8192  # bytes of each operand's region in UB


def wrap(dtype: str, value: float) -> float:
    if dtype in ("fp32", "fp16", "bf16"):
        return round_to(dtype, value)
    bits = 8 * SIZE[dtype]
    whole = int(value) & ((1 << bits) - 1)
    return whole - (1 << bits) if dtype.startswith("int") and whole >> (bits - 1) else whole


@dataclass(frozen=True)
class Case:
    name: str
    dtypes: tuple[str, ...]
    reference: Callable[[float, float], float]
    sources: int = 1
    scalar: float | None = None
    positive: bool = False
    relative: float = 0.0  # tolerated relative error


def shift_right(a: float, b: float) -> float:
    return int(a) >> int(b)


CASES = (
    Case("Add", NUMBERS, lambda a, b: a + b, 2),
    Case("Sub", NUMBERS, lambda a, b: a - b, 2),
    Case("Mul", NUMBERS, lambda a, b: a * b, 2),
    Case("Div", FLOATS, lambda a, b: a / b if b else math.inf, 2, positive=True),
    Case("Max", NUMBERS, max, 2),
    Case("Min", NUMBERS, min, 2),
    Case("And", ("int16", "uint16"), lambda a, b: int(a) & int(b), 2),
    Case("Or", ("int16", "uint16"), lambda a, b: int(a) | int(b), 2),
    Case("Adds", NUMBERS, lambda a, b: a + b, scalar=3),
    Case("Muls", NUMBERS, lambda a, b: a * b, scalar=3),
    Case("Maxs", NUMBERS, max, scalar=2),
    Case("Mins", NUMBERS, min, scalar=2),
    Case("LeakyRelu", FLOATS, lambda a, b: a if a >= 0 else a * b, scalar=0.125),
    Case("ShiftLeft", ("uint16", "uint32", "int16", "int32"), lambda a, b: int(a) << int(b), scalar=3),
    Case("ShiftRight", ("uint16", "uint32", "int16", "int32"), shift_right, scalar=2),
    Case("Abs", FLOATS, lambda a, b: abs(a)),
    Case("Exp", FLOATS, lambda a, b: math.exp(a), relative=2e-7),
    Case("Ln", FLOATS, lambda a, b: math.log(a), positive=True, relative=2e-7),
    Case("Sqrt", FLOATS, lambda a, b: math.sqrt(a), positive=True),
    Case("Relu", ("fp32", "fp16", "int32"), lambda a, b: max(a, 0)),
    Case("Not", ("int16", "uint16"), lambda a, b: ~int(a)),
    Case("Copy", ("fp32", "fp16", "bf16", "int16", "uint16", "int32", "uint32"), lambda a, b: a),
    Case("Duplicate", ("fp32", "fp16", "bf16", "int16", "uint16", "int32", "uint32"), lambda a, b: b, 0, scalar=7),
)

PARAMETERS = [(case, dtype) for case in CASES for dtype in case.dtypes]
IDS = [f"{case.name}-{dtype}" for case, dtype in PARAMETERS]

# (dst block, src block, dst repeat, src repeat) strides of the strided forms, in 32 B.
DST_BLOCK, SRC_BLOCK, DST_REPEAT, SRC_REPEAT, REPEATS = 2, 1, 17, 9, 3
BITS = (0x0F0F_00FF_8001_F731, 0x8000_0000_0000_00F1)


def call(case: Case, dtype: str, form: str) -> str:
    cpp = CPP[dtype]
    scalar = "" if case.scalar is None else f", ({cpp}){case.scalar}"
    sources = ", x, y"[: 3 * case.sources]
    if form == "count":
        return f"{case.name}(z{sources}{scalar}, {count(dtype)});"
    mask = "mask" if form == "bits" else str(lanes(dtype) - 7)
    if case.name == "Duplicate":
        return f"{case.name}(z{scalar}, {mask}, {REPEATS}, {DST_BLOCK}, {DST_REPEAT});"
    if case.name == "Copy":
        strides = f"CopyRepeatParams({DST_BLOCK}, {SRC_BLOCK}, {DST_REPEAT}, {SRC_REPEAT})"
    elif case.sources == 2:
        strides = f"BinaryRepeatParams({DST_BLOCK}, {SRC_BLOCK}, 0, {DST_REPEAT}, {SRC_REPEAT}, 1)"
    else:
        strides = f"UnaryRepeatParams({DST_BLOCK}, {SRC_BLOCK}, {DST_REPEAT}, {SRC_REPEAT})"
    if form == "counter":
        kind = f"<{cpp}, false>"
        return (
            f"SetMaskCount();\nSetVectorMask<{cpp}, MaskMode::COUNTER>({2 * lanes(dtype) + 5});\n"
            f"{case.name}{kind}(z{sources}{scalar}, MASK_PLACEHOLDER, 1, {strides});\nSetMaskNorm();\nResetMask();"
        )
    return f"{case.name}(z{sources}{scalar}, {mask}, {REPEATS}, {strides});"


def lanes(dtype: str) -> int:
    return 256 // SIZE[dtype]


def count(dtype: str) -> int:
    return 3 * lanes(dtype) + 11


def forms(case: Case) -> tuple[str, ...]:
    if case.name == "Copy":
        return ("first", "bits", "counter")
    return ("count", "first", "bits") if case.name == "Duplicate" else ("count", "first", "bits", "counter")


def kernel_name(case: Case, dtype: str, form: str) -> str:
    return f"{case.name}_{dtype}_{form}"


for _case, _dtype in PARAMETERS:
    for _form in forms(_case):
        _cpp = CPP[_dtype]
        _n = SPACE // SIZE[_dtype]
        _mask = f"uint64_t mask[2] = {{{BITS[0]}ull, {BITS[1] if lanes(_dtype) > 64 else 0}ull}};\n"
        BATCH.kernel(
            kernel_name(_case, _dtype, _form),
            (("a", _dtype), ("b", _dtype), ("out", _dtype)),
            f"""
            LocalTensor<{_cpp}> x = ub.GetWithOffset<{_cpp}>({_n}, 0);
            LocalTensor<{_cpp}> y = ub.GetWithOffset<{_cpp}>({_n}, {SPACE});
            LocalTensor<{_cpp}> z = ub.GetWithOffset<{_cpp}>({_n}, {2 * SPACE});
            DataCopy(x, ga, {_n});
            DataCopy(y, gb, {_n});
            DataCopy(z, gout, {_n});
            SetFlag<HardEvent::MTE2_V>(0);
            WaitFlag<HardEvent::MTE2_V>(0);
            {_mask if _form == "bits" else ""}{call(_case, _dtype, _form)}
            SetFlag<HardEvent::V_MTE3>(1);
            WaitFlag<HardEvent::V_MTE3>(1);
            DataCopy(gout, z, {_n});
            """,
        )


def inputs(case: Case, dtype: str, which: int) -> list[float]:
    generator = random.Random(f"{case.name}{dtype}{which}")
    n = SPACE // SIZE[dtype]
    if dtype in ("fp32", "fp16", "bf16"):
        low = 0.25 if case.positive else -4.0
        return [round_to(dtype, generator.uniform(low, 4.0)) for _ in range(n)]
    bits = 8 * SIZE[dtype]
    low_int, high_int = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return [generator.randint(low_int, high_int) for _ in range(n)]


def active(form: str, dtype: str, repeat: int, lane: int) -> bool:
    if form == "count":
        return repeat * lanes(dtype) + lane < count(dtype)
    if form == "counter":
        return repeat * lanes(dtype) + lane < 2 * lanes(dtype) + 5
    if repeat >= REPEATS:
        return False
    if form == "first":
        return lane < lanes(dtype) - 7
    return bool(BITS[lane // 64] >> (lane % 64) & 1)


def place(dtype: str, repeat: int, lane: int, block_stride: int, repeat_stride: int) -> int:
    """Element index that a lane of a repeat touches."""
    in_block = 32 // SIZE[dtype]
    return (repeat * repeat_stride + lane // in_block * block_stride) * in_block + lane % in_block


def expected(
    case: Case, dtype: str, form: str, a: Sequence[float], b: Sequence[float], old: list[float]
) -> list[float]:
    out = list(old)
    for repeat in range(4):
        for lane in range(lanes(dtype)):
            if not active(form, dtype, repeat, lane):
                continue
            if form == "count":
                at = first = second = repeat * lanes(dtype) + lane
            else:
                at = place(dtype, repeat, lane, DST_BLOCK, DST_REPEAT)
                first = place(dtype, repeat, lane, SRC_BLOCK, SRC_REPEAT)
                second = place(dtype, repeat, lane, 0, 1)
            other = b[second] if case.scalar is None else case.scalar
            out[at] = wrap(dtype, case.reference(a[first], other))
    return out


def run(case: Case, dtype: str, form: str, seed: int) -> tuple[list[float], list[float], RunReport]:
    a, b, old = (inputs(case, dtype, i) for i in range(3))
    args: list[Arg] = [gm(dtype, a, readonly=True), gm(dtype, b, readonly=True), gm(dtype, old)]
    report = BATCH.run(kernel_name(case, dtype, form), args, seed=seed)
    return values(args[2]), expected(case, dtype, form, a, b, old), report


@pytest.mark.parametrize(("case", "dtype"), PARAMETERS, ids=IDS)
def test_instruction_computes_its_lanes_and_no_others(case: Case, dtype: str) -> None:
    for seed, form in enumerate(forms(case)):
        got, wanted, report = run(case, dtype, form, seed)
        assert report.findings == (), form
        if case.relative == 0:
            assert pack(dtype, got) == pack(dtype, wanted), form
            continue
        spacing = 2**-10 if dtype == "fp16" else case.relative
        for g, w in zip(got, wanted, strict=True):
            assert abs(g - w) <= spacing * abs(w), (form, g, w)


FAST: dict[str, Callable[[float], float]] = {"Rsqrt": lambda a: 1 / math.sqrt(a), "Reciprocal": lambda a: 1 / a}
for _name in FAST:
    for _dtype in FLOATS:
        BATCH.kernel(
            f"{_name}_{_dtype}",
            (("a", _dtype), ("out", _dtype)),
            f"""
            LocalTensor<{CPP[_dtype]}> x = ub.GetWithOffset<{CPP[_dtype]}>(1024, 0);
            DataCopy(x, ga, 1024);
            SetFlag<HardEvent::MTE2_V>(0);
            WaitFlag<HardEvent::MTE2_V>(0);
            {_name}(x, x, 1024);
            SetFlag<HardEvent::V_MTE3>(1);
            WaitFlag<HardEvent::V_MTE3>(1);
            DataCopy(gout, x, 1024);
            """,
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FAST)
def test_fast_instructions_miss_by_their_documented_error(name: str, dtype: str) -> None:
    a = [round_to(dtype, 0.25 + i / 256) for i in range(1024)]
    args: list[Arg] = [gm(dtype, a), gm(dtype, [0.0] * 1024)]
    assert BATCH.run(f"{name}_{dtype}", args).ok
    error = {"fp32": 1e-4, "fp16": 1e-3}[dtype]
    misses = [(got - FAST[name](x)) / FAST[name](x) for got, x in zip(values(args[1]), a, strict=True)]
    assert all(abs(miss) < error + 6e-4 * (dtype == "fp16") + 2e-7 for miss in misses)
    assert all(abs(miss) > error / 2 for miss in misses)
    assert min(misses) < 0 < max(misses)
    again: list[Arg] = [gm(dtype, a), gm(dtype, [0.0] * 1024)]
    BATCH.run(f"{name}_{dtype}", again, seed=3)
    assert values(again[1]) == values(args[1])


AXPY = (("fp16", "fp16"), ("fp32", "fp32"), ("fp32", "fp16"))
for _dst, _src in AXPY:
    BATCH.kernel(
        f"Axpy_{_dst}_{_src}",
        (("a", _src), ("out", _dst)),
        f"""
        LocalTensor<{CPP[_src]}> x = ub.GetWithOffset<{CPP[_src]}>(256, 0);
        LocalTensor<{CPP[_dst]}> z = ub.GetWithOffset<{CPP[_dst]}>(256, 8192);
        DataCopy(x, ga, 256);
        DataCopy(z, gout, 256);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Axpy(z, x, ({CPP[_src]})0.3, 256);
        SetFlag<HardEvent::V_MTE3>(1);
        WaitFlag<HardEvent::V_MTE3>(1);
        DataCopy(gout, z, 256);
        """,
    )


@pytest.mark.parametrize(("dst", "src"), AXPY)
def test_axpy(dst: str, src: str) -> None:
    a = [round_to(src, i / 7 - 20) for i in range(256)]
    old = [round_to(dst, 3 - i / 5) for i in range(256)]
    args: list[Arg] = [gm(src, a), gm(dst, old)]
    assert BATCH.run(f"Axpy_{dst}_{src}", args).ok
    scale = round_to(src, 0.3)
    assert values(args[1]) == [round_to(dst, o + x * scale) for o, x in zip(old, a, strict=True)]


def test_int32_wraps() -> None:
    assert wrap("int32", 2**31) == -(2**31)
    case = next(c for c in CASES if c.name == "Mul")
    got, wanted, _ = run(case, "int32", "count", 0)
    assert got == wanted
    assert unpack("int32", pack("int32", got)) == got

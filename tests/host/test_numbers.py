"""half, bfloat16 and Cast: exhaustive where that is possible, neighbours of random values elsewhere."""

from __future__ import annotations

import bisect
import math
import random
import struct
from fractions import Fraction

import pytest

from pypto_spec.host import Arg, GmArg, ScalarArg
from tests.host.rendered import CPP, SIZE, Batch, gm, unpack, values

BATCH = Batch()
MODES = ("NONE", "RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "ODD")
DIRECTED = ("RINT", "FLOOR", "CEIL", "ROUND", "TRUNC")
# (source, destination, modes) as the target's Cast table has them.
PAIRS: dict[tuple[str, str], tuple[str, ...]] = {
    ("int8", "fp16"): ("NONE",),
    ("uint8", "fp16"): ("NONE",),
    ("int16", "fp16"): ("NONE", *DIRECTED),
    ("int16", "fp32"): ("NONE",),
    ("fp16", "int8"): ("NONE", *DIRECTED),
    ("fp16", "uint8"): ("NONE", *DIRECTED),
    ("fp16", "int16"): DIRECTED,
    ("fp16", "int32"): DIRECTED,
    ("fp16", "fp32"): ("NONE",),
    ("bf16", "fp32"): ("NONE",),
    ("bf16", "int32"): DIRECTED,
    ("int32", "int16"): ("NONE",),
    ("int32", "int64"): ("NONE",),
    ("int32", "fp32"): ("NONE", *DIRECTED),
    ("fp32", "fp16"): ("NONE", *DIRECTED, "ODD"),
    ("fp32", "bf16"): DIRECTED,
    ("fp32", "int16"): DIRECTED,
    ("fp32", "int32"): DIRECTED,
    ("fp32", "int64"): DIRECTED,
    ("fp32", "fp32"): DIRECTED,
    ("int64", "int32"): ("NONE",),
    ("int64", "fp32"): DIRECTED,
}
CHUNK = 4096

for (_s, _d), _modes in PAIRS.items():
    for _m in _modes:
        BATCH.kernel(
            f"cast_{_s}_{_d}_{_m}",
            (("a", _s), ("out", _d), ("n", "int32_t")),
            f"""
            LocalTensor<{CPP[_s]}> x = ub.GetWithOffset<{CPP[_s]}>({CHUNK}, 0);
            LocalTensor<{CPP[_d]}> z = ub.GetWithOffset<{CPP[_d]}>({CHUNK}, 32768);
            SetFlag<HardEvent::V_MTE2>(0);
            SetFlag<HardEvent::MTE3_V>(0);
            for (int32_t i = 0; i < n; ++i) {{
                WaitFlag<HardEvent::V_MTE2>(0);
                DataCopy(x, ga[i * {CHUNK}], {CHUNK});
                SetFlag<HardEvent::MTE2_V>(0);
                WaitFlag<HardEvent::MTE2_V>(0);
                WaitFlag<HardEvent::MTE3_V>(0);
                Cast(z, x, RoundMode::CAST_{_m}, {CHUNK});
                SetFlag<HardEvent::V_MTE2>(0);
                SetFlag<HardEvent::V_MTE3>(0);
                WaitFlag<HardEvent::V_MTE3>(0);
                DataCopy(gout[i * {CHUNK}], z, {CHUNK});
                SetFlag<HardEvent::MTE3_V>(0);
            }}
            WaitFlag<HardEvent::V_MTE2>(0);
            WaitFlag<HardEvent::MTE3_V>(0);
            """,
        )


def cast(src: str, dst: str, mode: str, data: bytearray) -> bytearray:
    count = len(data) // SIZE[src]
    rounds = -(-count // CHUNK)
    padded = data + bytearray((rounds * CHUNK - count) * SIZE[src])
    out = bytearray(rounds * CHUNK * SIZE[dst])
    report = BATCH.run(
        f"cast_{src}_{dst}_{mode}", [GmArg(padded, src, readonly=True), GmArg(out, dst), ScalarArg(rounds)]
    )
    assert report.findings == ()
    return out[: count * SIZE[dst]]


def sixteen_bit_words() -> bytearray:
    return bytearray(struct.pack("<65536H", *range(65536)))


def same(got: float, wanted: float) -> bool:
    return (math.isnan(got) and math.isnan(wanted)) or (
        got == wanted and math.copysign(1, got) == math.copysign(1, wanted)
    )


def test_every_half_reads_as_its_value() -> None:
    got = unpack("fp32", cast("fp16", "fp32", "NONE", sixteen_bit_words()))
    wanted = struct.unpack("<65536e", sixteen_bit_words())
    assert all(same(g, w) for g, w in zip(got, wanted, strict=True))


def test_every_half_survives_the_way_there_and_back() -> None:
    back = cast("fp32", "fp16", "RINT", cast("fp16", "fp32", "NONE", sixteen_bit_words()))
    for word, got in enumerate(struct.unpack("<65536H", back)):
        nan = word & 0x7C00 == 0x7C00 and word & 0x3FF
        assert got == word or (nan and got & 0x7C00 == 0x7C00 and got & 0x3FF), hex(word)


def test_every_bfloat16_survives_the_way_there_and_back() -> None:
    wide = cast("bf16", "fp32", "NONE", sixteen_bit_words())
    assert struct.unpack("<65536I", wide) == tuple(w << 16 for w in range(65536))
    for word, got in enumerate(struct.unpack("<65536H", cast("fp32", "bf16", "RINT", wide))):
        nan = word & 0x7F80 == 0x7F80 and word & 0x7F
        assert got == word or (nan and got & 0x7F80 == 0x7F80 and got & 0x7F), hex(word)


def test_ties_and_near_ties_between_all_bfloat16_neighbours() -> None:
    finite = [w for w in range(65536) if w & 0x7F80 != 0x7F80]
    for low, mode, up in (
        (0x7FFF, "RINT", False),
        (0x8000, "RINT", None),
        (0x8001, "RINT", True),
        (0x8000, "ROUND", True),
    ):
        data = bytearray(struct.pack(f"<{len(finite)}I", *((w << 16) | low for w in finite)))
        got = struct.unpack(f"<{len(finite)}H", cast("fp32", "bf16", mode, data))
        for word, result in zip(finite, got, strict=True):
            step = (word & 1) if up is None else int(up)
            assert result == word + step, (hex(word), hex(low))


def test_ties_between_all_half_neighbours_go_to_even() -> None:
    words = list(range(0x7BFF))
    low = struct.unpack(f"<{len(words)}e", struct.pack(f"<{len(words)}H", *words))
    high = struct.unpack(f"<{len(words)}e", struct.pack(f"<{len(words)}H", *(w + 1 for w in words)))
    middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    for sign in (1, -1):
        data = bytearray(struct.pack(f"<{len(words)}f", *(sign * m for m in middle)))
        got = struct.unpack(f"<{len(words)}H", cast("fp32", "fp16", "RINT", data))
        top = 0x8000 if sign < 0 else 0
        assert got == tuple(top | (w + (w & 1)) for w in words)


def all_finite(dtype: str) -> list[float]:
    data = sixteen_bit_words()
    listed = struct.unpack("<65536e", data) if dtype == "fp16" else unpack("bf16", data)
    return sorted({v for v in listed if math.isfinite(v)})


def neighbours(dtype: str, value: float, table: list[float]) -> tuple[float, float]:
    if dtype.startswith(("int", "uint")):
        return math.floor(value), math.ceil(value)
    at = bisect.bisect_left(table, value)
    if at < len(table) and table[at] == value:
        return value, value
    return (table[at - 1] if at else -math.inf), (table[at] if at < len(table) else math.inf)


def choose(mode: str, value: float, low: float, high: float, even: bool) -> float:
    """The rounding rule itself; ``even``: whether ``low`` is the even one of the two."""
    if low == high:
        return low
    if mode == "FLOOR" or (mode == "TRUNC" and value > 0) or (mode == "ODD" and not even):
        return low
    if mode in ("CEIL", "TRUNC", "ODD"):
        return high
    down, up = Fraction(value) - Fraction(low), Fraction(high) - Fraction(value)
    if down != up:
        return low if down < up else high
    if mode == "ROUND":
        return high if value > 0 else low
    return low if even else high


def even(dtype: str, low: float) -> bool:
    if dtype == "fp16":
        return not struct.unpack("<H", struct.pack("<e", low))[0] & 1
    if dtype == "bf16":
        return not struct.unpack("<I", struct.pack("<f", low))[0] >> 16 & 1
    return int(low) % 2 == 0


def sample(dtype: str, dst: str, seed: int) -> list[float]:
    generator = random.Random(seed)
    span = {"int8": 127, "uint8": 255, "int16": 32767, "int64": 2.0**40, "int32": 2.0**30}.get(dst, 60000.0)
    span = min(span, 60000.0) if dtype == "fp16" else span
    drawn = [generator.uniform(-span if not dst.startswith("u") else 0, span) for _ in range(1500)]
    drawn += [generator.uniform(-8 if not dst.startswith("u") else 0, 8) for _ in range(1000)]
    drawn += [math.copysign(2.0 ** generator.uniform(-30, 4), generator.random() - 0.5) for _ in range(500)]
    drawn += [i + 0.5 for i in range(100)] + ([-i - 0.5 for i in range(100)] if not dst.startswith("u") else [])
    if dst.startswith("u"):
        drawn = [abs(v) for v in drawn]
    return [v for v in unpack(dtype, gm(dtype, drawn).data) if abs(v) <= span]


@pytest.mark.parametrize(("src", "dst"), [p for p in PAIRS if p[0] in ("fp32", "fp16", "bf16") and p[1] != "fp32"])
def test_rounding_modes_from_floats(src: str, dst: str) -> None:
    table = all_finite(dst) if dst in ("fp16", "bf16") else []
    numbers = sample(src, dst, 7)
    for mode in PAIRS[src, dst]:
        out = cast(src, dst, mode, gm(src, numbers).data)
        got = list(struct.unpack(f"<{len(numbers)}q", out)) if dst == "int64" else unpack(dst, out)
        for number, result in zip(numbers, got, strict=True):
            low, high = neighbours(dst, number, table)
            rule = "RINT" if mode == "NONE" else mode
            assert result == choose(rule, number, low, high, low == high or even(dst, low)), (mode, number)


def test_float_to_integral_float() -> None:
    numbers = sample("fp32", "int16", 3)
    for mode in PAIRS["fp32", "fp32"]:
        got = unpack("fp32", cast("fp32", "fp32", mode, gm("fp32", numbers).data))
        for number, result in zip(numbers, got, strict=True):
            low, high = math.floor(number), math.ceil(number)
            assert result == choose(mode, number, low, high, low % 2 == 0), (mode, number)


@pytest.mark.parametrize(("src", "dst"), [p for p in PAIRS if p[0].startswith(("int", "uint"))])
def test_rounding_modes_from_integers(src: str, dst: str) -> None:
    generator = random.Random(11)
    bits = 8 * SIZE[src] - (0 if src.startswith("u") else 1)
    low_end = 0 if src.startswith("u") else -(1 << bits)
    numbers = [generator.randint(low_end, (1 << bits) - 1) for _ in range(1000)] + [0, 1, (1 << bits) - 1, low_end]
    numbers += [(1 << 24) + i for i in range(64)] if bits > 25 else list(range(64))
    table = all_finite("fp16") if dst == "fp16" else []
    for mode in PAIRS[src, dst]:
        out = cast(src, dst, mode, gm(src, numbers).data)
        got = list(struct.unpack(f"<{len(numbers)}q", out)) if dst == "int64" else unpack(dst, out)
        for number, result in zip(numbers, got, strict=True):
            if dst.startswith("int"):
                edge = 1 << (8 * SIZE[dst] - 1)
                assert result == min(max(number, -edge), edge - 1)
                continue
            if dst == "fp16":
                low, high = neighbours("fp16", float(number), table)
                wanted = choose(
                    "RINT" if mode == "NONE" else mode, float(number), low, high, low == high or even(dst, low)
                )
                assert result == wanted, (mode, number)
                continue
            exact = Fraction(number)
            near = struct.unpack("<f", struct.pack("<f", number))[0]
            gap = Fraction(abs(result - near))
            if mode in ("NONE", "RINT"):
                # struct rounds through double first, which is a tie of its own beyond 2^53: compare distances.
                assert abs(Fraction(result) - exact) <= abs(Fraction(near) - exact), (mode, number)
            elif mode == "FLOOR":
                assert Fraction(result) <= exact
            elif mode == "CEIL":
                assert Fraction(result) >= exact
            elif mode == "TRUNC":
                assert abs(Fraction(result)) <= abs(exact)
            assert gap <= Fraction(abs(near)) / 2**22


def test_special_values_saturate_or_become_zero() -> None:
    numbers = [math.nan, math.inf, -math.inf, 1e30, -1e30]
    data = gm("fp32", numbers).data
    assert unpack("int32", cast("fp32", "int32", "RINT", data)) == [0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31)]
    assert unpack("int16", cast("fp32", "int16", "RINT", data)) == [0, 32767, -32768, 32767, -32768]
    got = unpack("fp16", cast("fp32", "fp16", "RINT", data))
    assert math.isnan(got[0]) and got[1:] == [math.inf, -math.inf, math.inf, -math.inf]
    assert unpack("fp16", cast("fp32", "fp16", "TRUNC", data))[3:] == [65504.0, -65504.0]


BATCH.kernel(
    "deq",
    (("a", "int32"), ("out", "fp16"), ("s", "half")),
    """
    LocalTensor<int32_t> x = ub.GetWithOffset<int32_t>(64, 0);
    LocalTensor<half> z = ub.GetWithOffset<half>(64, 32768);
    DataCopy(x, ga, 64);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    SetDeqScale(s);
    Cast(z, x, RoundMode::CAST_NONE, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, z, 64);
    """,
)


def test_int32_to_half_uses_the_scale() -> None:
    args: list[Arg] = [gm("int32", range(64)), gm("fp16", [0.0] * 64), ScalarArg(0.5)]
    assert BATCH.run("deq", args).ok
    assert values(args[1]) == [i * 0.5 for i in range(64)]


# Casts between widths, in the strided form: the narrow side advances half as fast.
BATCH.kernel(
    "widen",
    (("a", "fp16"), ("out", "fp32")),
    """
    LocalTensor<half> x = ub.GetWithOffset<half>(256, 0);
    LocalTensor<float> z = ub.GetWithOffset<float>(256, 32768);
    DataCopy(x, ga, 256);
    Duplicate(z, 0.0f, 256);
    PipeBarrier<PIPE_V>();
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Cast(z, x, RoundMode::CAST_NONE, 50, 3, {1, 1, 8, 4});
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, z, 256);
    """,
)


def test_strided_cast_counts_lanes_by_the_wider_type() -> None:
    args: list[Arg] = [gm("fp16", range(256)), gm("fp32", [0.0] * 256)]
    assert BATCH.run("widen", args).ok
    assert values(args[1]) == [float(i) if i % 64 < 50 and i < 192 else 0.0 for i in range(256)]

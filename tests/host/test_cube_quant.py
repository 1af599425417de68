"""What Fixpipe makes of accumulators: casts and the quantised forms, by a scale for all or one for each column."""

from __future__ import annotations

import random
import struct

import pytest

from pypto_spec.host import Arg, ScalarArg
from tests.host.cube import HEAD, SCALES, Matmul, sync
from tests.host.rendered import CPP, Batch, gm, line_of, round_to, values
from tests.host.test_cube_forms import matrix, product, turned

BATCH = Batch()
M, N, K = 20, 32, 64
SIGNED = 1 << 46


def scale(factor: float, *, shift: int = 0, offset: int = 0, signed: bool = True) -> int:
    """The 64 bits of a scale; `shift` 1 to 16."""
    bits: int = struct.unpack("<I", struct.pack("<f", factor))[0]
    bits |= (1 << 36 | (shift - 1) << 32) if shift else 0
    return bits | (offset & 0x1FF) << 37 | (SIGNED if signed else 0)


def kept(factor: float) -> float:
    """The factor with the 10 mantissa bits that the hardware has."""
    bits = struct.unpack("<I", struct.pack("<f", factor))[0] & 0xFFFFE000
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def wanted(case: Matmul, sum_: int, factor: float, shift: int, offset: int, relu: bool) -> float:
    value = max(sum_, 0) if relu else sum_
    if case.acc == "int32" and shift:
        value = min(max(value >> shift, -32768), 32767)
    wide = round_to("fp32", round_to("fp32", value) * kept(factor))
    if case.target == "fp16":
        return min(max(round_to("fp16", wide), -65504.0), 65504.0)
    whole = min(max(round(wide), -256), 255) + offset
    low, high = (-128, 127) if case.target == "int8" else (0, 255)
    return min(max(whole, low), high)


KINDS = {
    # dtype of the operands, of the result, quantPre for one scale and for one a column
    "deq": ("int8", "fp16", "DEQF16", "VDEQF16"),
    "req": ("int8", "int8", "REQ8", "VREQ8"),
    "req_unsigned": ("int8", "uint8", "REQ8", "VREQ8"),
    "quant": ("fp16", "int8", "QF322B8_PRE", "VQF322B8_PRE"),
    "quant_unsigned": ("fp16", "uint8", "QF322B8_PRE", "VQF322B8_PRE"),
}


def vector_drain(case: Matmul, form: str) -> str:
    relu = "true" if case.relu else "false"
    return (
        f"Fixpipe<{CPP[case.target]}, {CPP[case.acc]}, CFG_ROW_MAJOR>(gc, co, scales, FixpipeParamsV220({N}, {M}, 32, "
        f"{N}, {relu}, QuantMode_t::{form}, 0, 1, 0, 0, 0)); // drain\n"
    )


LOAD_SCALES = (
    f"LocalTensor<uint64_t> scales = l1.GetWithOffset<uint64_t>({N}, {SCALES});\n"
    f"DataCopy(scales, gs, {N}); // load_scales\n" + sync("MTE2_FIX")
)

CASES: dict[str, tuple[Matmul, bool]] = {}
for _kind, (_dtype, _out, _one, _many) in KINDS.items():
    for _relu in (False, True):
        for _form in (_one, _many):
            _case = Matmul(_dtype, M, N, K, out=_out, quant=_form, relu=_relu, b_trans=True)
            _name = f"{_kind}_{_form}_{int(_relu)}"
            CASES[_name] = (_case, _form == _many)
            _params: tuple[tuple[str, str], ...] = (("a", _dtype), ("b", _dtype), ("c", _out))
            _body = _case.body().replace(f"QuantMode_t::{_form}, 0,", f"QuantMode_t::{_form}, s,")
            if _form == _many:
                _body = _case.body().replace(_case.drain(), LOAD_SCALES + vector_drain(_case, _form))
                _params = (*_params, ("s", "uint64"))
            else:
                _params = (*_params, ("s", "int64_t"))
            BATCH.kernel(_name, _params, _body, head=HEAD)


@pytest.mark.parametrize("name", CASES)
def test_scales(name: str) -> None:
    case, by_column = CASES[name]
    a, b = matrix(M, K, 1, 3), matrix(K, N, 2, 3)
    sums = product(a, b)
    signed = case.target != "uint8"
    chosen = random.Random(3)
    tried = [(0.37, 0, 0), (1.9999999, 0, 0), (-0.5, 0, 17), (3.0, 2, -5), (900.0, 0, 0)]
    for factor, shift, offset in tried:
        if case.target == "fp16":
            offset = 0
        factors = [factor * (1 + chosen.random()) if by_column else factor for _ in range(N)]
        args: list[Arg] = [
            gm(case.dtype, turned(a, False), readonly=True),
            gm(case.dtype, turned(b, True), readonly=True),
            gm(case.target, [1] * (M * N)),
        ]
        bits = [scale(f, shift=shift, offset=offset, signed=signed) for f in factors]
        args.append(gm("uint64", bits) if by_column else ScalarArg(bits[0]))
        assert BATCH.run(name, args).findings == ()
        expected = [
            wanted(case, x, f, shift, offset, case.relu) for row in sums for x, f in zip(row, factors, strict=True)
        ]
        assert values(args[2]) == expected, (factor, shift, offset)


BAD = {
    "not a number": (scale(float("nan")), "not finite"),
    "infinite": (scale(float("inf")), "not finite"),
    "subnormal": (scale(1e-40), "subnormal"),
    "unsigned": (scale(1.0, signed=False), "sign bit 46"),
}


@pytest.mark.parametrize("why", BAD)
@pytest.mark.parametrize("name", ["req_REQ8_0", "req_VREQ8_0"])
def test_scale_that_is_none(name: str, why: str) -> None:
    bits, said = BAD[why]
    case, by_column = CASES[name]
    args: list[Arg] = [gm("int8", [1] * (M * K)), gm("int8", [1] * (N * K)), gm("int8", [0] * (M * N))]
    args.append(gm("uint64", [bits] * N) if by_column else ScalarArg(bits - (1 << 64) if bits >> 63 else bits))
    report = BATCH.run(name, args)
    assert [f.kind for f in report.findings] == ["scale"]
    assert said in report.findings[0].message
    assert report.findings[0].lines == (line_of(BATCH.sources[name], "drain"),)
    assert case.quant in name


def test_scales_must_have_arrived() -> None:
    case, _ = CASES["deq_VDEQF16_0"]
    source = BATCH.sources["deq_VDEQF16_0"]
    args: list[Arg] = [gm("int8", [1] * (M * K)), gm("int8", [1] * (N * K)), gm("fp16", [0] * (M * N))]
    args.append(gm("uint64", [scale(1.0)] * N))
    lost = BATCH.run("deq_VDEQF16_0", args, drop=[line_of(source, "load_scales")])
    assert [f.kind for f in lost.findings] == ["undefined"]
    assert "undefined scales" in lost.findings[0].message
    flags = [line_of(source, f"{way}_MTE2_FIX") for way in ("set", "wait")]
    raced = BATCH.run("deq_VDEQF16_0", args, drop=flags)
    assert [f.kind for f in raced.findings] == ["race"]
    assert {line_of(source, "load_scales"), line_of(source, "drain")} == set(raced.findings[0].lines)
    assert case.target == "fp16"


def test_results_beyond_fp16() -> None:
    """A cast gives infinity, dequantisation the largest number."""
    args: list[Arg] = [gm("fp16", [100.0] * (16 * 16)), gm("fp16", [100.0] * (16 * 16)), gm("fp16", [0] * 256)]
    assert BATCH.run("large", args).findings == ()
    assert set(values(args[-1])) == {float("inf")}


_LARGE = Matmul("fp16", 16, 16, 16, out="fp16", quant="F322F16")
BATCH.kernel("large", _LARGE.params(), _LARGE.body(), head=HEAD)

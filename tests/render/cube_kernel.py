"""A cube kernel with every call of the cube in the form in which kernels are rendered, every dtype and every mode."""

from __future__ import annotations

from pypto_spec.render.model import LineInfo, RenderedKernel
from pypto_spec.render.names import HELPERS
from pypto_spec.templating import render

MEMORIES = (
    ("l1", "A1", 131_072),
    ("l0a", "A2", 65_536),
    ("l0b", "B2", 65_536),
    ("l0c", "CO1", 131_072),
    ("bt", "C2", 1024),
)
TILES = """
half a1 l1 4096 0
half b1 l1 4096 8192
half bias1 l1 256 16384
half mid l1 256 20480
uint64_t q l1 64 24576
float fbias1 l1 64 28672
int8_t i1 l1 4096 32768
float f1 l1 4096 40960
bfloat16_t h1 l1 4096 65536
int8_t mid8 l1 4096 81920
half a2 l0a 4096 0
half b2 l0b 4096 0
float fa2 l0a 4096 8192
float fb2 l0b 4096 8192
int8_t ia2 l0a 4096 24576
int8_t ib2 l0b 4096 24576
bfloat16_t ha2 l0a 4096 28672
bfloat16_t hb2 l0b 4096 28672
float c l0c 4096 0
int32_t ic l0c 4096 16384
float bias2 bt 64 0
int32_t ibias2 bt 64 256
int32_t ibias1 l1 64 90112
"""
"""Type, name, memory, elements and address of each tensor on chip."""
TENSORS = """
half x x_gm
float y y_gm
half yh y_gm
bfloat16_t yb y_gm
int8_t y8 y_gm
int32_t y32 y_gm
float xf x_gm
int8_t x8 x_gm
uint64_t xq x_gm
"""
"""Type, name and argument of each tensor in GM."""
BODY = """
DataCopy(a1, x[n], Nd2NzParams(1, SmallerOf(64, n), 64, 0, n, 64, 1, 0));
DataCopy(i1, x8, Nd2NzParams(1, 64, 64, 0, 64, 64, 1, 0));
DataCopy(f1, xf, Nd2NzParams(1, 64, 64, 0, 64, 64, 1, 0));
DataCopy(q, xq, 64);
SetFlag<HardEvent::MTE2_MTE1>(0);
WaitFlag<HardEvent::MTE2_MTE1>(0);
LoadData(a2, a1, MatrixParams<half>(64, 64, 0, 0, 64, 64, false));
LoadData(a2, a1, MatrixParams<half>(64, 64, n * 16, 0, 64, 64, true));
LoadData(b2, b1, MatrixParams<half>(64, 64, 0, 0, 64, 64, false));
LoadData(fa2, f1, MatrixParams<float>(64, 64, 0, 0, 64, 64, false));
LoadData(fb2, f1, MatrixParams<float>(64, 64, 0, 0, 64, 64, false));
LoadData(ha2, h1, MatrixParams<bfloat16_t>(64, 64, 0, 0, 64, 64, false));
LoadData(hb2, h1, MatrixParams<bfloat16_t>(64, 64, 0, 0, 64, 64, false));
LoadData(ia2, i1, MatrixParams<int8_t>(64, 64, 0, 0, 64, 64, false));
LoadData(a2, a1, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
LoadData(b2, b1, LoadData2DParams(n, 4, 1, 0, 0, false, 0));
LoadData(fb2, f1, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
LoadData(ib2, i1, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
LoadDataWithTranspose(ib2, i1, LoadData2dTransposeParams(0, 2, 1, 1, 0));
LoadDataWithTranspose(ia2, i1, LoadData2dTransposeParams(0, 2, 1, 1, 0));
DataCopy(bias2, bias1, DataCopyParams(1, 2, 0, 0));
DataCopy(bias2, fbias1, DataCopyParams(1, 4, 0, 0));
DataCopy(ibias2, ibias1, DataCopyParams(1, 4, 0, 0));
SetFlag<HardEvent::MTE1_M>(0);
WaitFlag<HardEvent::MTE1_M>(0);
Mmad(c, a2, b2, MmadParams(64, 64, 64, 0, false, true));
Mmad(c, a2, b2, MmadParams(64, 64, 64, 0, false, n == 0));
Mmad(c, ha2, hb2, MmadParams(64, 64, 64, 0, false, n == 0));
PipeBarrier<PIPE_M>();
Mmad(c, fa2, fb2, AlignedMmadParams(64, 64, 36, 0, false, n == 0));
Mmad(c, a2, b2, bias2, MmadParams(64, 64, 64, 0, true, false));
Mmad(ic, ia2, ib2, ibias2, MmadParams(64, 64, 64, 0, true, false));
SetFlag<HardEvent::M_FIX>(0);
WaitFlag<HardEvent::M_FIX>(0);
SetAtomicAdd<float>();
Fixpipe<float, float, CFG_ROW_MAJOR>(y, c, FixpipeParamsV220(64, n, 64, n, true, QuantMode_t::NoQuant, 0, 1, 0, 0, 0));
SetAtomicNone();
"""
FIXPIPES = """
half float CFG_ROW_MAJOR F322F16 0 yh c
bfloat16_t float CFG_ROW_MAJOR F322BF16 0 yb c
int32_t int32_t CFG_ROW_MAJOR NoQuant 0 y32 ic
half int32_t CFG_ROW_MAJOR DEQF16 1065353216 yh ic
int8_t int32_t CFG_ROW_MAJOR REQ8 1065353216 y8 ic
int8_t float CFG_ROW_MAJOR QF322B8_PRE 1065353216 y8 c
half int32_t CFG_ROW_MAJOR VDEQF16 0 yh ic q
int8_t int32_t CFG_ROW_MAJOR VREQ8 0 y8 ic q
int8_t float CFG_ROW_MAJOR VQF322B8_PRE 0 y8 c q
half float CFG_NZ F322F16 0 mid c
int8_t int32_t CFG_NZ REQ8 0 mid8 ic
half int32_t CFG_NZ VDEQF16 0 mid ic q
int8_t float CFG_NZ VQF322B8_PRE 0 mid8 c q
"""
"""Type made, type read, form, mode, scale, and the operands of each Fixpipe besides."""


def every_call() -> RenderedKernel:
    """The kernel; it computes nothing in particular."""
    made: list[str] = []
    for kind, name, memory, count, address in (line.split() for line in TILES.split("\n") if line):
        made.append(f"LocalTensor<{kind}> {name} = {memory}.GetWithOffset<{kind}>({count}, {address});")
    for kind, name, argument in (line.split() for line in TENSORS.split("\n") if line):
        made.append(f"GlobalTensor<{kind}> {name};")
        made.append(f"{name}.SetGlobalBuffer(reinterpret_cast<__gm__ {kind}*>({argument}), 4096);")
    body = [line for line in BODY.split("\n") if line]
    for made_of, read, form, mode, scale, *operands in (line.split() for line in FIXPIPES.split("\n") if line):
        pitch = "n" if form == "CFG_ROW_MAJOR" else "64"
        params = f"FixpipeParamsV220(64, 64, 64, {pitch}, false, QuantMode_t::{mode}, {scale}, 1, 0, 0, 0)"
        body.append(f"Fixpipe<{made_of}, {read}, {form}>({', '.join(operands)}, {params});")
    text = render(
        "ascendc/kernel.cpp.j2", name="cube", region="r", program="p", about="", spec="cube.yaml", version="1",
        inline="__aicore__ inline",
        helpers=[h for h in HELPERS if h in ("SmallerOf", "MatrixParams", "AlignedMmadParams")],
        signature=['extern "C" __global__ __aicore__ void cube(GM_ADDR x_gm, GM_ADDR y_gm, int64_t n) {'],
        task_type="KERNEL_TYPE_AIC_ONLY",
        memories=[{"name": name, "position": position, "bytes": size} for name, position, size in MEMORIES],
        declarations=[f"    {line}" for line in made],
        body=[f"    {line}" for line in body],
    )  # fmt: skip
    lines = tuple(LineInfo(number, "form", first=number) for number in range(1, text.count("\n") + 1))
    return RenderedKernel("cube", "r", text, lines, (), "aic", 1, {}, {})

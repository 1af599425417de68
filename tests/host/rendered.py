"""Small kernels in the form the renderer prints, written by hand, for the tests of the host model."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pypto_spec.host import Arg, GmArg, HostLibrary, KernelSource, RunReport, compile_kernels

CPP = {
    "fp32": "float",
    "fp16": "half",
    "bf16": "bfloat16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
}
SIZE = {"fp32": 4, "fp16": 2, "bf16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}
SIZE |= {"int64": 8, "uint64": 8}
_FORM = {"fp32": "f", "fp16": "e", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I"}
_FORM |= {"int64": "q", "uint64": "Q"}


def round_to(dtype: str, value: float) -> float:
    """The nearest value of the type (ties to even); infinite past its range."""
    if dtype == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    if dtype in ("fp32", "fp16"):
        try:
            return float(struct.unpack(f"<{_FORM[dtype]}", struct.pack(f"<{_FORM[dtype]}", value))[0])
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value


def pack(dtype: str, values: Iterable[float]) -> bytearray:
    listed = list(values)
    if dtype == "bf16":
        words = [struct.unpack("<I", struct.pack("<f", round_to("bf16", v)))[0] >> 16 for v in listed]
        return bytearray(struct.pack(f"<{len(words)}H", *words))
    if dtype not in ("fp32", "fp16"):
        listed = [int(v) for v in listed]
    return bytearray(struct.pack(f"<{len(listed)}{_FORM[dtype]}", *listed))


def unpack(dtype: str, data: bytearray) -> list[float]:
    count = len(data) // SIZE[dtype]
    if dtype == "bf16":
        words = struct.unpack(f"<{count}H", data)
        return [float(struct.unpack("<f", struct.pack("<I", w << 16))[0]) for w in words]
    return list(struct.unpack(f"<{count}{_FORM[dtype]}", data))


HEAD = """#include "kernel_operator.h"
using namespace AscendC;
static constexpr int32_t kHelper = @ub;
extern "C" __global__ __aicore__ void @name(@params)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TBuf<TPosition::VECIN> ub;
    pipe.InitBuffer(ub, kHelper);
    pipe.Destroy();
"""


def render(
    name: str, params: Sequence[tuple[str, str]], body: str, *, ub: int = 65536, end: bool = True, head: str = HEAD
) -> KernelSource:
    """A kernel with ``body``; a GM parameter ``a`` of dtype fp32 gives a tensor ``ga``; other types pass by value."""
    declared = ", ".join(f"GM_ADDR {n}" if t in CPP else f"{t} {n}" for n, t in params)
    text = head.replace("@ub", str(ub)).replace("@name", name).replace("@params", declared)
    for n, t in params:
        if t in CPP:
            text += f"    GlobalTensor<{CPP[t]}> g{n};\n    g{n}.SetGlobalBuffer((__gm__ {CPP[t]}*){n}, 0);\n"
    for line in body.strip("\n").splitlines():
        text += f"    {line.strip()}\n"
    if end:
        text += "    PipeBarrier<PIPE_ALL>();\n"
    return KernelSource(name, text + "}\n")


def line_of(source: KernelSource, tag: str) -> int:
    """The line that ends in ``// tag``."""
    found = [i for i, line in enumerate(source.text.splitlines(), 1) if line.endswith(f"// {tag}")]
    assert len(found) == 1, (tag, found)
    return found[0]


@dataclass
class Batch:
    """Kernels gathered while a test module is imported and compiled together when the first one runs."""

    sources: dict[str, KernelSource] = field(default_factory=dict)
    library: HostLibrary | None = None

    def add(self, source: KernelSource) -> KernelSource:
        assert source.name not in self.sources
        self.sources[source.name] = source
        return source

    def kernel(self, name: str, params: Sequence[tuple[str, str]], body: str, **options: object) -> KernelSource:
        return self.add(render(name, params, body, **options))  # type: ignore[arg-type]

    def run(
        self,
        kernel: str,
        args: Sequence[Arg],
        *,
        blocks: int = 1,
        seed: int = 0,
        drop: Sequence[int] = (),
        records: bool = False,
        max_steps: int = 1_000_000_000,
        max_events: int = 4_000_000,
        timing: bool = False,
        only: Sequence[int] = (),
    ) -> RunReport:
        if self.library is None:
            self.library = compile_kernels(list(self.sources.values()))
        return self.library.run(
            kernel,
            args,
            blocks=blocks,
            seed=seed,
            drop=drop,
            records=records,
            max_steps=max_steps,
            max_events=max_events,
            timing=timing,
            only=only,
        )


def gm(dtype: str, values: Iterable[float], *, readonly: bool = False) -> GmArg:
    return GmArg(pack(dtype, values), dtype, readonly=readonly)


def values(argument: Arg) -> list[float]:
    assert isinstance(argument, GmArg)
    return unpack(argument.dtype, bytearray(argument.data))

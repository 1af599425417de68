"""Ascend 910B (`a2a3`, dav-2201)."""

from __future__ import annotations

from pypto_spec.ir.types import Memory
from pypto_spec.targets.costs_a2a3 import COSTS
from pypto_spec.targets.l0_figures import A2A3_L0
from pypto_spec.targets.model import Target

A2A3 = Target(
    name="a2a3",
    capacity={
        Memory.VEC: 188_416,
        Memory.MAT: 524_160,
        Memory.LEFT: 65_536,
        Memory.RIGHT: 65_536,
        Memory.ACC: 131_072,
        Memory.BIAS: 1_024,
    },
    reserved={Memory.VEC: 8_192, Memory.MAT: 128},
    address_alignment={
        Memory.VEC: 32,
        Memory.MAT: 32,
        Memory.LEFT: 512,
        Memory.RIGHT: 512,
        Memory.ACC: 1_024,
        Memory.BIAS: 64,
    },
    moves={
        Memory.GM: (Memory.VEC, Memory.MAT),
        Memory.VEC: (Memory.GM,),
        Memory.MAT: (Memory.LEFT, Memory.RIGHT, Memory.BIAS),
        Memory.ACC: (Memory.MAT, Memory.GM),
    },
    vector_cores=48,
    cube_cores=24,
    max_repeat=255,
    max_stride_blocks=255,
    event_ids=6,
    copy_block_count=4_095,
    copy_block_bytes=2_097_151,
    gm_burst_bytes=512,
    l2_line_bytes=512,
    npu_arch="2201",
    builds=True,
    costs=COSTS,
    l0=A2A3_L0,
    sources={
        "capacity": "PyPTO soc.cpp: UB 192 KiB less the top 8 KiB, which vector APIs use as scratch; Ascend C guide",
        "reserved": "PyPTO soc.cpp: the top 8 KiB of UB, scratch of vector APIs; kernel headers: 128 B of L1 "
        "(KFC_L1_RESERVER_SIZE), which a TBuf cannot have",
        "address_alignment": "Ascend C guide, general constraints; Mmad for L0C",
        "moves": "PyPTO soc.cpp, memory graph of Ascend910B",
        "vector_cores": "PyPTO soc.cpp, Ascend910B: 48 vector clusters of one core; B3 and B4 chips have 40",
        "cube_cores": "PyPTO soc.cpp, Ascend910B: 24 cube clusters of one core; B3 and B4 chips have 20",
        "max_repeat": "Ascend C MAX_REPEAT_TIMES; repeat is a uint8 in the intrinsics",
        "max_stride_blocks": "repeat strides are 8 bit, in 32 B blocks",
        "event_ids": "8 ids a kind; 6 is reserved and 7 is used by the toolchain's own sync",
        "copy_block_count": "DataCopyExtParams.blockCount, 12 bit",
        "copy_block_bytes": "DataCopyExtParams.blockLen, 21 bit",
        "gm_burst_bytes": "PyPTO soc.cpp, Ascend910B: GM access granularity, the threshold of PH001",
        "l2_line_bytes": "PyPTO soc.cpp, Ascend910B: L2 cache line",
        "npu_arch": "Ascend C: dav-2201 is the architecture of Ascend 910B; `--npu-arch` and `__NPU_ARCH__` of CANN",
        "builds": "this project: kernels are rendered for dav-2201",
    },
)

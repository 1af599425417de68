"""Ascend 950 (`a5`, dav-3510). Specs can be checked, lowered and planned for it; it has no output dialect yet."""

from __future__ import annotations

from dataclasses import replace

from pypto_spec.ir.types import Memory
from pypto_spec.targets.a2a3 import A2A3
from pypto_spec.targets.l0_figures import A5_L0

A5 = replace(
    A2A3,
    name="a5",
    capacity={
        Memory.VEC: 245_760,
        Memory.MAT: 524_288,
        Memory.LEFT: 65_536,
        Memory.RIGHT: 65_536,
        Memory.ACC: 262_144,
        Memory.BIAS: 4_096,
    },
    moves={
        Memory.GM: (Memory.VEC, Memory.MAT),
        Memory.VEC: (Memory.MAT, Memory.GM),
        Memory.MAT: (Memory.LEFT, Memory.RIGHT, Memory.BIAS),
        Memory.ACC: (Memory.VEC, Memory.MAT, Memory.GM),
    },
    reserved={Memory.VEC: 8_192},
    vector_cores=72,
    cube_cores=36,
    gm_burst_bytes=128,
    npu_arch="3510",
    builds=False,
    l0=A5_L0,
    costs=replace(
        A2A3.costs,
        sources={
            name: f"no published figure for Ascend 950; that of a2a3: {source}"
            for name, source in A2A3.costs.sources.items()
        },
    ),
    sources={
        **A2A3.sources,
        "capacity": "PyPTO soc.cpp, Ascend950: UB 248 KiB less 8 KiB",
        "reserved": "PyPTO soc.cpp, Ascend950: the top 8 KiB of UB",
        "moves": "PyPTO soc.cpp, memory graph of Ascend950",
        "vector_cores": "PyPTO soc.cpp, Ascend950: 2 dies of 18 clusters, each of one cube and two vector cores",
        "cube_cores": "PyPTO soc.cpp, Ascend950: 2 dies of 18 clusters, each of one cube and two vector cores",
        "gm_burst_bytes": "PyPTO soc.cpp, Ascend950: GM access granularity, the threshold of PH001",
        "l2_line_bytes": "PyPTO soc.cpp, Ascend950: L2 cache line",
        "npu_arch": "Ascend C: dav-3510 is the architecture of Ascend 950",
        "builds": "this project: there is no output dialect of dav-3510 yet",
    },
)

"""The cost table of Ascend 910B."""

from __future__ import annotations

from pypto_spec.targets.costs import Costs, VectorCost

_MODEL = "pto-isa include/pto/costmodel/a2a3/cce_costmodel"
_FITTED = f"{_MODEL}, fitted to a 910B3 (head and tail together)"
_GIVEN = f"{_MODEL}, not said to be measured (head and tail together)"
_DEFAULT = f"no published figure for this call; the default of {_MODEL}"
_AS_SUM = f"no published figure but the default of {_MODEL}, 6 + 2 a repeat; that of `WholeReduceSum`, the same walk"
_SYNC = "pto-isa cce_costmodel_sync.hpp counts one cycle; not said to be measured"

_TABLE: dict[str, tuple[VectorCost, str]] = {
    "Add": (VectorCost(24, 2, 16), f"{_FITTED}: vadd"),
    "Sub": (VectorCost(24, 2, 16), f"{_FITTED}: vsub"),
    "Mul": (VectorCost(25, 2, 16), f"{_FITTED}: vmul"),
    "Div": (VectorCost(30, 4, 16), f"{_FITTED}: vdiv of fp32 in its default mode"),
    "Max": (VectorCost(24, 2, 16), f"{_FITTED}: vmax"),
    "Min": (VectorCost(24, 2, 16), f"{_GIVEN}: vmin, as vmax"),
    "And": (VectorCost(20, 2, 16), f"{_FITTED}: vand of int16"),
    "Or": (VectorCost(20, 2, 16), f"{_FITTED}: vor of int16"),
    "Not": (VectorCost(20, 2), f"{_GIVEN}: vnot, as vand"),
    "Adds": (VectorCost(31, 1), f"{_GIVEN}: vadds"),
    "Muls": (VectorCost(26, 1), f"{_FITTED}: vmuls"),
    "Maxs": (VectorCost(23, 1), f"{_FITTED}: vmaxs"),
    "Mins": (VectorCost(30, 1), f"{_GIVEN}: vmins"),
    "LeakyRelu": (VectorCost(26, 1), f"{_FITTED}: vlrelu"),
    "Relu": (VectorCost(23, 1), f"{_FITTED}: vrelu"),
    "Abs": (VectorCost(29, 1), f"{_GIVEN}: vabs"),
    "Exp": (VectorCost(31, 2), f"{_FITTED}: vexp"),
    "Ln": (VectorCost(33, 2), f"{_FITTED}: vln"),
    "Sqrt": (VectorCost(39, 2), f"{_GIVEN}: vsqrt"),
    "Rsqrt": (VectorCost(24, 1), f"{_FITTED}: vrsqrt"),
    "Cast": (VectorCost(32, 2), f"{_GIVEN}: one figure for all vconv"),
    "Duplicate": (VectorCost(24, 1), f"{_GIVEN}: vector_dup"),
    "Copy": (VectorCost(24, 1), f"{_GIVEN}: vcopy"),
    "Select": (VectorCost(27, 2), f"{_GIVEN}: vsel"),
    "Compare": (VectorCost(36, 2), f"{_GIVEN}: vcmpv of >= and !=; it has no figure for the other modes"),
    "WholeReduceSum": (VectorCost(46, 7), f"{_GIVEN}: vcadd"),
    "WholeReduceMax": (VectorCost(46, 7), _AS_SUM),
    "WholeReduceMin": (VectorCost(46, 7), _AS_SUM),
    "Brcb": (VectorCost(18, 1), f"{_GIVEN}: vbrcb, which has a tail alone; one cycle for 256 B is added here"),
    "Gather": (VectorCost(24, 2), f"{_FITTED}: vgather of one repeat; its cost of a further repeat was not measured"),
    "MrgSort": (VectorCost(20, 10), f"{_FITTED}: vmrgsort4, 78 cycles for 4 lists of 64 records, 2,048 B"),
    "DataCopy": (VectorCost(24, 0), "no published figure for the start of a copy inside UB; that of `Copy`"),
}  # fmt: skip

COSTS = Costs(
    clock_mhz=1850,
    gm_to_ub=100.9,
    ub_to_gm=188.46,
    ub_to_ub=1024.0,
    gm_read=768,
    gm_write=2064,
    load_latency=214,
    store_latency=107,
    gm_to_mat=135.0,
    mat_latency=67,
    l2_read=2640,
    mat_to_bias=32,
    bias_latency=20,
    acc_to_mat=64,
    keep_latency=20,
    vector={call: cost for call, (cost, _) in _TABLE.items()},
    vector_default=VectorCost(6, 2),
    dispatch=1,
    scalar=1,
    set_flag=1,
    wait_flag=1,
    barrier=1,
    queue_depth=32,
    sources={
        "clock_mhz": "cube_freq of a 910B1 in hicann/pypto A2A3.ini, and the clock of pto-isa arch_config.hpp; "
        "B2 and B3 run at 1800, B4 at 1500",
        "gm_to_ub": "pto-isa include/pto/costmodel/arch_config.hpp, kA2A3ArchConfig: GM_TO_UB of one core alone",
        "ub_to_gm": "pto-isa include/pto/costmodel/arch_config.hpp, kA2A3ArchConfig: UB_TO_GM of one core alone",
        "ub_to_ub": "pto-isa include/pto/costmodel/arch_config.hpp, kA2A3ArchConfig: UB_TO_UB",
        "gm_read": "hicann/pypto A2A3.ini, AICoreMemoryRates: 32 B/cycle from DDR for each of 24 clusters, 1.42 TB/s "
        "at 1850 MHz; asc-devkit measured 1.41 to 1.49 TB/s",
        "gm_write": "hicann/pypto A2A3.ini, AICoreMemoryRates: 86 B/cycle into L2 for each of 24 clusters",
        "load_latency": "half-saturation of the fit to a 910B3 in pto-isa arch_config.hpp, GM_TO_UB: 30,643 B at "
        "247.16 GiB/s, in cycles of 1850 MHz; its error is 30 %",
        "store_latency": "half-saturation of the fit to a 910B3 in pto-isa arch_config.hpp, UB_TO_GM: 1,755 B at "
        "28.19 GiB/s, in cycles of 1850 MHz; its error is 30 %",
        "gm_to_mat": "pto-isa include/pto/costmodel/arch_config.hpp, kA2A3ArchConfig: GM_TO_L1 of one core alone",
        "mat_latency": "half-saturation of the fit to a 910B3 in pto-isa arch_config.hpp, GM_TO_L1: 1,107 B at "
        "28.61 GiB/s, in cycles of 1850 MHz; its error is 30 %",
        "l2_read": "hicann/pypto A2A3.ini, AICoreMemoryRates: 110 B/cycle from L2 for each of 24 clusters, 4.9 TB/s at "
        "1850 MHz; asc-devkit measured 5 to 5.2 TB/s",
        "mat_to_bias": "asc-devkit tests/perf/load_data_perf, theory of L1 to the bias table",
        "bias_latency": "asc-devkit tests/perf/load_data_perf, theory of L1 to the bias table",
        "acc_to_mat": "asc-devkit tests/perf/fixpipe_perf, theory of L0C to L1, the same for fp16 and int8",
        "keep_latency": "asc-devkit tests/perf/fixpipe_perf, theory of L0C to L1",
        "vector_default": f"{_DEFAULT}: head 6, 2 for each repeat",
        "dispatch": "no published figure; one instruction a cycle",
        "scalar": "no published figure; one instruction a cycle",
        "set_flag": _SYNC,
        "wait_flag": _SYNC,
        "barrier": _SYNC,
        "queue_depth": "asc-devkit, matmul README: 32 entries of MTE1; no published figure for the other pipes",
        **{f"vector.{call}": source for call, (_, source) in _TABLE.items()},
    },
)

"""The L0 figures of each platform."""

from __future__ import annotations

from pypto_spec.targets.l0 import L0Costs

_HANDLER = "PyPTO backend_handler.h, L0CostModel"
_MTE1 = f"{_HANDLER}: MTE1 sweep on a device"
_FIXPIPE = f"{_HANDLER}: fixpipe sweep on a device, bf16 and fp32, m 16 to 256, n 16 to 512"
_FRACTAL = "the fractal of the cube, 16 x 16; PyPTO backend_handler.h has the same for both platforms"

A2A3_L0 = L0Costs(
    left_bandwidth=129.7,
    right_bandwidth=85.4,
    drain_bandwidth=118.0,
    drain_fixed=164.0,
    drain_row=4.45,
    drain_penalty=2.6,
    drain_block=32,
    mad_head=21,
    mad_fractal=32,
    mad_fp32_passes=2,
    fractal=16,
    int32_rows=32,
    sources={
        "left_bandwidth": f"{_MTE1}, R^2 0.993",
        "right_bandwidth": f"{_MTE1}, R^2 0.993",
        "drain_bandwidth": _FIXPIPE,
        "drain_fixed": _FIXPIPE,
        "drain_row": _FIXPIPE,
        "drain_penalty": f"{_FIXPIPE}; the form was checked on a simulator, R^2 0.968",
        "drain_block": "C0 of the fractal layout NZ, 32 B",
        "mad_head": f"{_HANDLER}: fit to a simulator, within 2 % of a device",
        "mad_fractal": "C0 of the fractal layouts, 32 B",
        "mad_fp32_passes": f"{_HANDLER}: the mantissa of fp32 is taken in parts",
        "fractal": _FRACTAL,
        "int32_rows": "PyPTO backend_910b_handler.h: rows of an int32 accumulator are padded to 32",
    },
)
"""Ascend 910B."""

_SIMULATED = "PyPTO backend_950_handler.h: fit to a simulator, no device"

A5_L0 = L0Costs(
    left_bandwidth=206.3,
    right_bandwidth=223.8,
    drain_bandwidth=30.0,
    drain_fixed=343.4,
    drain_row=4.59,
    drain_penalty=0.26,
    drain_block=32,
    mad_head=25,
    mad_fractal=32,
    mad_fp32_passes=8,
    fractal=16,
    int32_rows=16,
    sources={
        **A2A3_L0.sources,
        "left_bandwidth": f"{_SIMULATED}: MTE1",
        "right_bandwidth": f"{_SIMULATED}: MTE1",
        "drain_bandwidth": f"{_SIMULATED}: fixpipe; on a2a3 the same simulator drains 4 times slower than a device",
        "drain_fixed": f"{_SIMULATED}: fixpipe",
        "drain_row": f"{_SIMULATED}: fixpipe",
        "drain_penalty": f"{_SIMULATED}: fixpipe",
        "mad_head": f"{_SIMULATED}: sweeps of k in fp32 and bf16",
        "mad_fp32_passes": f"{_SIMULATED}: sweep of k in fp32, R^2 1",
        "int32_rows": "PyPTO backend_handler.h: 16 rows where a platform says nothing else",
    },
)
"""Ascend 950."""

"""Whole programs for the modelled timeline."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.nodes import Program


def compiled(text: str) -> Program:
    """A program after its last pass, proven free of races."""
    done = compile_source(Source("k.yaml", text), format="yaml")
    assert done.program is not None, [d.message for d in done.diagnostics]
    return done.program


def buffered(slots: int, rounds: int = 16) -> str:
    """`exp` over `2 * rounds` row tiles with one buffer or two; flags by hand, one pair for each buffer."""
    lines = [
        "spec: v1",
        f"name: slots_{slots}",
        "target: {platform: a2a3, sync: manual}",
        "tensors:",
        f"  x:   {{dtype: fp32, shape: [{2 * rounds * 64}, 128]}}",
        f"  out: {{dtype: fp32, shape: [{2 * rounds * 64}, 128], access: out}}",
        "buffers:",
        *(f"  b{n}: {{memory: vec, bytes: 32768, address: {n * 32768}}}" for n in range(slots)),
        "golden: {expect: {out: exp(x)}}",
        "program:",
        "  - region: r",
        "    core: aiv",
        "    body:",
        *(f"      - set_flag: {{from: mte3, to: mte2, id: {n}}}" for n in range(slots)),
        f"      - for: {{index: i, range: [0, {rounds}, 1]}}",
        "        body:",
    ]
    for half in (0, 1):
        slot = half % slots
        tile = "dtype: fp32, shape: [64, 128], memory: vec"
        lines += [
            f"          - wait_flag: {{from: mte3, to: mte2, id: {slot}}}",
            f"          - load: {{into: t{half}, from: x, at: [i * 128 + {half * 64}, 0], shape: [64, 128], "
            f"memory: vec, buffer: b{slot}}}",
            f"            type: {{{tile}}}",
            f"          - set_flag: {{from: mte2, to: v, id: {slot}}}",
            f"          - wait_flag: {{from: mte2, to: v, id: {slot}}}",
            f"          - exp: {{into: y{half}, x: t{half}, buffer: b{slot}}}",
            f"            type: {{{tile}}}",
            f"          - set_flag: {{from: v, to: mte3, id: {slot}}}",
            f"          - wait_flag: {{from: v, to: mte3, id: {slot}}}",
            f"          - store: {{from: y{half}, to: out, at: [i * 128 + {half * 64}, 0]}}",
            f"          - set_flag: {{from: mte3, to: mte2, id: {slot}}}",
        ]
    lines += [f"      - wait_flag: {{from: mte3, to: mte2, id: {n}}}" for n in range(slots)]
    return "\n".join(lines) + "\n"

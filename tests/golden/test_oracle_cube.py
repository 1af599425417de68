"""Flags, barriers and on-chip bytes of cube kernels against those that PyPTO and PTOAS need for the same kernels.

The figures are counted as in `test_oracle`; none of these kernels has a barrier inside a recipe. PyPTO unrolls the grid
of the last three, ours is a loop: what is counted is statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.nodes import Barrier, Program, SetFlag, WaitFlag
from pypto_spec.ir.rewrite import regions, statements

SPECS = Path(__file__).parents[2] / "specs"


@dataclass(frozen=True)
class Oracle:
    """What a kernel needs there: flags by direction, barriers, and the highest end address by memory."""

    text: str
    flags: Mapping[str, int]
    barriers: int
    bytes: Mapping[str, int] = field(default_factory=dict)
    region: int = 0


def product(m: int, n: int, k: int, dtype: str = "fp32") -> str:
    """One product of whole arrays."""
    return f"""\
spec: v1
name: p
tensors:
  a: {{dtype: {dtype}, shape: [{m}, {k}]}}
  b: {{dtype: {dtype}, shape: [{k}, {n}]}}
  c: {{dtype: fp32, shape: [{m}, {n}], access: out}}
program:
  - region: mm
    body:
      - let: c = matmul(a, b)
"""


TWO_BLOCKS = """\
spec: v1
name: p
tensors:
  a: {dtype: fp32, shape: [64, 64]}
  b: {dtype: fp32, shape: [64, 64]}
  c: {dtype: fp32, shape: [64, 64], access: out}
program:
  - region: mm
    body:
      - load: {into: a0, from: a, at: [0, 0], shape: [64, 32]}
      - load: {into: b0, from: b, at: [0, 0], shape: [32, 64]}
      - matmul: {into: acc, lhs: a0, rhs: b0}
      - load: {into: a1, from: a, at: [0, 32], shape: [64, 32]}
      - load: {into: b1, from: b, at: [32, 0], shape: [32, 64]}
      - matmul_acc: {into: acc, acc: acc, lhs: a1, rhs: b1}
      - store: {from: acc, to: c, at: [0, 0]}
"""


def gallery(name: str) -> str:
    """A kernel of the gallery."""
    return (SPECS / f"{name}.yaml").read_text(encoding="utf-8")


WIDE_CHAIN = (
    gallery("cube/matmul_chain")
    .replace("d:   {dtype: fp16, shape: [256, 64]}", "d:   {dtype: fp16, shape: [256, 256]}")
    .replace("out: {dtype: fp32, shape: [256, 64]", "out: {dtype: fp32, shape: [256, 256]")
    .replace("from: d, at: [0, 0], shape: [256, 64]", "from: d, at: [0, 0], shape: [256, 256]")
)
"""The chain of the gallery with a second product as large as the first one's result."""

KERNELS = {
    "matmul 64x64x64": Oracle(
        product(64, 64, 64), {"m-fix": 1, "mte1-m": 1, "mte2-mte1": 2}, 0,
        {"mat": 32768, "left": 16384, "right": 16384, "acc": 16384},
    ),
    "K in 2 blocks of 32": Oracle(
        TWO_BLOCKS, {"m-fix": 1, "m-mte1": 1, "mte1-m": 2, "mte1-mte2": 2, "mte2-mte1": 4}, 0,
        {"acc": 16384, "left": 8192, "mat": 16384, "right": 8192},
    ),
    "zero init of split-K": Oracle(gallery("cube/split_k"), {"v-mte3": 1}, 0),
    "one split of split-K": Oracle(gallery("cube/split_k"), {"m-fix": 1, "mte1-m": 1, "mte2-mte1": 2}, 0, region=1),
    "paged attention QK": Oracle(product(16, 128, 128, "bf16"), {"m-fix": 1, "mte1-m": 1, "mte2-mte1": 2}, 0),
    "128x256x128": Oracle(product(128, 128, 256, "fp16"), {"m-fix": 1, "mte1-m": 2, "mte2-mte1": 2}, 1),
    "256x256, K=32": Oracle(
        product(256, 256, 32), {"fix-m": 1, "m-fix": 2, "mte1-m": 2, "mte2-mte1": 1}, 0,
        {"acc": 131072, "left": 32768, "mat": 65536, "right": 32768},
    ),
    "256x256, K=128": Oracle(
        product(256, 256, 128),
        {"fix-m": 1, "m-fix": 2, "m-mte1": 14, "mte1-m": 4, "mte2-mte1": 2}, 8,
        {"acc": 131072, "left": 32768, "mat": 262144, "right": 65536},
    ),
    "chained matmul": Oracle(
        WIDE_CHAIN,
        {"fix-m": 1, "fix-mte1": 1, "m-fix": 3, "m-mte1": 9, "mte1-m": 8, "mte1-mte2": 1, "mte2-mte1": 3}, 8,
        {"acc": 131072, "left": 65536, "mat": 327680, "right": 65536},
    ),
}  # fmt: skip


def compiled(oracle: Oracle) -> Program:
    made = compile_source(Source("p.yaml", oracle.text))
    assert made.program is not None, [d.message for d in made.diagnostics]
    return made.program


@pytest.mark.parametrize("name", KERNELS)
def test_no_more_than_the_oracle(name: str) -> None:
    oracle = KERNELS[name]
    program = compiled(oracle)
    nodes = list(statements(list(regions(program.body))[oracle.region].body))
    flags = Counter(f"{n.source}-{n.target}" for n in nodes if isinstance(n, SetFlag))
    assert sum(flags.values()) <= sum(oracle.flags.values()), flags
    assert sum(isinstance(n, WaitFlag) for n in nodes) == sum(flags.values())
    assert sum(isinstance(n, Barrier) for n in nodes) <= oracle.barriers
    ends: dict[str, int] = {}
    for buffer in program.buffers:
        end = (buffer.address or 0) + (buffer.bytes or 0) * buffer.slots
        ends[buffer.memory.value] = max(ends.get(buffer.memory.value, 0), end)
    assert {memory: ends.get(memory, 0) for memory in oracle.bytes if ends.get(memory, 0) > oracle.bytes[memory]} == {}

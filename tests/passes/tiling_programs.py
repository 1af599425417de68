"""Matmul programs for AutoTileMatmulL0 as text, and what they leave behind after each pass."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pypto_spec.convert.to_ir import convert
from pypto_spec.diagnostics.model import Diagnostic, Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.golden.meaning import Machine
from pypto_spec.golden.need_torch import torch
from pypto_spec.ir.nodes import Barrier, For, Op, Program, SetFlag
from pypto_spec.ir.rewrite import ops, regions, statements
from pypto_spec.ir.types import TensorType
from pypto_spec.ops.build import torch_dtype
from pypto_spec.passes import pipeline
from pypto_spec.passes.base import Context
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import TARGETS

HEAD = """\
spec: v1
name: k
target: {{platform: a2a3{target}}}
tensors:
  a: {{dtype: {dtype}, shape: [{m}, {k}]}}
  b: {{dtype: {dtype}, shape: [{k}, {n}]}}
  bias: {{dtype: {acc}, shape: [1, {n}]}}
  out: {{dtype: {acc}, shape: [{m}, {n}], access: {access}}}
program:
  - region: r
    body:
"""


def spec(
    shape: tuple[int, int, int], dtype: str = "fp16", body: str = "", target: str = "", access: str = "out"
) -> str:
    """One matmul of tensors `a` [M, K] and `b` [K, N], loaded whole, with its store; or the `body` given."""
    m, n, k = shape
    acc = "int32" if dtype == "int8" else "fp32"
    head = HEAD.format(m=m, n=n, k=k, dtype=dtype, acc=acc, target=f", {target}" if target else "", access=access)
    text = body or PLAIN
    for name, extent in zip("MNK", shape, strict=True):
        text = text.replace(f"<{name}>", str(extent))
    return head + "".join(f"      {line}\n" for line in text.strip("\n").splitlines())


LOADS = """\
- load: {into: a1, from: a, at: [0, 0], shape: [<M>, <K>]}
- load: {into: b1, from: b, at: [0, 0], shape: [<K>, <N>]}
"""
PLAIN = (
    LOADS
    + """\
- matmul: {into: c, lhs: a1, rhs: b1}
- store: {from: c, to: out, at: [0, 0]}
"""
)


class Run:
    """A program and what becomes of it, up to a pass."""

    def __init__(self, text: str, after: str | None = None) -> None:
        self.sink = Sink()
        self.source = convert(load_document(Source("k.yaml", text)), self.sink)
        self.sink.stop_on_errors()
        self.after: dict[str, Program] = {}
        context = Context(TARGETS[self.source.target.platform], self.sink)
        self.last = pipeline.run(
            self.source, context, after=after, thorough=True, on_pass=lambda step, made: self.keep(step.name, made)
        )

    def keep(self, name: str, made: Program) -> None:
        self.after[name] = made

    @property
    def found(self) -> list[Diagnostic]:
        return self.sink.found

    @property
    def codes(self) -> list[str]:
        return [d.rule.code for d in self.sink.found if d.rule.code != "PH001"]

    def ops(self, name: str, after: str = "AutoTileMatmulL0") -> list[Op]:
        return [op for r in regions(self.after[after].body) for op in ops(r.body) if op.name == name]

    def loops(self, after: str = "AutoTileMatmulL0") -> list[For]:
        return [s for r in regions(self.after[after].body) for s in statements(r.body) if isinstance(s, For)]

    def counts(self) -> tuple[Counter[str], int]:
        """Flags by direction and barriers of the last program."""
        found = [s for r in regions(self.last.body) for s in statements(r.body)]
        flags = Counter(f"{s.source}>{s.target}" for s in found if isinstance(s, SetFlag))
        return flags, sum(isinstance(s, Barrier) and s.pipe != "all" for s in found)

    def bytes(self) -> dict[str, int]:
        """The highest end address by memory."""
        ends: dict[str, int] = {}
        for b in self.last.buffers:
            assert b.address is not None and b.bytes is not None
            ends[b.memory.value] = max(ends.get(b.memory.value, 0), b.address + b.bytes * b.slots)
        return ends


def results(program: Program, seed: int = 0) -> dict[str, Any]:
    """What a program leaves in its tensors, from small whole numbers, whose products are exact."""
    generator = torch().Generator().manual_seed(seed)
    tensors: dict[Any, Any] = {}
    for tensor in program.tensors:
        assert isinstance(tensor.type, TensorType)
        values = torch().randint(-3, 4, tensor.type.shape, generator=generator)
        tensors[tensor] = values.to(torch_dtype(torch(), tensor.type.dtype))
    Machine(program, tensors).run()
    return {tensor.name: value for tensor, value in tensors.items()}


def differing(run: Run) -> list[str]:
    """The passes after which a program leaves something else than before the first."""
    wanted = results(run.source)
    found = []
    last = None
    for name, made in run.after.items():
        if made is last:
            continue
        last = made
        given = results(made)
        if any(not torch().equal(value, given[name]) for name, value in wanted.items()):
            found.append(name)
    return found

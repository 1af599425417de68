"""A program's launches without their data, for a timeline of sizes that no CPU computes.

The compiled kernels run as for a golden, but the host model records what they dispatch and does nothing else: tensors
have a size and no memory. Scalars have the values that a golden's run gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.inputs import domains, draw
from pypto_spec.golden.launches import Run, cores_for, launches
from pypto_spec.golden.run import Subject
from pypto_spec.golden.storage import strides_of
from pypto_spec.host.run import Arg, GmArg, RunReport, ScalarArg
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.expr import evaluate as number
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.targets import TARGETS

MOST_EVENTS = 200_000_000
"""Calls that a run may dispatch: 6144 x 6144 x 6144 takes about two million."""


class TimedRun:
    """The launches of one program at one size."""

    def __init__(self, subject: Subject, values: Mapping[Sym, int], seed: int = 0) -> None:
        self.subject = subject
        self.values = dict(values)
        self.scalars = _scalars(subject, self.values, seed)

    def run(self, schedule: int, auto_blocks: int, *, watch: Callable[[Run, RunReport], None] | None = None) -> None:
        """Run all launches; `watch` sees each with its records.

        Raises GoldenError where the host model objects: to an address, a size, or a scalar that is read from a tensor.
        """
        program = self.subject.program
        tensors = {tensor.name: self._bytes(tensor) for tensor in (*program.tensors, *program.created)}
        auto = cores_for(TARGETS[program.target.platform], auto_blocks)
        for launch in launches(self.subject.rendered.launches, self.values, auto):
            report = self.subject.library.run(
                launch.kernel.name,
                list(self._arguments(launch, tensors)),
                blocks=max(1, launch.blocks),
                seed=schedule,
                records=watch is not None,
                timing=True,
                max_events=MOST_EVENTS,
            )
            if report.findings:
                raise GoldenError(f"{launch.kernel.name}: {report.findings[0].message}")
            if watch is not None:
                watch(launch, report)

    def _bytes(self, tensor: Value) -> int:
        kind = tensor.type
        assert isinstance(kind, TensorType)
        shape = [number(extent, self.values) for extent in kind.shape]
        strides = strides_of(tensor, self.values)
        if strides is None or 0 in shape:
            return prod(shape) * kind.dtype.bytes
        return (1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))) * kind.dtype.bytes

    def _arguments(self, launch: Run, tensors: Mapping[str, int]) -> Iterator[Arg]:
        for argument in launch.kernel.arguments:
            if argument.kind == "tensor":
                yield GmArg(None, argument.dtype, tensors[argument.name], readonly=argument.access is Access.IN)
            elif argument.kind == "scalar":
                yield ScalarArg(self.scalars[argument.name].item())
            else:
                assert argument.symbol is not None
                yield ScalarArg(next(v for s, v in launch.values.items() if s.name == argument.symbol.name))


def _scalars(subject: Subject, values: Mapping[Sym, int], seed: int) -> dict[str, Any]:
    """The scalars of a golden's run with this seed."""
    program = subject.program
    golden = program.golden
    written = golden.inputs if golden is not None else {}
    base = golden.seed if golden is not None and golden.seed is not None else 0
    found = {v.name: d for v, d in domains(subject.frontend).items()}
    named = {dim.name: value for dim, value in values.items()}
    drawn = {}
    for place, scalar in enumerate(program.scalars, len(program.tensors)):
        spec = written.get(scalar.name)
        chosen = spec if isinstance(spec, Mapping) else None
        drawn[scalar.name] = draw(scalar, (), found[scalar.name], chosen, 1_000_003 * base + 101 * seed + place, named)
    return drawn

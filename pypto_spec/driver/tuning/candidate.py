"""One choice of constants: what it compiles to, and how long the model says that takes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.rules.hints import PIPELINE_DEPTH
from pypto_spec.diagnostics.rules.internal import INTERNAL_ERROR
from pypto_spec.diagnostics.rules.names import PARTLY_WRITTEN
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import evaluate
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import Access, TensorType, round_up
from pypto_spec.records import dataclass
from pypto_spec.report.timeline import Timeline, modelled
from pypto_spec.spec.formula.integer import Value
from pypto_spec.targets import TARGETS


@dataclass(frozen=True, slots=True)
class Depth:
    """PH-MR-001: the stages that a pipeline asked for, and those that got buffers in a memory."""

    requested: int
    achieved: int
    memory: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A tensor argument at the sizes of the timeline, or a scalar, which has no shape."""

    name: str
    kind: str
    shape: tuple[int, ...] = ()
    written: bool = False


@dataclass(frozen=True, slots=True)
class Modelled:
    """A program with its timeline. `memory` holds the bytes taken on chip by the names of memories.

    `partly` says which part of an output nobody writes, where that is so (PS2035).
    """

    timeline: Timeline
    memory: Mapping[str, int]
    depths: tuple[Depth, ...]
    arguments: tuple[Argument, ...]
    partly: str | None

    @property
    def bytes(self) -> int:
        """Bytes taken on chip, in all memories."""
        return sum(self.memory.values())

    @property
    def elements(self) -> int:
        """Elements of all outputs; 1 where there are none, so that it can divide."""
        return sum(prod(a.shape) for a in self.arguments if a.written) or 1

    @property
    def per_element(self) -> Fraction:
        """Modelled cycles for each element of output."""
        return Fraction(self.timeline.cycles, self.elements)


@dataclass(frozen=True, slots=True)
class Refused:
    """A choice that gives no program, or none that does the same: the code that says so, and its message."""

    code: str
    reason: str


@dataclass(slots=True, eq=False)
class Candidate:
    """A choice: `choice` are the texts, `values` what they mean in the spec, in the order of the axes.

    `golden` is None where none was run, `said` what a failed one found.
    """

    choice: Mapping[str, str]
    values: tuple[Value, ...]
    result: Modelled | Refused
    golden: bool | None = None
    said: Refused | None = None

    @property
    def figures(self) -> Modelled:
        """The figures of a candidate that is ranked."""
        assert isinstance(self.result, Modelled)
        return self.result


def model(spec: Spec, defines: Mapping[str, str]) -> Modelled | Refused:
    """Compile a spec with all passes and the checker, and model its timeline; nothing is rendered or run."""
    done = compile_spec(spec, defines=defines, advise=False)
    if done.program is None:
        return refused(done.findings)
    target = TARGETS[done.program.target.platform]
    timeline = modelled(done.program, target)
    partly = next((d.message for d in done.findings if d.rule is PARTLY_WRITTEN), None)
    return Modelled(timeline, _memory(done.program), _depths(done.findings), _arguments(done.program, timeline), partly)


def refused(findings: list[Diagnostic]) -> Refused:
    """The first error among findings."""
    error = next((d for d in findings if d.level is Severity.ERROR), None)
    if error is None:
        return Refused(INTERNAL_ERROR.code, "no program and no error came of it")
    return Refused(error.rule.code, error.message.splitlines()[0])


def _memory(program: Program) -> dict[str, int]:
    """Where the last buffer of each memory ends, as the manifest counts it."""
    ends: dict[str, int] = {}
    for buffer in program.buffers:
        end = (buffer.address or 0) + (buffer.bytes or 0) * buffer.slots
        ends[buffer.memory.value] = max(ends.get(buffer.memory.value, 0), round_up(end, BLOCK_BYTES))
    return dict(sorted(ends.items()))


def _depths(findings: list[Diagnostic]) -> tuple[Depth, ...]:
    made: dict[Depth, None] = {}
    for found in findings:
        if found.rule is PIPELINE_DEPTH:
            figures = dict(found.figures)
            made[Depth(int(figures["requested"]), int(figures["achieved"]), str(figures["space"]))] = None
    return tuple(made)


def _arguments(program: Program, timeline: Timeline) -> tuple[Argument, ...]:
    values = {dim: timeline.sizes[dim.name] for dim in program.dims}
    made: list[Argument] = []
    for tensor in program.tensors:
        kind = tensor.type
        assert isinstance(kind, TensorType)
        shape = tuple(evaluate(extent, values) for extent in kind.shape)
        made.append(Argument(tensor.name, str(kind.dtype), shape, kind.access is not Access.IN))
    return (*made, *(Argument(scalar.name, str(scalar.type)) for scalar in program.scalars))

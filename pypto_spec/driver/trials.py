"""Trials for advice: a spec with another number in it, planned as far as its memory, and what came of that.

A trial is planned without exact searches, whether OR-tools is there or not: it is quick, and the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.rules.hints import PIPELINE_DEPTH
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.knobs import Knob
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import TensorType
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.records import dataclass

UNTIL = "AllocateMemoryAddr"
"""The pass after which it is known whether everything has its place."""

OVERFLOWS = frozenset({"PS4001", "PS4030"})
"""Codes of errors that say that something does not fit."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a changed program: its bytes at the peak, or by how much it misses."""

    fits: bool
    needed: int
    excess: int


@dataclass(frozen=True, slots=True)
class Goal:
    """What a change has to reach: everything fits, and the loop whose `stages` stand at `loop` has all its depth.

    `region` and `memory` are where the bytes are counted; None counts all.
    """

    loop: tuple[int, int] | None = None
    region: str | None = None
    memory: str | None = None

    @staticmethod
    def of(finding: Diagnostic) -> Goal:
        """The goal that a finding sets."""
        if finding.rule is not PIPELINE_DEPTH:
            return Goal()
        figures = dict(finding.figures)
        return Goal(finding.primary.span.start, str(figures["region"]), str(figures["space"]))

    def judge(self, done: Compilation) -> Trial | None:
        """The trial that a compilation makes; None where other errors came up, which say nothing of memory."""
        errors = [d for d in done.diagnostics if d.level is Severity.ERROR]
        if any(d.rule.code not in OVERFLOWS for d in errors):
            return None
        short = [d for d in done.diagnostics if d.rule is PIPELINE_DEPTH and d.primary.span.start == self.loop]
        if done.program is not None and not errors and not short:
            return Trial(True, self._needed(done.program), 0)
        figures = [dict(d.figures) for d in errors or short]
        needed, excess = (max((int(f.get(n, 0)) for f in figures), default=0) for n in ("needed_bytes", "excess_bytes"))
        return Trial(False, needed, excess)

    def _needed(self, program: Program) -> int:
        """The highest end of a buffer, in bytes."""
        here: set[str] = set()
        for region in regions(program.body):
            if self.region in (None, region.name):
                here |= Lifetimes(region.body).of.keys()
        ends = [
            (b.address or 0) + (b.bytes or 0) * b.slots
            for b in program.buffers
            if self.memory in (None, b.memory.value) and b.name in here
        ]
        return max(ends, default=0)


@dataclass(slots=True)
class Trials:
    """Plans changed programs, a bounded number of them: `left` more. What was planned once is remembered."""

    spec: Spec
    defines: Mapping[str, str]
    left: int
    _done: dict[tuple[object, int], Compilation] = field(default_factory=dict)

    def extents(self) -> list[int]:
        """The extents of the arguments that are known."""
        read: list[Program] = []
        compile_source(
            self.spec.source, format=self.spec.format, defines=self.defines, variant=self.spec.variant,
            after=PASSES[0].name, trial=True,
            on_pass=lambda step, program: read.append(program),
        )  # fmt: skip
        kinds = [t.type for t in read[0].tensors] if read else []
        return [n for kind in kinds if isinstance(kind, TensorType) for n in kind.shape if isinstance(n, int)]

    def plan(self, knob: Knob, value: int, goal: Goal) -> Trial | None:
        """The trial of another value of a knob; None where other errors come up or no plan is left."""
        key = (knob.name or knob.nodes, value)
        done = self._done.get(key)
        if done is None:
            if self.left == 0:
                return None
            self.left -= 1
            done = self._done[key] = self._compile(knob, value)
        return goal.judge(done)

    def _compile(self, knob: Knob, value: int) -> Compilation:
        source, defines = self.spec.source, self.defines
        if knob.name is not None:
            defines = {**defines, knob.name: str(value)}
        else:
            source = Source(source.name, knob.text(source.text, value))
        return compile_source(
            source, format=self.spec.format, defines=defines, variant=self.spec.variant, after=UNTIL, trial=True
        )

"""Advice on a memory that overflows: the largest value of a constant or literal with which the program fits.

A value is named only after the changed program was planned again and fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.knobs import Knob, constant_knobs, literal_knobs, stage_knobs, tensor_knobs
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import TensorType
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.records import dataclass
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import MappingNode

MOST_PLANS = 12
"""Programs planned for one piece of advice."""

UNTIL = "AllocateMemoryAddr"
"""The pass after which it is known whether everything has its place."""

_ROWS = "PS4030"

ADVISED = frozenset({"PS4001", _ROWS, "PH-MR-001"})
"""Codes of errors that say that something does not fit; the last is a hint that a spec may promote."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What came of a changed program: its bytes at the peak, or by how much it misses; None: other errors."""

    fits: bool
    needed: int
    excess: int


class _Planner:
    """Plans changed programs, a bounded number of them."""

    def __init__(self, spec: Spec, defines: Mapping[str, str] | None) -> None:
        self.spec = spec
        self.defines = dict(defines or {})
        self.left = MOST_PLANS

    def extents(self) -> list[int]:
        """The extents of the arguments that are known."""
        read: list[Program] = []
        compile_source(
            self.spec.source, format=self.spec.format, defines=self.defines, variant=self.spec.variant,
            after=PASSES[0].name,
            on_pass=lambda step, program: read.append(program),
        )  # fmt: skip
        kinds = [t.type for t in read[0].tensors] if read else []
        return [n for kind in kinds if isinstance(kind, TensorType) for n in kind.shape if isinstance(n, int)]

    def plan(self, knob: Knob, value: int) -> _Plan | None:
        """The plan with another value of the knob; None where other errors come up or no plan is left."""
        if self.left == 0:
            return None
        self.left -= 1
        source, defines = self.spec.source, self.defines
        if knob.name is not None:
            defines = {**defines, knob.name: str(value)}
        else:
            source = Source(source.name, knob.text(source.text, value))
        done = compile_source(source, format=self.spec.format, defines=defines, variant=self.spec.variant, after=UNTIL)
        if done.ok and done.program is not None:
            ends = [(b.address or 0) + (b.bytes or 0) * b.slots for b in done.program.buffers]
            return _Plan(True, max(ends, default=0), 0)
        errors = [d for d in done.diagnostics if d.level is Severity.ERROR]
        if not errors or any(d.rule.code not in ADVISED for d in errors):
            return None
        figures = [dict(d.figures) for d in errors]
        return _Plan(
            False,
            max(int(f.get("needed_bytes", 0)) for f in figures),
            max(int(f.get("excess_bytes", 0)) for f in figures),
        )


def advise(spec: Spec, found: Sequence[Diagnostic], defines: Mapping[str, str] | None) -> list[Diagnostic]:
    """The findings, an overflow with helps that name what to change to which value."""
    root = load(spec.source, spec.format)
    if "dump" in root:
        return list(found)
    made = list(found)
    for place, diagnostic in enumerate(made):
        if diagnostic.rule.code in ADVISED and diagnostic.level is Severity.ERROR:
            planner = _Planner(spec, defines)
            texts = (
                _stages(diagnostic, root, planner, defines or {}),
                _advice(diagnostic, root, planner, defines or {}),
            )
            helps = (*diagnostic.helps, *(text for text in texts if text is not None))
            made[place] = replace(diagnostic, helps=helps)
            break  # the changed program is judged as a whole, so there is one answer
    return made


def _near(diagnostic: Diagnostic) -> set[tuple[int, int]]:
    """The places of the statements that a finding shows."""
    return {label.span.start for label in (diagnostic.primary, *diagnostic.secondary)}


def _given(knob: Knob, defines: Mapping[str, str]) -> Knob | None:
    """The knob with the value that the command line gives it; None if that is no number."""
    given = defines.get(knob.name or "")
    if given is None:
        return knob
    return replace(knob, value=int(given)) if given.isdigit() else None


def _stages(diagnostic: Diagnostic, root: MappingNode, planner: _Planner, defines: Mapping[str, str]) -> str | None:
    """The most stages of a pipeline that fit, all else as it is; None where one stage alone is too much."""
    for written in stage_knobs(root, _near(diagnostic)):
        knob = _given(written, defines)
        if knob is None:
            continue
        found = _search(knob, range(1, knob.value), planner)
        if found is not None and found[1].fits:
            value, plan = found
            return f"{_shown(knob)}: {knob.value} -> {value} fits (needs {plan.needed} B)"
    return None


def _advice(diagnostic: Diagnostic, root: MappingNode, planner: _Planner, defines: Mapping[str, str]) -> str | None:
    """The largest tile that fits, or what the smallest misses by."""
    rows = diagnostic.rule.code == _ROWS
    near = _near(diagnostic)
    depths = {knob.name for knob in stage_knobs(root, near)} - {None}
    knobs = constant_knobs(root, near, of_tensors=rows) + (tensor_knobs(root) if rows else literal_knobs(root, near))
    sizes = [] if rows else planner.extents()
    missed: str | None = None
    for written in knobs:
        knob = _given(written, defines)
        if knob is None or knob.name in depths:
            continue
        found = _search(knob, candidates(knob.value, sizes), planner)
        if found is None:
            continue
        value, plan = found
        if plan.fits:
            ahead = "; the loop around it has to follow" if knob.name is None and not rows else ""
            if knob.resizes and not rows:
                ahead = "; the arguments become smaller with it"
            return f"{_shown(knob)}: {knob.value} -> {value} fits (needs {plan.needed} B{ahead})"
        if missed is None and plan.excess:
            missed = f"even {_shown(knob)}: {value} is {plan.excess} B too much"
    return missed


def _shown(knob: Knob) -> str:
    return f"`{knob.name}`" if knob.name is not None else knob.label


def candidates(value: int, sizes: Sequence[int]) -> list[int]:
    """Smaller values to try, ascending.

    What divides the extents that the old value divides, so that loops still cover everything; where it divides none,
    multiples of its largest power of two up to 64, so that what is aligned stays so.
    """
    divided = {n for n in sizes if n > value and n % value == 0}
    if not divided and value in sizes:
        divided = {value}
    if divided:
        smaller = [v for v in range(1, value) if all(n % v == 0 for n in divided)]
        even = [v for v in smaller if v % 8 == 0]
        return even or smaller
    unit = min(value & -value, 64)
    while unit > 1 and value // unit < 8:
        unit //= 2
    return list(range(unit, value, unit))


def _search(knob: Knob, values: Sequence[int], planner: _Planner) -> tuple[int, _Plan] | None:
    """The largest value that fits with its plan, else the smallest with what it misses by; None where neither is."""
    if not values:
        return None
    first = planner.plan(knob, values[0])
    if first is None or not first.fits:
        return (values[0], first) if first is not None else None
    best, plan = 0, first
    low, high = 1, len(values) - 1
    while low <= high and planner.left:
        middle = (low + high) // 2
        tried = planner.plan(knob, values[middle])
        if tried is not None and tried.fits:
            best, plan, low = middle, tried, middle + 1
        else:
            high = middle - 1
    return values[best], plan

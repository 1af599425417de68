"""Advice on what does not fit: the largest value of a constant or literal with which it does.

A value is named only after the changed program was planned again and fits. An overflow is an error of the program as a
whole, so one of them gets advice; hints on pipelines get it loop by loop, from fewer plans.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from pypto_spec.diagnostics.model import Diagnostic, Fix, Severity
from pypto_spec.diagnostics.rules.hints import PIPELINE_DEPTH
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.knobs import (
    FOLLOW,
    REST,
    Knob,
    constant_knobs,
    literal_knobs,
    shaped_places,
    stage_knobs,
    tensor_knobs,
)
from pypto_spec.driver.trials import OVERFLOWS, Goal, Trial, Trials
from pypto_spec.edit.changes import Change, joined
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.records import dataclass
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import MappingNode, span_between
from pypto_spec.spec.variants import read_variants

MOST_PLANS = 12
"""Programs planned for one error, and for all hints of a small program."""
HINT_STATEMENTS = 1500
"""Statements of all programs planned for hints: about 150 ms."""
LEAST_PLANS = 2
"""Programs planned for the hint on a loop, however large they are."""

_ROWS = "PS4030"

ADVISED = OVERFLOWS | {PIPELINE_DEPTH.code}
"""Codes of findings that say that something does not fit."""


def advise(
    spec: Spec, found: Sequence[Diagnostic], defines: Mapping[str, str] | None, program: Program | None = None
) -> list[Diagnostic]:
    """The findings, with helps that name what to change to which value; `program` is the one that has them."""
    root = load(spec.source, spec.format)
    made = list(found)
    if "dump" in root:
        return made
    given = dict(defines or {})
    places = _advised(made)
    plans = _plans(program, len(places)) if made[places[0]].level is not Severity.ERROR else MOST_PLANS
    for place in places:
        trials = Trials(spec, given, plans)
        advice = _Advice(made[place], root, trials, _axes(spec, root, given))
        helps = advice.helps()
        made[place] = replace(
            made[place], helps=(*made[place].helps, *helps), fixes=(*made[place].fixes, *advice.fixes)
        )
    return made


def _advised(found: Sequence[Diagnostic]) -> list[int]:
    """The findings to advise on: the first overflow, else each pipeline that lost depth."""
    overflows = [n for n, d in enumerate(found) if d.rule.code in OVERFLOWS and d.level is Severity.ERROR]
    return overflows[:1] or [n for n, d in enumerate(found) if d.rule is PIPELINE_DEPTH]


def _plans(program: Program | None, hints: int) -> int:
    """Programs that may be planned for each of so many hints."""
    size = sum(1 for region in regions(program.body) for _ in ops(region.body)) if program is not None else 0
    return max(LEAST_PLANS, min(MOST_PLANS, HINT_STATEMENTS // max(size, 1)) // hints)


def _axes(spec: Spec, root: MappingNode, defines: Mapping[str, str]) -> frozenset[str]:
    """The constants that a variant decides."""
    if spec.variant is None:
        return frozenset()
    return frozenset(n for v in read_variants(root, defines)[0] if v.key == spec.variant for n in v.constants)


@dataclass(slots=True)
class _Advice:
    """Advice on one finding. `fixed` are constants that are decided elsewhere."""

    finding: Diagnostic
    root: MappingNode
    trials: Trials
    fixed: frozenset[str]
    fixes: list[Fix] = field(default_factory=list)

    def helps(self) -> list[str]:
        """The ways out with numbers: fewer stages, and smaller tiles."""
        stages = self._stages()
        texts = [self._fewer(stages), self._smaller({knob.name for knob in stages} - {None})]
        return [text for text in texts if text is not None]

    @property
    def near(self) -> set[tuple[int, int]]:
        """The places of the statements that the finding shows."""
        return {label.span.start for label in (self.finding.primary, *self.finding.secondary)}

    @property
    def figures(self) -> dict[str, int]:
        return {name: value for name, value in self.finding.figures if isinstance(value, int)}

    @property
    def is_depth(self) -> bool:
        return self.finding.rule is PIPELINE_DEPTH

    def _stages(self) -> list[Knob]:
        """What decides the stages, those of the loop that a hint is about first."""
        knobs = stage_knobs(self.root, self.near)
        if self.is_depth:
            own = self.finding.primary.span.start
            knobs.sort(key=lambda knob: knob.at is None or knob.at.start != own)
        return self._given(knobs)

    def _fewer(self, knobs: Sequence[Knob]) -> str | None:
        """The most stages of a pipeline that fit, all else as it is; None where one stage alone is too much."""
        for knob in knobs:
            figures = self.figures
            guess = knob.value * figures["achieved"] // figures["requested"] if self.is_depth else 1
            found = self._search(knob, range(1, knob.value), guess)
            if found is not None and found[1].fits:
                self._offer(knob, found[0])
                return f"{_change(knob, found[0])} fits ({_needs(found[1])})"
        return None

    def _smaller(self, depths: set[str | None]) -> str | None:
        """The largest tile that fits, or what the smallest misses by."""
        rows = self.finding.rule.code == _ROWS
        knobs = constant_knobs(self.root, self.near, of_tensors=rows)
        knobs += tensor_knobs(self.root) if rows else literal_knobs(self.root, self.near)
        if not knobs:  # a `let` names no size: then it is that of what was loaded or made for it
            near = shaped_places(self.root)
            knobs = constant_knobs(self.root, near, of_tensors=False) + literal_knobs(self.root, near)
        sizes: list[int] | None = [] if rows else None
        missed: str | None = None
        for knob in self._given(k for k in knobs if k.name is None or k.name not in depths):
            if sizes is None:
                sizes = self.trials.extents()
            found = self._search(knob, candidates(knob.value, sizes), self._scaled(knob.value))
            if found is None:
                continue
            value, trial = found
            if trial.fits:
                what = f": all {self.figures['requested']} stages fit" if self.is_depth else " fits"
                self._offer(knob, value)
                return f"{_change(knob, value)}{what} ({_needs(trial, '' if rows else knob.ahead)})"
            if missed is None and trial.excess:
                missed = f"even {_shown(knob)}: {value} is {trial.excess} B too much"
        return missed

    def _offer(self, knob: Knob, value: int) -> None:
        """The change as a fix, where the value stands in the spec and is not given by the command line."""
        if knob.ahead in (FOLLOW, REST):
            return  # half of a change
        source = self.root.source
        places = knob.nodes
        if knob.name is not None:
            node = self.root.find("constants", knob.name)
            given = knob.name in self.trials.defines or node is None or node.via
            places = () if given or node is None else ((node.start, node.end),)
        change = joined(source.text, [Change(start, end, str(value)) for start, end in places])
        if change is not None:
            span = span_between(source, change.start, change.end)
            self.fixes.append(Fix(span, change.text, title=_change(knob, value)))

    def _scaled(self, value: int) -> int:
        """What a value would be if bytes grew with it, and nothing else took any."""
        figures = self.figures
        if not self.is_depth:
            needed = figures.get("needed_bytes", 0)
            return value * figures.get("available_bytes", 0) // needed if needed else 0
        needed = figures["bytes_per_stage"] * figures["requested"]
        return max(0, value * (needed - figures["excess_bytes"]) // max(1, needed))

    def _given(self, knobs: Iterable[Knob]) -> list[Knob]:
        """The knobs with the values that the command line gives them, without those that are decided elsewhere."""
        found: list[Knob] = []
        for knob in knobs:
            given = self.trials.defines.get(knob.name or "")
            if knob.name in self.fixed or (given is not None and not given.isdigit()):
                continue
            found.append(knob if given is None else replace(knob, value=int(given)))
        return found

    def _search(self, knob: Knob, values: Sequence[int], guess: int) -> tuple[int, Trial] | None:
        """The largest value that fits, else the smallest with what it misses by; None where neither is known.

        The largest value up to the guess is tried first, and then the next one; where it fails, the smallest.
        """
        goal = Goal.of(self.finding)
        best: tuple[int, Trial] | None = None
        low, high = 0, len(values) - 1
        at = max(0, bisect_right(values, guess) - 1)
        while low <= high:
            trial = self.trials.plan(knob, values[at], goal)
            if trial is not None and trial.fits:
                first, best, low = best is None, (values[at], trial), at + 1
                at = low if first else (low + high) // 2
            elif at == 0:
                return (values[0], trial) if trial is not None else None
            else:
                high = at - 1
                at = 0 if best is None else (low + high) // 2
        return best


def _change(knob: Knob, value: int) -> str:
    return f"{_shown(knob)}: {knob.value} -> {value}"


def _shown(knob: Knob) -> str:
    return f"`{knob.name}`" if knob.name is not None else knob.label


def _needs(trial: Trial, ahead: str = "") -> str:
    return f"needs {trial.needed} B" + (f"; {ahead}" if ahead else "")


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

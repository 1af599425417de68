"""The matmuls of a region that AutoTileMatmulL0 asks the chooser about, with what it answers; nothing is written."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.nodes import Op, Region, TargetOptions
from pypto_spec.ir.rewrite import ops
from pypto_spec.passes.l0.choice import Choice
from pypto_spec.passes.l0.problem import Problem
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.rewrite.findings import Findings
from pypto_spec.passes.l0.rewrite.sites import PRODUCTS, Finder
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target


@dataclass(frozen=True, slots=True)
class Asked:
    """One product: the problem that was posed, and the answer."""

    op: Op
    problem: Problem
    answer: Choice | Refusal


def asked(region: Region, target: Target, options: TargetOptions) -> list[Asked]:
    """In the order of the text. Products of operands that stand in L0 already are not asked about."""
    finder = Finder(region, target, options, Findings(Sink(), region.allow))
    found: list[Asked] = []
    for op in ops(region.body):
        product = finder.product_of(op) if op.name in PRODUCTS else None
        if product is None or op.attrs.get("phase", "unspecified") != "unspecified":
            continue
        question = finder.question(product)
        answer = question.answer()
        problem = question.pose(pad=True) if isinstance(answer, Refusal) else answer.problem
        found.append(Asked(op, problem, answer))
    return found

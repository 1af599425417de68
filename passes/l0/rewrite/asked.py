"""The matmuls of a region that AutoTileMatmulL0 asks the chooser about, with what it answers and what is built."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.nodes import Op, Region, TargetOptions
from pypto_spec.ir.rewrite import ops
from pypto_spec.passes.l0.choice import Choice
from pypto_spec.passes.l0.problem import Problem
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.rewrite.findings import Findings
from pypto_spec.passes.l0.rewrite.question import Question
from pypto_spec.passes.l0.rewrite.sites import PRODUCTS, ChainSite, Finder, Site, Sites
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target


@dataclass(frozen=True, slots=True)
class Built:
    """The tile that is built in place of the chooser's, m x n x k, and why."""

    tile: tuple[int, int, int]
    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One product: the problem that was posed, the answer, and what is built where that is another tile."""

    op: Op
    problem: Problem
    answer: Choice | Refusal
    built: Built | None = None
    kept: str = ""
    """Why the output is one tile, whatever would be cheaper; empty where it can be cut."""


def asked(region: Region, target: Target, options: TargetOptions) -> list[Asked]:
    """In the order of the text. Products of operands that stand in L0 already are not asked about."""
    finder = Finder(region, target, options, Findings(Sink(), region.allow))
    sites = finder.find()
    found: list[Asked] = []
    for op in ops(region.body):
        product = finder.product_of(op) if op.name in PRODUCTS else None
        if product is None or op.attrs.get("phase", "unspecified") != "unspecified":
            continue
        question = finder.question(product)
        answer = question.answer()
        if isinstance(answer, Refusal):
            found.append(Asked(op, question.pose(pad=True), answer))
        else:
            kept = finder.why_kept(op, question)
            found.append(Asked(op, answer.problem, answer, _built(op, question, answer, sites, kept), kept))
    return found


def _built(op: Op, question: Question, answer: Choice, sites: Sites, kept: str) -> Built | None:
    """What is built of an answer; None where that is the tile of the answer."""
    if not answer.is_tiled:
        return None
    for site in sites.at.values():
        if isinstance(site, ChainSite) and op in site.chain.products:
            tile = (site.m, site.n, site.blocks[op])
            return None if tile == answer.winner.tile else Built(tile, "one cut serves all products of its chain")
        if isinstance(site, Site) and site.op is op:
            tiling = site.tiling
            if site.leaves is not None or (not answer.cuts_output and tiling.k == answer.winner.k):
                return None
            why = kept if answer.cuts_output and kept else "its extents at run time are cut evenly"
            return Built((tiling.m, tiling.n, tiling.k), why)
    why = kept if answer.cuts_output and kept else "its extents at run time cannot be cut evenly"
    return Built((question.m, question.n, question.k), why)

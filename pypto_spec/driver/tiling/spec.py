"""The matmuls of a spec: those that AutoTileMatmulL0 cuts, and those that are divided into blocks before it."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.driver.tiling.divided import Divided
from pypto_spec.driver.tiling.subject import Subject
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Op, Program
from pypto_spec.ir.rewrite import regions
from pypto_spec.passes.auto_tile_matmul_l0 import AUTO_TILE_MATMUL_L0
from pypto_spec.passes.l0.rewrite.asked import asked
from pypto_spec.passes.lower_tensor_matmul import LOWER_TENSOR_MATMUL, division_of
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.passes.products.product import Product, Reader
from pypto_spec.records import dataclass
from pypto_spec.targets import TARGETS


@dataclass(frozen=True, slots=True)
class Matmuls:
    """What there is to explain, in the order of the text, and the findings of the spec."""

    found: tuple[Subject | Divided, ...]
    findings: list[Diagnostic]


def matmuls(spec: Spec, defines: Mapping[str, str] | None = None) -> Matmuls:
    """All matmuls of a spec; none after an error."""
    done = compile_spec(spec, defines=defines, after=AUTO_TILE_MATMUL_L0.name, keep_stages=True)
    if done.program is None:
        return Matmuls((), done.findings)
    stages = dict(done.stages)
    order = [p.name for p in PASSES]
    found: list[tuple[tuple[int, int], Subject | Divided]] = []
    for name, explain in ((LOWER_TENSOR_MATMUL.name, _divided), (AUTO_TILE_MATMUL_L0.name, _asked)):
        before = stages.get(order[order.index(name) - 1])
        if before is not None:
            found += explain(spec, before)
    return Matmuls(tuple(item for _, item in sorted(found, key=lambda pair: pair[0])), done.findings)


def _divided(spec: Spec, program: Program) -> list[tuple[tuple[int, int], Subject | Divided]]:
    target, options = TARGETS[program.target.platform], program.target
    made: list[tuple[tuple[int, int], Subject | Divided]] = []
    for region in regions(program.body):
        for product in Reader(region.body).products(region.body):
            division = division_of(product, region, target, options, every=True)
            if division is not None and not any(isinstance(s, Product) for s in (product.lhs, product.rhs)):
                where = _where(spec, product.op, region.name)
                item = Divided(where, options.platform, options.planner, product, division)
                made.append((product.op.loc.span.start, item))
    return made


def _asked(spec: Spec, program: Program) -> list[tuple[tuple[int, int], Subject | Divided]]:
    target, options = TARGETS[program.target.platform], program.target
    return [
        (
            one.op.loc.span.start,
            Subject(
                one.problem, options.platform, options.planner, _where(spec, one.op, region.name), one.built, one.kept
            ),
        )
        for region in regions(program.body)
        for one in asked(region, target, options)
    ]


def _where(spec: Spec, op: Op, region: str) -> str:
    line, _ = op.loc.span.start
    return f"{spec.title}:{line}: `{split(op.result.name)[0]}` of region `{region}`"

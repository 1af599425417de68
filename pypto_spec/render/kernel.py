"""One region as one kernel: the view the template prints, and the map from its lines to the spec."""

from __future__ import annotations

from pathlib import PurePath

from pypto_spec import __version__
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Grid, Program, Region
from pypto_spec.render.body import Body, Line
from pypto_spec.render.comments import safe
from pypto_spec.render.model import Blocks, LineInfo, RenderedKernel
from pypto_spec.render.names import HELPERS, external
from pypto_spec.render.scope import POSITIONS, Scope
from pypto_spec.render.wrap import INDENT, wrap
from pypto_spec.templating import render

_TASK_TYPES = {"aiv": "KERNEL_TYPE_AIV_ONLY", "aic": "KERNEL_TYPE_AIC_ONLY"}


def spec_name(program: Program) -> str:
    """The name of the spec's file, without folders; for a dump the file it came from.

    Bytes of it that are no UTF-8 are spelt out, since what is rendered is UTF-8.
    """
    name = program.dump.source if program.dump is not None else program.loc.span.source.name
    name = PurePath(name.replace("\\", "/")).name or name
    return name.encode("utf-8", "backslashreplace").decode()


def render_kernel(
    program: Program,
    region: Region,
    grid: Grid | None = None,
    indices: tuple[Sym, ...] = (),
    *,
    name: str | None = None,
) -> RenderedKernel:
    """The kernel of a region after InsertSync.

    `grid` is the launch around it, `indices` are the host loops' indices; `name` replaces the region's kernel name.
    """
    assert region.kernel is not None and region.core is not None, f"region {region.name} is not outlined"
    name = external(region.kernel) if name is None else name
    scope = Scope(program, region, grid, indices)
    body = Body(scope)
    body.block(region.body, INDENT)
    declarations = _declarations(program, scope)
    text = render(
        "ascendc/kernel.cpp.j2",
        name=name,
        region=safe(region.name),
        program=safe(program.name),
        about=safe(program.about),
        spec=safe(spec_name(program)),
        version=__version__,
        inline="__aicore__ inline",
        helpers=[h for h in HELPERS if h in scope.cpp.helpers],
        signature=wrap(f'extern "C" __global__ __aicore__ void {name}({", ".join(scope.parameters())}) {{'),
        task_type=_TASK_TYPES[region.core],
        memories=[
            {"name": POSITIONS[m][0], "position": POSITIONS[m][1], "bytes": size}
            for m, size in sorted(scope.extents.items(), key=lambda item: list(POSITIONS).index(item[0]))
        ],
        declarations=[line.text for line in declarations],
        body=[line.text for line in body.lines],
    )
    return RenderedKernel(
        name=name,
        region=region.name,
        text=text,
        lines=_line_map(text, [*declarations, *body.lines]),
        arguments=tuple(scope.arguments),
        core=region.core,
        blocks=blocks_of(region, grid),
        memory={m.value: size for m, size in scope.extents.items()},
        planners={m.value: planner for m, planner in scope.planners.items()},
    )


def blocks_of(region: Region, grid: Grid | None) -> Blocks:
    """How many blocks a region is launched on."""
    if grid is not None:
        return grid.count
    return 1 if region.blocks is None else region.blocks


def _declarations(program: Program, scope: Scope) -> list[Line]:
    """GM tensors, block symbols, then the tensors on chip in the order of their first use; a blank line behind each."""
    made: list[Line] = []
    blank = Line("", "form")
    for text, value in scope.globals():
        loc = program.tensor_locs.get(value.name)
        made += [Line(t, "declare", loc=loc, ahead=n) for n, t in enumerate(wrap(text, INDENT))]
    symbols = [Line(INDENT + text, "form") for text in scope.block_symbols()]
    fixed = [t for t in scope.tensors.values() if not t.moving]
    tensors = [Line(text, "declare", loc=t.loc, ahead=n) for t in fixed for n, text in enumerate(wrap(t.text, INDENT))]
    for section in (symbols, tensors):
        if section:
            made += [blank, *section] if made else section
    return [*made, blank] if made else made


def _line_map(text: str, lines: list[Line]) -> tuple[LineInfo, ...]:
    """One entry for each line of the file; the lines given stand right above the closing barrier and brace."""
    total = text.count("\n")
    before = total - 2 - len(lines)
    made = [LineInfo(number, "form", first=number) for number in range(1, before + 1)]
    for number, line in enumerate(lines, before + 1):
        made.append(
            LineInfo(
                number, line.kind, line.loc, line.op, line.event, line.id, line.pairs, number - line.ahead, line.number
            )
        )  # fmt: skip
    made += [LineInfo(number, "form", first=number) for number in (total - 1, total)]
    return tuple(made)

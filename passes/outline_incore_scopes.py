"""OutlineIncoreScopes: every region becomes a kernel with a name and a core, and every launch one `spmd`.

It decides the kernel's C++ name (unique in the program), the core where the author left it out, and how the indices of
a `parallel` are shared out: as many blocks as there are indices, at most as many as the platform has cores of the kind,
and block b takes the indices b, b + blocks, b + 2 * blocks, ... Cells of several indices are walked likewise, in the
grid's order. A grid around several regions becomes one launch for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, Label, Repair, diagnose
from pypto_spec.diagnostics.rules.cores import MIXED_CORES, NESTED_LAUNCH, WRONG_CORE
from pypto_spec.diagnostics.rules.shapes import RUNTIME_SIZE
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.arguments import kernel_name
from pypto_spec.ir.cores import NAMES, PIPES, Core, cores_of, first_on
from pypto_spec.ir.expr import Index, Sym, add, bounds, minimum, mul, sym
from pypto_spec.ir.naming import split, unused
from pypto_spec.ir.nodes import Branch, Buffer, Control, For, Grid, If, Loop, NumberPhi, Op, Program, Region, Stmt
from pypto_spec.ir.orders import Cell, RunTimeCountError, cell, cells
from pypto_spec.ir.rewrite import Rewriter, Substitution, definitions, ops, regions, statements
from pypto_spec.ir.types import Memory
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.l0.rewrite.casts import casts

_WORDS = {Grid: "grid", Loop: "for", Branch: "if"}


class Outliner(Rewriter):
    """Outlines the regions of one program."""

    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.target = context.target
        self.buffers = {b.name: b for b in program.buffers}
        self.name = program.name
        self.kernels = {r.kernel for r in regions(program.body) if r.kernel is not None}
        self.taken = set(_names(program))
        self.grid: Grid | None = None

    # Launches

    def control(self, node: Control) -> Sequence[Control]:
        grid = self.grid
        if grid is not None and not isinstance(node, Region):
            word = node.kind if isinstance(node, Grid) else _WORDS[type(node)]
            raise _nested(
                node.loc,
                f"a `{word}` stands inside the `{grid.kind}` over `{grid.index.name}`, which is one launch",
                grid,
                f"put the `{grid.kind}` inside it, or move the `{word}` into the region",
            )
        if not isinstance(node, Grid):
            return super().control(node)
        self.grid = node
        made = self.launches(node)
        self.grid = None
        return made

    def launches(self, grid: Grid) -> Sequence[Control]:
        """One `spmd` for each region of a grid."""
        made: list[Grid] = []
        for node in self.controls(grid.body):
            assert isinstance(node, Region)
            if node.blocks is not None:
                raise _nested(
                    node.loc,
                    f"region `{node.name}` asks for blocks of its own inside a `{grid.kind}`, which is one launch",
                    grid,
                    "leave `blocks` out of the region, or take the region out of the grid",
                )
            made.append(self.share(grid, node) if grid.kind == "parallel" else _around(grid, node))
        return made

    def share(self, grid: Grid, region: Region) -> Grid:
        """A `parallel` around one region as blocks that each walk their share of the indices."""
        assert not isinstance(grid.count, str)
        if grid.inner:
            return self.share_cells(grid, region)
        most = self.most(grid, region)
        blocks = minimum(grid.count, most)
        high = bounds(grid.count)[1]
        if high is not None and high <= most and grid.start == 0 and grid.step == 1:
            block, loop = Sym(grid.index.name, "block", 0, high - 1), None
        else:
            block = Sym(self.fresh(f"{grid.index.name}_block"), "block", 0, most - 1)
            loop = For(
                index=grid.index,
                start=add(grid.start, mul(sym(block), grid.step)),
                stop=add(grid.start, mul(grid.count, grid.step)),
                step=mul(sym(grid.blocks_symbol), grid.step),
                body=region.body,
                loc=grid.loc,
            )
        body = (loop,) if loop is not None else Substitution({grid.index: sym(block)}).block(region.body)
        return _spmd(grid, region, block, blocks, body)

    def share_cells(self, grid: Grid, region: Region) -> Grid:
        """The same over the cells of several indices, in the grid's order."""
        assert not isinstance(grid.count, str)
        indices = (grid.index, *(index for index, _ in grid.inner))
        counts = (grid.count, *(count for _, count in grid.inner))
        most, total = self.most(grid, region), cells(counts)
        high = bounds(total)[1]
        walked = high is None or high > most
        last = None if high is None else high - 1
        block = Sym(self.fresh("block" if walked else "cell"), "block", 0, most - 1 if walked else last)
        place = Sym(self.fresh("cell"), "loop", 0, last) if walked else block
        try:
            found = cell(region.order or grid.order, counts, sym(place))
        except RunTimeCountError as error:
            raise _run_time_count(grid, region.order or grid.order, indices, counts, error.axis) from None
        body = tuple(_at(found, indices, region.body, grid.loc))
        if walked:
            step = sym(grid.blocks_symbol)
            body = (For(index=place, start=sym(block), stop=total, step=step, body=body, loc=grid.loc),)
        return _spmd(grid, region, block, minimum(total, most), body)

    def most(self, grid: Grid, region: Region) -> int:
        """The most blocks that a grid is shared out over."""
        cores = self.target.cores(region.core)
        return cores if grid.most is None else min(grid.most, cores)

    def core(self, region: Region) -> Core:
        """The core that a region runs on, which is the vector core where nothing says another."""
        cube, vector = first_on("aic", region.body, self.buffers), first_on("aiv", region.body, self.buffers)
        if cube is not None and vector is not None:
            rounded = set(casts(region.body))
            vector = next((op for op in ops(region.body) if self.is_vector(op) and op not in rounded), None)
        if cube is not None and vector is not None:
            if _misplaced(region, self.buffers):
                return "aiv"
            raise _mixed(region, cube, vector)
        found: Core = "aic" if cube is not None else "aiv"
        sure = cube or vector
        if region.core is None or region.core == found or sure is None:
            return region.core or found
        raise CompileError([
            diagnose(
                WRONG_CORE, region.loc.field("core"),
                f"`core: {region.core}`, but `{sure.name}` in region `{region.name}` runs on {NAMES[found]}",
                label=f"its statements run on `{found}`", secondary=[Label(sure.loc.span, f"this one needs `{found}`")],
                helps=[f"write `core: {found}`, or leave `core` out"],
                fixes=[
                    Repair(
                        "set", region.loc.field("core"), ("core",), found, safe=True, title=f"write `core: {found}`"
                    )
                ],
            )
        ])  # fmt: skip

    def is_vector(self, op: Op) -> bool:
        return "aiv" in cores_of(op, self.buffers)

    def fresh(self, name: str) -> str:
        """A name that nothing in the program has."""
        return unused(name, self.taken)

    # Kernels

    def region(self, region: Region) -> Region:
        core = self.core(region)
        kernel = region.kernel
        if kernel is None:
            first = kernel_name(self.name, region.name)
            kernel, number = first, 1
            while kernel in self.kernels:
                number += 1
                kernel = f"{first}_{number}"
            self.kernels.add(kernel)
        return region if (core, kernel) == (region.core, region.kernel) else replace(region, core=core, kernel=kernel)


def _misplaced(region: Region, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a vector op takes a tile from a memory of the cube, where nothing else needs the cube.

    InferTileMemorySpace says which memory the op takes its tiles from, and which way leads there.
    """
    needed = {op: cores_of(op, buffers) for op in ops(region.body)}
    cube = any(PIPES.get(op.defn.pipe) == "aic" for op in needed)
    return not cube and any(PIPES.get(op.defn.pipe) == "aiv" and len(cores) > 1 for op, cores in needed.items())


def _mixed(region: Region, cube: Op, vector: Op) -> CompileError:
    """The error for a region that needs both cores."""
    one = cube is vector
    first = next(op for op in ops(region.body) if op in (cube, vector))
    second = vector if first is cube else cube
    cores: dict[Op, Core] = {vector: "aiv", cube: "aic"}
    message = f"`{cube.name}` runs on {NAMES['aic']} and `{vector.name}` on {NAMES['aiv']}: one region has one core"
    if one:
        message = f"`{cube.name}` goes from one core to the other, and one region has one core"
    loads = vector.defn.effects == "reads_gm" and vector.attrs.get("memory") is Memory.VEC
    helps = ["or load it to `mat`: leave `memory` out, if the product is all that it is for"] if loads else []
    return CompileError([
        diagnose(
            MIXED_CORES, second.loc.span, f"region `{region.name}` needs both cores: {message}",
            label="needs both" if one else f"needs `{cores[second]}`",
            secondary=[] if one else [Label(first.loc.span, f"needs `{cores[first]}`")],
            helps=["make two regions of it: the first stores its result to a tensor that `create_tensor` makes before "
                   "them, and the second loads it", *helps],
        )
    ])  # fmt: skip


def _around(grid: Grid, region: Region) -> Grid:
    return grid if len(grid.body) == 1 and grid.body[0] is region else replace(grid, body=(region,))


def _spmd(grid: Grid, region: Region, block: Sym, blocks: Index, body: tuple[Stmt, ...]) -> Grid:
    """The launch that a `parallel` becomes."""
    return replace(
        grid, kind="spmd", index=block, count=blocks, start=0, step=1, order=None, inner=(), most=None,
        body=(replace(region, body=body, order=None),),
    )  # fmt: skip


def _at(found: Cell, indices: Sequence[Sym], body: tuple[Stmt, ...], loc: Loc) -> Iterator[Stmt]:
    """A body at a cell: its indices as expressions, or as numbers that an `if` picks where two rules give them."""
    values = found.first
    if found.condition is not None:
        picked = [
            NumberPhi(Sym(index.name, "local", index.low, index.high), first, rest)
            for index, first, rest in zip(indices, found.first, found.rest, strict=True)
            if first != rest
        ]
        yield If(condition=found.condition, then=(), other=(), loc=loc, numbers=tuple(picked))
        known = {number.result.name: sym(number.result) for number in picked}
        values = tuple(known.get(index.name, first) for index, first in zip(indices, found.first, strict=True))
    yield from Substitution(dict(zip(indices, values, strict=True))).block(body)


def _run_time_count(
    grid: Grid, order: str | None, indices: Sequence[Sym], counts: Sequence[Index], axis: int
) -> CompileError:
    """The error for an order that divides by a run-time count."""
    name, word = indices[axis].name, (order or "row").partition(":")[0]
    others = [o for o in ("row", "col") if o != word and _possible(o, counts)]
    helps = [f"write `order: {other}`, which does not divide by it" for other in others[:1]]
    helps.append(f"or put a `for` over `{name}` into the region, and leave it out here")
    return CompileError([
        diagnose(
            RUNTIME_SIZE, grid.loc.field(f"count.{axis}"),
            f"`order: {word}` divides by the count of `{name}`, which must be known at compile time, found "
            f"`{counts[axis]}`",
            label="known at run time only", helps=helps,
        )
    ])  # fmt: skip


def _possible(order: str, counts: Sequence[Index]) -> bool:
    try:
        cell(order, counts, 0)
    except RunTimeCountError:
        return False
    return True


def _names(program: Program) -> Iterator[str]:
    """Names that a new index must not have."""
    yield from (v.name for v in (*program.tensors, *program.created, *program.scalars))
    yield from (d.name for d in program.dims)
    yield from (b.name for b in program.buffers)
    for region in regions(program.body):
        yield from (split(v.name)[0] for v in definitions(region.body))
        yield from (s.index.name for s in statements(region.body) if isinstance(s, For))
    stack: list[Control] = list(program.body)
    while stack:
        node = stack.pop()
        if isinstance(node, Loop | Grid):
            yield node.index.name
            yield from (index.name for index, _ in (node.inner if isinstance(node, Grid) else ()))
            stack.extend(node.body)
        elif isinstance(node, Branch):
            stack.extend((*node.then, *node.other))


def _nested(loc: Loc, message: str, grid: Grid, way_out: str) -> CompileError:
    secondary = [Label(grid.loc.span, f"this `{grid.kind}` is the launch")]
    found = diagnose(
        NESTED_LAUNCH, loc.span, message, label="cannot stand inside a launch", secondary=secondary, helps=[way_out]
    )
    return CompileError([found])


def run(program: Program, context: Context) -> Program:
    """Name the kernels and make one launch of every region."""
    return Outliner(program, context).program(program)


OUTLINE_INCORE_SCOPES = Pass(
    name="OutlineIncoreScopes",
    run=run,
    requires=frozenset({Property.SSA_FORM}),
    produces=frozenset({Property.SPLIT_INCORE_ORCH}),
    doc=__doc__,
)

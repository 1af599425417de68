"""AutoTileMatmulL0: a matmul of tiles in L1 becomes products of tiles that fit L0A, L0B and L0C.

The chooser (`l0.choice`) names the cheapest tile by its cost model; `pypto-spec explain-tiling` shows how. Operands are
taken from L1 block by block (`extract`), in a pipeline with two of them in L0 at once. An output that fits L0C is cut
along K only. A larger one is cut where its result leaves: tile by tile by the one store behind it, or into a tile of
`mat` that the next product reads. A `cast` between two products is done on that way. Where two accumulators are cheaper
and asked for, they take turns in a loop, in the author's own pipelines as well.

Operands that stand in `left` or `right` already are left alone, as is what fits as it is. Hints say what stays whole
though it should not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Attr, Branch, Control, For, Grid, Loop, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, ops, regions, statements
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.l0.rewrite.chain_copy import TileCopy
from pypto_spec.passes.l0.rewrite.findings import Findings
from pypto_spec.passes.l0.rewrite.grid import Sink, each_tile, write_grid
from pypto_spec.passes.l0.rewrite.product import accumulate
from pypto_spec.passes.l0.rewrite.sinks import to_tensor, to_tile
from pypto_spec.passes.l0.rewrite.sites import PRODUCTS, ChainSite, Finder, Site, Sites
from pypto_spec.passes.l0.rewrite.turns import mark_turns
from pypto_spec.passes.l0.rewrite.windows import Part
from pypto_spec.passes.l0.rewrite.writer import Fresh, Span, Values, Writer
from pypto_spec.passes.making import make


class _Region(Rewriter):
    """Writes the sites of one region."""

    def __init__(self, region: Region, sites: Sites, fresh: Fresh) -> None:
        super().__init__()
        self.sites = sites
        self.names = Names.of(region)
        self.fresh = fresh

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        if node in self.sites.gone:
            return ()
        if isinstance(node, Op):
            site = self.sites.at.get(node)
            if site is not None:
                return self.site(site) if isinstance(site, Site) else self.chain(site)
            if node in self.sites.folded:
                return (self.folded(node),)
        return super().stmt(node)

    def site(self, site: Site) -> Sequence[Stmt]:
        """The statements in place of a product, or of what takes its result away."""
        writer = Writer(self.names, self.fresh, site.op.loc, site.op.allow)
        product = site.product.renewed(self.use)
        if site.leaves is None:
            self.bind(site.op.result, accumulate(writer, product, site.tiling.k))
        else:
            sink, carried = self.sink(site.leaves, writer)
            self.taken(site.leaves, write_grid(writer, product, site.tiling, sink, carried))
        return writer.body

    def chain(self, site: ChainSite) -> Sequence[Stmt]:
        """The statements in place of what takes the result of a chain away."""
        chain = site.chain
        writer = Writer(self.names, self.fresh, chain.leaves.loc, chain.leaves.allow)
        sink, carried = self.sink(chain.leaves, writer)
        product = chain.widest

        def tile(inner: Writer, rows: Part, cols: Part, given: Values) -> Values:
            acc = TileCopy(chain, inner, rows, cols, site.blocks, self.values).write()
            return sink(inner, acc, rows, cols, given)

        spans = Span("mi", product.lhs.valid[0], site.m), Span("ni", product.rhs.valid[1], site.n)
        self.taken(chain.leaves, each_tile(writer, spans, tile, carried))
        return writer.body

    def sink(self, leaves: Op, writer: Writer) -> tuple[Sink, Values]:
        """Where tiles of the result go, and what is carried from tile to tile."""
        operands = {name: self.use(value) for name, value in leaves.operands.items()}
        if leaves.name == "store":
            return to_tensor(leaves, operands), ()
        kind = leaves.result.type
        assert isinstance(kind, TileType)
        name = split(leaves.result.name)[0]
        scratch = writer.tile(name, (kind.rows, kind.cols), kind.dtype, Memory.MAT)
        return to_tile(name, bool(leaves.attrs.get("relu"))), (scratch,)

    def taken(self, leaves: Op, carried: Values) -> None:
        """Let the tile that was filled stand for what it replaces."""
        for value in carried:
            self.bind(leaves.result, value)

    def folded(self, cast: Op) -> Op:
        """A cast of an accumulator as the copy into L1 that rounds."""
        kind = cast.result.type
        assert isinstance(kind, TileType)
        attrs: dict[str, Attr] = {"memory": Memory.MAT, "dtype": kind.dtype}
        source = {"from": self.use(cast.operands["x"])}
        made = make("move", source, attrs, cast.loc, into=cast.result.name, allow=cast.allow)
        self.bind(cast.result, made.result)
        return made


class _Tiler(Rewriter):
    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.context = context
        self.options = program.target
        tags = (group for r in regions(program.body) for op in ops(r.body) for group, _ in op.stages)
        self.fresh = Fresh(_names(program), max(tags, default=-1) + 1)

    def region(self, region: Region) -> Region:
        if not any(op.name in PRODUCTS for op in ops(region.body)):
            return region
        region = mark_turns(region, self.context.target, self.options)
        findings = Findings(self.context.sink, region.allow)
        sites = Finder(region, self.context.target, self.options, findings).find()
        self.context.sink.stop_on_errors()
        body = _Region(region, sites, self.fresh).block(region.body)
        return region if body is region.body else replace(region, body=body)


def _names(program: Program) -> Iterable[str]:
    """Names that a new index must not have."""
    values: tuple[Value, ...] = (*program.tensors, *program.scalars)
    yield from (v.name for v in values)
    yield from (d.name for d in program.dims)
    yield from (s.index.name for r in regions(program.body) for s in statements(r.body) if isinstance(s, For))
    stack: list[Control] = list(program.body)
    while stack:
        node = stack.pop()
        if isinstance(node, Loop | Grid):
            yield node.index.name
            stack.extend(node.body)
        elif isinstance(node, Branch):
            stack.extend((*node.then, *node.other))


def run(program: Program, context: Context) -> Program:
    """Cut the products of every region."""
    return _Tiler(program, context).program(program)


AUTO_TILE_MATMUL_L0 = Pass(
    name="AutoTileMatmulL0",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.TILE_OPS_2D}),
    produces=frozenset({Property.SSA_FORM}),
    doc=__doc__,
)

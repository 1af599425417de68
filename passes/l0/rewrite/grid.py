"""All tiles of an output that is larger than L0C, or is cheaper in parts.

    for each row of tiles                           (or column)
        the operand that stays put, once
        pipeline over the tiles of the row, stages 2:
            the operand that moves; the product; where it goes

Where K is cut as well, both operands move, and each tile has the pipeline over K inside. Tiles at the edges that are
smaller stand behind the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import Memory
from pypto_spec.passes.l0.problem import Axis, Stationary
from pypto_spec.passes.l0.rewrite.product import Product, accumulate, bias_of, multiply
from pypto_spec.passes.l0.rewrite.windows import Part
from pypto_spec.passes.l0.rewrite.writer import STAGES, Span, Values, Writer
from pypto_spec.records import dataclass

Sink = Callable[[Writer, Value, Part, Part, Values], Values]
"""Writes where an accumulator goes, given the rows and columns of the output that it is."""
Tile = Callable[[Writer, Part, Part, Values], Values]
"""Writes all of one tile of the output."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """Tiles of m x n x k. `kept` is the operand that the outer loop keeps, None where K is cut.

    `streamed` says that what is kept comes in while the row before it is worked on, `double` that two accumulators take
    turns.
    """

    m: int
    n: int
    k: int
    kept: Stationary | None = None
    streamed: bool = False
    double: bool = False


def write_grid(writer: Writer, product: Product, tiling: Tiling, sink: Sink, carried: Values) -> Values:
    """Write all tiles; `carried` is what the sink hands on from tile to tile."""
    rows = Span("mi", product.lhs.valid[0], tiling.m)
    cols = Span("ni", product.rhs.valid[1], tiling.n)
    if tiling.kept is None:
        return _blocked(writer, product, tiling, sink, carried, (rows, cols))
    if tiling.kept.moves is Axis.N:
        return _kept(writer, product, tiling, sink, carried, (rows, cols))
    return _kept(writer, product, tiling, sink, carried, (cols, rows))


def _blocked(
    writer: Writer, product: Product, tiling: Tiling, sink: Sink, carried: Values, spans: tuple[Span, Span]
) -> Values:
    """Tile by tile, each with its own pipeline over K."""

    def tile(inner: Writer, mine: Part, other: Part, held: Values) -> Values:
        acc = accumulate(inner, product.of(mine, other), tiling.k)
        return sink(inner, acc, mine, other, held)

    return each_tile(writer, spans, tile, carried)


def each_tile(writer: Writer, spans: tuple[Span, Span], tile: Tile, carried: Values) -> Values:
    """Loops over rows of tiles and the tiles of a row."""
    rows, cols = spans

    def row(outer: Writer, mine: Part, given: Values) -> Values:
        return outer.along(cols, given, lambda inner, other, held: tile(inner, mine, other, held))

    return writer.along(rows, carried, row)


def _kept(
    writer: Writer, product: Product, tiling: Tiling, sink: Sink, carried: Values, spans: tuple[Span, Span]
) -> Values:
    """With all of K: one operand stays put in the outer loop, past which the tiles of the other one move."""
    outer_span, inner_span = spans
    by_rows = tiling.kept is Stationary.A

    def line(outer: Writer, mine: Part, given: Values) -> Values:
        m, n, _ = product.shape
        whole = product.of(mine, Part(0, n)) if by_rows else product.of(Part(0, m), mine)
        stays = outer.copy(whole.lhs, Memory.LEFT) if by_rows else outer.copy(whole.rhs, Memory.RIGHT)
        bias = None if by_rows else bias_of(outer, whole)  # one for all rows

        def tile(inner: Writer, other: Part, held: Values) -> Values:
            at = (mine, other) if by_rows else (other, mine)
            part = product.of(*at) if bias is None else replace(product.of(*at), bias=bias)
            moves = inner.copy(part.rhs, Memory.RIGHT) if by_rows else inner.copy(part.lhs, Memory.LEFT)
            acc = multiply(inner, part, *((stays, moves) if by_rows else (moves, stays)))
            return sink(inner, acc, *at, held)

        return outer.along(inner_span, given, tile, stages=STAGES, double=tiling.double)

    # What stands behind the inner loop would come in with it for all stages of the outer one, and there is no room.
    even = inner_span.full is not None and inner_span.full > 1 and inner_span.rest == 0
    return writer.along(outer_span, carried, line, stages=STAGES if tiling.streamed and even else 1)

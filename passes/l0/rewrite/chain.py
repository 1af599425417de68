"""An accumulator that several products add to, larger than L0C: the tiles of the output move outside all of them.

    c = create_tile [M, N]                          for each tile of [M, N]:
    for each block of K:                                c = create_tile [m, n]
        c = c + load of A * load of B        =>         for each block of K:
    store c                                                 c = c + load of [m, k] of A * load of [k, n] of B
                                                        store c

The statements of the chain are copied for each tile; what is loaded in its loops is loaded only as far as the tile
needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from pypto_spec.ir.nodes import For, Op, Stmt, Value
from pypto_spec.ir.rewrite import ops, statements
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.l0.rewrite.product import Product
from pypto_spec.passes.l0.rewrite.uses import Readers
from pypto_spec.records import dataclass

ADDS = ("matmul_acc",)
BEGINS = ("matmul", "matmul_bias")
"""The products that add to an accumulator, and those that begin one."""


@dataclass(slots=True)
class Chain:
    """The statements of one block through which an accumulator goes, in order, until `leaves` reads it.

    `products` are all products in them, `values` what the accumulator is called on the way, and `loads` what is loaded
    in its loops for one operand of one product alone: the product and the operand.
    """

    leaves: Op
    steps: list[Stmt] = field(default_factory=list)
    products: dict[Op, Product] = field(default_factory=dict)
    values: set[Value] = field(default_factory=set)
    loads: dict[Op, tuple[Op, str]] = field(default_factory=dict)
    turned: dict[Op, Op] = field(default_factory=dict)
    """Transposed views of such loads, with the load."""

    @property
    def stages(self) -> int:
        """The most stages of its loops."""
        return max((s.stages for s in statements(self.steps) if isinstance(s, For)), default=1)

    @property
    def widest(self) -> Product:
        """The product with the largest K, by whose extents tiles are chosen."""
        return max(self.products.values(), key=lambda product: product.shape[2])


ProductOf = Callable[[Op], Product | None]


def chain_to(leaves: Op, readers: Readers, product_of: ProductOf) -> Chain | None:
    """The chain whose result an op takes away; None where something else looks at it, or it is one product."""
    value = leaves.operands["from"]
    chain = Chain(leaves)
    found = _back(value, readers, chain, None, product_of)
    if not found or len(chain.steps) < 2 or not chain.products:
        return None
    chain.steps.reverse()
    if not readers.follows(chain.steps[0], leaves, set(chain.steps)):
        return None
    for loop in (s for s in chain.steps if isinstance(s, For)):
        _loads(loop, readers, chain)
    return chain


def _back(value: Value, readers: Readers, chain: Chain, start: Value | None, product_of: ProductOf) -> bool:
    """Follow an accumulator back to where it begins, or to `start`, the argument of a loop."""
    while True:
        if len(readers.of(value)) != 1:
            return False
        chain.values.add(value)
        if value is start:
            return True
        maker = readers.makers.get(value)
        loop = readers.loops.get(value)
        top = start is None
        if loop is not None:
            if not _inside(loop, readers, chain, product_of):
                return False
            if top:
                chain.steps.append(loop)
            value = loop.carries[0].init
            continue
        if maker is None:
            return False
        if top:
            chain.steps.append(maker)
        if maker.name == "create_tile":
            return top
        if maker.name not in (*ADDS, *BEGINS) or maker.attrs.get("phase", "unspecified") != "unspecified":
            return False
        product = product_of(maker)
        if product is None or not all(isinstance(n, int) for n in (product.lhs.valid[0], product.rhs.valid[1])):
            return False
        chain.products[maker] = product
        if maker.name in BEGINS:
            return top
        value = maker.operands["acc"]


def _inside(loop: For, readers: Readers, chain: Chain, product_of: ProductOf) -> bool:
    """Whether a loop does nothing but carry the accumulator through products."""
    if len(loop.carries) != 1 or loop.numbers or loop.condition is not None:
        return False
    for stmt in statements(loop.body):
        if isinstance(stmt, For) or (isinstance(stmt, Op) and stmt.defn.effects in ("pure", "reads_gm")):
            continue
        return False
    (carry,) = loop.carries
    if carry.yielded is carry.arg or not _back(carry.yielded, readers, chain, carry.arg, product_of):
        return False
    chain.values.add(carry.result)
    return all(op.name not in (*ADDS, *BEGINS) or op in chain.products for op in ops(loop.body))


def _loads(loop: For, readers: Readers, chain: Chain) -> None:
    """Find what is loaded in a loop for one operand alone."""
    for op in ops(loop.body):
        if op.defn.effects != "reads_gm" or not op.results or op.result.buffer is not None or not _is_plain(op):
            continue
        reader = readers.only(op.result)
        view = None
        if reader is not None and reader.name == "transpose_view":
            view, reader = reader, readers.only(reader.result)
        if reader is None or reader not in chain.products:
            continue
        side = "lhs" if readers_operand(reader, "lhs", op, view) else "rhs"
        if not readers_operand(reader, side, op, view):
            continue
        chain.loads[op] = reader, side
        if view is not None:
            chain.turned[view] = op


def readers_operand(reader: Op, name: str, load: Op, view: Op | None) -> bool:
    """Whether an operand is what was loaded, or its transposed view."""
    return reader.operands[name] is (load if view is None else view).result


def _is_plain(load: Op) -> bool:
    """Whether a load takes rows and columns of one matrix, in the layout that `mat` has by itself."""
    kind, shape = load.result.type, load.attrs["shape"]
    assert isinstance(kind, TileType) and isinstance(shape, tuple)
    if kind.memory not in (None, Memory.MAT) or "layout" in load.attrs:
        return False
    return tuple(shape[-2:]) == kind.shape and all(n == 1 for n in shape[:-2])


def chains(body: Sequence[Stmt], readers: Readers, product_of: ProductOf, leaves: Callable[[Op], bool]) -> list[Chain]:
    """The chains of a region."""
    found = []
    for op in ops(body):
        if leaves(op):
            chain = chain_to(op, readers, product_of)
            if chain is not None:
                found.append(chain)
    return found

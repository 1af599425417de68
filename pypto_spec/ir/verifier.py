"""The verifier: what must hold of a program between passes, one small check per property.

A check yields what is broken; whoever ran the pass reports it as a bug of that pass. Each check is one walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from pypto_spec.ir.broken import Broken
from pypto_spec.ir.expr import mod
from pypto_spec.ir.flow_checks import inlined, pipelines_resolved, replicated, structured, unrolled
from pypto_spec.ir.nodes import Branch, Control, For, Grid, If, Loop, Op, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import REDUCED_AXIS, OpDef
from pypto_spec.ir.rewrite import definitions, ops, regions
from pypto_spec.ir.types import ArrayType, Layout, ScalarType, TensorType, TileType, ValueType

FREE_ROLES = frozenset({"move", "view", "create"})
"""Roles of ops that take tiles with a pitch as they are; recipes of all others assume dense rows."""


def same_type(a: ValueType, b: ValueType) -> bool:
    """Whether two types may meet in a loop or `if`; a memory that is not decided yet goes with any."""
    if a is b or a == b:
        return True
    if isinstance(a, TileType) and isinstance(b, TileType) and (a.memory is None or b.memory is None):
        return replace(a, memory=None) == replace(b, memory=None)
    return False


def is_pitched(kind: ValueType) -> bool:
    """Whether a tile's rows lie apart, with other elements between them; in fractals no rows stand at all."""
    if (
        not isinstance(kind, TileType)
        or kind.is_boxed
        or (kind.pitch is None and kind.layout is None)
        or kind.rows == 1
    ):
        return False
    if kind.cols == 1:
        return kind.order is not Layout.DN or kind.pitch is not None
    return not kind.is_dense


def verify(program: Program, properties: Iterable[str], known: Mapping[str, OpDef] | None = None) -> Broken | None:
    """The first thing that is broken, or None. `known` is the table of operators."""
    for name in properties:
        for broken in CHECKS[name](program):
            return broken
    if known is not None:
        names: dict[str, set[str]] = {}
        for region in regions(program.body):
            for op in ops(region.body):
                fields = names.get(op.name)
                if fields is None:
                    if known.get(op.name) is not op.defn:
                        return Broken(f"`{op.name}` is no operator", op.loc)
                    fields = names[op.name] = {f.name for f in op.defn.fields}
                if op.attrs.get("values") is not None:  # what a printed text holds
                    fields = fields | {"values", *(f for f in op.operands if f.startswith("print:"))}
                if not (op.operands.keys() <= fields and op.attrs.keys() <= fields):
                    wrong = min((op.operands.keys() | op.attrs.keys()) - fields)
                    return Broken(f"`{op.name}` has no field `{wrong}`", op.loc)
    return None


# SSA form


def structure(program: Program) -> Iterator[Broken]:
    """Each value is defined once, under a name of its own, before its uses; what meets has one type."""
    arguments = {*program.tensors, *program.created, *program.scalars}
    for region in regions(program.body):
        yield from _Structure(arguments).check(region)


class _Structure:
    def __init__(self, arguments: set[Value]) -> None:
        self.arguments = arguments
        self.visible: set[Value] = set()
        self.names: set[str] = set()
        self.found: list[Broken] = []

    def check(self, region: Region) -> list[Broken]:
        self.block(region.body)
        return self.found

    def bad(self, message: str, node: Op | For | If) -> None:
        self.found.append(Broken(message, node.loc))

    def define(self, value: Value, node: Op | For | If, scope: list[Value]) -> None:
        if value.name in self.names:
            self.bad(f"`{value.name}` is defined twice", node)
        self.names.add(value.name)
        self.visible.add(value)
        scope.append(value)

    def use(self, value: Value, node: Op | For | If) -> None:
        if value not in self.visible and value not in self.arguments:
            self.bad(f"`{value.name}` is used where it is not defined", node)

    def block(self, body: tuple[Stmt, ...], ends: Iterable[Value] = (), owner: For | If | None = None) -> None:
        """Check a block; what it defines ends with it, after `ends` were used."""
        scope: list[Value] = []
        visible, arguments = self.visible, self.arguments
        for node in body:
            if isinstance(node, Op):
                for value in node.operands.values():
                    if value not in visible and value not in arguments:
                        self.use(value, node)
                for result in node.results:
                    self.define(result, node, scope)
            elif isinstance(node, For):
                self.loop(node, scope)
            elif isinstance(node, If):
                self.branch(node, scope)
        if owner is not None:
            for value in ends:
                self.use(value, owner)
        visible.difference_update(scope)

    def loop(self, loop: For, scope: list[Value]) -> None:
        inner: list[Value] = []
        for carry in loop.carries:
            self.use(carry.init, loop)
            self.define(carry.arg, loop, inner)
        self.block(loop.body, [c.yielded for c in loop.carries], loop)
        self.visible.difference_update(inner)
        for carry in loop.carries:
            self.define(carry.result, loop, scope)
            self.meet(carry.result, (carry.arg, carry.init, carry.yielded), loop)

    def branch(self, branch: If, scope: list[Value]) -> None:
        self.block(branch.then, [p.then for p in branch.phis], branch)
        self.block(branch.other, [p.other for p in branch.phis], branch)
        for phi in branch.phis:
            self.define(phi.result, branch, scope)
            self.meet(phi.result, (phi.then, phi.other), branch)

    def meet(self, result: Value, values: Iterable[Value], node: For | If) -> None:
        for value in values:
            if not same_type(value.type, result.type):
                self.bad(f"`{value.name}` is {value.type} and becomes `{result.name}`, {result.type}", node)


# Properties of the planes


def _split_planes(program: Program) -> Iterator[Broken]:
    kernels: set[str] = set()
    for region in regions(program.body):
        if region.core is None or region.kernel is None:
            yield Broken(f"region `{region.name}` has no core or no kernel name", region.loc)
        elif region.kernel in kernels:
            yield Broken(f"two kernels are called `{region.kernel}`", region.loc)
        else:
            kernels.add(region.kernel)
    yield from _grids(program.body)


def _grids(body: Iterable[Control]) -> Iterator[Broken]:
    for node in body:
        if isinstance(node, Grid):
            if node.kind != "spmd" or len(node.body) != 1 or not isinstance(node.body[0], Region):
                yield Broken("a launch is not one `spmd` around one region", node.loc)
        elif isinstance(node, Loop):
            yield from _grids(node.body)
        elif isinstance(node, Branch):
            yield from _grids(node.then)
            yield from _grids(node.other)


# Properties of values


def _all_ops(program: Program) -> Iterator[Op]:
    for region in regions(program.body):
        yield from ops(region.body)


def _all_values(program: Program) -> Iterator[tuple[Value, Region]]:
    for region in regions(program.body):
        for value in definitions(region.body):
            yield value, region


def _tile_ops(program: Program) -> Iterator[Broken]:
    for value, region in _all_values(program):
        if isinstance(value.type, ArrayType):
            yield Broken(f"`{value.name}` is still a whole array", region.loc)
    for op in _all_ops(program):
        if op.defn.effects == "pure":
            for value in op.operands.values():
                if isinstance(value.type, TensorType):
                    yield Broken(f"`{op.name}` works on the tensor `{value.name}` itself", op.loc)


def _two_dimensional(program: Program) -> Iterator[Broken]:
    for value, region in _all_values(program):
        if isinstance(value.type, TileType) and len(value.type.shape) != 2:
            yield Broken(f"tile `{value.name}` is {value.type}, not two-dimensional", region.loc)


def _reductions(program: Program) -> Iterator[Broken]:
    for op in _all_ops(program):
        axis = REDUCED_AXIS.get(op.defn.role)
        kind = op.operands["x"].type if axis is not None else None
        if axis is not None and isinstance(kind, TileType) and kind.valid and not isinstance(kind.valid[axis], int):
            yield Broken(f"`{op.name}` reads more of `{op.operands['x'].name}` than is defined", op.loc)


def _slices(program: Program) -> Iterator[Broken]:
    for op in _all_ops(program):
        at = op.attrs.get("at")
        x = op.operands.get("x")
        if op.name != "slice" or x is None or not isinstance(x.type, TileType) or not isinstance(at, tuple):
            continue
        if x.type.is_boxed:
            continue  # a window of fractals
        column = x.type.order is Layout.DN
        if mod(at[-2] if column else at[-1], x.type.dtype.block) != 0:
            yield Broken(f"the slice `{op.results[0].name}` is no view: it starts inside a block", op.loc)


def _memory_known(program: Program) -> Iterator[Broken]:
    for value, region in _all_values(program):
        if isinstance(value.type, TileType) and value.type.memory is None:
            yield Broken(f"tile `{value.name}` has no memory", region.loc)
    for op in _all_ops(program):
        for field, value in op.operands.items():
            allowed = op.defn.spaces.get(field)
            if allowed and isinstance(value.type, TileType) and value.type.memory not in allowed:
                yield Broken(f"`{op.name}` cannot take `{value.name}` from {value.type.memory}", op.loc)


def _takes_column(op: Op, field: str) -> bool:
    """Whether an operand is the vector that a row expand spreads."""
    return op.defn.role == "row_expand" and (field == "v" or "v" not in op.operands)


def _layouts(program: Program) -> Iterator[Broken]:
    for op in _all_ops(program):
        if op.defn.role in FREE_ROLES:
            continue
        for field, value in op.operands.items():
            kind = value.type
            if not isinstance(kind, TileType):
                continue
            if is_pitched(kind):
                yield Broken(f"`{op.name}` takes `{value.name}` with rows {kind.row_pitch} elements apart", op.loc)
            elif kind.order is Layout.DN and not _takes_column(op, field) and op.defn.role != "rearrange":
                yield Broken(f"`{op.name}` takes the column vector `{value.name}` as it is", op.loc)


# Properties of memory


def _mem_refs(program: Program) -> Iterator[Broken]:
    buffers = {b.name for b in program.buffers}
    for value, region in _all_values(program):
        if isinstance(value.type, TensorType | ScalarType):
            continue
        if value.buffer is None or value.buffer.buffer not in buffers:
            yield Broken(f"`{value.name}` has no buffer", region.loc)
    for op in _all_ops(program):
        if any(s.buffer not in buffers for s in op.scratch):
            yield Broken(f"scratch of `{op.name}` has no buffer", op.loc)


def _addresses(program: Program) -> Iterator[Broken]:
    for buffer in program.buffers:
        if buffer.address is None or buffer.bytes is None:
            yield Broken(f"buffer `{buffer.name}` has no address or no size", buffer.loc)


def _instructions(program: Program) -> Iterator[Broken]:
    for op in _all_ops(program):
        if op.instrs is None:
            yield Broken(f"`{op.name}` was not expanded", op.loc)


def _synchronised(program: Program) -> Iterator[Broken]:
    if program.target.sync != "manual":
        yield Broken("the program does not say `sync: manual`", program.loc)


CHECKS: Mapping[str, Callable[[Program], Iterator[Broken]]] = {
    "InlineFunctionsEliminated": inlined,
    "UnrollResolved": unrolled,
    "StructuredCtrlFlow": structured,
    "SSAForm": structure,
    "SplitIncoreOrch": _split_planes,
    "IncoreTileOps": _tile_ops,
    "TileOps2D": _two_dimensional,
    "ReductionsDefined": _reductions,
    "TileSlicesCanonical": _slices,
    "TileMemoryInferred": _memory_known,
    "LayoutsResolved": _layouts,
    "PipelinesReplicated": replicated,
    "PipelineResolved": pipelines_resolved,
    "HasMemRefs": _mem_refs,
    "AllocatedMemoryAddr": _addresses,
    "HasInstructions": _instructions,
    "Synchronised": _synchronised,
}
"""The check of each property, by the property's name."""

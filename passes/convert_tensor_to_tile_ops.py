"""ConvertTensorToTileOps: statements on arrays that are left after ChunkTensorOps become statements on tiles.

It decides where tensors are brought on chip: a tensor that the region only reads is loaded once, before the first
outermost statement that uses it; one that the region also writes is loaded where it is read, again after each store. A
slice of a tensor is the load of that window. Everything else keeps its statement and works on tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.shapes import RUNTIME_EXTENT
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import For, If, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.rewrite import Rewriter, definitions, ops
from pypto_spec.ir.types import ArrayType, TensorType, TileType
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.making import infer, make


class _Regions(Rewriter):
    def region(self, region: Region) -> Region:
        if not any(isinstance(v.type, ArrayType) for v in definitions(region.body)) and not any(
            _whole_tensors(op) for op in ops(region.body)
        ):
            return region
        return replace(region, body=_Converter(region).outermost(region.body))


class _Converter(Rewriter):
    def __init__(self, region: Region) -> None:
        super().__init__()
        self.names = Names.of(region)
        self.stored = {op.operands["to"] for op in ops(region.body) if op.defn.effects == "writes_gm"}
        self.loaded: dict[Value, Value] = {}  # tiles of tensors, where they stand

    def outermost(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The region's own statements, each behind the loads of what it reads."""
        made: list[Stmt] = []
        for node in body:
            for op in ops((node,)):
                for value in _whole_tensors(op).values():
                    if value not in self.stored and value not in self.loaded:
                        made.append(self.load(value, op))
            made.extend(self.stmt(node))
        return tuple(made)

    def load(self, tensor: Value, user: Op) -> Op:
        """The load of a whole tensor for the op that is the first to use it."""
        assert isinstance(tensor.type, TensorType)
        shape = tensor.type.shape
        if not all(isinstance(extent, int) for extent in shape):
            raise CompileError(
                [
                    diagnose(
                        RUNTIME_EXTENT,
                        user.loc.span,
                        f"`{user.name}` works on the whole of `{tensor.name}`, {tensor.type}, whose size is not known",
                        label=f"needs all of `{tensor.name}` on chip",
                        helps=["load tiles of a fixed shape in a `for` loop, with `valid` for the last one"],
                    )
                ]
            )
        attrs = {"at": (0,) * len(shape), "shape": shape}
        name = self.names.fresh(f"{tensor.name}_tile")
        made = make("load", {"from": tensor}, attrs, user.loc, into=name, allow=user.allow)
        self.loaded[tensor] = made.result
        return made

    def op(self, op: Op) -> Sequence[Stmt]:
        if op.name == "slice" and isinstance(op.operands["x"].type, TensorType):
            return (self.window(op),)
        made: list[Stmt] = []
        operands = dict(op.operands)
        for field, value in _whole_tensors(op).items():
            if value not in self.loaded:
                made.append(self.load(value, op))
            operands[field] = self.loaded[value]
        changed = any(operands[field] is not value for field, value in op.operands.items())
        results = op.results
        if len(results) == 1 and isinstance(results[0].type, ArrayType):
            kind = infer(op.defn, operands, op.attrs, op.loc)
            results = (self.bind(results[0], Value(results[0].name, kind, results[0].buffer)),)
        if op.defn.effects == "writes_gm":
            self.loaded.pop(op.operands["to"], None)
        if changed or results is not op.results:
            op = replace(op, operands=operands, results=results)
            if op.defn.effects == "writes_gm":
                op.defn.infer(Inference(op.defn, operands, op.attrs, op.loc))
        return (*made, op)

    def window(self, op: Op) -> Op:
        """The load that stands for a slice of a tensor."""
        attrs = {name: attr for name, attr in op.attrs.items() if name in ("at", "shape", "valid")}
        made = make("load", {"from": op.operands["x"]}, attrs, op.loc, into=op.result.name, allow=op.allow)
        tile = Value(op.result.name, made.result.type, op.result.buffer)
        self.bind(op.result, tile)
        return replace(made, results=(tile,))

    # Loops and ifs: what is loaded inside ends there, and a tensor stored inside is not what it was before

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        outside = dict(self.loaded)
        made = super().block(body)
        self.loaded = outside
        return made

    def loop(self, loop: For) -> Sequence[Stmt]:
        for carry in loop.carries:
            for value in (carry.arg, carry.result):
                self.as_tile(value, self.use(carry.init))
        self.forget(loop)
        return super().loop(loop)

    def branch(self, branch: If) -> Sequence[Stmt]:
        self.forget(branch)
        return super().branch(branch)

    def phi(self, phi: Phi) -> Phi:
        self.as_tile(phi.result, self.use(phi.then))
        return super().phi(phi)

    def forget(self, node: For | If) -> None:
        """Forget the tiles of tensors that are stored inside."""
        if self.loaded:
            for op in ops((node,)):
                if op.defn.effects == "writes_gm":
                    self.loaded.pop(op.operands["to"], None)

    def as_tile(self, value: Value, model: Value) -> None:
        if isinstance(value.type, ArrayType) and isinstance(model.type, TileType):
            self.bind(value, Value(value.name, model.type, value.buffer))


def _whole_tensors(op: Op) -> dict[str, Value]:
    """The operands of an op that are tensors to be brought on chip as a whole."""
    if op.defn.effects in ("reads_gm", "shows") or op.name == "slice":
        return {}
    target = "to" if op.defn.effects == "writes_gm" else None
    return {f: v for f, v in op.operands.items() if f != target and isinstance(v.type, TensorType)}


def run(program: Program, context: Context) -> Program:
    """Convert every region that still has arrays."""
    return _Regions().program(program)


CONVERT_TENSOR_TO_TILE_OPS = Pass(
    name="ConvertTensorToTileOps",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.SPLIT_INCORE_ORCH}),
    produces=frozenset({Property.INCORE_TILE_OPS}),
    doc=__doc__,
)

"""Statements with an operator: the fields of its definition become operands and attributes, its rule the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NoReturn

from pypto_spec.convert.context import EarlyRead, PoisonedError, Reading
from pypto_spec.convert.debug_text import read_format
from pypto_spec.convert.instructions import INSTRUCTIONS_HELP, InstructionTextError
from pypto_spec.convert.op_fields import FieldReader
from pypto_spec.convert.options import read_codes
from pypto_spec.convert.repairs import as_taken
from pypto_spec.convert.scope import Kind, Name, Place, span_of
from pypto_spec.convert.written_steps import check_steps, step_decoder
from pypto_spec.diagnostics.model import CompileError, Label, Repair, accessed, diagnose
from pypto_spec.diagnostics.rules.cores import BAD_INSTRUCTION
from pypto_spec.diagnostics.rules.names import NOT_A_VALUE
from pypto_spec.diagnostics.rules.shapes import (
    DTYPE_MISMATCH,
    LEVEL_MIX,
    LITERAL_CHANGED,
    LITERAL_RANGE,
    SHAPE_MISMATCH,
    WRONG_ACCESS,
)
from pypto_spec.diagnostics.rules.syntax import MISSING_KEY
from pypto_spec.diagnostics.span import Loc, Span
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Step
from pypto_spec.ir.nodes import Attr, BufferRef, Op, Stage, Stmt, Value
from pypto_spec.ir.opdef import Field, Inference, OpDef
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import Access, ArrayType, ScalarType, TensorType, TileType, ValueType
from pypto_spec.ops.numbers import literal_problem, rounded
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.tree import MappingNode, Node
from pypto_spec.targets.too_large import TooLargeError, is_too_large


class OpReader:
    """Reads op statements and makes ops; `let` uses the second half."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.fields = FieldReader(reading)
        self.decoder = step_decoder(reading)

    # Reading

    def read(self, defn: OpDef, fields: MappingNode, statement: MappingNode, loc: Loc) -> list[Stmt]:
        """The op of a statement, and the store where it binds an output tensor."""
        reading = self.reading
        operands: dict[str, Value] = {}
        attrs: dict[str, Attr] = {}
        binds: list[Node] = []
        numbers: list[str] = []
        entries = fields.entries
        for field in defn.fields:
            name, kind = field.name, field.kind
            entry = entries.get(name)
            if entry is None:
                if field.required:
                    self._missing(defn, field, loc)
                continue
            node = entry[1]
            if kind == "tile" or kind == "tensor":
                operands[name] = self.operand(node, defn, name, kind == "tensor")
            elif kind == "bind":
                binds.append(node)
            elif kind == "number":
                found = self.fields.number(node)
                if isinstance(found, Value):
                    operands[name] = found
                else:
                    attrs[name] = found
                    numbers.append(name)
            elif kind == "format":
                attrs[name], attrs["values"], shown = read_format(reading, node)
                operands |= shown
            else:
                attrs[name] = self.fields.read(kind, node, field.words)
        allow = self.allow(statement)
        result = self._type(defn, operands, attrs, loc, statement.get("type"))
        if numbers and self.reading.dump is None:
            self._literals(defn, operands, attrs, numbers, loc, allow)
        results, stores = self._results(result, binds, fields)
        op = Op(
            defn=defn,
            operands=operands,
            attrs=attrs,
            results=results,
            loc=loc,
            scratch=self._scratch(fields) if "scratch" in entries else (),
            instrs=self._written_steps(statement) if "instructions" in statement.entries else None,
            allow=allow,
            stages=self._stages(statement) if "stage" in statement.entries else (),
        )
        if op.instrs is not None:
            check_steps(self.reading, op, statement)
        elif self.reading.expanded:
            op = replace(op, instrs=defn.recipe(OpRecipe(op, self.reading.precision)))
        if defn.effects == "writes_gm" and "to" in operands:
            self.reading.written.add(operands["to"].name)
        return [op, *(self.store(value, target, loc) for value, target in stores)]

    def _missing(self, defn: OpDef, field: Field, loc: Loc) -> NoReturn:
        self.reading.fail(
            MISSING_KEY,
            loc.span,
            f"`{defn.name}` needs `{field.name}`: {field.doc}",
            label=f"`{field.name}` is missing",
        )

    def _results(
        self, kind: ValueType | None, binds: Sequence[Node], fields: MappingNode
    ) -> tuple[tuple[Value, ...], list[tuple[Value, Name]]]:
        """The values bound to the names a statement gives, and those to be stored to output tensors."""
        if kind is None or not binds:
            return (), []
        reading = self.reading
        buffer = reading.buffer_ref(fields) if {"buffer", "slot"} & fields.entries.keys() else None
        results: list[Value] = []
        stores: list[tuple[Value, Name]] = []
        for node in binds:
            name = reading.text(node)
            target = self.output(name, node)
            value = Value(reading.fresh.name(name) if target is not None else name, kind, buffer)
            results.append(value)
            if target is None:
                self.bind(value, node)
            else:
                stores.append((value, target))
        return tuple(results), stores

    def operand(self, node: Node, defn: OpDef, field: str, tensor: bool) -> Value:
        """The value or tensor a field names."""
        reading = self.reading
        text = reading.text(node)
        found = reading.scope.get(text)
        if found is None:
            kinds: tuple[Kind, ...] = ("tensor",) if tensor else ("tensor", "value", "scalar")
            raise reading.scope.undefined(text, node.span, kinds)
        stores = tensor and field == "to" and defn.effects == "writes_gm"
        return self.use(found, node, tensor=tensor, stores=stores)

    def use(self, found: Name, place: Place, *, tensor: bool = False, stores: bool = False) -> Value:
        """The value behind a name that stands as an operand."""
        value = found.value
        if value is None:
            if found.kind == "value":
                raise PoisonedError
            self.reading.fail(
                NOT_A_VALUE, place, f"`{found.text}` is {found.what}, not a tile or tensor", label="no tile or tensor"
            )
        if tensor and not isinstance(value.type, TensorType):
            self.reading.fail(
                NOT_A_VALUE,
                place,
                f"`{found.text}` is {found.what}, not a tensor argument",
                label="no tensor",
                helps=_slice_help(found.text, value),
            )
        if isinstance(value.type, TensorType):
            self._access(found, value.type.access, place, stores)
        return value

    def _access(self, found: Name, access: Access, place: Place, stores: bool) -> None:
        reading = self.reading
        if stores and access is Access.IN:
            raise self.read_only(found, place)
        undefined = access is Access.OUT or found.value in reading.created
        if not stores and undefined and found.text not in reading.written and not reading.loops:
            reading.early.append(EarlyRead(reading.region, found.text, place))

    def read_only(self, found: Name, place: Place) -> CompileError:
        """The error for a statement that writes an `in` tensor."""
        return CompileError(
            [
                diagnose(
                    WRONG_ACCESS,
                    span_of(place),
                    f"`{found.text}` is an input: it cannot be written",
                    label="written here",
                    secondary=[Label(found.span, "`access: in` (the default)")],
                    helps=[f"give `{found.text}` `access: out` or `access: inout`, or bind another name"],
                    fixes=[accessed(found.text, "out"), accessed(found.text, "inout")],
                )
            ]
        )

    # Results

    def infer(
        self, defn: OpDef, operands: Mapping[str, Value], attrs: Mapping[str, Attr], loc: Loc
    ) -> ValueType | None:
        """The result's type by the definition's own rule."""
        shape = attrs.get("shape")
        if defn.effects == "reads_gm" and isinstance(shape, tuple):
            extents = [n for n in shape if isinstance(n, int) and n > 0]
            tensor = operands["from"].type.dtype
            if len(extents) == len(shape) and is_too_large(tensor, extents):
                raise TooLargeError(tensor, extents, loc.span)
        kind = defn.infer(Inference(defn, operands, attrs, loc, self.reading.level, self.reading.walked))
        if isinstance(kind, TileType) and is_too_large(kind.dtype, kind.shape, kind.memory):
            raise TooLargeError(kind.dtype, kind.shape, loc.span)
        return kind

    def _type(
        self, defn: OpDef, operands: Mapping[str, Value], attrs: Mapping[str, Attr], loc: Loc, written: Node | None
    ) -> ValueType | None:
        reading = self.reading
        if defn.name == "store" and isinstance(operands["from"].type, ArrayType | TensorType):
            self._whole_store(operands, attrs, loc)
            return None
        kind = self.infer(defn, operands, attrs, loc)
        if written is None or kind is None:
            return kind
        own = self.fields.written_type(written)
        shape, dtype = getattr(kind, "shape", None), kind.dtype
        if getattr(own, "shape", None) not in (shape, _folded(defn, kind)):
            reading.fail(SHAPE_MISMATCH, written, f"the result of `{defn.name}` is {kind}, `type` says {own}")
        if own.dtype != dtype:
            reading.fail(DTYPE_MISMATCH, written, f"the result of `{defn.name}` is {kind}, `type` says {own}")
        return own

    def _literals(
        self,
        defn: OpDef,
        operands: Mapping[str, Value],
        attrs: Mapping[str, Attr],
        names: Sequence[str],
        loc: Loc,
        allow: frozenset[str],
    ) -> None:
        """Warn where a literal is another number in the dtype it takes, most often the tile's."""
        common = literal_dtype(defn, operands, attrs)
        own = {field.name: field.number for field in defn.fields}
        for name in names:
            value, dtype = attrs[name], own.get(name) or common
            if dtype is not None and isinstance(value, int | float):
                self.check_literal(value, dtype, partial(loc.field, name), allow)

    def check_literal(self, value: float, dtype: DType, place: Callable[[], Span], allow: frozenset[str]) -> None:
        """Warn where a literal changes, overflows or vanishes as it takes a tile's dtype."""
        problem = literal_problem(value, dtype)
        if problem is None or self.reading.dump is not None:
            return
        lost = dtype.is_float and (isinstance(value, float) or rounded(value, dtype) in (math.inf, -math.inf))
        self.reading.sink.report(
            LITERAL_RANGE if lost else LITERAL_CHANGED,
            place(),
            f"in {dtype} {problem}",
            label=f"taken as {dtype}",
            allow=allow,
            helps=["write the value that is meant, or cast the tile to a wider dtype"],
            fixes=as_taken(value, dtype, place()) if not lost else (),
        )

    # Binding

    def output(self, name: str, place: Place) -> Name | None:
        """The output tensor that a binding of `name` stores to; None for an ordinary name."""
        found = self.reading.scope.get(name)
        if found is None or found.kind == "value" or found.argument:
            return None
        if found.kind == "tensor":
            assert found.value is not None
            assert isinstance(found.value.type, TensorType)
            if found.value.type.access is Access.IN:
                raise self.read_only(found, place)
            return found
        raise self.reading.scope.shadowed(found, span_of(place), "a value")

    def bind(self, value: Value, place: Place) -> None:
        """Bind a name that is free or a value's."""
        self.reading.scope.set(Name(value.name, "value", place, value))

    def store(self, value: Value, target: Name, loc: Loc) -> Op:
        """Store a whole value to an output tensor."""
        assert target.value is not None
        assert isinstance(target.value.type, TensorType)
        defn = OPS["store"]
        operands = {"from": value, "to": target.value}
        attrs: dict[str, Attr] = {"at": (0,) * len(target.value.type.shape)}
        shape = getattr(value.type, "shape", ())
        if shape != target.value.type.shape:
            self.reading.fail(
                SHAPE_MISMATCH,
                loc.field("into"),
                f"binding the output `{target.text}` stores the whole of it: its shape is {target.value.type}, "
                f"the value is {value.type}",
                label="shapes differ",
                helps=[f"store a part: `- store: {{from: VALUE, to: {target.text}, at: [...]}}`"],
            )
        if isinstance(value.type, TileType):
            self.infer(defn, operands, attrs, loc)
        else:
            self._whole_store(operands, attrs, loc)
        self.reading.written.add(target.text)
        return Op(defn=defn, operands=operands, attrs=attrs, results=(), loc=loc)

    def _whole_store(self, operands: Mapping[str, Value], attrs: Mapping[str, Attr], loc: Loc) -> None:
        """What must hold of a store of an array, before it is cut into tiles."""
        source, target = operands["from"], operands["to"]
        assert isinstance(target.type, TensorType)
        fail = self.reading.fail
        if source.type.dtype != target.type.dtype:
            fail(
                DTYPE_MISMATCH,
                loc.field("from"),
                f"a {source.type.dtype} array stored to the {target.type.dtype} tensor `{target.name}`",
                label=f"{source.type.dtype}",
                helps=[f"cast it: `cast(..., {target.type.dtype})`"],
            )
        shape, at = getattr(source.type, "shape", ()), attrs.get("at")
        if shape == target.type.shape and at == (0,) * len(shape):
            return
        if isinstance(source.type, ArrayType) and len(shape) == len(target.type.shape):
            # A part of a tensor, which is judged like that of a tile.
            operands = {**operands, "from": Value(source.name, TileType(source.type.dtype, source.type.shape))}
            OPS["store"].infer(Inference(OPS["store"], operands, attrs, loc, "tile", self.reading.walked))
        else:
            fail(
                LEVEL_MIX,
                loc.field("at" if shape == target.type.shape else "from"),
                f"`{source.name}` is {source.type}, and `{target.name}`, to which it is stored, is {target.type}",
                label="no window of the tensor",
                helps=["a window has as many dimensions as the tensor, and a shape that is known at compile time"],
            )

    # Parts

    def allow(self, statement: MappingNode) -> frozenset[str]:
        """The codes a statement allows."""
        return read_codes(self.reading, statement, "allow")

    def _scratch(self, fields: MappingNode) -> tuple[BufferRef, ...]:
        """The places of the scratch areas."""
        found: list[BufferRef] = []
        for item in self.reading.items(fields.get("scratch"), fields, "scratch"):
            place = self.reading.buffer_ref(item) if isinstance(item, MappingNode) else None
            found.append(place or BufferRef(self.reading.buffer_name(item)))
        return tuple(found)

    def _stages(self, statement: MappingNode) -> tuple[Stage, ...]:
        """The copy of a pipeline's body that a statement belongs to, by group."""
        pairs = (
            self.reading.items(item, statement, "stage")
            for item in self.reading.items(statement.get("stage"), statement, "stage")
        )
        return tuple(
            (self.reading.static(group, "`stage`"), self.reading.static(stage, "`stage`")) for group, stage in pairs
        )

    def _written_steps(self, statement: MappingNode) -> tuple[Step, ...]:
        steps: list[Step] = []
        for item in self.reading.items(statement.get("instructions"), statement, "instructions"):
            try:
                steps.append(self.decoder.step(item.to_plain()))
            except InstructionTextError as error:
                self.reading.fail(
                    BAD_INSTRUCTION, item, error.args[0], label="this instruction", helps=[INSTRUCTIONS_HELP],
                    fixes=[Repair("remove", statement.span, ("instructions",), title="leave `instructions` out")],
                )  # fmt: skip
        return tuple(steps)


def _binds(defn: OpDef) -> bool:
    return any(f.kind == "bind" for f in defn.fields)


def _folded(defn: OpDef, kind: ValueType) -> tuple[int, ...] | None:
    """What FlattenTileNdTo2D leaves of a load's shape, whose window keeps the dimensions of its tensor."""
    if defn.name != "load" or not isinstance(kind, TileType):
        return None
    return (math.prod(kind.shape[:-1]), kind.shape[-1])


def literal_dtype(defn: OpDef, operands: Mapping[str, Value], attrs: Mapping[str, Attr]) -> DType | None:
    """The dtype that a literal of an op takes."""
    tile = operands.get(defn.dtype_of)
    if tile is not None:
        return tile.type.dtype
    found = attrs.get(defn.dtype_of, attrs.get("dtype"))
    return found if isinstance(found, DType) else None


def _slice_help(name: str, value: Value) -> list[str]:
    return [] if isinstance(value.type, ScalarType) else [f"`{name}` is on chip already; use it directly"]

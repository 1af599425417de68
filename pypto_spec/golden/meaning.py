"""The torch meaning of a program, at any point between passes.

Until InitMemRef a value is a tensor of its own. From then on tiles live in bytes: in their buffer, and once addresses
are known in one array per memory at their real address, with undefined bytes poisoned, so that memory shared where it
must not be shows in the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, product
from math import prod
from typing import Any

from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.storage import POISON, undefined
from pypto_spec.golden.sums import record
from pypto_spec.ir.arguments import compared, indices_of
from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Expr, Index, Sym, evaluate, symbols
from pypto_spec.ir.nodes import (
    Branch,
    BufferRef,
    Call,
    Condition,
    Control,
    For,
    Grid,
    If,
    Jump,
    Loop,
    Op,
    Program,
    Region,
    Stmt,
    Value,
)
from pypto_spec.ir.opdef import REDUCED_AXIS
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import Layout, Memory, ScalarType, TensorType, TileType, round_up
from pypto_spec.ops.build import torch_dtype
from pypto_spec.ops.pad import identity, pad_value


@dataclass(slots=True)
class Machine:
    """One run of a program on tensors: `tensors` by argument, changed in place.

    Values are kept by name: before ConvertToSSA one name is bound in several places, and it holds what was bound last
    on the way taken.
    """

    program: Program
    tensors: dict[Value, Any]
    scalars: Mapping[Value, Any] = field(default_factory=dict)
    auto_blocks: int = 3
    indices: dict[Sym, int] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    memories: dict[str, Any] = field(default_factory=dict)
    jump: Jump | None = None
    """The `break` or `continue` on whose way to its loop the run is."""

    def __post_init__(self) -> None:
        """Integer scalars stand in index expressions as symbols of their own name."""
        given = {v.name: value for v, value in self.scalars.items()}
        for symbol in _scalar_symbols(self.program.body):
            self.indices.setdefault(symbol, int(given[symbol.name]))
        for tensor in self.program.created:
            kind = tensor.type
            assert isinstance(kind, TensorType)
            self.tensors[tensor] = undefined(tuple(map(self._number, kind.shape)), kind.dtype)

    def run(self) -> None:
        """Run every region in program order, blocks one after the other."""
        self._controls(self.program.body)

    # -- control plane --------------------------------------------------------------------------------------------

    def _controls(self, body: tuple[Control, ...]) -> None:
        for node in body:
            if isinstance(node, Region):
                self.values.clear()
                self.memories.clear()
                self._block(node.body)
            elif isinstance(node, Branch):
                self._controls(node.then if self._holds(node.condition) else node.other)
            elif isinstance(node, Loop):
                self._each(node.index, node.start, node.stop, node.step, node.body)
            else:
                self._grid(node)

    def _grid(self, grid: Grid) -> None:
        count = self.auto_blocks if grid.count == "auto" else self._number(grid.count)
        inner = [range(self._number(found)) for _, found in grid.inner]
        self.indices[grid.blocks_symbol] = count * prod(map(len, inner))
        start, step = self._number(grid.start), self._number(grid.step)
        for number, *others in product(range(count), *inner):
            self.indices[grid.index] = start + number * step
            self.indices.update(zip((index for index, _ in grid.inner), others, strict=True))
            self._controls(grid.body)

    def _each(self, index: Sym, start: Index, stop: Index, step: Index, body: tuple[Control, ...]) -> None:
        for number in range(self._number(start), self._number(stop), self._number(step)):
            self.indices[index] = number
            self._controls(body)

    # -- execution plane ------------------------------------------------------------------------------------------

    def _block(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            if isinstance(stmt, Op):
                self._op(stmt)
            elif isinstance(stmt, For):
                self._for(stmt)
            elif isinstance(stmt, Jump):
                self.jump = stmt
                return
            elif isinstance(stmt, Call):
                self._call(stmt)
            elif isinstance(stmt, If):
                taken = self._holds(stmt.condition)
                self._block(stmt.then if taken else stmt.other)
                if self.jump is not None:
                    return
                for picked in stmt.numbers:
                    self.indices[picked.result] = self._number(picked.then if taken else picked.other)
                found = [self._read(p.then if taken else p.other) for p in stmt.phis]
                for phi, value in zip(stmt.phis, found, strict=True):
                    self._write(phi.result, value)

    def _for(self, loop: For) -> None:
        found = [self._read(c.init) for c in loop.carries]
        numbers = [self._number(n.init) for n in loop.numbers]
        names = (c.arg.name for c in loop.carries)
        outside = {name: self.values[name] for name in names if name in self.values}
        for place in self._walk(loop):
            self.indices[loop.index] = place
            self.indices.update(zip((n.arg for n in loop.numbers), numbers, strict=True))
            if loop.condition is not None and not self._holds(loop.condition):
                break
            for carry, value in zip(loop.carries, found, strict=True):
                self._write(carry.arg, value)
            self._block(loop.body)
            jump, self.jump = self.jump, None
            found = [self._read(c.yielded) for c in loop.carries]
            numbers = [self._number(n) for n in (jump.numbers if jump else [n.yielded for n in loop.numbers])]
            if jump is not None and jump.kind == "break":
                break
        self.values.update(outside)  # a value of the name that an argument has in the loop
        self.indices.update(zip((n.result for n in loop.numbers), numbers, strict=True))
        for carry, value in zip(loop.carries, found, strict=True):
            self._write(carry.result, value)

    def _call(self, call: Call) -> None:
        """Run the body of a function on names of its own."""
        outside = self.values
        self.values = {name: self._read(value) for name, value in call.params.items()}
        self._block(call.body)
        found = [self._read(value) for value in call.returned]
        self.values = outside
        for result, value in zip(call.results, found, strict=True):
            self._write(result, value)

    def _walk(self, loop: For) -> Iterable[int]:
        """The values of a loop's index; a `while` has no last one."""
        if loop.kind == "while":
            return count()
        return range(self._number(loop.start), self._number(loop.stop), self._number(loop.step))

    def _op(self, op: Op) -> None:
        inputs = {name: self._read(value) for name, value in op.operands.items()}
        attrs = {f.name: f.default for f in op.defn.fields if f.kind not in ("bind", "tile", "tensor")}
        attrs.update({name: self._attr(value) for name, value in op.attrs.items()})
        source = op.operands.get("from") or op.operands.get("x")
        if source is not None and isinstance(source.type, TileType) and source.type.valid is not None:
            attrs["valid"] = tuple(self._number(v) for v in source.type.valid)
        along = REDUCED_AXIS.get(op.defn.role)
        if along is not None:
            inputs["x"] = self._defined(op, inputs["x"], along)
        if op.defn.role == "matmul":
            self._cut_product(op, inputs)
        made = op.defn.torch(torch(), inputs, attrs)
        if op.defn.role == "view" and any(isinstance(v.type, TensorType) for v in op.operands.values()):
            made = made.clone()  # what is read now does not change with a later store to the tensor
        for ref in op.scratch:
            self._spoil(ref)
        if op.defn.effects == "writes_gm":
            self.tensors[op.operands["to"]].copy_(made)
        elif op.results and not (op.defn.role == "view" and op.result.buffer is not None):
            self._write(op.result, self._poison(made) if self._clashes(op) else made)

    def _cut_product(self, op: Op, inputs: dict[str, Any]) -> None:
        """Leave of the operands of a product what it goes through: the K that is valid of the left one."""
        kind = op.operands["lhs"].type
        if isinstance(kind, TileType) and kind.valid is not None:
            depth = self._number(kind.valid[-1])
            inputs["lhs"], inputs["rhs"] = inputs["lhs"][..., :depth], inputs["rhs"][..., :depth, :]
        if inputs["lhs"].is_floating_point():
            record(*(inputs[side].to(torch().float64) for side in ("lhs", "rhs")))

    # -- memory that must not be shared ---------------------------------------------------------------------------

    def _clashes(self, op: Op) -> bool:
        """Whether the op writes over bytes that it still reads: an operand that its result must not share, or scratch.

        The torch meaning reads everything before it writes, the instructions do not.
        """
        result = self._bytes(op.result)
        if result is None:
            return False
        scratch = [self._scratch_bytes(ref) for ref in op.scratch]
        operands = {name: self._bytes(value) for name, value in op.operands.items()}
        unshared = [operands.get(name) for name in op.defn.no_alias]
        return any(_overlap(result, other) for other in (*unshared, *scratch)) or any(
            _overlap(one, other) for one in operands.values() for other in scratch
        )

    def _bytes(self, value: Value) -> tuple[int, int, int] | None:
        """The memory a tile stands in and its first and last byte there; None where it is no tile in memory."""
        kind = value.type
        if value.buffer is None or not isinstance(kind, TileType) or self._sizeless(value.buffer):
            return None
        memory, start = self._place(value.buffer)
        rows = kind.rows if kind.order is Layout.DN else (kind.rows - 1) * kind.row_pitch + kind.cols
        return id(memory), start, start + rows * kind.dtype.bytes

    def _scratch_bytes(self, ref: BufferRef) -> tuple[int, int, int]:
        memory, start = self._place(ref)
        buffer = next(b for b in self.program.buffers if b.name == ref.buffer)
        return id(memory), start, start + (buffer.bytes or 0)

    def _poison(self, made: Any) -> Any:
        poisoned = made.clone().contiguous()
        poisoned.view(-1).view(torch().uint8).fill_(POISON)
        return poisoned

    def _defined(self, op: Op, content: Any, along: int) -> Any:
        """What a reduction reads: along its axis the valid elements only, and its identity where there are none."""
        kind = op.operands["x"].type
        if not isinstance(kind, TileType) or kind.valid is None:
            return content
        extent = min(max(self._number(kind.valid[along]), 0), content.shape[along])
        if extent:
            return content.narrow(along, 0, extent)
        return torch().full_like(content.narrow(along, 0, 1), pad_value(identity(op.name), kind.dtype))

    # -- values ---------------------------------------------------------------------------------------------------

    def _read(self, value: Value) -> Any:
        if isinstance(value.type, TensorType):
            return self.tensors[value]
        if isinstance(value.type, ScalarType):
            return self.scalars[value]
        if value.buffer is None or not isinstance(value.type, TileType) or self._sizeless(value.buffer):
            return self.values[value.name]
        return self._view(value, value.buffer).clone().reshape(value.type.shape)

    def _write(self, value: Value, content: Any) -> None:
        kind = value.type
        if value.buffer is None or not isinstance(kind, TileType) or self._sizeless(value.buffer):
            self.values[value.name] = content
            return
        self._view(value, value.buffer).copy_(content.reshape(kind.rows, kind.cols))

    def _view(self, value: Value, ref: BufferRef) -> Any:
        """The bytes of a tile as a two-dimensional tensor of its dtype."""
        kind = value.type
        assert isinstance(kind, TileType)
        memory, start = self._place(ref)
        dtype = torch_dtype(torch(), kind.dtype)
        elements = memory.view(dtype)
        strides = (1, 1) if kind.order is Layout.DN else (kind.row_pitch, 1)
        if kind.memory is Memory.MAT and kind.order is Layout.ZN:  # rows and columns of what it looks at, exchanged
            strides = (1, round_up(kind.rows, kind.dtype.block))
        return torch().as_strided(elements, (kind.rows, kind.cols), strides, start // kind.dtype.bytes)

    def _sizeless(self, ref: BufferRef) -> bool:
        """Whether a buffer is the author's and InitMemRef has not given it its size yet: then it holds no bytes."""
        return next(b for b in self.program.buffers if b.name == ref.buffer).bytes is None

    def _place(self, ref: BufferRef) -> tuple[Any, int]:
        """The memory a buffer reference stands in, and its byte offset there."""
        buffer = next(b for b in self.program.buffers if b.name == ref.buffer)
        start = self._number(ref.offset) + (self._number(ref.slot) * (buffer.bytes or 0) if ref.slot is not None else 0)
        key = buffer.memory.value if buffer.address is not None else f"{buffer.memory.value}:{buffer.name}"
        if key not in self.memories:
            peers = self.program.buffers if buffer.address is not None else (buffer,)
            size = max((b.address or 0) + (b.bytes or 0) * b.slots for b in peers if b.memory is buffer.memory)
            self.memories[key] = torch().full((-(-size // 64) * 64,), POISON, dtype=torch().uint8)
        return self.memories[key], start + (buffer.address or 0)

    def _spoil(self, ref: BufferRef) -> None:
        """What scratch leaves behind is nobody's business."""
        memory, start = self._place(ref)
        buffer = next(b for b in self.program.buffers if b.name == ref.buffer)
        memory[start : start + (buffer.bytes or 0)] = POISON

    # -- numbers --------------------------------------------------------------------------------------------------

    def _number(self, index: Index) -> int:
        return index if isinstance(index, int) else evaluate(index, self.indices)

    def _attr(self, attr: Any) -> Any:
        if isinstance(attr, Expr):
            return self._number(attr)
        if isinstance(attr, Condition):
            return self._holds(attr)
        if isinstance(attr, tuple):
            return tuple(self._number(i) for i in attr)
        return attr

    def _holds(self, condition: Condition) -> bool:
        return holds(condition, self.indices)


def _scalar_symbols(body: Iterable[Control]) -> set[Sym]:
    """The integer scalars that indices and conditions of a program hold."""
    found: set[Sym] = set()
    for node in body:
        indices: list[Index] = []
        if isinstance(node, Region):
            indices = [i for stmt in statements(node.body) for i in indices_of(stmt)]
        elif isinstance(node, Branch):
            indices = list(compared(node.condition))
            found |= _scalar_symbols((*node.then, *node.other))
        else:
            indices = [node.start, node.step]
            last = node.stop if isinstance(node, Loop) else node.count
            indices += [] if isinstance(last, str) else [last]
            found |= _scalar_symbols(node.body)
        for index in indices:
            found |= symbols(index)
    return {s for s in found if s.kind == "scalar"}


def _overlap(one: tuple[int, int, int] | None, other: tuple[int, int, int] | None) -> bool:
    """Whether two stretches of bytes have some in common."""
    return one is not None and other is not None and one[0] == other[0] and one[1] < other[2] and other[1] < one[2]

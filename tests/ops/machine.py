"""A tiny simulator of recipes: every address one by one, written without the table of instructions.

Operands are lists of numbers, None where undefined. `touched` holds the bytes read and written, per operand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Expr, Sym, evaluate
from pypto_spec.ir.instr import InnerBarrier, Instr, Number, Ref, ScalarRef, Step, Struct, Word

Lane = Callable[..., Any]

UNARY: dict[str, Lane] = {"Abs": abs, "Exp": math.exp, "Relu": lambda x: max(x, 0), "Sqrt": math.sqrt}
BINARY: dict[str, Lane] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Max": max,
    "Min": min,
}
SCALAR: dict[str, Lane] = {
    "Adds": lambda a, s: a + s,
    "Muls": lambda a, s: a * s,
    "Maxs": max,
    "Mins": min,
}
NOTHING: dict[str, Lane] = {"Cast": lambda x: x, "Copy": lambda x: x}


@dataclass
class Machine:
    """Memory of one op, and what its instructions do to it."""

    memory: dict[str, list[Any]]
    dtypes: Mapping[str, DType]
    values: Mapping[Sym, int] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)
    touched: list[tuple[str, set[tuple[str, int]], set[tuple[str, int]]]] = field(default_factory=list)
    atomic: bool = False

    def run(self, steps: Sequence[Step]) -> None:
        """Carry out the steps in order."""
        for step in steps:
            if not isinstance(step, InnerBarrier):
                self.reads: set[tuple[str, int]] = set()
                self.writes: set[tuple[str, int]] = set()
                self._step(step)
                self.touched.append((step.call, self.reads, self.writes))

    def _dtype(self, ref: Ref) -> DType:
        return ref.dtype or self.dtypes[ref.name]

    def _int(self, arg: Any) -> int:
        return evaluate(arg, self.values) if isinstance(arg, Expr) else int(arg)

    def _get(self, ref: Ref, byte: int) -> Any:
        size = self._dtype(ref).bytes
        byte += self._int(ref.offset) * size
        self.reads |= {(ref.name, b) for b in range(byte, byte + size)}
        assert byte % size == 0
        return self.memory[ref.name][byte // size]

    def _put(self, ref: Ref, byte: int, value: Any) -> None:
        size = self._dtype(ref).bytes
        byte += self._int(ref.offset) * size
        assert byte % size == 0
        assert byte >= 0
        self.writes |= {(ref.name, b) for b in range(byte, byte + size)}
        self.memory[ref.name][byte // size] = value

    def _step(self, step: Instr) -> None:
        if step.call == "SetAtomicAdd":
            self.atomic = True
        elif step.call == "SetAtomicNone":
            self.atomic = False
        elif step.call == "DataCopy":
            self._data_copy(step)
        elif step.call == "DataCopyPad":
            self._data_copy_pad(step)
        elif step.call.startswith("WholeReduce"):
            self._whole_reduce(step)
        elif step.call == "Brcb":
            self._brcb(step)
        elif step.call == "Gather":
            self._gather(step)
        elif step.call == "Transpose":
            dst, src = step.args
            assert isinstance(dst, Ref)
            assert isinstance(src, Ref)
            for lane in range(256):
                self._put(dst, 2 * (lane % 16 * 16 + lane // 16), self._get(src, 2 * lane))
        else:
            self._vector(step)

    def _vector(self, step: Instr) -> None:
        refs = [a for a in step.args if isinstance(a, Ref)]
        rest: list[Any] = [a for a in step.args[len(refs) :] if not isinstance(a, Word)]
        fixed: list[Any] = []
        if rest and isinstance(rest[0], Number | ScalarRef):
            given = rest.pop(0)
            fixed = [given.value if isinstance(given, Number) else self.scalars[given.value.name]]
        table: dict[str, Lane] = {**UNARY, **BINARY, **SCALAR, **NOTHING, "Duplicate": lambda s: s}
        widest = max(self._dtype(r).bytes for r in refs)
        if len(rest) == 1:
            for lane in range(self._int(rest[0])):
                self._lane(table[step.call], refs, [lane * self._dtype(r).bytes for r in refs], fixed)
            return
        mask, repeat, *strides = rest
        if isinstance(strides[0], Struct):
            strides = list(strides[0].args)
        half = len(refs)
        for r in range(repeat):
            for lane in range(mask):
                assert mask <= 256 // widest
                where = []
                for k, ref in enumerate(refs):
                    size = self._dtype(ref).bytes
                    block, inside = divmod(lane, 32 // size)
                    where.append(32 * (r * strides[half + k] + block * strides[k]) + inside * size)
                self._lane(table[step.call], refs, where, fixed)

    def _lane(self, compute: Lane, refs: list[Ref], where: list[int], fixed: list[Any]) -> None:
        inputs = [self._get(ref, byte) for ref, byte in zip(refs[1:], where[1:], strict=True)]
        self._put(refs[0], where[0], None if None in inputs else compute(*inputs, *fixed))

    def _whole_reduce(self, step: Instr) -> None:
        dst, src, mask, repeat, distance, block, pitch = step.args[:7]
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        combine: Any = {"Sum": sum, "Max": max, "Min": min}[step.call.removeprefix("WholeReduce")]
        pair = step.call != "WholeReduceSum" and len(step.args) == 7
        size = self._dtype(src).bytes
        for r in range(self._int(repeat)):
            lanes = []
            for lane in range(self._int(mask)):
                number, inside = divmod(lane, 32 // size)
                lanes.append(self._get(src, 32 * (r * self._int(pitch) + number * self._int(block)) + inside * size))
            place = r * self._int(distance) * size * (2 if pair else 1)
            self._put(dst, place, combine(lanes))
            if pair:
                self._put(dst, place + size, lanes.index(combine(lanes)))

    def _brcb(self, step: Instr) -> None:
        dst, src, repeat, params = step.args
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        assert isinstance(params, Struct)
        size = self._dtype(src).bytes
        block, pitch = map(self._int, params.args)
        for r in range(self._int(repeat)):
            for k in range(8):
                value = self._get(src, (8 * r + k) * size)
                for lane in range(32 // size):
                    self._put(dst, 32 * (r * pitch + k * block) + lane * size, value)

    def _gather(self, step: Instr) -> None:
        dst, src, offsets, base, count = step.args
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        assert isinstance(offsets, Ref)
        size = self._dtype(src).bytes
        assert step.reach is not None
        for lane in range(self._int(count)):
            byte = self._int(base) + int(self._get(offsets, lane * 4))
            assert 0 <= byte < step.reach * size
            self._put(dst, lane * size, self._get(src, byte))

    def _data_copy(self, step: Instr) -> None:
        dst, src, how = step.args
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        size = self._dtype(src).bytes
        if isinstance(how, Struct):
            count, length, src_gap, dst_gap = map(self._int, how.args)
            self._rows(dst, src, count, 32 * length, 32 * (length + src_gap), 32 * (length + dst_gap))
        else:
            assert self._int(how) * size % 32 == 0
            self._rows(dst, src, 1, self._int(how) * size, 0, 0)

    def _data_copy_pad(self, step: Instr) -> None:
        dst, src, params = step.args[:3]
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        assert isinstance(params, Struct)
        count, length, src_gap, dst_gap, _ = map(self._int, params.args)
        padded = -(-length // 32) * 32
        if len(step.args) == 3:
            self._rows(dst, src, count, length, padded + 32 * src_gap, length + dst_gap)
            return
        self._rows(dst, src, count, length, length + src_gap, padded + 32 * dst_gap)
        size = self._dtype(src).bytes
        for row in range(count):
            for byte in range(length, padded, size):
                self._put(dst, row * (padded + 32 * dst_gap) + byte, "padding")

    def _rows(self, dst: Ref, src: Ref, count: int, length: int, src_step: int, dst_step: int) -> None:
        size = self._dtype(src).bytes
        for row in range(count):
            for byte in range(0, length, size):
                value = self._get(src, row * src_step + byte)
                if self.atomic:
                    offset = (row * dst_step + byte) // size + self._int(dst.offset)
                    value += self.memory[dst.name][offset]
                self._put(dst, row * dst_step + byte, value)

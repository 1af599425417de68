"""A small machine for the calls of reductions and expands, written apart from the table of calls.

It executes a recipe on operands that are byte arrays of exactly the size the tile or scratch area has, and checks what
the hardware asks for: bounds, alignment, ranges of masks, repeats and strides, no partial overlap of source and
destination, no undefined lane in a reduction (undefined lanes may flow lane by lane). Undefined bytes start as NaN.
Each step's bytes are compared with what the table of calls says about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Arg, Instr, Number, Ref, Step, Struct, Word
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ir.types import TileType
from pypto_spec.ops.instructions import effect, validate
from tests.ops.making import in_vec

TORCH: dict[str, torch.dtype] = {
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "int32": torch.int32,
    "int16": torch.int16,
    "uint16": torch.int16,
    "uint32": torch.int32,
}
BITS = {2: torch.int16, 4: torch.int32}


class OneOp:
    """A recipe's view of one op, from types and attributes alone."""

    precision = "exact"

    def __init__(self, tiles: Mapping[str, TileType], attrs: Mapping[str, Any]) -> None:
        self.tiles, self.attrs = tiles, attrs

    def tile(self, name: str) -> TileType:
        return self.tiles[name]

    def value(self, name: str) -> Value:
        return Value(name, self.tiles[name])

    def attr(self, name: str) -> Any:
        return self.attrs[name]


@dataclass
class Memory:
    """One operand: its bytes, and which of them are defined."""

    size: int
    dtype: DType
    data: torch.Tensor = field(init=False)
    known: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        # A NaN in every float type, and -1 in integers.
        self.data = torch.full((self.size,), 0xFF, dtype=torch.uint8)
        self.known = torch.zeros(self.size, dtype=torch.bool)

    def lanes(self, index: torch.Tensor, dtype: DType) -> torch.Tensor:
        return self.data.view(TORCH[dtype.name])[index]

    def defined(self, index: torch.Tensor, size: int) -> torch.Tensor:
        found: torch.Tensor = self.known.view(-1, size)[:, 0][index]
        return found

    def put(self, index: torch.Tensor, dtype: DType, values: torch.Tensor, known: torch.Tensor) -> None:
        self.data.view(TORCH[dtype.name])[index] = values.to(TORCH[dtype.name])
        self.known.view(-1, dtype.bytes)[index] = known.unsqueeze(-1)


def elements(tile: TileType) -> torch.Tensor:
    """Element numbers of a tile's logical elements, [rows, cols]."""
    pitch = tile.row_pitch
    return torch.arange(tile.rows).unsqueeze(1) * pitch + torch.arange(tile.cols)


def store(tile: TileType, values: torch.Tensor) -> Memory:
    """A tile's memory with its values; padding undefined."""
    made = Memory(tile.bytes, tile.dtype)
    index = elements(tile).reshape(-1)
    made.put(index, tile.dtype, values.reshape(-1), torch.ones_like(index, dtype=torch.bool))
    return made


def fetch(tile: TileType, memory: Memory) -> torch.Tensor:
    """A tile's values; all must be defined."""
    rows, cols = (tile.rows, tile.cols) if tile.valid is None else tile.valid
    index = elements(tile)[:rows, :cols]
    assert memory.defined(index, tile.dtype.bytes).all(), "undefined elements in the result"
    return memory.lanes(index, tile.dtype)


Touched = dict[str, torch.Tensor]
"""By operand, one flag per byte."""


def meet(a: Touched, b: Touched) -> bool:
    """Whether two sets of bytes have one in common."""
    return any(name in b and bool((a[name] & b[name]).any()) for name in a)


class Machine:
    """Executes steps on named operands, and counts the barriers they need.

    One stands before each step that depends on another since the last barrier.
    """

    def __init__(self, operands: Mapping[str, Memory]) -> None:
        self.operands = dict(operands)
        self.reads: Touched = {}
        self.writes: Touched = {}
        self.barriers = 0

    def run(self, steps: Sequence[Step]) -> None:
        reads: Touched = {}
        writes: Touched = {}
        for step in steps:
            assert isinstance(step, Instr)
            self.reads, self.writes = {}, {}
            getattr(self, f"do_{_FORMS[step.call]}")(step.call, step.args)
            self.compare(step)
            if meet(writes, self.reads) or meet(writes, self.writes) or meet(reads, self.writes):
                self.barriers += 1
                reads, writes = {}, {}
            for past, now in ((reads, self.reads), (writes, self.writes)):
                for name, flags in now.items():
                    past[name] = past[name] | flags if name in past else flags

    def compare(self, step: Instr) -> None:
        """The table of calls knows the same bytes."""
        validate(step, self.dtype, in_vec)
        told: tuple[Touched, Touched] = ({}, {})
        for region in effect(step, self.dtype, in_vec).regions:
            assert isinstance(region.base, int)
            at = torch.tensor([region.base])
            for count, stride in region.steps:
                at = (at.unsqueeze(1) + torch.arange(count) * stride).reshape(-1)
            at = (at.unsqueeze(1) + torch.arange(region.width)).reshape(-1)
            side = told[region.write]
            flags = side.setdefault(region.operand, torch.zeros(self.operands[region.operand].size, dtype=torch.bool))
            flags[at] = True
        for mine, theirs in ((self.reads, told[0]), (self.writes, told[1])):
            assert mine.keys() == theirs.keys(), step
            assert all(torch.equal(mine[name], theirs[name]) for name in mine), step

    # --- addresses

    def dtype(self, ref: Ref) -> DType:
        return ref.dtype or self.operands[ref.name].dtype

    def touch(self, ref: Ref, index: torch.Tensor, write: bool, align: int = 32) -> None:
        size = self.dtype(ref).bytes
        assert isinstance(ref.offset, int)
        assert ref.offset * size % align == 0, f"{ref} is not aligned to {align} B"
        limit = self.operands[ref.name].size // size
        assert 0 <= int(index.min()), ref
        assert int(index.max()) < limit, f"{ref}: element {int(index.max())} of {limit}"
        places = self.writes if write else self.reads
        flags = places.setdefault(ref.name, torch.zeros(self.operands[ref.name].size, dtype=torch.bool))
        flags.view(-1, size)[index.reshape(-1)] = True

    def grid(self, ref: Ref, mask: int, repeat: int, block: int, step: int) -> torch.Tensor:
        size = self.dtype(ref).bytes
        per = 32 // size
        assert 0 <= block <= 255, block
        assert 0 <= step <= 255, step
        assert isinstance(ref.offset, int)
        return self.lattice(ref, mask, repeat, block, step, per)

    def lattice(self, ref: Ref, mask: int, repeat: int, block: int, step: int, per: int) -> torch.Tensor:
        assert isinstance(ref.offset, int)
        lane = torch.arange(mask)
        return ref.offset + torch.arange(repeat).unsqueeze(1) * step * per + lane // per * block * per + lane % per

    def read(self, ref: Ref, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.touch(ref, index, False)
        found, dtype = self.operands[ref.name], self.dtype(ref)
        return found.lanes(index, dtype), found.defined(index, dtype.bytes)

    def apart(self, dst: Ref, to: torch.Tensor, src: Ref, of: torch.Tensor) -> None:
        """Source and destination are the same elements in the same order, or have no element in common."""
        if dst.name == src.name and not (to.shape == of.shape and torch.equal(to, of)):
            assert not torch.isin(to, of).any(), f"{dst} partly overlaps {src}"

    # --- calls

    def do_lanes(self, call: str, args: tuple[Arg, ...]) -> None:
        refs = [a for a in args if isinstance(a, Ref)]
        rest = [a for a in args if not isinstance(a, Ref | Word | Number)]
        dst, *sources = refs
        wide = max(self.dtype(r).bytes for r in refs)
        if len(rest) == 1:
            (count,) = rest
            assert isinstance(count, int)
            assert count > 0
            index = []
            for r in refs:
                assert isinstance(r.offset, int)
                index.append(r.offset + torch.arange(count))
        else:
            mask, repeat, params = rest
            assert isinstance(mask, int)
            assert isinstance(repeat, int)
            assert isinstance(params, Struct)
            assert 1 <= mask <= 256 // wide, f"{call}: mask {mask}"
            assert 1 <= repeat <= 255, f"{call}: repeat {repeat}"
            n = len(refs)
            assert len(params.args) == 2 * n
            numbers = [a for a in params.args if isinstance(a, int)]
            assert numbers[0] > 0, "block stride 0 of a destination"
            index = [self.grid(r, mask, repeat, numbers[i], numbers[n + i]) for i, r in enumerate(refs)]
        found = [self.read(r, i) for r, i in zip(sources, index[1:], strict=True)]
        for r, i in zip(sources, index[1:], strict=True):
            self.apart(dst, index[0], r, i)
        self.touch(dst, index[0], True)
        assert index[0].unique().numel() == index[0].numel(), f"{call} writes an element twice"
        known = found[0][1]
        for _, k in found[1:]:
            known = known & k
        values = _OPS[call](*(v for v, _ in found)) if call in _OPS else found[0][0]
        if call == "Copy":
            bits = BITS[self.dtype(dst).bytes]
            self.operands[dst.name].data.view(bits)[index[0]] = found[0][0].view(bits)
            self.operands[dst.name].known.view(-1, self.dtype(dst).bytes)[index[0]] = known.unsqueeze(-1)
            return
        self.operands[dst.name].put(index[0], self.dtype(dst), values, known)

    def do_whole(self, call: str, args: tuple[Arg, ...]) -> None:
        dst, src, mask, repeat, dst_step, block, step, *order = args
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        assert isinstance(mask, int)
        assert isinstance(repeat, int)
        assert isinstance(dst_step, int)
        assert isinstance(block, int)
        assert isinstance(step, int)
        dtype = self.dtype(src)
        assert dtype.name in ("fp32", "fp16")
        assert self.dtype(dst) == dtype
        assert 1 <= mask <= dtype.lanes
        assert 1 <= repeat <= 255
        assert 0 <= step <= 65_535
        index = self.lattice(src, mask, repeat, block, step, dtype.block)
        values, known = self.read(src, index)
        assert known.all(), f"{call} reads undefined lanes"
        assert isinstance(dst.offset, int)
        to = dst.offset + torch.arange(repeat) * dst_step
        assert not (dst.name == src.name and set(to.tolist()) & set(index.reshape(-1).tolist())), "overlap"
        # Max and Min: the debug check of the headers asks for an even element whatever the order.
        self.touch(dst, to, True, align=dtype.bytes * (1 if call == "WholeReduceSum" else 2))
        if call == "WholeReduceSum":
            assert order == []
            result = values.to(torch.float32).sum(dim=1)
        else:
            assert order == [Word("ReduceOrder::ORDER_ONLY_VALUE")]
            result = values.amax(dim=1) if call == "WholeReduceMax" else values.amin(dim=1)
        self.operands[dst.name].put(to, dtype, result, torch.ones(repeat, dtype=torch.bool))

    def do_brcb(self, call: str, args: tuple[Arg, ...]) -> None:
        dst, src, repeat, params = args
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        assert isinstance(repeat, int)
        assert isinstance(params, Struct)
        assert 1 <= repeat <= 255
        block, step = params.args
        assert isinstance(block, int)
        assert isinstance(step, int)
        assert block > 0
        assert dst.name != src.name
        dtype = self.dtype(src)
        assert isinstance(src.offset, int)
        values, known = self.read(src, src.offset + torch.arange(8 * repeat).reshape(repeat, 8))
        assert isinstance(dst.offset, int)
        spread = torch.arange(repeat).reshape(-1, 1, 1) * step + torch.arange(8).reshape(-1, 1) * block
        to = dst.offset + spread * dtype.block + torch.arange(dtype.block)
        self.touch(dst, to, True)
        self.operands[dst.name].put(to, dtype, values.unsqueeze(-1).expand_as(to), known.unsqueeze(-1).expand_as(to))

    def do_blocks(self, call: str, args: tuple[Arg, ...]) -> None:
        dst, src, params = args
        assert isinstance(dst, Ref)
        assert isinstance(src, Ref)
        assert isinstance(params, Struct)
        count, length, _, _ = params.args
        assert count == 1
        assert isinstance(length, int)
        assert dst.name != src.name
        per = self.dtype(src).block
        assert isinstance(src.offset, int)
        assert isinstance(dst.offset, int)
        values, known = self.read(src, src.offset + torch.arange(length * per))
        to = dst.offset + torch.arange(length * per)
        self.touch(dst, to, True)
        self.operands[dst.name].put(to, self.dtype(dst), values, known)


_OPS: dict[str, Any] = {
    "Add": torch.add,
    "Sub": torch.sub,
    "Mul": torch.mul,
    "Div": torch.div,
    "Max": torch.maximum,
    "Min": torch.minimum,
    "Exp": torch.exp,
}
_FORMS = {
    **dict.fromkeys((*_OPS, "Cast", "Copy"), "lanes"),
    **{f"WholeReduce{kind}": "whole" for kind in ("Sum", "Max", "Min")},
    "Brcb": "brcb",
    "DataCopy": "blocks",
}


@dataclass
class Outcome:
    """What running one op gave."""

    result: torch.Tensor
    steps: tuple[Step, ...]
    scratch: tuple[int, ...]
    barriers: int


def run(
    defn: OpDef,
    into: TileType,
    tiles: Mapping[str, TileType],
    values: Mapping[str, torch.Tensor],
    attrs: Mapping[str, Any] | None = None,
    *,
    in_place: bool = False,
) -> Outcome:
    """Run an op's recipe; `in_place` puts the result over `x`. The other operands must come out unchanged."""
    recipe = OneOp({"into": into, **tiles}, attrs or {})
    steps = defn.recipe(recipe)  # type: ignore[arg-type]
    scratch = defn.scratch(recipe)  # type: ignore[arg-type]
    memories = {name: store(tile, values[name]) for name, tile in tiles.items()}
    before = {name: m.data.clone() for name, m in memories.items()}
    memories["into"] = memories["x"] if in_place else Memory(into.bytes, into.dtype)
    for number, size in enumerate(scratch):
        assert size % 32 == 0
        memories[f"scratch.{number}" if number else "scratch"] = Memory(size, into.dtype)
    machine = Machine(memories)
    machine.run(steps)
    for name, data in before.items():
        if not (in_place and name == "x"):
            assert torch.equal(memories[name].data, data), f"`{name}` was changed"
    return Outcome(fetch(into, memories["into"]), steps, scratch, machine.barriers)

"""How Compare and Select are spread over tiles.

Compare reads multiples of 256 B and writes one bit an element, at an address of 32 B, which is 256 elements. A stretch
of elements is therefore cut at the last multiple of 256: what is left is copied to scratch, where the lanes behind it
may hold anything, unless the operands' own buffers reach far enough. Select takes any number of elements.

int32 has equality alone. The order comes from it: a <= b where max(a, b) equals b, exact over the full range; what is
left are the opposites of eq, le and ge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pypto_spec.ir.dtype import FP16, FP32, INT32, UINT8, DType
from pypto_spec.ir.instr import Arg, Instr, Number, Ref, ScalarRef, Struct, Word
from pypto_spec.ir.types import TileType, round_up
from pypto_spec.ops.build import geometry
from pypto_spec.ops.reduce_steps import Draft
from pypto_spec.ops.steps import Part, calls, flat_count

GROUP = 256
"""Elements whose bits fill one 32 B block."""

OPPOSITE = {"ne": "eq", "gt": "le", "lt": "ge"}
TENSORS = Word("SELMODE::VSEL_TENSOR_TENSOR_MODE")
SCALAR = Word("SELMODE::VSEL_TENSOR_SCALAR_MODE")

Second = Part | Number | ScalarRef


class Stretch(NamedTuple):
    """`length` elements that follow each other in every tile, from these offsets on."""

    offsets: tuple[int, ...]
    length: int


def stretches(tiles: Sequence[TileType]) -> Iterator[Stretch]:
    """The whole of the tiles at once where their rows line up, else row by row."""
    count = flat_count(tiles)
    if count is not None:
        yield Stretch((0,) * len(tiles), count)
        return
    rows, cols, _ = geometry(tiles[0])
    pitches = [geometry(t)[2] for t in tiles]
    for row in range(rows):
        yield Stretch(tuple(row * p for p in pitches), cols)


def at(ref: Ref, elements: int) -> Ref:
    """The operand so many elements further on."""
    assert isinstance(ref.offset, int)
    return Ref(ref.name, ref.offset + elements, ref.dtype) if elements else ref


def moved(of: Part) -> Part:
    """The operand as a dtype that Select moves: it copies bits, whatever they mean."""
    dtype = FP32 if of.tile.dtype.bytes == 4 else FP16
    if of.tile.dtype == dtype:
        return of
    tile = of.tile
    return Part(Ref(of.ref.name, of.ref.offset, dtype), TileType(dtype, tile.shape, tile.memory, tile.layout))


class Comparison:
    """lhs MODE rhs, ready to be written stretch by stretch. `negated`: the bits come out the other way round."""

    def __init__(self, draft: Draft, mode: str, lhs: Part, rhs: Second) -> None:
        self.draft = draft
        self.lhs = lhs
        self.rhs = rhs
        self.dtype = lhs.tile.dtype
        self.negated = False
        self.mode = mode
        self.pads: list[Ref] = []
        if self.dtype == INT32:
            self.mode = "eq"
            self.negated = mode in OPPOSITE
            mode = OPPOSITE.get(mode, mode)
            if mode != "eq":
                self._ordered(mode)

    def _ordered(self, mode: str) -> None:
        """a <= b is max(a, b) == b, a >= b is max(a, b) == a."""
        lhs, rhs = self.lhs, self.rhs
        tile = TileType(INT32, lhs.tile.shape, lhs.tile.memory, lhs.tile.layout)
        larger = Part(self.draft.area(tile.span_elements, INT32), tile)
        if isinstance(rhs, Part):
            self.draft.add(*calls("Max", larger, lhs, rhs))
        else:
            self.draft.add(*calls("Maxs", larger, lhs, extra=(rhs,)))
        self.lhs = larger
        self.rhs = rhs if mode == "le" else lhs

    @property
    def operands(self) -> tuple[Part, ...]:
        """The tiles that are read."""
        return (self.lhs, self.rhs) if isinstance(self.rhs, Part) else (self.lhs,)

    def write(self, mask: Ref, offsets: Sequence[int], count: int) -> None:
        """Append the calls that leave the bits of one stretch at `mask`."""
        lanes = self.dtype.lanes
        reach = round_up(count, lanes)
        if all(o + reach <= p.tile.bytes // self.dtype.bytes for o, p in zip(offsets, self.operands, strict=True)):
            self._call(mask, [at(p.ref, o) for o, p in zip(offsets, self.operands, strict=True)], reach)
            return
        main = count // GROUP * GROUP
        if main:
            self._call(mask, [at(p.ref, o) for o, p in zip(offsets, self.operands, strict=True)], main)
        rest = count - main
        if not self.pads:
            self.pads = [self.draft.area(GROUP, self.dtype) for _ in self.operands]
        blocks = round_up(rest, self.dtype.block) // self.dtype.block
        for pad, offset, operand in zip(self.pads, offsets, self.operands, strict=True):
            self.draft.add(
                Instr("DataCopy", (pad, at(operand.ref, offset + main), Struct("DataCopyParams", (1, blocks, 0, 0))))
            )
        self._call(at(mask, main // 8), self.pads, round_up(rest, lanes))

    def _call(self, mask: Ref, refs: Sequence[Ref], count: int) -> None:
        word = Word(f"CMPMODE::{self.mode.upper()}")
        if isinstance(self.rhs, Part):
            self.draft.add(Instr("Compare", (mask, *refs, word, count)))
        else:
            self.draft.add(Instr("CompareScalar", (mask, *refs, self.rhs, word, count)))


def mask_area(draft: Draft, count: int) -> Ref:
    """Scratch for the bits of so many elements."""
    return draft.area(round_up(count, GROUP) // 8, UINT8)


def select(draft: Draft, into: Ref, mask: Ref, a: Ref, b: Ref | Number | ScalarRef, count: int) -> None:
    """Append the call that takes `a` where the bit is set and `b` where it is not."""
    word: Arg = TENSORS if isinstance(b, Ref) else SCALAR
    draft.add(Instr("Select", (into, mask, a, b, word, count)))


def packed_cols(cols: int) -> int:
    """Bytes of a row of a packed predicate of so many columns."""
    return round_up(-(-cols // 8), 32)


COMPARED: tuple[DType, ...] = (FP32, FP16, INT32)
"""Dtypes that can be compared."""

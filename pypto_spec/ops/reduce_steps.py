"""Writing recipes of reductions and expands: scratch areas, single calls, and how rows are shared out over calls.

Everything here speaks elements and rows; strides are turned into 32 B blocks at the last moment. Sources of the forms:
Ascend C guide, "high-dimensional splitting" (masks, repeats, strides), ReduceRepeat, Brcb and Copy pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Literal

from pypto_spec.ir.dtype import BLOCK_BYTES, DType
from pypto_spec.ir.expr import Index, maximum, minimum, mul, sub
from pypto_spec.ir.instr import Arg, Instr, Ref, Step, Struct, Word
from pypto_spec.ir.opdef import Recipe
from pypto_spec.ir.types import round_up
from pypto_spec.ops.decoding import MAX_REPEAT
from pypto_spec.ops.instructions import MAX_STRIDE
from pypto_spec.records import dataclass

Kind = Literal["sum", "max", "min", "prod"]

COMBINE: dict[Kind, str] = {"sum": "Add", "max": "Max", "min": "Min", "prod": "Mul"}
"""The lane-wise call behind each reduction; there is no WholeReduce for products."""
WHOLE: dict[Kind, str] = {"sum": "WholeReduceSum", "max": "WholeReduceMax", "min": "WholeReduceMin"}
ONLY_VALUE = Word("ReduceOrder::ORDER_ONLY_VALUE")


@dataclass(frozen=True, slots=True)
class Grid:
    """`rows` rows of `cols` defined elements, `pitch` elements from row to row, the first at `ref`."""

    ref: Ref
    dtype: DType
    rows: int
    cols: int
    pitch: int

    @property
    def step(self) -> int:
        """Blocks from row to row; without meaning for a single row, then the usual 8."""
        return self.pitch // self.dtype.block if self.rows > 1 else 8

    @property
    def strided(self) -> bool:
        """Whether one call can step from row to row (vector calls other than WholeReduce: 8 bit)."""
        return self.step <= MAX_STRIDE

    @property
    def chunks(self) -> int:
        """256 B column chunks of a row, the last one maybe partial."""
        return -(-self.cols // self.dtype.lanes)

    def at(self, row: int, col: int = 0) -> Ref:
        """The element at a row and a column."""
        return shift(self.ref, row * self.pitch + col)

    def rows_from(self, first: int, count: int) -> Grid:
        """A batch of rows."""
        return replace(self, ref=self.at(first), rows=count)


def shift(ref: Ref, elements: int) -> Ref:
    """The operand so many elements further on."""
    assert isinstance(ref.offset, int)
    return replace(ref, offset=ref.offset + elements) if elements else ref


def shares(total: int, most: int = MAX_REPEAT, batch: int | None = None) -> Iterator[tuple[int, int]]:
    """(first, count) of each call of at most `most`; `batch` is their size where one call is not enough."""
    if total <= most:
        yield 0, total
        return
    size = batch or most
    for first in range(0, total, size):
        yield first, min(size, total - first)


def whole_batch(dtype: DType) -> int:
    """Rows of one WholeReduce where one call is not enough, so that each batch's results start on 32 B: 248 or 240.

    The call itself asks for less (one element, two for Max and Min in the headers of CANN 8.1).
    """
    return MAX_REPEAT // dtype.block * dtype.block


def whole_shares(total: int, dtype: DType) -> Iterator[tuple[int, int]]:
    """Rows of each WholeReduce."""
    return shares(total, MAX_REPEAT, whole_batch(dtype))


def calls(total: int, most: int = MAX_REPEAT, batch: int | None = None) -> int:
    """How many calls `shares` makes."""
    return 1 if total <= most else -(-total // (batch or most))


def combine(call: str, dst: Ref, a: Ref, b: Ref, mask: int, repeat: int, steps: tuple[int, int, int]) -> Instr:
    """A two-operand call in repeat form; `steps` are the repeat strides in blocks."""
    return Instr(call, (dst, a, b, mask, repeat, Struct("BinaryRepeatParams", (1, 1, 1, *steps))))


def combine_run(call: str, dst: Ref, a: Ref, b: Ref, count: int) -> Instr:
    """A two-operand call on `count` elements in a row."""
    return Instr(call, (dst, a, b, count))


def copy_lanes(dst: Ref, src: Ref, mask: int, repeat: int, steps: tuple[int, int], block: int = 1) -> Instr:
    """The first `mask` elements of each repeat moved bit by bit; `block` is the source's block stride."""
    return Instr("Copy", (dst, src, mask, repeat, Struct("CopyRepeatParams", (1, block, *steps))))


def copy_run(dst: Ref, src: Ref, count: int, dtype: DType) -> Instr:
    """Whole blocks moved inside UB: `count` elements rounded up to 32 B, which both buffers hold."""
    length = round_up(count * dtype.bytes, BLOCK_BYTES) // BLOCK_BYTES
    return Instr("DataCopy", (dst, src, Struct("DataCopyParams", (1, length, 0, 0))))


def cast_run(dst: Ref, src: Ref, mode: str, count: int) -> Instr:
    """A conversion of `count` elements in a row."""
    return Instr("Cast", (dst, src, Word(f"RoundMode::{mode}"), count))


def whole(kind: Kind, dst: Ref, src: Ref, mask: int, repeat: Index, dst_step: int, src_step: int) -> Instr:
    """One result per repeat; `dst_step` in results, `src_step` in blocks."""
    order: tuple[Arg, ...] = () if kind == "sum" else (ONLY_VALUE,)
    return Instr(WHOLE[kind], (dst, src, mask, repeat, dst_step, 1, src_step, *order))


@dataclass(slots=True)
class Draft:
    """A recipe in the making: its calls and its scratch areas.

    `live` is the run-time number of defined rows, where it is one: rows past it hold undefined lanes, which may flow
    lane by lane but must not enter a reduction (hardware rule 9), so WholeReduce calls stop before them.
    """

    steps: list[Step] = field(default_factory=list)
    areas: list[int] = field(default_factory=list)
    live: Index | None = None
    next: int = 0

    def area(self, elements: int, dtype: DType) -> Ref:
        """The next scratch area; it grows where an earlier round of a loop took it smaller (`next` set back)."""
        size = round_up(elements * dtype.bytes, BLOCK_BYTES)
        name = f"scratch.{self.next}" if self.next else "scratch"
        if self.next == len(self.areas):
            self.areas.append(size)
        else:
            self.areas[self.next] = max(self.areas[self.next], size)
        self.next += 1
        return Ref(name, 0, dtype)

    def add(self, *made: Step) -> None:
        """Append calls."""
        self.steps.extend(made)

    def defined(self, first: int, count: int, each: int = 1) -> Index:
        """Repeats over rows `first` .. `first + count`, `each` per row, that read defined rows."""
        if self.live is None:
            return count * each
        return mul(maximum(minimum(sub(self.live, first), count), 0), each)

    def defined_run(self, first: int, each: int, start: int, count: int) -> Index:
        """Of `count` repeats from number `start` on, `each` per row from row `first` on, those of defined rows."""
        if self.live is None:
            return count
        return maximum(minimum(sub(mul(sub(self.live, first), each), start), count), 0)


def steps_of(draft: Callable[[Recipe], Draft]) -> Callable[[Recipe], tuple[Step, ...]]:
    """The recipe of an op whose calls and scratch a draft tells."""
    return lambda of: tuple(draft(of).steps)


def areas_of(draft: Callable[[Recipe], Draft]) -> Callable[[Recipe], tuple[int, ...]]:
    """The scratch areas of such an op."""
    return lambda of: tuple(draft(of).areas)

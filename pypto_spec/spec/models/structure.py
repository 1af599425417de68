"""The statements of structure: loops, branches, regions, and the lowest level of synchronisation."""

# Without `from __future__ import annotations`: pydantic would compile each annotation from its text again.

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from pypto_spec.spec.models.base import Blocks, Counts, Formula, LetFormula, Model, Name, Names, Order, Pairs, ValueName
from pypto_spec.spec.models.fields import DType, OnChip
from pypto_spec.spec.models.marks import (
    BINDS_BUFFER,
    BINDS_INDEX,
    BINDS_LAUNCH,
    BINDS_TENSOR,
    BINDS_VALUE,
    INSIDE,
    READS_ARGUMENT,
    READS_CARRIED,
    READS_FUNCTION,
    READS_LAUNCH,
    WORD,
)
from pypto_spec.spec.models.words import Meanings

_PIPES = {
    "s": "the scalar unit",
    "v": "the vector unit",
    "m": "the cube",
    "mte1": "copies from L1 to L0 and the bias table",
    "mte2": "copies from global memory to the chip",
    "mte3": "copies from UB to global memory",
    "fix": "copies from L0C to global memory and L1",
}
PipeWord = Annotated[Literal["s", "v", "m", "mte1", "mte2", "mte3", "fix"], Meanings(**_PIPES)]
BarrierWord = Annotated[
    Literal["s", "v", "m", "mte1", "mte2", "mte3", "fix", "all"], Meanings(**_PIPES, all="every pipe of the core")
]
CoreWord = Annotated[Literal["aiv", "aic"], Meanings(aiv="the vector core", aic="the cube core")]
SplitWord = Annotated[
    Literal["none", "up_down", "left_right"],
    Meanings(
        none="both lanes see the whole tile", up_down="a half of the rows each", left_right="a half of the columns each"
    ),
]

Index = Annotated[Name, BINDS_INDEX, Field(description="name of the loop index", examples=["i"])]
Count = Annotated[Formula | None, Field(description="number of iterations", examples=["NT", 8])]
Range = Annotated[
    tuple[Formula, ...] | None,
    Field(description="`[start, stop]` or `[start, stop, step]`", min_length=2, max_length=3, examples=[[0, "N", 1]]),
]


While_ = Annotated[
    Formula | None,
    INSIDE,
    Field(
        alias="while", description="the loop ends before the first iteration where this is false", examples=["k < N"]
    ),
]


DoubleBuffer = Annotated[
    bool,
    Field(description="two accumulators take turns: one leaves L0C while the other is summed up", examples=[True]),
]


class For(Model):
    """A counted loop: `count` iterations from 0, or a `range`. On the control plane each iteration is a launch."""

    exactly_one: ClassVar[tuple[str, ...]] = ("count", "range")

    index: Index
    count: Count = None
    range: Range = None
    while_: While_ = None
    l0c_double_buffer: Annotated[bool, Field(description="dumps only: `pipeline` says it")] = False


class Unroll(Model):
    """A loop whose iterations are all written out; the index is a constant in each."""

    exactly_one: ClassVar[tuple[str, ...]] = ("count", "range")

    index: Index
    count: Count = None
    range: Range = None


class While(Model):
    """A loop that goes on as long as its condition holds, over numbers that its body changes."""

    condition: Annotated[Formula, INSIDE, Field(description="comparisons joined by and, or, not", examples=["k < N"])]


Handed = Annotated[
    dict[Annotated[ValueName, READS_CARRIED], Formula],
    Field(
        alias="yield", description="numbers it hands on, where the loop carries them by hand", examples=[{"k": "k + 1"}]
    ),
]


class Break(Model):
    """Leaves the innermost loop."""

    yields: Handed = Field(default_factory=dict)


class Continue(Model):
    """Goes on with the next iteration of the innermost loop."""

    yields: Handed = Field(default_factory=dict)


class Pipeline(Model):
    """A counted loop whose iterations overlap: the copies of one with the compute of another."""

    exactly_one: ClassVar[tuple[str, ...]] = ("count", "range")

    index: Index
    count: Count = None
    range: Range = None
    stages: Annotated[Formula | None, Field(description="iterations in flight, each with buffers of its own")] = None
    l0c_double_buffer: DoubleBuffer = False


class Parallel(Model):
    """Independent iterations shared out over the cores: blocks = min(count, cores), each walks its share."""

    exactly_one: ClassVar[tuple[str, ...]] = ("count", "range")

    index: Annotated[
        Names, BINDS_INDEX, Field(description="name of the index, or a list of names", examples=["i", ["m", "n"]])
    ]
    count: Annotated[
        Counts | None,
        Field(description="number of iterations; of several indices a list of numbers", examples=["NT", ["MT", "NT"]]),
    ] = None
    range: Range = None
    start: Annotated[Formula | None, Field(description="first index; dumps only")] = None
    step: Annotated[Formula | None, Field(description="distance of indices; dumps only")] = None
    blocks: Annotated[Blocks | None, Field(description="the most blocks it is shared out over, or `auto`")] = None
    order: Annotated[Order | None, Field(description="how a block walks its share")] = None


class Spmd(Model):
    """The body runs once per block index 0..blocks-1; `num_blocks()` is their number."""

    index: Annotated[Name, BINDS_INDEX, Field(description="name of the block index", examples=["blk"])]
    blocks: Annotated[Blocks, Field(description="number of blocks; `auto` asks the platform at run time")]


class Ring(Model):
    """The ring of slots between the cube and its vector cores."""

    slots: Annotated[Formula | None, Field(description="number of slots")] = None


class Region(Model):
    """A core group: what stands in its body runs on the cores as one kernel."""

    not_yet: ClassVar[tuple[str, ...]] = ("split", "ring")

    name: Annotated[Name, BINDS_LAUNCH, Field(description="name of the region, and of its kernel", examples=["exp"])]
    as_: Annotated[
        Name | None, BINDS_LAUNCH, Field(alias="as", description="name by which `after` refers to this launch")
    ] = None
    after: Annotated[Names, READS_LAUNCH, Field(description="launches that must be done before")] = ()
    core: Annotated[CoreWord | None, Field(description="vector or cube core (else inferred)")] = None
    blocks: Annotated[Blocks | None, Field(description="number of blocks of the launch, or `auto`")] = None
    order: Annotated[Order | None, Field(description="how a block walks its share of chunks")] = None
    split: Annotated[
        SplitWord | None,
        Field(description="how the two vector lanes share a tile (reserved: not there yet)"),
    ] = None
    ring: Annotated[Ring | None, Field(description="slots between cube and vector (reserved: not there yet)")] = None
    kernel: Annotated[Name | None, WORD, Field(description="C++ name of the kernel; dumps only")] = None


class CreateTensor(Model):
    """A tensor in global memory for what one region hands to a later one. It starts with undefined contents."""

    into: Annotated[Name, BINDS_TENSOR, Field(description="name of the tensor", examples=["tmp"])]
    dtype: Annotated[DType, Field(description="data type")]
    shape: Annotated[tuple[Formula, ...], Field(description="extents", examples=[["M", 128]], min_length=1)]


class If(Model):
    """A branch on a condition of indices, symbols and constants."""

    condition: Annotated[Formula, Field(description="comparisons joined by and, or, not", examples=["i == 0"])]


class Call(Model):
    """Calls a function of `functions`: its statements stand in the place of the call."""

    function: Annotated[Name, READS_FUNCTION, Field(description="name of the function", examples=["normalise"])]
    args: Annotated[
        dict[Annotated[Name, READS_ARGUMENT], Formula],
        Field(description="what its arguments are", examples=[{"x": "t"}]),
    ] = Field(default_factory=dict)
    into: Annotated[Names, BINDS_VALUE, Field(description="names of what it returns, in its order")] = ()


class LetStatement(Model):
    """Arithmetic: `name = expression`, a chain of one-op statements with broadcasting."""

    formula: Annotated[LetFormula, Field(description="`name = expression`", examples=["y = exp(t - m) * s"])]


class Yield(Model):
    """The values an arm or a loop body hands on, by the names they have outside; dumps only."""

    values: Annotated[
        dict[Annotated[ValueName, READS_CARRIED], Formula], Field(description="result or argument: value or number")
    ]


class Alloc(Model):
    """An on-chip allocation at this place."""

    buffer: Annotated[ValueName, BINDS_BUFFER, Field(description="name of the buffer")]
    memory: Annotated[OnChip, Field(description="memory it lives in")]
    bytes: Annotated[Formula | None, Field(description="bytes of one slot")] = None
    slots: Annotated[Formula | None, Field(description="number of slots")] = None
    address: Annotated[Formula | None, Field(description="bytes from the start of the memory")] = None


class _Flag(Model):
    from_: Annotated[PipeWord, Field(alias="from", description="pipe whose earlier work is waited for")]
    to: Annotated[PipeWord, Field(description="pipe that waits")]
    id: Annotated[Formula, Field(description="event id")]
    for_: Annotated[Pairs, Field(alias="for", description="the statements it orders, by line and column")] = ()


class SetFlag(_Flag):
    """Raise a flag once the earlier work of pipe `from` is done."""


class WaitFlag(_Flag):
    """Pipe `to` waits for the flag and lowers it."""


class Barrier(Model):
    """Later instructions of a pipe start after its earlier ones are done; `all` is every pipe."""

    pipe: Annotated[BarrierWord, Field(description="the pipe")]
    for_: Annotated[Pairs, Field(alias="for", description="the statements it orders, by line and column")] = ()

"""The facts of one compile: plain data, by the places of statements in the text that was compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.facts.unchanged import Unchanged
from pypto_spec.records import dataclass

At = tuple[int, int]
"""Where a statement begins, or the key of a section's entry: line and column, from 1, as in `Span.start`."""

Key = tuple[At, str]
"""A binding: the statement that makes it, and the name as it is written."""

Range = tuple[int, int]
"""Bytes of a memory, half open; or the first and last line, both inclusive."""


@dataclass(frozen=True, slots=True)
class Sharer:
    """Something else that stands in some of the same bytes at another time. `line` is where it is made."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Spot:
    """One place on chip that a tile was given. `ranges` has one entry for each slot; without addresses it is empty.

    `type` is that of the value that stands there: where the compiler cuts a tile or array, that of one piece.
    """

    type: str
    valid: str
    memory: str
    layout: str
    bytes: int
    ranges: tuple[Range, ...]
    lines: Range
    buffer: str
    slot: str
    values: tuple[str, ...]
    """The values of the final program that stand there: copies of one statement may share a place."""
    shares: tuple[Sharer, ...] = ()


@dataclass(frozen=True, slots=True)
class TileFacts:
    """A tile, or at tensor level an array, that a statement binds; `type` and `valid` are as the author wrote it.

    `pipe` is where the statement that makes it issues, empty where it has no instruction.
    """

    name: str
    at: At
    level: Literal["tile", "array"]
    type: str
    dtype: str
    valid: str
    op: str
    pipe: str
    spots: tuple[Spot, ...] = ()
    view: Key | None = None
    """The value that it is a view of, without bytes of its own."""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """An operator that a statement became, `count` times, with the type of what it gives (empty: nothing).

    `cycles` are modelled, None where they depend on the run.
    """

    op: str
    type: str
    elements: int
    pipe: str
    calls: tuple[str, ...]
    count: int
    cycles: int | None


@dataclass(frozen=True, slots=True)
class DepthFacts:
    """The buffers of a pipeline in one memory; `slot` are bytes of the largest."""

    memory: str
    asked: int
    got: int
    slot: int


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """A loop of a region, or a grid or loop of launches. `rounds` is empty where nothing is known of them."""

    kind: str
    index: str
    start: str
    stop: str
    step: str
    rounds: str
    stages: int = 1
    depths: tuple[DepthFacts, ...] = ()
    why: str = ""
    """Why fewer stages run than were asked for."""

    @property
    def depth(self) -> int | None:
        """How deep the pipeline runs; None where nothing in it takes turns."""
        return min((depth.got for depth in self.depths), default=None)


@dataclass(frozen=True, slots=True)
class RegionFacts:
    """The launch of a region: its core, how many blocks, how these walk what they share, and bytes by memory."""

    name: str
    kernel: str
    core: str
    blocks: str
    order: str
    memories: tuple[tuple[str, int, int], ...]
    """Memory, bytes up to the last one in use, capacity."""


@dataclass(frozen=True, slots=True)
class CutFacts:
    """How a product is cut for L0: the tile with its padding, and the extents of all, None where the run decides."""

    m: int
    n: int
    k: int
    extents: tuple[int, int, int] | None

    @property
    def whole(self) -> bool:
        """Whether the product fits in one tile."""
        return self.extents is not None and all(
            part >= all for part, all in zip((self.m, self.n, self.k), self.extents, strict=True)
        )


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """A tensor in GM. `bytes` is a number or an expression."""

    type: str
    dtype: str
    access: str
    strides: str
    bytes: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """A buffer of the author's: `bytes` are those of one slot, None where they are not known."""

    memory: str
    bytes: int | None
    slots: int
    address: int | None
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartFacts:
    """A stretch of a formula that stands for a tile or array: its type, and the bindings that it may be."""

    type: str
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Facts:
    """What is known of one text; `variant` says which variant the figures are of, `others` are those of others.

    `done` says whether the compile reached its end: else addresses and calls may be missing.
    """

    source: Source
    variant: str | None = None
    done: bool = False
    tiles: Mapping[Key, TileFacts] = field(default_factory=dict)
    reads: Mapping[tuple[At, str], tuple[Key, ...]] = field(default_factory=dict)
    """By statement and field: which bindings the tile in it may be."""
    parts: Mapping[tuple[At, int, int], PartFacts] = field(default_factory=dict)
    """By statement and stretch of its formula."""
    steps: Mapping[At, tuple[StepFacts, ...]] = field(default_factory=dict)
    loops: Mapping[At, LoopFacts] = field(default_factory=dict)
    regions: Mapping[At, RegionFacts] = field(default_factory=dict)
    cuts: Mapping[At, CutFacts] = field(default_factory=dict)
    tensors: Mapping[str, TensorFacts] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    buffers: Mapping[str, BufferFacts] = field(default_factory=dict)
    others: tuple[Facts, ...] = ()

    def on(self, source: Source) -> Unchanged:
        """Which of the statements of a text are those of this one, unchanged."""
        return Unchanged(self.source, source)

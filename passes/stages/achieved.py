"""What became of a pipeline's stages: kept beside the program, for reports."""

from __future__ import annotations

from pypto_spec.ir.types import Memory
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Depth:
    """The buffers of one pipeline in one memory: asked for, and got; `slot` are bytes of its largest.

    `line` is where the pipeline's `stages` stand.
    """

    region: str
    memory: Memory
    line: int
    requested: int
    achieved: int
    slot: int

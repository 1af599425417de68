"""What a pass is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import Enum

from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.nodes import Program
from pypto_spec.passes.stages.achieved import Depth
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target


class Property(Enum):
    """What holds of a program between passes; the verifier has one check for each. PyPTO's names where it has them."""

    INLINE_FUNCTIONS_ELIMINATED = "InlineFunctionsEliminated"
    UNROLL_RESOLVED = "UnrollResolved"
    STRUCTURED_CTRL_FLOW = "StructuredCtrlFlow"
    SSA_FORM = "SSAForm"
    SPLIT_INCORE_ORCH = "SplitIncoreOrch"
    INCORE_TILE_OPS = "IncoreTileOps"
    TILE_OPS_2D = "TileOps2D"
    REDUCTIONS_DEFINED = "ReductionsDefined"
    TILE_SLICES_CANONICAL = "TileSlicesCanonical"
    TILE_MEMORY_INFERRED = "TileMemoryInferred"
    LAYOUTS_RESOLVED = "LayoutsResolved"
    PIPELINES_REPLICATED = "PipelinesReplicated"
    PIPELINE_RESOLVED = "PipelineResolved"
    HAS_MEM_REFS = "HasMemRefs"
    ALLOCATED_MEMORY_ADDR = "AllocatedMemoryAddr"
    HAS_INSTRUCTIONS = "HasInstructions"
    SYNCHRONISED = "Synchronised"


@dataclass(slots=True)
class Context:
    """What a pass may ask for besides the program: the target's facts, and where findings go."""

    target: Target
    sink: Sink
    timings: dict[str, float] = field(default_factory=dict)
    trial: bool = False
    """The program is planned for advice alone: hints stay hints, and no search is asked that may take long."""
    depths: list[Depth] = field(default_factory=list)
    """What became of the stages of pipelines, filled by MemoryReuse."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: a pure function from program to program, with the properties it needs and those it establishes."""

    name: str
    run: Callable[[Program, Context], Program]
    requires: frozenset[Property] = frozenset()
    produces: frozenset[Property] = frozenset()
    doc: str = ""

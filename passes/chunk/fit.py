"""How large a chunk can be: asked of the very passes that will place it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.nodes import Op, Program, Region, Stmt
from pypto_spec.ir.rewrite import ops
from pypto_spec.ir.types import ArrayType, Memory, TensorType, TileType
from pypto_spec.passes.allocate_memory_addr import place
from pypto_spec.passes.base import Context
from pypto_spec.passes.convert_tensor_to_tile_ops import CONVERT_TENSOR_TO_TILE_OPS
from pypto_spec.passes.flatten_tile_nd_to_2d import FLATTEN_TILE_ND_TO_2D
from pypto_spec.passes.infer_tile_memory_space import INFER_TILE_MEMORY_SPACE
from pypto_spec.passes.init_mem_ref import INIT_MEM_REF
from pypto_spec.passes.legalize_tile_cast import LEGALIZE_TILE_CAST
from pypto_spec.passes.materialize_semantic_aliases import MATERIALIZE_SEMANTIC_ALIASES
from pypto_spec.passes.memory.grids import grids
from pypto_spec.passes.memory_reuse import MEMORY_REUSE
from pypto_spec.passes.resolve_backend_op_layouts import RESOLVE_BACKEND_OP_LAYOUTS

_PLANNING = (
    CONVERT_TENSOR_TO_TILE_OPS, FLATTEN_TILE_ND_TO_2D, LEGALIZE_TILE_CAST, INFER_TILE_MEMORY_SPACE,
    RESOLVE_BACKEND_OP_LAYOUTS, INIT_MEM_REF, MATERIALIZE_SEMANTIC_ALIASES, MEMORY_REUSE,
)  # fmt: skip


def needed(program: Program, region: Region, body: tuple[Stmt, ...], context: Context) -> int:
    """Bytes of `vec` memory the region would take with that body; where one value alone is too large, only its own."""
    huge = max(map(_whole, ops(body)), default=0)
    if huge > context.target.capacity[Memory.VEC]:
        return huge
    trial = replace(program, body=(replace(region, body=body),))
    quiet = Context(context.target, Sink())
    for step in _PLANNING:
        trial = step.run(trial, quiet)
    here = [b for b in trial.buffers if b.memory is Memory.VEC]
    return place(here, Memory.VEC, context.target, grids(trial))[1]


def _whole(op: Op) -> int:
    """Bytes on chip of the largest array or tile that an op has or makes as a whole."""
    windows = op.defn.effects == "reads_gm" or op.name == "slice"
    values = [*op.results, *(() if windows else (v for f, v in op.operands.items() if f != "to"))]
    most = 0
    for value in values:
        kind = value.type
        if isinstance(kind, TileType):
            most = max(most, kind.bytes)
        elif isinstance(kind, ArrayType | TensorType):
            shape = tuple(n for n in kind.shape if isinstance(n, int))
            if len(shape) == len(kind.shape):
                most = max(most, TileType(kind.dtype, shape).bytes)
    return most


def largest(limit: int, quantum: int, capacity: int, cost: Callable[[int, bool], int]) -> int | None:
    """The largest chunk of at most `limit` whose `cost` in bytes is within `capacity`; None if not even 1 fits.

    Cost grows about linearly, so two samples (of full chunks alone) lead near the answer and a few more settle it.
    """
    if cost(limit, True) <= capacity:
        return limit
    unit = quantum if limit > quantum else 1
    low = cost(unit, False)
    if low > capacity:
        return None if unit == 1 else largest(unit - 1, 1, capacity, cost)
    slope = max(1, cost(2 * unit, False) - low)
    guess = min(limit - 1, unit + (capacity - low) // slope * unit)
    guess = max(unit, guess // unit * unit)
    while guess > unit and cost(guess, True) > capacity:
        guess -= max(unit, guess // 16 // unit * unit)
    return max(guess, unit)


def even(extent: int, chunk: int) -> int:
    """A chunk not much smaller than `chunk` that divides `extent`, if there is one."""
    for candidate in range(chunk, max(1, chunk * 5 // 8), -1):
        if extent % candidate == 0:
            return candidate
    return chunk

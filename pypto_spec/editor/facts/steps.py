"""What a statement became: its operators with their pipes, the Ascend C calls, and how a product is cut."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from pypto_spec.editor.facts.model import At, CutFacts, StepFacts
from pypto_spec.editor.facts.origin import place
from pypto_spec.ir.expr import Index
from pypto_spec.ir.instr import Instr
from pypto_spec.ir.layouts import box
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Op, Program
from pypto_spec.ir.opdef import issue_pipe
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import ArrayType, TensorType, TileType
from pypto_spec.ops.reference import step_text
from pypto_spec.report.timeline.single import op_cycles
from pypto_spec.targets import TARGETS

CALLS = 4
"""The most calls of an operator that are kept; one more entry counts the others."""


def steps_of(program: Program) -> dict[At, tuple[StepFacts, ...]]:
    """The operators of each statement in their order. Alike ones, such as the copies of a pipeline, count as one."""
    found: dict[At, dict[tuple[object, ...], tuple[Op, int]]] = {}
    for region in regions(program.body):
        for op in ops(region.body):
            here = found.setdefault(place(op.loc), {})
            mark = _mark(op)
            first, count = here.get(mark, (op, 0))
            here[mark] = first, count + 1
    target = TARGETS[program.target.platform]
    return {
        at: tuple(
            StepFacts(
                op.name,
                *_result(op),
                pipe_of(op),
                _calls(op),
                count,
                op_cycles(op, target) if op.instrs else None,
            )
            for op, count in here.values()
        )
        for at, here in found.items()
    }


def _result(op: Op) -> tuple[str, int]:
    kind = op.results[0].type if op.results else None
    return (str(kind), prod(kind.shape)) if isinstance(kind, TileType) else ("", 0)


def pipe_of(op: Op) -> str:
    """Where an op issues; empty where it has no instruction."""
    return "" if op.defn.role == "view" or op.instrs == () else issue_pipe(op)


def _mark(op: Op) -> tuple[object, ...]:
    """What makes two ops of a statement alike: the operator and the types of what it works on."""
    types = (*((name, str(v.type)) for name, v in op.operands.items()), *(str(v.type) for v in op.results))
    return op.name, pipe_of(op), types


def _calls(op: Op) -> tuple[str, ...]:
    calls = [step for step in op.instrs or () if isinstance(step, Instr)]
    made = [step_text(step) for step in calls[:CALLS]]
    if len(calls) > CALLS:
        made.append(f"... {len(calls) - CALLS} more")
    return tuple(made)


def cuts_of(program: Program, read: Program) -> dict[At, CutFacts]:
    """The tiles of the products that statements became, and the extents of these where they are known.

    Of a formula with several different products it cannot be told which tile is whose: it has none.
    """
    asked: dict[At, set[tuple[int, int, int] | None]] = {}
    names: set[tuple[At, str]] = set()  # a chain of products is made at the place of its last one
    for region in regions(read.body):
        for op in ops(region.body):
            if op.defn.role == "matmul":
                asked.setdefault(place(op.loc), set()).add(_extents(op, transposed=True))
                names.add((place(op.loc), split(op.result.name)[0]))
    found: dict[At, CutFacts] = {}
    for region in regions(program.body):
        for op in ops(region.body):
            extents = _extents(op) if op.defn.role == "matmul" else None
            at = place(op.loc)
            of = asked.get(at, ())
            if extents is None or len(of) != 1 or (at, split(op.result.name)[0]) not in names:
                continue
            known = found.get(at)
            m, n, k = extents if known is None else map(max, extents, (known.m, known.n, known.k))
            found[at] = CutFacts(m, n, k, *of)
    return found


def _extents(op: Op, *, transposed: bool = False) -> tuple[int, int, int] | None:
    """M, N and K of a product of tiles or arrays."""
    shapes = [_shape(op.operands, name) for name in ("lhs", "rhs")]
    lhs, rhs = shapes
    if lhs is None or rhs is None:
        return None
    if transposed:
        lhs = lhs[::-1] if op.attrs.get("a_trans") is True else lhs
        rhs = rhs[::-1] if op.attrs.get("b_trans") is True else rhs
    return lhs[0], rhs[1], rhs[0]  # a row on the left may be padded further along K


def _shape(operands: Mapping[str, object], name: str) -> tuple[int, int] | None:
    kind = getattr(operands.get(name), "type", None)
    shape: tuple[Index, ...] = kind.shape[-2:] if isinstance(kind, TileType | ArrayType | TensorType) else ()
    if isinstance(kind, TileType) and kind.memory is not None and box(kind.memory, kind.order, kind.dtype) is not None:
        shape = kind.physical
    fixed = [extent for extent in shape if isinstance(extent, int)]
    return (fixed[0], fixed[1]) if len(shape) == len(fixed) == 2 else None

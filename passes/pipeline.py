"""The passes in order, and running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from time import perf_counter
from types import TracebackType

from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.internal import BROKEN_PROPERTY, INTERNAL_ERROR
from pypto_spec.diagnostics.rules.syntax import BROKEN_DUMP
from pypto_spec.diagnostics.span import Loc
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.nodes import Op, Program
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ir.verifier import verify
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.allocate_memory_addr import ALLOCATE_MEMORY_ADDR
from pypto_spec.passes.assign_unit_flags import ASSIGN_UNIT_FLAGS
from pypto_spec.passes.auto_tile_matmul_l0 import AUTO_TILE_MATMUL_L0
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.canonicalize_io_order import CANONICALIZE_IO_ORDER
from pypto_spec.passes.canonicalize_tile_slice import CANONICALIZE_TILE_SLICE
from pypto_spec.passes.chunk_tensor_ops import CHUNK_TENSOR_OPS
from pypto_spec.passes.convert_tensor_to_tile_ops import CONVERT_TENSOR_TO_TILE_OPS
from pypto_spec.passes.convert_to_ssa import CONVERT_TO_SSA
from pypto_spec.passes.ctrl_flow_transform import CTRL_FLOW_TRANSFORM
from pypto_spec.passes.expand_to_instructions import EXPAND_TO_INSTRUCTIONS
from pypto_spec.passes.fill_reduction_tails import FILL_REDUCTION_TAILS
from pypto_spec.passes.flatten_tile_nd_to_2d import FLATTEN_TILE_ND_TO_2D
from pypto_spec.passes.infer_tile_memory_space import INFER_TILE_MEMORY_SPACE
from pypto_spec.passes.init_mem_ref import INIT_MEM_REF
from pypto_spec.passes.inline_functions import INLINE_FUNCTIONS
from pypto_spec.passes.insert_sync import INSERT_SYNC
from pypto_spec.passes.legalize_tile_cast import LEGALIZE_TILE_CAST
from pypto_spec.passes.lower_pipeline_loops import LOWER_PIPELINE_LOOPS
from pypto_spec.passes.lower_pipeline_to_slots import LOWER_PIPELINE_TO_SLOTS
from pypto_spec.passes.lower_tensor_matmul import LOWER_TENSOR_MATMUL
from pypto_spec.passes.materialize_semantic_aliases import MATERIALIZE_SEMANTIC_ALIASES
from pypto_spec.passes.memory.written import check_addresses, check_values
from pypto_spec.passes.memory_reuse import MEMORY_REUSE
from pypto_spec.passes.outline_incore_scopes import OUTLINE_INCORE_SCOPES
from pypto_spec.passes.resolve_backend_op_layouts import RESOLVE_BACKEND_OP_LAYOUTS
from pypto_spec.passes.simplify import SIMPLIFY
from pypto_spec.passes.unroll_loops import UNROLL_LOOPS

OnPass = Callable[[Pass, Program], None]


PASSES: list[Pass] = [
    INLINE_FUNCTIONS,
    UNROLL_LOOPS,
    CTRL_FLOW_TRANSFORM,
    CONVERT_TO_SSA,
    SIMPLIFY,
    LOWER_TENSOR_MATMUL,
    OUTLINE_INCORE_SCOPES,
    CHUNK_TENSOR_OPS,
    CONVERT_TENSOR_TO_TILE_OPS,
    FLATTEN_TILE_ND_TO_2D,
    FILL_REDUCTION_TAILS,
    LEGALIZE_TILE_CAST,
    AUTO_TILE_MATMUL_L0,
    CANONICALIZE_TILE_SLICE,
    INFER_TILE_MEMORY_SPACE,
    RESOLVE_BACKEND_OP_LAYOUTS,
    ASSIGN_UNIT_FLAGS,
    LOWER_PIPELINE_TO_SLOTS,
    LOWER_PIPELINE_LOOPS,
    CANONICALIZE_IO_ORDER,
    INIT_MEM_REF,
    MATERIALIZE_SEMANTIC_ALIASES,
    MEMORY_REUSE,
    ALLOCATE_MEMORY_ADDR,
    EXPAND_TO_INSTRUCTIONS,
    INSERT_SYNC,
]
"""Every pass, in the order in which they run."""


def position(name: str) -> int:
    """Where a pass stands in the order; KeyError where there is none of that name."""
    for place, candidate in enumerate(PASSES):
        if candidate.name == name:
            return place
    raise KeyError(name)


def run(
    program: Program,
    context: Context,
    *,
    after: str | None = None,
    on_pass: OnPass | None = None,
    thorough: bool = False,
) -> Program:
    """Run the passes up to and including `after` (all of them without it); a loaded dump goes on behind its own pass.

    `on_pass` sees the program after each pass. After a pass the verifier checks what it promises, `thorough` everything
    that was promised so far. Raises CompileError with all findings once a pass has reported an error.
    """
    first = _first(program)
    last = position(after) + 1 if after is not None else len(PASSES)
    established = {p for done in PASSES[:first] for p in done.produces}
    _check_dump(program, context, first, established)
    for step in PASSES[first:last]:
        started = perf_counter()
        made = _apply(step, program, context)
        ran = perf_counter()
        established |= step.produces
        changed = made is not program
        kept = {Property.SSA_FORM} & established if changed else set()
        promised = established if thorough else step.produces | kept
        _check(step, made, promised, OPS if changed else None)
        context.timings[step.name] = ran - started
        context.timings["verify"] = context.timings.get("verify", 0.0) + perf_counter() - ran
        program = made
        if on_pass is not None:
            on_pass(step, program)
        context.sink.stop_on_errors()
    return program


def _first(program: Program) -> int:
    """The place of the first pass that has not run yet."""
    if program.dump is None:
        return 0
    names = [step.name for step in PASSES]
    if program.dump.after not in names:
        raise _broken_dump(
            program,
            program.loc,
            f"the dump is one after `{program.dump.after}`, which is no pass",
            did_you_mean(program.dump.after, names) or f"passes are {', '.join(names)}",
        )
    return names.index(program.dump.after) + 1


def _broken_dump(program: Program, loc: Loc, message: str, way_out: str = "") -> CompileError:
    """The error for a dump that cannot be what a pass left behind."""
    assert program.dump is not None
    header = program.loc.field("dump")
    return CompileError([
        diagnose(
            BROKEN_DUMP,
            loc.span if loc is not program.loc else header,
            message,
            label="here",
            secondary=[] if loc is program.loc else [Label(header, f"read as the program after {program.dump.after}")],
            notes=["what a dump says was decided is taken as it stands; if nobody edited it, this is a bug"],
            helps=[way_out or "undo the last edit, or take the `dump` header out: then all passes run and check it"],
        )
    ])  # fmt: skip


def _check_dump(program: Program, context: Context, first: int, established: Set[Property]) -> None:
    """Check in a dump what the passes before the first one have promised."""
    if program.dump is None:
        return
    broken = verify(program, sorted(p.value for p in established), OPS)
    if broken is not None:
        raise _broken_dump(program, broken.loc, f"the dump is not a program that a pass leaves: {broken.message}")
    if program.dump is None:
        return
    if first > position(MEMORY_REUSE.name):
        check_values(program, context, every=True)
    if first > position(ALLOCATE_MEMORY_ADDR.name):
        check_addresses(program, context)
    context.sink.stop_on_errors()


def _apply(step: Pass, program: Program, context: Context) -> Program:
    try:
        return step.run(program, context)
    except CompileError:
        raise
    except Exception as error:
        loc = _statement(error.__traceback__) or program.loc
        if program.dump is not None:
            why = str(error) or type(error).__name__
            raise _broken_dump(program, loc, f"{step.name} cannot go on from this dump: {why}") from None
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise CompileError(
            [
                diagnose(
                    INTERNAL_ERROR,
                    loc.span,
                    f"the pass {step.name} failed with {what}",
                    label="while it worked on this",
                    notes=["this is a bug of the compiler, not of the spec"],
                )
            ]
        ) from error


def _check(step: Pass, program: Program, properties: Set[Property], known: Mapping[str, OpDef] | None) -> None:
    broken = verify(program, sorted(p.value for p in properties), known)
    if broken is not None and program.dump is not None:
        raise _broken_dump(program, broken.loc, f"{step.name} cannot go on from this dump: {broken.message}")
    if broken is not None:
        raise CompileError(
            [
                diagnose(
                    BROKEN_PROPERTY,
                    broken.loc.span,
                    f"the pass {step.name} left a broken program: {broken.message}",
                    label="at this statement",
                    notes=["this is a bug of the compiler, not of the spec"],
                )
            ]
        )


def _statement(trace: TracebackType | None) -> Loc | None:
    """The innermost statement that the failing frames had in hand."""
    found: Loc | None = None
    while trace is not None:
        nodes = [v for v in trace.tb_frame.f_locals.values() if isinstance(getattr(v, "loc", None), Loc)]
        if nodes:
            found = next((n for n in nodes if isinstance(n, Op)), nodes[0]).loc
        trace = trace.tb_next
    return found

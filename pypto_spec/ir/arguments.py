"""What one region takes from outside: the parameters of its kernel, in the program's order."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.expr import Expr, Index, Sym, symbols
from pypto_spec.ir.nodes import (
    Barrier,
    BufferRef,
    Call,
    Condition,
    Control,
    For,
    Grid,
    If,
    Jump,
    Loop,
    Op,
    Program,
    Region,
    SetFlag,
    Value,
    WaitFlag,
)
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import ScalarType, TensorType, TileType
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class RegionArguments:
    """The tensors and scalars a region uses, its run-time dimensions, and the host loops' indices it depends on.

    The symbols of a grid around the region (block index, `num_blocks()`) are not arguments: the kernel asks the core.
    """

    tensors: tuple[Value, ...]
    scalars: tuple[Value, ...]
    dims: tuple[Sym, ...]
    indices: tuple[Sym, ...]
    reads: frozenset[str]
    writes: frozenset[str]


def region_arguments(program: Program, region: Region) -> RegionArguments:
    """The arguments of a region in the program's order: created tensors last, indices from the outermost loop in."""
    tensors: set[str] = set()
    scalars: set[str] = set()
    reads: set[str] = set()
    writes: set[str] = set()
    found: set[Sym] = set()
    last: Index | None = None
    for node in statements(region.body):
        if isinstance(node, Op):
            for field, value in node.operands.items():
                if isinstance(value.type, TensorType):
                    tensors.add(value.name)
                    for stride in value.type.strides:
                        found |= symbols(stride)
                    stored = node.defn.effects == "writes_gm" and field == "to"
                    (writes if stored else reads).add(value.name)
                elif isinstance(value.type, ScalarType):
                    scalars.add(value.name)
        for index in indices_of(node):
            if isinstance(index, Expr) and index is not last:
                found |= symbols(index)
                last = index
    loops = _loops_around(program.body, region) or ()
    scalar_symbols = {s.name for s in found if s.kind == "scalar"}
    return RegionArguments(
        tensors=tuple(t for t in (*program.tensors, *program.created) if t.name in tensors),
        scalars=tuple(s for s in program.scalars if s.name in scalars or s.name in scalar_symbols),
        dims=tuple(d for d in program.dims if d in found),
        indices=tuple(s for s in loops if s in found),
        reads=frozenset(reads),
        writes=frozenset(writes),
    )


def indices_of(node: object) -> Iterator[Index]:
    """Every index in one statement, not looking into its body; a call has its numbers there."""
    if isinstance(node, Op):
        for attr in node.attrs.values():
            if isinstance(attr, tuple):
                yield from attr
            elif isinstance(attr, Expr):
                yield attr
            elif isinstance(attr, Condition):
                yield from compared(attr)
        for result in node.results:
            if isinstance(result.type, TileType) and result.type.valid is not None:
                yield from result.type.valid
            yield from _place(result.buffer)
        for scratch in node.scratch:
            yield from _place(scratch)
    elif isinstance(node, For):
        yield from (node.start, node.stop, node.step)
        if node.condition is not None:
            yield from compared(node.condition)
        for carried in node.numbers:
            yield from (carried.init, carried.yielded)
    elif isinstance(node, If):
        yield from compared(node.condition)
        for picked in node.numbers:
            yield from (picked.then, picked.other)
    elif isinstance(node, Jump):
        yield from node.numbers
    elif isinstance(node, SetFlag | WaitFlag):
        yield node.id
    else:
        assert isinstance(node, Barrier | Call)


def _place(ref: BufferRef | None) -> Iterator[Index]:
    if ref is not None:
        yield ref.offset
        if ref.slot is not None:
            yield ref.slot


def compared(condition: Condition) -> Iterator[Index]:
    """Every index in a condition."""
    for side in (condition.left, condition.right):
        if isinstance(side, Condition):
            yield from compared(side)
        elif side is not None:
            yield side


def _loops_around(body: tuple[Control, ...], region: Region) -> tuple[Sym, ...] | None:
    """The indices of the host loops around a region, outermost first; None where it is not in `body`."""
    for node in body:
        if node is region:
            return ()
        if isinstance(node, Region):
            continue
        for arm in (node.body,) if isinstance(node, Loop | Grid) else (node.then, node.other):
            inner = _loops_around(arm, region)
            if inner is not None:
                return (node.index, *inner) if isinstance(node, Loop) else inner
    return None


def kernel_name(program: str, region: str) -> str:
    """The C++ name a region's kernel has by default: the program's and the region's, as one identifier."""
    joined = region if program == region else f"{program}_{region}"
    made = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in joined)
    return made if made[:1].isalpha() else f"k_{made.lstrip('_')}"

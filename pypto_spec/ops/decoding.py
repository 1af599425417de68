"""What reading the arguments of a call gives, and the pieces that the readers of single calls share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Expr, Index
from pypto_spec.ir.instr import Arg, Instr, Ref, Struct
from pypto_spec.ir.nodes import Pipe
from pypto_spec.ir.types import Memory
from pypto_spec.ops.regions import Access

MAX_REPEAT = 255
"""Repeats of one call; the intrinsic takes a uint8 and wraps silently."""
MAX_U16, MAX_U32 = 65_535, 4_294_967_295

DTypeOf = Callable[[Ref], DType]
MemoryOf = Callable[[Ref], Memory]
Limit = tuple[str, Index, int, int]
"""What is limited, its value, the lowest and the highest legal value."""


class InstructionError(ValueError):
    """An instruction breaks a limit of the hardware: a mistake in a recipe, never in a spec."""


def memory_unknown(ref: Ref) -> Memory:
    """For instructions whose meaning does not depend on memories: it refuses those for which it does."""
    raise InstructionError(f"which memory `{ref.name}` is in is not known")


class Decoded(NamedTuple):
    """The arguments of one call, understood."""

    pipe: Pipe
    accesses: tuple[Access, ...]
    limits: tuple[Limit, ...] = ()
    unaligned: frozenset[str] = frozenset()
    multiples: tuple[tuple[str, Index, int], ...] = ()
    """What must be a multiple, its value, and of what."""
    grids: tuple[tuple[str, int], ...] = ()
    """Operands that start on another grid than 32 B, and its bytes."""
    unit: Index = 0
    """The unit flag, as in `Effect`."""
    fenced: bool = False
    """Whether the call begins with a barrier of its pipe."""


Decoder = Callable[[Instr, DTypeOf], Decoded]


class Amounts(NamedTuple):
    """What one call does. All are indices: some counts are known at run time only."""

    elements: Index
    bytes: Index
    repeats: Index


Measure = Callable[[Instr, DTypeOf], Amounts]


def numbers_of(instr: Instr, args: Sequence[Arg]) -> list[int]:
    """Arguments that are compile-time integers."""
    found = [a for a in args if isinstance(a, int) and not isinstance(a, bool)]
    if len(found) != len(args):
        raise InstructionError(f"{instr.call}: masks, repeats and strides must be compile-time numbers, found {args}")
    return found


def ref_of(instr: Instr, arg: Arg) -> Ref:
    """An argument that is an operand."""
    if isinstance(arg, Ref):
        return arg
    raise InstructionError(f"{instr.call}: expected an operand, found {arg}")


def index_of(instr: Instr, arg: Arg) -> Index:
    """An argument that is a size, perhaps one known at run time only."""
    if isinstance(arg, int | Expr) and not isinstance(arg, bool):
        return arg
    raise InstructionError(f"{instr.call}: expected a size, found {arg}")


def struct_of(instr: Instr, arg: Arg, name: str, count: int) -> tuple[Arg, ...]:
    """The arguments of a struct of that name, `count` of them."""
    if isinstance(arg, Struct) and arg.name == name and len(arg.args) == count:
        return arg.args
    raise InstructionError(f"{instr.call}: expected {name} of {count} values, found {arg}")

"""Instructions: the Ascend C calls a tile op becomes, and what each reads and writes.

A recipe is a tuple of steps. A step is a call with its arguments in the call's own order, or a barrier inside the
recipe. Operands are named after the fields of the op (`into`, `x`, `lhs`, `from`, `scratch`, `scratch.1` ...), so that
a recipe reads like the C++ it becomes and does not depend on addresses.
"""

from __future__ import annotations

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Condition, Pair, Pipe, Value
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Ref:
    """An operand of the op, `offset` elements in; `dtype` where it is read as another type of the same width."""

    name: str
    offset: Index = 0
    dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A C++ word such as `RoundMode::CAST_RINT`, printed as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Struct:
    """A parameter struct built in place, e.g. `BinaryRepeatParams(1, 1, 1, 8, 8, 8)`."""

    name: str
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A literal of the op's data type: `value` is already rounded to `dtype`."""

    value: float | int
    dtype: DType


@dataclass(frozen=True, slots=True)
class ScalarRef:
    """A run-time scalar argument of the program, converted to `dtype`."""

    value: Value
    dtype: DType


Arg = Ref | Word | Struct | Number | ScalarRef | Condition | Index | bool
"""A `Condition` is a boolean that is known at run time only."""


@dataclass(frozen=True, slots=True)
class Instr:
    """One Ascend C call. `template` holds explicit template arguments, e.g. `("float", "false")`.

    `reach` is for calls whose addresses are data (Gather): the elements of the source they may read, from its start.
    """

    call: str
    args: tuple[Arg, ...]
    template: tuple[str, ...] = ()
    reach: int | None = None


@dataclass(frozen=True, slots=True)
class InnerBarrier:
    """A barrier inside a recipe; `pairs` as on a `Barrier` statement."""

    pipe: Pipe
    pairs: tuple[Pair, ...] = ()


Step = Instr | InnerBarrier


@dataclass(frozen=True, slots=True)
class Region:
    """The bytes an instruction touches in one operand: `width` bytes at `base`, repeated along each (count, stride).

    `operand` is the operand's field name, `base` is in bytes from the operand's start, strides are in bytes.

    `ordered` names pipes: where two accesses are of the very same bytes, and each names the other's pipe, the hardware
    lets the later one wait for the earlier, and neither flag nor barrier is needed between them.
    """

    operand: str
    base: Index
    width: int
    steps: tuple[tuple[int, int], ...] = ()
    write: bool = False
    ordered: frozenset[Pipe] = frozenset()


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does to memory: its pipe and the regions it reads and writes.

    `atomic` marks writes that other atomic writes may overlap in any order. `unit` is the unit flag of Mmad and
    Fixpipe: 0 without one, 2 where it waits for the fractals it touches and leaves their flags, 3 where it turns them
    over. `fenced`: a barrier of its pipe is part of the call, before what it does.
    """

    pipe: Pipe
    regions: tuple[Region, ...]
    atomic: bool = False
    unit: Index = 0
    fenced: bool = False

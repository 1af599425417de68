"""The problem of the chooser: one matmul, the room it has on chip, and which forms may be taken."""

from __future__ import annotations

from enum import Enum

from pypto_spec.ir.dtype import FP32, INT32, DType
from pypto_spec.ir.layouts import Layout, Memory, box, round_up
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.records import dataclass
from pypto_spec.targets.l0 import L0Costs
from pypto_spec.targets.model import Target


class Axis(Enum):
    """An axis of the output grid."""

    M = "m"
    N = "n"


class Stationary(Enum):
    """What stays put while the rest streams; A is the left operand, B the right one."""

    OUTPUT = "output"
    A = "A"
    B = "B"

    @property
    def moves(self) -> Axis:
        """The axis of the inner loop, along which the other operand moves past a kept one."""
        return Axis.N if self is Stationary.A else Axis.M


@dataclass(frozen=True, slots=True)
class Form:
    """A schedule: what stays put, and whether two accumulators take turns (dbC) so that a drain runs under a MAD."""

    stationary: Stationary
    double: bool = False

    @property
    def depths(self) -> tuple[int, int, int]:
        """Buffers of A, of B and of the accumulator: what streams has two, what stays put one."""
        a = 1 if self.stationary is Stationary.A else 2
        b = 1 if self.stationary is Stationary.B else 2
        return a, b, 2 if self.double else 1

    @property
    def needs_whole_k(self) -> bool:
        """An operand stays put only with all of its K; two accumulators need each tile to be done in one step."""
        return self.double or self.stationary is not Stationary.OUTPUT


BASELINE = Form(Stationary.OUTPUT)
"""Always possible; any other form has to be strictly cheaper."""

FORMS: tuple[Form, ...] = tuple(Form(s, double) for s in Stationary for double in (False, True))
"""All forms; of two that cost the same, the first one is taken."""


@dataclass(frozen=True, slots=True)
class Width:
    """How wide a tile may be, in columns, because of a bias.

    The bias table holds `most` columns. A bias that is moved into it inside the loops needs as many places as the loops
    keep in flight: `pipelined` is the limit in a pipeline over N, `nested` where that pipeline stands in another one.
    A bias that stands in the table already cannot be cut: `whole`, a tile has all columns.
    """

    most: int
    pipelined: int
    nested: int
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One matmul [m, k] @ [k, n], in elements of physical tiles, and the bytes that each L0 memory has for it.

    `step` is what m, n and k of a tile are multiples of, and its least extents: the fractal, and 32 along N and K for
    dtypes of one byte, which are moved in squares of 32 x 32. The boxes are what rows and columns of A, B and the
    accumulator are rounded up to in their memories. `double` opens the forms with two accumulators, `stationary` are
    the operands that may stay put. `asked` is the shape before it was padded.
    """

    m: int
    n: int
    k: int
    dtype: DType
    acc: DType
    left_bytes: int
    right_bytes: int
    acc_bytes: int
    costs: L0Costs
    double: bool
    stationary: tuple[Stationary, ...]
    step: tuple[int, int, int]
    left_box: tuple[int, int]
    right_box: tuple[int, int]
    acc_box: tuple[int, int]
    width: Width | None
    asked: tuple[int, int, int]

    @property
    def shape(self) -> tuple[int, int, int]:
        """(m, n, k)."""
        return self.m, self.n, self.k

    @property
    def is_padded(self) -> bool:
        """Whether the tiles compute more than was asked for."""
        return self.asked != self.shape

    def is_open(self, form: Form) -> bool:
        """Whether the form may be taken at all."""
        return form.stationary in self.stationary and (self.double or not form.double)


def opens_double(planner: str, l0c_double_buffer: bool) -> bool:
    """Whether two accumulators are considered: always under `ptoas`, under `pypto` where the spec asks for it."""
    return planner != "pypto" or l0c_double_buffer


def pose(
    target: Target,
    m: int,
    n: int,
    k: int,
    dtype: DType,
    *,
    planner: str = "pypto",
    l0c_double_buffer: bool = False,
    stationary: tuple[Stationary, ...] = tuple(Stationary),
    bias: Memory | None = None,
    pad: bool = False,
) -> Problem:
    """The problem of a matmul of physical tiles [m, k] and [k, n] on a target.

    `dtype` is that of both operands. `bias` is where a bias stands, `mat` or `bias`. With `pad`, extents that are no
    multiples of the step are rounded up; without it they may be refused (`refusals.refuse`).
    """
    costs = target.l0
    acc = ACCUMULATOR.get(dtype, FP32)
    left, right = _box(Memory.LEFT, Layout.ZZ, dtype), _box(Memory.RIGHT, Layout.ZN, dtype)
    step = (costs.fractal, right[1], max(left[1], right[0]))
    padded = (round_up(m, step[0]), round_up(n, step[1]), round_up(k, step[2])) if pad else (m, n, k)
    return Problem(
        m=padded[0],
        n=padded[1],
        k=padded[2],
        dtype=dtype,
        acc=acc,
        left_bytes=target.capacity[Memory.LEFT],
        right_bytes=target.capacity[Memory.RIGHT],
        acc_bytes=target.capacity[Memory.ACC],
        costs=costs,
        double=opens_double(planner, l0c_double_buffer),
        stationary=stationary,
        step=step,
        left_box=left,
        right_box=right,
        acc_box=_acc_box(costs, acc),
        width=_width(target.capacity[Memory.BIAS] // acc.bytes, bias),
        asked=(m, n, k),
    )


def _box(memory: Memory, layout: Layout, dtype: DType) -> tuple[int, int]:
    found = box(memory, layout, dtype)
    assert found is not None
    return found


def _acc_box(costs: L0Costs, acc: DType) -> tuple[int, int]:
    rows, columns = _box(Memory.ACC, Layout.NZ, acc)
    return max(rows, costs.int32_rows) if acc is INT32 else rows, columns


def _width(most: int, bias: Memory | None) -> Width | None:
    """The limits of a table with room for `most` columns."""
    if bias is None:
        return None
    return Width(most, most, most, whole=True) if bias is Memory.BIAS else Width(most, most // 2, most // 4)

"""AssignUnitFlags: with `unit_flag: true` matmuls and what empties their accumulators wait by unit flags.

L0C has a flag for each 512 B. The product that is the last one of an accumulator hands its flags over (`final`), those
before it keep them (`partial`), and the store, or the copy into L1, takes them (`final`): it may begin while the last
product still goes on, and no other flag is needed between the two. In a loop the last round is known by its index.

An accumulator takes part if one statement reads it whole, and the way back from there to where it begins leads through
products and loops that run at least once. What the author wrote a `phase` for, and all that it is added to, is left
as it is. Flags order accesses of the very same bytes, and accumulators share places: so either all accumulators of a
region take part, and have one extent, or none does. A region in which none does is told about, with what is in the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import cast

from pypto_spec.diagnostics.model import Label, Sink
from pypto_spec.diagnostics.rules.target import NO_EFFECT
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.expr import Index, add, floordiv, mul, sub, sym, symbols
from pypto_spec.ir.layouts import FRACTAL_ROWS
from pypto_spec.ir.loops import least_trips
from pypto_spec.ir.nodes import Attr, Condition, For, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, ops, with_parts
from pypto_spec.ir.types import Memory, TileType, round_up
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.l0.rewrite.uses import Readers
from pypto_spec.records import dataclass

UNSPECIFIED = "unspecified"


@dataclass(slots=True)
class _Sum:
    """The products of one accumulator: those that are followed by others, and the last one with when it is the last."""

    partial: list[Op] = field(default_factory=list)
    last: Op | None = None
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """What keeps the accumulators of a region from taking part: a statement with its label, perhaps against others."""

    loc: Loc
    label: str
    note: str
    other: tuple[Label, ...] = ()


class _Region:
    """Finds the accumulators of one region that take part; `attrs` are the fields to write, by op.

    Where none takes part though there are products, `obstacle` says why.
    """

    def __init__(self, region: Region) -> None:
        self.readers = Readers(region.body)
        self.attrs: dict[Op, Mapping[str, Attr]] = {}
        self.obstacle: _Obstacle | None = None
        products = [op for op in ops(region.body) if op.defn.role == "matmul" and not _is_set(op)]
        if not products:
            return
        for op in products:
            if _extent(op) != _extent(products[0]):
                self._refuse(op.loc, *_uneven(products[0], op))
                return
        for op in ops(region.body):
            if _takes_away(op):
                self._drain(op)
        left = [op for op in products if op not in self.attrs]
        if left:
            self._refuse(left[-1].loc, "not emptied as a whole by one statement", _WHOLE)
            self.attrs = {}
        else:
            self.obstacle = None

    def _refuse(self, loc: Loc, label: str, note: str, other: tuple[Label, ...] = ()) -> bool:
        """The first obstacle is told, the others may follow from it."""
        self.obstacle = self.obstacle or _Obstacle(loc, label, note, other)
        return False

    def _drain(self, drain: Op) -> None:
        value = drain.operands.get("from") or drain.operands["x"]
        if _is_set(drain):
            return
        found = _Sum()
        if not self._back(value, found, None, last=True) or found.last is None:
            return
        self.attrs[drain] = {"phase": "final"}
        self.attrs.update((op, {"phase": "partial"}) for op in found.partial)
        ending: dict[str, Attr] = {"phase": "final"}
        if found.when is not None:
            ending = {"phase": "partial", "final": found.when}
        self.attrs[found.last] = ending

    def _back(self, value: Value, found: _Sum, start: Value | None, *, last: bool) -> bool:
        """Follow an accumulator back to its first product, or to the argument `start` of a loop.

        `last` says that nothing is added behind what makes `value`.
        """
        while value is not start:
            kind = value.type
            if len(self.readers.of(value)) != 1 or not isinstance(kind, TileType) or kind.valid is not None:
                return False
            loop = self.readers.loops.get(value)
            if loop is not None:
                if not self._loop(loop, found, last=last):
                    return False
                value = loop.carries[0].init
            else:
                maker = self.readers.makers.get(value)
                if maker is None or _is_set(maker):
                    return False
                if maker.defn.role == "create":
                    return start is None and found.last is not None
                if maker.defn.role != "matmul":
                    return False
                if last:
                    found.last = maker
                else:
                    found.partial.append(maker)
                if "acc" not in maker.operands:
                    return start is None
                value = maker.operands["acc"]
            last = False
        return len(self.readers.of(value)) == 1

    def _loop(self, loop: For, found: _Sum, *, last: bool) -> bool:
        """The products of a loop that carries the accumulator; its last round is one of the conditions of the last."""
        if loop.condition is not None or not isinstance(loop.step, int) or least_trips(loop) < 1:
            return self._refuse(loop.loc, "its last round is not known beforehand", _ROUNDS)
        if len(loop.carries) != 1 or loop.carries[0].yielded is loop.carries[0].arg:
            return self._refuse(loop.loc, "carries more than one accumulator", _ONE)
        (carry,) = loop.carries
        if any(s.kind != "loop" for bound in (loop.start, loop.stop) for s in symbols(bound)):
            return self._refuse(loop.loc, "runs as often as a run-time value says", _ROUNDS)
        if not self._back(carry.yielded, found, carry.arg, last=last):
            return False
        if last:
            here = Condition("==", sym(loop.index), _last_index(loop))
            found.when = here if found.when is None else Condition("and", found.when, here)
        return True


def _last_index(loop: For) -> Index:
    """The index of the last round."""
    assert isinstance(loop.step, int)
    rounds = floordiv(sub(sub(loop.stop, loop.start), 1), loop.step)
    return add(loop.start, mul(rounds, loop.step))


_WHOLE = "the last product of an accumulator hands its flags to the one store or copy that takes all of it away"
_ROUNDS = "the last round hands the flags over, so the compiler has to know which one that is"
_ONE = "flags are counted for one accumulator in a loop"


def _uneven(first: Op, other: Op) -> tuple[str, str, tuple[Label, ...]]:
    """Why two products cannot both have flags."""
    m, n = _extent(first)
    return (
        "makes {} x {}".format(*_extent(other)),
        "accumulators share places in `acc`, so all of a region have one extent, or none has unit flags",
        (Label(first.loc.span, f"makes {m} x {n}"),),
    )


def _extent(product: Op) -> tuple[int, int]:
    """Rows and columns that the flags of a product stand for."""
    kind = product.result.type
    assert isinstance(kind, TileType)
    return kind.physical


def _is_set(op: Op) -> bool:
    """Whether the author wrote a phase."""
    return op.attrs.get("phase", UNSPECIFIED) != UNSPECIFIED


def _takes_away(op: Op) -> bool:
    """Whether an op is the way of a whole accumulator to GM or into L1."""
    if not any(f.name == "phase" for f in op.defn.fields) or op.defn.role == "matmul":
        return False
    value = op.operands.get("from") or op.operands.get("x")
    kind = None if value is None else value.type
    if not isinstance(kind, TileType) or kind.memory is not Memory.ACC:
        return False
    if round_up(kind.cols, FRACTAL_ROWS) < kind.physical[1]:
        return False  # products of int8 raise the flags of 32 columns
    return op.defn.effects == "writes_gm" or kind.cols % FRACTAL_ROWS == 0  # whole fractals go into L1


class _Writer(Rewriter):
    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self.sink = sink
        self.found: Mapping[Op, Mapping[str, Attr]] = {}

    def region(self, region: Region) -> Region:
        looked = _Region(region)
        self.found = looked.attrs
        if looked.obstacle is not None:
            self._tell(region, looked.obstacle)
        return super().region(region) if self.found else region

    def _tell(self, region: Region, obstacle: _Obstacle) -> None:
        self.sink.report(
            NO_EFFECT,
            obstacle.loc.span,
            f"`unit_flag: true` has no effect in region `{region.name}`",
            label=obstacle.label,
            secondary=obstacle.other,
            notes=[obstacle.note],
            helps=["leave `unit_flag` out, or put what stays without it into a region of its own"],
            allow=region.allow,
        )

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        made = super().stmt(node)
        more = self.found.get(node) if isinstance(node, Op) else None
        if more is None:
            return made
        op = cast(Op, made[0])
        return (with_parts(op, attrs={**op.attrs, **more}),)


def run(program: Program, context: Context) -> Program:
    """Write phases in every region, where the spec asks for unit flags."""
    return _Writer(context.sink).program(program) if program.target.unit_flag else program


ASSIGN_UNIT_FLAGS = Pass(
    name="AssignUnitFlags",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.TILE_MEMORY_INFERRED}),
    produces=frozenset({Property.SSA_FORM}),
    doc=__doc__,
)

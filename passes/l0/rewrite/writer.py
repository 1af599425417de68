"""Writes statements on tiles of L0, and the loops around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from itertools import count

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index, sub, sym
from pypto_spec.ir.loops import loop_symbol
from pypto_spec.ir.naming import Names, split, unused
from pypto_spec.ir.nodes import Attr, Carry, For, Op, Stage, Stmt, Value
from pypto_spec.ir.rewrite import with_parts
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.l0.rewrite.windows import Part, Window
from pypto_spec.passes.making import make
from pypto_spec.records import dataclass

STAGES = 2
"""Blocks of an operand in L0 at once: one is loaded while the other is used."""

SUFFIX: Mapping[Memory, str] = {Memory.LEFT: "l0a", Memory.RIGHT: "l0b", Memory.BIAS: "bt"}
"""What is put behind the name of a tile for its copy in a memory."""


class Fresh:
    """Names of loop indices, and numbers of groups of copies, that nothing else in a program has."""

    def __init__(self, taken: Iterable[str], group: int = 0) -> None:
        self._taken = set(taken)
        self._groups = count(group)

    def group(self) -> int:
        """The number of a new group."""
        return next(self._groups)

    def index(self, name: str) -> str:
        """The name, with a number where it is taken."""
        return unused(name, self._taken)


@dataclass(frozen=True, slots=True)
class Span:
    """`total` elements of an axis, from `start` on, `size` at a time; `name` is that of the index over them.

    With `total` known at run time only, the last part may hold less than `size` valid elements; it is none of its own.
    """

    name: str
    total: Index
    size: int
    start: int = 0

    @property
    def full(self) -> int | None:
        """How many parts have all their elements; None where that is not known."""
        extent = sub(self.total, self.start)
        return extent // self.size if isinstance(extent, int) else None

    @property
    def rest(self) -> int:
        """Elements of the part behind the full ones; 0 where it is known at run time only how many there are."""
        extent = sub(self.total, self.start)
        return extent % self.size if isinstance(extent, int) else 0


Values = tuple[Value, ...]
Body = Callable[["Writer", Part, Values], Values]
"""Writes what is done for one part of an axis: from what is carried to what is carried on."""


@dataclass(slots=True)
class Writer:
    """Collects statements; `loc` is the place in the source that they stand for, `allow` its suppressions.

    `stages` says of copies into L0 which copy of a pipeline they are, where its rounds are written out.
    """

    names: Names
    fresh: Fresh
    loc: Loc
    allow: frozenset[str] = frozenset()
    body: list[Stmt] = field(default_factory=list)
    stages: tuple[Stage, ...] = ()

    def inner(self) -> Writer:
        """A writer of a block inside this one."""
        return Writer(self.names, self.fresh, self.loc, self.allow)

    def round(self, stage: Stage) -> Writer:
        """A writer of the same block, of one round of a pipeline."""
        return Writer(self.names, self.fresh, self.loc, self.allow, self.body, (stage, *self.stages))

    def op(self, name: str, operands: Mapping[str, Value], attrs: Mapping[str, Attr], into: str) -> Value:
        """One op whose result gets a new name."""
        made = make(name, operands, attrs, self.loc, into=self.names.fresh(into), allow=self.allow)
        self.body.append(made)
        return made.result

    def copy(self, window: Window, memory: Memory) -> Value:
        """A window of L1 in a memory of L0."""
        base = f"{split(window.tile.name)[0].removesuffix('_l1')}_{SUFFIX[memory]}"
        attrs: dict[str, Attr] = {"memory": memory}
        if window.is_whole:
            name, operands = "move", {"from": window.tile}
        else:
            name, operands = "extract", {"x": window.tile}
            attrs = {"at": (window.row, window.col), "shape": window.shape, **attrs}
        made = make(name, operands, attrs, self.loc, into=self.names.fresh(base), allow=self.allow)
        self.body.append(with_parts(made, stages=self.stages))
        return made.result

    def tile(
        self, name: str, shape: tuple[int, int], dtype: DType, memory: Memory, valid: tuple[Index, Index] | None = None
    ) -> Value:
        """A tile with nothing in it."""
        attrs: dict[str, Attr] = {"shape": shape, "dtype": dtype, "memory": memory}
        defn = OPS["create_tile"]
        kind = TileType(dtype, shape, memory, valid=None if valid == shape else valid)
        value = Value(self.names.fresh(name), kind)
        self.body.append(Op(defn=defn, operands={}, attrs=attrs, results=(value,), loc=self.loc, allow=self.allow))
        return value

    def along(self, span: Span, carried: Values, body: Body, *, stages: int = 1, double: bool = False) -> Values:
        """All parts of an axis: a loop over the full ones, with `stages` of them in flight, and behind it the rest.

        Two full parts make a loop; one is written as it is. `double` lets two accumulators take turns in the loop.
        """
        full = span.full
        if full is None or full > 1:
            carried = self._loop(span, carried, body, stages, double)
        parts = [Part(span.start, span.size)] if full == 1 else []
        if span.rest:
            parts.append(Part(span.start + (full or 0) * span.size, span.rest))
        rounds = stages > 1 and (len(parts) > 1 or full != 1)
        group = self.fresh.group() if rounds and parts else 0
        for number, part in enumerate(parts):
            carried = body(self.round((group, number)) if rounds else self, part, carried)
        return carried

    def _loop(self, span: Span, carried: Values, body: Body, stages: int, double: bool) -> Values:
        stop = span.total if span.full is None else span.start + span.full * span.size
        index = loop_symbol(self.fresh.index(span.name), span.start, stop, span.size)
        args = tuple(Value(self.names.fresh(v.name), v.type) for v in carried)
        inside = self.inner()
        ends = body(inside, Part(sym(index), span.size), args)
        results = tuple(Value(self.names.fresh(v.name), v.type) for v in ends)
        carries = tuple(Carry(*parts) for parts in zip(args, carried, ends, results, strict=True))
        made = For(
            index=index, start=span.start, stop=stop, step=span.size, body=tuple(inside.body), loc=self.loc,
            carries=carries, kind="pipeline" if stages > 1 else "for", stages=stages, allow=self.allow,
            l0c_double_buffer=double,
        )  # fmt: skip
        self.body.append(made)
        return results

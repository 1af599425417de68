"""A region as the checker sees it: instructions with byte ranges, flags, barriers, loops and branches.

Instructions of one pipe between two points at which others can learn of that pipe (its sets and barriers, the edges of
blocks) cannot be told apart by any wait: they form one *epoch*, the unit of all knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from pypto_spec.check.ranges import Shape
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Atom, Index, Sym
from pypto_spec.ir.instr import Effect, Ref, Step
from pypto_spec.ir.nodes import For, If, Op, SetFlag, WaitFlag
from pypto_spec.ir.types import Memory
from pypto_spec.records import dataclass

Effects = Callable[[Sequence[Step], Callable[[Ref], DType], Callable[[Ref], Memory]], Iterable[Effect | None]]
"""The effect of each step of a recipe, None for a barrier: `pypto_spec.ops.instructions.effects`."""

Terms = tuple[tuple[Atom, int], ...]


@dataclass(slots=True, eq=False)
class Cycle:
    """A loop around accesses: `level` 1 is outermost; `index` has the tightest known bounds.

    With `turns` (0: none) a round of it is that many of the loop's own (`turns.py`), and `index` counts those rounds.
    """

    loop: For
    level: int
    index: Sym
    free: Sym
    step: Index
    least: int
    most: int | None
    varying: frozenset[Sym] = frozenset()
    """Numbers that may differ from iteration to iteration."""
    turns: int = 0
    epochs: int = 0


Lasts = tuple[tuple[Cycle, int | None], ...]


@dataclass(slots=True, eq=False)
class Group:
    """Accesses whose addresses differ by constants only; `cycles` are the loops whose indices stand in `terms`.

    `last` holds for those of them that have turns the last round that comes to these accesses.
    """

    space: str
    terms: Terms
    cycles: tuple[Cycle, ...]
    last: Lasts


@dataclass(slots=True, eq=False)
class Touch:
    """One strided access of one instruction, `const` bytes behind what its group's terms give."""

    group: Group
    const: int
    shape: Shape
    write: bool
    atomic: bool
    step: Execute
    ordered: frozenset[str] = frozenset()
    """Pipes with whose accesses to the very same bytes the hardware keeps order, where these say so too."""


@dataclass(slots=True, eq=False)
class Execute:
    """An instruction. `opens` marks the first of its epoch, `order` its place in the text.

    `turns` are its turns in the loops of `chain`.
    """

    op: Op
    pipe: int
    epoch: int
    opens: bool
    order: int
    chain: tuple[Cycle, ...]
    turns: tuple[int, ...]
    touches: list[Touch] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Raise:
    """A set of flag `key` = (source, target, id)."""

    node: SetFlag
    key: tuple[int, int, int]


@dataclass(slots=True, eq=False)
class Await:
    """A wait for flag `key`; in `epoch` of the waiting pipe (none for the scalar pipe: its waits hold up dispatch)."""

    node: WaitFlag
    key: tuple[int, int, int]
    epoch: int
    opens: bool


@dataclass(slots=True, eq=False)
class Fence:
    """A barrier of one pipe, or of all (None)."""

    pipe: int | None


@dataclass(slots=True, eq=False)
class Repeat:
    """A loop: the blocks of its turns, and after which of them it may end."""

    cycle: Cycle
    turns: tuple[Block, ...]
    ends: frozenset[int]

    @property
    def whole(self) -> bool:
        """Whether it ends after its last turn only."""
        return min(self.ends) == len(self.turns) - 1


@dataclass(slots=True, eq=False)
class Choice:
    """A branch; its condition is not looked at."""

    node: If
    then: Block
    other: Block


Node = Execute | Raise | Await | Fence | Repeat | Choice


@dataclass(slots=True, eq=False)
class Block:
    """A list of nodes; `quiet` leaves out those that change no knowledge."""

    nodes: list[Node] = field(default_factory=list)
    quiet: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Flow:
    """A whole region. `pipes` are those in use (number 0 is the scalar pipe), `owner` gives each epoch's pipe."""

    pipes: list[str]
    body: Block
    owner: list[int]
    touches: list[Touch]
    depth: int
    lags: int

"""What the analysis of one region works with: places in the program, instruction instances, and sync edges."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_spec.ir.expr import Index, add, mod, sub, sym
from pypto_spec.ir.nodes import For, Op, Pair, Pipe, Stmt

PIPES: tuple[Pipe, ...] = ("s", "v", "m", "mte1", "mte2", "mte3", "fix")
PIPE_INDEX: dict[Pipe, int] = {pipe: number for number, pipe in enumerate(PIPES)}

ALL = len(PIPES)
"""The number of `barrier: all`."""

Row = tuple[int, ...]
"""What is known of each pipe (in `PIPES` order): all its instructions up to that time are complete."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the program: before or after a statement of some block."""

    stmt: Stmt
    after: bool


@dataclass(slots=True, eq=False)
class Edge:
    """A flag from pipe `source` to pipe `target`: set at one anchor, waited for at another.

    `loop` is the loop that carries it to a later iteration: then it is also set before and waited for after `home`,
    which is that loop or one around it.
    `guards` is the flag whose id this one makes safe to use again, where that is all it is for; `inner`: for the next
    time round a loop.
    `width` is how many event ids it has, from `id` on, which take turns with the rounds of the loop `turn`. One that a
    loop carries is waited for so many rounds after its set.
    """

    source: int
    target: int
    set_at: Anchor
    wait_at: Anchor
    loop: For | None
    home: For | None = None
    guards: Edge | None = None
    inner: bool = False
    pairs: list[Pair] = field(default_factory=list)
    id: int = -1
    width: int = 1
    turn: For | None = None

    @property
    def event(self) -> Index:
        """The event id inside the loop in whose rounds it takes turns."""
        if self.turn is None or self.width == 1:
            return self.id
        index, start = sym(self.turn.index), self.turn.start
        return add(self.id, mod(index if isinstance(start, int) else sub(index, start), self.width))

    @property
    def events(self) -> range:
        """All its event ids."""
        return range(self.id, self.id + self.width)

    @property
    def key(self) -> tuple[int, int, Stmt]:
        """What a flag within one round is found by: there is one from pipe to pipe before a statement."""
        return self.source, self.target, self.wait_at.stmt

    @property
    def carried_key(self) -> tuple[For, int, int, Stmt]:
        """What a flag that a loop carries is found by."""
        assert self.loop is not None
        return self.loop, *self.key

    def note(self, producer: Op, consumer: Op) -> None:
        """Remember one more pair of statements that this flag orders."""
        pair = (producer.loc.span.start, consumer.loc.span.start)
        if pair not in self.pairs:
            self.pairs.append(pair)


@dataclass(slots=True, eq=False)
class Fence:
    """A barrier of one pipe (`ALL`: of all) before instruction `step` of an op, or before a statement (`step` 0)."""

    pipe: int
    stmt: Stmt
    step: int
    pairs: list[Pair] = field(default_factory=list)

    def note(self, producer: Op, consumer: Op) -> None:
        """Remember one more pair of statements that this barrier orders."""
        pair = (producer.loc.span.start, consumer.loc.span.start)
        if pair not in self.pairs:
            self.pairs.append(pair)


def holder_key(stmt: Stmt, arm: int) -> tuple[int, int]:
    """Identity of a block by its holder."""
    return id(stmt), arm


def pipe_name(number: int) -> Pipe:
    """The name of a pipe by its number, `all` among them."""
    return "all" if number == ALL else PIPES[number]

"""Random placement problems of the kind that kernels have: chains, nests, loops, in-place pairs, copies of stages."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.nodes import Buffer
from pypto_spec.ir.types import Memory, round_up
from pypto_spec.passes.memory.lifetimes import Lifetime, Lifetimes
from pypto_spec.passes.memory.problem import Item, Pair, Problem
from pypto_spec.targets import A2A3

SIZES = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)


def random_problem(rng: Random, count: int) -> Problem:
    """A problem of `count` buffers over about as many statements."""
    made = _Maker(rng, count)
    while len(made.items) < count:
        rng.choice([made.chain, made.chain, made.nest, made.whole, made.lone, made.pipeline])()
    return made.problem()


class _Maker:
    """Collects items; `level` and `extra` are pairs of numbers."""

    def __init__(self, rng: Random, count: int) -> None:
        self.rng, self.count = rng, count
        self.length = max(4, 2 * count)
        self.items: list[Item] = []
        self.level: set[Pair] = set()
        self.extra: set[Pair] = set()

    def size(self) -> int:
        rng = self.rng
        drawn = rng.choice(SIZES) if rng.randrange(3) else rng.randrange(32, rng.choice(SIZES) + 32)
        return min(round_up(drawn, 32), SIZES[-1])

    def add(self, size: int, start: int, end: int) -> int:
        grid = 256 if self.rng.randrange(20) == 0 else 32
        self.items.append(Item(f"vec.{len(self.items)}", size, grid, start, min(end, self.length)))
        return len(self.items) - 1

    def chain(self) -> None:
        """Each buffer ends where the next begins, often with an op between them that may work in place."""
        at, size = self.rng.randrange(self.length), self.size()
        last: int | None = None
        for _ in range(self.rng.randint(2, 6)):
            end = at + self.rng.randint(1, 4)
            here = self.add(size, at, end)
            if last is not None and self.rng.randrange(3):
                self.level.add((last, here))
            at, last = self.items[here].end, here
            if at >= self.length:
                break

    def nest(self) -> None:
        """A buffer for the length of a loop, and some for parts of a round."""
        start = self.rng.randrange(self.length)
        end = start + self.rng.randint(2, self.length // 2)
        self.add(self.size(), start, end)
        for _ in range(self.rng.randint(1, 5)):
            inside = self.rng.randint(start, min(end, self.length))
            self.add(self.size(), inside, min(end, inside + self.rng.randint(0, 6)))

    def whole(self) -> None:
        """A small buffer for nearly all of the region: a statistic, an accumulator."""
        self.add(self.rng.choice(SIZES[:6]), self.rng.randrange(1 + self.length // 8), self.length)

    def lone(self) -> None:
        """Scratch of one statement."""
        at = self.rng.randrange(self.length)
        self.add(self.size(), at, at)

    def pipeline(self) -> None:
        """Copies of one tile that are not in use together, but are to be kept apart."""
        at, size, length = self.rng.randrange(self.length), self.size(), self.rng.randint(1, 4)
        made: list[int] = []
        for _ in range(self.rng.choice([2, 2, 3, 4])):
            made.append(self.add(size, min(at, self.length), at + length))
            at += length + 1
        self.extra |= {(a, b) for a in made for b in made if a < b}

    def problem(self) -> Problem:
        """What was collected, cut to the number of buffers that was asked for."""
        items = tuple(self.items[: self.count])
        count = len(items)
        meet = {
            (a, b)
            for a in range(count)
            for b in range(a + 1, count)
            if items[a].start <= items[b].end and items[b].start <= items[a].end
        }
        # In place only where one really ends as the other begins: the ends of lives are cut at the region's end.
        level = {
            (a, b) for a, b in self.level & meet if items[a].end == items[b].start and items[a].start < items[b].start
        }
        apart = (meet - level) | {(a, b) for a, b in self.extra if b < count} - level
        return Problem(Memory.VEC, A2A3.capacity[Memory.VEC], items, frozenset(apart), frozenset(level))


def with_authors(rng: Random, problem: Problem) -> Problem:
    """The problem with some of its buffers the author's: alone, and some with an address of their own."""
    items = list(problem.items)
    apart, level = set(problem.apart), set(problem.level)
    top = 0
    for n in rng.sample(range(len(items)), min(len(items), 2)):
        at = None
        if rng.randrange(2):
            at = top + 32 * rng.randrange(64)
            at = round_up(at, items[n].grid)
            top = at + items[n].bytes
        items[n] = replace(items[n], alone=True, address=at)
        pairs = {(min(n, m), max(n, m)) for m in range(len(items)) if m != n}
        apart |= pairs
        level -= pairs
    fixed = {n for n, item in enumerate(items) if item.address is not None}
    apart = {(a, b) for a, b in apart if a not in fixed or b not in fixed}
    return replace(problem, items=tuple(items), apart=frozenset(apart), level=frozenset(level))


def large_set(count: int, spread: int) -> tuple[Lifetimes, list[Buffer]]:
    """Lives that begin `spread` statements after each other, short and long ones, and their buffers."""
    rng = Random(1)
    loc = Loc(Span(Source("k.yaml", ""), 1, 1, 1, 2))
    lives, buffers = Lifetimes(()), []
    for n in range(count):
        name, start = f"b{n}", spread * n
        lives.of[name] = Lifetime(name, start, start + rng.choice([1, 4, 20, 200]))
        size = 32 * rng.randint(1, 512)
        buffers.append(Buffer(name=name, memory=Memory.VEC, loc=loc, bytes=size, owner="compiler"))
    return lives, buffers

"""Random regions of loops whose tiles stand in slots that rotate with the loops, as InsertSync gets them."""

from __future__ import annotations

from random import Random

from pypto_spec.ir.expr import Index, Sym, add, mod, mul, sym
from pypto_spec.ir.nodes import For, Op, Program, Stmt
from tests.passes.sync_programs import Maker


class SlotPrograms:
    """Makes one program: plain buffers, and allocations of 2 to 4 slots."""

    def __init__(self, rng: Random, name: str = "p", *, bounded: bool = False) -> None:
        self.rng = rng
        self.made = Maker(rng.choice([1, 2]), name)
        self.rings = [
            (self.made.rotating(slots), slots) for slots in rng.choices([2, 2, 3, 4], k=rng.choice([1, 2, 3]))
        ]
        self.bounded = bounded

    def program(self, size: int = 5) -> Program:
        """Loops beside and in each other, with statements around them; every slot is loaded before anything else."""
        made, rng = self.made, self.rng
        first: list[Stmt] = [made.load(k, k % 2, 4 * k) for k in range(len(made.buffers) - len(self.rings))]
        first += [made.load(made.place(ring, s), 0, 4 * s) for ring, slots in self.rings for s in range(slots)]
        body: list[Stmt] = []
        for _ in range(rng.choice([1, 1, 2])):
            body += [self.op([]) for _ in range(rng.randrange(2))]
            body.append(self.loop([], size))
        body += [self.op([]) for _ in range(rng.randrange(3))]
        return made.program(*first, *body)

    def loop(self, around: list[Sym], size: int) -> For:
        made, rng = self.made, self.rng
        start: Index = rng.choice([0, 0, 0, 1, 5])
        step = rng.choice([1, 1, 1, 1, 2])
        if rng.randrange(10) < 4:
            count: Index = sym(made.dim(rng.randrange(3)))
            if rng.randrange(4) == 0:
                start = sym(made.dim(0))
            last = None
        else:
            count = rng.choice([1, 2, 3, 4, 5, 8, 9])
            last = start + count - 1 if isinstance(start, int) else None
        index = Sym(f"i{made.lines}_{made.values}", "loop", start if isinstance(start, int) else 0, last)
        inside = [*around, index]
        body: list[Stmt] = self.pipeline(index) if rng.randrange(2) else []
        for _ in range(rng.randint(0 if body else 1, min(size, 2) if body else size)):
            kind = rng.randrange(100)
            if len(inside) < 2 and kind < 15:
                body.insert(rng.randint(0, len(body)), self.loop(inside, 3))
            elif kind < 22:
                then = tuple(self.op(inside) for _ in range(rng.randint(1, 2)))
                body.append(made.branch(rng.choice(inside), rng.randrange(2), then))
            else:
                body.append(self.op(inside))
        return made.loop(index, add(start, count), *body, step=step, start=start)

    def pipeline(self, index: Sym) -> list[Stmt]:
        """What a loop with rotating slots is for: loads into them, work on them, and a store."""
        made, rng = self.made, self.rng
        row = mul(sym(index), 4)
        tiles = [made.place(ring, mod(sym(index), slots)) for ring, slots in self.rings]
        loads: list[Stmt] = [made.load(tile, 0, row) for tile in tiles]
        work = [made.neg(rng.choice(tiles), tile) if rng.randrange(3) else made.neg(0, tile) for tile in tiles]
        return [*loads, *work, made.store(rng.choice([0, *tiles]), 1, row)]

    def place(self, around: list[Sym]) -> int:
        """A plain buffer, or a slot: by an index around, or a number."""
        made, rng = self.made, self.rng
        plain = len(made.buffers) - len(self.rings)
        if rng.randrange(10) < 3:
            return rng.randrange(plain)
        ring, slots = rng.choice(self.rings)
        if not around or rng.randrange(12) == 0:
            return made.place(ring, rng.randrange(slots))
        index: Index = sym(rng.choice(around) if rng.randrange(4) == 0 else around[-1])
        return made.place(ring, mod(add(index, rng.choice([0, 0, 0, 0, 1, slots - 1])), slots))

    def op(self, around: list[Sym]) -> Op:
        made, rng = self.made, self.rng
        row: Index = rng.choice([0, 4, 60])
        if around and rng.randrange(10) < 8:
            row = mul(sym(around[-1]), 4)
        kind = rng.randrange(100)
        if kind < 40:
            return made.load(self.place(around), 0, row)
        if kind < 65:
            return made.store(self.place(around), 1, row)
        if kind < 85:
            return made.neg(self.place(around), self.place(around))
        return made.maximum(self.place(around), self.place(around), self.place(around))


def slot_program(rng: Random, size: int = 5, name: str = "p") -> Program:
    """A random program with rotating slots."""
    return SlotPrograms(rng, name).program(size)

"""From the statements of a region to the checker's own model, refusing what no machine would accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pypto_spec.check.model import (
    Await,
    Block,
    Choice,
    Cycle,
    Effects,
    Execute,
    Fence,
    Flow,
    Group,
    Lasts,
    Node,
    Raise,
    Repeat,
    Terms,
    Touch,
)
from pypto_spec.check.ranges import shape
from pypto_spec.check.report import Reporter
from pypto_spec.check.turns import flag_ids, turns
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import (
    Expr,
    Index,
    Quot,
    Sym,
    add,
    bounds,
    ceil_div,
    mod,
    mul,
    sub,
    substitute,
    sym,
    symbols,
)
from pypto_spec.ir.instr import Effect, InnerBarrier, Ref
from pypto_spec.ir.nodes import Barrier, Buffer, BufferRef, For, If, Op, Region, SetFlag, Stmt, Value, WaitFlag
from pypto_spec.ir.rewrite import local_symbols
from pypto_spec.ir.types import Memory, TensorType, TileType
from pypto_spec.targets.events import BARRIERS, FLAG_KINDS

MOST_LAGS = 8
"""Iterations back that are told apart at most; slots and ids with a larger period are treated as overlapping."""


class UndecidedError(Exception):
    """Something about one statement that the checker does not know."""


class Builder:
    """Builds the model of one region."""

    def __init__(self, region: Region, buffers: Sequence[Buffer], event_ids: int, effects: Effects, out: Reporter):
        self.core = region.core or "aiv"
        self.event_ids = event_ids
        self.effects = effects
        self.out = out
        self.buffers: Mapping[str, Buffer] = {b.name: b for b in buffers}
        self.places: dict[BufferRef, tuple[str, Index]] = {}
        self.pipes: dict[str, int] = {"s": 0}
        self.owner: list[int] = []
        self.open: dict[int, int] = {}
        self.chain: tuple[Cycle, ...] = ()
        self.renamed: dict[Sym, Index] = {}
        self.turning = frozenset(s for index in flag_ids(region.body) for s in symbols(index))
        self.turns: tuple[int, ...] = ()
        self.last: dict[tuple[Cycle, int], int | None] = {}
        self.ids: dict[SetFlag | WaitFlag, set[Index]] = {}
        self.groups: dict[tuple[str, Terms, tuple[Cycle, ...], Lasts], Group] = {}
        self.loops_of: dict[tuple[Terms, tuple[Cycle, ...]], tuple[Cycle, ...]] = {}
        self.touches: list[Touch] = []
        self.units: dict[Op, list[Effect]] = {}
        """The effects of ops with unit flags."""
        self.depth = 0
        self.lags = 2
        self.order = 0

    def flow(self, region: Region) -> Flow:
        """The whole region."""
        body = self.block(region.body)
        self.refuse_ids()
        return Flow(list(self.pipes), body, self.owner, self.touches, self.depth, self.lags)

    def block(self, body: Sequence[Stmt]) -> Block:
        made = Block()
        self.open.clear()
        for node in body:
            if isinstance(node, Op):
                self.op(node, made)
            elif isinstance(node, SetFlag | WaitFlag):
                self.flag(node, made)
            elif isinstance(node, Barrier):
                self.barrier(node.pipe, node, made)
            elif isinstance(node, For):
                self.put(made, self.loop(node))
            elif isinstance(node, If):
                self.put(made, self.branch(node))
            else:
                self.out.undecided(node.loc, "a jump or call is still there", "")
        self.open.clear()
        return made

    def put(self, block: Block, node: Node) -> None:
        block.nodes.append(node)
        block.quiet.append(node)

    def pipe(self, name: str) -> int:
        return self.pipes.setdefault(name, len(self.pipes))

    def epoch(self, pipe: int) -> tuple[int, bool]:
        """The open epoch of a pipe, and whether it was opened just now."""
        found = self.open.get(pipe)
        if found is not None:
            return found, False
        self.open[pipe] = made = len(self.owner)
        self.owner.append(pipe)
        return made, True

    # Loops and branches

    def loop(self, loop: For) -> Repeat:
        cycle = self.cycle(loop)
        outer, renamed, around = self.chain, self.renamed, self.turns
        self.chain = (*outer, cycle)
        self.depth = max(self.depth, cycle.level)
        first = len(self.owner)
        if not cycle.turns:
            if cycle.index is not loop.index:
                self.renamed = {**renamed, loop.index: sym(cycle.index)}
            self.turns = (*around, 0)
            made = Repeat(cycle, (self.block(loop.body),), frozenset({0}))
        else:
            made = self.in_turns(loop, cycle)
        cycle.epochs = (1 << len(self.owner)) - (1 << first)
        self.chain, self.renamed, self.turns = outer, renamed, around
        return made

    def in_turns(self, loop: For, cycle: Cycle) -> Repeat:
        """A loop whose flags change their ids: its body once for each turn, numbers made in it new each time."""
        renamed, around, fresh = self.renamed, self.turns, set(cycle.varying)
        start, stop = (substitute(i, renamed) for i in (loop.start, loop.stop))
        assert isinstance(loop.step, int)
        count = ceil_div(sub(stop, start), loop.step)
        trips = bounds(count)[1]
        blocks: list[Block] = []
        for turn in range(cycle.turns if trips is None else min(cycle.turns, trips)):
            number: Index = turn if cycle.most == 1 else add(mul(sym(cycle.index), cycle.turns), turn)
            own = {s: Sym(s.name, s.kind, s.low, s.high, s.multiple) for s in varying(loop)}
            fresh.update(own.values())
            self.renamed = {
                **renamed, **{s: sym(n) for s, n in own.items()}, loop.index: add(start, mul(number, loop.step)),
            }  # fmt: skip
            self.turns = (*around, turn)
            self.last[cycle, turn] = None if trips is None else (trips - 1 - turn) // cycle.turns
            cycle.varying = frozenset(fresh)
            blocks.append(self.block(loop.body))
        rest = mod(count, cycle.turns)
        ends = range(len(blocks))
        if loop.condition is None and isinstance(rest, int) and blocks:
            ends = range((rest - 1) % cycle.turns, (rest - 1) % cycle.turns + 1)
        return Repeat(cycle, tuple(blocks), frozenset(ends))

    def cycle(self, loop: For) -> Cycle:
        start, stop, step = (substitute(i, self.renamed) for i in (loop.start, loop.stop, loop.step))
        low, last = bounds(start)[0], bounds(stop)[1]
        high = None if last is None else last - 1
        index = loop.index
        if index.low is not None and (low is None or index.low > low):
            low = index.low
        if index.high is not None and (high is None or index.high < high):
            high = index.high
        if (low, high) != (index.low, index.high):
            index = Sym(index.name, index.kind, low, high)
        free = Sym(f"{index.name}'", index.kind, low, high)
        shortest, longest = bounds(sub(stop, start))
        least, most = (1 if shortest is not None and shortest > 0 else 0), None
        if loop.condition is not None:
            least = 0
        if isinstance(step, int) and step > 0:
            if shortest is not None:
                least = 0 if loop.condition is not None else max(0, -(-shortest // step))
            if longest is not None:
                most = max(0, -(-longest // step))
        level, count = len(self.chain) + 1, turns(loop) if loop.index in self.turning else 0
        if count:
            least, most = -(-least // count), None if most is None else -(-most // count)
            index, free = (Sym(s.name, s.kind, 0, None if most is None else most - 1) for s in (index, free))
            return Cycle(loop, level, index, free, 1, least, most, turns=count)
        return Cycle(loop, level, index, free, step, least, most, self.named(varying(loop)))

    def named(self, found: frozenset[Sym]) -> frozenset[Sym]:
        """These symbols by the names of the turn at hand."""
        if not self.renamed:
            return found
        return frozenset(s for old in found for s in symbols(substitute(sym(old), self.renamed)))

    def branch(self, branch: If) -> Choice:
        return Choice(branch, self.block(branch.then), self.block(branch.other))

    # Flags and barriers

    def flag(self, node: SetFlag | WaitFlag, block: Block) -> None:
        if (node.source, node.target) not in FLAG_KINDS[self.core]:
            self.out.flag_kind(node, self.core)
            return
        number = substitute(node.id, self.renamed)
        if not isinstance(number, int) or not 0 <= number < self.event_ids:
            self.ids.setdefault(node, set()).add(number)
            return
        key = (self.pipe(node.source), self.pipe(node.target), number)
        if isinstance(node, SetFlag):
            self.put(block, Raise(node, key))
            self.open.pop(key[0], None)
        else:
            epoch, opens = self.epoch(key[1]) if key[1] else (0, False)
            self.put(block, Await(node, key, epoch, opens))

    def refuse_ids(self) -> None:
        """Report the ids that are not known, each expression once, and those out of range."""
        unknown: dict[Index, list[SetFlag | WaitFlag]] = {}
        for node, found in self.ids.items():
            numbers = sorted(n for n in found if isinstance(n, int))
            if len(numbers) < len(found):
                unknown.setdefault(node.id, []).append(node)
            else:
                self.out.flag_id(node, self.event_ids, numbers)
        for nodes in unknown.values():
            self.out.flag_id_unknown(nodes)

    def barrier(self, name: str, node: Barrier | Op, block: Block) -> None:
        if name not in BARRIERS[self.core]:
            self.out.barrier_kind(node, name, self.core)
        elif name == "all":
            self.put(block, Fence(None))
            self.open.clear()
        else:
            self.fence(self.pipe(name), block)

    def fence(self, pipe: int, block: Block) -> None:
        self.put(block, Fence(pipe))
        self.open.pop(pipe, None)

    # Instructions

    def op(self, op: Op, block: Block) -> None:
        steps = op.instrs
        if steps is None:
            self.out.undecided(op.loc, f"the instructions of `{op.name}` are not known", "")
            return
        if not steps:
            return
        try:
            found = list(self.effects(steps, lambda ref: _dtype(op, ref), lambda ref: self.memory(op, ref.name)))
            if marked := [e for e in found if e is not None and e.unit != 0]:
                self.units[op] = marked
            for step, effect in zip(steps, found, strict=True):
                if isinstance(step, InnerBarrier):
                    self.barrier(step.pipe, op, block)
                elif effect is None:
                    raise UndecidedError(f"what `{step.call}` reads and writes is not known")
                else:
                    self.instruction(op, effect, block)
        except (UndecidedError, KeyError, ValueError, AssertionError) as error:
            what = str(error) if isinstance(error, UndecidedError) else f"{type(error).__name__}: {error}"
            self.out.undecided(op.loc, f"`{op.name}` cannot be checked: {what}", "")

    def instruction(self, op: Op, effect: Effect, block: Block) -> None:
        pipe = self.pipe(effect.pipe)
        if not effect.regions and pipe == 0:
            return
        if effect.fenced:
            self.fence(pipe, block)
        epoch, opens = self.epoch(pipe)
        made = Execute(op, pipe, epoch, opens, self.order, self.chain, self.turns)
        self.order += 1
        for region in effect.regions:
            form = shape(region.width, region.steps)
            if form is None:
                continue
            space, start = self.locate(op, region.operand)
            base = add(start, region.base)
            if isinstance(base, int):
                group, const = self.group(space, ()), base
            else:
                if self.renamed:
                    base = substitute(base, self.renamed)
                terms, const = (base.terms, base.const) if isinstance(base, Expr) else ((), base)
                group = self.group(space, terms)
            atomic = effect.atomic and region.write
            touch = Touch(group, const, form, region.write, atomic, made, region.ordered)
            made.touches.append(touch)
            self.touches.append(touch)
        block.nodes.append(made)
        if opens:
            block.quiet.append(made)

    def group(self, space: str, terms: Terms) -> Group:
        cycles: tuple[Cycle, ...] = ()
        if terms and self.chain:
            known = self.loops_of.get((terms, self.chain))
            cycles = self.relevant(terms) if known is None else known
        last: Lasts = ()
        if self.last:
            last = tuple([(c, self.last[c, self.turns[c.level - 1]]) for c in cycles if c.turns])
        found = self.groups.get((space, terms, cycles, last))
        if found is None:
            found = self.groups[space, terms, cycles, last] = Group(space, terms, cycles, last)
        return found

    def relevant(self, terms: Terms) -> tuple[Cycle, ...]:
        """The loops around this place on whose indices an address depends; notes the period of `i % N`."""
        inside = symbols(Expr(terms, 0))
        found = tuple(c for c in self.chain if c.index in inside or not c.varying.isdisjoint(inside))
        self.loops_of[terms, self.chain] = found
        for atom, _ in terms:
            if isinstance(atom, Quot) and found:
                self.lags = max(self.lags, min(atom.by, MOST_LAGS))
        return found

    def locate(self, op: Op, operand: str) -> tuple[str, Index]:
        """Space and byte address of an operand: a memory by its name, a tensor as `gm NAME`."""
        if operand.startswith("scratch"):
            number = int(operand[8:]) if len(operand) > 7 else 0
            if number >= len(op.scratch):
                raise UndecidedError(f"`{operand}` has no place")
            return self.place(op.scratch[number])
        value = _value(op, operand)
        if isinstance(value.type, TensorType):
            return f"gm {value.name}", 0
        if value.buffer is None:
            raise UndecidedError(f"`{value.name}` has no buffer")
        return self.place(value.buffer)

    def memory(self, op: Op, operand: str) -> Memory:
        """The memory an operand is in."""
        space, _ = self.locate(op, operand)
        return Memory.GM if space.startswith("gm ") else Memory(space)

    def place(self, ref: BufferRef) -> tuple[str, Index]:
        found = self.places.get(ref)
        if found is None:
            buffer = self.buffers.get(ref.buffer)
            if buffer is None or buffer.address is None:
                raise UndecidedError(f"buffer `{ref.buffer}` has no address")
            address = add(buffer.address, ref.offset)
            if ref.slot is not None:
                if buffer.bytes is None:
                    raise UndecidedError(f"buffer `{ref.buffer}` has no size")
                address = add(address, mul(ref.slot, buffer.bytes))
            found = self.places[ref] = (buffer.memory.value, address)
        return found


def varying(loop: For) -> frozenset[Sym]:
    """The numbers that may differ from iteration to iteration of a loop: carried, or made in its body."""
    found = {n.arg for n in loop.numbers}
    if loop.numbers or any(isinstance(s, For | If) for s in loop.body):
        found.update(s for s in local_symbols(loop.body) if s.kind == "local")
    return frozenset(found)


def _value(op: Op, operand: str) -> Value:
    found = op.operands.get(operand)
    if found is not None:
        return found
    binds = [f.name for f in op.defn.fields if f.kind == "bind"]
    if operand not in binds:
        raise UndecidedError(f"`{op.name}` has no operand `{operand}`")
    return op.results[binds.index(operand)]


def _dtype(op: Op, ref: Ref) -> DType:
    if ref.dtype is not None:
        return ref.dtype
    kind = _value(op, ref.name).type
    if not isinstance(kind, TileType | TensorType):
        raise UndecidedError(f"`{ref.name}` is no tile and no tensor")
    return kind.dtype

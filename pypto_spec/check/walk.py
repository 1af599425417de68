"""The interpreter: runs a region's model to a fixpoint over its loops and both arms of its branches."""

from __future__ import annotations

from pypto_spec.check.index import AddressIndex
from pypto_spec.check.model import Await, Block, Choice, Execute, Fence, Flow, Raise, Repeat
from pypto_spec.check.report import Reporter
from pypto_spec.check.state import CLEAR, SET, Flag, Planes, State, moved

Key = tuple[int, int, int]

ENOUGH_RACES = 200
"""Races after which a region's accesses are no longer looked at: it is refused, and all of them would be too many."""


class Walker:
    """Interprets one region. Findings are reported in the last walk only, when every loop head is stable."""

    def __init__(self, flow: Flow, out: Reporter) -> None:
        self.flow = flow
        self.out = out
        self.planes = Planes(flow)
        self.index = AddressIndex(flow, self.planes)
        self.heads: dict[Repeat, State] = {}
        self.broken: set[Key] = set()
        self.flat: tuple[int, int] = (0, 0)

    def run(self) -> None:
        """Check the region from its start, with nothing pending, to its end."""
        state = State([0] * len(self.flow.pipes), {})
        self.block(self.flow.body, state, True)
        for key, flag in state.flags.items():
            if flag.status & SET and key not in self.broken and flag.setter is not None:
                self.out.left_set(flag.setter, flag.status == SET)
        self.out.finish(self.flow.pipes)

    def block(self, block: Block, state: State, check: bool) -> None:
        """Run a block; `state` is changed in place."""
        unknown = state.unknown
        for node in block.nodes if check else block.quiet:
            if isinstance(node, Execute):
                if check and node.touches and unknown[node.pipe] and len(self.out.races) < ENOUGH_RACES:
                    self.access(node, unknown[node.pipe])
                if node.opens:
                    self.begin(state, node.pipe, 1 << node.epoch)
            elif isinstance(node, Await):
                self.wait(node, state, check)
            elif isinstance(node, Raise):
                self.set(node, state, check)
            elif isinstance(node, Fence):
                if node.pipe is None:
                    unknown[:] = [0] * len(unknown)
                else:
                    unknown[node.pipe] &= ~self.planes.own[node.pipe]
            else:
                made = self.choice(node, state, check) if isinstance(node, Choice) else self.loop(node, state, check)
                state.unknown, state.flags = made.unknown, made.flags
                unknown = state.unknown

    def begin(self, state: State, pipe: int, bit: int) -> None:
        """Work of a new epoch was dispatched: nobody knows it to be complete (scalar work is in order by itself)."""
        unknown = state.unknown
        for number in range(1 if pipe == 0 else 0, len(unknown)):
            unknown[number] |= bit
        for flag in state.flags.values():
            if flag.status & SET:
                flag.unknown |= bit

    # Flags

    def wait(self, node: Await, state: State, check: bool) -> None:
        source, target, _ = key = node.key
        flag = state.flags.get(key) or Flag()
        learnt = flag.unknown
        if flag.status & CLEAR:
            if check and key not in self.broken:
                self.broken.add(key)
                self.out.never_set(node.node, flag.status == CLEAR, flag.waiter)
            if flag.status == CLEAR:
                learnt = state.unknown[source] & ~self.planes.own[source]
        if target == 0:
            state.unknown[:] = [bits & learnt for bits in state.unknown]
            state.flags[key] = Flag(CLEAR, 0, 0, flag.setter, node.node)
            return
        state.unknown[target] &= learnt
        bit = 1 << node.epoch
        state.flags[key] = Flag(CLEAR, 0, bit, flag.setter, node.node)
        if node.opens:
            self.begin(state, target, bit)

    def set(self, node: Raise, state: State, check: bool) -> None:
        source, _, _ = key = node.key
        flag = state.flags.get(key) or Flag()
        unknown = state.unknown[source] & ~self.planes.own[source]
        if check and key not in self.broken:
            if flag.status & SET:
                self.broken.add(key)
                self.out.set_twice(node.node, flag.setter, flag.status == SET)
            elif flag.waited & unknown:
                self.broken.add(key)
                self.out.set_unordered(node.node, flag.waiter)
        state.flags[key] = Flag(SET, unknown, 0, node.node, flag.waiter)

    # Control flow

    def choice(self, node: Choice, state: State, check: bool) -> State:
        other = state.copy()
        self.block(node.then, state, check)
        self.block(node.other, other, check)
        return state.join(other)

    def loop(self, node: Repeat, state: State, check: bool) -> State:
        cycle = node.cycle
        if cycle.most == 0:
            return state
        if cycle.least > 1 and not check:  # its head is asked for when it is reported on
            return moved(self.last_round(node, state), self.planes, cycle, False)
        entry = state if cycle.least == 0 else None
        known = self.heads.get(node)
        head = state.copy() if known is None else known.join(state)
        while True:
            out = head.copy()
            for turn in node.turns:
                self.block(turn, out, False)
            again = head if cycle.most == 1 else head.join(moved(out, self.planes, cycle, True))
            if again.same(head):
                break
            head = again
        self.heads[node] = head
        if check or not node.whole:
            out = self.end(node, head.copy(), check)
        if cycle.least > 1:
            out = self.last_round(node, state)
        left = moved(out, self.planes, cycle, False)
        return left if entry is None else left.join(entry)

    def end(self, node: Repeat, state: State, check: bool) -> State:
        """The end of the last round, after whichever turn that is."""
        last, out = max(node.ends), None
        for number, turn in enumerate(node.turns):
            if number > last and not check:
                break
            self.block(turn, state, check)
            if number in node.ends:
                here = state if number == len(node.turns) - 1 else state.copy()
                out = here if out is None else out.join(here)
        assert out is not None
        return out

    def last_round(self, node: Repeat, state: State) -> State:
        """The end of the last round of a loop that runs at least twice: no first round, which may know less."""
        for turn in node.turns:
            self.block(turn, state, False)
        later = moved(state, self.planes, node.cycle, True)
        while True:
            out = later.copy()
            for turn in node.turns:
                self.block(turn, out, False)
            again = later.join(moved(out, self.planes, node.cycle, True))
            if again.same(later):
                return out if node.whole else self.end(node, later, False)
            later = again

    # Accesses

    def access(self, node: Execute, unknown: int) -> None:
        if self.flat[0] != unknown:
            self.flat = (unknown, self.planes.flatten(unknown) if self.planes.count > 1 else unknown)
        for touch in node.touches:
            for found, past in self.index.clashes(touch, unknown, self.flat[1]):
                self.out.race(found, touch, past or _turned(found.step, touch.step), self.flat[1])


def _turned(first: Execute, then: Execute) -> bool:
    """Whether the two stand in different turns of a loop, which makes the first one's an earlier iteration."""
    around = zip(first.chain, then.chain, strict=False)
    return any(a is b and first.turns[n] != then.turns[n] for n, (a, b) in enumerate(around))

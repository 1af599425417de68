"""The abstract state: for each pipe and each raised flag, which work it does *not* know to be complete.

A set of epochs is one integer. Bit `e` of plane 0 is epoch `e` in the current iteration of all loops around it (for a
loop that has ended: in any of its iterations). Inside the loop of level `l`, planes `(l, k)` hold its epochs `k`
iterations ago, the last of them `k` or more ago. Joining paths is a bitwise or: work that a path did not run is not
unknown on it.
"""

from __future__ import annotations

from pypto_spec.check.model import Cycle, Flow
from pypto_spec.ir.nodes import SetFlag, WaitFlag
from pypto_spec.records import dataclass

CLEAR, SET = 1, 2


@dataclass(slots=True)
class Flag:
    """What is known of one flag. `status` joins CLEAR and SET over the paths.

    `unknown` is what the set did not know (where SET), `waited` the epoch of the wait that cleared it (where CLEAR).
    """

    status: int = CLEAR
    unknown: int = 0
    waited: int = 0
    setter: SetFlag | None = None
    waiter: WaitFlag | None = None


class State:
    """Knowledge at one point. `unknown` is per pipe."""

    __slots__ = ("flags", "unknown")

    def __init__(self, unknown: list[int], flags: dict[tuple[int, int, int], Flag]) -> None:
        self.unknown = unknown
        self.flags = flags

    def copy(self) -> State:
        flags = {k: Flag(f.status, f.unknown, f.waited, f.setter, f.waiter) for k, f in self.flags.items()}
        return State(self.unknown.copy(), flags)

    def same(self, other: State) -> bool:
        """Whether the two say the same; which statements set and cleared the flags does not matter."""
        if self.unknown != other.unknown or self.flags.keys() != other.flags.keys():
            return False
        pairs = ((f, other.flags[k]) for k, f in self.flags.items())
        return all((f.status, f.unknown, f.waited) == (g.status, g.unknown, g.waited) for f, g in pairs)

    def join(self, other: State) -> State:
        """What holds whichever of the two paths was taken."""
        flags: dict[tuple[int, int, int], Flag] = {}
        for key in self.flags.keys() | other.flags.keys():
            f, g = self.flags.get(key) or Flag(), other.flags.get(key) or Flag()
            flags[key] = Flag(
                f.status | g.status, f.unknown | g.unknown, f.waited | g.waited, f.setter or g.setter,
                f.waiter or g.waiter,
            )  # fmt: skip
        return State([a | b for a, b in zip(self.unknown, other.unknown, strict=True)], flags)


class Planes:
    """Where the bits of a region's epochs stand, and how they move at the edges of loops."""

    def __init__(self, flow: Flow) -> None:
        self.size = max(1, len(flow.owner))
        self.lags = flow.lags
        self.count = 1 + flow.depth * self.lags
        own = [0] * len(flow.pipes)
        for epoch, pipe in enumerate(flow.owner):
            own[pipe] |= 1 << epoch
        self.own = [sum(bits << (plane * self.size) for plane in range(self.count)) for bits in own]
        """All bits of a pipe's own epochs."""
        self._known: dict[Cycle, tuple[int, int, int]] = {}

    def offset(self, level: int, lag: int) -> int:
        """Where plane (level, lag) begins."""
        return (1 + (level - 1) * self.lags + lag - 1) * self.size

    def _masks(self, cycle: Cycle) -> tuple[int, int, int]:
        """A loop's epochs in its planes: in all of them, in all but the oldest, in the oldest."""
        found = self._known.get(cycle)
        if found is None:
            young = 0
            for lag in range(1, self.lags):
                young |= cycle.epochs << self.offset(cycle.level, lag)
            oldest = cycle.epochs << self.offset(cycle.level, self.lags)
            found = self._known[cycle] = (young | oldest, young, oldest)
        return found

    def again(self, bits: int, cycle: Cycle) -> int:
        """Back to the head of a loop: everything in it is one iteration older."""
        every, young, oldest = self._masks(cycle)
        now = bits & cycle.epochs
        older = now << self.offset(cycle.level, 1) | (bits & young) << self.size | bits & oldest
        return bits ^ now ^ bits & every | older

    def leave(self, bits: int, cycle: Cycle) -> int:
        """Behind a loop: its iterations are no longer told apart."""
        inside = bits & self._masks(cycle)[0]
        bits ^= inside
        for lag in range(1, self.lags + 1):
            bits |= (inside >> self.offset(cycle.level, lag)) & cycle.epochs
        return bits

    def flatten(self, bits: int) -> int:
        """The epochs in any plane."""
        found = bits
        while bits:
            bits >>= self.size
            found |= bits
        return found & ((1 << self.size) - 1)


def moved(state: State, planes: Planes, cycle: Cycle, back: bool) -> State:
    """The state carried over the back edge of a loop, or out of it."""
    move = planes.again if back else planes.leave
    flags = {
        k: Flag(
            f.status, f.unknown and move(f.unknown, cycle), f.waited and move(f.waited, cycle), f.setter, f.waiter
        )
        for k, f in state.flags.items()
    }  # fmt: skip
    return State([move(bits, cycle) for bits in state.unknown], flags)

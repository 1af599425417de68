"""Walks the shape of a region and feeds a machine, without going through every iteration of a loop.

Where the machine's state comes back at the start of an iteration, and the iterations ahead are those since then again,
their cycles are added at once. That is exact: times are whole, and the state holds all that later times depend on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Condition
from pypto_spec.report.timeline.events import Event
from pypto_spec.report.timeline.keys import Budget, Keys
from pypto_spec.report.timeline.known import Guesses, number, truth
from pypto_spec.report.timeline.machine import Machine, Mark
from pypto_spec.report.timeline.shape import Choice, Cycle, Node, Number, Shape, Varying

FEWEST = 4
"""Trips from which on it is worth looking for a repetition."""
MARKS = 8
"""Earlier iterations with the same state that are tried."""


class Seen(NamedTuple):
    """An iteration at whose start the machine was in some state."""

    iteration: int
    mark: Mark


class Walker:
    """One block's walk."""

    def __init__(
        self,
        shape: Shape,
        machine: Machine,
        values: dict[Sym, int],
        budget: Budget,
        guesses: Guesses,
        *,
        jump: bool = True,
    ) -> None:
        self.shape = shape
        self.machine = machine
        self.values = values
        self.budget = budget
        self.guesses = guesses
        self.jump = jump

    def run(self) -> None:
        """The whole block. Raises TooMuchError and StuckError."""
        self.nodes(self.shape.nodes)

    def nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, tuple):
                self.budget.event(len(node))
                self.machine.feed(node)
            elif isinstance(node, Varying):
                event = self.varying(node)
                if event is not None:
                    self.budget.event(1)
                    self.machine.feed((event,))
            elif isinstance(node, Choice):
                self.choice(node)
            elif node.condition is not None or node.next:
                self.counted(node)
            else:
                self.cycle(node)

    def varying(self, node: Varying) -> Event | None:
        """The event for the values at hand; None where it does nothing."""
        event = node.event
        if node.id is not None:
            assert isinstance(event.flag, tuple)
            event = event._replace(flag=(*event.flag, self.guesses.number(node.id, self.values)))
        if node.amounts is None:
            return event
        if self.guesses.number(node.amounts.elements, self.values) <= 0:
            return None
        bytes = self.guesses.number(node.amounts.bytes, self.values)
        repeats = self.guesses.number(node.amounts.repeats, self.values)
        return event._replace(cycles=self.shape.cost(event, bytes, repeats, node.readers))

    # -- branches -------------------------------------------------------------------------------------------------

    def choice(self, node: Choice) -> None:
        try:
            taken = truth(node.condition, self.values)
        except KeyError:
            taken = weight(node.then) >= weight(node.other)
            arm = "taken" if taken else "not taken"
            self.guesses.note(
                f"the condition of line {node.line} is not known before the run: it is {arm}, the longer arm"
            )
        self.nodes(node.then if taken else node.other)
        self.set(node.then_numbers if taken else node.other_numbers)

    def set(self, numbers: Iterable[Number]) -> None:
        """Give numbers their values, all at once; those that are not known have none."""
        made: list[tuple[Sym, int | None]] = []
        for item in numbers:
            try:
                made.append((item.symbol, number(item.value, self.values)))
            except KeyError:
                made.append((item.symbol, None))
        for symbol, value in made:
            if value is None:
                self.values.pop(symbol, None)
            else:
                self.values[symbol] = value

    # -- loops ----------------------------------------------------------------------------------------------------

    def counted(self, node: Cycle) -> None:
        """A loop with carried numbers or a condition: every iteration, one after the other."""
        self.set(node.first)
        trips = None if node.trips is None else max(0, self.guesses.number(node.trips, self.values))
        iteration = 0
        while trips is None or iteration < trips:
            self.budget.look()
            if node.condition is not None and not self.goes_on(node.condition, node, iteration):
                break
            self.values[node.index] = iteration
            self.nodes(node.body)
            self.set(node.next)
            iteration += 1
        self.set(node.last)

    def goes_on(self, condition: Condition, node: Cycle, iteration: int) -> bool:
        try:
            return truth(condition, self.values)
        except KeyError:
            if node.trips is None:
                self.guesses.note(f"how often the loop of line {node.line} runs is not known: once is assumed")
                return iteration == 0
            self.guesses.note(f"whether the loop of line {node.line} ends early is not known: it does not")
            return True

    def cycle(self, node: Cycle) -> None:
        assert node.trips is not None
        trips = max(0, self.guesses.number(node.trips, self.values))
        machine = self.machine
        keys = Keys(node.index, node, self.values, self.budget)
        seen: dict[Hashable, list[Seen]] = {}
        look = self.jump and trips >= FEWEST
        iteration = 0
        while iteration < trips:
            if look and (state := machine.state()) is not None:
                earlier = seen.setdefault((state, keys.at(iteration)), [])
                ahead = self.repeat(earlier, keys, iteration, trips)
                if ahead:
                    iteration += ahead
                    seen.clear()
                    continue
                earlier.append(Seen(iteration, machine.mark()))
            self.budget.look()
            self.values[node.index] = iteration
            self.nodes(node.body)
            iteration += 1
        self.values.pop(node.index, None)

    def repeat(self, earlier: Sequence[Seen], keys: Keys, iteration: int, trips: int) -> int:
        """Let the iterations since an earlier one happen again as often as they do; how many that were."""
        for seen in reversed(earlier[-MARKS:]):
            period = iteration - seen.iteration
            times = keys.times(seen.iteration, period, trips)
            if times:
                self.machine.repeat(seen.mark, times)
                return times * period
        return 0


def weight(nodes: Sequence[Node]) -> int:
    """Roughly the cycles of a list of nodes, to tell the longer arm of a branch."""
    total = 0
    for node in nodes:
        if isinstance(node, tuple):
            total += sum(event.cycles for event in node)
        elif isinstance(node, Varying):
            total += 1
        elif isinstance(node, Choice):
            total += max(weight(node.then), weight(node.other))
        else:
            total += weight(node.body) * (node.trips if isinstance(node.trips, int) else 2)
    return total

"""One core in cycles: a scalar stream that dispatches in order into one queue per pipe.

* An event enters the queue of its pipe when it is dispatched, one `dispatch` after the one before it; the scalar stream
  stands still while that queue holds `queue_depth` events that have not started.
* A pipe works one event after the other. That instructions of one pipe may overlap is a matter of correctness here, not
  of time.
* Instructions with unit flags of one accumulator overlap, an Mmad with the Fixpipe behind it and that with the next
  Mmad: the later one starts no earlier and ends no earlier than the one before.
* A flag is up when the earlier work of the pipe that sets it is done. A wait keeps its pipe (the scalar stream:
  dispatch) until then. A barrier of one pipe costs its cycles, one of all pipes stops the scalar stream until all are
  done.

All times are whole cycles, so that a state that comes back can be told from one that almost does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from pypto_spec.report.timeline.events import ALL, BARRIER, PIPES, RUN, SET, WAIT, Event
from pypto_spec.targets.costs import Costs

N = len(PIPES)
S = PIPES.index("s")

State = tuple[Hashable, ...]


class StuckError(Exception):
    """A wait for a flag that nothing sets any more."""


class Span(NamedTuple):
    """When one instruction ran, in cycles from the start of its block."""

    pipe: str
    name: str
    line: int
    start: int
    end: int


class Again(NamedTuple):
    """Spans `first` up to `last` come again `times` times, each `period` cycles later, with what they repeat inside."""

    first: int
    last: int
    period: int
    times: int


class Mark(NamedTuple):
    """How far a machine had come: what a repetition adds is the difference of two."""

    now: int
    busy: tuple[int, ...]
    instructions: int
    spans: int


class Machine:
    """Takes events in dispatch order; `now` is the time of the scalar stream."""

    def __init__(self, costs: Costs, *, keep_spans: bool = False) -> None:
        self.costs = costs
        self.now = 0
        self.free = [0] * N
        self.busy = [0] * N
        self.instructions = 0
        self.fed = 0
        self.spans: list[Span] | None = [] if keep_spans else None
        self.again: list[Again] = []
        self._left: list[deque[int]] = [deque(maxlen=costs.queue_depth) for _ in range(N)]
        self._held: list[deque[tuple[int, Event]]] = [deque() for _ in range(N)]
        self._flags: dict[Hashable, deque[int]] = {}
        self._waiting: dict[Hashable, int] = {}
        self._tiles: dict[Hashable, tuple[int, int]] = {}
        """Start and end of the last instruction with unit flags of an accumulator."""

    @property
    def end(self) -> int:
        """When everything dispatched so far is done. Raises StuckError where something never is."""
        self._settled("the kernel ends")
        return max(self.now, *self.free)

    def feed(self, events: Iterable[Event]) -> None:
        """Dispatch events, one after the other."""
        for event in events:
            self._dispatch(event)

    def _dispatch(self, event: Event) -> None:
        self.fed += 1
        step = self.costs.dispatch
        pipe = event.pipe
        self.busy[S] += step
        if pipe == S:
            self.now += step
            self._scalar(event)
            return
        if pipe == ALL:
            self.now += step
            self._settled("a barrier of all pipes")
            self.now = max(self.now, *self.free) + event.cycles
            return
        left, held = self._left[pipe], self._held[pipe]
        place = self.costs.queue_depth - len(held)
        if place <= 0:
            raise StuckError(f"the queue of {PIPES[pipe]} is full, and what it waits for is not dispatched yet")
        if len(left) >= place and left[-place] > self.now:
            self.now = left[-place]
        self.now += step
        if held or not self._take(pipe, self.now, event):
            held.append((self.now, event))

    def _scalar(self, event: Event) -> None:
        if event.kind == WAIT:
            raised = self._flags.get(event.flag)
            if not raised:
                raise StuckError("the scalar stream waits for a flag that nothing before it sets")
            self.now = max(self.now, raised.popleft()) + event.cycles
            return
        start = self.now
        self.now += event.cycles
        if event.kind == SET:
            self._raise(event.flag, self.now)
        elif event.kind == RUN:
            self.busy[S] += event.cycles
            self.instructions += 1
            self._span(event, start)

    def _take(self, pipe: int, ready: int, event: Event) -> bool:
        """Let a pipe do an event; False where it is a wait for a flag that is not set yet."""
        free = self.free[pipe]
        start = ready if ready > free else free
        kind = event.kind
        if kind == WAIT:
            raised = self._flags.get(event.flag)
            if not raised:
                self._waiting[event.flag] = pipe
                return False
            up = raised.popleft()
            start = up if up > start else start
        end = start + event.cycles
        if kind == RUN and event.flag is not None:
            began, ended = self._tiles.get(event.flag, (start, end))
            start = max(start, began)
            end = max(start + event.cycles, ended)
            self._tiles[event.flag] = start, end
        self._left[pipe].append(start)
        self.free[pipe] = end
        if kind == RUN:
            self.busy[pipe] += event.cycles
            self.instructions += 1
            if self.spans is not None:
                self._span(event, start)
        elif kind == SET:
            self._raise(event.flag, end)
        else:
            assert kind in (WAIT, BARRIER)
        return True

    def _raise(self, flag: Hashable, time: int) -> None:
        self._flags.setdefault(flag, deque()).append(time)
        pipe = self._waiting.pop(flag, None)
        if pipe is None:
            return
        held = self._held[pipe]
        while held and self._take(pipe, *held[0]):
            held.popleft()

    def _settled(self, what: str) -> None:
        if any(self._held):
            names = ", ".join(PIPES[p] for p, held in enumerate(self._held) if held)
            raise StuckError(f"{what} while {names} waits for a flag that nothing sets")

    def _span(self, event: Event, start: int) -> None:
        if self.spans is not None:
            self.spans.append(Span(PIPES[event.pipe], event.name, event.line, start, start + event.cycles))

    # -- steady state ---------------------------------------------------------------------------------------------

    def state(self) -> State | None:
        """All that later times depend on, relative to the scalar stream; None while a pipe waits for a later set.

        What lies before the scalar stream's time can delay nothing that is dispatched from now on, and is left out.
        """
        if any(self._held):
            return None
        now = self.now
        return (
            tuple([time - now if time > now else 0 for time in self.free]),
            tuple([tuple([time - now for time in left if time > now]) for left in self._left]),
            frozenset(
                [
                    (flag, tuple([time - now if time > now else 0 for time in raised]))
                    for flag, raised in self._flags.items()
                    if raised
                ]
            ),
            frozenset(
                [(tile, max(start - now, 0), end - now) for tile, (start, end) in self._tiles.items() if end > now]
            ),
        )

    def mark(self) -> Mark:
        """How far the machine has come."""
        return Mark(self.now, tuple(self.busy), self.instructions, len(self.spans or ()))

    def repeat(self, since: Mark, times: int) -> None:
        """Let what happened since a mark, whose state was the present one, happen `times` times more."""
        ahead = (self.now - since.now) * times
        if self.spans is not None:
            self.again.append(Again(since.spans, len(self.spans), self.now - since.now, times))
        self.now += ahead
        self.free = [time + ahead for time in self.free]
        self.busy = [b + (b - a) * times for a, b in zip(since.busy, self.busy, strict=True)]
        self.instructions += (self.instructions - since.instructions) * times
        for left in self._left:
            for place in range(len(left)):
                left[place] += ahead
        for raised in self._flags.values():
            for place in range(len(raised)):
                raised[place] += ahead
        self._tiles = {tile: (start + ahead, end + ahead) for tile, (start, end) in self._tiles.items()}

"""The accesses that later instructions may still conflict with, found by address.

Only the newest access of each pipe and kind to a region is kept: whatever waits for it has waited for the older ones of
that pipe too, because a flag or barrier covers all earlier work of its pipe. So the history stays as large as the
memory is, not as long as the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pypto_spec.ir.access import Access, ordered, overlap
from pypto_spec.ir.expr import bounds
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.passes.sync.model import PIPES, Row
from pypto_spec.passes.sync.rotation import Moves
from pypto_spec.records import dataclass

PAGE_BITS = 14
MAX_PAGES = 64
"""An access over more pages than this, or at a run-time address, is kept in a list that every query reads."""


LOWEST, HIGHEST = -(1 << 62), 1 << 62
"""Ends of the hull of an access at a run-time address without bounds: it may be anywhere."""


@dataclass(frozen=True, slots=True)
class Record:
    """One access of an instruction instance: which op, on which pipe, when, and what that pipe knew then.

    `plain` is the access for any round of the loops around it; `low` and `high` are its hull in bytes.
    """

    access: Access
    op: Op
    pipe: int
    time: int
    row: Row
    atomic: bool
    plain: Access
    low: int
    high: int


class _Space:
    __slots__ = ("pages", "wide")

    def __init__(self) -> None:
        self.pages: dict[int, list[Record]] = {}
        self.wide: list[Record] = []

    def lists(self, low: int, high: int) -> Iterator[list[Record]]:
        """The lists an access with that hull belongs to."""
        pages = _pages(low, high)
        if pages is None:
            yield self.wide
        else:
            for page in pages:
                yield self.pages.setdefault(page, [])

    def put(self, record: Record) -> None:
        """Keep a record beside the others."""
        for records in self.lists(record.low, record.high):
            records.append(record)


class History:
    """Accesses by space and page; `touch` says whether an access can share a byte with a record, if not `overlap`."""

    __slots__ = ("spaces", "touch")

    def __init__(self, touch: Callable[[Record, Access], bool] | None = None) -> None:
        self.spaces: dict[str | Value, _Space] = {}
        self.touch = touch

    def copy(self) -> History:
        """A history that goes its own way from here."""
        made = History(self.touch)
        for key, space in self.spaces.items():
            other = made.spaces[key] = _Space()
            other.wide = list(space.wide)
            other.pages = {page: list(records) for page, records in space.pages.items()}
        return made

    def merge(self, other: History) -> None:
        """Add what another history has besides."""
        for key, space in other.spaces.items():
            mine = self.spaces.setdefault(key, _Space())
            mine.wide += _missing(mine.wide, space.wide)
            for page, records in space.pages.items():
                kept = mine.pages.setdefault(page, [])
                kept += _missing(kept, records)

    def settle(self, start: int, middle: int, moves: Moves) -> None:
        """Behind a loop: forget its rounds up to `middle`, let the last stand for any.

        `moves` are those of the loops around it, whose rounds are still told apart.
        """
        for space in self.spaces.values():
            kept: list[Record] = []
            for records in (space.wide, *space.pages.values()):
                fresh = [r for r in records if r.time > start]
                if fresh:
                    kept += fresh
                    records[:] = [r for r in records if r.time <= start]
            # None of them takes another's place: they may come from two arms of an `if`.
            for record in {id(r): r for r in kept if r.time > middle}.values():
                if record.access is record.plain:
                    space.put(record)
                    continue
                access = moves.access(record.plain)
                r = record
                space.put(Record(access, r.op, r.pipe, r.time, r.row, r.atomic, r.plain, *hull(access, r.plain)))

    def conflicts(
        self, access: Access, plain: Access, atomic: bool, pipe: int, known: Sequence[int], own: bool
    ) -> Iterator[Record]:
        """Records that touch a byte of `access` where one of both writes (two atomic writes do not conflict).

        Only those later than `known` says of their pipe; of `pipe` itself (`own`), or of all others. What the hardware
        orders by itself is left out.
        """
        space = self.spaces.get(access.space)
        if space is None:
            return
        low, high = hull(access, plain)
        pages = _pages(low, high)
        seen: set[int] = set()
        touch = self.touch
        lists = [space.wide]
        if pages is None:
            lists += space.pages.values()
        else:
            lists += [found for page in pages if (found := space.pages.get(page))]
        several = len(lists) > 2
        for records in lists:
            near = [
                r
                for r in records
                if r.time > known[r.pipe] and r.low < high and r.high > low and (r.pipe == pipe) is own
            ]
            for record in near:
                if not (record.access.write or access.write) or (atomic and record.atomic):
                    continue
                if several:
                    if id(record) in seen:
                        continue
                    seen.add(id(record))
                if access.ordered and ordered(record.access, PIPES[record.pipe], access, PIPES[pipe]):
                    continue
                if overlap(record.access, access) if touch is None else touch(record, access):
                    yield record

    def add(self, record: Record) -> None:
        """Keep a record; it takes the place of those it makes superfluous."""
        space = self.spaces.get(record.access.space)
        if space is None:
            space = self.spaces[record.access.space] = _Space()
        low, high = record.low, record.high
        for records in space.lists(low, high):
            if records:
                records[:] = [r for r in records if r.low < low or r.high > high or not _replaces(record, r)]
            records.append(record)


def hull(access: Access, plain: Access) -> tuple[int, int]:
    """First byte and end of an access; at a run-time address those it can have at all.

    They come from `plain`: the address in a later round of a loop is further on by some steps, and forgets in which
    round the loop ends.
    """
    base = access.base
    if isinstance(base, int):
        return base, base + access.extent
    low, high = bounds(plain.base)
    return LOWEST if low is None else low, HIGHEST if high is None else high + plain.extent


def _pages(low: int, high: int) -> range | None:
    first, last = low >> PAGE_BITS, (high - 1) >> PAGE_BITS
    return None if last - first >= MAX_PAGES else range(first, last + 1)


def _missing(kept: list[Record], records: list[Record]) -> list[Record]:
    known = set(map(id, kept))
    return [r for r in records if id(r) not in known]


def _replaces(new: Record, old: Record) -> bool:
    """Whether everything that must wait for `old` must also wait for `new`, and `new` comes after `old`.

    A full overwrite comes after whatever it overwrites (its own syncs saw to that); an access of the same pipe and kind
    stands for an older one of the same bytes. The hull of `old` is known to lie within that of `new`.
    """
    a, b = new.access, old.access
    if not a.write and (b.write or new.pipe != old.pipe):
        return False
    if new.atomic or old.atomic:
        return a == b and new.pipe == old.pipe
    if a == b:
        return True
    if a.ordered:
        return False  # what the hardware orders behind `new`, for the same bytes, it does not order behind `old`
    return not a.steps and isinstance(a.base, int) and isinstance(b.base, int)

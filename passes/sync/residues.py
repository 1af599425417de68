"""What holds from one run of a loop to its next run, inside an outer loop, for slots that rotate with it.

Where a flag has as many ids as there are slots, and the loop always starts at the same number, an id belongs to a slot:
the wait for it is for the last set in a round with that remainder, in whichever run that was. So whatever that set's
pipe knew of its own round holds for the slot, and the outer loop need not carry it once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pypto_spec.ir.access import Access
from pypto_spec.ir.nodes import For
from pypto_spec.passes.sync.history import Record
from pypto_spec.passes.sync.model import Edge, Row
from pypto_spec.passes.sync.rotation import same_slot


class Residues:
    """The runs so far of loops with such flags; `rotating` are all flags with ids in turn that loops carry."""

    def __init__(self, rotating: Mapping[For, Sequence[Edge]], loops: Iterable[For]) -> None:
        self.flags: dict[For, list[Edge]] = {
            loop: list(edges) for loop, edges in rotating.items() if isinstance(loop.start, int)
        }
        self.loop_of = {loop.index: loop for loop in loops}
        self.began: dict[For, int] = {}
        self.ended: dict[For, tuple[int, int]] = {}
        self.told: dict[Edge, tuple[Row, int]] = {}
        self.passed: dict[Edge, int] = {}

    def round(self, loop: For, number: int, time: int) -> None:
        """A round of a loop begins."""
        for edge in self.flags.get(loop, ()):
            self.passed.pop(edge, None)
        if number == 0:
            self.began[loop] = time

    def end(self, loop: For, start: int, time: int) -> None:
        """A run of a loop is over, whose last round, which stands for all, was from `start` to `time`."""
        self.ended[loop] = start, time

    def wait(self, edge: Edge, time: int) -> None:
        """A flag is waited for."""
        self.passed[edge] = time

    def set(self, edge: Edge, row: Row) -> None:
        """A flag is set in the first round of its loop, by a pipe that knows that much."""
        assert edge.loop is not None
        self.told[edge] = row, self.began[edge.loop]

    def ordered(self, record: Record, access: Access, pipe: int, known: Sequence[int]) -> bool:
        """Whether an access in a slot comes after that of the loop's former run in the same slot, by its ids alone.

        `access` is as in any round, `known` what its pipe may rely on.
        """
        found = same_slot(record.plain, access)
        loop = self.loop_of.get(found[0]) if found is not None else None
        if found is None or loop is None or loop not in self.ended or record.time > self.began.get(loop, 0):
            return False
        start, end = self.ended[loop]
        if not start < record.time <= end:
            return False
        for edge in self.flags.get(loop, ()):
            if edge.width != found[1] or edge not in self.told or edge not in self.passed:
                continue
            row, began = self.told[edge]
            waited = pipe == edge.target or known[edge.target] > self.passed[edge]
            if waited and row[record.pipe] - began >= record.time - start:
                return True
        return False

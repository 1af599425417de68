"""Making buffers for the compiler's own tiles and scratch."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.nodes import Buffer, BufferRef, Program
from pypto_spec.ir.types import Memory


class BufferPool:
    """The buffers of a program, to which new ones can be added: `vec.0`, `vec.1` ..., skipping names in use."""

    def __init__(self, program: Program) -> None:
        self.buffers: list[Buffer] = list(program.buffers)
        self._taken = {b.name for b in program.buffers}
        self._next: dict[Memory, int] = {}

    def fresh(self, memory: Memory, size: int, loc: Loc, *, slots: int = 1) -> BufferRef:
        """A new buffer of `slots` slots of `size` bytes for a statement at `loc`."""
        number = self._next.get(memory, 0)
        while f"{memory.value}.{number}" in self._taken:
            number += 1
        self._next[memory] = number + 1
        name = f"{memory.value}.{number}"
        self._taken.add(name)
        self.buffers.append(Buffer(name=name, memory=memory, loc=loc, bytes=size, slots=slots, owner="compiler"))
        return BufferRef(name)

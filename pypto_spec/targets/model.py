"""Hardware facts of a platform, as data with their sources."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from pypto_spec.ir.types import Memory
from pypto_spec.records import dataclass
from pypto_spec.targets.costs import Costs
from pypto_spec.targets.l0 import L0Costs


@dataclass(frozen=True, slots=True)
class Target:
    """A platform. Sizes in bytes, one field per fact; `sources` says where a fact comes from.

    `reserved` is what a memory has behind its `capacity` that kernels may not use; memories without it are left out.
    `moves` is where one copy leads from each memory, within a core or through GM, not from core to core.
    `costs` is the cost table, and `l0` what the L0 tile chooser reckons with; both have sources of their own.
    """

    name: str
    capacity: Mapping[Memory, int]
    reserved: Mapping[Memory, int]
    address_alignment: Mapping[Memory, int]
    moves: Mapping[Memory, tuple[Memory, ...]]
    vector_cores: int
    cube_cores: int
    max_repeat: int
    max_stride_blocks: int
    event_ids: int
    copy_block_count: int
    copy_block_bytes: int
    gm_burst_bytes: int
    l2_line_bytes: int
    npu_arch: str
    builds: bool
    costs: Costs
    l0: L0Costs
    sources: Mapping[str, str]

    def cores(self, core: str | None) -> int:
        """How many cores of a kind the platform has; without a kind the vector cores."""
        return self.cube_cores if core == "aic" else self.vector_cores


def route(target: Target, start: Memory, end: Memory) -> tuple[Memory, ...] | None:
    """The shortest way from one memory to another by `moves`, both ends included; None where there is none."""
    before: dict[Memory, Memory | None] = {start: None}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        if here is end:
            way = [here]
            while (step := before[way[-1]]) is not None:
                way.append(step)
            return tuple(reversed(way))
        for there in target.moves.get(here, ()):
            if there not in before:
                before[there] = here
                queue.append(there)
    return None

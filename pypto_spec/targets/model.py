"""Hardware facts of a platform, as data with their sources."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.ir.types import Memory
from pypto_spec.records import dataclass
from pypto_spec.targets.costs import Costs


@dataclass(frozen=True, slots=True)
class Target:
    """A platform. Sizes in bytes, one field per fact; `sources` says where a fact comes from.

    `reserved` is what a memory has behind its `capacity` that kernels may not use; memories without it are left out.
    `costs` is the cost table, which has sources of its own.
    """

    name: str
    capacity: Mapping[Memory, int]
    reserved: Mapping[Memory, int]
    address_alignment: Mapping[Memory, int]
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
    sources: Mapping[str, str]

    def cores(self, core: str | None) -> int:
        """How many cores of a kind the platform has; without a kind the vector cores."""
        return self.cube_cores if core == "aic" else self.vector_cores

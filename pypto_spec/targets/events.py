"""Which flags and barriers a core has.

Source: `EventToIndexAiv` and `EventToIndexAic` of kernel_event.h for 2201 (CANN 8.1.RC1 and 2026), `PipeBarrier` in the
Ascend C reference (PIPE_S is not taken).
"""

from __future__ import annotations

from collections.abc import Mapping


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for a, b in (kind.split("_") for kind in text.split()))


FLAG_KINDS: Mapping[str, frozenset[tuple[str, str]]] = {
    "aiv": _pairs("mte2_v v_mte2 mte3_v v_mte3 v_v mte3_mte2 mte2_mte3 s_v v_s s_mte2 mte2_s s_mte3 mte3_s"),
    "aic": _pairs(
        "mte2_mte1 mte1_mte2 mte1_m m_mte1 mte3_mte1 mte1_mte3 mte2_m m_mte2 m_fix fix_m mte3_mte2 mte2_mte3 s_mte2 "
        "mte2_s s_mte3 mte3_s mte2_fix fix_mte2 fix_s m_s fix_mte3 fix_mte1 mte1_fix fix_fix"
    ),
}
"""Legal (source, target) of a flag on each core."""

BARRIERS: Mapping[str, frozenset[str]] = {
    "aiv": frozenset({"v", "mte2", "mte3", "all"}),
    "aic": frozenset({"m", "mte1", "mte2", "mte3", "fix", "all"}),
}
"""Pipes that have a barrier on each core."""

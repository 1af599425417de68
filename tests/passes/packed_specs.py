"""Specs whose shared places overflow `vec`."""

from __future__ import annotations

from collections.abc import Sequence

ROWS = 8
"""Rows of 128 fp32 in one unit of a tile: 4 KiB, of which `vec` has 46."""


def loads_and_stores(name: str, events: Sequence[int], sizes: Sequence[int], rows: int = ROWS) -> str:
    """A kernel that loads tile n, of `sizes[n]` units, where n stands first in `events`, and stores it where second."""
    lines: list[str] = []
    loaded: set[int] = set()
    at = 0
    for n in events:
        if n not in loaded:
            loaded.add(n)
            window = f"at: [{rows * sum(sizes[:n])}, 0], shape: [{rows * sizes[n]}, 128]"
            lines.append(f"      - load: {{into: t{n}, from: x, {window}}}")
        else:
            lines.append(f"      - store: {{from: t{n}, to: out, at: [{at}, 0]}}")
            at += rows * sizes[n]
    head = (
        f"spec: v1\nname: {name}\ntensors:\n  x: {{dtype: fp32, shape: [{at}, 128]}}\n"
        f"  out: {{dtype: fp32, shape: [{at}, 128], access: out}}\nprogram:\n  - region: {name}\n    body:\n"
    )
    return head + "\n".join(lines) + "\n"


PACKED = loads_and_stores("packed", [4, 2, 1, 1, 2, 0, 3, 3, 4, 0], [16, 22, 7, 21, 9])
"""First fit places it, to the last byte; shared places need one unit more."""

SEARCHED = loads_and_stores("searched", [6, 4, 0, 6, 7, 3, 0, 5, 2, 4, 7, 3, 2, 1, 5, 1], [9, 23, 5, 8, 10, 20, 27, 3])
"""Only the exact search places it, to the last byte."""

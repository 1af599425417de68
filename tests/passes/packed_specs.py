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

KEPT = """\
spec: v1
name: kept
tensors:
  x:    {dtype: fp32, shape: [664, 128]}
  y:    {dtype: fp32, shape: [224, 128]}
  out:  {dtype: fp32, shape: [664, 128], access: out}
  more: {dtype: fp32, shape: [224, 128], access: out}
program:
  - region: kept
    body:
      - load:  {into: a, from: x, at: [0, 0], shape: [32, 128]}
      - load:  {into: b, from: x, at: [32, 0], shape: [48, 128]}
      - load:  {into: c, from: x, at: [80, 0], shape: [64, 128]}
      - load:  {into: d, from: x, at: [144, 0], shape: [80, 128]}
      - load:  {into: e, from: x, at: [224, 0], shape: [136, 128]}
      - store: {from: e, to: out, at: [224, 0]}
      - load:  {into: f, from: x, at: [360, 0], shape: [112, 128]}
      - store: {from: d, to: out, at: [144, 0]}
      - pipeline: {index: i, count: 4, stages: 2}
        body:
          - load:  {into: t, from: y, at: [i * 56, 0], shape: [56, 128]}
          - store: {from: t, to: more, at: [i * 56, 0]}
      - store: {from: a, to: out, at: [0, 0]}
      - store: {from: b, to: out, at: [32, 0]}
      - load:  {into: g, from: x, at: [472, 0], shape: [192, 128]}
      - store: {from: g, to: out, at: [472, 0]}
      - store: {from: c, to: out, at: [80, 0]}
      - store: {from: f, to: out, at: [360, 0]}
"""
"""Only the exact search keeps the two stages of its pipeline apart, to the last byte; one stage fits packed."""

ONLY_EXACT = """\
spec: v1
name: only_exact
tensors:
  x:    {dtype: fp32, shape: [592, 128]}
  y:    {dtype: fp32, shape: [160, 128]}
  out:  {dtype: fp32, shape: [592, 128], access: out}
  more: {dtype: fp32, shape: [160, 128], access: out}
program:
  - region: only_exact
    body:
      - load:  {into: g, from: x, at: [504, 0], shape: [72, 128]}
      - load:  {into: e, from: x, at: [408, 0], shape: [24, 128]}
      - load:  {into: f, from: x, at: [432, 0], shape: [72, 128]}
      - load:  {into: c, from: x, at: [368, 0], shape: [32, 128]}
      - load:  {into: a, from: x, at: [0, 0], shape: [152, 128]}
      - load:  {into: h, from: x, at: [576, 0], shape: [16, 128]}
      - store: {from: f, to: out, at: [432, 0]}
      - store: {from: a, to: out, at: [0, 0]}
      - load:  {into: b, from: x, at: [152, 0], shape: [216, 128]}
      - store: {from: g, to: out, at: [504, 0]}
      - pipeline: {index: i, count: 4, stages: 2}
        body:
          - load:  {into: t, from: y, at: [i * 40, 0], shape: [40, 128]}
          - store: {from: t, to: more, at: [i * 40, 0]}
      - store: {from: c, to: out, at: [368, 0]}
      - load:  {into: d, from: x, at: [400, 0], shape: [8, 128]}
      - store: {from: h, to: out, at: [576, 0]}
      - store: {from: d, to: out, at: [400, 0]}
      - store: {from: e, to: out, at: [408, 0]}
      - store: {from: b, to: out, at: [152, 0]}
"""
"""Only the exact search places it, with one stage or with both."""

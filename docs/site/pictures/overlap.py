"""When the instructions of a loop run, with one buffer and with two: the modelled timeline of two real kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from docs.site.pictures.canvas import Canvas
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.report.timeline import modelled
from pypto_spec.targets import TARGETS

ROUNDS = 6
PIPES = ("mte2", "v", "mte3")
LEFT, RIGHT = 76, 836

SPEC = """\
spec: v1
name: overlap
tensors:
  a:   {{dtype: fp32, shape: [{rows}, 128]}}
  out: {{dtype: fp32, shape: [{rows}, 128], access: out}}
program:
  - region: silu
    body:
      - {loop}
        body:
          - load:  {{into: t, from: a, at: [i * 64, 0], shape: [64, 128]}}
          - let: y = exp(t) + 1
          - store: {{from: y, to: out, at: [i * 64, 0]}}
"""


class Work(NamedTuple):
    """What one iteration does on one pipe: its first start and its last end, in cycles."""

    start: int
    end: int


def works(loop: str) -> tuple[dict[str, list[Work]], int]:
    """When each iteration of a loop works on each pipe, and the cycles of the whole kernel."""
    text = SPEC.format(rows=64 * ROUNDS, loop=loop)
    program = compile_source(Source("overlap.yaml", text)).program
    assert program is not None, text
    (kernel,) = modelled(program, TARGETS["a2a3"], spans=True, jump=False).kernels
    found: dict[str, list[Work]] = {}
    for pipe in PIPES:
        spans = [span for span in kernel.spans if span.pipe == pipe]
        each = len(spans) // ROUNDS
        assert each * ROUNDS == len(spans), f"{pipe} does not do the same in each iteration"
        parts = [spans[i : i + each] for i in range(0, len(spans), each)]
        found[pipe] = [Work(part[0].start, part[-1].end) for part in parts]
    return found, kernel.cycles


def draw() -> Canvas:
    """The picture."""
    sheet = Canvas(860, 396, "One buffer and two: when loads, computing and stores of a loop run")
    one, longest = works(f"for: {{index: i, count: {ROUNDS}}}")
    two, shorter = works(f"pipeline: {{index: i, count: {ROUNDS}, stages: 2}}")
    scale = (RIGHT - LEFT) / longest
    _rows(sheet, 30, f"for: one buffer, {longest:,} cycles", one, scale, back=1)
    _rows(sheet, 190, f"pipeline, stages: 2: two buffers, {shorter:,} cycles", two, scale, back=2)
    sheet.path([(LEFT, 344), (RIGHT, 344)])
    for cycle in range(0, longest, 2000):
        x = LEFT + cycle * scale
        sheet.path([(x, 340), (x, 348)])
        sheet.text(x, 362, f"{cycle:,}", "small faint")
    words = "modelled cycles; a number is the iteration, an arrow a flag: set where it begins, waited for where it ends"
    sheet.text(460, 384, words, "small faint")
    return sheet


def _rows(sheet: Canvas, y: float, title: str, found: dict[str, list[Work]], scale: float, back: int) -> None:
    sheet.text(24, y, title, "head", "start")
    tops = {pipe: y + 16 + 38 * place for place, pipe in enumerate(PIPES)}
    for pipe, top in tops.items():
        sheet.text(66, top + 18, pipe.upper(), "small", "end")
        sheet.path([(LEFT, top + 26), (RIGHT, top + 26)], "dash")
    for pipe, top in tops.items():
        for number, work in enumerate(found[pipe]):
            x, width = LEFT + work.start * scale, (work.end - work.start) * scale
            sheet.box(x, top, width, 26, pipe, 3)
            sheet.text(x + width / 2, top + 17, f"{number}", "small")
    for first, then in pairwise(PIPES):
        _flags(sheet, tops, first, then, found[first], found[then], scale)
    _flags(sheet, tops, "mte3", "mte2", found["mte3"], found["mte2"][back:], scale)


def _flags(
    sheet: Canvas,
    tops: dict[str, float],
    first: str,
    then: str,
    setting: Sequence[Work],
    waiting: Sequence[Work],
    scale: float,
) -> None:
    """Arrows from the work that sets a flag to the work that waits for it."""
    down = tops[first] < tops[then]
    for one, other in zip(setting, waiting, strict=False):
        assert one.end <= other.start
        start = LEFT + one.end * scale, tops[first] + (26 if down else 0)
        end = LEFT + other.start * scale, tops[then] + (0 if down else 26)
        sheet.path([start, end], "arrow")

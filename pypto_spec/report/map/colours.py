"""The colours of a map: one hue for each pipeline group, a deeper tone for each copy in it; else one for each kind.

Red is for conflicts alone. Fills are tints of the hue on the page's own ground, so that dark text reads on light ones
and light text on dark ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_spec.records import dataclass
from pypto_spec.report.map.model import Resident

HUES = ("#3f78c6", "#2f958a", "#b9842a", "#8561c5", "#6d8b2a", "#c06a9a")
"""Of pipeline groups, taken round and round."""

TONES = (0.26, 0.40, 0.54, 0.68)
"""How much of the hue is in the fill of copy 0, 1, 2, 3."""

KINDS = {"load": "#3f78c6", "computed": "#2f958a", "carried": "#8561c5", "view": "#6d8b2a", "scratch": "#7d8794"}
KIND_NAMES = {
    "load": "loaded from GM",
    "computed": "computed",
    "carried": "carried by a loop, or merged by an if",
    "view": "view of another value",
    "scratch": "scratch of a statement",
}
OUTSIDE = "#7d8794"
GROUNDS = {"light": "#ffffff", "dark": "#171b21"}


@dataclass(frozen=True, slots=True)
class Colour:
    """A CSS class with its hue, what it stands for, and its fill on either ground."""

    name: str
    hue: str
    meaning: str
    fills: tuple[str, str]


def _mix(hue: str, ground: str, share: float) -> str:
    pairs = [(int(hue[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _colour(name: str, hue: str, meaning: str, tone: float) -> Colour:
    return Colour(name, hue, meaning, (_mix(hue, GROUNDS["light"], tone), _mix(hue, GROUNDS["dark"], tone + 0.12)))


def _pipelined(stages: tuple[tuple[int, int], ...]) -> Colour:
    group, copy = stages[0]
    name = f"group-{group % len(HUES)} copy-{copy % len(TONES)}"
    return _colour(name, HUES[group % len(HUES)], f"pipeline {group}, copy {copy}", TONES[copy % len(TONES)])


class Palette:
    """Which colour each value of a kernel has: by pipeline where the kernel has one, else by kind."""

    def __init__(self, residents: Iterable[Resident]) -> None:
        found = list(residents)
        self.by_pipeline = any(v.stages for v in found)
        self.used: dict[str, Colour] = {}
        for resident in sorted(found, key=lambda v: (not v.stages, v.stages, list(KINDS).index(v.kind))):
            colour = self.of(resident)
            self.used.setdefault(colour.meaning, colour)

    def of(self, resident: Resident) -> Colour:
        """The colour of a value."""
        if not self.by_pipeline:
            return _colour(f"kind-{resident.kind}", KINDS[resident.kind], KIND_NAMES[resident.kind], TONES[0])
        return (
            _pipelined(resident.stages) if resident.stages else _colour("outside", OUTSIDE, "in no pipeline", TONES[0])
        )


def all_colours() -> list[Colour]:
    """Every colour there may be, for the style sheet; the class names of groups and copies are both on an element."""
    groups = [_pipelined(((group, copy),)) for group in range(len(HUES)) for copy in range(len(TONES))]
    kinds = [_colour(f"kind-{kind}", hue, KIND_NAMES[kind], TONES[0]) for kind, hue in KINDS.items()]
    return [*groups, *kinds, _colour("outside", OUTSIDE, "in no pipeline", TONES[0])]

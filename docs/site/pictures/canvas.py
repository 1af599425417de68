"""A sheet of SVG to draw on: boxes, lines, arrows and texts by the names of their looks.

Each picture has a ground of its own, light or dark as the reader's system or page is, so that it reads on any page.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

LIGHT = {"ground": "#fbfdfd", "edge": "#cfdcda", "ink": "#16302d", "faint": "#5c7471"}
DARK = {"ground": "#12201f", "edge": "#33504c", "ink": "#e3f0ee", "faint": "#98b3af"}

HUES: dict[str, tuple[str, str]] = {
    "gm": ("#e3e9ec", "#2a3a41"),
    "plain": ("#f1f5f5", "#1b2e2c"),
    "mte2": ("#bcd9f7", "#1f4e80"),
    "v": ("#b7e9de", "#14615a"),
    "mte3": ("#fbd5b0", "#7d4515"),
    "mte1": ("#dccdf7", "#4f3a86"),
    "m": ("#f9e3a1", "#6e5610"),
    "fix": ("#f7c6d3", "#7d2b47"),
    "s": ("#dfe5e5", "#3a4b49"),
}
"""Fills on the light and on the dark ground, by the pipe that works there."""


class Canvas:
    """One picture; sizes are pixels of the page it stands on."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width = width
        self.height = height
        self.title = title
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, look: str, radius: float = 4) -> None:
        """A box with an edge, filled with a hue; `open` has none, `bare` no edge either."""
        size = f'width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}"'
        self._parts.append(f'<rect class="{look}" x="{_n(x)}" y="{_n(y)}" {size}/>')

    def text(self, x: float, y: float, text: str, look: str = "", anchor: str = "middle") -> None:
        """A line of text at its baseline; looks are `small`, `head`, `code` and `faint`, in any combination."""
        kind = f' class="{look}"' if look else ""
        place = "" if anchor == "middle" else f' style="text-anchor:{anchor}"'
        self._parts.append(f'<text x="{_n(x)}" y="{_n(y)}"{kind}{place}>{escape(text, quote=False)}</text>')

    def lines(self, x: float, y: float, texts: Iterable[str], look: str = "", step: float = 16) -> None:
        """Texts one below the other."""
        for place, text in enumerate(texts):
            self.text(x, y + place * step, text, look)

    def path(self, points: Iterable[tuple[float, float]], look: str = "line") -> None:
        """A line through points; `arrow` has a head at its end, `both` at its ends, `dash` is dashed."""
        first, *others = points
        way = f"M{_n(first[0])} {_n(first[1])}" + "".join(f"L{_n(x)} {_n(y)}" for x, y in others)
        heads = {"arrow": ' marker-end="url(#head)"', "both": ' marker-start="url(#head)" marker-end="url(#head)"'}
        mark = "".join(text for name, text in heads.items() if name in look.split())
        self._parts.append(f'<path class="line {look}" d="{way}"{mark}/>')

    def svg(self) -> str:
        """The picture as the text of a file."""
        fills = ["".join(f".{name}{{fill:{pair[side]}}}" for name, pair in HUES.items()) for side in (0, 1)]
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{escape(self.title)}">\n'
            f"<title>{escape(self.title)}</title>\n"
        )
        style = (
            "<style>"
            ":root{color-scheme:light dark}"
            'text{font:13px system-ui,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;text-anchor:middle}'
            ".small{font-size:11px}.head{font-weight:600;font-size:14px}"
            '.code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px}'
            ".small.code{font-size:11px}"
            "rect{stroke-width:1}.line{fill:none;stroke-width:1.4}.dash{stroke-dasharray:4 3}"
            ".thin{stroke-width:.4}"
            ".open{fill:none}rect.bare{stroke:none}"
            f"{_ground(LIGHT)}{fills[0]}"
            f"@media (prefers-color-scheme:dark){{{_ground(DARK)}{fills[1]}}}"
            "</style>\n"
        )
        marker = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path class="tip" d="M0 .5L8 4L0 7.5z"/></marker></defs>\n'
        )
        ground = f'<rect class="ground" x=".5" y=".5" width="{self.width - 1}" height="{self.height - 1}" rx="8"/>\n'
        return head + style + marker + ground + "\n".join(self._parts) + "\n</svg>\n"


def _ground(colours: dict[str, str]) -> str:
    return (
        f"rect{{stroke:{colours['faint']}}}.ground{{fill:{colours['ground']};stroke:{colours['edge']}}}"
        f"text{{fill:{colours['ink']}}}.faint{{fill:{colours['faint']}}}"
        f".line{{stroke:{colours['faint']}}}.tip{{fill:{colours['faint']}}}"
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def kib(count: int) -> str:
    """Bytes as people say them: in KiB where that is a whole number."""
    return f"{count:,} B" if count % 1024 else f"{count // 1024} KiB"

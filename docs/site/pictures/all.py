"""All pictures of the documentation. `python -m docs.site.pictures` draws them, a test compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from docs.site.model import DOCS
from docs.site.pictures import chip, core, fractals, overlap, tiling
from docs.site.pictures.canvas import Canvas

FOLDER = DOCS / "images"

PICTURES: Mapping[str, Callable[[], Canvas]] = {
    "chip.svg": chip.draw,
    "core.svg": core.draw,
    "fractals.svg": fractals.draw,
    "overlap.svg": overlap.draw,
    "tiling.svg": tiling.draw,
}


def write() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw().svg(), encoding="utf-8")

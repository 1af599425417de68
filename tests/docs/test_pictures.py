"""The pictures of the documentation are those that the code draws, and hold no figure of their own."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from docs.site.pictures import core
from docs.site.pictures.all import FOLDER, PICTURES
from pypto_spec.ir.types import Memory

HINT = "run `python -m tests.docs.generated`"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_the_code_draws(name: str) -> None:
    drawn = PICTURES[name]().svg()
    assert (FOLDER / name).read_text(encoding="utf-8") == drawn, HINT
    root = ElementTree.fromstring(drawn)
    assert "http" not in drawn.replace('xmlns="http://www.w3.org/2000/svg"', "")
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        x, y = float(box.attrib["x"]), float(box.attrib["y"])
        assert x >= 0
        assert y >= 0
        assert x + float(box.attrib["width"]) <= width
        assert y + float(box.attrib["height"]) <= height


def test_no_picture_is_left_over() -> None:
    assert {path.name for path in FOLDER.glob("*.svg")} == set(PICTURES)


def test_figures_are_those_of_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(core.TARGET, capacity={**core.TARGET.capacity, Memory.VEC: 7 * 1024}, vector_cores=11)
    monkeypatch.setattr(core, "TARGET", other)
    drawn = core.draw().svg()
    assert "vec, 7 KiB" in drawn
    assert "vector core, one of 11" in drawn

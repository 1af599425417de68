from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from pypto_spec.driver.inputs import gather
from pypto_spec.driver.map import memory_rules
from pypto_spec.driver.session import compile_spec
from pypto_spec.report.map.build import build_map
from pypto_spec.report.map.model import Resident
from pypto_spec.report.map.page import Texts, page_text
from pypto_spec.targets import TARGETS
from tests.cli.run import run
from tests.cli.specs import GOOD, ROOT
from tests.pages.opened import NARROW, WIDE, Opened, box, count, css_colour, pixels, point_at
from tests.pages.specs import RING, document, draw, largest, memories, overlapping, tagged

RED = (217, 45, 32)


@pytest.fixture(scope="session")
def big(made: Path) -> Path:
    return draw(largest(), made / "big.html")


@pytest.fixture(scope="session")
def ring(made: Path) -> Path:
    spec = made / "ring.yaml"
    spec.write_text(RING, encoding="utf-8")
    return spec


@pytest.fixture(scope="session")
def clash(made: Path) -> Path:
    return overlapping(largest(), made / "clash.yaml")


def values(memory: dict[str, Any]) -> list[dict[str, Any]]:
    """The values in the order in which the page counts them."""
    return [value for buffer in memory["buffers"] for value in buffer["values"]]


def number_of(memory: dict[str, Any], name: str) -> int:
    return [value["name"] for value in values(memory)].index(name)


def check_boxes(page: Page, memory: dict[str, Any]) -> None:
    """Every buffer with its slots, and every value in each of its places, stands where the scale says it stands."""
    view = page.locator(".view:visible")
    plot = box(view.locator(".plot"))
    scale = view.get_attribute("data-scale")
    domain = int(view.locator(".sheet").get_attribute(f"data-domain-{scale}") or "")

    def check(node: Any, low: int, high: int) -> None:
        place = box(node)
        assert place["width"] > 0
        assert place["height"] >= 10
        assert place["x"] == pytest.approx(plot["x"] + plot["width"] * low / domain, abs=0.1)
        assert place["width"] == pytest.approx(plot["width"] * (high - low) / domain, abs=0.1)
        assert place["y"] >= plot["y"] - 0.1
        assert place["y"] + place["height"] <= plot["y"] + plot["height"] + 0.1
        assert node.is_visible()

    assert view.locator(".buffer").count() == len(memory["buffers"])
    for place, buffer in enumerate(memory["buffers"]):
        slots = view.locator(f'.buffer[data-buffer="{place}"] .slot')
        assert slots.count() == buffer["slots"]
        for slot in range(buffer["slots"]):
            start = buffer["address"] + slot * buffer["bytes"]
            check(slots.nth(slot), start, start + buffer["bytes"])
    for place, value in enumerate(values(memory)):
        boxes = view.locator(f'.value[data-value="{place}"] .box')
        assert boxes.count() == len(value["ranges"])
        for node, (low, high) in zip(boxes.all(), value["ranges"], strict=True):
            check(node, low, high)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_every_buffer_of_the_largest_kernel_is_drawn(opener: Opened, big: Path, size: tuple[int, int]) -> None:
    page = opener.open(big, size)
    (memory,) = memories(str(largest()))
    assert len(memory["buffers"]) >= 9
    check_boxes(page, memory)
    used = page.locator(".stats dd").first.inner_text()
    assert used == f"{memory['end']:,} of {memory['capacity']:,} B {100 * memory['end'] / memory['capacity']:.1f} %"


def test_slots_are_drawn_and_the_whole_memory_is_a_choice(opener: Opened, ring: Path, made: Path) -> None:
    page = opener.open(draw(ring, made / "ring.html"))
    (memory,) = memories(str(ring))
    assert [b["slots"] for b in memory["buffers"]] == [2, 1]
    check_boxes(page, memory)
    narrow = box(page.locator(".slot").first)["width"]
    assert box(page.locator(".plot .reserved"))["x"] > box(page.locator(".plot"))["right"]
    page.get_by_role("button", name="whole memory").click()
    assert page.locator(".view").get_attribute("data-scale") == "whole"
    check_boxes(page, memory)
    assert box(page.locator(".slot").first)["width"] < narrow
    plot, end = box(page.locator(".plot")), box(page.locator(".plot .capacity line"))
    whole = memory["capacity"] + memory["reserved"]
    assert end["x"] == pytest.approx(plot["x"] + plot["width"] * memory["capacity"] / whole, abs=1.5)
    assert box(page.locator(".plot .reserved"))["width"] == pytest.approx(
        plot["width"] * memory["reserved"] / whole, abs=0.1
    )


def test_pointing_at_a_value_says_what_it_is(opener: Opened, ring: Path, made: Path) -> None:
    page = opener.open(draw(ring, made / "ring.html"))
    (memory,) = memories(str(ring))
    assert not page.locator("#tip").is_visible()
    point_at(page, page.locator(f'.value[data-value="{number_of(memory, "u.1")}"] .box'))
    tip = page.locator("#tip").inner_text()
    for part in ("u.1", "fp32[64, 128]", "32,768 B", "65,536 to 98,304", "lines 15 to 16", "vec.0"):
        assert part in tip
    marked = page.locator("#spec .makes, #spec .uses")
    assert [(n.get_attribute("data-line"), n.get_attribute("class")) for n in marked.all()] == [
        ("15", "busy makes"), ("16", "busy uses"),
    ]  # fmt: skip
    page.get_by_role("tab", name="IR").click()
    point_at(page, page.locator(f'.value[data-value="{number_of(memory, "u.1")}"] .box'))
    assert page.locator("#ir .makes").first.inner_text().strip().startswith("- load: {into: u.1, from: b")
    page.mouse.move(2, 2)
    assert not page.locator("#tip").is_visible()
    assert page.locator(".makes").count() == 0


def test_pointing_at_a_statement_shows_who_is_alive(opener: Opened, ring: Path, made: Path) -> None:
    page = opener.open(draw(ring, made / "ring.html"))
    (memory,) = memories(str(ring))
    point_at(page, page.locator('#spec li[data-line="15"]'))
    lit = {int(n.get_attribute("data-value") or "") for n in page.locator(".value.lit").all()}
    assert {values(memory)[n]["name"] for n in lit} == {"t.1", "u.1"}
    assert page.locator(".row.on .what").all_text_contents() == ["u.1 = load(b)"]
    point_at(page, page.locator(".row", has_text="store(y.1, out)"))
    assert page.locator("#spec .here").get_attribute("data-line") == "17"


def test_pins_are_compared(opener: Opened, ring: Path, made: Path) -> None:
    page = opener.open(draw(ring, made / "ring.html"))
    (memory,) = memories(str(ring))
    for name in ("u.1", "y.1", "t.1"):
        node = page.locator(f'.value[data-value="{number_of(memory, name)}"] .box').first
        point_at(page, node)
        page.mouse.down()
        page.mouse.up()
    assert page.locator(".card b").all_inner_texts() == ["u.1", "y.1", "t.1"]
    meeting = "meet at line 16, where one ends and the other begins."
    assert page.locator("#pairs li").all_inner_texts() == [
        f"u.1 and y.1 share 32,768 B (bytes 65,536 to 98,304), and {meeting}",
        "u.1 and t.1 share no byte, and are alive together at lines 15 to 16.",
        f"y.1 and t.1 share no byte, and {meeting}",
    ]
    page.keyboard.press("Escape")
    assert not page.locator("#pins").is_visible()
    assert page.locator(".pinned").count() == 0


def test_the_keyboard_is_enough(opener: Opened, big: Path) -> None:
    page = opener.open(big)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.value')"):
            break
    assert page.evaluate("document.activeElement.dataset.value") == "0"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.value") == "1"
    assert page.locator("#tip b").inner_text() == values(memories(str(largest()))[0])[1]["name"]
    page.keyboard.press("Enter")
    assert page.locator(".card").count() == 1
    assert page.locator('.value[data-value="1"]').get_attribute("aria-pressed") == "true"


def test_what_shares_bytes_is_red(opener: Opened, big: Path, clash: Path, made: Path) -> None:
    good = opener.open(big)
    assert good.locator(".conflict").count() == 0
    assert count(pixels(good), RED) == 0
    bad = opener.open(draw(clash, made / "clash.html", code=1))
    (memory,) = memories(str(clash))
    assert memory["conflicts"]
    assert bad.locator(".conflict").count() == len(memory["conflicts"])
    check_boxes(bad, memory)
    marked = bad.locator(".conflict").first
    marked.scroll_into_view_if_needed()
    assert css_colour(marked, "stroke") == RED
    place = box(marked)
    area = (int(place["x"]), int(place["y"]), int(place["right"]), int(place["bottom"]))
    assert count(pixels(bad).crop(area), RED) > 0.2 * place["width"] * place["height"]


def test_pins_that_conflict_say_so(opener: Opened, clash: Path, made: Path) -> None:
    page = opener.open(draw(clash, made / "clash.html", code=1))
    (memory,) = memories(str(clash))
    conflict = next(c for c in memory["conflicts"] if c["of"] == "values")
    for name in conflict["names"]:
        page.locator(f'.value[data-value="{number_of(memory, name)}"]').first.focus()
        page.keyboard.press("Enter")
    assert page.locator("#pairs .clash").inner_text().endswith(": a conflict.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_screenshot_shows_the_colours_where_the_boxes_are(
    opener: Opened, made: Path, size: tuple[int, int], scheme: Any
) -> None:
    page = opener.open(
        draw(tagged(ROOT / "specs/norms/layernorm.yaml", made / "tagged.yaml"), made / "tagged.html"), size, scheme
    )
    image = pixels(page)
    paper = css_colour(page.locator("#left"), "backgroundColor")
    assert (sum(paper) > 600) == (scheme == "light")
    shown = image.getcolors(size[0] * size[1]) or []
    assert len(shown) > 50
    assert 0.2 < count(image, paper) / (size[0] * size[1]) < 0.95
    seen = set()
    for node in page.locator(".value .box").all():
        place = box(node)
        middle = (place["x"] + place["width"] / 2, place["y"] + place["height"] - 4)
        top = page.evaluate("([x, y]) => document.elementFromPoint(x, y)?.closest('.value')?.dataset.value", middle)
        own = node.evaluate("node => node.parentNode.dataset.value")
        if place["width"] < 6 or top != own or not 0 <= middle[1] < size[1]:
            continue
        seen.add(css_colour(node, "fill"))
        assert image.getpixel((int(middle[0]), int(middle[1]))) == css_colour(node, "fill")
    assert len(seen) >= 3
    classes = {name for node in page.locator(".swatch").all() for name in (node.get_attribute("class") or "").split()}
    assert {"group-0", "group-1", "copy-0", "copy-1", "copy-2", "outside"} <= classes


def test_variants_and_kernels_are_a_choice(opener: Opened, made: Path) -> None:
    spec = ROOT / "specs/vector/axpy_variants.yaml"
    page = opener.open(draw(spec, made / "variants.html"))
    programs = document(str(spec))["programs"]
    assert page.locator("#program option").all_inner_texts() == [f"{p['name']} [{p['variant']}]" for p in programs]
    for number, program in enumerate(programs):
        page.locator("#program").select_option(str(number))
        assert page.locator(".view:visible").count() == 1
        check_boxes(page, program["kernels"][0]["memories"][0])
        assert page.locator("#ir ol:not([hidden])").get_attribute("data-program") == str(number)


def test_names_and_texts_cannot_run(opener: Opened, made: Path) -> None:
    hostile = "</script ><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    folder = made / "<b onmouseover=alert(1)>&quot;"
    folder.mkdir()
    spec = folder / "<img src=x onerror=window.hacked=1>\x01.yaml"
    spec.write_text(f"{GOOD.replace('name: good', f'name: good{chr(10)}about: {hostile!r}')}# {hostile}\n")
    for made_by in ("map", "diff-passes"):
        target = made / f"hostile-{made_by}.html"
        assert run(made_by, str(spec), "-o", str(target)).exit_code == 0
        page = opener.open(target)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, b[onmouseover]").count() == 0
        assert "<img src=x" in page.locator(".heading p").inner_text()
    assert hostile in opener.open(made / "hostile-map.html").locator("#spec").inner_text()


def test_what_the_script_shows_cannot_run_either(opener: Opened, made: Path) -> None:
    hostile = "<img src=x onerror='window.hacked = 1'>"

    def renamed(value: Resident) -> Resident:
        return replace(value, name=hostile + value.name, type=hostile, over=hostile)

    (spec,) = gather([str(largest())]).specs
    done = compile_spec(spec)
    assert done.program is not None
    program = build_map(done.program, TARGETS["a2a3"], memory_rules, after="InsertSync", variant=hostile)
    (kernel,) = program.kernels
    (memory,) = kernel.memories
    buffers = tuple(replace(b, name=hostile, values=tuple(map(renamed, b.values))) for b in memory.buffers)
    twice = replace(kernel, region=hostile, memories=(replace(memory, buffers=buffers), memory))
    target = made / "renamed.html"
    texts = Texts(hostile, hostile, [hostile, hostile])
    target.write_text(page_text([replace(program, kernels=(twice, kernel))] * 2, texts), encoding="utf-8")
    page = opener.open(target)
    for number in ("0", "1"):
        page.locator(f'.value[data-value="{number}"]').first.focus()
        page.keyboard.press("Enter")
    assert hostile in page.locator("#pairs").inner_text()
    assert hostile in page.locator("#tip").inner_text()
    assert hostile in page.locator("#kernel").inner_text()
    page.locator("#memory").select_option("1")
    page.locator("#program").select_option("1")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0


def test_a_drawing_alone_is_an_svg_that_the_browser_shows(opener: Opened, made: Path) -> None:
    target = made / "big.svg"
    assert run("map", str(largest()), "--format", "svg", "-o", str(target)).exit_code == 0
    page = opener.open(target)
    (memory,) = memories(str(largest()))
    assert page.locator(".buffer").count() == len(memory["buffers"])
    assert page.locator(".value").count() == sum(len(v["ranges"]) for v in values(memory))
    fill = css_colour(page.locator(".value .box").first, "fill")
    assert count(pixels(page), fill) > 500
    assert re.search(r"viewBox=\"0 0 1200 \d+\"", target.read_text())

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import gather
from pypto_spec.driver.session import compile_spec
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.report.passes_page import Stage, Title, passes_page
from tests.cli.run import run
from tests.cli.specs import OVERFLOW, ROOT, write
from tests.pages.opened import NARROW, WIDE, Opened, count, css_colour, pixels
from tests.pages.specs import dump

SPEC = ROOT / "specs" / "norms" / "residual_rmsnorm.yaml"


@pytest.fixture(scope="session")
def passes(made: Path) -> Path:
    target = made / "passes.html"
    assert run("diff-passes", str(SPEC), "-o", str(target)).exit_code == 0
    return target


def current(page: Page) -> str:
    """The pass that is shown."""
    name = page.locator(".pass[aria-current] .name").inner_text()
    assert page.locator(".about:visible h2").inner_text() == name
    return name


def texts() -> dict[str, list[str]]:
    """The program behind each pass, without the header of dumps."""
    (spec,) = gather([str(SPEC)]).specs
    done = compile_spec(spec, keep_stages=True)
    made = {name or "as read": dump_text(program, name, spec).splitlines() for name, program in done.stages}
    return {name: [line for line in text if not line.startswith("dump: ")] for name, text in made.items()}


def changing() -> list[str]:
    """The passes that change the text."""
    found = list(texts().items())
    return [name for (_, before), (name, after) in pairwise(found) if before != after]


def test_every_pass_is_listed_with_what_it_changed(opener: Opened, passes: Path) -> None:
    page = opener.open(passes)
    assert page.locator(".pass .name").all_inner_texts() == ["as read", *(p.name for p in PASSES)]
    assert page.locator(".pass:not(.same) .name").all_inner_texts() == ["as read", *changing()]
    about = page.locator(".about p").all_text_contents()
    assert all(about)
    assert about[-1] == "the flags and barriers that order a region's instructions."
    outline = page.locator(".pass", has_text="OutlineIncoreScopes")
    assert outline.locator(".plus").inner_text() == "+1"
    assert outline.locator(".minus").count() == 0


def test_stepping_goes_from_change_to_change_or_through_all(opener: Opened, passes: Path) -> None:
    page = opener.open(passes)
    seen = [current(page)]
    while page.locator("#next").is_enabled():
        page.keyboard.press("ArrowRight")
        seen.append(current(page))
    assert seen == changing()
    page.keyboard.press("ArrowRight")
    assert current(page) == seen[-1]
    page.locator("#back").click()
    assert current(page) == seen[-2]
    page.locator("#skip").uncheck()
    names = page.locator(".pass .name").all_inner_texts()
    page.locator(".pass").first.click()
    for name in names:
        assert current(page) == name
        page.keyboard.press("ArrowRight")
    page.locator("#skip").check()
    page.locator(".pass").first.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert current(page) == names[1]
    assert page.locator("#diff .nothing").inner_text() == "This pass changed nothing."


def test_a_link_names_a_pass(opener: Opened, passes: Path) -> None:
    page = opener.open(passes, mark="#MemoryReuse")
    assert current(page) == "MemoryReuse"
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#AllocateMemoryAddr")


def test_a_change_shows_the_words_that_changed(opener: Opened, passes: Path) -> None:
    page = opener.open(passes, mark="#AllocateMemoryAddr")
    assert page.locator("td.come.text").first.inner_text().strip() == (
        "vec.0: {memory: vec, bytes: 2048, address: 0, owner: compiler}"
    )
    assert page.locator("td.come.text").first.locator("mark").all_inner_texts() == ["address: 0, "]
    assert page.locator("td.gone.text").first.locator("mark").count() == 0
    assert page.locator("td.come.text").count() == 5
    page.locator(".pass", has_text="InsertSync").click()
    target = page.locator("tr.change").first
    assert target.locator("td.gone mark").inner_text() == "auto"
    assert target.locator("td.come mark").inner_text() == "manual"


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["split", "unified"])
def test_unfolded_the_diff_is_both_texts(opener: Opened, passes: Path, size: tuple[int, int]) -> None:
    page = opener.open(passes, size)
    found = list(texts().items())
    read = """columns => [...document.querySelectorAll('#diff tr')].map(row => columns.map(([place, text]) =>
        row.cells[place].textContent === '' ? null : row.cells[text].textContent))"""
    columns = [[0, 1], [2, 3]] if size == WIDE else [[0, 2], [1, 2]]
    for number, ((_, before), (name, after)) in enumerate(pairwise(found), 1):
        page.locator(".pass").nth(number).click()
        assert current(page) == name
        while page.locator(".fold button").count():
            page.locator(".fold button").first.click()
        rows: list[Any] = page.evaluate(read, columns)
        assert [row[0] for row in rows if row[0] is not None] == before
        assert [row[1] for row in rows if row[1] is not None] == after


def test_long_unchanged_stretches_are_folded(opener: Opened, passes: Path) -> None:
    page = opener.open(passes, mark="#InsertSync")
    fold = page.locator(".fold button").first
    hidden = int(fold.inner_text().split()[0])
    before = page.locator("#diff tr").count()
    fold.click()
    assert page.locator("#diff tr").count() == before + hidden - 1
    assert hidden >= 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_screenshot_shows_the_change(opener: Opened, passes: Path, size: tuple[int, int], scheme: Any) -> None:
    page = opener.open(passes, size, scheme, mark="#InitMemRef")
    image = pixels(page)
    assert count(image, css_colour(page.locator("td.come").first, "backgroundColor")) > 10_000
    paper = css_colour(page.locator("#shown"), "backgroundColor")
    assert (sum(paper) > 600) == (scheme == "light")
    assert 0.1 < count(image, paper) / (size[0] * size[1]) < 0.95
    same = opener.open(passes, size, scheme, mark="#Simplify")
    assert count(pixels(same), css_colour(page.locator("td.come").first, "backgroundColor")) == 0


def test_a_dump_begins_behind_its_pass(opener: Opened, made: Path) -> None:
    dump(SPEC, made / "reused.yaml", "MemoryReuse")
    target = made / "reused.html"
    assert run("diff-passes", str(made / "reused.yaml"), "-o", str(target)).exit_code == 0
    page = opener.open(target)
    names = [p.name for p in PASSES]
    assert page.locator(".pass .name").all_inner_texts() == ["as read", *names[names.index("MemoryReuse") + 1 :]]


def test_a_spec_that_fails_shows_the_passes_before(opener: Opened, made: Path) -> None:
    (spec,) = write(made, over=OVERFLOW)
    target = made / "over.html"
    done = run("diff-passes", spec, "-o", str(target))
    assert done.exit_code == 1
    assert "PS4001" in done.stderr
    page = opener.open(target)
    assert page.locator(".pass .name").last.inner_text() == "MemoryReuse"
    assert page.locator(".trouble").inner_text().startswith("AllocateMemoryAddr did not accept the program")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["split", "unified"])
def test_words_that_changed_cannot_run(opener: Opened, made: Path, size: tuple[int, int]) -> None:
    hostile = "<img src=x onerror='window.hacked=1'>"
    stages = [Stage(hostile, hostile, f"- exp: {{x: t}}{more}\n") for more in ("", hostile, hostile + "\n" + hostile)]
    target = made / "words.html"
    target.write_text(passes_page(stages, Title(hostile, hostile, hostile)), encoding="utf-8")
    page = opener.open(target, size)
    assert page.locator("mark").inner_text() == hostile
    page.keyboard.press("ArrowRight")
    assert page.locator("td.come.text").inner_text() == hostile
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0

"""Pages in the browser: opening them, and looking at their pixels."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page

WIDE, NARROW = (1280, 800), (600, 800)
Colour = tuple[int, int, int]


class Opened:
    """The pages of one test and everything they complained about."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def open(
        self, path: Path, size: tuple[int, int] = WIDE, scheme: Literal["light", "dark"] = "light", mark: str = ""
    ) -> Page:
        """A file in a fresh profile; `mark` is the part behind `#`."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_default_timeout(10_000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri() + mark)
        return page

    def close(self) -> None:
        """Hold what pages must hold, and close them."""
        for context in self.contexts:
            context.close()
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith(("file:", "data:"))] == []
        assert len([url for url in self.requests if url.startswith("file:")]) == len(self.contexts)


def pixels(page: Page) -> Image.Image:
    """What the window shows."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def count(image: Image.Image, colour: Colour) -> int:
    """How many pixels have exactly this colour."""
    found = image.getcolors(image.width * image.height) or []
    return sum(number for number, one in found if one == colour)


def css_colour(locator: Locator, name: str) -> Colour:
    """A colour of an element, as the browser computes it."""
    text: str = locator.evaluate(f"node => getComputedStyle(node)[{name!r}]")
    red, green, blue = text.removeprefix("rgb(").removesuffix(")").split(",")
    return int(red), int(green), int(blue)


def box(locator: Locator) -> dict[str, float]:
    """Where an element stands in the window, in pixels."""
    found: dict[str, Any] = locator.evaluate("node => node.getBoundingClientRect().toJSON()")
    return {key: float(value) for key, value in found.items()}


def point_at(page: Page, locator: Locator) -> None:
    """Move the mouse to the middle of an element, bringing it into the window first."""
    locator.scroll_into_view_if_needed()
    place = box(locator)
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)

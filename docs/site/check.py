"""What a built site must hold to: links and anchors that lead somewhere, and nothing that comes from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
"""What a browser fetches by itself, by tag."""

_URL = re.compile(r"""url\(\s*["']?(?!data:)([^"')]+)|@import\s+["']([^"']+)""")


class _Found(HTMLParser):
    """The anchors of a page, and what it links to or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects from one tag."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in LOADED and LOADED[tag] in given and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given[LOADED[tag]])


def problems(site: Path) -> list[str]:
    """Everything that is wrong with a built site, one line each."""
    pages: dict[Path, _Found] = {}
    for file in sorted(site.rglob("*.html")):
        pages[file] = _Found()
        pages[file].feed(file.read_text(encoding="utf-8"))
    found = [
        f"{file.relative_to(site)}: {text}" for file, page in pages.items() for text in _page(site, file, page, pages)
    ]
    for file in sorted(site.rglob("*.css")):
        for match in _URL.finditer(file.read_text(encoding="utf-8")):
            address = match[1] or match[2]
            if _elsewhere(address):
                found.append(f"{file.relative_to(site)}: loads {address}")
    return found


def _page(site: Path, file: Path, page: _Found, pages: dict[Path, _Found]) -> Iterator[str]:
    for address in page.loaded:
        if _elsewhere(address):
            yield f"loads {address}"
        elif not _target(site, file, address).is_file():
            yield f"loads {address}, which is not there"
    for address in page.links:
        if _elsewhere(address) or address.startswith("mailto:"):
            continue
        name, _, anchor = address.partition("#")
        target = _target(site, file, name) if name else file
        if not target.is_file():
            yield f"the link {address} leads nowhere"
        elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
            yield f"the link {address} has no such anchor"


def _target(site: Path, file: Path, address: str) -> Path:
    """The file that an address names: from its page, or with a slash before it from the site's root (`404.html`)."""
    name = unquote(re.split(r"[?#]", address)[0])
    path = (site / name.lstrip("/") if name.startswith("/") else file.parent / name).resolve()
    return path / "index.html" if path.is_dir() else path


def _elsewhere(address: str) -> bool:
    return re.match(r"(?:[a-z][a-z0-9+.-]*:)?//", address) is not None

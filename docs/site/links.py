"""Links of the repository's pages, turned into links of the site."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence

from docs.site.model import ROOT, Page, SiteError


class Places:
    """Where files of the repository, and headings in them, stand on the site."""

    def __init__(self, pages: Sequence[Page], moved: Mapping[str, str]) -> None:
        """`moved` are anchors that stand elsewhere, as `docs/ops.md#exp`: `ops/unary.md#exp`."""
        self._pages = {page.path for page in pages}
        self._files: dict[str, str] = {}
        for page in pages:
            shown = {page.origin: ""} if page.stands_for is None else page.stands_for
            self._files |= {file: page.path + (f"#{anchor}" if anchor else "") for file, anchor in shown.items()}
        self._moved = moved

    def translator(self, page: Page) -> Callable[[str], str | None]:
        """What turns the links of a page."""
        return lambda link: self.turn(link, page)

    def turn(self, link: str, page: Page) -> str | None:
        """A link of a page as it is on the site. Raises SiteError where it leads to nothing that the site has.

        Links of generated pages that start with `site:` name a page of the site itself.
        """
        if "://" in link or link.startswith("mailto:"):
            return link
        if link.startswith("site:"):
            return _relative(link.removeprefix("site:"), page.path)
        if link.startswith("#") and f"{page.origin}{link}" not in self._moved:
            return link
        name, _, anchor = link.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page.origin), name)) if name else page.origin
        if f"{file}#{anchor}" in self._moved:
            return _relative(self._moved[f"{file}#{anchor}"], page.path)
        if file in self._files:
            found = self._files[file]
            return _relative(f"{found.partition('#')[0]}#{anchor}" if anchor else found, page.path)
        if file.startswith("docs/images/"):
            return _relative(file.removeprefix("docs/"), page.path)
        if (ROOT / file).exists():
            return None  # part of the repository that the site does not show: the text stays, the link goes
        raise SiteError(f"{page.origin}: the link `{link}` leads nowhere")


def _relative(target: str, source: str) -> str:
    path, mark, anchor = target.partition("#")
    return posixpath.relpath(path, posixpath.dirname(source) or ".") + mark + anchor

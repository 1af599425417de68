"""What a page of the site is, and where each file of the repository stands on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class SiteError(Exception):
    """A page that cannot be made; the message names the file and says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page in the Markdown that code hosts read.

    `path` is its file on the site. `origin` is the file of the repository from which its links are read, `section` the
    place of the menu that it goes to (a mark of `mkdocs.yml`), and `group` a heading within that place. `stands_for`
    are the files of the repository that it shows, each with its anchor on the page; None: its origin, as a whole.
    `short` is what the menu calls it; empty: its title.
    """

    path: str
    text: str
    origin: str
    section: str = ""
    group: str = ""
    stands_for: Mapping[str, str] | None = None
    short: str = ""

"""The pages that people wrote: `docs/*.md`, README, CONTRIBUTING and the changelog."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.site.model import DOCS, ROOT, Page

OTHERS = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages at the top of the repository, with their name on the site."""

SPLIT = ("docs/ops.md",)
"""Pages that the site shows in several parts, made by another module."""


def pages() -> Iterator[Page]:
    """All of them; the page of the operators comes from `operators.py`."""
    for name, path in OTHERS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        yield Page(path, _home(text) if name == "README.md" else text, name)
    for file in sorted(DOCS.glob("*.md")):
        origin = f"docs/{file.name}"
        if origin not in SPLIT:
            yield Page(file.name, file.read_text(encoding="utf-8"), origin)


def _home(text: str) -> str:
    """The README with a title of its own, and without the sentence that tells how to get here."""
    text = re.sub(r"^`make docs` builds .*?\n\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return f"---\ntitle: Home\n---\n\n{text}"

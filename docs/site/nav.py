"""The menu: that of `mkdocs.yml`, with the pages that come from the code in the places kept for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from docs.site.model import Page

MARK = "... "


def complete(menu: Sequence[Any], pages: Sequence[Page]) -> list[Any]:
    """The menu with each `... SECTION` replaced by its pages; pages that nothing names become guides."""
    named = set(_named(menu))
    kept: dict[str, list[Any]] = {}
    groups: dict[tuple[str, str], list[Any]] = {}
    for page in pages:
        if page.path in named:
            continue
        shown = {page.short: page.path} if page.short else page.path
        place = kept.setdefault(page.section or "guides", [])
        if page.group:
            group = groups.get((page.section, page.group))
            if group is None:
                group = groups[page.section, page.group] = []
                place.append({page.group: group})
            group.append(shown)
        else:
            place.append(shown)
    return list(_filled(menu, kept))


def _filled(menu: Sequence[Any], kept: dict[str, list[Any]]) -> Iterator[Any]:
    for item in menu:
        if isinstance(item, str) and item.startswith(MARK):
            yield from kept.get(item.removeprefix(MARK), [])
        elif isinstance(item, dict):
            yield {head: list(_filled(inner, kept)) for head, inner in item.items()}
        else:
            yield item


def _named(menu: Sequence[Any]) -> Iterator[str]:
    for item in menu:
        if isinstance(item, dict):
            for inner in item.values():
                yield from _named(inner)
        else:
            yield item

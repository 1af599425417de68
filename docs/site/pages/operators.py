"""The reference of the operators, a page for each family, from the registry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.site.model import Page
from pypto_spec.ops.reference import page as whole
from pypto_spec.ops.registry import FAMILIES, OPS

ORIGIN = "docs/ops.md"
INDEX = "ops/index.md"


def pages() -> Iterator[Page]:
    """The overview, and a page for each family that has operators."""
    parts = re.split(r"^## (.+)\n", whole(), flags=re.MULTILINE)
    overview, families = parts[0], ""
    for head, text in zip(parts[1::2], parts[2::2], strict=True):
        if head in FAMILIES and re.search(r"^### ", text, re.MULTILINE):
            families = head
            yield Page(f"ops/{head}.md", _family(head, text), ORIGIN, "operators", stands_for={}, short=head)
        elif not families:
            overview += f"## {head}\n{text}"
    yield Page(INDEX, overview, ORIGIN)


def moved() -> dict[str, str]:
    """Where the entry of each operator stands now."""
    return {f"{ORIGIN}#{name}": f"ops/{defn.family}.md#{name}" for name, defn in OPS.items()}


def _family(name: str, text: str) -> str:
    return f"# Operators: {name}\n{re.sub('^### ', '## ', text, flags=re.MULTILINE)}"

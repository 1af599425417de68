"""The keys of a document and the keywords of statements: what `pypto-spec explain` says of each, on two pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.site.model import Page
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models import extras
from pypto_spec.spec.models.keywords import PLANES, Keyword, default_table
from pypto_spec.spec.models.places import all_paths, find
from pypto_spec.spec.models.reference import field_text, keyword_text, meanings
from pypto_spec.spec.models.sections import DocumentModel
from tests.docs.generated import fields, table

_HEAD = re.compile(r"\A# .*\n+")
_PAGE = re.compile(r"^Page: (\S+)\n?", re.MULTILINE)


def pages() -> Iterator[Page]:
    """The keys of a document, and the keywords that are no operators."""
    models = "pypto_spec/spec/models"
    yield Page("reference/document.md", _document(), f"{models}/sections.py", "reference", stands_for={})
    yield Page("reference/statements.md", _statements(), f"{models}/keywords.py", "reference", stands_for={})


def _entry(head: str, text: str) -> str:
    """What `explain` says, under a heading of ours and with a link to the page it names."""
    body = _HEAD.sub("", text)
    return f"{head}\n\n{_PAGE.sub(lambda m: f'More in [the language](site:{_on_site(m[1])}).', body).rstrip()}\n"


def _on_site(page: str) -> str:
    return page.removeprefix("docs/")


# --- documents ------------------------------------------------------------------------------------------------------


def _document() -> str:
    parts = [
        "# Keys of a document\n",
        "What `pypto-spec explain KEY` says of every key, from the models that check it. "
        "[The language](site:language.md) has the rules, with examples.\n",
        fields(DocumentModel),
    ]
    for path in all_paths():
        first, *deeper = path.split(".")
        if first in DocumentModel.model_fields and (not deeper or _says_more(path)):
            text = field_text(path)
            assert text is not None
            name = path.replace(".NAME", "").replace("NAME.", "")
            parts.append(_entry(f"{'###' if deeper else '##'} {name}", text))
    return "\n".join(parts)


def _says_more(path: str) -> bool:
    """Whether a key within another one has more to say than its line there: words with a meaning."""
    place = find(path.split("."))
    return place is not None and any(meanings(place.schema).values())


# --- statements -----------------------------------------------------------------------------------------------------


def _statements() -> str:
    found = [k for k in default_table() if k.name not in OPS]
    usable = [k for k in found if not k.reserved]
    rows = [(f"[`{k.name}`](#{k.name})", _planes(k), k.doc) for k in usable]
    reserved = [(f"`{k.name}`", _planes(k), k.doc) for k in found if k.reserved]
    parts = [
        "# Statements\n",
        "The keywords that are no [operators](site:ops/index.md), as `pypto-spec explain KEYWORD` has them. "
        "[The language](site:language.md) has the rules, with examples.\n",
        table(("keyword", "stands in", "what it is"), rows),
        *(_entry(f"## {k.name}", keyword_text(k.name) or "") for k in usable),
        "## Beside a keyword\n",
        "Keys that stand beside the keyword, where its entry says so.\n",
        fields(extras.Extras),
        "## Reserved\n",
        "Keywords that are known and not there yet.\n",
        table(("keyword", "stands in", "what it is"), reserved),
    ]
    return "\n".join(parts)


def _planes(keyword: Keyword) -> str:
    return " and ".join(PLANES[plane] for plane in sorted(keyword.planes))

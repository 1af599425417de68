"""The keys of a document and the keywords of statements, from the models of the language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from docs.site.model import Page
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models import extras, sections
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import PLANES, Keyword, default_table
from tests.docs.generated import fields, table


def pages() -> Iterator[Page]:
    """The keys of a document, and the keywords that are no operators."""
    yield Page("reference/document.md", _document(), "pypto_spec/spec/models/sections.py", "reference", stands_for={})
    yield Page(
        "reference/statements.md", _statements(), "pypto_spec/spec/models/keywords.py", "reference", stands_for={}
    )


def _document() -> str:
    parts = [
        "# Keys of a document\n",
        "What every key holds, from the models that check it. [The language](site:language.md) explains them, with "
        "examples.\n",
        fields(sections.DocumentModel),
    ]
    for name, info in sections.DocumentModel.model_fields.items():
        for model in dict.fromkeys(_models(info.annotation)):
            parts += _section(f"## {name}", model)
    return "\n".join(parts)


def _section(head: str, model: type[Model]) -> Iterator[str]:
    """The fields of a model, and of the models in them."""
    yield f"{head}\n"
    yield _sentence((model.__doc__ or "").strip()) + "\n"
    yield fields(model)
    for name, info in model.model_fields.items():
        for inner in dict.fromkeys(_models(info.annotation)):
            yield from _section(f"#{head}.{name}", inner)


def _models(annotation: Any) -> Iterator[type[Model]]:
    """The models that an annotation names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _statements() -> str:
    found = [k for k in default_table() if k.name not in OPS]
    usable = [k for k in found if not k.reserved]
    rows = [(f"[`{k.name}`](#{k.name})", _planes(k), k.doc) for k in usable]
    parts = [
        "# Statements\n",
        "The keywords that are no [operators](site:ops/index.md), from the models that check them. "
        "[The language](site:language.md) explains them, with examples.\n",
        table(("keyword", "stands in", "what it is"), rows),
        *(_keyword(k) for k in usable),
        "## Beside a keyword\n",
        "Keys that stand beside the keyword, where its entry says so.\n",
        fields(extras.Extras),
        "## Reserved\n",
        "Keywords that are known and not there yet.\n",
        table(
            ("keyword", "stands in", "what it is"), ((f"`{k.name}`", _planes(k), k.doc) for k in found if k.reserved)
        ),
    ]
    return "\n".join(parts)


def _keyword(keyword: Keyword) -> str:
    model = default_table().model(keyword.name)
    parts = [f"## {keyword.name}\n", _sentence(keyword.doc) + "\n", f"```yaml statement\n- {keyword.example}\n```\n"]
    facts = [f"Stands in {_planes(keyword)}."]
    if keyword.scalar is not None:
        alone = "is the value of" if not keyword.fields else "may stand alone as the value of"
        facts.append(f"`{keyword.scalar}` {alone} `{keyword.name}:`.")
    if keyword.options:
        facts.append(f"Beside the keyword: {_words(keyword.options)}.")
    if keyword.blocks:
        needed = [name for name in keyword.blocks if name not in keyword.needs]
        rest = f" ({_words(needed)} may be left out)" if needed else ""
        facts.append(f"Blocks: {_words(keyword.blocks)}{rest}.")
    facts.append(f"[Also](#beside-a-keyword): {_words(keyword.extras)}.")
    if model.model_fields:
        parts.append(fields(model))
    return "\n".join([*parts, " ".join(facts) + "\n"])


def _planes(keyword: Keyword) -> str:
    return " and ".join(PLANES[plane] for plane in sorted(keyword.planes))


def _words(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in (names if isinstance(names, (list, tuple)) else sorted(names)))


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith(".") else f"{text}."

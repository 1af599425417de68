"""Specs compiled for the tests of what editors show, each once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.driver.variants import variants_of
from pypto_spec.editor.document import Document, open_document
from pypto_spec.editor.facts import Facts, facts_of, together
from tests.cli.specs import ROOT

GALLERY = tuple(
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "specs").rglob("*"))
    if path.suffix in (".yaml", ".toml")
)


@cache
def gallery(name: str) -> Document:
    """A spec of the gallery."""
    return open_document(name, Path(ROOT, name).read_text(encoding="utf-8"))


def specs(document: Document) -> list[Spec]:
    """The spec of a document, or its variants."""
    return variants_of(Spec(document.source, document.format, document.source.text.encode()))


@cache
def compiled(document: Document) -> tuple[Compiled, ...]:
    """The compiles of a document, with their stages."""
    return tuple(compile_spec(spec, keep_stages=True, advise=False) for spec in specs(document))


@cache
def facts(document: Document) -> Facts:
    """The facts of all variants of a document."""
    found = together([facts_of(done) for done in compiled(document)])
    assert found is not None
    return found


def place(document: Document, mark: str) -> int:
    """The offset that a mark such as `into: |t` stands for: that of the sign `|` in the first place of the others."""
    before, _, after = mark.partition("|")
    start = document.source.text.index(before + after)
    return start + len(before)

"""Findings as they arrive in an editor, over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from lsprotocol import types

from tests.lsp.wire import ROOT, Editor, text_at

pytestmark = pytest.mark.asyncio(loop_scope="session")

SOFTMAX = (ROOT / "specs/vector/softmax.yaml").read_text(encoding="utf-8")
SQUARE = (ROOT / "specs/vector/square.toml").read_text(encoding="utf-8")
VARIANTS = (ROOT / "specs/vector/axpy_variants.yaml").read_text(encoding="utf-8")
ERROR = types.DiagnosticSeverity.Error
MANIFEST = "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: x}]\n"


def errors(found: Sequence[types.Diagnostic]) -> list[types.Diagnostic]:
    return [d for d in found if d.severity is ERROR]


async def test_yaml(wired: Editor) -> None:
    uri = wired.open(SOFTMAX, "diag.yaml")
    assert await wired.findings(uri) == []
    wired.edit(uri, "exp(t - m)", "exp(t - 名)")
    (found,) = errors(await wired.findings(uri))
    assert text_at(wired.texts[uri], found.range) == "名"
    assert found.source == "pypto-spec"
    wired.edit(uri, "名", "m")
    assert await wired.findings(uri) == []


async def test_toml(wired: Editor) -> None:
    uri = wired.open(SQUARE, "diag.toml")
    assert await wired.findings(uri) == []
    wired.edit(uri, 'lhs = "t"', 'lhs = "tt"')
    (found,) = errors(await wired.findings(uri))
    assert text_at(wired.texts[uri], found.range) == '"tt"'


async def test_the_parts_of_a_finding(wired: Editor) -> None:
    uri = wired.open(
        SOFTMAX.replace("about:", "about: 😀名", 1).replace("{into: t,", "{into: t, into: t,"), "parts.yaml"
    )
    (found,) = errors(await wired.findings(uri))
    first, *rest = found.message.split("\n")
    assert "into" in first
    assert any(line.startswith("help: ") for line in rest)
    assert found.code_description is not None
    page = Path(unquote(urlparse(found.code_description.href).path))
    assert page.read_text(encoding="utf-8").startswith(f"# {found.code}: ")
    assert found.related_information
    assert text_at(wired.texts[uri], found.related_information[0].location.range) == "into"
    assert found.related_information[0].location.uri == uri
    assert isinstance(found.data, dict) or found.data is not None


async def test_columns_behind_astral_characters(wired: Editor) -> None:
    uri = wired.open(SOFTMAX.replace("- let: e = exp(t - m)", '- {"let": "😀名 = exp(t - zz)"}'), "astral.yaml")
    found = errors(await wired.findings(uri))[0]
    assert text_at(wired.texts[uri], found.range).startswith("😀")
    wired.edit(uri, "tensors:\n", 'tensors:\n  "😀名": {dtype: fp64, shape: [R, C]}\n')
    found = next(d for d in errors(await wired.findings(uri)) if "fp64" in d.message)
    assert text_at(wired.texts[uri], found.range) == "fp64"


async def test_an_unused_value_is_tagged(wired: Editor) -> None:
    uri = wired.open(SOFTMAX.replace("      - let: y", "      - let: unused = exp(t)\n      - let: y"), "unused.yaml")
    (found,) = await wired.findings(uri)
    assert found.severity is types.DiagnosticSeverity.Warning
    assert list(found.tags or ()) == [types.DiagnosticTag.Unnecessary]


async def test_variants_are_all_checked(wired: Editor) -> None:
    uri = wired.open(VARIANTS, "variants.yaml")
    assert errors(await wired.findings(uri)) == []
    assert "variants" in VARIANTS


async def test_closing_clears_and_reopening_checks(wired: Editor) -> None:
    broken = SOFTMAX.replace("from: y", "from: z")
    uri = wired.open(broken, "again.yaml")
    assert errors(await wired.findings(uri))
    wired.close(uri)
    await wired.until(lambda: [p for p in wired.published if p.uri == uri and p.version is None and not p.diagnostics])
    assert wired.open(SOFTMAX, "again.yaml") == uri
    await wired.until(lambda: wired.published[-1].uri == uri and wired.published[-1].version == 1)
    assert not wired.published[-1].diagnostics


async def test_ten_fast_edits_are_one_check(wired: Editor) -> None:
    uri = wired.open(SOFTMAX, "fast.yaml")
    await wired.findings(uri)
    for n in range(10):
        wired.edit(uri, "about: ", f"about: {n}")
    last = wired.edit(uri, "from: y", "from: z")
    assert errors(await wired.findings(uri))
    await asyncio.sleep(0.3)
    assert [p.version for p in wired.published if p.uri == uri] == [1, last]


async def test_half_typed_documents_are_still_checked(wired: Editor) -> None:
    uri = wired.open("spec: v1\n", "half.yaml")
    assert errors(await wired.findings(uri))
    for text in (
        "spec: v1\nname: {",
        "spec",
        "",
        "\t",
        "spec: v1\nprogram:\n  - region: x\n    body:\n      - lo",
        "]]",
    ):
        wired.send(uri, types.TextDocumentContentChangeWholeDocument(text))
        await wired.findings(uri)
    toml = wired.open('spec = "v1"\n[tensors', "half.toml")
    assert errors(await wired.findings(toml))


async def test_an_unsaved_document(wired: Editor) -> None:
    uri = wired.open(SQUARE.replace("out_t = x * x", "out_t = x * q"), "untitled:Untitled-1", "toml")
    found = errors(await wired.findings(uri))
    assert text_at(wired.texts[uri], found[0].range) == "q"


async def test_other_documents_are_left_in_peace(wired: Editor) -> None:
    pod = wired.open(MANIFEST, "pod.yaml")
    other = wired.open("[project]\nname = 1\n", "pyproject.toml")
    code = wired.open("spec: v1\n", "x.py", "python")
    wired.edit(pod, "name: x", "name: y")
    spec = wired.open(SOFTMAX, "beside.yaml")
    await wired.findings(spec)
    assert not [p for p in wired.published if p.uri in (pod, other, code)]
    assert await wired.client.text_document_hover_async(types.HoverParams(**wired.place(pod, "name"))) is None

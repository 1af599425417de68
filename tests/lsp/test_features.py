"""Each feature over the wire, in YAML and in TOML. What the answers say is tested in tests/editor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, pairwise

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pypto_spec.editor.model import Kind
from pypto_spec.lsp.kinds import KINDS, MODIFIERS, TOKEN_TYPES
from tests.lsp.wire import Editor, text_at

pytestmark = pytest.mark.asyncio(loop_scope="session")

YAML = """\
spec: v1
name: 名前
about: 😀 twice the square root

constants: {R: 64, C: 64}

tensors:
  x:   {dtype: fp32, shape: [R, C]}
  out: {dtype: fp32, shape: [R, C], access: out}

program:
  - region: main
    body:
      - load:  {into: t, from: x, at: [0, 0], shape: [R, C]}
      - {"#": "😀名", "let": "y = sqrt(t) + sqrt(t)"}
      - store: {from: y, to: out, at: [0, 0]}
""".replace('{"#": "😀名", "let"', '{x-note: "😀名", "let"')

TOML = """\
spec = "v1"
name = "main"
about = "😀 twice the square root"

[constants]
R = 64
C = 64

[tensors]
x = { dtype = "fp32", shape = ["R", "C"] }
out = { dtype = "fp32", shape = ["R", "C"], access = "out" }

[[program]]
region = "main"
body = [
  { load = { into = "t", from = "x", at = [0, 0], shape = ["R", "C"] } },
  { x-note = "😀名", let = "y = sqrt(t) + sqrt(t)" },
  { store = { from = "y", to = "out", at = [0, 0] } },
]
"""

TEXTS = {"yaml": YAML.replace("名前", "main"), "toml": TOML}
NUMBERS = count()
"""Each test opens a file of its own."""


@pytest.fixture(params=list(TEXTS))
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


async def opened(wired: Editor, kind: str) -> str:
    """The kernel, checked and with its facts."""
    before = wired.refreshed
    uri = wired.open(TEXTS[kind], f"kernel{next(NUMBERS)}.{kind}")
    assert await wired.findings(uri) == []
    await wired.until(lambda: wired.refreshed > before)
    return uri


def texts(wired: Editor, uri: str, places: Sequence[types.Range]) -> list[str]:
    return [text_at(wired.texts[uri], place) for place in places]


def markdown(found: types.Hover | None) -> str:
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.kind is types.MarkupKind.Markdown
    return found.contents.value


async def test_hover(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    found = await wired.client.text_document_hover_async(types.HoverParams(**wired.place(uri, "sqrt(t)", 5, 1)))
    assert "64" in markdown(found) and "vec" in markdown(found)
    assert found is not None and found.range is not None
    assert text_at(wired.texts[uri], found.range) == "t"
    found = await wired.client.text_document_hover_async(types.HoverParams(**wired.place(uri, "access", 2)))
    assert "access" in markdown(found)


async def test_hovers_of_what_has_changed_since_hold_no_old_facts(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    wired.edit(uri, "sqrt(t) + sqrt(t)", "sqrt(t) + sqrt(nowhere)")
    unchanged, changed = wired.place(uri, "load", 1), wired.place(uri, "y = sqrt")
    text = markdown(await wired.client.text_document_hover_async(types.HoverParams(**unchanged)))
    assert "MTE2" in text
    text = markdown(await wired.client.text_document_hover_async(types.HoverParams(**changed)))
    assert "vec" not in text
    await wired.findings(uri)  # which know no more: the text is broken
    text = markdown(await wired.client.text_document_hover_async(types.HoverParams(**unchanged)))
    assert "MTE2" in text
    wired.edit(uri, "sqrt(nowhere)", "exp(t)")
    before = wired.refreshed
    await wired.findings(uri)
    await wired.until(lambda: wired.refreshed > before)
    text = markdown(await wired.client.text_document_hover_async(types.HoverParams(**changed)))
    assert "vec" in text


async def test_inlay_hints(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    text = wired.texts[uri]
    whole = types.Range(types.Position(0, 0), types.Position(text.count("\n"), 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
    found = await wired.client.text_document_inlay_hint_async(params)
    assert found
    assert any("vec" in str(hint.label) for hint in found)
    lines = text.split("\n")
    for hint in found:
        line = lines[hint.position.line].encode("utf-16-le")[: 2 * hint.position.character].decode("utf-16-le")
        assert line and not line[-1].isspace()
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), types.Range(whole.start, types.Position(1, 0)))
    assert not await wired.client.text_document_inlay_hint_async(params)


async def test_definition_and_references(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    place = wired.place(uri, "sqrt(t)", 5, 1)
    found = await wired.client.text_document_definition_async(types.DefinitionParams(**place))
    assert isinstance(found, types.Location)
    assert text_at(wired.texts[uri], found.range) == "t"
    assert wired.texts[uri].split("\n")[found.range.start.line].count("load")
    for declaration, number in ((True, 3), (False, 2)):
        context = types.ReferenceContext(declaration)
        uses = await wired.client.text_document_references_async(types.ReferenceParams(context=context, **place))
        assert texts(wired, uri, [use.range for use in uses or ()]) == ["t"] * number
    marks = await wired.client.text_document_document_highlight_async(types.DocumentHighlightParams(**place))
    assert [mark.kind for mark in marks or ()] == [
        types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read, types.DocumentHighlightKind.Read,
    ]  # fmt: skip


async def test_rename(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    place = wired.place(uri, "sqrt(t)", 5)
    span = await wired.client.text_document_prepare_rename_async(types.PrepareRenameParams(**place))
    assert isinstance(span, types.Range)
    assert text_at(wired.texts[uri], span) == "t"
    made = await wired.client.text_document_rename_async(types.RenameParams(new_name="tile", **place))
    assert made is not None and made.document_changes is not None
    (change,) = made.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == wired.versions[uri]
    wired.apply(uri, [edit for edit in change.edits if isinstance(edit, types.TextEdit)])
    assert wired.texts[uri].count("sqrt(tile) + sqrt(tile)") == 1
    assert await wired.findings(uri) == []


async def test_a_rename_that_cannot_be_says_why(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    place = wired.place(uri, "sqrt(t)", 5)
    with pytest.raises(JsonRpcException, match="`y`"):
        await wired.client.text_document_rename_async(types.RenameParams(new_name="y", **place))
    with pytest.raises(JsonRpcException):
        await wired.client.text_document_rename_async(types.RenameParams(new_name="not a name", **place))
    nothing = wired.place(uri, "about", 2)
    assert await wired.client.text_document_prepare_rename_async(types.PrepareRenameParams(**nothing)) is None


async def test_outline(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    identifier = types.TextDocumentIdentifier(uri)
    found = await wired.client.text_document_document_symbol_async(types.DocumentSymbolParams(identifier))
    names: list[str] = []
    todo = list(found or ())
    while todo:
        symbol = todo.pop()
        assert isinstance(symbol, types.DocumentSymbol)
        names.append(symbol.name)
        todo += symbol.children or ()
    assert {"tensors", "x", "out", "main"} <= set(names)


async def test_folds_and_selections(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    identifier = types.TextDocumentIdentifier(uri)
    lines = wired.texts[uri].split("\n")
    folds = await wired.client.text_document_folding_range_async(types.FoldingRangeParams(identifier))
    first = "body:" if kind == "yaml" else "body = ["
    (body,) = [fold for fold in folds or () if lines[fold.start_line].strip() == first]
    assert "store" in lines[body.end_line] or lines[body.end_line] == "]"
    place = wired.place(uri, "shape", 2)["position"]
    found = await wired.client.text_document_selection_range_async(types.SelectionRangeParams(identifier, [place]))
    assert found is not None
    chain: list[types.Range] = []
    step: types.SelectionRange | None = found[0]
    while step is not None:
        chain.append(step.range)
        step = step.parent
    assert text_at(wired.texts[uri], chain[0]) == "shape"
    assert text_at(wired.texts[uri], chain[-1]) == wired.texts[uri]
    for inner, outer in pairwise(chain):
        assert text_at(wired.texts[uri], inner) in text_at(wired.texts[uri], outer)


async def test_semantic_tokens(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    identifier = types.TextDocumentIdentifier(uri)
    found = await wired.client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(identifier))
    assert found is not None
    words = decoded(wired.texts[uri], list(found.data))
    assert ("sqrt", "function") in words
    assert words.count(("t", "variable")) == 3
    assert ("R", "enumMember") in words
    whole = types.Range(types.Position(0, 0), wired.place(uri, "program")["position"])
    params = types.SemanticTokensRangeParams(identifier, whole)
    found = await wired.client.text_document_semantic_tokens_range_async(params)
    assert found is not None
    part = decoded(wired.texts[uri], list(found.data))
    assert part and part == words[: len(part)]
    assert ("sqrt", "function") not in part


def decoded(text: str, numbers: list[int]) -> list[tuple[str, str]]:
    """The words of tokens with their types."""
    lines = text.split("\n")
    made: list[tuple[str, str]] = []
    line = column = 0
    for at in range(0, len(numbers), 5):
        down, right, length, which, _ = numbers[at : at + 5]
        column = right + (0 if down else column)
        line += down
        word = lines[line].encode("utf-16-le")[2 * column : 2 * (column + length)].decode("utf-16-le")
        made.append((word, str(TOKEN_TYPES[which].value)))
    return made


async def test_formatting(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    identifier, options = types.TextDocumentIdentifier(uri), types.FormattingOptions(2, True)
    params = types.DocumentFormattingParams(identifier, options)
    wired.apply(uri, await wired.client.text_document_formatting_async(params) or [])
    good = wired.texts[uri]
    loose = ("load:  {", "load:     {  ") if kind == "yaml" else ("{ load = {", "{   load   =   {")
    assert loose[0].split()[0] in good
    wired.edit(uri, loose[0] if loose[0] in good else "load: {", loose[1])
    found = await wired.client.text_document_formatting_async(params)
    assert found
    line = wired.place(uri, "load")["position"].line
    assert all(edit.range.start.line == edit.range.end.line == line for edit in found)
    wired.apply(uri, found)
    assert wired.texts[uri] == good
    wired.edit(uri, "{", "[")
    assert not await wired.client.text_document_formatting_async(params)


async def test_completion(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    wired.edit(uri, "sqrt(t) + sqrt(t)", "sqrt(t) + sq")
    found = await wired.client.text_document_completion_async(types.CompletionParams(**wired.place(uri, "+ sq", 4)))
    assert isinstance(found, types.CompletionList)
    items = {item.label: item for item in found.items}
    assert {"sqrt", "t"} <= set(items)
    chosen = items["sqrt"]
    assert chosen.documentation is None
    assert isinstance(chosen.text_edit, types.TextEdit)
    assert text_at(wired.texts[uri], chosen.text_edit.range) == "sq"
    full = await wired.client.completion_item_resolve_async(chosen)
    assert isinstance(full.documentation, types.MarkupContent)
    assert "root" in full.documentation.value


async def test_completion_of_half_typed_statements(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    line = "      - lo\n      - store" if kind == "yaml" else "  { lo },\n  { store"
    wired.edit(uri, "      - store" if kind == "yaml" else "  { store", line)
    place = wired.place(uri, "- lo\n" if kind == "yaml" else "{ lo }", 4)
    found = await wired.client.text_document_completion_async(types.CompletionParams(**place))
    assert isinstance(found, types.CompletionList)
    assert "load" in [item.label for item in found.items]


async def test_signature_help(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    wired.edit(uri, "sqrt(t) + sqrt(t)", "maximum(t, ")
    place = wired.place(uri, "maximum(t, ", 11)
    found = await wired.client.text_document_signature_help_async(types.SignatureHelpParams(**place))
    assert found is not None
    (shown,) = found.signatures
    assert shown.label.startswith("maximum(")
    assert shown.active_parameter == 1
    assert shown.parameters is not None
    label = shown.parameters[1].label
    assert isinstance(label, tuple)
    start, end = label
    assert shown.label[start:end].strip()


async def test_code_actions(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    version = wired.edit(uri, "access", "acess")
    (finding,) = [d for d in await wired.findings(uri, version) if "acess" in d.message]
    assert text_at(wired.texts[uri], finding.range) == "acess"
    context = types.CodeActionContext([finding], only=[types.CodeActionKind.QuickFix])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), finding.range, context)
    found = await wired.client.text_document_code_action_async(params)
    action = next(one for one in found or () if isinstance(one, types.CodeAction) and "access" in one.title)
    assert action.diagnostics is not None and action.diagnostics[0].code == finding.code
    assert action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    wired.apply(uri, [edit for edit in change.edits if isinstance(edit, types.TextEdit)])
    assert wired.texts[uri] == TEXTS[kind]
    context = types.CodeActionContext([], only=[types.CodeActionKind.SourceOrganizeImports])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), finding.range, context)
    assert not await wired.client.text_document_code_action_async(params)


async def test_all_safe_fixes_at_once(wired: Editor, kind: str) -> None:
    uri = await opened(wired, kind)
    wired.edit(uri, "fp32", "float32")
    wired.edit(
        uri,
        "fp32, shape" if kind == "yaml" else '"fp32", shape',
        "float32, shape" if kind == "yaml" else '"float32", shape',
    )
    wired.edit(uri, "access", "acess")  # whose fix is not safe: it is a guess
    context = types.CodeActionContext([], only=[types.CodeActionKind.Source])
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), nowhere, context)
    found = await wired.client.text_document_code_action_async(params)  # it waits for the findings of this text
    assert found is not None
    (action,) = found
    assert isinstance(action, types.CodeAction)
    assert action.kind == types.CodeActionKind.SourceFixAll
    assert action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    wired.apply(uri, [edit for edit in change.edits if isinstance(edit, types.TextEdit)])
    assert wired.texts[uri] == TEXTS[kind].replace("access", "acess")


async def test_every_kind_has_an_icon_and_a_colour() -> None:
    assert set(KINDS) == set(Kind)
    assert len(MODIFIERS) == 2

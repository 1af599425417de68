"""Code actions: the fixes of findings, one by one or all that are safe at once, and other changes to a statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.editor.actions import actions
from pypto_spec.editor.model import Action, Edit
from pypto_spec.lsp.diagnosing import diagnostic
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.edits import workspace_edit
from pypto_spec.lsp.server import SpecServer

QUICK, REWRITE = types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite
ALL = types.CodeActionKind.SourceFixAll
PATIENCE = 2.0
"""Seconds to wait for the findings of the text as it is now."""


async def answer(server: SpecServer, opened: Open, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """The actions for a range, of the kinds that are asked for."""
    checked = await server.checker.outcome(opened, PATIENCE)
    if checked is None or server.documents.get(opened.uri) is not opened:
        return None
    made: list[types.CodeAction] = []
    only = params.context.only
    start, end = opened.places.offset(params.range.start), opened.places.offset(params.range.end)
    if _wants(only, QUICK) or _wants(only, REWRITE):
        found = actions(opened.document, checked.findings, start, end)
        made += [_action(server, opened, one, checked.findings) for one in found if _wants(only, _kind(one))]
    if _wants(only, ALL):
        every = actions(opened.document, checked.findings, 0, len(opened.source.text))
        edits = together(one for one in every if one.safe)
        if edits:
            change = workspace_edit(opened, edits, server.client)
            made.append(types.CodeAction("Apply all safe fixes", kind=ALL, edit=change))
    return made


def _wants(only: Sequence[types.CodeActionKind | str] | None, kind: types.CodeActionKind) -> bool:
    """Whether a kind, or one that it is a kind of, is among those asked for."""
    words = [getattr(one, "value", one) for one in only or ()]
    return only is None or any(not w or kind.value == w or kind.value.startswith(f"{w}.") for w in words)


def _kind(action: Action) -> types.CodeActionKind:
    return QUICK if action.code else REWRITE


def _action(server: SpecServer, opened: Open, action: Action, findings: Iterable[Diagnostic]) -> types.CodeAction:
    of = [
        diagnostic(d, opened.places, opened.uri)
        for d in findings
        if d.rule.code == action.code and action.at is not None and d.primary.span.start == action.at.start
    ]
    return types.CodeAction(
        action.title,
        kind=_kind(action),
        diagnostics=of or None,
        is_preferred=action.safe or None,
        edit=workspace_edit(opened, action.edits, server.client),
    )


def together(found: Iterable[Action]) -> list[Edit]:
    """The edits of all actions in order; of two that touch the same text the later one has to wait for its turn."""
    taken: list[Edit] = []
    for action in found:
        fresh = [edit for edit in action.edits if edit not in taken]
        if not any(_touch(edit, other) for edit in fresh for other in taken):
            taken += fresh
    return sorted(taken, key=lambda edit: (edit.start, edit.end))


def _touch(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end

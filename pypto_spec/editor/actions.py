"""Code actions: the fixes of findings, ways to live with a hint, and small changes of a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.render.common import fix_title
from pypto_spec.diagnostics.span import Span
from pypto_spec.edit.changes import Change, Changes
from pypto_spec.edit.repairs import Repairs, Spot
from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Action, Edit
from pypto_spec.spec.flow import is_plain_in_block
from pypto_spec.spec.models.keywords import default_table
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode, span_between

_SILENCED = frozenset({Severity.WARNING, Severity.HINT})
SWAPS = {"for": "unroll", "unroll": "for"}
"""Loops that take the same fields, and may be written for each other."""


def actions(document: Document, findings: Sequence[Diagnostic], start: int, end: int) -> list[Action]:
    """What the user may ask for at `text[start:end]`: fixes of the findings there first."""
    here = [d for d in findings if _touches(document, d.primary.span, start, end)]
    made = [action for d in here for action in _fixes(document, d)]
    if document.tree is not None:
        repairs = Repairs(Changes(document.tree, document.format))
        made += [action for d in here for action in _silenced(document, repairs, d)]
        made += _refactorings(document, repairs, start)
    return list({(action.title, action.edits): action for action in made}.values())


def _touches(document: Document, span: Span, start: int, end: int) -> bool:
    if span.source.text != document.source.text:
        return False
    first, last = span.offsets
    return first <= max(start, end) and min(start, end) <= last


def _fixes(document: Document, diagnostic: Diagnostic) -> Iterator[Action]:
    for fix in diagnostic.fixes:
        if fix.span.source.text == document.source.text:
            edit = Edit(*fix.span.offsets, fix.replacement)
            yield Action(fix_title(fix), (edit,), diagnostic.rule.code, diagnostic.primary.span, fix.safe)


def _silenced(document: Document, repairs: Repairs, diagnostic: Diagnostic) -> Iterator[Action]:
    """`allow` beside the statement of a hint, and `disable` in the spec."""
    if diagnostic.level not in _SILENCED:
        return
    code, span = diagnostic.rule.code, diagnostic.primary.span
    spot = repairs.spot(span)
    statement = _statement(repairs, spot)
    if statement is not None and spot is not None:
        change = _listed(repairs, statement, ("allow",), code)
        if change is not None:
            yield Action(f"allow {code} in this statement", (_edit(change),), code, span)
    assert document.tree is not None
    change = _listed(repairs, document.tree, ("diagnostics", "disable"), code)
    if change is not None:
        yield Action(f"disable {code} in this spec", (_edit(change),), code, span)


def _statement(repairs: Repairs, spot: Spot | None) -> MappingNode | None:
    """The innermost statement around a spot, if codes can be allowed beside it."""
    place = repairs.statement(spot)
    item = place[0].items[place[1]] if place is not None else None
    return item if isinstance(item, MappingNode) else None


def _listed(repairs: Repairs, base: MappingNode, path: tuple[str, ...], code: str) -> Change | None:
    """A code more in a list of codes, which may be missing, or a single word."""
    node: Node | None = base.find(*path)
    codes: list[object] = []
    if isinstance(node, SequenceNode):
        codes = [item.value for item in node.items if isinstance(item, ScalarNode)]
    elif isinstance(node, ScalarNode):
        codes = [node.value]
    return None if code in codes else repairs.set(base, path, [*codes, code])


def _refactorings(document: Document, repairs: Repairs, start: int) -> Iterator[Action]:
    """A loop written out, and one that is not, and an operator that is one name as a formula."""
    spot = repairs.spot(span_between(document.source, start, start))
    statement = _statement(repairs, spot)
    keyword = next((key for key in statement.entries if key in default_table()), None) if statement else None
    if statement is None or keyword is None:
        return
    key, value = statement.entries[keyword]
    first = next(iter(statement.entries.values()))[0]
    if key.via or not first.start <= start <= max(key.end, value.end):
        return
    other = SWAPS.get(keyword)
    known = {"index", "count", "range"}
    if other is not None and isinstance(value, MappingNode) and set(value.entries) <= known:
        change = repairs.changes.rename(statement, keyword, other)
        if change is not None:
            yield Action(f"write `{other}` in place of `{keyword}`", (_edit(change),))
    formula = _formula(keyword, value, statement)
    if formula is not None:
        behind = repairs.changes.end_of(value)
        sign = " = " if document.format == "toml" else ": "
        bare = document.format == "yaml" and not statement.flow and is_plain_in_block(formula)
        text = formula if bare else repairs.changes.scalar(value, formula)
        edit = Edit(key.start, behind, f"let{sign}{text}")
        yield Action(f"write it as `let: {formula}`", (edit,))


def _formula(keyword: str, value: Node, statement: MappingNode) -> str | None:
    """An operator of tiles as a formula: `exp: {into: y, x: t}` is `y = exp(t)`."""
    from pypto_spec.ops.registry import OPS, Operand, form

    defn = OPS.get(keyword)
    if defn is None or not isinstance(value, MappingNode) or len(statement.entries) != 1 or value.via:
        return None
    tiles = [field.name for field in defn.fields if field.kind == "tile"]
    if set(value.entries) != {"into", *tiles} or not 1 <= len(tiles) <= 2:
        return None
    texts = {name: node.text for name, (_, node) in value.entries.items() if isinstance(node, ScalarNode)}
    if len(texts) != len(value.entries) or any("$" in text or "." in text for text in texts.values()):
        return None
    for symbol in filter(None, (defn.infix, defn.function)):
        kinds: list[Operand] = ["tile"] * len(tiles)
        found = form(symbol, *kinds)
        if found is not None and found.defn is defn:
            operands = [texts[name] for name in found.fields]
            shown = f" {symbol} ".join(operands) if symbol == defn.infix else f"{symbol}({', '.join(operands)})"
            return f"{texts['into']} = {shown if len(operands) > 1 or symbol != defn.infix else symbol + operands[0]}"
    return None


def _edit(change: Change) -> Edit:
    return Edit(change.start, change.end, change.text)

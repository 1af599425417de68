"""What is written in the sections `target` and `diagnostics`, and has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.convert.context import Reading
from pypto_spec.diagnostics.model import Severity, Sink
from pypto_spec.diagnostics.rules.syntax import CANNOT_DISABLE, UNKNOWN_WORD
from pypto_spec.diagnostics.rules.target import NO_EFFECT_YET
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.spec.models.document import Document
from pypto_spec.spec.tree import Node, ScalarNode, SequenceNode

LATER = {
    "l0c_double_buffer": (True, "it concerns the cube core, which has no statements yet"),
    "unit_flag": (True, "it concerns the cube core, which has no statements yet"),
}
"""Fields of `target` that change nothing yet: the value that would, and why it does not."""


def check_options(document: Document, sink: Sink) -> None:
    """Say which options change nothing, and which codes cannot be switched off."""
    target = document.model.target
    for name, (value, why) in LATER.items():
        if getattr(target, name) != value:
            continue
        node = document.node("target", name)
        sink.report(
            NO_EFFECT_YET,
            document.span("target", name) if node is None else node.span,
            f"`{name}: {str(value).lower()}` has no effect yet: {why}",
            label="changes nothing",
            helps=[f"leave `{name}` out; the kernels are the same"],
        )
    for node in _codes(document.node("diagnostics", "disable")):
        check_switched_off(node, sink)


def _codes(node: Node | None) -> Iterator[ScalarNode]:
    for item in node.items if isinstance(node, SequenceNode) else [node]:
        if isinstance(item, ScalarNode):
            yield item


def check_code(reading: Reading, node: Node, *, switched_off: bool) -> None:
    """Refuse a code that does not exist; warn of an error's that is to be switched off."""
    from pypto_spec.diagnostics.registry import known_words

    text, known = reading.text(node), known_words()
    if text not in known:
        reading.fail(
            UNKNOWN_WORD,
            node,
            f"there is no diagnostic `{text}`",
            label="unknown code",
            helps=[did_you_mean(text, known) or "`pypto-spec explain` lists them"],
        )
    if switched_off and isinstance(node, ScalarNode):
        check_switched_off(node, reading.sink)


def check_switched_off(node: ScalarNode, sink: Sink) -> None:
    """Warn where the code of an error is to be switched off."""
    from pypto_spec.diagnostics.registry import all_rules

    rules = all_rules()
    found = rules.get(node.text) or next((rule for rule in rules.values() if rule.name == node.text), None)
    if found is None or found.severity is not Severity.ERROR:
        return
    sink.report(
        CANNOT_DISABLE,
        node.span,
        f"`{node.text}` is an error, and errors cannot be switched off",
        label="has no effect here",
        helps=[f"take it out; `pypto-spec explain {found.code}` says how to put the error right"],
    )

"""What is written in the sections `target` and `diagnostics`, and has no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pypto_spec.convert.context import Reading
from pypto_spec.convert.scope import span_of
from pypto_spec.diagnostics.model import Repair, Severity, Sink
from pypto_spec.diagnostics.rules.hints import PIPELINE_DEPTH
from pypto_spec.diagnostics.rules.syntax import CANNOT_DISABLE, CANNOT_INSIST, UNKNOWN_WORD
from pypto_spec.diagnostics.rules.target import NO_EFFECT
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.nodes import Control
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.spec.models.document import Document
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

OF_THE_CUBE = ("l0c_double_buffer", "unit_flag")
"""Fields of `target` that change nothing where no product is computed."""


def check_effects(document: Document, sink: Sink, body: Sequence[Control]) -> None:
    """Say which options change nothing in a program."""
    if any(op.defn.role == "matmul" for region in regions(body) for op in ops(region.body)):
        return
    target = document.model.target
    for name in OF_THE_CUBE:
        if not getattr(target, name):
            continue
        node = document.node("target", name)
        sink.report(
            NO_EFFECT,
            document.span("target", name) if node is None else node.span,
            f"`{name}: true` has no effect: it concerns products on the cube core, and there are none here",
            label="changes nothing",
            helps=[f"leave `{name}` out; the kernels are the same"],
            fixes=[Repair("remove", None, ("target", name), safe=True, title=f"leave `{name}` out")],
        )


def check_options(document: Document, sink: Sink) -> None:
    """Say which codes cannot be switched off."""
    for node in _codes(document.node("diagnostics", "disable")):
        check_switched_off(node, sink)


def _codes(node: Node | None) -> Iterator[ScalarNode]:
    for item in node.items if isinstance(node, SequenceNode) else [node]:
        if isinstance(item, ScalarNode):
            yield item


def read_codes(reading: Reading, statement: MappingNode, key: str) -> frozenset[str]:
    """The codes beside a statement: those that it allows, or those that are errors for it."""
    found = _beside(reading, statement, key)
    if reading.dump is None:
        for item in found:
            check_code(reading, item, switched_off=key == "allow")
    return frozenset(map(reading.text, found))


def read_insisted(reading: Reading, statement: MappingNode, *, stages: bool) -> frozenset[str]:
    """The codes that are errors for a loop, which has `stages` or not."""
    found = read_codes(reading, statement, "error")
    if found and reading.dump is None:
        check_insisted(reading, _beside(reading, statement, "error"), stages=stages)
    return found


def _beside(reading: Reading, statement: MappingNode, key: str) -> list[Node]:
    node = statement.get(key)
    if isinstance(node, ScalarNode) and node.value is not None:
        return [node]
    return reading.items(node, statement, key)


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


def check_insisted(reading: Reading, nodes: Iterable[Node], *, stages: bool) -> None:
    """Warn of codes in the `error` of a loop that it cannot give; only one with stages gives any."""
    from pypto_spec.diagnostics.registry import all_rules

    rules = all_rules()
    for node in nodes:
        text = reading.text(node)
        found = rules.get(text) or next((rule for rule in rules.values() if rule.name == text), None)
        if found is PIPELINE_DEPTH and stages:
            continue
        if found is PIPELINE_DEPTH:
            why = f"`{text}` is about the stages of a pipeline, and this loop has none"
            way = "write it beside a `pipeline`, or take it out"
        elif found is not None and found.severity is Severity.ERROR:
            why, way = (
                f"`{text}` is an error everywhere",
                f"take it out; a loop insists with `{PIPELINE_DEPTH.code}` only",
            )
        else:
            why = f"a loop insists with `{PIPELINE_DEPTH.code}` only, and `{text}` beside it changes nothing"
            way = f"make it an error in the whole spec: `diagnostics: {{error: [{text}]}}`"
        where = span_of(node)
        taken = [Repair("remove", where, safe=True, title=f"take `{text}` out")]
        reading.sink.report(CANNOT_INSIST, where, why, label="has no effect here", helps=[way], fixes=taken)


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
        fixes=[Repair("remove", node.span, safe=True, title=f"take `{node.text}` out")],
    )

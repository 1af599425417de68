"""Places inside a formula: which stretch of its text stands behind a field of an op."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from pypto_spec.diagnostics.model import CompileError, Fix, Label, Rule, diagnose
from pypto_spec.diagnostics.span import Span
from pypto_spec.spec.tree import ScalarNode


class Stretch(Protocol):
    """Offsets into the text of a formula; every node of one has them."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class FormulaPlace:
    """The place of one op of a `let`. Spans are found only when a diagnostic asks: `Loc`'s two questions."""

    __slots__ = ("fields", "node", "whole")

    def __init__(self, node: ScalarNode, fields: Mapping[str, Stretch], whole: Stretch) -> None:
        self.node = node
        self.fields = fields
        self.whole = whole

    @property
    def span(self) -> Span:
        """The stretch of the op itself."""
        return self.node.sub_span(self.whole.start, self.whole.end)

    def field_span(self, name: str) -> Span | None:
        """The stretch of an operand or argument."""
        found = self.fields.get(name)
        return self.node.sub_span(found.start, found.end) if found is not None else None

    def field(self, name: str) -> Span:
        """The same, or the op's own stretch where the field was not written."""
        return self.field_span(name) or self.span

    def error(
        self,
        rule: Rule,
        message: str,
        *,
        label: str = "",
        helps: Iterable[str] = (),
        secondary: Iterable[Label] = (),
        fixes: Iterable[Fix] = (),
    ) -> CompileError:
        """An error at the stretch of the op."""
        labels = (*secondary, *self.node.alias_labels)
        fixes = () if self.node.via else fixes
        return CompileError(
            [diagnose(rule, self.span, message, label=label, helps=helps, secondary=labels, fixes=fixes)]
        )

"""What is wrong with a formula, by offsets into its text; the node of the spec turns them into spans."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Diagnostic, Fix, Rule, diagnose
from pypto_spec.diagnostics.rules.syntax import FORMULA
from pypto_spec.spec.tree import ScalarNode


class FormulaError(Exception):
    """A formula cannot be read or has no value.

    `replacement`, where given, is a text for the stretch that repairs the formula and keeps what was meant;
    `swap` is a stretch in which the first of one text becomes another, or, where that is empty, what is put there.
    """

    def __init__(
        self,
        message: str,
        start: int,
        end: int,
        help: str,
        *,
        rule: Rule = FORMULA,
        label: str = "",
        replacement: str | None = None,
        swap: tuple[int, int, str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.help = help
        self.rule = rule
        self.label = label
        self.replacement = replacement
        self.swap = swap

    def diagnostic(self, node: ScalarNode) -> Diagnostic:
        """The diagnostic at the place in the file, `node` being the scalar that holds the formula."""
        span = node.sub_span(self.start, self.end)
        fixes = [Fix(span, self.replacement)] if self.replacement is not None and not node.via else []
        if self.swap is not None and not node.via:
            start, end, old, new = self.swap
            at = node.text.find(old, start, end)
            if at >= 0:
                title = f"write `{new}`" if old else f"add `{new}`"
                fixes.append(Fix(node.sub_span(at, at + len(old)), new, title=title))
        return diagnose(
            self.rule, span, self.message, label=self.label, secondary=node.alias_labels, helps=[self.help], fixes=fixes
        )

"""What is said about the thing under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pypto_spec.editor.cursor import Leaf, leaf_at
from pypto_spec.editor.document import Document
from pypto_spec.editor.facts import Facts
from pypto_spec.editor.facts.model import At, Key
from pypto_spec.editor.facts.view import View, views
from pypto_spec.editor.hovers.formulas import part_at, part_text, stretches
from pypto_spec.editor.hovers.sections import (
    buffer_text,
    constant_text,
    function_text,
    symbol_text,
    tensor_text,
)
from pypto_spec.editor.hovers.statements import loop_lines, statement_text
from pypto_spec.editor.hovers.tiles import tile_text
from pypto_spec.editor.hovers.words import reference_text, word_text
from pypto_spec.editor.model import Hover, Kind
from pypto_spec.editor.names import Use, index
from pypto_spec.spec.tree import ScalarNode, span_between

OTHERS = 3
"""The most variants whose differing figures are listed."""
DIFFERENCES = 3
"""The most lines that are listed of one of them."""


def hover(document: Document, at: int, facts: Facts | None) -> Hover | None:
    """The answer for a code-point offset; `facts` may be of an earlier text, what has changed since is left out."""
    leaf = leaf_at(document, at)
    if leaf is None:
        return None
    return _Hover(document, at, leaf, views(facts, document.source)).found()


class _Hover:
    """One question."""

    def __init__(self, document: Document, at: int, leaf: Leaf, seen: Sequence[View]) -> None:
        self.document = document
        self.at = at
        self.leaf = leaf
        self.views = seen

    def found(self) -> Hover | None:
        """The answer: a name of the spec comes before the words of the language."""
        use = index(self.document).at(self.at)
        if use is not None:
            text = self.name(use)
            return self.answer(text, use.start, use.stop) if text else None
        node = self.leaf.node
        if self.leaf.is_key:
            return self.answer(self.key(), node.start, node.end)
        return self.formula() or self.answer(word_text(self.leaf), node.start, node.end)

    def answer(self, text: str, start: int, end: int) -> Hover | None:
        """A hover over a stretch; None where there is nothing to say."""
        text = text.strip()
        return Hover(span_between(self.document.source, start, end), text) if text else None

    # Names

    def name(self, use: Use) -> str:
        """What is known of a name."""
        name, binding = self.document.source.text[use.start : use.stop], use.binding
        first = self.views[0] if self.views else None
        make = _KINDS.get(binding.kind)
        if make is not None:
            return self.of_variants(lambda view: make(name, view, binding.detail)) if first else make(
                name, None, binding.detail
            )  # fmt: skip
        if binding.kind is Kind.CONSTANT:
            return constant_text(self.document, binding.name)
        if binding.kind is Kind.FUNCTION:
            return function_text(self.document, binding.name, binding.detail)
        if binding.kind is Kind.INDEX:
            return self.index(use, name)
        if binding.kind in (Kind.TILE, Kind.ARGUMENT):
            text = self.of_variants(lambda view: self.tile(view, use, name))
            if text:
                return text
        if binding.kind is Kind.REGION and use.declares:
            return f"**region** `{name}`\n\n{self.statement()}"
        return f"**{binding.kind.value}** `{name}`" + (f": `{binding.detail}`" if binding.detail else "")

    def tile(self, view: View, use: Use, name: str) -> str:
        """A tile: of what is bound again, the binding that is meant here."""
        here = self.place(view, self.leaf)
        if use.declares:
            key = None if here is None else (here, name)
            return "" if key is None else tile_text(view, [key], key)
        keys = self.read(view, here, use) if here is not None else ()
        if not keys:
            site = leaf_at(self.document, (use.site or use.binding.declaration).start)
            bound = self.place(view, site) if site is not None else None
            keys = ((bound, name),) if bound is not None else ()
        return tile_text(view, keys)

    def read(self, view: View, here: At, use: Use) -> Sequence[Key]:
        """The bindings that a statement reads at this place, by its field or the stretch of its formula."""
        for part, _, (start, end) in stretches(view.facts, here, self.leaf, self.at):
            if (start, end) == (use.start, use.stop) and part.keys:
                return part.keys
        field = self.leaf.field
        return view.facts.reads.get((here, str(field[1])), ()) if len(field) > 1 else ()

    def index(self, use: Use, name: str) -> str:
        """The index of a loop with its range."""
        site = leaf_at(self.document, (use.site or use.binding.declaration).start)
        statement = site.statement if site is not None else None
        kind = statement.keyword if statement is not None else "loop"

        def text(view: View) -> str:
            at = self.place(view, site) if site is not None else None
            loop = view.facts.loops.get(at) if at is not None else None
            return "\n".join(["", *loop_lines(loop)]) if loop is not None else ""

        return f"**index** `{name}` of `{kind}`\n" + self.of_variants(text)

    # Keys and formulas

    def key(self) -> str:
        """A keyword, with what became of its statement, or another key."""
        reference = reference_text(self.leaf)
        statement = self.leaf.statement
        made = self.statement() if statement is not None and self.leaf.node is statement.key else ""
        return f"**This `{self.leaf.node.text}`**\n\n{made}\n\n---\n\n{reference}" if made else reference

    def statement(self) -> str:
        """What became of the statement under the cursor."""

        def text(view: View) -> str:
            at = self.place(view, self.leaf)
            return statement_text(view, at) if at is not None else ""

        return self.of_variants(text)

    def formula(self) -> Hover | None:
        """A function or sign of a formula, with the type of what it gives."""
        found = part_at(self.leaf, self.at)
        if found is None or not isinstance(self.leaf.node, ScalarNode):
            return None
        part, stretch = found
        text = part_text(part)
        for view in self.views[:1]:
            here = self.place(view, self.leaf)
            around = next(stretches(view.facts, here, self.leaf, self.at), None) if here is not None else None
            if around is not None and part.kind in ("function", "sign"):
                fact, (start, end), _ = around
                made = " ".join(self.leaf.node.text[start:end].split())
                text = f"`{made}`: `{fact.type}`" + (f"\n\n---\n\n{text}" if text else "")
        return self.answer(text, *stretch)

    # Facts

    def place(self, view: View, leaf: Leaf) -> At | None:
        """Where the statement of a key or value stands in the text of the facts; None where it has changed."""
        return view.at(leaf.statement) if leaf.statement is not None else None

    def of_variants(self, text: Callable[[View], str]) -> str:
        """The text for the variant whose facts come first, and the lines in which others differ."""
        if not self.views:
            return ""
        first, *others = self.views
        made = text(first)
        if first.facts.variant is None or not made:
            return made
        lines = [made, "", f"Figures of the variant `{first.facts.variant}`."]
        known = set(made.splitlines())
        differing: list[str] = []
        for view in others:
            other = [line[2:] for line in text(view).splitlines() if line.startswith("* ") and line not in known]
            if other:
                differing.append(f"* in `{view.facts.variant}`: {'; '.join(other[:DIFFERENCES])}")
        if differing:
            lines += ["", *differing[:OTHERS]]
        if len(differing) > OTHERS:
            lines.append(f"* and in {len(differing) - OTHERS} more")
        return "\n".join(lines)


def _scalar(name: str, view: View | None, detail: str) -> str:
    return f"**scalar** `{name}`: an argument at run time" + (f", `{detail}`" if detail else "")


_KINDS: Mapping[Kind, Callable[[str, View | None, str], str]] = {
    Kind.SYMBOL: symbol_text,
    Kind.SCALAR: _scalar,
    Kind.TENSOR: tensor_text,
    Kind.BUFFER: buffer_text,
}
"""Names whose texts need nothing but the name, the facts and what is written for them."""

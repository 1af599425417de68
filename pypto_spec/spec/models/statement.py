"""Statements: a keyword with its validated model, the node behind it, and the blocks in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pydantic import ValidationError

from pypto_spec.diagnostics.model import Diagnostic, Fix, diagnose
from pypto_spec.diagnostics.rules.cores import WRONG_PLANE
from pypto_spec.diagnostics.rules.syntax import KEYWORD_COUNT, MISSING_KEY, WRONG_TYPE
from pypto_spec.diagnostics.span import Span
from pypto_spec.diagnostics.suggest import closest
from pypto_spec.records import dataclass
from pypto_spec.spec.formula.errors import FormulaError
from pypto_spec.spec.formula.parser import parse_let
from pypto_spec.spec.formula.walk import Part
from pypto_spec.spec.limits import MAX_ERRORS
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.extras import NO_EXTRAS, Extras
from pypto_spec.spec.models.keywords import BLOCK_KEYS, PLANES, Keyword, KeywordTable, Plane
from pypto_spec.spec.models.problems import Problems, not_yet, unknown_key
from pypto_spec.spec.models.ways import apart, as_let
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode, Value, span_between

SIBLINGS = frozenset({"src", "type", "allow", "error", "stage", "carry", "results", "instructions", *BLOCK_KEYS})
"""Keys beside a keyword that are no keywords themselves (`yield` is both)."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    `model` holds the keyword's own fields, `extras` what stands beside them. It satisfies `Located`: a diagnostic can
    ask for the place of a field.
    """

    keyword: str
    model: Model
    node: MappingNode
    key: KeyNode
    value: Node
    extras: Extras = NO_EXTRAS
    body: tuple[Statement, ...] = ()
    then: tuple[Statement, ...] = ()
    orelse: tuple[Statement, ...] = ()

    @property
    def span(self) -> Span:
        """The keyword with its value, without the blocks below it."""
        if self.value.via or self.value.start < self.key.start:
            return self.key.span
        return span_between(self.node.source, self.key.start, max(self.key.end, self.value.end))

    @property
    def start(self) -> tuple[int, int]:
        """Line and column of the keyword, which is what `src` of a dump names."""
        return self.node.source.position(self.key.start)

    def field_node(self, *path: str | int) -> Node | None:
        """The node of a written field, wherever it stands: in the keyword's mapping, beside it, or as its value."""
        first, *rest = path
        node: Node | None = None
        if isinstance(self.value, MappingNode):
            node = self.value.get(str(first))
        if node is None and first != self.keyword:
            node = self.node.get(str(first))
        if node is None and not isinstance(self.value, MappingNode):
            node = self.value if first in (self.keyword, "name", "formula", "condition", "pipe") else None
        for step in rest:
            if isinstance(node, MappingNode):
                node = node.get(str(step))
            elif isinstance(node, SequenceNode) and str(step).isdecimal() and int(step) < len(node.items):
                node = node.items[int(step)]
            else:
                return None
        return node

    def field_span(self, name: str) -> Span | None:
        """Where the value of a field stands; dots descend (`at.1`)."""
        node = self.field_node(*name.split("."))
        return node.span if node is not None else None

    def part_span(self, part: Part, *path: str | int) -> Span:
        """Where a part of the formula in a field stands: `part_span(expr, "at", 0)`."""
        node = self.field_node(*path) if path else self.value
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            return node.sub_span(part.start, part.end)
        return node.span if node is not None else self.span

    def blocks(self) -> Iterator[tuple[Statement, ...]]:
        """The statements inside, block by block."""
        yield from (self.body, self.then, self.orelse)


class Reader:
    """Reads lists of statements; errors are collected, so that one run reports all of them."""

    def __init__(
        self, table: KeywordTable, errors: list[Diagnostic], scalar: Callable[[ScalarNode], Value] | None = None
    ) -> None:
        self.table = table
        self.errors = errors
        self.scalar = scalar

    def block(self, key: KeyNode, node: Node, plane: Plane) -> tuple[Statement, ...]:
        """The statements of the list under `key`; those that are wrong are left out."""
        if not isinstance(node, SequenceNode):
            empty = isinstance(node, ScalarNode) and node.value is None
            found = "nothing" if empty else f"a {node.kind}"
            place = key.span if empty else node.span
            self._error(
                diagnose(
                    WRONG_TYPE,
                    place,
                    f"`{key.text}` is a list of statements, found {found}",
                    label="not a list",
                    helps=[
                        f"start each statement with `- `; in TOML write `[[{key.text}]]`"
                        if isinstance(node, MappingNode)
                        else "start each statement with `- `"
                    ],
                )
            )
            return ()
        made: list[Statement] = []
        before = len(self.errors)
        for item in node.items:
            statement = self._statement(item, plane)
            if statement is not None:
                made.append(statement)
        self._one_for_all(before)
        return tuple(made)

    def _one_for_all(self, before: int) -> None:
        """Say once that a whole list stands on the wrong plane: one thing is wrong with all of it."""
        found = self.errors[before:]
        for help_text in {error.helps for error in found if error.rule is WRONG_PLANE}:
            same = [error for error in found if error.rule is WRONG_PLANE and error.helps == help_text]
            if len(same) > 1:
                more = f"{len(same) - 1} more statement{'s' if len(same) > 2 else ''} of this list"
                first = replace(same[0], notes=(*same[0].notes, f"so it is with {more}"))
                found = [first if e is same[0] else e for e in found if e is same[0] or e not in same]
        self.errors[before:] = found

    def _error(self, diagnostic: Diagnostic) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(diagnostic)

    def _statement(self, node: Node, plane: Plane) -> Statement | None:
        if not isinstance(node, MappingNode):
            self._not_a_mapping(node)
            return None
        table = self.table
        found: Keyword | None = None
        key: KeyNode | None = None
        value: Node = node
        others: list[KeyNode] = []
        entries = node.entries
        for name, entry in entries.items():
            keyword = table.keywords.get(name)
            is_keyword = keyword is not None and name not in SIBLINGS and (name != "yield" or len(entries) == 1)
            if is_keyword and found is None:
                found, key, value = keyword, entry[0], entry[1]
                continue
            if name[:2] != "x-":
                others.append(entry[0])
        if found is None or key is None:
            self._no_keyword(node, others, plane)
            return None
        if others:
            second = [k for k in others if k.text in table and k.text not in SIBLINGS and k.text not in found.siblings]
            if second:
                self._two_keywords(found, second[0])
                return None
        if found.reserved:
            self._error(not_yet(key.span, f"the statement `{found.name}`"))
            return None
        if plane not in found.planes:
            self._wrong_plane(found, key, plane)
            return None
        return self._read(found, key, value, node, others, plane)

    def _read(
        self, keyword: Keyword, key: KeyNode, value: Node, node: MappingNode, others: list[KeyNode], plane: Plane
    ) -> Statement | None:
        before = len(self.errors)
        extras = self._siblings(keyword, key, value, node, others) if others else NO_EXTRAS
        model = self._model(keyword, key, value, node) if len(self.errors) == before else None
        if not keyword.blocks:
            return Statement(keyword.name, model, node, key, value, extras) if model is not None else None
        inner: Plane = keyword.opens or plane
        blocks: dict[str, tuple[Statement, ...]] = {}
        for name in keyword.blocks:
            block = node.entries.get(name)
            if block is not None:
                blocks[name] = self.block(*block, inner)
            elif name in keyword.needs and len(self.errors) == before:
                self._error(
                    diagnose(
                        MISSING_KEY,
                        key.span,
                        f"`{keyword.name}` needs the key `{name}`",
                        label=f"`{name}` is missing",
                        helps=[f"put its statements under `{name}:` beside `{keyword.name}:`"],
                    )
                )
        if model is None:
            return None
        return Statement(
            keyword.name,
            model,
            node,
            key,
            value,
            extras,
            blocks.get("body", ()),
            blocks.get("then", ()),
            blocks.get("else", ()),
        )

    def _model(self, keyword: Keyword, key: KeyNode, value: Node, node: MappingNode) -> Model | None:
        """The keyword's own fields, validated once."""
        plain: object
        if isinstance(value, MappingNode) and keyword.fields:
            plain = value.to_plain(self.scalar)
        elif keyword.bare and isinstance(value, ScalarNode) and value.value is None:
            plain = {}
        elif keyword.scalar is not None and not (isinstance(value, ScalarNode) and value.value is None):
            plain = {keyword.scalar: value.to_plain(self.scalar)}
        else:
            found = "nothing" if isinstance(value, ScalarNode) and value.value is None else f"a {value.kind}"
            holds = "a mapping of fields" if keyword.fields else f"its {keyword.scalar}"
            self._error(
                diagnose(
                    WRONG_TYPE,
                    value.span if value.end > value.start else key.span,
                    f"`{keyword.name}` holds {holds}, found {found}",
                    label="here",
                    helps=[f"write `{keyword.example}`" if keyword.example else "write `{field: value}`"],
                )
            )
            return None
        if keyword.options:
            assert isinstance(plain, dict)
            for name in keyword.options:
                option = node.get(name)
                if option is not None:
                    plain[name] = option.to_plain(self.scalar)
        made = self.table.model(keyword.name)
        try:
            model = made.model_validate(plain)
        except ValidationError as error:
            for diagnostic in self._problems(made, keyword, key, value, node).translate(error):
                self._error(diagnostic)
            return None
        if made.not_yet or made.exactly_one:
            for diagnostic in self._problems(made, keyword, key, value, node).rules_of(model):
                self._error(diagnostic)
        return model

    def _problems(self, made: type[Model], keyword: Keyword, key: KeyNode, value: Node, node: MappingNode) -> Problems:
        if isinstance(value, MappingNode) and keyword.fields:
            entries = dict(value.entries)
        else:
            entries = {keyword.scalar or "": (key, value)}
        entries |= {name: node.entries[name] for name in keyword.options if name in node.entries}
        fields = MappingNode(node.source, value.start, value.end, entries, False, value.via)
        return Problems(made, fields, key, f"`{keyword.name}`")

    def _siblings(
        self, keyword: Keyword, key: KeyNode, value: Node, node: MappingNode, others: list[KeyNode]
    ) -> Extras:
        """The keys beside the keyword that are not part of its model."""
        extras: dict[str, tuple[KeyNode, Node]] = {}
        allowed = keyword.siblings
        for other in others:
            name = other.text
            if name in keyword.extras:
                extras[name] = node.entries[name]
            elif name not in allowed:
                if self._fields_at_keyword(keyword, key, value, name):
                    self._error(
                        diagnose(
                            WRONG_TYPE,
                            other.span,
                            f"the fields of `{keyword.name}` stand beside it, not in it",
                            label="belongs one level deeper",
                            helps=[f"indent the fields of `{keyword.name}` by two more blanks"],
                        )
                    )
                    break
                near = closest(name, allowed - set(node.entries))
                self._error(
                    unknown_key(other, name, f"`{keyword.name}`", sorted(allowed - {"src", "instructions"}), near)
                )
        if not extras:
            return NO_EXTRAS
        plain = {name: entry[1].to_plain(self.scalar) for name, entry in extras.items()}
        try:
            return Extras.model_validate(plain)
        except ValidationError as error:
            fields = MappingNode(node.source, node.start, node.end, extras, False)
            for diagnostic in Problems(Extras, fields, key, f"`{keyword.name}`").translate(error):
                self._error(diagnostic)
            return NO_EXTRAS

    def _fields_at_keyword(self, keyword: Keyword, key: KeyNode, value: Node, name: str) -> bool:
        """Whether `name` is a field that slipped out: `load:` with nothing in it and its fields below in line."""
        if not (isinstance(value, ScalarNode) and value.value is None and keyword.fields):
            return False
        fields = self.table.model(keyword.name).model_fields
        return any((field.alias or known) == name for known, field in fields.items())

    def _not_a_mapping(self, node: Node) -> None:
        if isinstance(node, ScalarNode):
            keyword = self.table.get(node.text)
            if keyword is not None and keyword.reserved:
                self._error(not_yet(node.span, f"the statement `{node.text}`"))
                return
            span = node.span
            example = (
                f"write `- {keyword.example}`" if keyword and keyword.example else "write `- keyword: {field: value}`"
            )
            if "=" in node.text and self._is_let(node.text):
                example = f"a formula is a `let`: `- let: {node.text}`"
            found = f"`{node.text[:40]}`" if node.text else "nothing"
            self._error(
                diagnose(
                    KEYWORD_COUNT,
                    span,
                    f"a statement is a mapping with one keyword, found {found}",
                    label="no mapping",
                    helps=[example],
                    fixes=list(as_let(node)) if "=" in node.text and self._is_let(node.text) else [],
                )
            )
            return
        self._error(
            diagnose(
                KEYWORD_COUNT,
                node.span,
                "a statement is a mapping with one keyword, found a list",
                label="no mapping",
                helps=["remove one level of `- ` or brackets"],
            )
        )

    def _is_let(self, text: str) -> bool:
        try:
            parse_let(text)
        except FormulaError:
            return False
        return True

    def _no_keyword(self, node: MappingNode, others: list[KeyNode], plane: Plane) -> None:
        unknown = next((key for key in others if key.text not in SIBLINGS and key.text != "yield"), None)
        if unknown is None:
            self._error(
                diagnose(
                    KEYWORD_COUNT,
                    node.span,
                    "this statement has no keyword",
                    label="no keyword",
                    helps=["give it one, such as `let: y = exp(x)`"],
                )
            )
            return
        known = [k.name for k in self.table if not k.reserved]
        near = closest(unknown.text, known)
        here = [name for name in near if plane in self.table.keywords[name].planes]
        listed = ", ".join(f"`{name}`" for name in self.table.names(plane)[:8])
        diagnostic = unknown_key(unknown, unknown.text, "a statement", [], here or near)
        helps = diagnostic.helps if near else (f"statements here are {listed}, ...",)
        fixes = tuple(Fix(unknown.span, name) for name in here) if len(here) == 1 and not unknown.via else ()
        self._error(
            diagnose(
                diagnostic.rule,
                unknown.span,
                f"there is no statement `{unknown.text}`",
                label="unknown statement",
                secondary=unknown.alias_labels,
                helps=helps,
                fixes=fixes,
            )
        )

    def _two_keywords(self, first: Keyword, second: KeyNode) -> None:
        self._error(
            diagnose(
                KEYWORD_COUNT,
                second.span,
                f"a statement has one keyword, found `{first.name}` and `{second.text}`",
                label="second keyword",
                helps=[f"start a statement of its own: `- {second.text}: ...`"],
                fixes=list(apart(second)),
            )
        )

    def _wrong_plane(self, keyword: Keyword, key: KeyNode, plane: Plane) -> None:
        own: Plane = "execution" if plane == "control" else "control"
        help_text = (
            "put it into the body of a `region`" if plane == "control" else "move it out of the region, into `program`"
        )
        self._error(
            diagnose(
                WRONG_PLANE,
                key.span,
                f"`{keyword.name}` belongs to {PLANES[own]}, this is {PLANES[plane]}",
                label=f"not in {PLANES[plane]}",
                helps=[help_text],
            )
        )

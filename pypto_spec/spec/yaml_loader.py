"""YAML 1.2 text to the node tree, on PyYAML's event stream.

Events rather than PyYAML's own composer: its nodes cost three times as much, its recursion follows the text's, and it
resolves words as YAML 1.1 does. The pure Python parser serves where PyYAML was built without libyaml.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import yaml

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Fix, Label, Rule, diagnose
from pypto_spec.diagnostics.rules.syntax import (
    BAD_KEY,
    CYCLIC_ANCHOR,
    DUPLICATE_KEY,
    LIMIT,
    NUMBER_RANGE,
    SEVERAL_DOCUMENTS,
    UNDEFINED_ALIAS,
    UNKNOWN_TAG,
    WRONG_TYPE,
)
from pypto_spec.diagnostics.span import Source
from pypto_spec.diagnostics.suggest import closest
from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain
from pypto_spec.spec.duplicates import twice
from pypto_spec.spec.expand import TooMuchError, clone
from pypto_spec.spec.limits import MAX_ERRORS, MAX_EXPANDED, MAX_NODES
from pypto_spec.spec.reader import check_text
from pypto_spec.spec.tree import MAX_DEPTH, KeyNode, MappingNode, Node, ScalarNode, SequenceNode, Value, span_between
from pypto_spec.spec.yaml_errors import syntax_error, tab_errors, unquoted_call

_TAG = "tag:yaml.org,2002:"
_KINDS: dict[str, tuple[type, ...]] = {
    "null": (type(None),), "bool": (bool,), "int": (int,), "float": (float, int), "str": (str,),
}  # fmt: skip


def load_yaml(source: Source, *, pure: bool = False) -> MappingNode:
    """The tree of a YAML spec. Raises CompileError with everything that is wrong with the text."""
    check_text(source)
    composer = Composer(source)
    try:
        root = composer.compose(event_reader(source, pure))
    except yaml.YAMLError as error:
        # An unquoted call in a flow collection usually breaks the syntax after it: it is the cause then.
        found = composer.unquoted or [syntax_error(source, error, composer.shift)]
        raise CompileError(found) from None
    composer.errors.extend(tab_errors(source, root) if "\t" in source.text and root is not None else [])
    if composer.unquoted or composer.errors:
        raise CompileError((composer.unquoted or composer.errors)[:MAX_ERRORS])
    if isinstance(root, MappingNode):
        return root
    span = root.span if root is not None else span_between(source, 0, 0)
    found_text = "nothing" if root is None else f"a {root.kind}"
    raise CompileError(
        [
            diagnose(
                WRONG_TYPE,
                span,
                f"a spec is a mapping of keys, found {found_text}",
                label="no mapping",
                helps=["start with `spec: v1` and `name: NAME`"],
            ),
        ]
    )


def event_reader(source: Source, pure: bool) -> Callable[[], Any]:
    """What gives the events of a text one by one, and None behind the last."""
    text = source.text.removeprefix("\ufeff")
    parser: Any = None
    if not pure and yaml.__with_libyaml__:
        from yaml import cyaml  # missing where PyYAML has no C parts

        parser = cyaml.CParser(text)  # type: ignore[attr-defined]
    else:
        parser = yaml.SafeLoader(text)
    get: Callable[[], Any] = parser.get_event
    return get


class Frame:
    """A collection whose end has not come yet."""

    __slots__ = ("anchor", "entries", "flow", "items", "key", "merges", "start")

    def __init__(self, start: int, flow: bool, anchor: str | None, mapping: bool) -> None:
        self.start = start
        self.flow = flow
        self.anchor = anchor
        self.entries: dict[str, tuple[KeyNode, Node]] | None = {} if mapping else None
        self.items: list[Node] = []
        self.key: KeyNode | None = None
        self.merges: list[Node] = []


def _end_here(node: Node) -> int:
    """Where a node ends at its place in the document: for an aliased one, the end of the alias."""
    return node.via[-1][1] if node.via else node.end


class Composer:
    """Builds nodes from events with a stack of its own."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.shift = int(source.text.startswith("\ufeff"))
        self.errors: list[Diagnostic] = []
        self.unquoted: list[Diagnostic] = []
        self._unquoted_until = 0
        self._looks = 0
        self._anchors: dict[str, Node | None] = {}
        self._budget = MAX_EXPANDED
        self.frames: list[Frame] = []
        self.root: Node | None = None

    def compose(self, get: Callable[[], Any]) -> Node | None:
        """The root node of the only document; None for a text without one."""
        frames = self.frames
        count = documents = 0
        shift = self.shift
        scalar_event, mapping_start, sequence_start = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
        while True:
            event = get()
            kind = type(event)
            node: Node
            if kind is scalar_event:
                top = frames[-1] if frames else None
                if top is not None and top.key is None and top.entries is not None and event.anchor is None:
                    top.key = self._word_key(event)
                    continue
                node = self._scalar(event, top is not None and top.flow)
            elif kind is mapping_start or kind is sequence_start:
                start = event.start_mark.index + shift
                if len(frames) >= MAX_DEPTH:
                    self._stop(LIMIT, start, start + 1, f"collections nest deeper than {MAX_DEPTH} levels")
                if event.tag is not None and event.tag not in (_TAG + "map", _TAG + "seq", "!"):
                    self._unknown_tag(event.tag, start)
                frames.append(Frame(start, bool(event.flow_style), event.anchor, kind is mapping_start))
                if event.anchor is not None:
                    self._anchors[event.anchor] = None
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                node = self._close(frames.pop(), event.end_mark.index + shift)
            elif kind is yaml.AliasEvent:
                node = self._alias(event, len(frames))
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    start = event.start_mark.index + shift
                    self._stop(SEVERAL_DOCUMENTS, start, start + 3, "a second YAML document starts here, a spec is one")
                continue
            elif kind is yaml.StreamEndEvent or event is None:
                return self.root
            else:
                continue
            count += 1
            if count > MAX_NODES:
                self._stop(LIMIT, node.start, node.end, f"the file has more than {MAX_NODES:,} values")
            if not frames:
                self.root = node
                continue
            self._put(frames[-1], node)

    def _put(self, top: Frame, node: Node) -> None:
        """Put a node into the collection around it."""
        if top.entries is None:
            top.items.append(node)
        elif top.key is None:
            top.key = self._key(node)
        else:
            self._entry(top, top.key, node)
            top.key = None

    def _scalar(self, event: Any, in_flow: bool) -> ScalarNode:
        text: str = event.value
        style: str = event.style or ""
        start, end = event.start_mark.index + self.shift, event.end_mark.index + self.shift
        value: Value = text
        tag = event.tag
        if tag is None:
            if not style:
                try:
                    value = resolve_plain(text)
                except IntegerTooLargeError:
                    self._too_large(text, start, end)
                if in_flow and "(" in text and start >= self._unquoted_until and text.count("(") > text.count(")"):
                    self._check_unquoted(start)
        elif tag != "!":
            value = self._tagged(tag, text, start, end)
        if tag is not None or event.anchor is not None:
            start = self._skip_properties(start, end)
        node = ScalarNode(self.source, start, end, value, text, style)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _skip_properties(self, start: int, end: int) -> int:
        """Where the content begins after `&anchor` and `!tag`, which the event counts in."""
        raw = self.source.text
        while start < end and raw[start] in "&!":
            while start < end and not raw[start].isspace():
                start += 1
            while start < end and raw[start].isspace():
                start += 1
        return start

    def _check_unquoted(self, start: int) -> None:
        self._looks += 1
        if self._looks > MAX_ERRORS:
            return
        found = unquoted_call(self.source, start)
        if found is not None:
            self._unquoted_until, diagnostic = found
            self.unquoted.append(diagnostic)

    def _too_large(self, text: str, start: int, end: int) -> None:
        shown = text if len(text) <= 24 else text[:20] + "..."
        self._error(
            NUMBER_RANGE,
            start,
            end,
            f"`{shown}` does not fit in 64 bits",
            label="too large",
            helps=["quote it if it is a word and no number"],
        )

    def _tagged(self, tag: str, text: str, start: int, end: int) -> Value:
        wanted = _KINDS.get(tag.removeprefix(_TAG)) if tag.startswith(_TAG) else None
        if wanted is None:
            self._unknown_tag(tag, start)
            return text
        if wanted == (str,):
            return text
        try:
            value = resolve_plain(text)
        except IntegerTooLargeError:
            self._too_large(text, start, end)
            return text
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            self._error(
                WRONG_TYPE,
                start,
                end,
                f"`{text}` is not a {tag.removeprefix(_TAG)}",
                label="not what its tag says",
                helps=["leave the tag out"],
            )
            return text
        return float(value) if float in wanted and isinstance(value, int) else value

    def _unknown_tag(self, tag: str, start: int) -> None:
        shown = "!!" + tag.removeprefix(_TAG) if tag.startswith(_TAG) else tag
        raw = self.source.text
        at = raw.find("!", start)
        end = at
        while end < len(raw) and not raw[end].isspace() and raw[end] not in ",[]{}":
            end += 1
        self._error(
            UNKNOWN_TAG,
            at,
            end,
            f"the tag `{shown}` means nothing in a spec",
            label="unknown tag",
            helps=["leave the tag out; if the value starts with `!`, quote it"],
            fixes=[
                Fix(span_between(self.source, at, _behind_blanks(raw, end)), "", title=f"leave the tag `{shown}` out")
            ],
        )

    def _word_key(self, event: Any) -> KeyNode:
        text: str = event.value
        start, end = event.start_mark.index + self.shift, event.end_mark.index + self.shift
        if event.tag is not None:
            self._tagged(event.tag, text, start, end)
            start = self._skip_properties(start, end)
        if not text and not event.style:
            self._error(
                BAD_KEY, start, start + 1, "a key is missing before `:`", label="empty key", helps=["write the key"]
            )
        return KeyNode(self.source, start, end, text)

    def _key(self, node: Node) -> KeyNode:
        """A key that is anchored, an alias, or no word at all."""
        if isinstance(node, ScalarNode):
            return KeyNode(self.source, node.start, node.end, node.text, node.via)
        self._error(
            BAD_KEY,
            node.start,
            node.end,
            f"a key is a word, found a {node.kind}",
            label="used as a key",
            helps=["quote the key if it should be a word"],
        )
        return KeyNode(self.source, node.start, node.end, f"?{node.start}", node.via)

    def _entry(self, frame: Frame, key: KeyNode, node: Node) -> None:
        entries = frame.entries
        assert entries is not None
        text = key.text
        if text == "<<" and self.source.text[key.start] == "<":
            self._merge(frame, node)
        elif text in entries:
            first = entries[text][0]
            self._error(
                DUPLICATE_KEY,
                key.start,
                key.end,
                f"the key `{text}` is given twice",
                label="given again here",
                secondary=[Label(first.span, "first given here")],
                helps=["remove one of the two"],
                fixes=[*twice(self.source, entries[text], (key, node), frame.flow)],
            )
        else:
            entries[text] = (key, node)

    def _merge(self, frame: Frame, node: Node) -> None:
        parts = node.items if isinstance(node, SequenceNode) else [node]
        for part in parts:
            if isinstance(part, MappingNode):
                frame.merges.append(part)
            else:
                self._error(
                    BAD_KEY,
                    part.start,
                    part.end,
                    f"`<<` merges mappings, found a {part.kind}",
                    label="no mapping",
                    helps=["name an anchored mapping: `<<: *defaults`"],
                )

    def _close(self, frame: Frame, end: int) -> Node:
        entries = frame.entries
        node: MappingNode | SequenceNode
        start = frame.start
        if entries is not None:
            if not frame.flow and entries:
                # A block collection's own end mark is the next token, lines below its last value.
                end = _end_here(next(reversed(entries.values()))[1])
            for part in frame.merges:
                assert isinstance(part, MappingNode)
                end = end if frame.flow else max(end if entries else 0, _end_here(part))
                for key, entry in part.entries.items():
                    entries.setdefault(key, entry)
            node = MappingNode(self.source, start, end, entries, frame.flow)
        else:
            if not frame.flow and frame.items:
                end = _end_here(frame.items[-1])
            node = SequenceNode(self.source, start, end, frame.items, frame.flow)
        if frame.anchor is not None:
            node.start = self._skip_properties(start, end)
            self._anchors[frame.anchor] = node
        return node

    def _alias(self, event: Any, depth: int) -> Node:
        start, end = event.start_mark.index + self.shift, event.end_mark.index + self.shift
        name: str = event.anchor
        if name not in self._anchors:
            near = closest(name, self._anchors)
            self._error(
                UNDEFINED_ALIAS,
                start,
                end,
                f"the alias `*{name}` has no anchor before it",
                label="no anchor",
                fixes=[Fix(span_between(self.source, start, end), f"*{near[0]}")] if len(near) == 1 else [],
                helps=[f"did you mean `*{near[0]}`?"]
                if near
                else [f"define it earlier as `&{name}`; a value that starts with `*` is quoted"],
            )
            return ScalarNode(self.source, start, end, None, "", "")
        target = self._anchors[name]
        if target is None:
            self._error(
                CYCLIC_ANCHOR,
                start,
                end,
                f"the value of `&{name}` contains itself",
                label="inside its own anchor",
                helps=["write out the part that is meant"],
            )
            return ScalarNode(self.source, start, end, None, "", "")
        try:
            node, used = clone(target, (start, end), depth, self._budget)
        except TooMuchError as error:
            self._stop(LIMIT, start, end, f"aliases {error}")
        self._budget -= used
        return node

    def _error(self, rule: Rule, start: int, end: int, message: str, **parts: Any) -> None:
        self.errors.append(diagnose(rule, span_between(self.source, start, end), message, **parts))

    def _stop(self, rule: Rule, start: int, end: int, message: str) -> NoReturn:
        helps = {
            LIMIT: "write it flatter, or generate several smaller specs",
            SEVERAL_DOCUMENTS: "put the second program into a file of its own",
        }
        self._error(rule, start, end, message, label="here", helps=[helps[rule]])
        raise CompileError(self.errors[-1:])


def _behind_blanks(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at

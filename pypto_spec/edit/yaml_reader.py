"""YAML text to pieces: PyYAML's events say what stands there, the text between them says how it is written."""

from __future__ import annotations

from typing import Any

import yaml

from pypto_spec.edit.pieces import Alias, Collection, Member, Piece, Remark, Scalar, Text, UnusualError, comments

_BREAKS = "\x85\u2028\u2029"
"""Line ends of YAML 1.1 that those of 1.2 are not."""


def read_yaml(text: str) -> Text:
    """The pieces of a text that loads, with plain line feeds at its line ends. Raises UnusualError."""
    if any(char in text for char in _BREAKS):
        raise UnusualError("it has line ends of YAML 1.1")
    reader = _Reader(text)
    made = reader.document()
    if len(list(comments(made.root))) != reader.seen:
        raise UnusualError("a comment belongs nowhere")
    return made


class _Reader:
    """A descent over the events with a cursor in the text; `at` is behind what was read last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.shift = int(text.startswith("\ufeff"))
        self.events = list(yaml.parse(text[self.shift :], Loader=_loader()))
        self.next = 0
        self.seen = 0
        """Comments met on the way."""
        self.at = self.shift

    # --- the document ---------------------------------------------------------------------------------------------

    def document(self) -> Text:
        self.take(yaml.StreamStartEvent)
        start = self.take(yaml.DocumentStartEvent)
        head: list[str] = []
        if start.explicit:
            self.at = start.end_mark.index + self.shift
            head = [line.rstrip() for line in self.text[self.shift : self.at].split("\n")]
        before = self.skip()
        root = self.value(before, column=0, parent=-1)
        end = self.take(yaml.DocumentEndEvent)
        stop = end.start_mark.index + self.shift if end.explicit else len(self.text)
        if isinstance(root, Collection):
            root.trail += self.remarks_until(stop)
        if self.text[self.at : stop].strip():
            raise UnusualError("text behind the end of the document")
        foot = self.text[stop:].rstrip().split("\n") if end.explicit else []
        return Text(root, head, [line.rstrip() for line in foot])

    def take(self, *kinds: type[Any]) -> Any:
        event = self.events[self.next]
        self.next += 1
        if kinds and not isinstance(event, kinds):
            raise UnusualError("a document of an unknown form")
        return event

    def peek(self) -> Any:
        return self.events[self.next]

    def ends(self, event: Any) -> int:
        offset: int = event.end_mark.index
        return offset + self.shift

    # --- what stands between values ---------------------------------------------------------------------------------

    def skip(self) -> list[Remark]:
        """Go to the next character that is no blank and no comment; the comments on the way."""
        return self.remarks_until(len(self.text))

    def remarks_until(self, stop: int, column: int = -1) -> list[Remark]:
        """The comments from here to the next character; with `column`, those that stand at least so far right."""
        found: list[Remark] = []
        while True:
            at = self.at
            while at < stop and self.text[at] in " \t\n":
                at += 1
            if at >= stop or self.text[at] != "#":
                if column < 0:
                    self.at = at
                return found
            if column >= 0 and self.column(at) < column:
                return found
            found.append(self.comment(at))

    def comment(self, at: int) -> Remark:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        self.at = end
        self.seen += 1
        return Remark(self.text[at:end].rstrip(), self.blank_above(at))

    def beside(self) -> str:
        """The comment behind what was read last, on the same line; empty without one."""
        at = self.at
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        if at < len(self.text) and self.text[at] == "#" and at > self.at:
            return self.comment(at).text
        return ""

    def column(self, at: int) -> int:
        return at - self.text.rfind("\n", 0, at) - 1

    def blank_above(self, at: int) -> bool:
        """Whether what starts at `at` is the first of its line, with an empty line above."""
        begin = self.text.rfind("\n", 0, at) + 1
        if self.text[begin:at].strip(" \t\ufeff") or begin == 0:
            return False
        return not self.text[self.text.rfind("\n", 0, begin - 1) + 1 : begin - 1].strip()

    def expect(self, char: str) -> None:
        if not self.text.startswith(char, self.at):
            raise UnusualError(f"`{char}` stands where none is expected")
        self.at += 1

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, before: list[Remark], column: int, parent: int, flow: bool = False) -> Piece:
        """The value at the cursor. `before` are comments above it, which a block collection hands to its first member.

        `parent` is the column of the block collection around it.
        """
        event = self.take(yaml.ScalarEvent, yaml.AliasEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent)
        if isinstance(event, yaml.AliasEvent):
            start, self.at = self.at, self.ends(event)
            return Alias(self.text[start : self.at], at=start)
        props = self.properties(event)
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event, props)
        mapping = isinstance(event, yaml.MappingStartEvent)
        if props:
            before += self.skip()
        if event.flow_style:
            return self.flow(mapping, props, before)
        made = Collection(mapping, flow=False, props=props)
        column = self.column(self.at)
        self.block(made, before, column)
        # Comments that stand as far right as the members belong to the collection that ends here.
        made.trail = self.remarks_until(len(self.text), max(column, parent + 1))
        return made

    def properties(self, event: Any) -> str:
        """`&anchor` and `!tag` at the cursor, which is behind them then."""
        if event.anchor is None and event.tag is None:
            return ""
        parts: list[str] = []
        while self.text[self.at : self.at + 1] in ("&", "!"):
            end = self.at
            while end < len(self.text) and self.text[end] not in " \t\n,[]{}":
                end += 1
            parts.append(self.text[self.at : end])
            self.at = end
            blanks = end
            while self.text[blanks : blanks + 1] in (" ", "\t"):
                blanks += 1
            if self.text[blanks : blanks + 1] in ("&", "!"):
                self.at = blanks
        if len(parts) != (event.anchor is not None) + (event.tag is not None):
            raise UnusualError("an anchor or tag stands on a line of its own")
        return " ".join(parts)

    def scalar(self, event: Any, props: str) -> Scalar:
        style = event.style or ""
        if style or event.value:
            if props and self.skip():
                raise UnusualError("a comment stands between an anchor and a single value")
            start = self.at
            self.at = self.ends(event)
        else:
            start = self.at
        raw = self.text[start : self.at]
        if style in ("|", ">"):
            header = raw.split("\n", 1)[0]
            _, hash_, remark = header.partition("#")
            keeps = "+" in header.partition("#")[0]
            raw = raw[: raw.rfind("\n") + 1] if keeps and "\n" in raw else raw.rstrip()
            self.at = start + len(raw)
            self.seen += bool(hash_)
            return Scalar(raw, event.value, style, props, (hash_ + remark).rstrip())
        return Scalar(raw, event.value, style, props)

    # --- block style ------------------------------------------------------------------------------------------------

    def block(self, made: Collection, before: list[Remark], column: int) -> None:
        end = yaml.MappingEndEvent if made.mapping else yaml.SequenceEndEvent
        while not isinstance(self.peek(), end):
            lead = before or self.skip()
            blank = self.blank_above(self.at)
            key: Scalar | Alias | None = None
            if made.mapping:
                key = self.key()
                if self.skip():
                    raise UnusualError("a comment stands between a key and its colon")
                self.expect(":")
            else:
                self.expect("-")
            before = []
            made.members.append(self.member(key, lead, blank, column))
        self.take(end)

    def key(self) -> Scalar | Alias:
        if self.text[self.at : self.at + 1] == "?" and self.text[self.at + 1 : self.at + 2] in (" ", "\n", ""):
            raise UnusualError("a key stands behind `?`")
        key = self.value([], 0, 0)
        if isinstance(key, Collection) or "\n" in key.raw:
            raise UnusualError("a key has several lines")
        return key

    def member(self, key: Scalar | Alias | None, lead: list[Remark], blank: bool, column: int) -> Member:
        """What follows the `:` or `-` of a block collection."""
        event = self.peek()
        opener = self.beside()
        empty = isinstance(event, yaml.ScalarEvent) and not event.value and not event.style
        if empty and event.anchor is None and event.tag is None:
            self.take()
            return Member(Scalar("", "", ""), key, lead, blank, opener)
        between = self.skip()
        if opener and isinstance(event, yaml.CollectionStartEvent) and (event.anchor or event.tag):
            raise UnusualError("a comment stands before an anchor")
        block = isinstance(event, yaml.CollectionStartEvent) and not event.flow_style
        if block and (event.anchor or event.tag):
            props = self.properties(event)
            opener = self.beside()
            value = self.anchored(props, column)
        else:
            value = self.value(between if block else [], column, column)
        if not isinstance(value, Collection) or value.flow:
            value.tail = value.tail or self.beside()
        return Member(value, key, lead, blank, opener, [] if block else between)

    def anchored(self, props: str, column: int) -> Piece:
        """The block collection behind its anchor."""
        event = self.take(yaml.MappingStartEvent, yaml.SequenceStartEvent)
        made = Collection(isinstance(event, yaml.MappingStartEvent), flow=False, props=props)
        before = self.skip()
        own = self.column(self.at)
        self.block(made, before, own)
        made.trail = self.remarks_until(len(self.text), max(own, column + 1))
        return made

    # --- flow style -------------------------------------------------------------------------------------------------

    def flow(self, mapping: bool, props: str, before: list[Remark]) -> Collection:
        made = Collection(mapping, flow=True, props=props)
        if before:
            raise UnusualError("a comment stands between an anchor and its value")
        if mapping and not self.text.startswith("{", self.at):  # `[a: b]` is a list of one mapping
            made.pair = True
            made.members.append(self.flow_entry([], False))
            self.take(yaml.MappingEndEvent)
            return made
        self.expect("{" if mapping else "[")
        end = yaml.MappingEndEvent if mapping else yaml.SequenceEndEvent
        rest = self.text[self.at :].lstrip(" \t")
        made.broken = rest.startswith("\n")
        pending = self.skip()
        while not isinstance(self.peek(), end):
            blank = self.blank_above(self.at)
            if mapping:
                member = self.flow_entry(pending, blank)
            else:
                member = Member(self.value([], 0, 0, flow=True), None, pending, blank)
            made.members.append(member)
            member.value.tail = self.beside()
            pending = self.skip()
            if self.text.startswith(",", self.at):
                self.at += 1
                if not member.value.tail and not pending:
                    member.value.tail = self.beside()
                pending += self.skip()
        made.trail = pending
        self.take(end)
        self.expect("}" if mapping else "]")
        return made

    def flow_entry(self, lead: list[Remark], blank: bool) -> Member:
        key = self.key()
        event = self.peek()
        empty = isinstance(event, yaml.ScalarEvent) and not event.value and not event.style
        mark = self.at
        between = self.skip()
        if self.text.startswith(":", self.at):
            self.at += 1
            mark = self.at
            between += self.skip()
        if empty and event.anchor is None and event.tag is None:
            self.take()
            self.at = mark
            return Member(Scalar("", "", ""), key, lead, blank)
        if between:
            raise UnusualError("a comment stands inside an entry in braces")
        return Member(self.value([], 0, 0, flow=True), key, lead, blank)


def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)

"""Making the index: binding names, reading them, and what is known of each place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pypto_spec.convert.exprs import FUNCTIONS as WHOLE_FUNCTIONS
from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.model import Kind
from pypto_spec.editor.names.formulas import Part, Places, parts
from pypto_spec.editor.names.model import Binding, Extent, Index, Mark, Space, Unknown, Use
from pypto_spec.spec.tree import KeyNode, ScalarNode

NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\.[0-9]{1,9})?\Z")
PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)\Z")

Env = dict[str, Use]
"""The names in force at a point of the text: the place that binds each last."""

REBOUND = frozenset({Kind.TILE, Kind.NUMBER, Kind.ARGUMENT})
"""What may be bound again; binding a tensor stores to it."""
WHOLE = frozenset({Kind.SYMBOL, Kind.INDEX, Kind.NUMBER})
"""What is an integer."""


class Table:
    """The index in the making."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.index = Index(source)
        self._at: dict[int, Use] = {}
        self._leaders: dict[Binding, Binding] = {}
        self._marked: set[int] = set()
        self._unknown: set[int] = set()
        self.spaces: dict[Space, dict[str, Use]] = {"buffers": {}, "functions": {}, "launches": {}}
        self.whole: set[Binding] = set()
        """Constants and scalars that are integers."""

    # Bindings that turn out to be one

    def leader(self, binding: Binding) -> Binding:
        """The binding that stands for all that are one with this."""
        while binding in self._leaders:
            binding = self._leaders[binding]
        return binding

    def join(self, one: Binding, other: Binding) -> None:
        """Both are one thing."""
        one, other = self.leader(one), self.leader(other)
        if one is not other:
            self._leaders[other] = one

    # Places

    def declare(
        self, env: Env, text: str, start: int, end: int, kind: Kind, space: Space = "names", detail: str = ""
    ) -> Use:
        """Bind a name in `env`; one that is bound already is bound again, or written to.

        An index is always a thing of its own: where its name is taken, which is an error, it hides the other one.
        """
        before = env.get(text)
        base = text.partition(".")[0]
        known = self._at.get(start)
        if before is not None and kind is not Kind.INDEX and self.leader(before.binding).space == space:
            binding = before.binding
            declares = space != "names" or self.leader(binding).kind in REBOUND
        else:
            binding, declares = known.binding if known is not None else Binding(base, kind, space, self.source), True
        if not binding.detail:
            binding.detail = detail
        use = self._put(start, _base_end(text, start, end), end, binding, declares)
        if declares:
            env[text] = use
        else:
            use.site = use.site or before
        return use

    def read(self, env: Mapping[str, Use], text: str, start: int, end: int, *, word: bool = False) -> Use | None:
        """A use of the name; None where nothing binds it."""
        site = env.get(text)
        if site is None:
            if start not in self._unknown and start not in self._at:
                self._unknown.add(start)
                self.index.unknown.append(Unknown(text, start, end, word))
            return None
        use = self._put(start, _base_end(text, start, end), end, site.binding, False)
        use.site = use.site or site
        return use

    def _put(self, start: int, end: int, stop: int, binding: Binding, declares: bool) -> Use:
        known = self._at.get(start)
        if known is not None:  # an anchored text, reached through an alias
            self.join(known.binding, binding)
            known.declares = known.declares or declares
            return known
        use = self._at[start] = Use(start, end, stop, binding, declares)
        binding.uses.append(use)
        return use

    def show(self, use: Use, start: int, extent: Extent) -> None:
        """What a place binds can be read from an offset on, within a scope."""
        use.binding.ranges.append((start, extent))

    def mark(self, start: int, end: int, kind: Kind) -> None:
        """A part of a formula that is no name."""
        if start not in self._marked:
            self._marked.add(start)
            self.index.marks.append(Mark(start, end, kind))

    # Texts

    def word(self, node: ScalarNode | KeyNode) -> tuple[str, int, int] | None:
        """The name that a node holds, with its place; None where it holds none."""
        match = NAME.match(node.text)
        if match is None:
            return None
        if isinstance(node, KeyNode):
            quoted = self.source.text[node.start : node.start + 1] in ("'", '"')
            start = node.start + quoted
            return (node.text, start, start + len(node.text)) if self._stands(node.text, start) else None
        places = Places(node)
        return (node.text, *places.of(0, len(node.text))) if places.known else None

    def _stands(self, text: str, start: int) -> bool:
        return self.source.text.startswith(text, start)

    def parameter(self, env: Mapping[str, Use], node: ScalarNode) -> bool:
        """Whether a scalar is `$NAME`, which is a use of the constant."""
        if node.text[:1] != "$":
            return False
        match = PARAMETER.match(node.text)
        places = Places(node) if match is not None else None
        if match is None or places is None or not places.known:
            return False
        start, end = places.of(1, len(node.text))
        site = env.get(match.group(1))
        if site is not None and self.leader(site.binding).kind is not Kind.CONSTANT:
            site = None
        self.read({match.group(1): site} if site is not None else {}, match.group(1), start, end)
        return True

    def formula(
        self, env: Mapping[str, Use], node: ScalarNode, *, words: bool = False, let: bool = False
    ) -> tuple[Part, ...]:
        """The uses in a formula; gives its parts. With `words` a name that nothing binds may be a word."""
        if not isinstance(node.value, str) or self.parameter(env, node):
            return ()
        places = Places(node)
        if not places.known:
            return ()
        found = parts(node.text, let=let)
        compared = words or any(p.text in ("==", "!=") for p in found)
        for part in found:
            self._part(env, part, places, compared)
        return found

    def braces(self, env: Mapping[str, Use], node: ScalarNode) -> None:
        """The uses in the braces of a text that is shown."""
        places = Places(node)
        for start, end in _braces(node.text) if places.known else ():
            self._stretch(env, node, places, start, end)

    def stretch(self, env: Mapping[str, Use], node: ScalarNode, start: int, end: int) -> None:
        """The uses in a formula that is a part of a text."""
        places = Places(node)
        if places.known:
            self._stretch(env, node, places, start, end)

    def _stretch(self, env: Mapping[str, Use], node: ScalarNode, places: Places, start: int, end: int) -> None:
        for part in parts(node.text[start:end]):
            moved = Part(part.kind, part.text, part.start + start, part.end + start, part.function, part.alone)
            self._part(env, moved, places, False)

    def _part(self, env: Mapping[str, Use], part: Part, places: Places, words: bool) -> None:
        start, end = places.of(part.start, part.end)
        if part.kind == "name":
            if part.alone and words and part.text not in env:
                self.mark(start, end, Kind.WORD)
            self.read(env, part.text, start, end, word=words or part.alone)
        elif part.kind == "function":
            if part.text in self.spaces["functions"]:
                self.read(self.spaces["functions"], part.text, start, end)
            else:
                self.mark(start, end, Kind.FUNCTION)
        elif part.kind == "keyword":
            arguments = self.arguments_of(part.function)
            if part.text in arguments:
                self.read(arguments, part.text, start, end)
            else:
                self.mark(start, end, Kind.FIELD)
        elif part.kind in ("word", "reserved"):
            self.mark(start, end, Kind.WORD if part.kind == "word" else Kind.OPERATOR)

    def arguments_of(self, function: str) -> Mapping[str, Use]:
        """The arguments of a function of the spec."""
        return {}

    def is_whole(self, env: Mapping[str, Use], found: tuple[Part, ...]) -> bool:
        """Whether the parts of a formula are integers, and what is done to integers."""
        for part in found:
            if part.kind == "name":
                site = env.get(part.text)
                binding = self.leader(site.binding) if site is not None else None
                if binding is None or not (binding.kind in WHOLE or binding in self.whole):
                    return False
            elif (
                (part.kind == "function" and part.text not in WHOLE_FUNCTIONS)
                or (part.kind == "number" and not part.text.replace("0x", "").replace("0o", "").isalnum())
                or part.kind in ("word", "reserved", "keyword")
                or part.text in ("/", "[", "]", "<", ">", "<=", ">=", "==", "!=")
            ):
                return False
        return any(part.kind in ("name", "number", "function") for part in found)

    # The end

    def finish(self) -> Index:
        """The index, its lists in the order of the text."""
        index = self.index
        merged: dict[Binding, None] = {}
        for use in sorted(self._at.values(), key=lambda u: u.start):
            leader = self.leader(use.binding)
            if use.binding is not leader:
                leader.ranges += use.binding.ranges
                use.binding.ranges = []
            use.binding = leader
            index.uses.append(use)
            if leader not in merged:
                leader.uses = []
                merged[leader] = None
            leader.uses.append(use)
        index.bindings = list(merged)
        known = {use.start for use in index.uses}
        index.unknown = sorted((u for u in index.unknown if u.start not in known), key=lambda u: u.start)
        index.marks = sorted((m for m in index.marks if m.start not in known), key=lambda m: m.start)
        return index


def _base_end(text: str, start: int, end: int) -> int:
    """Where a name ends without its version; one that is written with escapes has none."""
    return start + len(text.partition(".")[0]) if end - start == len(text) else end


def _braces(text: str) -> Iterator[tuple[int, int]]:
    """What stands between single braces; the last may be open."""
    at = 0
    while at < len(text):
        if text[at : at + 2] in ("{{", "}}"):
            at += 2
        elif text[at] == "{":
            end = text.find("}", at)
            end = len(text) if end < 0 else end
            yield at + 1, end
            at = end + 1
        else:
            at += 1

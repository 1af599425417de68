"""Specs written in another way: the same data with other blanks, quotes, brackets, comments, anchors and line ends."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.formula import FormulaError, parse_expression, parse_let
from pypto_spec.spec.formula.lexer import tokenize
from pypto_spec.spec.load import load
from pypto_spec.spec.models.prose import prose_fields
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

REMARK = re.compile(r"# remark [0-9]+")
WORDS = {"or", "and", "not"}


class Noise:
    """What YAML and TOML share: chance, comments that are counted, formulas with other spaces."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.remarks = 0

    def chance(self, percent: int) -> bool:
        return self.rng.random() * 100 < percent

    def blanks(self, most: int = 3) -> str:
        width: int = self.rng.choice([0, 0, 1, 1, *range(most + 1)])
        return " " * width

    def remark(self) -> str:
        self.remarks += 1
        return f"# remark {self.remarks}"

    def behind(self) -> str:
        """A comment at the end of a line, or blanks that nobody sees."""
        if self.chance(8):
            return f"{' ' * self.rng.randint(1, 3)}{self.remark()}"
        return self.blanks() if self.chance(10) else ""

    def above(self, indent: int) -> list[str]:
        """Comments and empty lines."""
        lines = [self.blanks() for _ in range(self.rng.randint(1, 3))] if self.chance(10) else []
        if self.chance(8):
            lines += [" " * self.rng.choice([indent, indent, indent, indent + 1, 0]) + self.remark()]
            lines += [""] if self.chance(20) else []
        return lines

    def formula(self, text: str, key: str) -> str:
        """A formula with as many blanks at its tokens as please; any other text as it is."""
        if key in prose_fields() or key.startswith("x-") or "\n" in text or self.chance(50):
            return text
        try:
            tokens = tokenize(text)[:-1]
            if len(tokens) < 2:
                return text
            parse_let(text) if tokens[1].text == "=" else parse_expression(text)
        except FormulaError:
            return text
        made = tokens[0].text
        for left, right in pairwise(tokens):
            needed = left.kind != "op" and right.kind != "op"
            made += (self.blanks(2) or " " * needed) + right.text
        return made


@cache
def reads(text: str, flow: bool) -> bool:
    """Whether YAML takes a text for itself without quotes."""
    line = f"k: [{text}]" if flow else f"k: {text}"
    try:
        node = load(Source("k", line), "yaml").get("k")
    except CompileError:
        return False
    if flow:
        if not isinstance(node, SequenceNode) or len(node.items) != 1:
            return False
        node = node.items[0]
    return isinstance(node, ScalarNode) and node.value == text and isinstance(node.value, str)


class YamlNoise(Noise):
    """One writing of a tree as YAML."""

    def __init__(self, rng: random.Random, anchors: bool = True) -> None:
        super().__init__(rng)
        self.anchors = anchors
        self.known: dict[str, str] = {}

    def text(self, tree: MappingNode) -> str:
        lines = [*self.above(0), *self.block(tree, 0, "")]
        lines += self.above(0)
        if self.chance(10):
            lines = ["---", *lines]
        end = "\r\n" if self.chance(15) else "\n"
        return end.join(lines) + end * self.rng.randint(0, 3)

    # --- single values ----------------------------------------------------------------------------------------------

    def scalar(self, node: ScalarNode, key: str, flow: bool) -> str:
        value = node.value
        if not isinstance(value, str):
            return node.source.text[node.start : node.end]
        text = self.formula(value, key)
        ways: list[Callable[[], str]] = [lambda: json.dumps(text, ensure_ascii=False)]
        if text.isprintable():
            ways.append(lambda: "'" + text.replace("'", "''") + "'")
        if reads(text, flow):
            ways += [lambda: text] * 3
        return self.rng.choice(ways)()

    def key(self, key: str) -> str:
        quoted = json.dumps(key) if self.chance(8) or not reads(key, True) else key
        return f"{quoted}{' ' if self.chance(5) else ''}:"

    def anchor(self, node: Node) -> tuple[str, bool]:
        """An anchor before a collection, or an alias instead of it."""
        if not self.anchors or not isinstance(node, (MappingNode, SequenceNode)):
            return "", False
        same = repr(node.to_plain()) + type(node).__name__
        if same in self.known and self.chance(60):
            return f"*{self.known[same]}", True
        if same not in self.known and self.chance(10) and "'x-" not in same:
            self.known[same] = f"a{len(self.known)}"
            return f"&{self.known[same]} ", False
        return "", False

    # --- flow style -------------------------------------------------------------------------------------------------

    def gap(self, indent: int, broken: bool) -> str:
        """Between two tokens in brackets; where `broken`, perhaps a line end."""
        if not broken or not self.chance(25):
            return self.blanks()
        remark = f" {self.remark()}" if self.chance(25) else ""
        return f"{remark}\n{' ' * (indent + self.rng.randint(1, 4))}"

    def flow(self, node: Node, key: str, indent: int, broken: bool) -> str:
        if isinstance(node, ScalarNode):
            return self.scalar(node, key, True)
        anchor, alias = self.anchor(node)
        if alias:
            return f"{anchor} "
        first, last = "{}" if isinstance(node, MappingNode) else "[]"
        parts: list[str] = []
        if isinstance(node, MappingNode):
            for word, (_, value) in node.entries.items():
                parts.append(f"{self.key(word)} {self.blanks()}{self.flow(value, word, indent, broken)}")
        elif isinstance(node, SequenceNode):
            parts += [self.flow(item, key, indent, broken) for item in node.items]
        # Comments are numbered in the order in which they are made, so gaps must come in order: see `renumbered`.
        made = anchor + first
        for number, part in enumerate(parts):
            made += (f"{self.gap(indent, broken)}," if number else "") + self.gap(indent, broken) + part
        trailing = "," if parts and self.chance(10) else ""
        return made + self.gap(indent, broken) + trailing + self.gap(indent, broken) + last

    # --- block style ------------------------------------------------------------------------------------------------

    def block(self, node: Node, indent: int, key: str) -> list[str]:
        lines: list[str] = []
        pad = " " * indent
        if isinstance(node, MappingNode):
            for word, (_, value) in node.entries.items():
                lines += self.above(indent)
                lines += self.hung(f"{pad}{self.key(word)}", value, indent, word)
            return lines
        assert isinstance(node, SequenceNode)
        for item in node.items:
            lines += self.above(indent)
            inner = indent + self.rng.choice([2, 2, 3, 4])
            if isinstance(item, MappingNode) and item.entries and not self.chance(20):
                below = self.block(item, inner, key)
                if below[0].startswith(" " * inner) and below[0].strip()[:1] not in ("", "#") and not self.chance(10):
                    lines += [f"{pad}-{' ' * (inner - indent - 1)}{below[0][inner:]}", *below[1:]]
                else:
                    lines += [f"{pad}-{self.behind()}", *below]
            else:
                lines += self.hung(f"{pad}-", item, indent, key)
        return lines

    def hung(self, head: str, node: Node, indent: int, key: str) -> list[str]:
        """What follows `key:` or `-`."""
        blank = " " * self.rng.choice([1, 1, 1, 2, 5])
        if isinstance(node, ScalarNode):
            if node.value is None:
                return [head + self.behind()]
            text = self.scalar(node, key, False)
            if self.chance(5):
                return [head + self.behind(), " " * (indent + 3) + text + self.behind()]
            return [head + blank + text + self.behind()]
        anchor, alias = self.anchor(node)
        if alias:
            return [head + blank + anchor + self.behind()]
        full = isinstance(node, (MappingNode, SequenceNode)) and len(node.items) > 0
        as_block = self.chance(50 if key in ("body", "program", "then", "else") else 25)
        if full and (as_block or len(key) % 7 == 0):
            step = self.rng.choice([1, 2, 2, 4]) if isinstance(node, MappingNode) else self.rng.choice([0, 2, 2, 3])
            step = step or (2 if head.strip() == "-" else 0)
            start = head + (f" {anchor.strip()}" if anchor else "") + self.behind()
            return [start, *self.block(node, indent + step, key)]
        if anchor:
            self.known = {same: name for same, name in self.known.items() if name != anchor[1:].strip()}
        text = self.flow(node, key, indent, broken=self.chance(30))
        return [*(head + blank + text).split("\n")[:-1], (head + blank + text).split("\n")[-1] + self.behind()]


def noisy_yaml(text: str, seed: int, anchors: bool = True) -> tuple[str, list[str]]:
    """A spec in another writing, with its comments; those of the original are left out."""
    made = YamlNoise(random.Random(seed), anchors).text(load(Source("origin", text)))
    return renumbered(made)


def renumbered(text: str) -> tuple[str, list[str]]:
    """The comments of a text numbered in their order."""
    count = 0

    def number(_: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"# remark {count}"

    made = REMARK.sub(number, text)
    return made, [f"# remark {n}" for n in range(1, count + 1)]

"""Specs as TOML in one of many writings: tables, dotted keys or values of one line, with comments and blanks."""

from __future__ import annotations

import json
import random

from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode
from tests.edit.noise import Noise, renumbered


class TomlNoise(Noise):
    """One writing of a tree as TOML."""

    def text(self, tree: MappingNode) -> str:
        lines = self.table(tree, "")
        end = "\r\n" if self.chance(15) else "\n"
        return end.join("\n".join([*lines, *self.above(0)]).split("\n")) + end * self.rng.randint(0, 3)

    def key(self, key: str) -> str:
        bare = key.replace("-", "").replace("_", "").isalnum() and key.isascii()
        return json.dumps(key) if not bare or self.chance(8) else key

    def table(self, node: MappingNode, path: str) -> list[str]:
        """The lines of a table; tables of its own come last, as keys behind their headers would belong to them."""
        lines: list[str] = []
        entries = [(word, value) for word, (_, value) in node.entries.items()]
        plain = 0
        for number, (_, value) in enumerate(entries):
            if not self.tabular(value) or self.chance(20):
                plain = number + 1
        for number, (word, value) in enumerate(entries):
            lines += self.above(0)
            key = self.key(word)
            if number < plain:
                lines += self.pairs(key, value, word)
                continue
            header = f"{path}.{key}" if path else key
            if isinstance(value, MappingNode):
                lines += [f"[{self.blanks()}{header}{self.blanks()}]{self.behind()}", *self.table(value, header)]
            elif isinstance(value, SequenceNode):
                for item in value.items:
                    assert isinstance(item, MappingNode)
                    lines += [*self.above(0), f"[[{header}]]{self.behind()}", *self.table(item, header)]
        return lines

    def tabular(self, node: Node) -> bool:
        """Whether a value may have a header: a mapping, or a list of them."""
        if isinstance(node, SequenceNode):
            return bool(node.items) and all(isinstance(item, MappingNode) for item in node.items)
        return isinstance(node, MappingNode) and bool(node.entries)

    def pairs(self, key: str, node: Node, word: str) -> list[str]:
        if isinstance(node, MappingNode) and node.entries and self.chance(30):
            lines: list[str] = []
            for below, (_, value) in node.entries.items():
                dot = f"{self.blanks(1)}.{self.blanks(1)}"
                lines += [*self.above(0), *self.pairs(f"{key}{dot}{self.key(below)}", value, below)]
            return lines
        text = self.value(node, word, 0)
        return [f"{self.blanks()}{key}{self.blanks()}={self.blanks()}{text}{self.behind()}"]

    def value(self, node: Node, word: str, depth: int) -> str:
        if isinstance(node, ScalarNode):
            if not isinstance(node.value, str):
                return node.source.text[node.start : node.end]
            text = self.formula(node.value, word)
            simple = text.isprintable() and "'" not in text and self.chance(30)
            return f"'{text}'" if simple else json.dumps(text, ensure_ascii=False)
        if isinstance(node, MappingNode):
            parts = [
                f"{self.key(below)}{self.blanks()}={self.blanks()}{self.value(value, below, depth)}"
                for below, (_, value) in node.entries.items()
            ]
            return f"{{{self.blanks()}{f'{self.blanks()},{self.blanks()}'.join(parts)}{self.blanks()}}}"
        assert isinstance(node, SequenceNode)
        parts = [self.value(item, word, depth + 1) for item in node.items]
        made = "["
        for number, part in enumerate(parts):
            made += (f"{self.gap()}," if number else "") + self.gap() + part
        return made + self.gap() + ("," if parts and self.chance(30) else "") + self.gap() + "]"

    def gap(self) -> str:
        if not self.chance(12):
            return self.blanks()
        return (f" {self.remark()}" if self.chance(30) else "") + "\n" * self.rng.choice([1, 1, 2]) + self.blanks(4)


def noisy_toml(text: str, seed: int) -> tuple[str, list[str]]:
    """A spec of YAML as TOML in one writing, with its comments; those of the original are left out."""
    return renumbered(TomlNoise(random.Random(seed)).text(load(Source("origin", text))))

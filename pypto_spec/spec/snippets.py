"""What an editor inserts when a completion is accepted: the examples of keywords, with a tab stop on each value.

The syntax is that of snippets in the Language Server Protocol: `${1:text}` is the first stop, `$0` the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.load import load
from pypto_spec.spec.models.keywords import Keyword
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode


def example_of(keyword: Keyword) -> str:
    """The keyword's example as one line of YAML, without the dash of its list; empty where there is none."""
    return keyword.example.removeprefix("- ")


def value_snippet(keyword: Keyword) -> str:
    """What stands behind `KEYWORD: `, with the blocks the keyword needs below it; empty without an example."""
    example = example_of(keyword)
    root = load(Source("example.yaml", example)) if example else None
    value = root.get(keyword.name) if root is not None else None
    if value is None:
        return ""
    blocks = "".join(f"\n  {name}:\n    - $0" for name in keyword.needs)
    return with_stops(example, value) + blocks


def entry_snippet(schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """The snippet of a mapping from names to values with this schema, if something is known about them; else none."""
    plain = _entry(schema, None)
    return [] if plain is None else [{"label": f"x: {plain}", "body": f"^\n  ${{1:x}}: {_entry(schema, count(2))}"}]


def _entry(schema: Mapping[str, Any], stops: Iterator[int] | None) -> str | None:
    """A value: an example, the first word, or the required keys of a mapping."""
    if examples := schema.get("examples"):
        return _flow(examples[0], stops)
    words = next((item["enum"] for item in (schema, *schema.get("anyOf", ())) if "enum" in item), None)
    if words:
        return _flow(words[0], stops)
    fields = {name: _entry(schema["properties"][name], stops) for name in schema.get("required", ())}
    if not fields or None in fields.values():
        return None
    return f"{{{', '.join(f'{name}: {inner}' for name, inner in fields.items())}}}"


def _flow(value: object, stops: Iterator[int] | None) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_flow(item, stops) for item in value)}]"
    return str(value) if stops is None else f"${{{next(stops)}:{_escaped(str(value))}}}"


def with_stops(text: str, node: Node) -> str:
    """The text of a node with a tab stop on each scalar in it."""
    made, at = "", node.start
    for number, scalar in zip(count(1), _scalars(node), strict=False):
        made += _literal(text[at : scalar.start]) + f"${{{number}:{_escaped(text[scalar.start : scalar.end])}}}"
        at = scalar.end
    return made + _literal(text[at : node.end])


def _scalars(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _scalars(item)
    elif isinstance(node, MappingNode):
        for _, item in node.items:
            yield from _scalars(item)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$")


def _escaped(text: str) -> str:
    return re.sub(r"([\\$}])", r"\\\1", text)

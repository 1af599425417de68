"""`transcribe`: a spec of one format in the other, with its order and its comments."""

from __future__ import annotations

import re

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.syntax import NO_NULL
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.edit.aliases import written_out
from pypto_spec.edit.layout import formatted
from pypto_spec.edit.layout_toml import toml_text
from pypto_spec.edit.layout_yaml import yaml_text
from pypto_spec.edit.pieces import Collection, Text, UnusualError, lift, plain_lines
from pypto_spec.edit.same import same_tree
from pypto_spec.edit.to_toml import toml_statements
from pypto_spec.edit.to_yaml import yaml_pieces
from pypto_spec.edit.toml_reader import Statement, read_toml
from pypto_spec.edit.yaml_reader import read_yaml
from pypto_spec.records import dataclass
from pypto_spec.spec.load import Format, load
from pypto_spec.spec.models.keywords import default_table
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode, span_between

_YAML_MODELINE = re.compile(r"# yaml-language-server: \$schema=(\S+)\Z")
_TOML_MODELINE = re.compile(r"#:schema (\S+)\Z")


@dataclass(frozen=True, slots=True)
class Expanded:
    """An alias that is written out, as TOML has none: `*name`, and where it stood."""

    alias: str
    span: Span


@dataclass(frozen=True, slots=True)
class Transcribed:
    """A spec in the other format; `expanded` are the aliases that are written out now."""

    text: str
    expanded: tuple[Expanded, ...] = ()


def transcribe(source: Source, format: Format, to: Format) -> Transcribed:
    """A spec in the format `to`. Raises CompileError where it cannot be read, or TOML has no form for a value of it.

    Raises UnusualError for a rare form of YAML that cannot be taken apart with its comments.
    """
    if format == to:
        return Transcribed(formatted(source, format))
    text, _ = plain_lines(source.text.removeprefix("\ufeff"))
    plain = Source(source.name, text)
    tree = load(plain, format)
    made = _to_toml(plain, tree) if to == "toml" else Transcribed(_to_yaml(text, tree))
    if not same_tree(_without_nulls(tree) if to == "toml" else tree, load(Source(source.name, made.text), to)):
        raise UnusualError("what it says would change")
    return made


# --- to TOML --------------------------------------------------------------------------------------------------------


def _to_toml(source: Source, tree: MappingNode) -> Transcribed:
    _refuse_nulls(tree)
    pieces = read_yaml(source.text)
    lift(pieces.root)
    root, found = written_out(pieces.root)
    assert isinstance(root, Collection)
    head = [Statement(comment=line) for line in pieces.head if line.startswith("#")]
    foot = [Statement(comment=line) for line in pieces.foot if line.startswith("#")]
    statements = [*head, *toml_statements(root, tree), *foot]
    modeline = _YAML_MODELINE.match(statements[0].comment) if statements and not statements[0].keys else None
    if modeline:
        statements[0].comment = f"#:schema {modeline[1]}"
    expanded = (Expanded(alias, span_between(source, at, at + len(alias))) for at, alias in found)
    return Transcribed(formatted(Source(source.name, toml_text(statements)), "toml"), tuple(expanded))


def _bare_keywords() -> frozenset[str]:
    return frozenset(keyword.name for keyword in default_table() if keyword.bare)


def _refuse_nulls(tree: MappingNode) -> None:
    bare = _bare_keywords()
    found = [
        diagnose(
            NO_NULL,
            node.span,
            f"`{key}` has no value, and TOML has no form for that",
            label="nothing stands here",
            helps=["give it a value, or leave the key out"],
        )
        for key, node in _nulls("", tree)
        if key not in bare
    ]
    if found:
        raise CompileError(found)


def _nulls(key: str, node: Node) -> list[tuple[str, Node]]:
    if isinstance(node, MappingNode):
        return [found for word, (_, value) in node.entries.items() for found in _nulls(word, value)]
    if isinstance(node, SequenceNode):
        return [found for item in node.items for found in _nulls(key, item)]
    return [(key, node)] if isinstance(node, ScalarNode) and node.value is None else []


def _without_nulls(node: Node) -> Node:
    """The tree in which `break:` is `break: {}`, as TOML has it."""
    if isinstance(node, MappingNode):
        entries = {key: (word, _without_nulls(value)) for key, (word, value) in node.entries.items()}
        return MappingNode(node.source, node.start, node.end, entries, node.flow)
    if isinstance(node, SequenceNode):
        return SequenceNode(node.source, node.start, node.end, list(map(_without_nulls, node.items)), node.flow)
    if isinstance(node, ScalarNode) and node.value is None:
        return MappingNode(node.source, node.start, node.end, {}, True)
    return node


# --- to YAML --------------------------------------------------------------------------------------------------------


def _to_yaml(text: str, tree: MappingNode) -> str:
    statements = read_toml(text)
    if statements and not statements[0].keys:
        modeline = _TOML_MODELINE.match(statements[0].comment)
        if modeline:
            statements[0].comment = f"# yaml-language-server: $schema={modeline[1]}"
    made = yaml_text(Text(yaml_pieces(statements, tree)))
    return formatted(Source("-", made), "yaml")

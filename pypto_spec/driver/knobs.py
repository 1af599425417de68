"""The numbers of a spec that decide how large its tiles are: constants, and literals in shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_spec.diagnostics.span import Span
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that can be changed. `nodes` are all places of the text that change together; `name` is a constant's.

    `resizes`: the arguments of the program change with it.
    """

    label: str
    value: int
    span: Span
    nodes: tuple[tuple[int, int], ...] = ()
    name: str | None = None
    resizes: bool = False

    def text(self, source: str, value: int) -> str:
        """The source with another value at all places."""
        for start, end in sorted(self.nodes, reverse=True):
            source = source[:start] + str(value) + source[end:]
        return source


def constant_knobs(root: MappingNode, near: set[Place], *, of_tensors: bool) -> list[Knob]:
    """Integer constants that are written as numbers, those that the statements at `near` mention first.

    A constant that an argument's shape depends on is the problem's size: it counts with `of_tensors`, or where the
    shapes of those statements depend on no other.
    """
    section = root.get("constants")
    if not isinstance(section, MappingNode):
        return []
    texts = {key.text: node.text for key, node in section.items if isinstance(node, ScalarNode)}
    sizes = _closure(_words(root.get("tensors")) | _words(root.get("symbols")), texts)
    statements = list(_statements(root.get("program"), near))
    mentioned = _closure({w for node in statements for w in _words(node)}, texts)
    shaped = _closure({w for node in statements for shape in _shapes(node) for w in _words(shape)}, texts)
    found: list[Knob] = []
    for key, node in section.items:
        value = node.value if isinstance(node, ScalarNode) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            resizes = key.text in sizes
            if resizes if of_tensors else key.text in (shaped if resizes else mentioned):
                found.append(Knob(key.text, value, key.span, name=key.text, resizes=resizes))
    if any(not knob.resizes for knob in found):
        found = [knob for knob in found if not knob.resizes]
    return sorted(found, key=lambda knob: knob.name not in mentioned)


def _shapes(statement: MappingNode) -> Iterator[Node]:
    for _, fields in statement.items:
        shape = fields.get("shape") if isinstance(fields, MappingNode) else None
        if shape is not None:
            yield shape


def literal_knobs(root: MappingNode, near: set[Place]) -> list[Knob]:
    """Numbers in the shapes of the statements at `near`, the rows before the columns."""
    found: list[Knob] = []
    for statement in _statements(root.get("program"), near):
        for key, fields in statement.items:
            shape = fields.get("shape") if isinstance(fields, MappingNode) else None
            for axis, item in _literals(shape):
                label = f"`shape` of `{key.text}` in line {item.span.line}, dimension {axis}"
                found.append(Knob(label, int(item.text), item.span, ((item.start, item.end),)))
    return sorted(found, key=lambda knob: knob.span.col)


def stage_knobs(root: MappingNode, near: set[Place]) -> list[Knob]:
    """The `stages` of the pipelines around the statements at `near`: a number there, or the constants it names."""
    section = root.get("constants")
    constants = {key.text: (key, node) for key, node in section.items} if isinstance(section, MappingNode) else {}
    found: list[Knob] = []
    for node in _pipelines(root.get("program"), near):
        if node.value is not None and not isinstance(node.value, str):
            if isinstance(node.value, int) and node.text.isdigit() and node.value > 1 and not node.via:
                label = f"`stages` in line {node.span.line}"
                found.append(Knob(label, node.value, node.span, ((node.start, node.end),)))
            continue
        for name in sorted(_words(node) & constants.keys()):
            key, written = constants[name]
            value = written.value if isinstance(written, ScalarNode) else None
            if isinstance(value, int) and not isinstance(value, bool) and value > 1:
                found.append(Knob(name, value, key.span, name=name))
    return found


def _pipelines(node: Node | None, near: set[Place]) -> Iterator[ScalarNode]:
    """The `stages` of pipelines with one of the places inside, inner ones first."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from _pipelines(item, near)
    elif isinstance(node, MappingNode):
        for _, value in node.items:
            yield from _pipelines(value, near)
        fields = node.get("pipeline")
        stages = fields.get("stages") if isinstance(fields, MappingNode) else None
        if isinstance(stages, ScalarNode) and next(_statements(node.get("body"), near), None) is not None:
            yield stages


def tensor_knobs(root: MappingNode) -> list[Knob]:
    """Numbers in the shapes of the arguments; equal ones change together."""
    section = root.get("tensors")
    items: dict[tuple[int, bool], list[ScalarNode]] = {}
    if isinstance(section, MappingNode):
        for _, node in section.items:
            shape = node.get("shape") if isinstance(node, MappingNode) else None
            count = len(shape.items) if isinstance(shape, SequenceNode) else 0
            for axis, item in _literals(shape):
                items.setdefault((int(item.text), axis + 1 == count), []).append(item)
    found: list[Knob] = []
    for (value, last), nodes in sorted(items.items(), key=lambda entry: (not entry[0][1], -entry[0][0])):
        word = "columns" if last else "rows"
        places = tuple((n.start, n.end) for n in nodes)
        found.append(Knob(f"{word} of the arguments", value, nodes[0].span, places))
    return found


def _literals(shape: Node | None) -> Iterator[tuple[int, ScalarNode]]:
    for axis, item in enumerate(shape.items if isinstance(shape, SequenceNode) else ()):
        if isinstance(item, ScalarNode) and isinstance(item.value, int) and item.text.isdigit() and not item.via:
            yield axis, item


def _statements(node: Node | None, near: set[Place]) -> Iterator[MappingNode]:
    """The statements that start at one of the places."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from _statements(item, near)
    elif isinstance(node, MappingNode):
        if node.span.start in near:
            yield node
            return
        for _, value in node.items:
            yield from _statements(value, near)


def _words(node: Node | None) -> set[str]:
    return set(_WORD.findall(node.source.text[node.start : node.end])) if node is not None else set()


def _closure(names: set[str], texts: dict[str, str]) -> set[str]:
    """The names with all constants that their definitions lead to."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _WORD.findall(texts.get(name, ""))
    return found

"""The numbers of a spec that decide how large its tiles are: constants, and literals in shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pypto_spec.diagnostics.span import Span
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that can be changed. `nodes` are all places of the text that change together; `name` is a constant's.

    `at` is where a number of stages stands, in words of `name` or as it is. `resizes`: the arguments of the program
    change with it. `ahead` says what else has to change by hand, if anything.
    """

    label: str
    value: int
    span: Span
    nodes: tuple[tuple[int, int], ...] = ()
    name: str | None = None
    at: Span | None = None
    resizes: bool = False
    ahead: str = ""

    def text(self, source: str, value: int) -> str:
        """The source with a smaller value at all places, and blanks behind it: everything stays where it stands."""
        for start, end in sorted(self.nodes, reverse=True):
            source = source[:start] + str(value).ljust(end - start) + source[end:]
        return source


FOLLOW = "the loop around it has to follow"
REST = "a loop has to cover the rest"
SMALLER = "the arguments become smaller with it"
_HEADERS = ("for", "pipeline", "parallel", "spmd", "unroll", "while")


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
    statements = list(_near(root, near))
    mentioned = _closure({w for node in statements for w in _words(node)}, texts)
    shaped = _closure({w for node in statements for shape in _shapes(node) for w in _words(shape)}, texts)
    found: list[Knob] = []
    for key, node in section.items:
        value = node.value if isinstance(node, ScalarNode) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            resizes = key.text in sizes
            if resizes if of_tensors else key.text in (shaped if resizes else mentioned):
                ahead = SMALLER if resizes else _ahead(root, near, key.text, texts)
                found.append(Knob(key.text, value, key.span, name=key.text, resizes=resizes, ahead=ahead))
    if any(not knob.resizes for knob in found):
        found = [knob for knob in found if not knob.resizes]
    return sorted(found, key=lambda knob: (knob.name not in shaped, knob.name not in mentioned))


def _ahead(root: MappingNode, near: set[Place], name: str, texts: Mapping[str, str]) -> str:
    """What has to change by hand with a constant that the shapes of tiles depend on."""
    mentions = {s.span.start for s in _near(root, near) if name in _closure(_words(s), texts)}
    loops = [loop for body in _bodies(root) for loop in _around(body, mentions)]
    counts = _closure({w for loop in loops for key in _HEADERS for w in _words(loop.get(key))}, texts)
    return "" if name in counts else FOLLOW if loops else REST


def _shapes(statement: MappingNode) -> Iterator[Node]:
    for _, fields in statement.items:
        shape = fields.get("shape") if isinstance(fields, MappingNode) else None
        if shape is not None:
            yield shape


def shaped_places(root: MappingNode) -> set[Place]:
    """The places of all statements that write a shape: where sizes come from if the statements at hand name none."""
    found: set[Place] = set()
    waiting: list[Node] = list(_bodies(root))
    while waiting:
        node = waiting.pop()
        if isinstance(node, SequenceNode):
            waiting += node.items
        elif isinstance(node, MappingNode):
            if any(True for _ in _shapes(node)):
                found.add(node.span.start)
            waiting += (value for _, value in node.items)
    return found


def literal_knobs(root: MappingNode, near: set[Place]) -> list[Knob]:
    """Numbers in the shapes of the statements at `near`, the rows before the columns.

    Equal ones of one dimension in one block change together: the tiles that meet there have one shape.
    """
    found: dict[tuple[Place, ...], Knob] = {}
    for block, looped in (entry for body in _bodies(root) for entry in _blocks(body, near)):
        here = list(_shaped(block))
        for key, axis, item in here:
            if not any(key.span.start == start for start in near):
                continue
            alike = [i for _, other, i in here if other == axis and i.value == item.value]
            lines = sorted({i.span.line for i in alike})
            where = f"of `{key.text}` in line {lines[0]}" if len(alike) == 1 else f"in {_lines(lines)}"
            knob = Knob(
                f"`shape` {where}, dimension {axis}",
                int(item.text),
                item.span,
                tuple((i.start, i.end) for i in alike),
                ahead=FOLLOW if looped else REST,
            )
            found.setdefault(knob.nodes, knob)
    return sorted(found.values(), key=lambda knob: knob.label.rpartition(" ")[2])


def _lines(lines: list[int]) -> str:
    *most, last = map(str, lines)
    return f"lines {', '.join(most)} and {last}" if most else f"line {last}"


def stage_knobs(root: MappingNode, near: set[Place]) -> list[Knob]:
    """The `stages` of the pipelines around the statements at `near`: a number there, or the constants it names."""
    section = root.get("constants")
    constants = {key.text: (key, node) for key, node in section.items} if isinstance(section, MappingNode) else {}
    found: list[Knob] = []
    for node in (stages for body in _bodies(root) for stages in _pipelines(body, near)):
        if node.value is not None and not isinstance(node.value, str):
            if isinstance(node.value, int) and node.text.isdigit() and node.value > 1 and not node.via:
                label = f"`stages` in line {node.span.line}"
                found.append(Knob(label, node.value, node.span, ((node.start, node.end),), at=node.span))
            continue
        for name in sorted(_words(node) & constants.keys()):
            key, written = constants[name]
            value = written.value if isinstance(written, ScalarNode) else None
            if isinstance(value, int) and not isinstance(value, bool) and value > 1:
                found.append(Knob(name, value, key.span, name=name, at=node.span))
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
        if _is_at(node, near):
            yield node
            return
        for _, value in node.items:
            yield from _statements(value, near)


def _is_at(statement: MappingNode, near: set[Place]) -> bool:
    """Whether a statement stands at one of the places: where it begins, or its keyword behind a brace."""
    return statement.span.start in near or any(key.span.start in near for key, _ in statement.items)


def _words(node: Node | None) -> set[str]:
    return set(_WORD.findall(node.source.text[node.start : node.end])) if node is not None else set()


def _closure(names: set[str], texts: Mapping[str, str]) -> set[str]:
    """The names with all constants that their definitions lead to."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _WORD.findall(texts.get(name, ""))
    return found


def _bodies(root: MappingNode) -> Iterator[Node]:
    """What holds statements."""
    for name in ("functions", "program"):
        body = root.get(name)
        if body is not None:
            yield body


def _near(root: MappingNode, near: set[Place]) -> Iterator[MappingNode]:
    for body in _bodies(root):
        yield from _statements(body, near)


def _around(node: Node, near: set[Place]) -> Iterator[MappingNode]:
    """The loops around the statements at the places."""
    items = node.items if isinstance(node, SequenceNode) else ()
    for item in items:
        yield from _around(item, near)
    if isinstance(node, MappingNode):
        if any(key in node for key in _HEADERS) and next(_statements(node.get("body"), near), None) is not None:
            yield node
        for _, value in node.items:
            yield from _around(value, near)


def _blocks(node: Node, near: set[Place], looped: bool = False) -> Iterator[tuple[SequenceNode, bool]]:
    """The innermost blocks with a statement at one of the places, and whether a loop is around each."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from _blocks(item, near, looped)
        if any(isinstance(item, MappingNode) and _is_at(item, near) for item in node.items):
            yield node, looped
    elif isinstance(node, MappingNode):
        for _, value in node.items:
            yield from _blocks(value, near, looped or any(key in node for key in _HEADERS))


def _shaped(node: Node) -> Iterator[tuple[KeyNode, int, ScalarNode]]:
    """The numbers in shapes of the statements of a block and the blocks in it, with the statement and the dimension."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from _shaped(item)
    elif isinstance(node, MappingNode):
        for key, fields in node.items:
            shape = fields.get("shape") if isinstance(fields, MappingNode) else None
            yield from ((key, axis, item) for axis, item in _literals(shape))
            yield from _shaped(fields)

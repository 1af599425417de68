"""What the sections declare: constants, symbols, scalars, tensors, buffers, functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.editor.document import Document
from pypto_spec.editor.facts.model import BufferFacts, TensorFacts
from pypto_spec.editor.facts.view import View
from pypto_spec.spec.formula.constants import Constant, resolve_constants
from pypto_spec.spec.formula.integer import Value
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode
from pypto_spec.spec.variants import read_variants

VARIANTS = 6
"""The most variants whose values are listed."""


def constant_text(document: Document, name: str) -> str:
    """The value of a constant as it is written, what it is computed from, and its values in variants."""
    tree = document.tree
    node = tree.find("constants", name) if tree is not None else None
    if tree is None or not isinstance(node, ScalarNode):
        return f"**constant** `{name}`"
    values = _constants(tree, {})
    value = values.get(name)
    shown = plain(value.value) if value is not None else node.text
    lines = [f"**constant** `{name}` = `{shown}`"]
    if shown != node.text:
        lines.append(f"* written as `{node.text}`")
    by_value: dict[str, list[str]] = {}
    for key, constants in _of_variants(tree):
        found = constants.get(name)
        by_value.setdefault(plain(found.value) if found is not None else "?", []).append(key)
    if len(by_value) > 1:
        for other, keys in by_value.items():
            more = f" and {len(keys) - VARIANTS} more" if len(keys) > VARIANTS else ""
            lines.append(f"* `{other}` in {', '.join(f'`{key}`' for key in keys[:VARIANTS])}{more}")
    return "\n".join([lines[0], "", *lines[1:]]).strip()


def _constants(tree: MappingNode, chosen: Mapping[str, ScalarNode]) -> dict[str, Constant]:
    return resolve_constants(tree.get("constants"), {}, chosen)[0]


def _of_variants(tree: MappingNode) -> Iterator[tuple[str, dict[str, Constant]]]:
    if "variants" not in tree:
        return
    try:
        found, _ = read_variants(tree, {})
    except CompileError:
        return
    for variant in found:
        yield variant.key, _constants(tree, variant.nodes)


def plain(value: Value) -> str:
    """A value of a constant as it stands in a spec."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def symbol_text(name: str, view: View | None, detail: str) -> str:
    """A run-time dimension with its bounds."""
    known = view.facts.symbols.get(name) if view is not None else None
    return f"**symbol** `{name}`: a run-time dimension" + (f", {known or detail}" if known or detail else "")


def tensor_text(name: str, view: View | None, detail: str) -> str:
    """A tensor in GM, with the lines that read and write it."""
    found = view.facts.tensors.get(name) if view is not None else None
    if view is None or found is None:
        return f"**tensor** `{name}`" + (f": `{detail}`" if detail else "")
    return "\n".join([f"**tensor** `{name}`: `{found.type}`", "", *_tensor(found, view)])


def _tensor(found: TensorFacts, view: View) -> Iterator[str]:
    words = {"in": "read only", "out": "written", "inout": "read and written"}
    yield f"* access: `{found.access}`, {words.get(found.access, '')}".rstrip(", ")
    yield f"* in GM, {found.bytes if found.bytes.replace(',', '').isdecimal() else f'`{found.bytes}`'} B"
    yield f"* strides: `{found.strides}`" if found.strides else "* layout: row by row, dense"
    for what, lines in (("read", found.reads), ("written", found.writes)):
        where = view.lines(lines)
        if where:
            yield f"* {what} in {where}"


def buffer_text(name: str, view: View | None, detail: str) -> str:
    """A buffer of the author's."""
    found = view.facts.buffers.get(name) if view is not None else None
    if found is None:
        return f"**buffer** `{name}`" + (f": `{detail}`" if detail else "")
    return "\n".join([f"**buffer** `{name}` in `{found.memory}`", "", *_buffer(found)])


def _buffer(found: BufferFacts) -> Iterator[str]:
    if found.bytes is not None:
        yield f"* {found.slots} slots of {found.bytes:,} B" if found.slots > 1 else f"* {found.bytes:,} B"
    if found.address is not None:
        starts = [found.address + slot * (found.bytes or 0) for slot in range(min(found.slots, VARIANTS))]
        yield f"* address{'es' * (len(starts) > 1)}: {', '.join(f'`{start:,}`' for start in starts)}"
    if found.tiles:
        yield f"* holds {', '.join(f'`{tile}`' for tile in found.tiles[:VARIANTS])}"


def function_text(document: Document, name: str, detail: str) -> str:
    """A function of the spec."""
    node = document.tree.find("functions", name) if document.tree is not None else None
    about = node.get("about") if isinstance(node, MappingNode) else None
    lines = [f"**function** `{name}{detail}`"]
    if isinstance(about, ScalarNode) and about.text:
        lines += ["", about.text]
    args = node.get("args") if isinstance(node, MappingNode) else None
    listed = [(key.text, written_text(value)) for key, value in args.items] if isinstance(args, MappingNode) else []
    if any(text for _, text in listed):
        lines += ["", *(f"* `{arg}`" + (f": `{text}`" if text else "") for arg, text in listed)]
    return "\n".join(lines)


def written_text(node: Node | None) -> str:
    """A value in one line, as it is written."""
    if isinstance(node, ScalarNode):
        return node.text
    if isinstance(node, SequenceNode):
        return f"[{', '.join(map(written_text, node.items))}]"
    if isinstance(node, MappingNode):
        return f"{{{', '.join(f'{key.text}: {written_text(value)}' for key, value in node.items)}}}"
    return ""

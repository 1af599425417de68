"""The tree of as much of a TOML text as can be read."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from typing import Any

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.mend.open_toml import mend_lines
from pypto_spec.editor.mend.patch import Patch
from pypto_spec.spec.load import load
from pypto_spec.spec.toml_loader import Builder
from pypto_spec.spec.tree import MappingNode, Moment, Node, ScalarNode, SequenceNode

MOST_REPAIRS = 8
"""Errors that are repaired in one text."""

_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END = re.compile(r"[\r\n]")


def tolerant_toml(source: Source) -> tuple[MappingNode | None, bool]:
    """The tree of what can be read of a text, None where nothing can; and whether all of it could be read."""
    try:
        return load(source, "toml"), True
    except CompileError:
        pass
    patch = Patch(source.text)
    for match in _UNREADABLE.finditer(source.text, int(source.text.startswith("\ufeff"))):
        patch.put(match.start(), match.end(), " ")
    mend_lines(patch)
    for _ in range(MOST_REPAIRS):
        builder = Builder(Source(source.name, patch.repaired()))
        error = builder.first_error()
        if error is None or not _blank_line(patch, patch.back(error)):
            break
    builder = Builder(Source(source.name, patch.repaired()))
    try:
        root = builder.build()
    except CompileError:  # it nests too deeply
        return None, False
    _fill(root)
    patch.restore(root, source)
    return root, False


def _blank_line(patch: Patch, at: int) -> bool:
    text = patch.text
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    found = _LINE_END.search(text, at)
    end = found.start() if found else len(text)
    if start == end:
        return False
    patch.drop(start, end)
    return patch.blank(start, end)


def _fill(root: MappingNode) -> None:
    """Give scalars their values, one by one."""
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, MappingNode):
            if node.start < 0:  # a table that has no header of its own
                node.start = -1 - node.start
            pending += (value for _, value in node.entries.values())
        elif isinstance(node, SequenceNode):
            pending += node.items
        elif isinstance(node, ScalarNode):
            value = _value(node.text)
            if isinstance(value, str):
                node.value = node.text = value
            elif isinstance(value, (bool, int, float)):
                node.value = value
            elif value is not None:
                node.value = node.text = Moment(node.text)


@lru_cache(maxsize=4096)
def _value(raw: str) -> Any:
    """The value of a raw text; None where it is none, or where nothing is written."""
    if len(raw) > 1 and raw[0] == raw[-1] == '"' and "\\" not in raw and raw[:3] != '"""':
        return raw[1:-1]
    try:
        return tomllib.loads(f"v = {raw}").get("v")
    except (ValueError, RecursionError):
        return None

"""The fix of a key that stands twice."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.diagnostics.model import Fix
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.tree import KeyNode, Node, span_between

Entry = tuple[KeyNode, Node]


def twice(source: Source, first: Entry, second: Entry, flow: bool) -> Iterator[Fix]:
    """Take the second entry out; safe where it says what the first one says. None where its end is not certain."""
    text = source.text
    (key, value), (other, old) = second, first
    if value.via or old.via:
        return
    start, end = key.start, max(key.end, value.end)
    if text[start - 1 : start] in ("'", '"') and text[end - 1 : end] != text[start - 1 : start]:
        start -= 1  # a quoted key of TOML
    if flow:
        before = text[:start].rstrip()
        if not before.endswith(","):
            return
        start = len(before) - 1
    else:
        start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        if text[start : key.start].strip(" \t\"'"):
            return  # behind the dash of a list
        ends = [at for at in (text.find("\n", end - 1), text.find("\r", end - 1)) if at >= 0]
        end = min(ends, default=len(text))
        end += 2 if text.startswith("\r\n", end) else int(end < len(text))
    same = text[value.start : value.end].rstrip() == text[old.start : old.end].rstrip()
    yield Fix(span_between(source, start, end), "", safe=same, title=f"take the second `{other.text}` out")

"""Renaming a binding everywhere, or refusing to."""

from __future__ import annotations

import re

from pypto_spec.convert.let_calls import is_known_function
from pypto_spec.editor.model import Edit, Kind
from pypto_spec.editor.names.model import Binding, Index, Use
from pypto_spec.spec.formula.parser import RESERVED
from pypto_spec.spec.models.base import MAX_NAME

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


_EVERYWHERE = frozenset({Kind.CONSTANT, Kind.SYMBOL, Kind.SCALAR, Kind.TENSOR})


class RenameError(ValueError):
    """Why a name cannot be changed to another: a sentence for the author."""


def rename_use(index: Index, use: Use | None, new: str) -> list[Edit]:
    """The edits that give a binding another name. Raises RenameError."""
    if use is None:
        raise RenameError("no name of the spec stands here")
    binding = use.binding
    if new == binding.name:
        return []
    _check_form(new)
    _check_free(index, binding, new)
    places = {(u.start, u.end) for u in binding.uses}
    return [Edit(start, end, new) for start, end in sorted(places)]


def _check_form(new: str) -> None:
    if not _IDENTIFIER.match(new):
        raise RenameError(f"`{new}` is no name: names are ASCII letters, digits and `_`, and start with no digit")
    if len(new) > MAX_NAME:
        raise RenameError(f"a name has at most {MAX_NAME} characters, this one has {len(new)}")
    if new in RESERVED:
        raise RenameError(f"`{new}` is a word of formulas and names nothing else")


def _check_free(index: Index, binding: Binding, new: str) -> None:
    for other in index.bindings:
        if other.name == new and other.space == binding.space and _clash(binding, other):
            line = other.span.line
            raise RenameError(f"`{new}` is taken: line {line} has {_what(other)} of that name")
    for unknown in index.unknown:
        if unknown.text.partition(".")[0] == new and binding.space == "names":
            line, _ = index.source.position(unknown.start)
            what = "a word" if unknown.word else "a name that is not defined"
            raise RenameError(f"`{new}` is {what} in line {line}, which would mean the renamed one then")
    words = (m for m in index.marks if m.kind is Kind.WORD)
    if binding.space == "names" and any(index.source.text[m.start : m.end] == new for m in words):
        raise RenameError(f"`{new}` is a word in a formula of this spec")
    if binding.space == "functions" and is_known_function(new):
        raise RenameError(f"`{new}` is a function of the language")


def _what(binding: Binding) -> str:
    word = binding.kind.value
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _clash(one: Binding, other: Binding) -> bool:
    """Whether two bindings cannot have one name. An argument may, as it hides what the whole program has."""
    if (one.kind is Kind.ARGUMENT) is not (other.kind is Kind.ARGUMENT):
        argument, hidden = (one, other) if one.kind is Kind.ARGUMENT else (other, one)
        if hidden.kind in _EVERYWHERE:
            scopes = [extent for _, extent in argument.ranges]
            return any(scope.start <= use.start <= scope.end for scope in scopes for use in hidden.uses)
    return _meet(one, other)


def _meet(one: Binding, other: Binding) -> bool:
    """Whether there may be a place where both can be read, or a text that means the one would mean the other."""
    for start, extent in one.ranges:
        for begin, scope in other.ranges:
            if min(start, extent.start) <= scope.limit and min(begin, scope.start) <= extent.limit:
                return True
    return not one.ranges or not other.ranges

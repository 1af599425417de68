"""Whether a region works on tiles or on whole arrays, where a statement does not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pypto_spec.convert.scope import Scope
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.formula import names
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import LetStatement
from pypto_spec.spec.tree import MappingNode, ScalarNode


def level_of(items: Sequence[Statement], scope: Scope) -> Literal["tile", "array"]:
    """What `full` makes in a region: a tile, or an array where its statements work on whole tensors.

    A region that loads or creates tiles is at tile level. Else one whose formulas or operators read tensors as a whole,
    or that holds formulas only, is at tensor level.
    """
    others = False
    reads = False
    for item in _statements(items):
        if item.keyword in ("load", "create_tile"):
            return "tile"
        if item.keyword == "let":
            reads = reads or _formula_reads(item, scope)
        elif item.keyword in OPS and OPS[item.keyword].effects != "shows":
            others = True
            reads = reads or _fields_read(item, scope)
    return "array" if reads or not others else "tile"


def _statements(items: Sequence[Statement]) -> Iterator[Statement]:
    for item in items:
        yield item
        for block in item.blocks():
            yield from _statements(block)


def _fields_read(item: Statement, scope: Scope) -> bool:
    for field in OPS[item.keyword].fields:
        node = item.value.get(field.name) if field.kind == "tile" and isinstance(item.value, MappingNode) else None
        if isinstance(node, ScalarNode) and _is_tensor(node.text, scope):
            return True
    return False


def _formula_reads(item: Statement, scope: Scope) -> bool:
    model = item.model
    return isinstance(model, LetStatement) and any(_is_tensor(n.id, scope) for n in names(model.formula.value))


def _is_tensor(text: str, scope: Scope) -> bool:
    found = scope.get(text)
    return found is not None and found.kind == "tensor"

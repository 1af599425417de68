"""The `golden` section: kept as it is written, but for constants, which a program does not have any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pypto_spec.convert import emit
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.syntax import MISSING_KEY, OUT_OF_RANGE
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Golden, Program
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.spec.formula import FormulaError, names, parse_expression
from pypto_spec.spec.models.document import Document
from pypto_spec.spec.tree import MappingNode, Node, Plain, ScalarNode, SequenceNode

Constants = Mapping[str, int | float | bool | str]


def read_golden(document: Document) -> Golden | None:
    """The section with the values of constants in its formulas; None where there is none."""
    node = document.root.get("golden")
    if not isinstance(node, MappingNode):
        return None
    constants = document.values
    plain = cast("dict[str, Plain]", folded(node.to_plain(), constants))
    model = document.model.golden
    return Golden(
        expect={name: str(text) for name, text in cast("dict[str, Plain]", plain.get("expect") or {}).items()},
        python=model.python if model is not None else None,
        sizes=tuple(model.sizes) if model is not None else (),
        inputs=cast("dict[str, object]", plain.get("inputs") or {}),
        tolerance=cast("dict[str, float]", plain.get("tolerance") or {}),
        seed=model.seed if model is not None else None,
        sample=model.sample if model is not None else None,
    )


def check_golden(document: Document, program: Program, sink: Sink) -> None:
    """The names that the section gives things to: outputs, symbols, and arguments."""
    root = document.root
    outputs = [t.name for t in program.tensors if isinstance(t.type, TensorType) and t.type.access is not Access.IN]
    arguments = [v.name for v in (*program.tensors, *program.scalars)]
    _keys(root.find("golden", "expect"), outputs, "output", sink)
    _keys(root.find("golden", "inputs"), arguments, "tensor or scalar", sink)
    rows = root.find("golden", "sizes")
    for row in rows.items if isinstance(rows, SequenceNode) else ():
        if not isinstance(row, MappingNode) or not _keys(row, [d.name for d in program.dims], "symbol", sink):
            continue
        for dim in program.dims:
            node = row.get(dim.name)
            if node is None:
                sink.report(
                    MISSING_KEY, row.span, f"a size of `golden.sizes` needs a value of `{dim.name}`",
                    label=f"`{dim.name}` is missing", secondary=row.alias_labels,
                    helps=[f"add `{dim.name}: {dim.low}`"],
                )  # fmt: skip
            elif isinstance(node, ScalarNode) and isinstance(node.value, int) and not _within(node.value, dim):
                most = "" if dim.high is None else f" to {dim.high}"
                sink.report(
                    OUT_OF_RANGE, node.span, f"`{dim.name}` is {dim.low}{most}, found {node.value}",
                    label="outside its bounds", secondary=node.alias_labels,
                    helps=["test within the bounds, or widen them in `symbols`"],
                )  # fmt: skip


def _within(value: int, dim: Sym) -> bool:
    low, high = dim.low if dim.low is not None else value, dim.high if dim.high is not None else value
    return low <= value <= high


def _keys(node: Node | None, known: Sequence[str], what: str, sink: Sink) -> bool:
    """Whether all keys of a mapping are known names."""
    good = True
    for key, _ in node.items if isinstance(node, MappingNode) else ():
        if key.text in known or key.text.startswith("x-"):
            continue
        good = False
        listed = ", ".join(f"`{name}`" for name in known[:8])
        sink.report(
            UNDEFINED_NAME, key.span, f"`{key.text}` is no {what} of the program", label=f"no {what}",
            secondary=key.alias_labels,
            helps=[did_you_mean(key.text, known) or (f"there are {listed}" if known else f"it has no {what}")],
        )  # fmt: skip
    return good


def folded(plain: Plain, constants: Constants) -> Plain:
    """Plain data with the names of constants in its strings replaced by their values."""
    if isinstance(plain, dict):
        return {key: folded(value, constants) for key, value in plain.items() if not key.startswith("x-")}
    if isinstance(plain, list):
        return [folded(value, constants) for value in plain]
    return _text(plain, constants) if isinstance(plain, str) and constants else plain


def _text(text: str, constants: Constants) -> Plain:
    if text[:1] == "$" and text[1:] in constants:
        return constants[text[1:]]
    if text in constants:
        return constants[text]
    try:
        found = [name for name in names(parse_expression(text)) if name.id in constants]
    except FormulaError:
        return text  # a word or a path, no formula
    for name in reversed(found):
        value = constants[name.id]
        shown = value if isinstance(value, str) else emit.number(value)
        text = text[: name.start] + (f"({shown})" if shown[:1] == "-" else shown) + text[name.end :]
    return text

"""PS3036: exponentials that are divided by their sum, of values that nothing keeps below the overflow.

exp(x) / sum(exp(x)) is the same with any number taken off x, so that only the largest x has to be taken off to be safe.
Only what is certain is reported: the values come from a tensor by way of copies and factors alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from pypto_spec.diagnostics.model import Fix, Label, Sink
from pypto_spec.diagnostics.rules.shapes import EXP_OVERFLOW
from pypto_spec.ir.nodes import Op, Program, Region, Value
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TensorType
from pypto_spec.ops.numbers import largest

_UNLIMITED = frozenset({"muls", "divs", "adds", "subs", "neg", "cast", "move", "slice", "extract", "reshape"})
"""Operators whose result is as large as their operand, but for a factor or a number that is added."""
_SAME = frozenset({"move", "reshape", "cast", "fillpad", "fillpad_inplace", "set_validshape"})
_DIVISIONS = {"row_expand_div": "row_sum", "col_expand_div": "col_sum"}
_PRODUCTS = {"row_expand_mul": "row_sum", "col_expand_mul": "col_sum"}


def report_softmax(program: Program, sink: Sink) -> None:
    """Report every softmax that overflows for large values, in a program as it was read."""
    for region in regions(program.body):
        made = {result: op for op in ops(region.body) for result in op.results}
        told: set[Value] = set()
        for division, exponent, total in _softmaxes(region, made):
            if exponent.result not in told and _unlimited(exponent.operands["x"], made):
                told.add(exponent.result)
                _report(division, exponent, total, region, sink)


def _softmaxes(region: Region, made: dict[Value, Op]) -> Iterator[tuple[Op, Op, Op]]:
    """The division, the exponential and the sum of every softmax of a region."""
    for op in ops(region.body):
        if op.name not in _DIVISIONS and op.name not in _PRODUCTS:
            continue
        total = _source(op.operands["v"], made, _SAME)
        if op.name in _PRODUCTS:
            if total is None or total.name != "recip":
                continue
            total = _source(total.operands["x"], made, _SAME)
        exponent = _source(op.operands["x"], made, _SAME)
        wanted = _DIVISIONS.get(op.name) or _PRODUCTS[op.name]
        if total is None or total.name != wanted or exponent is None or exponent.name != "exp":
            continue
        summed = _source(total.operands["x"], made, _SAME)
        if summed is not None and summed.name == "exp" and summed.operands["x"] is exponent.operands["x"]:
            yield op, exponent, total


def _source(value: Value, made: dict[Value, Op], through: frozenset[str]) -> Op | None:
    """The operator that computed a value, behind those of `through`."""
    op = made.get(value)
    while op is not None and op.name in through:
        op = made.get(next(iter(op.operands.values())))
    return op


def _unlimited(value: Value, made: dict[Value, Op]) -> bool:
    """Whether a value is as large as what a tensor holds."""
    while (op := made.get(value)) is not None:
        if op.name not in _UNLIMITED and op.name != "load":
            return False
        value = op.operands["from" if "from" in op.operands else "x"]
    return isinstance(value.type, TensorType) and value.type.dtype.bytes > 1


def _report(division: Op, exponent: Op, total: Op, region: Region, sink: Sink) -> None:
    dtype = exponent.result.type.dtype
    axis = total.name.partition("_")[0]
    name = exponent.operands["x"].name.partition(".")[0]
    limit = log(largest(dtype))
    sink.report(
        EXP_OVERFLOW,
        exponent.loc.span,
        f"`exp` in {dtype} is inf above {limit:.2f}, and its sum with it: inf / inf is NaN",
        label="of values with no upper limit",
        secondary=[] if division.loc.span == exponent.loc.span else [Label(division.loc.span, "divided by the sum")],
        notes=["a softmax does not change when one number is taken off all values of its row or column"],
        helps=[f"take off the largest first: `exp({name} - {axis}_max({name}))`"],
        allow=exponent.allow | division.allow | region.allow,
        fixes=list(_shifted(exponent, name, axis)),
    )


def _shifted(exponent: Op, name: str, axis: str) -> Iterator[Fix]:
    """The argument of `exp` without its largest, where it is a name in a formula."""
    span = exponent.loc.field("x")
    start, end = span.offsets
    text = span.source.text
    if text[start:end] == name and text[:start].rstrip()[-4:] == "exp(":
        yield Fix(span, f"{name} - {axis}_max({name})")

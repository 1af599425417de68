"""Tensor-level statements that belong together, and what their arrays look like.

A component is a set of consecutive tensor-level ops connected by the arrays and tensors they share. All its arrays have
the same rows or one row, and the same leading dimensions or none, so that one loop over rows serves them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pypto_spec.ir.expr import bounds, sub
from pypto_spec.ir.nodes import Op, Stmt, Value
from pypto_spec.ir.types import ArrayType, TensorType, TileType
from pypto_spec.records import dataclass

Axis = Literal["rows", "cols"]
AXES: tuple[Axis, Axis] = ("rows", "cols")


def is_store(op: Op) -> bool:
    """Whether the op writes a tensor."""
    return op.defn.effects == "writes_gm"


def is_array_op(stmt: Stmt) -> bool:
    """Whether a statement works on whole arrays."""
    if not isinstance(stmt, Op):
        return False
    if any(isinstance(v.type, TileType) for v in (*stmt.operands.values(), *stmt.results)):
        return False
    if is_store(stmt):
        return isinstance(stmt.operands["from"].type, ArrayType | TensorType)
    return bool(stmt.results) and isinstance(stmt.results[0].type, ArrayType)


def dims(value: Value) -> tuple[int, ...]:
    """Shape of an array or tensor; all extents are compile-time numbers where arrays are concerned."""
    kind = value.type
    assert isinstance(kind, ArrayType | TensorType)
    return tuple(extent if isinstance(extent, int) else -1 for extent in kind.shape)


def extent(value: Value, axis: Axis) -> int:
    """Rows or columns of an array."""
    shape = dims(value)
    if axis == "cols":
        return shape[-1]
    return shape[-2] if len(shape) > 1 else 1


def sources(op: Op) -> list[Value]:
    """Arrays and tensors an op reads."""
    target = op.operands.get("to") if is_store(op) else None
    return [v for v in op.operands.values() if v is not target and isinstance(v.type, ArrayType | TensorType)]


def is_window(op: Op) -> bool:
    """Whether the op is a slice of a tensor: a load of a part of it."""
    return op.name == "slice" and isinstance(op.operands["x"].type, TensorType)


def is_copy(op: Op) -> bool:
    """Whether the op only gives an array another name."""
    return op.name == "reshape" and dims(op.operands["x"]) == dims(op.result)


@dataclass(frozen=True, slots=True)
class Component:
    """Ops in program order; `rows` and `cols` are the extents of its full arrays, `batch` the leading dimensions.

    Without `cols` arrays have rows of several lengths, and are divided by rows alone.
    """

    ops: tuple[Op, ...]
    rows: int
    cols: int | None
    batch: tuple[int, ...]

    def extent(self, axis: Axis) -> int:
        """Full extent along an axis; for columns only where there is one."""
        if axis == "rows":
            return self.rows
        assert self.cols is not None
        return self.cols

    def varies(self, value: Value, axis: Axis) -> bool:
        """Whether an array has more than one element along the axis."""
        return extent(value, axis) > 1

    def reads(self, tensor: Value) -> bool:
        """Whether some op reads the array or tensor itself, which means what it held before the component."""
        return any(tensor is v for op in self.ops for v in sources(op))

    def has(self, role: str) -> bool:
        """Whether some op reduces or spreads that way."""
        return any(op.defn.role == role for op in self.ops)


def forwarded(run: Sequence[Op]) -> list[Op]:
    """The run with reads of a tensor it has stored replaced by what was stored, and overwritten stores dropped."""
    stored: dict[Value, Value] = {}
    latest: dict[Value, Op] = {}
    made: list[Op] = []
    for op in run:
        operands = {
            f: stored.get(v, v) if not (is_store(op) and f == "to") and not is_window(op) else v
            for f, v in op.operands.items()
        }
        if any(operands[f] is not v for f, v in op.operands.items()):
            op = replace(op, operands=operands)
        if is_window(op):
            latest.pop(op.operands["x"], None)  # it reads what was stored
        if is_store(op) and whole_store(op):
            target = op.operands["to"]
            if target in latest:
                made.remove(latest[target])
            stored[target] = op.operands["from"]
            latest[target] = op
        elif is_store(op):
            stored.pop(op.operands["to"], None)  # it holds something else now
            latest.pop(op.operands["to"], None)
        made.append(op)
    return made


def whole_store(op: Op) -> bool:
    """Whether a store replaces its whole tensor."""
    return reaches_all(op) and not is_atomic(op)


def reaches_all(op: Op) -> bool:
    """Whether a store reaches its whole tensor."""
    at = op.attrs.get("at")
    zero = at is None or (isinstance(at, tuple) and all(a == 0 for a in at))
    return zero and dims(op.operands["from"]) == dims(op.operands["to"])


def is_atomic(op: Op) -> bool:
    """Whether a store adds to what is there."""
    return op.attrs.get("atomic") not in (None, "none")


def split(run: Sequence[Op]) -> list[list[Op]]:
    """The connected parts of a run, in program order of their first op."""
    home: dict[Value, int] = {}
    parent: list[int] = list(range(len(run)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    for number, op in enumerate(run):
        for value in (*op.operands.values(), *op.results):
            if isinstance(value.type, ArrayType | TensorType):
                first = home.setdefault(value, number)
                a, b = sorted((root(first), root(number)))
                parent[b] = a
    groups: dict[int, list[Op]] = {}
    for number, op in enumerate(run):
        groups.setdefault(root(number), []).append(op)
    return [groups[n] for n in sorted(groups)]


def _used_again(store: Op, ops: Sequence[Op]) -> bool:
    """Whether other ops use the tensor that one stores to, unless they store to parts that lie apart from its own."""
    target = store.operands["to"]
    others = [op for op in ops if op is not store and any(value is target for value in op.operands.values())]
    return not all(is_store(op) and not is_atomic(op) and _apart(store, op) for op in others)


def _apart(one: Op, other: Op) -> bool:
    """Whether two stores certainly write no element both."""
    if target_of(one) is not target_of(other) or any(v is target_of(one) for op in (one, other) for v in sources(op)):
        return False
    windows = [(op.attrs["at"], dims(op.operands["from"])) for op in (one, other)]
    (first, size), (second, more) = windows
    assert isinstance(first, tuple) and isinstance(second, tuple)
    for a, n, b, m in zip(first, size, second, more, strict=True):
        low, high = bounds(sub(b, a))
        if (low is not None and low >= n) or (high is not None and high <= -m):
            return True
    return False


def target_of(store: Op) -> Value:
    """The tensor that a store writes."""
    return store.operands["to"]


def _seen_through(op: Op) -> Value | None:
    """The tensor of which an op reads or writes a part: its extents are not those of the arrays."""
    if is_window(op):
        return op.operands["x"]
    return target_of(op) if is_store(op) and not reaches_all(op) else None


def describe(ops: Sequence[Op]) -> Component | str:
    """The component, or in words why one loop over rows cannot serve these ops."""
    values = list(dict.fromkeys(v for op in ops for v in (*op.operands.values(), *op.results)))
    arrays = [
        v for v in values if isinstance(v.type, ArrayType | TensorType) and not any(v is _seen_through(o) for o in ops)
    ]
    if any(-1 in dims(v) for v in arrays):
        return "a tensor's size is known at run time only"
    for op in ops:
        if (op.name == "reshape" and not is_copy(op)) or (op.name == "slice" and not is_window(op)):
            return f"`{op.name}` of an array moves elements between rows"
        if is_window(op) and any(is_store(other) and other.operands["to"] is op.operands["x"] for other in ops):
            return f"a part of `{op.operands['x'].name}` is read, and the whole of it written"
        if is_store(op) and not whole_store(op) and _used_again(op, ops):
            what = "added to" if is_atomic(op) else "written in part"
            return f"`{op.operands['to'].name}` is {what}, and read or written by another statement here"
    batches = {b for v in arrays if (b := dims(v)[:-2]) and any(n > 1 for n in b)}
    rows = {n for v in arrays if (n := extent(v, "rows")) > 1}
    cols = {n for v in arrays if (n := extent(v, "cols")) > 1}
    if len(batches) > 1:
        return f"arrays have different leading dimensions {' and '.join(map(str, sorted(batches)))}"
    if len(rows) > 1:
        return f"arrays have different numbers of rows: {', '.join(map(str, sorted(rows)))}"
    if batches and any(is_store(op) and dims(op.operands["from"])[:-2] not in batches for op in ops):
        return "a tensor without the leading dimensions of the others is written"
    if batches and any(op.defn.role in ("col_reduce", "col_expand") for op in ops):
        return "column operations on more than two dimensions"
    width = cols.pop() if len(cols) == 1 else (1 if not cols else None)
    return Component(tuple(ops), rows.pop() if rows else 1, width, batches.pop() if batches else ())

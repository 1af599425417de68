"""Stacks of matrices, of which FlattenTileNdTo2D makes products of two dimensions, matrix by matrix.

`batch_matmul`, the `load`s and `transpose_view`s it takes its operands from and a `move` back into `mat` only say what
a matrix of the stack is; a `store` of a stack stores matrix by matrix, and each is made where it is stored. A load
stays whole, and matrices are windows of it, where all loads of the product fit `mat` together and each matrix starts on
whole fractals; else each matrix is loaded by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.shapes import CANNOT_FLATTEN
from pypto_spec.ir.expr import Index, add
from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Attr, Op, Region, Stmt, Value
from pypto_spec.ir.rewrite import ops, statements
from pypto_spec.ir.types import Layout, Memory, TensorType, TileType
from pypto_spec.ops.cube.copies import steps_of_window
from pypto_spec.ops.window import place_window
from pypto_spec.passes.making import make
from pypto_spec.passes.memory.uses import entering, leaving
from pypto_spec.targets.model import Target

MOST = 64
"""Products of one `batch_matmul`; each is written out."""

Place = tuple[int, ...]
"""Which matrix of a stack."""


class Stacks:
    """The stacks of a region: what makes them, and which loads of them stay whole."""

    def __init__(self, region: Region, target: Target) -> None:
        self.target = target
        self.makers: dict[Value, Op] = {v: op for op in ops(region.body) for v in op.results}
        self.written = {op.operands["to"] for op in ops(region.body) if op.defn.effects == "writes_gm"}
        self.names = Names.of(region)
        self.made: dict[Value, Op] = {}  # what is written matrix by matrix
        self.whole: set[Value] = set()  # loads that stay
        products = [op for op in ops(region.body) if op.name == "batch_matmul"]
        for op in products:
            self._take(op)
        if products:
            self._check_readers(region)

    # -- which there are ------------------------------------------------------------------------------------------

    def _take(self, op: Op) -> None:
        count = prod(_shape(op.result)[:-2])
        if count > MOST:
            raise _refused(
                op, None, f"`batch_matmul` of {count} pairs of matrices, each of which is written out",
                f"at most {MOST} here", "do it in a `for` loop over the matrices, with `matmul`",
            )  # fmt: skip
        self.made[op.result] = op
        loads = [load for field in ("lhs", "rhs") for load in self._loads(op, field)]
        self._decide(op, loads)

    def _loads(self, op: Op, field: str) -> Iterator[Op]:
        """The loads of an operand of more than two dimensions."""
        value = op.operands[field]
        if len(_shape(value)) == 2:
            return
        maker = self.makers.get(value)
        while maker is not None and maker.name == "transpose_view":
            self.made[maker.result] = maker
            maker = self.makers.get(maker.operands["x"])
        if maker is not None and maker.name == "load":
            yield maker
        elif maker is not None and maker.name == "move" and maker.operands["from"] in self.made:
            self.made[maker.result] = maker
        elif maker is None or maker.result not in self.made:
            name = split(value.name)[0]
            raise _refused(
                op, field, f"`batch_matmul` takes its matrices from a `load`, which `{name}` is not",
                "no load, nor a product that was moved to `mat`", f"load `{name}`, or multiply its matrices in a loop",
            )  # fmt: skip

    def _decide(self, op: Op, loads: Sequence[Op]) -> None:
        room = self.target.capacity[Memory.MAT]
        kinds = {load.result: _flat(load.result.type) for load in loads}
        fits = sum(replace(kind, memory=Memory.MAT).bytes for kind in kinds.values()) <= room
        for load in loads:
            shape = _shape(load.result)
            unit = steps_of_window(replace(kinds[load.result], memory=Memory.MAT, layout=Layout.NZ))[0]
            even = prod(shape[:-2]) == 1 or shape[-2] % unit == 0
            if load.result in self.whole or (fits and even and kinds[load.result].valid is None):
                self.whole.add(load.result)
                self.made.pop(load.result, None)
                continue
            self._check_again(op, load, fits, unit)
            self.made[load.result] = load

    def _check_again(self, op: Op, load: Op, fits: bool, unit: int) -> None:
        """Refuse to load matrices one by one where that could give something else."""
        name = split(load.result.name)[0]
        why = f"its matrices do not start at multiples of {unit} rows" if fits else "it does not fit `mat`"
        help_ = f"use `{name}` for products only, or multiply its matrices in a `for` loop, with `matmul`"
        if load.operands["from"] in self.written:
            tensor = load.operands["from"].name
            raise _refused(
                op, None, f"`{name}` is loaded matrix by matrix ({why}), and `{tensor}` is written in this region",
                "loaded here", help_, load,
            )  # fmt: skip
        if load.result.buffer is not None:
            raise _refused(
                op, None, f"`{name}` is loaded matrix by matrix ({why}), so it has no one buffer", "loaded here",
                "leave its `buffer` out", load,
            )  # fmt: skip

    def _check_readers(self, region: Region) -> None:
        """Refuse readers of a stack that take it as one tile."""
        for stmt in statements(region.body):
            for value in (*entering(stmt), *leaving(stmt)):
                if value not in self.made or (isinstance(stmt, Op) and _reads_matrices(stmt, value, self.made)):
                    continue
                maker, name = self.made[value], split(value.name)[0]
                what = stmt.name if isinstance(stmt, Op) else "a loop or `if`"
                raise _refused(
                    maker, None, f"`{name}` is made matrix by matrix, and {what} takes it as one tile",
                    "made here", f"store `{name}`, or multiply its matrices in a `for` loop, with `matmul`",
                    stmt,
                )  # fmt: skip

    # -- matrix by matrix -----------------------------------------------------------------------------------------

    def stores(self, op: Op, flat: Mapping[Value, Value]) -> Iterator[Stmt]:
        """A store of a stack, matrix by matrix."""
        value = op.operands["from"]
        shape, at = _shape(value), op.attrs["at"]
        assert isinstance(at, tuple)
        window = op.attrs.get("shape", place_window(shape, len(at)))
        if not isinstance(window, tuple) or window != place_window(shape, len(at)):
            raise _refused(
                op, "shape", "a product of stacks is stored as it is, matrix by matrix", "other axes",
                "leave `shape` out: the stack stands behind axes of extent 1",
            )  # fmt: skip
        lead = len(at) - len(shape)
        for place in product(*map(range, shape[:-2])):
            writer = _Writer(self, flat)
            matrix = writer.matrix(value, place)
            yield from writer.made
            where = tuple(add(a, p) for a, p in zip(at, (*(0,) * lead, *place, 0, 0), strict=True))
            attrs = {**op.attrs, "at": where, "shape": (*(1,) * (len(at) - 2), *shape[-2:])}
            yield replace(op, operands={**op.operands, "from": matrix}, attrs=attrs)


class _Writer:
    """Writes the statements that one matrix takes."""

    def __init__(self, stacks: Stacks, flat: Mapping[Value, Value]) -> None:
        self.stacks = stacks
        self.flat = flat
        self.made: list[Op] = []

    def matrix(self, value: Value, place: Place, *, turned: bool = False) -> Value:
        """Matrix `place` of a stack; axes that the stack has not, or has once, are the same for all."""
        shape = _shape(value)
        batch = shape[:-2]
        if not batch:
            return self.flat.get(value, value)
        here = tuple(0 if n == 1 else p for n, p in zip(batch, place[len(place) - len(batch) :], strict=True))
        op = self.stacks.made.get(value)
        if op is None:
            return self._window(value, shape, here)
        if op.name == "load":
            return self._load(op, shape, here, turned)
        if op.name == "transpose_view":
            return self._add(op, {"x": self.matrix(op.operands["x"], here, turned=not turned)}, {})
        if op.name == "move":
            return self._add(op, {"from": self.matrix(op.operands["from"], here)}, op.attrs)
        sides = {side: self.matrix(op.operands[side], here) for side in ("lhs", "rhs")}
        return self._add(op, sides, op.attrs, "matmul")

    def _add(self, op: Op, operands: Mapping[str, Value], attrs: Mapping[str, Attr], name: str = "") -> Value:
        into = self.stacks.names.fresh(split(op.result.name)[0])
        made = make(name or op.name, operands, attrs, op.loc, into=into, allow=op.allow)
        self.made.append(made)
        return made.result

    def _window(self, value: Value, shape: tuple[int, ...], place: Place) -> Value:
        flat = self.flat.get(value, value)
        if prod(shape[:-2]) == 1:
            return flat
        row = 0
        for extent, index in zip(shape[:-2], place, strict=True):
            row = row * extent + index
        attrs: dict[str, Attr] = {"at": (row * shape[-2], 0), "shape": shape[-2:]}
        return self._add(self.stacks.makers[value], {"x": flat}, attrs, "slice")

    def _load(self, op: Op, shape: tuple[int, ...], place: Place, turned: bool) -> Value:
        at, valid = op.attrs["at"], op.attrs.get("valid")
        assert isinstance(at, tuple)
        attrs = dict(op.attrs)
        attrs["at"] = tuple(add(a, p) for a, p in zip(at, (*place, 0, 0), strict=True))
        attrs["shape"] = (*(1,) * len(place), *shape[-2:])
        if isinstance(valid, tuple):
            attrs["valid"] = (*(1,) * len(place), *valid[-2:])
        if turned and shape[-2] == 1:
            attrs |= {"memory": Memory.MAT, "layout": Layout.NZ.value}
        into = self.stacks.names.fresh(split(op.result.name)[0])
        made = make("load", op.operands, attrs, op.loc, into=into, allow=op.allow)
        made = replace(made, results=(Value(into, _flat(made.result.type)),))
        self.made.append(made)
        return made.result


def _reads_matrices(op: Op, value: Value, made: Mapping[Value, Op]) -> bool:
    if op.name == "store":
        return op.operands["from"] is value and isinstance(op.operands["to"].type, TensorType)
    return bool(op.results) and op.result in made


def _shape(value: Value) -> tuple[int, ...]:
    kind = value.type
    assert isinstance(kind, TileType)
    return kind.shape


def _flat(kind: object) -> TileType:
    """One matrix, or a stack as one tile of two dimensions."""
    assert isinstance(kind, TileType)
    valid: tuple[Index, ...] | None = kind.valid
    if valid is not None:
        valid = (valid[-2], valid[-1])
    return replace(kind, shape=(prod(kind.shape[:-1]), kind.shape[-1]), valid=valid)


def _refused(
    op: Op, field: str | None, message: str, label: str, help_: str, other: Stmt | None = None
) -> CompileError:
    span = op.loc.field(field) if field else op.loc.span
    secondary = [] if other is None else [Label(other.loc.span, "here")]
    return CompileError([diagnose(CANNOT_FLATTEN, span, message, label=label, secondary=secondary, helps=[help_])])

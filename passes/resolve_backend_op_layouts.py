"""ResolveBackendOpLayouts: operands get the form that the instructions take, so that recipes see dense rows.

It decides how a dense column vector [N, 1] is computed with (as the row [1, N] it is in memory: elementwise operators
work on that row, a row reduction of it is nothing, a column reduction is the row reduction of the row, a row expand is
the elementwise operator, a loop that computes it carries the row) and copies a window with a pitch into a dense tile
before anything but a copy or view uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Attr, Carry, For, If, Op, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import REDUCED_AXIS, OpDef
from pypto_spec.ir.rewrite import Rewriter, ops, used_values, with_parts
from pypto_spec.ir.types import Layout, TileType
from pypto_spec.ir.verifier import FREE_ROLES, is_pitched
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.making import make

_ON_ROWS = {
    **{name: name for name in ("add", "sub", "mul", "div")},
    **{"max": "maximum", "min": "minimum", "rsub": "sub", "rdiv": "div", "expdif": "col_expand_expdif"},
}
"""What a `row_expand_*` of a column by a column is on their rows; tile fields are in the order of the formula."""


def is_column(value: Value) -> bool:
    """Whether a value is a dense column vector, [N, 1] with N > 1."""
    return isinstance(value.type, TileType) and value.type.order is Layout.DN


def _tiles(op: Op) -> dict[str, Value]:
    return {f: v for f, v in op.operands.items() if isinstance(v.type, TileType)}


def _needs_work(op: Op) -> bool:
    if op.defn.role in FREE_ROLES:
        return False
    if _is_nothing(op):
        return True
    return bool(_columns(op)) or any(is_pitched(v.type) for v in op.operands.values())


def _columns(op: Op) -> set[str]:
    """The operands that are column vectors where the op needs rows."""
    if op.defn.role == "rearrange":
        return set()
    columns = {f for f, v in op.operands.items() if is_column(v)}
    if columns and op.defn.role in ("row_expand", "col_expand") and ("v" not in op.operands or "x" not in columns):
        return set()
    return columns


def _is_nothing(op: Op) -> bool:
    """Whether an op is a reduction of one element."""
    axis = REDUCED_AXIS.get(op.defn.role)
    if axis is None:
        return False
    kind = op.operands["x"].type
    assert isinstance(kind, TileType)
    return kind.shape[axis] == 1 and op.result.type == kind


class _Uses:
    """What the columns of a region are for."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self.needed: set[Value] = set()  # columns that copies, views, expands, loops or ifs take as columns
        self.computed: set[Value] = set()  # columns that are computed as rows
        self.carried: set[Carry] = set()  # carried columns that every iteration computes as rows
        self.scan(body)

    def scan(self, body: Sequence[Stmt]) -> None:
        for node in body:
            if isinstance(node, Op):
                rows = set() if node.defn.role in FREE_ROLES or _is_nothing(node) else _columns(node)
                self.needed.update(v for f, v in node.operands.items() if f not in rows and is_column(v))
                if rows and node.defn.role != "col_reduce":
                    self.computed.add(node.result)
            elif isinstance(node, For):
                self.scan(node.body)
                for carry in node.carries:
                    if carry.yielded in self.computed:
                        self.carried.add(carry)
                        self.computed.add(carry.result)
                    else:
                        self.needed.update((carry.init, carry.yielded))
            elif isinstance(node, If):
                self.scan(node.then)
                self.scan(node.other)
                self.needed.update(v for p in node.phis for v in (p.then, p.other))


class _Resolver(Rewriter):
    def __init__(self, region: Region) -> None:
        super().__init__()
        self.names = Names.of(region)
        self.uses = _Uses(region.body)
        self.rows: dict[Value, Value] = {}
        self.dense: dict[Value, Value] = {}
        self.views: set[Value] = set()
        self.made: list[Op] = []

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        rows, dense = dict(self.rows), dict(self.dense)
        made = super().block(body)
        self.rows, self.dense = rows, dense
        return made

    def loop(self, loop: For) -> Sequence[Stmt]:
        """A loop; columns that it computes as rows are carried as rows, so that they can stay in place."""
        if not any(c in self.uses.carried for c in loop.carries):
            return super().loop(loop)
        inits = [self.use(c.init) for c in loop.carries]
        before: list[Op] = []
        self.made = before
        inits = [self.row(loop, v) if c in self.uses.carried else v for c, v in zip(loop.carries, inits, strict=True)]
        rows, dense = dict(self.rows), dict(self.dense)
        first: list[Op] = []
        self.made = first
        args = [self.carried_row(loop, c, c.arg) for c in loop.carries]
        body = (*first, *super().block(loop.body))
        yields = [self.rows[c.yielded] if c in self.uses.carried else self.use(c.yielded) for c in loop.carries]
        self.rows, self.dense = rows, dense
        after: list[Op] = []
        self.made = after
        results = [self.carried_row(loop, c, c.result) for c in loop.carries]
        carries = tuple(map(Carry, args, inits, yields, results))
        return (*before, replace(loop, body=body, carries=carries), *after)

    def carried_row(self, loop: For, carry: Carry, value: Value) -> Value:
        """A carried argument or result as a row, and as a column behind that where one is needed."""
        if carry not in self.uses.carried:
            return self.use(value)
        row = self.rows[value] = Value(self.names.fresh(_row_name(value)), _turned(value), value.buffer)
        if value in self.uses.needed:
            self.reshape(loop, row, value)
        return row

    def op(self, op: Op) -> Sequence[Stmt]:
        if not _needs_work(op):
            return (op,)
        self.made = []
        role = op.defn.role
        op = self.without_pitch(op)
        if _is_nothing(op):
            return (*self.made, *self.nothing(op))
        columns = _columns(op)
        if not columns:
            return (*self.made, op)
        if role == "elementwise":
            return self.on_rows(op, op.defn)
        if role == "col_reduce":
            row = self.row(op, op.operands["x"])
            op = replace(op, defn=OPS[op.name.replace("col_", "row_", 1)], operands={"x": row})
            return (*self.made, op)
        if "v" in columns:
            return self.on_rows(op, OPS[_ON_ROWS[op.name.removeprefix("row_expand_")]])
        return self.on_rows(op, OPS[op.name.replace("col_", "row_", 1)])

    def nothing(self, op: Op) -> Sequence[Stmt]:
        """A reduction of single elements: its operand, copied only where the author placed the result."""
        x, result = op.operands["x"], op.result
        if result.buffer is None:
            self.bind(result, x)
            return ()
        return (make("move", {"from": x}, _in_memory(x), op.loc, into=result, allow=op.allow),)

    def without_pitch(self, op: Op) -> Op:
        """The op on dense copies of operands whose rows lie apart."""
        operands = dict(op.operands)
        for field, value in _tiles(op).items():
            if is_pitched(value.type):
                if value not in self.dense:
                    name = self.names.fresh(f"{split(value.name)[0]}_dense")
                    copy = make("move", {"from": value}, _in_memory(value), op.loc, into=name, like=value)
                    self.dense[value] = copy.result
                    self.made.append(copy)
                operands[field] = self.dense[value]
        return op if operands == op.operands else with_parts(op, operands=operands)

    def row(self, node: Op | For, value: Value) -> Value:
        """A column vector as the row it is in memory; any other value as it is."""
        if not is_column(value):
            return value
        found = self.rows.get(value)
        if found is None:
            found = self.rows[value] = Value(self.names.fresh(_row_name(value)), _turned(value), value.buffer)
            self.reshape(node, value, found)
        return found

    def reshape(self, node: Op | For, x: Value, into: Value) -> None:
        """See `x` in the shape of `into`."""
        assert isinstance(into.type, TileType)
        self.views.add(into)
        self.made.append(
            Op(defn=OPS["reshape"], operands={"x": x}, attrs={"shape": into.type.shape}, results=(into,), loc=node.loc)
        )

    def on_rows(self, op: Op, defn: OpDef) -> Sequence[Stmt]:
        """The op on rows instead of columns, by `defn`, and its result as a column where one is needed."""
        result = op.result
        fields = [f.name for f in defn.fields if f.kind == "tile"]
        tiles = [self.row(op, v) for v in op.operands.values() if isinstance(v.type, TileType)]
        operands = dict(zip(fields, tiles, strict=True))
        operands.update((f, v) for f, v in op.operands.items() if not isinstance(v.type, TileType))
        row = self.rows[result] = Value(self.names.fresh(_row_name(result)), _turned(result), result.buffer)
        self.made.append(Op(defn=defn, operands=operands, attrs=op.attrs, results=(row,), loc=op.loc, allow=op.allow))
        if result in self.uses.needed:
            self.reshape(op, row, result)
        return self.made


def _turned(value: Value) -> TileType:
    """The type of a column vector as a row."""
    kind = value.type
    assert isinstance(kind, TileType)
    valid = None if kind.valid is None else (kind.valid[1], kind.valid[0])
    return TileType(kind.dtype, (kind.cols, kind.rows), kind.memory, valid=valid)


def _row_name(value: Value) -> str:
    base = split(value.name)[0]
    return base if base.endswith("_row") else f"{base}_row"


def _in_memory(value: Value) -> Mapping[str, Attr]:
    assert isinstance(value.type, TileType)
    return {} if value.type.memory is None else {"memory": value.type.memory}


class _Unused(Rewriter):
    """Removes views that this pass made and nothing uses."""

    def __init__(self, views: set[Value]) -> None:
        super().__init__()
        self.views = views

    def op(self, op: Op) -> Sequence[Stmt]:
        return () if op.results and op.results[0] in self.views else (op,)


def _resolve(region: Region) -> Region:
    if not any(_needs_work(op) for op in ops(region.body)):
        return region
    resolver = _Resolver(region)
    body = resolver.block(region.body)
    while unused := resolver.views - used_values(body):
        body = _Unused(unused).block(body)
        resolver.views -= unused
    return replace(region, body=body)


class _Regions(Rewriter):
    def region(self, region: Region) -> Region:
        return _resolve(region)


def run(program: Program, context: Context) -> Program:
    """Resolve the layouts of every region."""
    return _Regions().program(program)


RESOLVE_BACKEND_OP_LAYOUTS = Pass(
    name="ResolveBackendOpLayouts",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.TILE_OPS_2D, Property.TILE_MEMORY_INFERRED}),
    produces=frozenset({Property.LAYOUTS_RESOLVED}),
    doc=__doc__,
)

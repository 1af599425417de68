"""A product of whole arrays with all that the cube does along the way, read off the statements of a region.

`store(cast(relu(matmul(a, b) + bias)))` is one thing to the cube: operands come from windows of tensors (or are the
result of another product, which stays on chip), the bias starts the accumulator, and relu and rounding happen as it
leaves. What is not of that form needs the vector core, and is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Op, Stmt, Value
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import ArrayType, TensorType
from pypto_spec.ops.cube.fixpipe import PLAIN
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.records import dataclass

ON_THE_WAY = frozenset({"relu", "cast", "add", "col_expand_add", "row_expand_add"})
"""What may be done to a product as it leaves the accumulators, or as it begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A window of a tensor, of as many dimensions as the tensor has; the last two are the matrix."""

    tensor: Value
    at: tuple[Index, ...]
    shape: tuple[int, ...]

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading extents."""
        return self.shape[:-2]

    @property
    def matrix(self) -> tuple[int, int]:
        """Rows and columns of one matrix."""
        return self.shape[-2], self.shape[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """One product: operands, what happens to it, and the statements it stands for (the last one places it).

    `out` is the store that takes it to GM; without one it is an operand of the next product, rounded to `dtype`.
    """

    op: Op
    lhs: Window | Product
    rhs: Window | Product
    bias: Window | None
    relu: bool
    dtype: DType
    out: Op | None
    stands_for: tuple[Op, ...]

    @property
    def turned(self) -> tuple[bool, bool]:
        """Whether the operands are stored transposed."""
        return self.op.attrs.get("a_trans") is True, self.op.attrs.get("b_trans") is True

    @property
    def result(self) -> tuple[int, ...]:
        """The shape of the result."""
        kind = self.op.result.type
        assert isinstance(kind, ArrayType)
        return kind.shape

    @property
    def extents(self) -> tuple[int, int, int]:
        """(M, N, K) of one matrix."""
        m, n = self.result[-2:]
        rows, cols = self.lhs.matrix if isinstance(self.lhs, Window) else self.lhs.result[-2:]
        return m, n, rows if self.turned[0] else cols

    @property
    def operand_dtype(self) -> DType:
        """The dtype of both operands."""
        return self.op.operands["lhs"].type.dtype

    def name(self, side: str) -> str:
        """The user's name for an operand."""
        found = self.lhs if side == "lhs" else self.rhs
        return found.tensor.name if isinstance(found, Window) else self.op.operands[side].name.split(".")[0]


def is_product(stmt: Stmt) -> bool:
    """Whether a statement multiplies whole arrays."""
    return isinstance(stmt, Op) and stmt.name == "matmul" and isinstance(stmt.result.type, ArrayType)


class Reader:
    """Reads the products of one region's outermost statements."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self.users: dict[Value, list[Op]] = {}
        for stmt in statements(body):
            if isinstance(stmt, Op):
                for value in stmt.operands.values():
                    self.users.setdefault(value, []).append(stmt)
        self.made: Mapping[Value, Op] = {
            r: s for s in body if isinstance(s, Op) for r in s.results if isinstance(r.type, ArrayType)
        }
        self.known: dict[Value, Product | None] = {}

    def products(self, body: Sequence[Stmt]) -> Iterator[Product]:
        """The products whose result is stored, each with those it takes as operands."""
        for stmt in body:
            if isinstance(stmt, Op) and is_product(stmt):
                found = self.read(stmt)
                if found is not None and found.out is not None:
                    yield found

    def read(self, op: Op) -> Product | None:
        """The product a statement is part of; None where the vector core is needed."""
        if op.result not in self.known:
            self.known[op.result] = self._read(op)
        return self.known[op.result]

    def _read(self, op: Op) -> Product | None:
        lhs, rhs = self._operand(op.operands["lhs"]), self._operand(op.operands["rhs"])
        if lhs is None or rhs is None:
            return None
        last, bias, relu, chain = op.result, None, False, [op]
        acc = ACCUMULATOR[op.operands["lhs"].type.dtype]
        dtype = op.result.type.dtype
        wide = False  # a rounded result seen in the accumulator's dtype again, as `let` computes with bf16
        while (user := self._only_user(last)) is not None:
            to = user.result.type.dtype if user.name == "cast" and _rounds(user) else None
            if to is not None and dtype is not acc and to is (dtype if wide else acc):
                wide = not wide
            elif wide and user.name != "relu":
                return None
            elif user.name == "store":
                out = Product(op, lhs, rhs, bias, relu, dtype, user, (*chain, user))
                return out if self._leaves(acc, dtype) else None
            elif is_product(user):
                break
            elif (row := _added_row(user, last)) is not None and bias is None and not relu:
                bias = self._window(row)
                if dtype is not acc or bias is None:
                    return None
            elif user.name == "relu":
                relu = True
            elif to is not None and dtype is acc and (acc, to) in PLAIN:
                dtype = to
            else:
                return None
            chain.append(user)
            last = user.result
        return None if wide else Product(op, lhs, rhs, bias, relu, dtype, None, tuple(chain))

    def _leaves(self, acc: DType, dtype: DType) -> bool:
        return (acc, dtype) in PLAIN

    def _only_user(self, value: Value) -> Op | None:
        users = self.users.get(value, [])
        return users[0] if len(users) == 1 else None

    def _operand(self, value: Value) -> Window | Product | None:
        window = self._window(value)
        if window is not None:
            return window
        found = self._behind(value)
        return found if found is not None and found.stands_for[-1].result is value else None

    def _behind(self, value: Value) -> Product | None:
        """The product that a value comes from, by way of what may be done to one."""
        op = self.made.get(value)
        if op is None:
            return None
        if is_product(op):
            return self.read(op)
        if op.name not in ON_THE_WAY:
            return None
        behind = (self._behind(v) for v in op.operands.values())
        return next((product for product in behind if product is not None), None)

    def _window(self, value: Value) -> Window | None:
        if isinstance(value.type, TensorType):
            shape = tuple(n for n in value.type.shape if isinstance(n, int))
            return Window(value, (0,) * len(shape), shape) if len(shape) == len(value.type.shape) else None
        op = self.made.get(value)
        if op is None or op.name != "slice" or not isinstance(op.operands["x"].type, TensorType):
            return None
        at, kind = op.attrs["at"], op.result.type
        assert isinstance(at, tuple) and isinstance(kind, ArrayType)
        return Window(op.operands["x"], at, kind.shape)


def _shape(value: Value) -> tuple[Index, ...]:
    kind = value.type
    return kind.shape if isinstance(kind, ArrayType | TensorType) else ()


def _added_row(op: Op, value: Value) -> Value | None:
    """The row that an op adds to each row of a value; of a value that is one row itself, what it adds."""
    kind = value.type
    if op.name == "col_expand_add" and op.operands["x"] is value:
        return op.operands["v"]
    if op.name == "row_expand_add" and op.operands["x"] is value and set(_shape(op.operands["v"])) == {1}:
        return op.operands["v"]  # of one column
    if op.name == "add" and isinstance(kind, ArrayType) and len(kind.shape) == 2 and kind.shape[0] == 1:
        return op.operands["rhs" if op.operands["lhs"] is value else "lhs"]
    return None


def _rounds(cast: Op) -> bool:
    """Whether a cast rounds to the nearest, ties to even, as accumulators do on their way out."""
    return cast.attrs.get("mode", "rint") == "rint"

"""Random programs as text: tiles of several dtypes and shapes, loops that carry, branches, views, launches.

Every program is legal by construction: windows lie within their tensors, names keep their type where they are bound
again, blocks write rows of their own. Values are exact (equal to the torch meaning bit for bit) or rough (by way of an
exponential, a logarithm or a floating-point sum); rough values go through few ops and to tensors of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops.cast import cast_chain
from pypto_spec.ops.registry import OPS
from tests.golden.op_cases import exact
from tests.golden.random_flow import Flow, Index, Kind

T = TypeVar("T")

ROWS = (1, 3, 8, 17)
COLS = (1, 8, 20, 64)
STRIDE = 72
"""Rows of a tensor for each block."""
WIDTH = 80
EXACT_DTYPES = ("fp32", "fp16", "int32", "bf16")

STEADY = frozenset({"neg", "abs", "relu", "maximum", "minimum", "maximums", "minimums", "row_max", "row_min", "col_max",
                    "col_min", "row_expand_max", "row_expand_min", "col_expand_max", "col_expand_min", "move",
                    "row_expand", "col_expand"})  # fmt: skip
"""Ops that do not make an error larger."""

COMPUTING = tuple(d for d in OPS.values() if d.family in ("binary", "scalar", "unary", "reduce", "expand"))
"""Ops drawn from; those of other families have fields of their own."""

NUMBERS = {"float": ("2", "-1.5", "0.25", "3", "0"), "int": ("2", "-3", "7", "0", "100000")}


class Program(Flow):
    """One program being drawn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.tensors: dict[str, Kind] = {}
        self.written: set[str] = set()
        self.count = 0
        self.numbers: list[Index] = []
        self.left = draw(st.integers(4, 16))
        self.block: Index | None = None
        self.symbol = False
        self.total_blocks = 1
        self.leaving = False

    # -- choices --------------------------------------------------------------------------------------------------

    def pick(self, items: Iterable[T]) -> T:
        return self.draw(st.sampled_from(list(items)))

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases; shrinks to False."""
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def fresh(self, base: str) -> str:
        """A name that nothing has."""
        self.count += 1
        return f"{base}{self.count}"

    def tensor(self, dtype: str, rough: bool, column: bool, wrote: bool) -> str:
        """A tensor of that sort, perhaps one there is; those that are written are of their own."""
        letter = "o" if wrote else "x"
        name = f"{letter}_{dtype}{'_col' if column else ''}{'_rough' if rough else ''}"
        self.tensors[name] = Kind(dtype, STRIDE, 1 if column else WIDTH, rough)
        if wrote:
            self.written.add(name)
        return name

    # -- windows --------------------------------------------------------------------------------------------------

    def start(self, room: int, indices: tuple[Index, ...], step: int) -> str:
        """An index expression with values from 0 to `room`."""
        terms: list[str] = []
        if indices and self.chance(60):
            index = self.pick(indices)
            most = room // max(1, index.high)
            if most > 0:
                factor = self.draw(st.integers(1, min(most, step)))
                terms.append(index.name if factor == 1 else f"{index.name} * {factor}")
                room -= factor * index.high
        constant = self.draw(st.integers(0, min(room, 9)))
        if constant or not terms:
            terms.append(str(constant))
        return " + ".join(terms)

    def at(self, kind: Kind, tensor: str, indices: tuple[Index, ...]) -> str:
        """A window of a tensor within this block's rows."""
        row = self.start(STRIDE - kind.rows, indices, 17)
        if self.block is not None:
            row = f"{self.block.name} * {STRIDE} + {row}"
        col = self.start(self.tensors[tensor].cols - kind.cols, indices, 8)
        return f"[{row}, {col}]"

    # -- statements -----------------------------------------------------------------------------------------------

    def block_of(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int, size: int) -> list[str]:
        """Statements; `env` is changed as they bind names."""
        body: list[str] = []
        for _ in range(size):
            if self.left <= 0:
                break
            self.left -= 1
            body += self.one(env, indices, depth)
        return body or self.load(env, indices)

    def one(self, env: dict[str, Kind], indices: tuple[Index, ...], depth: int) -> list[str]:
        if not env:
            return self.load(env, indices)
        choice = self.draw(st.integers(0, 99))
        if choice < 40:
            return self.compute(env)
        if choice < 55:
            return self.store(env, indices)
        if choice < 65:
            return self.load(env, indices)
        if choice < 72:
            return self.view(env)
        if choice < 80:
            return self.cast(env)
        if choice < 85:
            return self.formula(env)
        if depth >= 3:
            return self.compute(env)
        return self.flow(env, indices, depth)

    def bind(self, env: dict[str, Kind], kind: Kind) -> str:
        """A new name, or one that holds the same kind of value."""
        same = [n for n, k in env.items() if k == kind]
        name = self.pick(same) if same and self.chance(50) else self.fresh("t")
        env[name] = kind
        return name

    def load(self, env: dict[str, Kind], indices: tuple[Index, ...]) -> list[str]:
        dtype = self.pick(EXACT_DTYPES)
        like = self.pick(env.values()) if env and self.chance(60) else None
        rows, cols = (like.rows, like.cols) if like is not None else (self.pick(ROWS), self.pick(COLS))
        if like is not None:
            dtype = like.dtype if like.dtype in EXACT_DTYPES else dtype
        readable = [t for t in self.written if (self.tensors[t].dtype, self.tensors[t].cols == 1) == (dtype, cols == 1)]
        tensor = self.pick(sorted(readable)) if readable and self.chance(40) else self.tensor(
            dtype, False, cols == 1, False
        )  # fmt: skip
        kind = Kind(dtype, rows, cols, self.tensors[tensor].rough)
        at = self.at(kind, tensor, indices)
        more = ""
        if rows > 1 and cols > 1 and self.chance(12):
            kind = replace(kind, valid=(self.draw(st.integers(1, rows)), self.draw(st.integers(1, cols))))
            more = f", valid: {list(kind.valid or ())}"
            if kind.valid == (rows, cols):
                kind = replace(kind, valid=None)
        name = self.bind(env, kind)
        return [f"- load: {{into: {name}, from: {tensor}, at: {at}, shape: [{rows}, {cols}]{more}}}"]

    def store(self, env: dict[str, Kind], indices: tuple[Index, ...]) -> list[str]:
        usable = [n for n, k in env.items() if k.dtype in EXACT_DTYPES]
        if not usable:
            return self.load(env, indices)
        name = self.pick(usable)
        kind = env[name]
        tensor = self.tensor(kind.dtype, kind.rough, kind.cols == 1, True)
        return [f"- store: {{from: {name}, to: {tensor}, at: {self.at(kind, tensor, indices)}}}"]

    def compute(self, env: dict[str, Kind]) -> list[str]:
        """One op whose operands are at hand; a vector to spread is made if there is none."""
        x = self.pick(env)
        kind = env[x]
        defns = [d for d in COMPUTING if kind.dtype in [t.name for t in d.dtypes]]
        if kind.rough:
            defns = [d for d in defns if d.name in STEADY]
        if not defns:
            return self.cast(env)
        defn: OpDef = self.pick(defns)
        before: list[str] = []
        fields = []
        rough = kind.rough or not exact(defn, DTYPES[kind.dtype])
        valid = kind.valid
        for f in defn.fields:
            if f.kind == "tile" and f.name != defn.dtype_of:
                wanted = replace(kind, valid=None, rough=False)
                if f.name == "v":
                    ones = (kind.rows, 1) if defn.role == "row_expand" else (1, kind.cols)
                    wanted = Kind(kind.dtype, *ones)
                other, made = self.operand(env, wanted, kind.rough)
                before += made
                rough = rough or env[other].rough
                theirs = env[other].valid
                if theirs is not None and f.name != "v":
                    valid = theirs if valid is None else (min(valid[0], theirs[0]), min(valid[1], theirs[1]))
                elif theirs is not None:
                    return self.cast(env)
                fields.append(f"{f.name}: {other}")
            elif f.kind == "tile":
                fields.append(f"{f.name}: {x}")
            elif f.kind == "number":
                fields.append(f"{f.name}: {self.pick(NUMBERS['float' if DTYPES[kind.dtype].is_float else 'int'])}")
        result = Kind(kind.dtype, kind.rows, kind.cols, rough, valid)
        if defn.name in ("row_expand", "col_expand"):
            row = defn.name == "row_expand"
            if (kind.cols if row else kind.rows) != 1 or kind.valid is not None:
                return self.cast(env)
            width = self.pick(COLS if row else ROWS)
            fields.append(f"{'cols' if row else 'rows'}: {width}")
            result = replace(result, cols=width) if row else replace(result, rows=width)
        elif defn.role == "row_reduce":
            result = replace(result, cols=1, valid=None if valid is None else (valid[0], 1))
        elif defn.role == "col_reduce":
            result = replace(result, rows=1, valid=None if valid is None else (1, valid[1]))
        if result.valid == (result.rows, result.cols):
            result = replace(result, valid=None)
        into = self.bind(env, result)
        return [*before, f"- {defn.name}: {{into: {into}, {', '.join(fields)}}}"]

    def operand(self, env: dict[str, Kind], wanted: Kind, rough: bool) -> tuple[str, list[str]]:
        """A name that holds such a value, made if need be."""
        known = [
            n for n, k in env.items()
            if (k.dtype, k.rows, k.cols) == (wanted.dtype, wanted.rows, wanted.cols) and (rough or not k.rough)
        ]  # fmt: skip
        if known:
            return self.pick(known), []
        name = self.fresh("v")
        env[name] = wanted
        number = self.pick(NUMBERS["float" if DTYPES[wanted.dtype].is_float else "int"])
        if wanted.dtype in EXACT_DTYPES and self.chance(60):
            tensor = self.tensor(wanted.dtype, False, wanted.cols == 1, False)
            at = self.at(wanted, tensor, ())
            return name, [f"- load: {{into: {name}, from: {tensor}, at: {at}, shape: [{wanted.rows}, {wanted.cols}]}}"]
        return name, [
            f"- full: {{into: {name}, shape: [{wanted.rows}, {wanted.cols}], value: {number}, dtype: {wanted.dtype}}}"
        ]

    def cast(self, env: dict[str, Kind]) -> list[str]:
        x = self.pick(env)
        kind = env[x]
        source: DType = DTYPES[kind.dtype]
        names = ("fp32", "fp16", "bf16") if kind.rough else EXACT_DTYPES
        to = self.pick([d for d in names if cast_chain(source, DTYPES[d]) is not None])
        into = self.bind(env, replace(kind, dtype=to, window=""))
        return [f"- cast: {{into: {into}, x: {x}, dtype: {to}}}"]

    def view(self, env: dict[str, Kind]) -> list[str]:
        x = self.pick(env)
        kind = env[x]
        block = DTYPES[kind.dtype].block
        if kind.valid is not None or self.chance(20):
            into = self.bind(env, replace(kind, window=""))
            return [f"- move: {{into: {into}, from: {x}}}"]
        if kind.cols > 1 and self.chance(70):
            rows = self.draw(st.integers(1, kind.rows))
            down = self.draw(st.integers(0, kind.rows - rows))
            right = self.draw(st.integers(0, (kind.cols - 1) // block)) * block
            if self.chance(20):
                right = self.draw(st.integers(0, kind.cols - 2))
            cols = self.pick([c for c in (8, 20, kind.cols - right) if c <= kind.cols - right])
            if cols > 1:
                into = self.fresh("s")
                env[into] = Kind(kind.dtype, rows, cols, kind.rough, window=into)
                return [f"- slice: {{into: {into}, x: {x}, at: [{down}, {right}], shape: [{rows}, {cols}]}}"]
        shape = (1, kind.rows) if kind.cols == 1 else ((kind.cols, 1) if kind.rows == 1 else (kind.rows, kind.cols))
        window = kind.window if shape == (kind.rows, kind.cols) else ""
        into = self.bind(env, Kind(kind.dtype, *shape, kind.rough, window=window))
        return [f"- reshape: {{into: {into}, x: {x}, shape: {list(shape)}}}"]

    def formula(self, env: dict[str, Kind]) -> list[str]:
        """A `let` of exact operators on values of one kind; bf16 is computed in fp32 there."""
        x = self.pick(env)
        kind = env[x]
        same = [n for n, k in env.items() if k == kind]
        if kind.rough or kind.dtype not in EXACT_DTYPES or kind.valid is not None:
            return self.compute(env)
        text = x
        for _ in range(self.draw(st.integers(1, 3))):
            sign = self.pick(["+", "-", "*"])
            other = self.pick([*same, "2", f"row_max({x})", f"maximum({self.pick(same)}, {x})"])
            text = f"({text}) {sign} {other}" if self.chance(50) else f"{other} {sign} ({text})"
        into = self.bind(env, replace(kind, window=""))
        return [f'- let: "{into} = {text}"']

    # -- the whole ------------------------------------------------------------------------------------------------

    def region(self, name: str) -> list[str]:
        env: dict[str, Kind] = {}
        indices = (self.block,) if self.block is not None else ()
        before, numbers = self.declare()
        body = before + self.block_of(env, (*indices, *numbers), 0, 12)
        if not any("store" in line for line in body):
            if not any(k.dtype in EXACT_DTYPES for k in env.values()):
                body += self.load(env, indices)
            body += self.store(env, indices)
        return [f"- region: {name}", "  body:", *(f"    {line}" for line in body)]

    def text(self) -> str:
        self.symbol = self.chance(30)
        launch = self.draw(st.integers(0, 5))
        lines: list[str] = []
        if launch in (3, 4):
            self.total_blocks = self.draw(st.integers(2, 5))
            self.block = Index("blk", self.total_blocks - 1)
            word = "spmd: {index: blk, blocks: %d}" if launch == 3 else "parallel: {index: blk, count: %d}"
            lines = [f"- {word % self.total_blocks}", "  body:", *(f"    {s}" for s in self.region("r"))]
        elif launch == 5:
            host = self.draw(st.integers(1, 2))
            lines = [f"- for: {{index: h, count: {host}}}", "  body:", *(f"    {s}" for s in self.region("r"))]
            self.left = self.draw(st.integers(2, 6))
            lines += self.region("q")
        else:
            lines = self.region("r")
        head = ["spec: v1", "name: NAME"]
        if self.chance(35):
            head.append("target: {planner: ptoas}")
        if self.symbol:
            head += ["symbols:", "  K: {min: 0, max: 4}"]
        head.append("tensors:")
        for name, kind in self.tensors.items():
            access = "inout" if name in self.written else "in"
            shape = [self.total_blocks * STRIDE, kind.cols]
            head.append(f"  {name}: {{dtype: {kind.dtype}, shape: {shape}, access: {access}}}")
        return "\n".join([*head, "program:", *(f"  {line}" for line in lines), ""])


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program, called NAME."""
    return Program(draw).text()

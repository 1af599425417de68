"""Programs of cube tiles, drawn at random: windows of tiles in L1, sums over loops, tails known at run time.

Every program is legal by construction. Its tensors are larger than the product, which stands somewhere in them, and so
is the output, of which the rest must stay as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from pypto_spec.records import dataclass

DTYPES = ("fp16", "bf16", "fp32", "int8")
SIDES = {"M": 80, "N": 96, "K": 160}


@dataclass(frozen=True, slots=True)
class TileProgram:
    """The text of a spec, and what its output is for given inputs."""

    text: str
    expect: Callable[[Mapping[str, Any]], Mapping[str, Any]]


class _Program:
    """One program being drawn."""

    def __init__(self, rng: Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.dtype = rng.choice(DTYPES)
        self.acc = "int32" if self.dtype == "int8" else "fp32"
        self.out = self.acc if self.dtype == "int8" else rng.choice(["fp32", "fp16", "bf16"])
        self.unit = 32 if self.dtype == "int8" else 16
        """On multiples of this a window of a tile in L1 starts, whatever way it is stored."""
        self.vector = rng.random() < 0.15
        self.turned = (not self.vector and rng.random() < 0.4, rng.random() < 0.4)
        self.bias = rng.random() < 0.25
        self.relu = self.dtype != "int8" and rng.random() < 0.25
        self.atomic = not self.relu and self.out in ("fp32", "int32") and rng.random() < 0.2
        self.planner = rng.choice(["pypto", "ptoas"])
        self.m = 1 if self.vector else rng.choice([rng.randint(2, SIDES["M"]), 16 * rng.randint(1, 5)])
        self.n = rng.choice([rng.randint(1, SIDES["N"]), 16 * rng.randint(1, 6)])
        self.symbols = rng.random() < 0.4
        """Whether M and K are known at run time."""
        self.step = self.unit * rng.randint(1, 4)
        if self.vector:
            self.step = 512 // {"fp16": 2, "bf16": 2, "fp32": 4, "int8": 1}[self.dtype]
        self.trips = rng.randint(1, 4)
        self.k = self.step * self.trips - (rng.randrange(self.step) if rng.random() < 0.5 else 0)
        self.loop = rng.choice(["for", "pipeline"])
        self.windows = not self.symbols and rng.random() < 0.5
        """Whether operands are loaded whole, and cut on chip."""
        self.at = [rng.randint(0, 40) for _ in range(6)]

    # -- statements -----------------------------------------------------------------------------------------------

    @property
    def rows(self) -> str:
        """How many rows of a tile there are."""
        return f"min({self.m}, M - i * {self.m})" if self.symbols and not self.vector else f"{self.m}"

    @property
    def depth(self) -> str:
        """How much of a block of K there is, in a loop."""
        whole = not self.symbols and self.k % self.step == 0
        return f"{self.step}" if whole else f"min({self.step}, {'K' if self.symbols else self.k} - k)"

    def load(self, side: int, depth: int, valid: str, start: str) -> list[str]:
        """A tile of an operand in L1, `depth` of K from `start` on, as [M, K] or [K, N]."""
        name, rows, cols = ("a", self.m, depth) if side == 0 else ("b", depth, self.n)
        first, second = (self.row, start) if side == 0 else (start, "0")
        there = (self.rows, valid) if side == 0 else (valid, f"{self.n}")
        if self.turned[side]:
            rows, cols, first, second, there = cols, rows, second, first, (there[1], there[0])
        at = f"[{self.at[2 * side]} + {first}, {self.at[2 * side + 1]} + {second}]"
        text = f"into: {name}_l1, from: {name}, at: {at}, shape: [{rows}, {cols}]"
        if there != (f"{rows}", f"{cols}"):
            text += f", valid: ['{there[0]}', '{there[1]}']"
        nz = ", layout: nz" if rows == 1 and (self.turned[side] or not self.vector) else ""
        made = [f"- load: {{{text}, memory: mat{nz}}}"]
        if self.turned[side]:
            made.append(f"- transpose_view: {{into: {name}_l1, x: {name}_l1}}")
        return made

    @property
    def row(self) -> str:
        """The first row of a tile."""
        return f"i * {self.m}" if self.symbols and not self.vector else "0"

    def parts(self) -> list[str]:
        """A block of both operands, out of tiles that hold all of K."""
        keyword = self.rng.choice(["slice", "extract"])
        if self.depth != f"{self.step}" or keyword == "slice":
            keyword = "extract"
        return [
            f"- {keyword}: {{into: a_k, x: a_l1, at: [0, k], shape: [{self.m}, {self.step}], memory: left}}",
            f"- {keyword}: {{into: b_k, x: b_l1, at: [k, 0], shape: [{self.step}, {self.n}], memory: right}}",
        ]

    def multiply(self) -> list[str]:
        """The sum over K."""
        op = "gemv" if self.vector else "matmul"
        valid = f", valid: ['{self.rows}', {self.n}]" if self.rows != f"{self.m}" else ""
        made = [f"- create_tile: {{into: c, shape: [{self.m}, {self.n}], dtype: {self.acc}, memory: acc{valid}}}"]
        names = ("a_k", "b_k") if self.windows else ("a_l1", "b_l1")
        operands = f"lhs: {names[0]}, rhs: {names[1]}"
        init = "init: k == 0"
        body: list[str] = []
        if self.windows:
            self.k = self.step * self.trips  # windows lie in their tile
            made += [*self.load(0, self.k, f"{self.k}", "0"), *self.load(1, self.k, f"{self.k}", "0")]
            body += self.parts()
        else:
            body += [*self.load(0, self.step, self.depth, "k"), *self.load(1, self.step, self.depth, "k")]
        body.append(f"- {op}_acc: {{into: c, acc: c, {operands}, {init}}}")
        limit = "K" if self.symbols else f"{self.k}"
        stages = ", stages: 2" if self.loop == "pipeline" else ""
        made.append(f"- {self.loop}: {{index: k, range: [0, {limit}, {self.step}]{stages}}}")
        return [*made, "  body:", *(f"    {line}" for line in body)]

    def spec(self) -> TileProgram:
        """The whole program."""
        body = self.multiply()
        store = f"from: c, to: out, at: [{self.at[4]} + {self.row}, {self.at[5]}]"
        store += ", relu: true" if self.relu else ""
        store += ", atomic: add" if self.atomic else ""
        body.append(f"- store: {{{store}}}")
        if self.symbols and not self.vector:
            body = [f"- for: {{index: i, count: 'ceil_div(M, {self.m})'}}", "  body:", *(f"    {x}" for x in body)]
        m, k = ("M" if self.symbols and not self.vector else f"{self.m}"), ("K" if self.symbols else f"{self.k}")
        sides = ((m, k), (k, f"{self.n}"), (m, f"{self.n}"))
        lines = ["spec: v1", f"name: {self.name}", f"target: {{planner: {self.planner}}}"]
        if self.symbols:
            lines += ["symbols: {M: {min: 1, max: 1000}, K: {min: 1, max: 1000}}"]
        lines.append("tensors:")
        for number, (name, (rows, cols)) in enumerate(zip(("a", "b", "out"), sides, strict=True)):
            if number < 2 and self.turned[number]:
                rows, cols = cols, rows
            more = self.rng.randint(0, 20)
            shape = f"['{rows} + {self.at[2 * number] + more}', '{cols} + {self.at[2 * number + 1] + more}']"
            dtype, access = (self.out, ", access: inout") if name == "out" else (self.dtype, "")
            lines.append(f"  {name}: {{dtype: {dtype}, shape: {shape}{access}}}")
        lines += ["program:", "  - region: mm", "    body:", *(f"      {line}" for line in body)]
        if self.symbols:
            sizes = [{"M": 1, "K": 1}, {"M": self.rng.randint(1, 150), "K": self.rng.randint(1, 200)}]
            lines += [f"golden: {{sizes: {str(sizes).replace(chr(39), '')}}}"]
        return TileProgram("\n".join(lines) + "\n", self.expected)

    def expected(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The output for these inputs, in float64 or int64."""
        m = given["M"] if self.symbols and not self.vector else self.m
        k = given["K"] if self.symbols else self.k
        sides = []
        for side, (rows, cols) in enumerate(((m, k), (k, self.n))):
            first, second = self.at[2 * side : 2 * side + 2]
            if self.turned[side]:
                sides.append(given["ab"[side]][first : first + cols, second : second + rows].transpose(0, 1))
            else:
                sides.append(given["ab"[side]][first : first + rows, second : second + cols])
        made, out = sides[0] @ sides[1], given["out"].clone()
        where = slice(self.at[4], self.at[4] + m), slice(self.at[5], self.at[5] + self.n)
        out[where] = (out[where] if self.atomic else 0) + (made.clamp(min=0) if self.relu else made)
        return {"out": out}


def draw(rng: Random, name: str) -> TileProgram:
    """One program of that name."""
    return _Program(rng, name).spec()

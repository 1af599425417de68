"""Specs of products on whole arrays, drawn at random: every extent, dtype and form that one line can have."""

from __future__ import annotations

from random import Random

from pypto_spec.records import dataclass

DTYPES = ("fp16", "bf16", "fp32", "int8")
OUTPUTS = {"int8": ("int32",), "other": ("fp32", "fp16", "bf16")}
LARGEST = 600


@dataclass(frozen=True, slots=True)
class Product:
    """One product: its extents, how its operands are stored, and what happens to it on the way out."""

    m: int
    n: int
    k: int
    dtype: str
    out: str
    a_trans: bool = False
    b_trans: bool = False
    bias: bool = False
    relu: bool = False
    blocks: str | None = None
    order: str | None = None
    target: str | None = None
    batch: tuple[int, ...] = ()
    shared: bool = False
    """Whether one right operand serves all of a batch."""

    @property
    def accumulated(self) -> str:
        """The dtype the product adds up in."""
        return "int32" if self.dtype == "int8" else "fp32"

    def formula(self) -> str:
        """The product in a `let`."""
        flags = "".join(f", {f}=true" for f, on in (("a_trans", self.a_trans), ("b_trans", self.b_trans)) if on)
        rounded = self.out != self.accumulated
        text = f"matmul(a, b{flags}{f', dtype={self.out}' if rounded and not (self.bias or self.relu) else ''})"
        if self.bias:
            text = f"{text} + d"
        if self.relu:
            text = f"relu({text})"
        return f"cast({text}, {self.out})" if rounded and (self.bias or self.relu) else text

    def reference(self) -> str:
        """The same as a golden, which knows no dtypes."""
        a = "transpose(a)" if self.a_trans else "a"
        b = "transpose(b)" if self.b_trans else "b"
        text = f"matmul({a}, {b})" + (" + d" if self.bias else "")
        return f"relu({text})" if self.relu else text

    def text(self, name: str) -> str:
        """The spec."""
        a = [*self.batch, *((self.k, self.m) if self.a_trans else (self.m, self.k))]
        b = [*(() if self.shared else self.batch), *((self.n, self.k) if self.b_trans else (self.k, self.n))]
        lines = ["spec: v1", f"name: {name}"]
        lines += [f"target: {self.target}"] if self.target else []
        lines += ["tensors:", f"  a: {{dtype: {self.dtype}, shape: {a}}}", f"  b: {{dtype: {self.dtype}, shape: {b}}}"]
        lines += [f"  d: {{dtype: {self.accumulated}, shape: [1, {self.n}]}}"] if self.bias else []
        lines += [f"  c: {{dtype: {self.out}, shape: {[*self.batch, self.m, self.n]}, access: out}}"]
        lines += ["program:", "  - region: mm"]
        lines += [f"    blocks: {self.blocks}"] if self.blocks else []
        lines += [f"    order: {self.order}"] if self.order else []
        lines += ["    body:", f"      - let: c = {self.formula()}"]
        lines += ["golden:", f"  expect: {{c: '{self.reference()}'}}"]
        return "\n".join(lines) + "\n"


def draw(rng: Random, largest: int = LARGEST) -> Product:
    """A product whose extents are 1 to `largest`, every third of them small, and every third a multiple of 16."""
    dtype = rng.choice(DTYPES)
    floats = dtype != "int8"
    blocks = rng.choice([None, None, "2", "5", "24", "auto"])
    batch = rng.choice([(), (), (), (3,), (2, 2)])
    m, n, k = (_extent(rng, largest // (3 if batch else 1)) for _ in range(3))
    return Product(
        m=m,
        n=n,
        k=k,
        dtype=dtype,
        out=rng.choice(OUTPUTS["other" if floats else "int8"]),
        a_trans=rng.random() < 0.4,
        b_trans=rng.random() < 0.4,
        bias=floats and not batch and rng.random() < 0.3,
        relu=floats and rng.random() < 0.25,
        blocks=blocks,
        order=rng.choice([None, "col", "{swizzle: 3}"]) if blocks else None,
        target=rng.choice([None, None, "{planner: ptoas}", "{l0c_double_buffer: true}", "{unit_flag: true}"]),
        batch=batch,
        shared=bool(batch) and rng.random() < 0.4,
    )


def _extent(rng: Random, largest: int) -> int:
    return rng.choice([rng.randint(1, largest), rng.randint(1, 40), 16 * rng.randint(1, max(1, largest // 16))])

"""Flags, barriers and on-chip bytes of gallery kernels against those that PyPTO and PTOAS need for the same kernels.

The figures were counted in the C++ that ptoas (v0.42 or v0.27, its sync insertion on, PyPTO's default planner) prints
for PyPTO's own examples, the barrier at the end of the function left out. A barrier counts as one between statements
wherever it stands, if an instruction behind it needs one of an earlier statement. Those inside a recipe that only its
own instructions need have no counterpart there, since one instruction of PTO is the whole op.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.access import Access, accesses, overlap
from pypto_spec.ir.nodes import Barrier, Buffer, Op, Pair, Program, Region, SetFlag, WaitFlag
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.rewrite import ops, regions, statements
from pypto_spec.ops.instructions import effects

SPECS = Path(__file__).parents[2] / "specs"

Gap = tuple[str, str]
"""The operators of two statements, the later of which reads what the earlier has written."""


@dataclass(frozen=True)
class Oracle:
    """What the kernel needs there; `more` are barriers that ours has besides, each with its dependent pair."""

    spec: str
    flags: int
    barriers: int
    size: int | None = None
    more: int = 0
    region: int = 0
    gaps: tuple[Gap, ...] = ()


KERNELS = {
    "add": Oracle("vector/add", 2, 0, 131072),
    "chunked add": Oracle("vector/chunked_add", 5, 1),
    "(a+b)*2": Oracle("vector/scalar_ops", 2, 1),
    "relu(a+b)": Oracle("vector/relu", 2, 1),
    "silu": Oracle("vector/silu", 2, 4, 49152),
    "gelu": Oracle("vector/gelu", 2, 5, 49152),
    "swiglu": Oracle("vector/swiglu", 3, 5, 65536),
    # Each of its five statements reads what the one before it has written: four gaps, of which the oracle closes three.
    "softmax": Oracle(
        "vector/softmax", 2, 3, more=1,
        gaps=(("row_max", "row_expand_sub"), ("row_expand_sub", "exp"), ("exp", "row_sum"),
              ("row_sum", "row_expand_div")),
    ),
    "rmsnorm": Oracle("norms/rmsnorm", 3, 6, 24960),
    "layernorm": Oracle("norms/layernorm", 4, 10, 25216),
}  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """What one kernel of ours needs: `inside` are the barriers inside recipes, by operator."""

    flags: int
    waits: int
    barriers: int
    inside: tuple[str, ...]
    size: int


def kernel(oracle: Oracle) -> tuple[Program, Region]:
    path = SPECS / f"{oracle.spec}.yaml"
    made = compile_source(Source(path.name, path.read_text(encoding="utf-8")))
    assert made.program is not None, [d.message for d in made.diagnostics]
    return made.program, list(regions(made.program.body))[oracle.region]


def kinds(program: Program, region: Region) -> Iterator[tuple[str, bool, bool]]:
    """For each barrier of a straight kernel: whether it orders two statements, and two calls of the op named."""
    buffers = {b.name: b for b in program.buffers}
    earlier: list[Access] = []  # of V, since its last barrier
    for node in statements(region.body):
        if isinstance(node, Barrier):
            yield "", True, False
            earlier = []
        elif isinstance(node, Op):
            steps = _accesses(node, buffers)
            own: list[Access] = []
            for place, step in enumerate(steps):
                if step is None:
                    rest = steps[place + 1 :]
                    behind = [a for s in rest[: rest.index(None) if None in rest else None] for a in s or ()]
                    yield node.name, _conflict(earlier, behind), _conflict(own, behind)
                    earlier, own = [], []
                else:
                    own += step
            earlier += own


def _accesses(op: Op, buffers: Mapping[str, Buffer]) -> list[list[Access] | None]:
    """What each call of a recipe does to V's memory; None for a barrier."""
    view = OpRecipe(op, "exact")
    found = effects(op.instrs or (), view.dtype_of, view.memory_of)
    return [None if e is None else accesses(op, e.regions, buffers) if e.pipe == "v" else [] for e in found]


def _conflict(first: Sequence[Access], then: Sequence[Access]) -> bool:
    return any((a.write or b.write) and overlap(a, b) for a in first for b in then)


def count(program: Program, region: Region) -> Counted:
    nodes = list(statements(region.body))
    found = list(kinds(program, region))
    used = {v.buffer.buffer for op in ops(region.body) for v in (*op.operands.values(), *op.results) if v.buffer}
    used |= {ref.buffer for op in ops(region.body) for ref in op.scratch}
    ends = [(b.address or 0) + (b.bytes or 0) * b.slots for b in program.buffers if b.name in used]
    return Counted(
        flags=sum(isinstance(n, SetFlag) for n in nodes),
        waits=sum(isinstance(n, WaitFlag) for n in nodes),
        barriers=sum(between for _, between, _ in found),
        inside=tuple(name for name, _, inside in found if inside),
        size=max(ends),
    )


@pytest.mark.parametrize("name", KERNELS)
def test_no_more_than_the_oracle(name: str) -> None:
    oracle = KERNELS[name]
    counted = count(*kernel(oracle))
    assert counted.flags <= oracle.flags
    assert counted.waits == counted.flags
    assert counted.barriers <= oracle.barriers + oracle.more
    assert oracle.size is None or counted.size <= oracle.size


@pytest.mark.parametrize("name", [name for name, oracle in KERNELS.items() if oracle.more])
def test_each_barrier_more_has_its_dependent_pair(name: str) -> None:
    """Every barrier stands right behind the statement that writes what the next one reads."""
    oracle = KERNELS[name]
    _, region = kernel(oracle)
    gaps: list[Gap] = []
    last: Op | None = None
    pairs: tuple[Pair, ...] | None = None
    for node in statements(region.body):
        if isinstance(node, Barrier):
            pairs = node.pairs
        elif isinstance(node, Op) and node.defn.role != "view":
            if pairs is not None:
                assert last is not None
                assert set(last.results) & set(node.operands.values()), (
                    f"{node.name} does not read what {last.name} wrote"
                )
                assert (last.loc.span.start, node.loc.span.start) in pairs
                gaps.append((last.name, node.name))
            last, pairs = node, None
    assert tuple(gaps) == oracle.gaps
    assert len(gaps) == oracle.barriers + oracle.more


def test_barriers_inside_recipes() -> None:
    """Those inside recipes, each between two calls of one op of which the second needs the first."""
    inside = {name: found for name, oracle in KERNELS.items() if (found := count(*kernel(oracle)).inside)}
    assert inside == {
        "silu": (
            "rdivs",
        ),  # Duplicate of the scalar, Div of it by the operand (which the statement before has written)
        "gelu": ("rdivs",),
        "swiglu": ("rdivs",),
        "softmax": ("row_expand_sub", "row_expand_div"),  # Brcb of the column, the operation with it
        "rmsnorm": ("rsqrt", "row_expand_mul"),  # Sqrt, Div of 1 by the root; Brcb of the column, Mul with it
        "layernorm": ("row_expand_sub", "rsqrt", "row_expand_mul"),
    }

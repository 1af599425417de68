"""OutlineIncoreScopes: kernels, launches and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.arguments import kernel_name, region_arguments
from pypto_spec.ir.expr import Index, Sym, add, mul, sym
from pypto_spec.ir.nodes import Branch as ControlBranch
from pypto_spec.ir.nodes import Condition, Control, Grid, Loop, Program, Region
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.ir.verifier import verify
from pypto_spec.passes.outline_incore_scopes import OUTLINE_INCORE_SCOPES
from tests.passes.shape import program_text
from tests.passes.toys import context, loc, make, program, region, see, tensor, toy

INDEX = Sym("i", "loop", 0)
BLOCKS = Sym("num_blocks()", "blocks", 1)


def outlined(*body: Control) -> Program:
    made = OUTLINE_INCORE_SCOPES.run(program(*body), context())
    assert verify(made, ["SplitIncoreOrch", "SSAForm"]) is None
    assert OUTLINE_INCORE_SCOPES.run(made, context()) is made
    return made


def work(name: str = "r") -> Region:
    """A region whose statement depends on the grid's index."""
    first = make("a.1")
    return region(replace(first, attrs={"at": (mul(sym(INDEX), 64),)}), name=name)


def parallel(count: Index, *body: Control, start: Index = 0, step: Index = 1) -> Grid:
    return Grid(
        kind="parallel", index=INDEX, count=count, blocks_symbol=BLOCKS, body=body, loc=loc(), start=start, step=step
    )


def test_names_and_cores() -> None:
    made = outlined(region(name="first step"), region(name="first_step"), region(name="toy"))
    assert program_text(made) == [
        "region first step toy_first_step aiv", "region first_step toy_first_step_2 aiv", "region toy toy aiv",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("program_name", "region_name", "kernel"),
    [("p", "r", "p_r"), ("p", "p", "p"), ("1p", "r-2", "k_1p_r_2"), ("_p", "r", "k_p_r"), ("p", "rß", "p_r_")],
)
def test_kernel_name(program_name: str, region_name: str, kernel: str) -> None:
    assert kernel_name(program_name, region_name) == kernel


def test_few_indices_are_blocks() -> None:
    assert program_text(outlined(parallel(8, work()))) == [
        "spmd i < 8", "  region r toy_r aiv", "    a.1 = make(at=[i * 64])",
    ]  # fmt: skip


def test_many_indices_are_walked() -> None:
    made = outlined(parallel(100, work()))
    assert program_text(made) == [
        "spmd i_block < 48", "  region r toy_r aiv", "    for i []", "      a.1 = make(at=[i * 64])",
    ]  # fmt: skip
    (kernel,) = regions(made.body)
    (loop, _) = statements(kernel.body)
    block = made.body[0].index  # type: ignore[union-attr]
    assert (loop.start, loop.stop, loop.step) == (sym(block), 100, sym(BLOCKS))  # type: ignore[union-attr]


def test_start_and_step_are_kept() -> None:
    made = outlined(parallel(4, work(), start=10, step=5))
    (kernel,) = regions(made.body)
    loop = kernel.body[0]
    block = made.body[0].index  # type: ignore[union-attr]
    assert loop.start == add(mul(sym(block), 5), 10)  # type: ignore[union-attr]
    assert (loop.stop, loop.step) == (30, mul(sym(BLOCKS), 5))  # type: ignore[union-attr]


def test_run_time_count() -> None:
    size = Sym("M", "dim", 1, 1000)
    assert program_text(outlined(parallel(sym(size), work())))[0] == "spmd i_block < min(M, 48)"


def test_a_grid_around_two_regions_is_two_launches() -> None:
    assert program_text(outlined(parallel(2, work("a"), work("b")))) == [
        "spmd i < 2", "  region a toy_a aiv", "    a.1 = make(at=[i * 64])",
        "spmd i < 2", "  region b toy_b aiv", "    a.1 = make(at=[i * 64])",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("inner", "word"),
    [
        (parallel(2, work()), "parallel"),
        (Loop(index=Sym("j", "loop"), start=0, stop=2, step=1, body=(work(),), loc=loc()), "for"),
        (ControlBranch(condition=Condition("==", 1, 1), then=(work(),), other=(), loc=loc()), "if"),
    ],
)
def test_nested_launch(inner: Control, word: str) -> None:
    with pytest.raises(CompileError, match=f"PS6020: a `{word}` stands inside the `parallel` over `i`"):
        outlined(parallel(2, inner))


def test_blocks_inside_a_grid() -> None:
    with pytest.raises(CompileError, match="PS6020: region `r` asks for blocks of its own"):
        outlined(parallel(2, replace(work(), blocks=4)))


def test_what_is_not_there_yet() -> None:
    with pytest.raises(CompileError, match="PS7001: `order: col`"):
        outlined(replace(parallel(2, work()), order="col"))
    with pytest.raises(CompileError, match="PS7001: `r` runs on the cube core"):
        outlined(replace(work(), core="aic"))


def test_arguments() -> None:
    size, host = Sym("M", "dim", 1), Sym("k", "loop")
    x, y, z = tensor("x", 8, 16), tensor("y", 8, 16), tensor("z", 8, 16)
    store = replace(toy("store", "writes_gm"), fields=())
    body = (
        replace(make("a"), operands={"x0": x}, attrs={"at": (add(sym(size), sym(host)),)}),
        replace(see("a"), defn=store, operands={"to": z}),
    )
    inside = region(*body)
    loops = Loop(index=host, start=0, stop=2, step=1, body=(inside,), loc=loc())
    made = replace(program(region(), loops, tensors=[x, y, z]), dims=(size,))
    found = region_arguments(made, inside)
    assert (found.tensors, found.dims, found.indices) == ((x, z), (size,), (host,))
    assert (found.reads, found.writes) == (frozenset({"x"}), frozenset({"z"}))

"""OutlineIncoreScopes: kernels, launches and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.arguments import kernel_name, region_arguments
from pypto_spec.ir.expr import Index, Sym, add, mul, sym
from pypto_spec.ir.nodes import Branch as ControlBranch
from pypto_spec.ir.nodes import Buffer, BufferRef, Condition, Control, Grid, Loop, Op, Program, Region, Value
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.ir.types import Memory
from pypto_spec.ir.verifier import verify
from pypto_spec.passes.outline_incore_scopes import OUTLINE_INCORE_SCOPES, Outliner
from tests.passes.shape import program_text
from tests.passes.toys import TILE, context, loc, make, program, region, see, tensor, toy

INDEX = Sym("i", "loop", 0)
BLOCKS = Sym("num_blocks()", "blocks", 1)


MMAD = replace(toy("mmad"), pipe="m", spaces={"into": (Memory.ACC,)})
"""An operator of the cube."""
EITHER = replace(toy("either"), spaces={"into": (Memory.VEC, Memory.MAT)})
"""One that exists for memories of both cores."""
CUBE, VECTOR, COPY = (
    replace(make("c.1"), defn=MMAD),
    make("v.1"),
    replace(make("l.1"), defn=replace(toy("l"), pipe="mte2")),
)


Core = Literal["aiv", "aic"]
WRITTEN: tuple[Core | None, ...] = (None, "aiv", "aic")
WRONG: tuple[tuple[Op, Core, Core], ...] = ((CUBE, "aiv", "aic"), (VECTOR, "aic", "aiv"))


def core_of(*body: Op, core: Core | None = None, buffers: tuple[Buffer, ...] = ()) -> str:
    """The core of a region, as the pass decides it."""
    made = replace(program(), buffers=buffers)
    return Outliner(made, context()).core(replace(region(*body), core=core))


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


def test_one_index_has_one_order() -> None:
    for order in ("row", "col", "swizzle:4"):
        assert program_text(outlined(replace(parallel(100, work()), order=order))) == program_text(
            outlined(parallel(100, work()))
        )


def test_blocks_that_are_allowed() -> None:
    made = program_text(outlined(replace(parallel(100, work()), most=7)))
    assert made[:3] == ["spmd i_block < 7", "  region r toy_r aiv", "    for i []"]
    assert program_text(outlined(replace(parallel(100, work()), most=1000)))[0] == "spmd i_block < 48"


def cells(order: str, first: Index, second: Index, most: int | None = None) -> list[str]:
    other = Sym("j", "loop", 0, second - 1 if isinstance(second, int) else None)
    inside = region(replace(make("a.1"), attrs={"at": (mul(sym(INDEX), 64), sym(other))}), name="r")
    grid = replace(parallel(first, inside), inner=((other, second),), order=order, most=most)
    return program_text(outlined(grid))


def test_few_cells_are_blocks() -> None:
    assert cells("row", 4, 3)[::2] == ["spmd cell < 12", "    a.1 = make(at=[(cell // 3) * 64, (cell % 3)])"]
    assert cells("col", 4, 3)[2] == "    a.1 = make(at=[(cell % 4) * 64, (cell // 4)])"


def test_blocks_have_the_bounds_of_their_number() -> None:
    other = Sym("j", "loop", 0, 2)
    for first, high in ((4, 11), (40, 47)):
        (made,) = outlined(replace(parallel(first, work()), inner=((other, 3),))).body
        assert isinstance(made, Grid)
        assert (made.index.low, made.index.high) == (0, high)


def test_many_cells_are_walked() -> None:
    assert cells("row", 9, 8, most=5) == [
        "spmd block < 5", "  region r toy_r aiv", "    for cell []",
        "      a.1 = make(at=[(cell // 8) * 64, (cell % 8)])",
    ]  # fmt: skip


def test_a_group_that_is_left_has_a_rule_of_its_own() -> None:
    assert cells("swizzle:4", 8, 3, most=5)[3].startswith("      a.1 = make")
    assert cells("swizzle:4", 10, 3, most=5)[3:] == ["      if []", "      a.1 = make(at=[i * 64, j])"]


def test_run_time_counts() -> None:
    size = Sym("M", "dim", 1, 1000)
    assert cells("row", sym(size), 3)[0] == "spmd block < min(M * 3, 48)"
    assert cells("col", 3, sym(size))[0] == "spmd block < min(M * 3, 48)"
    with pytest.raises(CompileError, match="PS3035: `order: col` divides by the count of `i`") as found:
        cells("col", sym(size), 3)
    assert found.value.diagnostics[0].helps[0] == "write `order: row`, which does not divide by it"
    with pytest.raises(CompileError, match="PS3035: `order: swizzle` divides by the count of `j`") as found:
        cells("swizzle:2", sym(size), sym(size))
    assert found.value.diagnostics[0].helps == ("or put a `for` over `j` into the region, and leave it out here",)


def test_a_region_of_the_cube() -> None:
    assert program_text(outlined(replace(region(CUBE), core="aic")))[0] == "region r toy_r aic"
    other = Sym("j", "loop", 0, 9)
    (made,) = outlined(replace(parallel(10, region(CUBE)), inner=((other, 10),))).body
    assert isinstance(made, Grid)
    assert made.count == context().target.cube_cores


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


def in_memory(op: Op, memory: Memory) -> Op:
    return replace(op, results=(Value("m.1", replace(TILE, memory=memory)),))


def test_the_core_follows_from_what_a_region_does() -> None:
    assert core_of(CUBE) == core_of(COPY, CUBE) == "aic"
    assert core_of(VECTOR) == core_of(COPY, VECTOR) == "aiv"
    assert core_of() == core_of(COPY) == "aiv"
    assert core_of(COPY, core="aic") == "aic"


@pytest.mark.parametrize("memory", [Memory.MAT, Memory.LEFT, Memory.RIGHT, Memory.ACC, Memory.BIAS])
def test_a_memory_belongs_to_a_core(memory: Memory) -> None:
    assert core_of(in_memory(COPY, memory)) == "aic"
    assert core_of(in_memory(replace(make("e.1"), defn=EITHER), memory)) == "aic"
    assert core_of(replace(COPY, attrs={"memory": memory})) == "aic"
    buffer = Buffer(name="mine", memory=memory, loc=loc())
    placed = replace(COPY, results=(Value("p.1", TILE, BufferRef("mine")),))
    assert core_of(placed, buffers=(buffer,)) == "aic"


def test_what_may_be_in_vec_by_default_says_nothing() -> None:
    assert core_of(in_memory(COPY, Memory.VEC), CUBE) == "aic"
    assert core_of(replace(make("e.1"), defn=EITHER), CUBE) == "aic"
    view = replace(make("w.1"), defn=replace(toy("view"), role="view"))
    assert core_of(view, CUBE) == "aic"


@pytest.mark.parametrize("vector", [VECTOR, replace(COPY, attrs={"memory": Memory.VEC})])
def test_a_region_has_one_core(vector: Op) -> None:
    for first, second, core in ((CUBE, vector, "aiv"), (vector, CUBE, "aic")):
        for written in WRITTEN:
            with pytest.raises(CompileError, match="PS6010: region `r` needs both cores: `mmad` runs on") as found:
                core_of(first, second, core=written)
            (diagnostic,) = found.value.diagnostics
            assert (diagnostic.primary.span, diagnostic.primary.text) == (second.loc.span, f"needs `{core}`")
            assert [label.span for label in diagnostic.secondary] == [first.loc.span]


def test_a_vector_op_on_a_tile_in_the_wrong_memory_is_said_elsewhere() -> None:
    """PS4020, by InferTileMemorySpace; unless something needs the cube anyway."""
    (tile,) = in_memory(COPY, Memory.MAT).results
    reads = replace(make("e.1"), operands={"x0": tile})
    assert core_of(in_memory(COPY, Memory.MAT), reads) == "aiv"
    with pytest.raises(CompileError, match="PS6010"):
        core_of(CUBE, reads)
    with pytest.raises(CompileError, match="PS6010"):
        core_of(in_memory(COPY, Memory.MAT), VECTOR)


def test_an_op_between_the_cores() -> None:
    move = replace(in_memory(COPY, Memory.ACC), attrs={"memory": Memory.VEC})
    with pytest.raises(CompileError, match="PS6010: region `r` needs both cores: `l` goes from one core to the other"):
        core_of(move)


def test_a_written_core_must_be_right() -> None:
    assert core_of(VECTOR, core="aiv") == "aiv"
    for op, wrong, right in WRONG:
        with pytest.raises(CompileError, match=f"PS6011: `core: {wrong}`, but `{op.name}`") as found:
            core_of(COPY, op, core=wrong)
        assert found.value.diagnostics[0].helps == (f"write `core: {right}`, or leave `core` out",)


def test_a_grid_takes_the_cores_of_its_kind() -> None:
    """24 cube cores, 48 vector cores: asked of the pass's own rule, as the cube is not built yet."""
    outliner = Outliner(program(), context())
    assert [outliner.most(parallel(100), replace(region(), core=core)) for core in ("aic", "aiv")] == [24, 48]
    assert outliner.most(replace(parallel(100), most=30), replace(region(), core="aic")) == 24

"""Running passes: order, dumps, errors of the compiler itself, and time."""

from __future__ import annotations

import gc
from dataclasses import replace
from time import process_time

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.expr import Sym, mul, sym
from pypto_spec.ir.nodes import Dump, Program
from pypto_spec.ir.rewrite import Rewriter, ops, regions
from pypto_spec.passes import pipeline
from pypto_spec.passes.base import Context, Pass, Property
from tests.passes.build import Build
from tests.passes.toys import context


def small() -> Program:
    build = Build()
    build.tensor("x", 64, 64)
    build.tensor("out", 64, 1)
    build.op("full", "m", shape=(8, 1), value=0, dtype=build.env["x"].type.dtype)
    with build.loop(Sym("i", "loop", 0, 7), 8):
        build.load("t", "x", 8, 64)
        build.op("row_max", "r", x="t")
        build.op("maximum", "m", lhs="m", rhs="r")
    build.store("m", "out")
    return build.program()


def test_order_and_requirements() -> None:
    names = [p.name for p in pipeline.PASSES]
    assert names == [
        "InlineFunctions", "UnrollLoops", "CtrlFlowTransform", "ConvertToSSA", "Simplify", "LowerTensorMatmul",
        "OutlineIncoreScopes", "ChunkTensorOps", "ConvertTensorToTileOps", "FlattenTileNdTo2D", "FillReductionTails",
        "LegalizeTileCast", "AutoTileMatmulL0", "CanonicalizeTileSlice", "InferTileMemorySpace",
        "ResolveBackendOpLayouts", "AssignUnitFlags", "LowerPipelineToSlots", "LowerPipelineLoops",
        "CanonicalizeIOOrder", "InitMemRef", "MaterializeSemanticAliases", "MemoryReuse", "AllocateMemoryAddr",
        "ExpandToInstructions", "InsertSync",
    ]  # fmt: skip
    established: set[Property] = set()
    for step in pipeline.PASSES:
        assert step.requires <= established, step.name
        assert step.doc.startswith(f"{step.name}: "), step.name
        established |= step.produces


def test_every_pass_keeps_what_was_promised() -> None:
    seen: list[str] = []
    used = context()
    made = pipeline.run(small(), used, on_pass=lambda step, program: seen.append(step.name), thorough=True)
    assert seen == [p.name for p in pipeline.PASSES]
    assert set(used.timings) == {*seen, "verify"}
    assert all(op.instrs is not None for region in regions(made.body) for op in ops(region.body))


def test_stopping_and_going_on_give_the_same() -> None:
    seen: list[str] = []
    first = pipeline.run(small(), context(), after="FlattenTileNdTo2D")
    loaded = replace(first, dump=Dump(after="FlattenTileNdTo2D", source="k.yaml", sha256=""))
    pipeline.run(loaded, context(), on_pass=lambda step, program: seen.append(step.name))
    assert seen[0] == "FillReductionTails"
    assert pipeline.run(loaded, context(), after="Simplify") is loaded


class _Crash(Rewriter):
    def op(self, op):  # type: ignore[no-untyped-def]
        if op.name == "row_max":
            raise ZeroDivisionError("no luck")
        return (op,)


def _crash(program: Program, context: Context) -> Program:
    return _Crash().program(program)


def _drop(program: Program, context: Context) -> Program:
    (region,) = regions(program.body)
    return replace(program, body=(replace(region, body=region.body[1:]),))


def test_an_internal_error_names_pass_and_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small()
    monkeypatch.setattr(pipeline, "PASSES", [pipeline.PASSES[0], Pass("Broken", _crash)])
    with pytest.raises(CompileError) as error:
        pipeline.run(made, context())
    (found,) = error.value.diagnostics
    assert (found.rule.code, found.message) == ("PS9001", "the pass Broken failed with ZeroDivisionError: no luck")
    (crashed,) = [op for region in regions(made.body) for op in ops(region.body) if op.name == "row_max"]
    assert found.primary.span == crashed.loc.span


def test_a_broken_property_names_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pipeline, "PASSES", [*pipeline.PASSES[: pipeline.position("ConvertToSSA") + 1], Pass("Loses", _drop)]
    )
    with pytest.raises(CompileError) as error:
        pipeline.run(small(), context())
    (found,) = error.value.diagnostics
    assert found.rule.code == "PS9002"
    assert found.message == "the pass Loses left a broken program: `m.1` is used where it is not defined"


def chain(length: int, loops: bool = False) -> Program:
    build = Build()
    for name, rows in (("x", 16), ("out", 16), ("w", 128)):
        build.tensor(name, rows, 64)
    build.load("t", "x", 16, 64)
    build.op("exp", "y", x="t")
    for number in range(length):
        if loops and number % 5 == 0:
            index = Sym(f"i{number}", "loop", 0, 7)
            with build.loop(index, 8):
                build.load("u", "w", 16, 64, at=(mul(sym(index), 16), 0))
                build.op("add", "y", lhs="y", rhs="u")
        else:
            build.op(("add", "mul", "maximum")[number % 3], "y", lhs="y", rhs="t")
    build.store("y", "out")
    return build.program()


MINE = pipeline.PASSES[:3] + pipeline.PASSES[4:9]


def seconds(made: Program) -> dict[str, float]:
    """The time of each pass of this folder's front part, the best of three runs."""
    best: dict[str, float] = {}
    gc.disable()  # as the driver does while it compiles
    for _ in range(3):
        program = made
        for step in MINE:
            started = process_time()
            program = step.run(program, context())
            best[step.name] = min(best.get(step.name, 9.0), process_time() - started)
    gc.enable()
    return best


@pytest.mark.parametrize("loops", [False, True])
def test_near_linear(loops: bool) -> None:
    small_time, large_time = seconds(chain(500, loops)), seconds(chain(5_000, loops))
    for name, spent in large_time.items():
        assert spent < 0.03 + 25 * small_time[name], name
        assert spent < 0.5, name


def test_the_verifier_is_cheap() -> None:
    """Its share of the whole, in the quietest of several runs."""
    shares: list[float] = []
    for _ in range(3):
        used = context()
        gc.disable()
        pipeline.run(chain(2_000), used)
        gc.enable()
        shares.append(used.timings["verify"] / sum(used.timings.values()))
    assert min(shares) < 0.15

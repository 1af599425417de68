"""Pipelines through the passes: what LowerPipelineLoops makes of them, and how large a region may get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pytest

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.ir.nodes import For, Op, Program, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, ops, regions, statements, with_parts
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.stages.copies import MOST_STATEMENTS, made_of, most_stages, size_of
from pypto_spec.passes.stages.groups import Groups
from tests.convert.reading import marked

ROOT = Path(__file__).parents[2]
HEAD = """spec: v1
name: k
symbols: {M: {min: 0, max: 40}, N: {min: 0, max: 40}}
tensors:
  x: {dtype: fp32, shape: [64, 64, 64, 8]}
  o: {dtype: fp32, shape: [64, 64, 64, 8], access: out}
program:
  - region: r
    body:
"""


def compiled(text: str, *, debug: bool = False) -> Compiled:
    return compile_spec(Spec(Source("k.yaml", text), "yaml", text.encode()), keep_stages=True, debug=debug)


def nested(*loops: tuple[int | str, int]) -> str:
    """Pipelines in each other, by their counts and stages, around a load and a store."""
    lines, indent = [], " " * 6
    for index, (count, stages) in zip("ijk", loops, strict=False):
        lines += [
            f"{indent}- pipeline: {{index: {index}, count: {count}, stages: {stages}}}",
            f"{indent}  body:",
        ]
        indent += "    "
    at = ", ".join([*"ijk"[: len(loops)], "0", "0", "0"][:3])
    lines.append(f"{indent}- load: {{into: t, from: x, at: [{at}, 0], shape: [1, 1, 1, 8]}}")
    lines.append(f"{indent}- store: {{from: t, to: o, at: [{at}, 0]}}")
    return HEAD + "\n".join(lines) + "\n"


def after(done: Compiled, step: str) -> Program:
    return dict(done.stages)[step]


def loops(program: Program) -> list[For]:
    return [s for r in regions(program.body) for s in statements(r.body) if isinstance(s, For)]


def statements_of(program: Program) -> int:
    return sum(size_of(r.body) for r in regions(program.body))


def kept(done: Compiled) -> list[Diagnostic]:
    return [d for d in done.findings if d.rule.code == "PS5003"]


def test_a_debug_dump_of_a_tensor_keeps_its_place_among_loads_and_stores() -> None:
    text = nested((8, 2)) + "          - debug: {dump: o, at: [i, 0, 0, 0], shape: [1, 1, 1, 8]}\n"
    done = compiled(text, debug=True)
    assert done.ok, done.findings
    (loop,) = loops(after(done, "CanonicalizeIOOrder"))
    names = [s.name for s in statements(loop.body)]  # type: ignore[union-attr]
    assert names == ["load", "load", "store", "debug", "store", "debug"]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 8, "M", "M + 2"])
@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_the_statements_of_the_copies_are_known_before_they_are_made(count: int | str, stages: int) -> None:
    done = compiled(nested((count, stages)))
    (loop,) = loops(after(done, "LowerPipelineToSlots"))
    assert statements_of(after(done, "LowerPipelineLoops")) == made_of(loop, stages)


@pytest.mark.parametrize(
    ("outer", "inner", "within"), [((40, 8), [(40, 8), (40, 8)], 5), (("M", 5), [("N", 5), (40, 3)], 3)]
)
def test_a_pipeline_whose_copies_are_too_many_stays_one_loop(
    outer: tuple[int | str, int], inner: list[tuple[int | str, int]], within: int
) -> None:
    text = nested(outer, *inner)
    started = perf_counter()
    done = compiled(text)
    assert perf_counter() - started < 20  # seconds
    (hint,) = kept(done)
    assert marked(hint.primary.span) == str(outer[1])
    figures = dict(hint.figures)
    lowered = after(done, "LowerPipelineLoops")
    assert loops(lowered)[0].step == 1  # the inner ones keep their stages
    assert loops(lowered)[1].step == inner[0][1]
    assert statements_of(lowered) <= MOST_STATEMENTS < int(figures["statements"])
    assert (figures["stages_within"], figures["most_statements"]) == (within, MOST_STATEMENTS)
    assert f"`stages: {within}`" in hint.helps[0]
    for stages, fits in ((within, True), (within + 1, False)):
        again = compile_spec_until(nested((outer[0], stages), *inner))
        assert (statements_of(again) <= MOST_STATEMENTS and loops(again)[0].step == stages) is fits


def compile_spec_until(text: str) -> Program:
    """The program after the pass that makes the copies: what follows takes long."""
    done = compile_spec(
        Spec(Source("k.yaml", text), "yaml", text.encode()), keep_stages=True, after="LowerPipelineLoops"
    )
    return after(done, "LowerPipelineLoops")


@pytest.mark.parametrize("file", ["docs/language.md", "docs/passes.md", "pypto_spec/diagnostics/pages/PS5003.md"])
def test_what_is_written_of_the_bound_is_the_bound(file: str) -> None:
    assert f"{MOST_STATEMENTS:,}" in (ROOT / file).read_text(encoding="utf-8")


def test_where_no_stages_would_do_the_way_out_is_a_loop() -> None:
    done = compiled(nested((40, 2)))
    (loop,) = loops(after(done, "LowerPipelineToSlots"))
    assert most_stages(loop, 5) == 2
    assert most_stages(loop, 4) == 1


def test_fewer_trips_than_stages_leave_a_loop_of_one_round() -> None:
    text = """spec: v1
name: k
tensors:
  x: {dtype: fp32, shape: [768, 128]}
  o: {dtype: fp32, shape: [768, 128], access: inout}
program:
  - region: r
    body:
      - pipeline: {index: i, count: 3, stages: 4}
        BESIDE
        body:
          - load: {into: t, from: x, at: [i * 256, 0], shape: [160, 128]}
          - store: {from: t, to: o, at: [i * 256, 0]}
"""
    insisted = compiled(text.replace("BESIDE", "error: [PH-MR-001]"))
    assert not insisted.ok
    (error,) = [d for d in insisted.findings if d.rule.code == "PH-MR-001"]
    assert marked(error.primary.span) == "4"
    assert not compiled(text.replace("BESIDE", "allow: [PH-MR-001]")).findings
    (loop,) = loops(after(compiled(text.replace("BESIDE", "allow: PH-MR-001")), "LowerPipelineLoops"))
    assert (loop.start, loop.stop, loop.step, size_of(loop.body)) == (0, 3, 3, 6)


@pytest.mark.parametrize("kind", ["pipeline", "for", "unroll"])
def test_ranges_beyond_what_python_counts(kind: str) -> None:
    stages = ", stages: 2" if kind == "pipeline" else ""
    text = (
        HEAD
        + f"      - {kind}: {{index: i, range: [-5000000000000000000, 5000000000000000000]{stages}}}\n"
        + "        body:\n"
        + "          - load: {into: t, from: x, at: [0, 0, 0, 0], shape: [1, 1, 1, 8]}\n"
        + "          - store: {from: t, to: o, at: [0, 0, 0, 0]}\n"
    )
    codes = {d.rule.code for d in compiled(text).findings}
    assert "PS9001" not in codes
    assert ("PS2064" in codes) is (kind == "unroll")


def test_a_value_that_a_loop_carries_stays_in_the_buffer_that_the_author_chose() -> None:
    text = """spec: v1
name: k
tensors:
  x: {dtype: fp32, shape: [8, 64]}
  o: {dtype: fp32, shape: [8, 64], access: out}
buffers: {b0: {memory: vec, slots: 3}}
program:
  - region: r
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [8, 64]}
      - let: y = t * t
      - for: {index: i, count: 3}
        body:
          - mul: {into: y, lhs: t, rhs: t, buffer: b0, slot: 0}
      - store: {from: y, to: o, at: [0, 0]}
"""
    done = compiled(text)
    assert done.ok, done.findings
    assert done.program is not None
    (loop,) = loops(after(done, "AllocateMemoryAddr"))
    placed = {op.name: op.results[0].buffer for op in statements(loop.body)}  # type: ignore[union-attr]
    assert placed["mul"] is not None and placed["mul"].buffer == "b0"
    assert placed["move"] is not None and placed["move"].buffer != "b0"


@pytest.mark.parametrize(("memory", "apart"), [(Memory.VEC, 3), (Memory.ACC, 0)])
def test_what_the_cube_accumulates_is_one_buffer_for_all_stages(memory: Memory, apart: int) -> None:
    """The same pipeline, as if its loads were made in the accumulators' memory."""
    program = after(compiled(nested((8, 3))), "MaterializeSemanticAliases")
    (region,) = regions(program.body)

    def moved(value: Value) -> Value:
        assert isinstance(value.type, TileType)
        return replace(value, type=replace(value.type, memory=memory))

    made = {v: moved(v) for op in ops(region.body) for v in op.results}

    class Move(Rewriter):
        def op(self, op: Op) -> Sequence[Stmt]:
            results = tuple(self.bind(v, made[v]) for v in op.results)
            return (with_parts(op, results=results),)

    body = Move().block(region.body)
    buffers = {b.name: replace(b, memory=memory) for b in program.buffers}
    groups = Groups(body, Lifetimes(body), buffers, dict.fromkeys(Memory, 32))
    assert [group.requested for group in groups.of.values()] == ([apart] if apart else [])

"""Two accumulators that take turns: where they stand, in which order they are used, and what keeps them so."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pypto_spec.ir.nodes import For, Op
from pypto_spec.ir.rewrite import ops, regions, statements
from tests.passes.tiling_programs import Run, differing, spec

DATA = Path(__file__).parent / "data" / "oracle_l0_tiles.csv"
ON = "l0c_double_buffer: true"

with DATA.open(encoding="utf-8", newline="") as file:
    PLANNED = [r for r in csv.DictReader(file) if r["acc_buffers"] not in ("", "0")]


def accumulators(run: Run) -> list[tuple[int | None, int | None]]:
    """Address and bytes of the buffers in L0C."""
    return [(b.address, b.bytes) for b in run.last.buffers if b.memory.value == "acc"]


def order(run: Run, after: str = "InsertSync") -> list[str]:
    """The products and stores of the first loop that has some, in their order."""
    for region in regions(run.after[after].body):
        for loop in (s for s in statements(region.body) if isinstance(s, For)):
            found = [s.name for s in loop.body if isinstance(s, Op) and s.name in ("matmul", "store", "assemble")]
            if found:
                return found
    return []


@pytest.mark.parametrize("row", PLANNED, ids=lambda r: "-".join(list(r.values())[:6]))
def test_as_many_accumulators_as_pypto(row: dict[str, str]) -> None:
    target = f"planner: {row['planner']}" + (f", {ON}" if row["l0c_double_buffer"] == "1" else "")
    shape = int(row["M"]), int(row["N"]), int(row["K"])
    run = Run(spec(shape, row["dtype"], target=target), after="MemoryReuse")
    assert len(accumulators(run)) == int(row["acc_buffers"])
    assert run.codes == []  # no lost depth either


@pytest.mark.parametrize("tiles", [4, 8, 16])
def test_two_places_and_pairs_of_products(tiles: int) -> None:
    shape = (64 * min(tiles, 8), 128 * max(tiles // 8, 1), 192)
    run = Run(spec(shape, target=ON))
    assert accumulators(run) == [(0, 32768), (32768, 32768)]
    assert order(run) == ["matmul", "matmul", "store", "store"]
    assert differing(run) == []


def test_without_the_option_there_is_one() -> None:
    run = Run(spec((256, 128, 192)))
    assert len(accumulators(run)) == 1
    assert not any(loop.l0c_double_buffer for loop in run.loops())


def test_the_planner_ptoas_considers_it_by_itself() -> None:
    run = Run(spec((256, 128, 192), target="planner: ptoas"))
    assert len(accumulators(run)) == 2
    assert run.codes == []


OWN = """\
- load: {into: b1, from: b, at: [0, 0], shape: [<K>, <N>], memory: mat}
- move: {into: b0, from: b1, memory: right}
- pipeline: {index: i, count: <M> // 64, stages: %d%s}
  body:
    - load: {into: a1, from: a, at: [i * 64, 0], shape: [64, <K>]}
    - matmul: {into: c, lhs: a1, rhs: b0}
    - store: {from: c, to: out, at: [i * 64, 0]}
"""


@pytest.mark.parametrize(
    ("count", "stages", "target", "taken"),
    [(8, 2, ON, True), (8, 4, ON, True), (4, 2, ON, True), (3, 2, ON, False), (2, 2, ON, False), (8, 2, "", False),
     (9, 2, ON, False)],
)  # fmt: skip
def test_a_pipeline_of_the_author(count: int, stages: int, target: str, taken: bool) -> None:
    run = Run(spec((64 * count, 128, 128), body=OWN % (stages, ""), target=target))
    assert [loop.l0c_double_buffer for loop in run.loops() if loop.kind == "pipeline"] == [taken]
    assert len(accumulators(run)) == (2 if taken else 1)
    assert differing(run) == []
    if taken:
        assert order(run) == ["matmul", "matmul", "store", "store"] * (stages // 2)


def test_the_author_may_say_so() -> None:
    run = Run(spec((192, 128, 128), body=OWN % (2, ", l0c_double_buffer: true")))
    assert len(accumulators(run)) == 2
    assert differing(run) == []


def test_a_full_l0c_has_no_room_for_another() -> None:
    full = OWN.replace("[i * 64, 0]", "[i * 256, 0]").replace("[64, <K>]", "[256, <K>]").replace("// 64", "// 256")
    run = Run(spec((1024, 128, 64), body=full % (2, ""), target=ON), after="AutoTileMatmulL0")
    assert not any(loop.l0c_double_buffer for loop in run.loops())


NESTED = """\
- for: {index: r, count: 2}
  body:
    - load: {into: b1, from: b, at: [0, r * 128], shape: [<K>, 128], memory: mat}
    - move: {into: b0, from: b1, memory: right}
    - pipeline: {index: j, count: 2, stages: 2}
      body:
        - pipeline: {index: i, count: 4, stages: 2}
          body:
            - load: {into: a1, from: a, at: [j * 256 + i * 64, 0], shape: [64, <K>]}
            - matmul: {into: c, lhs: a1, rhs: b0}
            - store: {from: c, to: out, at: [j * 256 + i * 64, r * 128]}
"""


def test_nested_pipelines_share_two_accumulators() -> None:
    run = Run(spec((512, 256, 128), body=NESTED, target=ON))
    assert len(accumulators(run)) == 2
    assert [c for c in run.codes if c != "PH001"] == []
    assert differing(run) == []


def test_the_mark_is_gone_with_the_tags() -> None:
    run = Run(spec((256, 128, 192), target=ON))
    assert any(loop.l0c_double_buffer for loop in run.loops("MemoryReuse"))
    assert not any(loop.l0c_double_buffer for loop in run.loops("AllocateMemoryAddr"))
    assert not any(op.stages for r in regions(run.last.body) for op in ops(r.body))

"""Facts agree with what other commands say of the same program, and are plain data."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from time import perf_counter

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.session import Compiled
from pypto_spec.driver.summary import memory_text
from pypto_spec.driver.tiling.spec import matmuls
from pypto_spec.driver.tiling.subject import Subject
from pypto_spec.editor.document import open_document
from pypto_spec.editor.facts import Facts, facts_of
from pypto_spec.editor.facts.model import Spot
from pypto_spec.ir.naming import split
from pypto_spec.passes.l0.choice import Choice
from tests.editor.compiled import GALLERY, compiled, facts, gallery

ROW = re.compile(r" +(\d+) +(\d+) B  (\S+) +(.*?)(?: \((\d+) slots\))?$")


def _report(done: Compiled) -> dict[str, tuple[int, int, int, list[str]]]:
    """The rows of `report/memory.txt`: address, bytes, slots and names by buffer."""
    assert done.program is not None
    found = {}
    for line in memory_text(done.program).splitlines():
        row = ROW.match(line)
        if row is not None:
            found[row[3]] = int(row[1]), int(row[2]), int(row[5] or 1), row[4].split(", ")
    return found


@pytest.mark.parametrize("name", GALLERY)
def test_tiles_stand_where_the_memory_report_has_them(name: str) -> None:
    for done in compiled(gallery(name)):
        rows = _report(done)
        for tile in facts_of(done).tiles.values():
            assert tile.spots, f"{tile.name} of line {tile.at[0]} stands nowhere"
            for spot in tile.spots:
                _in_its_row(spot, rows)


def _in_its_row(spot: Spot, rows: dict[str, tuple[int, int, int, list[str]]]) -> None:
    address, size, slots, names = rows[spot.buffer]
    assert {split(value)[0] for value in spot.values} <= set(names)
    assert spot.bytes <= size // slots
    assert all(address <= low < high <= address + size for low, high in spot.ranges)
    assert all(high - low >= spot.bytes for low, high in spot.ranges)
    if spot.bytes == size // slots:
        starts = {address + slot * spot.bytes for slot in range(slots)}
        assert {low for low, _ in spot.ranges} <= starts


@pytest.mark.parametrize("name", [name for name in GALLERY if "/cube/" in name])
def test_products_are_cut_as_explain_tiling_says(name: str) -> None:
    for done in compiled(gallery(name)):
        cuts = facts_of(done).cuts
        said: dict[int, set[tuple[int, int, int]]] = {}
        for product in matmuls(done.spec).found:
            line = int(product.where.split("`")[0].split(":")[1]) if product.where else 0
            if not isinstance(product, Subject):
                taken = product.division.taken
                said.setdefault(line, set()).add((taken.m, taken.n, taken.block))
            elif product.built is not None:
                said.setdefault(line, set()).add(product.built.tile)
            elif isinstance(product.choice, Choice):
                winner = product.choice.winner
                said.setdefault(line, set()).add((winner.m, winner.n, winner.k))
        for (line, _), cut in cuts.items():
            if line in said:
                # One row counts as 16 where the tile is chosen, and is built as one.
                tiles = {(m if cut.extents is None or cut.extents[0] > 1 else 1, n, k) for m, n, k in said[line]}
                assert (cut.m, cut.n, cut.k) in tiles


@pytest.mark.parametrize("name", GALLERY)
def test_facts_are_plain(name: str) -> None:
    _plain(facts(gallery(name)))


def _plain(value: object) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _plain(key)
            _plain(item)
    elif isinstance(value, tuple):
        for item in value:
            _plain(item)
    elif is_dataclass(value) and type(value).__module__.startswith("pypto_spec.editor.facts"):
        for part in fields(value):
            _plain(getattr(value, part.name))
    else:
        assert value is None or isinstance(value, str | int | bool | Source), f"{value!r} is no plain data"


def test_facts_are_cheap() -> None:
    (done,) = compiled(gallery("specs/pipelines/softmax_rows_pipelined.yaml"))
    times = []
    for _ in range(5):
        started = perf_counter()
        facts_of(done)
        times.append(perf_counter() - started)
    assert min(times) < 0.02  # about 2 ms on an idle machine


def test_a_spec_that_does_not_load_has_none() -> None:
    found = _of("spec: v1\nname: x\n")
    assert not found.done and not found.tiles


def test_a_spec_that_overflows_has_types_without_addresses() -> None:
    found = _of(BIG)
    assert not found.done
    (tile,) = found.tiles.values()
    assert tile.type == "fp32[1024, 128]"
    assert tile.spots and not tile.spots[0].ranges


BIG = """\
spec: v1
name: big
tensors:
  x:   {dtype: fp32, shape: [1024, 128]}
  out: {dtype: fp32, shape: [1024, 128], access: out}
program:
  - region: big
    body:
      - load:  {into: t, from: x, at: [0, 0], shape: [1024, 128]}
      - store: {from: t, to: out, at: [0, 0]}
"""


def _of(text: str) -> Facts:
    (done,) = compiled(open_document("x.yaml", text))
    return facts_of(done)


REBOUND = """\
spec: v1
name: rebound
tensors:
  x:   {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
  - region: r
    body:
      - load: {into: y, from: x, at: [0, 0], shape: [64, 128]}
      - let: y = y * 2
      - let: y = row_sum(y)
      - row_expand: {into: w, x: y, cols: 128}
      - store: {from: w, to: out, at: [0, 0]}
"""


def test_a_name_that_is_bound_again_is_the_one_meant_at_its_place() -> None:
    found = _of(REBOUND)
    load, double, summed, spread = ((line, 9) for line in (9, 10, 11, 12))
    assert found.parts[double, 4, 5].keys == ((load, "y"),)
    assert found.parts[summed, 12, 13].keys == ((double, "y"),)
    assert found.reads[spread, "x"] == ((summed, "y"),)
    assert [found.tiles[at, "y"].type for at in (load, double, summed)] == [
        "fp32[64, 128]", "fp32[64, 128]", "fp32[64, 1]",
    ]  # fmt: skip

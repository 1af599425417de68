"""Memories that shared places overflow: taken apart, packed, unchanged in what they compute, loadable as dumps."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.check import check_program
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.nodes import Buffer, Dump, Program
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Memory
from pypto_spec.ops.instructions import effects
from pypto_spec.passes import allocate_memory_addr
from pypto_spec.passes.memory.buffers import BufferPool
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.planners import exact, rescue
from pypto_spec.passes.memory.problem import Placement, Problem
from pypto_spec.passes.memory.unshare import unshare
from pypto_spec.render.manifest import manifest
from pypto_spec.render.program import render_kernels
from pypto_spec.targets import A2A3
from tests.passes.packed_specs import PACKED, SEARCHED
from tests.passes.tile_programs import random_text, results, same, stages

needs_ortools = pytest.mark.skipif(not exact.installed(), reason="needs OR-tools: pip install 'pypto-spec[exact]'")


def spans(program: Program) -> Counter[tuple[int, int, int]]:
    """The lives of the buffers with their bytes."""
    sizes = {b.name: (b.bytes or 0) for b in program.buffers}
    (region,) = regions(program.body)
    return Counter((life.start, life.end, sizes[name]) for name, life in Lifetimes(region.body).of.items())


@given(st.randoms(use_true_random=False), st.booleans())
def test_taking_apart_undoes_sharing(rng: Random, pinned: bool) -> None:
    _, found = stages(random_text(rng, pinned), "MemoryReuse")
    before, after = found["MaterializeSemanticAliases"], found["MemoryReuse"]
    (region,) = regions(after.body)
    names = {b.name for b in after.buffers if b.owner == "compiler"}
    apart = unshare(region, names, BufferPool(after), "exact")
    kept = [b for b in after.buffers if b.name not in names]
    made = replace(after, body=(apart.region,), buffers=(*kept, *apart.buffers))
    assert spans(made) == spans(before)
    assert same(results(made), results(after))


def any_place(problem: Problem) -> Placement:
    """A placement drawn by lot."""
    items, rng = problem.items, Random(len(problem.items))
    meet = problem.apart | problem.level
    at = {n: item.address for n, item in enumerate(items) if item.address is not None}
    for n, item in enumerate(items):
        reach = 2048
        near = [m for m in at if (min(n, m), max(n, m)) in meet]
        while n not in at:
            start = rng.randrange(0, reach, item.grid)
            if all(at[m] >= start + item.bytes or start >= at[m] + items[m].bytes for m in near):
                at[n] = start
            reach += 64
    addresses = {item.name: at[n] for n, item in enumerate(items)}
    assert problem.faults(addresses) == []
    return Placement(addresses, problem.end(addresses))


@pytest.fixture
def always_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if shared places never fitted, and first fit put buffers anywhere: then many overlap in part."""
    usual = allocate_memory_addr.place

    def too_much(*args: Any) -> tuple[list[Buffer], int]:
        return usual(*args)[0], 10**9

    monkeypatch.setattr(rescue, "first_fit", any_place)
    monkeypatch.setattr(allocate_memory_addr, "place", too_much)


def packed(seed: int) -> tuple[Program, dict[str, Program]]:
    """A random program as it was before it was packed, and after each pass."""
    _, found = stages(random_text(Random(seed), seed % 4 == 0))
    return found["MaterializeSemanticAliases"], found


@pytest.mark.usefixtures("always_apart")
@pytest.mark.parametrize("seed", range(60))
def test_packing_changes_no_result_and_stays_free_of_races(seed: int) -> None:
    before, found = packed(seed)
    assert {b.planner for b in found["AllocateMemoryAddr"].buffers} <= {"first_fit", None}
    wanted = results(before)
    for name in ("AllocateMemoryAddr", "InsertSync"):
        assert same(wanted, results(found[name])), name
    sink = Sink()
    check_program(found["InsertSync"], A2A3, sink, effects)
    assert sink.found == []


@pytest.mark.usefixtures("always_apart")
def test_packed_buffers_do_overlap_in_part() -> None:
    """Else the test above would show nothing."""
    partly = 0
    for seed in range(20):
        buffers = packed(seed)[1]["InsertSync"].buffers
        ranges = [(b.address or 0, (b.address or 0) + (b.bytes or 0)) for b in buffers]
        partly += any(a[0] < b[0] < a[1] < b[1] for a in ranges for b in ranges)
    assert partly >= 10


PLANNED = [
    pytest.param(PACKED, "first_fit", id="first_fit"),
    pytest.param(SEARCHED, "exact", id="exact", marks=needs_ortools),
]


def built(text: str) -> Program:
    done = compile_source(Source("k.yaml", text))
    assert done.ok, [d.message for d in done.diagnostics]
    assert done.program is not None
    return done.program


@pytest.mark.parametrize(("text", "planner"), PLANNED)
def test_the_planner_is_recorded(text: str, planner: str) -> None:
    program = built(text)
    assert {b.planner for b in program.buffers} == {planner}
    (kernel,) = json.loads(manifest(render_kernels(program)))["kernels"]
    assert kernel["placed_by"] == {"vec": planner}
    assert kernel["on_chip_bytes"] == {"vec": A2A3.capacity[Memory.VEC]}


@pytest.mark.parametrize(("text", "planner"), PLANNED)
def test_dumps_of_packed_programs_load_to_the_same_kernel(text: str, planner: str) -> None:
    wanted = [k.text for k in render_kernels(built(text)).kernels]
    _, found = stages(text)
    for name in ("InitMemRef", "MaterializeSemanticAliases", "MemoryReuse", "AllocateMemoryAddr", "InsertSync"):
        dump = replace(found[name], dump=Dump(name, "k.yaml", "0" * 64))
        assert [k.text for k in render_kernels(built(to_spec(dump))).kernels] == wanted, name


BY_HAND = """spec: v1
dump: {after: AllocateMemoryAddr, source: k.yaml, sha256: "DIGEST"}
name: k
tensors:
  x: {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: out}
buffers:
  a: {memory: vec, bytes: 16384, address: 0, owner: compiler}
  b: {memory: vec, bytes: 8192, address: 16384, owner: compiler}
  c: {memory: vec, bytes: 16384, address: 8192, owner: compiler, planner: exact}
program:
  - region: r
    core: aiv
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [32, 128], memory: vec, buffer: a}
      - store: {from: t, to: out, at: [0, 0]}
      - load: {into: u, from: x, at: [32, 0], shape: [16, 128], memory: vec, buffer: b}
      - store: {from: u, to: out, at: [32, 0]}
      - load: {into: v, from: x, at: [32, 0], shape: [32, 128], memory: vec, buffer: c}
      - store: {from: v, to: out, at: [32, 0]}
""".replace("DIGEST", "0" * 64)


def test_addresses_that_overlap_in_part_are_taken_where_lives_do_not_meet() -> None:
    program = built(BY_HAND)
    assert [(b.address, b.planner) for b in program.buffers] == [(0, None), (16384, None), (8192, "exact")]
    late = BY_HAND.replace("      - store: {from: t, to: out, at: [0, 0]}\n", "")
    late += "      - store: {from: t, to: out, at: [0, 0]}\n"
    (found,) = compile_source(Source("k.yaml", late)).diagnostics
    assert found.rule.code == "PS4004"
    assert "share bytes 8192 to 16384" in found.message


def test_a_written_planner_is_one_of_the_planners() -> None:
    (found,) = compile_source(Source("k.yaml", BY_HAND.replace("planner: exact", "planner: luck"))).diagnostics
    assert found.rule.code.startswith("PS1")
    plain = built(BY_HAND.replace("planner: exact", "planner: null"))
    assert [b.planner for b in plain.buffers] == [None] * 3


REGIONS = """spec: v1
name: three
tensors:
  a: {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: out}
buffers:
  u1: {memory: vec}
  u2: {memory: vec}
program:
"""
for _name, _first, _second in (
    ("one", "", ", buffer: u2"),
    ("two", ", buffer: u1", ""),
    ("both", ", buffer: u1", ", buffer: u2"),
):
    REGIONS += f"""  - region: {_name}
    body:
      - load: {{into: t, from: a, at: [0, 0], shape: [64, 128]{_first}}}
      - load: {{into: u, from: a, at: [0, 0], shape: [64, 128]{_second}}}
      - add: {{into: y, lhs: t, rhs: u}}
      - add: {{into: y, lhs: y, rhs: t}}
      - store: {{from: y, to: out, at: [0, 0]}}
"""


def test_a_buffer_of_several_regions_has_one_address_clear_in_all() -> None:
    program = built(REGIONS)
    for region in regions(program.body):
        lives = Lifetimes(region.body)
        here = sorted((b for b in program.buffers if b.name in lives.of), key=lambda b: b.address or 0)
        for low, high in pairwise(here):
            assert (low.address or 0) + (low.bytes or 0) <= (high.address or 0), region.name


def test_packing_needs_no_or_tools_where_first_fit_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "installed", lambda: False)
    built(PACKED)
    (found,) = compile_source(Source("k.yaml", SEARCHED)).diagnostics
    assert any("pip install 'pypto-spec[exact]'" in text for text in found.helps)

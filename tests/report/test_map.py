"""The map's data: lives, ranges, peaks and conflicts are those that the compiler plans and checks with."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec, gather
from pypto_spec.driver.map import map_specs
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.driver.variants import expand
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.rewrite import regions
from pypto_spec.passes.memory.lifetimes import Lifetimes, peak
from pypto_spec.report.map.document import SCHEMA
from pypto_spec.report.map.lives import Lives
from tests.cli.specs import OVERFLOW, ROOT
from tests.pages.specs import GALLERY, RING, dump, overlapping, tagged

VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def document(*specs: Spec) -> dict[str, Any]:
    """The map, which keeps to its schema."""
    text = map_specs(specs, "json").text
    assert text is not None
    made: dict[str, Any] = json.loads(text)
    VALIDATOR.validate(made)
    return made


def source(text: str) -> Spec:
    return Spec(Source("k.yaml", text), "yaml", text.encode())


def memory(*specs: Spec) -> dict[str, Any]:
    """The only memory of the only kernel."""
    ((found,),) = [k["memories"] for p in document(*specs)["programs"] for k in p["kernels"]]
    assert isinstance(found, dict)
    return found


def value(found: dict[str, Any], name: str) -> dict[str, Any]:
    (only,) = [v for b in found["buffers"] for v in b["values"] if v["name"] == name]
    assert isinstance(only, dict)
    return only


@cache
def planned(path: Path) -> tuple[Compiled, ...]:
    """The programs of a spec as they stand before flags and barriers come between the statements."""
    specs = expand(gather([str(path)]), {}).specs
    return tuple(compile_spec(spec, after="AllocateMemoryAddr", keep_stages=True) for spec in specs)


def test_the_schema_is_one() -> None:
    VALIDATOR.check_schema(VALIDATOR.schema)
    good = document(source(RING))
    assert [e.message for e in VALIDATOR.iter_errors({**good, "map": 2})] == ["1 was expected"]
    assert list(VALIDATOR.iter_errors({**good, "more": 1}))


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_maps_of_the_gallery_say_what_was_planned(path: Path) -> None:
    done = planned(path)
    found = document(*(one.spec for one in done))
    assert [p["variant"] for p in found["programs"]] == [one.spec.variant for one in done]
    for program, one in zip(found["programs"], done, strict=True):
        assert one.program is not None
        buffers = {b.name: b for b in one.program.buffers}
        for kernel, region in zip(program["kernels"], regions(one.program.body), strict=True):
            lives = Lifetimes(region.body).of
            drawn = {b["name"]: b for m in kernel["memories"] for b in m["buffers"]}
            assert {n: (b["life"][0], b["life"][1]) for n, b in drawn.items()} == {
                n: (life.start, life.end) for n, life in lives.items()
            }
            for name, buffer in drawn.items():
                assert (buffer["address"], buffer["bytes"], buffer["slots"], buffer["owner"]) == (
                    buffers[name].address, buffers[name].bytes, buffers[name].slots, buffers[name].owner,
                )  # fmt: skip
                names = {v["name"] for v in buffer["values"] if v["kind"] != "scratch"}
                assert names == {v.name for v in lives[name].values}
                end = buffer["address"] + buffer["bytes"] * buffer["slots"]
                assert all(
                    buffer["address"] <= low < high <= end for v in buffer["values"] for low, high in v["ranges"]
                )
                assert all(
                    buffer["life"][0] <= v["life"][0] <= v["life"][1] <= buffer["life"][1] for v in buffer["values"]
                )
            for found_memory in kernel["memories"]:
                assert found_memory["conflicts"] == []
                sizes = {b["name"]: b["bytes"] * b["slots"] for b in found_memory["buffers"]}
                step, most = peak(lives, sizes)
                assert (found_memory["peak"]["step"], found_memory["peak"]["bytes"]) == (step, most)
                assert found_memory["end"] == max(b["address"] + sizes[b["name"]] for b in found_memory["buffers"])


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_steps_know_their_lines_in_both_texts(path: Path) -> None:
    specs = expand(gather([str(path)]), {}).specs
    text = specs[0].source.text.splitlines()
    for program, spec in zip(document(*specs)["programs"], specs, strict=True):
        done = compile_spec(spec, keep_stages=True)
        assert done.program is not None
        ir = dump_text(done.program, program["after"], spec).splitlines()
        for kernel, region in zip(program["kernels"], regions(done.program.body), strict=True):
            places = Lives(region.body).places
            for step, place in zip(kernel["steps"], places, strict=True):
                first, last = step["ir_lines"]
                keyword = (
                    place.stmt.name if isinstance(place.stmt, Op) else "" if step["kind"] == "end" else step["kind"]
                )
                assert ir[first - 1].strip().startswith(f"- {keyword}")
                assert f"src: [{place.stmt.loc.span.line}, " in "".join(ir[first - 1 : max(last, first + 2)])
                assert text[step["lines"][0] - 1].strip()


def test_a_ring_is_drawn_in_every_slot() -> None:
    found = memory(source(RING))
    ring, place = found["buffers"]
    assert (ring["name"], ring["owner"], ring["slots"], ring["bytes"], ring["line"]) == ("ub", "author", 2, 32768, 8)
    assert value(found, "t.1")["ranges"] == [[0, 32768], [32768, 65536]]
    assert value(found, "u.1")["ranges"] == [[65536, 98304]]
    assert (value(found, "y.1")["over"], place["line"]) == ("u.1", None)
    fixed = memory(source(RING.replace("slot: i % 2", "slot: 1")))
    assert value(fixed, "t.1")["ranges"] == [[32768, 65536]]


def test_lives_follow_loops() -> None:
    text = """\
spec: v1
name: lives
tensors:
  a: {dtype: fp32, shape: [512, 128]}
  g: {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
  - region: lives
    body:
      - load: {into: w, from: g, at: [0, 0], shape: [64, 128]}
      - full: {into: s, shape: [64, 128], dtype: fp32, value: 0.0}
      - for: {index: i, count: 8}
        body:
          - load: {into: t, from: a, at: [i * 64, 0], shape: [64, 128]}
          - mul: {into: t, lhs: t, rhs: w}
          - add: {into: s, lhs: s, rhs: t}
      - store: {from: s, to: out, at: [0, 0]}
"""
    spec = source(text)
    (kernel,) = document(spec)["programs"][0]["kernels"]
    names = [step["text"] for step in kernel["steps"]]
    assert names == [
        "w.1 = load(g)", "s.1 = full()", "for i", "t.1 = load(a)", "t.2 = mul(t.1, w.1)", "s.3 = add(s.2, t.2)",
        "end of for i", "store(s.4, out)",
    ]  # fmt: skip
    found = kernel["memories"][0]
    lives = {name: value(found, name)["life"] for name in ("w.1", "s.1", "s.2", "s.3", "s.4", "t.1", "t.2")}
    assert lives == {
        "w.1": [1, 7], "s.1": [2, 3], "s.2": [3, 6], "s.3": [6, 7], "s.4": [7, 8], "t.1": [4, 5], "t.2": [5, 6],
    }  # fmt: skip
    assert [value(found, name)["kind"] for name in ("w.1", "s.1", "s.2", "s.4")] == [
        "load", "computed", "carried", "carried",
    ]  # fmt: skip
    assert value(found, "s.3")["over"] == "s.2"
    assert value(found, "w.1")["uses"] == [5]


def test_copies_of_a_pipeline_are_told_by_the_tags_before_memory_reuse(tmp_path: Path) -> None:
    path = tagged(ROOT / "specs" / "norms" / "layernorm.yaml", tmp_path / "tagged.yaml")
    text = path.read_text()
    (spec,) = gather([str(path)]).specs
    found = memory(spec)
    written = re.findall(r"- \w+: \{into: ([\w.]+),.*\n +type:.*\n +src:.*\n +stage: \[\[(\d), (\d)\]\]", text)
    assert len(written) > 10
    kept = {v["name"] for b in found["buffers"] for v in b["values"]}
    for name, group, copy in written:
        assert name in kept
        assert value(found, name)["stages"] == [[int(group), int(copy)]]
    assert value(found, "t.1")["stages"] == []
    scratch = [v for b in found["buffers"] for v in b["values"] if v["kind"] == "scratch"]
    assert scratch
    assert all(v["stages"] for v in scratch)


# Conflicts


@pytest.mark.parametrize(
    "path", [p for p in GALLERY if p.stem in ("argmax", "residual_rmsnorm", "topk", "layernorm")], ids=lambda p: p.stem
)
def test_buffers_that_the_compiler_refuses_are_conflicts(path: Path, tmp_path: Path) -> None:
    (spec,) = gather([str(overlapping(path, tmp_path / "d.yaml"))]).specs
    done = map_specs([spec], "json")
    refused = {
        tuple(sorted(re.findall(r"`([\w.]+)` and `([\w.]+)`", d.message)[0]))
        for d in done.findings[0][1]
        if d.rule.code == "PS4004"
    }
    assert refused
    found = [c for c in memory(spec)["conflicts"] if c["of"] == "buffers"]
    assert {tuple(sorted(c["names"])) for c in found} == refused
    messages = " ".join(d.message for d in done.findings[0][1])
    assert all(f"share bytes {c['bytes'][0]} to {c['bytes'][1]} of `vec`" in messages for c in found)


def test_values_that_the_compiler_refuses_are_conflicts(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    text = dump(ROOT / "specs" / "norms" / "layernorm.yaml", path)
    ((line, tile),) = re.findall(r"(- load: \{into: (b\.1), .*buffer: vec)\.\d", text)
    edited = text.replace(f"{line}.2", f"{line}.1")
    assert edited != text
    path.write_text(edited)
    (spec,) = gather([str(path)]).specs
    done = map_specs([spec], "json")
    assert [d.rule.code for d in done.findings[0][1]] == ["PS4002"]
    assert "`b` would overwrite `g`" in done.findings[0][1][0].message
    (conflict,) = memory(spec)["conflicts"]
    assert (conflict["of"], conflict["names"], conflict["buffers"]) == ("values", ["g.1", tile], ["vec.1", "vec.1"])


def test_arms_of_an_if_do_not_conflict_and_slots_that_differ_neither() -> None:
    text = """\
spec: v1
name: arms
tensors:
  a: {dtype: fp32, shape: [512, 128]}
  out: {dtype: fp32, shape: [512, 128], access: out}
buffers:
  ub: {memory: vec}
  two: {memory: vec, slots: 2}
program:
  - region: arms
    body:
      - for: {index: i, count: 8}
        body:
          - load: {into: p, from: a, at: [i * 64, 0], shape: [64, 128], buffer: two, slot: i % 2}
          - load: {into: q, from: a, at: [0, 0], shape: [64, 128], buffer: two, slot: (i + 1) % 2}
          - if: i < 4
            then:
              - exp: {into: t, x: p, buffer: ub}
            else:
              - abs: {into: t, x: q, buffer: ub}
          - store: {from: t, to: out, at: [i * 64, 0]}
"""
    found = memory(source(text))
    assert found["conflicts"] == []
    assert len(value(found, "p.1")["ranges"]) == 2


def test_scratch_where_its_statement_reads_is_a_conflict(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    text = dump(ROOT / "specs" / "norms" / "layernorm.yaml", path)
    edited = text.replace("v: mean.2, buffer: vec.0, scratch: [vec.7]", "v: mean.2, buffer: vec.0, scratch: [vec.1]")
    assert edited != text
    path.write_text(edited)
    found = memory(*gather([str(path)]).specs)["conflicts"]
    inside = [c["names"] for c in found if c["buffers"] == ["vec.1", "vec.1"]]
    assert inside == [["g.1", "scratch of row_expand_sub"]]


def test_an_overflow_is_drawn_to_where_it_would_end() -> None:
    spec = source(OVERFLOW)
    done = map_specs([spec], "json")
    assert [d.rule.code for d in done.findings[0][1]] == ["PS4001"]
    found = memory(spec)
    assert found["end"] > found["capacity"]
    assert document(spec)["programs"][0]["after"] == "AllocateMemoryAddr"


def test_what_is_found_behind_the_passes_does_not_keep_a_map_away() -> None:
    text = RING.replace("[512, 128]", "[512, 32]").replace("[64, 128]", "[64, 16]")
    spec = source(f"{text}diagnostics: {{error: [PH001]}}\n")
    done = map_specs([spec], "json")
    assert {d.rule.code for d in done.findings[0][1] if d.level is Severity.ERROR} == {"PH001"}
    assert [b["bytes"] for b in memory(spec)["buffers"]] == [64 * 16 * 4] * 2


@pytest.mark.parametrize("text", ["", "spec: v1\n", RING.replace("lhs: t", "lhs: v"), "{"])
def test_what_cannot_be_drawn_is_not(text: str) -> None:
    done = map_specs([source(text)], "html")
    assert done.text is None
    assert done.findings[0][1]

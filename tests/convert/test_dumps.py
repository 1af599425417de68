"""The law of dumps: reading one gives the program at that point, and printing that gives the same bytes."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from pypto_spec.convert.to_ir import convert
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import CompileError, Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.ir.nodes import Dump, For, Op, Program, Region
from pypto_spec.spec.models.document import load_document

EXPECTED = """\
spec: v1
dump: {after: InsertSync, source: exp_pipelined.yaml, sha256: "0000000000000000000000000000000000000000000000000000000000000000"}
name: exp_pipelined
about: exp over row tiles; the load of tile i+1 overlaps the compute of tile i
target: {platform: a2a3, planner: pypto, sync: manual}

tensors:
  a:   {dtype: fp32, shape: [512, 128]}
  out: {dtype: fp32, shape: [512, 128], access: out}

buffers:
  vec.0: {memory: vec, bytes: 32768, address: 0, owner: compiler}

program:
  - region: exp
    core: aiv
    body:
      - set_flag: {from: mte3, to: mte2, id: 0, for: [[18, 13], [16, 13]]}
      - for: {index: i, range: [0, 8, 1]}
        src: [14, 9]
        body:
          - wait_flag: {from: mte3, to: mte2, id: 0}
          - load: {into: t.1, from: a, at: [i * 64, 0], shape: [64, 128], memory: vec, buffer: vec.0}
            type: {dtype: fp32, shape: [64, 128], memory: vec}
            src: [16, 13]
          - set_flag: {from: mte2, to: v, id: 0, for: [[16, 13], [17, 13]]}
          - wait_flag: {from: mte2, to: v, id: 0}
          - exp: {into: y.1, x: t.1, buffer: vec.0}
            type: {dtype: fp32, shape: [64, 128], memory: vec}
            src: [17, 13]
          - set_flag: {from: v, to: mte3, id: 0, for: [[17, 13], [18, 13]]}
          - wait_flag: {from: v, to: mte3, id: 0}
          - store: {from: y.1, to: out, at: [i * 64, 0]}
            src: [18, 13]
          - set_flag: {from: mte3, to: mte2, id: 0, for: [[18, 13], [16, 13]]}
      - wait_flag: {from: mte3, to: mte2, id: 0}

golden:
  expect:
    out: exp(a)
"""  # noqa: E501
"""The intended look of a dump, after the design."""


def load(text: str, name: str = "build/dump.yaml", source: str | None = None) -> Program:
    return convert(load_document(Source(name, text)), Sink(), read_source=lambda _: source)


def body(program: Program) -> list[Op]:
    """The ops of the loop in the first region."""
    (region,) = program.body
    assert isinstance(region, Region)
    loop = next(node for node in region.body if isinstance(node, For))
    return [node for node in loop.body if isinstance(node, Op)]


def test_the_look_of_a_dump() -> None:
    assert to_spec(load(EXPECTED)) == EXPECTED


def test_a_dump_holds_the_program_at_that_point() -> None:
    program = load(EXPECTED)
    assert program.dump == Dump("InsertSync", "exp_pipelined.yaml", "0" * 64)
    region = program.body[0]
    assert isinstance(region, Region)
    assert region.kernel == "exp_pipelined_exp"
    read, _, store = body(program)
    assert read.results[0].buffer is not None
    assert [op.instrs is not None and len(op.instrs) for op in body(program)] == [1, 1, 1]
    assert store.operands["to"] is program.tensors[1]


def test_places_are_those_of_the_source() -> None:
    source = "\n" * 15 + "          - load:  {into: t, from: a}  # 数\n"
    read = body(load(EXPECTED, source=source))[0]
    assert (read.loc.span.source.name, read.loc.span.start) == ("build/exp_pipelined.yaml", (16, 13))
    assert read.loc.span.source.line(16)[read.loc.span.col - 1 :] == "load:  {into: t, from: a}  # 数"
    assert read.loc.dump is not None
    assert (read.loc.dump.source.name, read.loc.dump.line) == ("build/dump.yaml", 23)


def test_the_source_is_found_beside_the_dump(tmp_path: Path) -> None:
    data = b"spec: v1\n" * 20
    (tmp_path / "exp_pipelined.yaml").write_bytes(data)
    text = EXPECTED.replace("0" * 64, sha256(data).hexdigest())
    dump = str(tmp_path / "dump.yaml")
    for given, expected in ((text, "spec: v1"), (EXPECTED, "")):  # the second one's hash is of another file
        program = convert(load_document(Source(dump, given)), Sink())
        assert body(program)[0].loc.span.source.line(16) == expected
        assert body(program)[0].loc.span.start == (16, 13)


def test_without_the_header_it_is_an_ordinary_spec() -> None:
    text = "".join(line for line in EXPECTED.splitlines(keepends=True) if not line.startswith("dump:"))
    program = load(text)
    assert program.dump is None
    assert [op.loc.span.source.name for op in body(program)] == ["build/dump.yaml"] * 3
    assert [op.instrs for op in body(program)] == [None, None, None]
    assert body(program)[0].results[0].buffer is not None


def test_written_instructions_stay() -> None:
    steps = "            instructions:\n              - {call: Exp, args: [into, x, 4096]}\n"
    text = EXPECTED.replace("            src: [17, 13]\n", f"            src: [17, 13]\n{steps}")
    program = load(text)
    exp = body(program)[1]
    assert exp.instrs is not None
    recomputed = body(load(EXPECTED))[1].instrs
    printed = to_spec(program)
    assert printed == (EXPECTED if exp.instrs == recomputed else text)
    other = text.replace("4096", "2048")
    assert to_spec(load(other)) == other


def test_flags_of_the_author_keep_their_place() -> None:
    """Those of the compiler have none: they name what they order."""
    text = EXPECTED.replace("id: 0}\n\ngolden", "id: 0}\n        src: [20, 9]\n\ngolden")
    assert to_spec(load(text)) == text


def test_dumps_do_not_repeat_warnings() -> None:
    sink = Sink()
    text = EXPECTED.replace("for: {index: i, range: [0, 8, 1]}", "pipeline: {index: i, range: [0, 8, 1], stages: 2}")
    convert(load_document(Source("d.yaml", text)), sink)
    assert sink.found == []


def test_errors_of_a_dump_stand_at_the_source() -> None:
    text = EXPECTED.replace("x: t.1, buffer", "x: t.2, buffer")
    with pytest.raises(CompileError) as caught:
        load(text)
    assert caught.value.diagnostics[0].rule.code == "PS2001"


def test_a_dump_is_printed_for_every_header() -> None:
    """The header is the program's own; a pass's driver replaces it."""
    program = replace(load(EXPECTED), dump=Dump("Simplify", "a b.yaml", "1" * 64))
    assert 'dump: {after: Simplify, source: "a b.yaml", sha256: "' in to_spec(program)

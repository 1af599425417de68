"""Programs as text: the look, the quoting, and reading the text back."""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.convert import emit
from pypto_spec.convert.to_ir import convert
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.ir.dtype import FP16
from pypto_spec.ir.nodes import BufferRef, For, If, Op, Program, Region, Value
from pypto_spec.ir.types import Layout, Memory, TileType
from pypto_spec.spec.core_schema import resolve_plain
from pypto_spec.spec.models.document import load_document
from pypto_spec.spec.yaml_loader import load_yaml
from tests.convert.reading import read, region

TWO = TileType(FP16, (64, 128), Memory.VEC)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("t.1", "t.1"),
        ("i * 64 + 3", "i * 64 + 3"),
        ("-i", "-i"),
        ("(i // 2) * 3", "(i // 2) * 3"),
        ("-inf", "-inf"),
        ("y", "y"),
        ("num_blocks()", "num_blocks()"),
        ("min(a, b)", '"min(a, b)"'),
        ("x[0:2]", '"x[0:2]"'),
        ("on", '"on"'),
        ("null", '"null"'),
        ("No", '"No"'),
        ("true", '"true"'),
        ("12", '"12"'),
        ("1e5", '"1e5"'),
        ("", '""'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("a ", '"a "'),
        ("é", '"é"'),
        ("a\nb", '"a\\nb"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("\x85", '"\\x85"'),
        ("- a", '"- a"'),
        ("~", '"~"'),
        ("{a}", '"{a}"'),
    ],
)
def test_quoting_in_flow(text: str, written: str) -> None:
    assert emit.word(text) == written


@given(st.text())
def test_words_are_read_back(text: str) -> None:
    try:
        assert yaml.safe_load(f"[{emit.word(text)}]") == [text]
        assert yaml.safe_load(f"a: {emit.line(text)}") == {"a": text}
    except yaml.YAMLError:
        assert any(0xD800 <= ord(c) <= 0xDFFF for c in text)


@given(st.text())
def test_plain_words_are_strings_in_yaml_1_2(text: str) -> None:
    for made in (emit.word(text), emit.line(text)):
        assert made[0] == '"' or resolve_plain(made) == text


plain: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text("ab: ,[#", max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abn", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_plain_data(value: Any) -> None:
    if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 1 << 63):
        return
    try:
        made = load_yaml(Source("x", f"a: {emit.data(value)}")).to_plain()["a"]
    except Exception:
        if "e+" in str(value) or len(str(value)) > 18:
            return  # integers past 64 bits have no place in a spec
        raise
    assert made == value


def bare(program: Program) -> str:
    """The text without the places of statements, which are other ones in the text itself."""
    return "\n".join(line for line in to_spec(program).splitlines() if not line.lstrip().startswith("src:"))


def test_everything_a_header_holds() -> None:
    text = (
        "spec: v1\nname: k\nabout: 'one: line # 数'\n"
        "target: {platform: a5, planner: ptoas, l0c_double_buffer: true, unit_flag: true, precision: fast}\n"
        "diagnostics: {disable: [PH001], error: [PS2020]}\nconstants: {K: 8, low: -1.5}\n"
        "symbols: {M: {max: 64}}\nscalars: {eps: fp32}\ntensors:\n  a: {dtype: fp32, shape: [M, K * 2]}\n"
        "buffers:\n  ub: {memory: vec, slots: 2}\nprogram: []\n"
        "golden:\n  expect: {a: 'a * low + K'}\n  sizes: [{M: 1}, {M: 64}]\n  seed: 3\n  tolerance: {rtol: 0.5}\n"
        "  inputs: {a: {distribution: uniform, min: low, max: 2}}\n"
    )
    made = read(text)
    assert to_spec(made) == (
        'spec: v1\nname: k\nabout: "one: line # 数"\n'
        "target: {platform: a5, planner: ptoas, l0c_double_buffer: true, unit_flag: true, "
        "sync: auto, precision: fast}\n"
        "diagnostics: {disable: [PH001], error: [PS2020]}\n\n"
        "symbols:\n  M: {min: 1, max: 64}\nscalars: {eps: fp32}\n\ntensors:\n  a: {dtype: fp32, shape: [M, 16]}\n\n"
        "buffers:\n  ub: {memory: vec, slots: 2}\n\nprogram: []\n\n"
        "golden:\n  sizes: [{M: 1}, {M: 64}]\n  expect:\n    a: a * (-1.5) + 8\n"
        "  inputs:\n    a: {distribution: uniform, min: -1.5, max: 2}\n  tolerance: {rtol: 0.5}\n  seed: 3\n"
    )
    assert bare(read(to_spec(made))) == bare(made)


def first_op(program: Program) -> Op:
    (found,) = program.body
    assert isinstance(found, Region)
    assert isinstance(found.body[0], Op)
    return found.body[0]


def with_buffers(text: str) -> str:
    """The spec with two buffers."""
    return text.replace(
        "program:", "buffers:\n  ub: {memory: vec, slots: 2}\n  v.0: {memory: vec, owner: compiler}\nprogram:"
    )


def with_body(program: Program, *body: Any) -> Program:
    (found,) = program.body
    assert isinstance(found, Region)
    return replace(program, body=(replace(found, body=body),))


def test_places_scratch_and_full_types() -> None:
    program = read(with_buffers(region("exp: {into: y, x: a}")))
    kind = TileType(FP16, (64, 128), Memory.VEC, Layout.ND, (8, 128), 256)
    value = Value("y.1", kind, BufferRef("ub", 64, 1))
    op = replace(first_op(program), results=(value,), scratch=(BufferRef("v.0"), BufferRef("v.0", 32)))
    text = to_spec(with_body(program, op))
    assert (
        "exp: {into: y.1, x: a, buffer: ub, slot: 1, offset: 64, scratch: [v.0, {buffer: v.0, offset: 32}]}\n"
        "        type: {dtype: fp16, shape: [64, 128], memory: vec, layout: nd, valid: [8, 128], pitch: 256}\n"
    ) in text


def test_carries_whose_place_differs_say_so() -> None:
    kind = "type: {dtype: fp32, shape: [64, 128], memory: vec}"
    text = region(
        "load: {into: t, from: a, at: [0, 0], shape: [64, 128], memory: vec}",
        f"for: {{index: i, count: 2}}\ncarry: {{s: {{init: t, {kind}, buffer: ub, slot: 0}}}}\n"
        "results: {sum: {of: s, buffer: ub, slot: 1}}\nbody:\n  - let: u = s + s\n  - yield: {s: u}",
    )
    text = with_buffers(text)
    program = read(text)
    printed = to_spec(program)
    assert "carry: {s: {init: t, buffer: ub, slot: 0}}\n" in printed
    assert "results: {sum: {of: s, buffer: ub, slot: 1}}\n" in printed
    assert bare(read(printed)) == bare(program)


def test_speed() -> None:
    """10,000 statements; a third of these times is usual, much more means that something is no longer linear."""
    lines = ["load: {into: t0, from: a, at: [0, 0], shape: [64, 128]}"]
    lines += [f"let: t{i + 1} = t{i} * 0.5" for i in range(10_000)]
    document = load_document(Source("k.yaml", region(*lines)))
    start = process_time()
    program = convert(document, Sink())
    made = process_time()
    to_spec(program)
    assert made - start < 1.0
    assert process_time() - made < 0.4


def test_nodes_of_the_ir_are_all_printed() -> None:
    """A loop, a branch and the lowest level in one program."""
    text = region(
        "set_flag: {from: mte2, to: v, id: 0}",
        "for: {index: i, count: 2}\nbody:\n  - if: i == 1\n    then:\n      - barrier: v\n"
        "    else:\n      - let: y = a",
        "wait_flag: {from: mte2, to: v, id: 0, for: [[1, 2], [3, 4]]}",
    ).replace("name: k\n", "name: k\ntarget: {sync: manual}\n", 1)
    program = read(text)
    (found,) = program.body
    assert isinstance(found, Region)
    loop = found.body[1]
    assert isinstance(loop, For)
    assert isinstance(loop.body[0], If)
    assert bare(read(bare(program))) == bare(program)

"""Statements and sections: what is accepted, and one clear error for each thing that is wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ir.nodes import Pipe
from pypto_spec.ir.types import Memory
from pypto_spec.spec.formula import Expr, Name, Number, to_text
from pypto_spec.spec.models import structure
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.document import Document, load_document
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.fields import DType, OnChip
from pypto_spec.spec.models.keywords import default_table
from pypto_spec.spec.models.sections import DocumentModel
from pypto_spec.spec.models.statement import Statement
from tests.spec.fake_ops import TABLE
from tests.spec.places import cut

HEAD = "spec: v1\nname: n\ntensors:\n  a: {dtype: fp32, shape: [64, 64]}\nprogram:\n  - region: r\n    body:\n"


def document(text: str, **defines: str) -> Document:
    return load_document(Source("spec.yaml", text), defines=defines, table=TABLE)


def errors(text: str, **defines: str) -> list[Diagnostic]:
    with pytest.raises(CompileError) as caught:
        document(text, **defines)
    return list(caught.value.diagnostics)


def in_region(*lines: str) -> str:
    return HEAD + "".join(f"      {line}\n" for line in lines)


def statements(*lines: str) -> tuple[Statement, ...]:
    return document(in_region(*lines)).program[0].body


def test_one_statement_of_each_kind() -> None:
    load, add, store, rotate = statements(
        "- load: {into: t.1, from: a, at: [i * 64, 0], shape: [64, TC], memory: vec, buffer: vec.0, slot: i % 2}",
        "  type: {dtype: fp32, shape: [64, 64], memory: vec}",
        "  src: [16, 13]",
        "- adds: {into: y, x: t.1, scalar: -inf, scratch: [vec.1, {buffer: vec.2, offset: 32}]}",
        "- store: {from: y, to: a, at: [0, 0], atomic: add}",
        "  allow: PH001",
        "- rotate: {into: z, x: y, by: 2 * i, rule: q = z + 1, via: vec.1}",
    )
    assert load.keyword == "load"
    assert load.span.start == load.start == (8, 9)
    assert cut(load.span).startswith("load: {into")
    assert cut(load.span).endswith("i % 2}")
    written = load.model.written
    assert list(written) == ["into", "from", "at", "shape", "memory", "buffer", "slot"]
    assert [to_text(e) for e in written["at"]] == ["i * 64", "0"]
    assert written["shape"] == (Number(64), Name("TC"))
    span = load.field_span("at.0")
    assert span is not None
    assert cut(span) == "i * 64"
    assert cut(load.part_span(written["at"][0].left, "at", 0)) == "i"
    assert cut(load.part_span(written["shape"][0], "shape", 0)) == "64"
    assert load.extras.src == (16, 13)
    assert load.extras.type is not None
    assert load.extras.type.memory == "vec"
    assert load.field_span("type.memory") is not None
    assert to_text(add.model.written["scalar"]) == "-inf"
    assert [s.buffer for s in add.model.written["scratch"]] == ["vec.1", "vec.2"]
    assert store.extras.allow == ("PH001",)
    assert rotate.model.written["rule"].target == "q"


STRUCTURE = """
spec: v1
name: n
program:
  - spmd: {index: b, blocks: auto}
    body:
      - region: r
        as: first
        after: zero
        core: aiv
        blocks: 4
        order: {swizzle: 2}
        body:
          - for: {index: i, range: [b, 'ceil_div(M, 64)', num_blocks()]}
            carry: {m: m0, k: {init: k0, buffer: vec.0}}
            results: {m.9: m}
            body:
              - if: i == 0
                results: [q, {name: p, type: {dtype: fp32}}]
                then:
                  - let: y = exp(x[0:4, :])
                  - yield: {q: y}
                else: []
              - barrier: all
              - barrier: {pipe: v, for: [[1, 2], [3, 4]]}
              - set_flag: {from: mte2, to: v, id: i % 2, for: [[[1, 2], [3, 4]], [[1, 2], [5, 6]]]}
              - alloc: {buffer: ub, memory: vec, bytes: 64}
          - pipeline: {index: i, count: 4, stages: 2}
            body: []
            yield: {m: m.1}
  - parallel: {index: [i, j], count: 4, order: row}
    body: []
"""


def name_of(expr: Expr | None) -> str:
    assert isinstance(expr, Name)
    return expr.id


def test_structure() -> None:
    spmd, parallel = document(STRUCTURE).program
    assert spmd.model.written["blocks"] == "auto"
    (region,) = spmd.body
    model = region.model
    assert isinstance(model, structure.Region)
    assert (model.name, model.as_, model.after, model.core, model.order) == (
        "r",
        "first",
        ("zero",),
        "aiv",
        "swizzle:2",
    )
    assert region.field_span("as") is not None
    loop, pipeline = region.body
    carried = {k: (name_of(c.init), c.buffer) for k, c in loop.extras.carry.items()}
    assert carried == {"m": ("m0", None), "k": ("k0", "vec.0")}
    assert loop.extras.results["m.9"].of == "m"
    branch, barrier, other, flag, alloc = loop.body
    assert [s.keyword for s in branch.then] == ["let", "yield"]
    assert branch.extras.results["p"].type is not None
    assert branch.orelse == ()
    assert cut(branch.then[0].part_span(branch.then[0].model.written["formula"].value)) == "exp(x[0:4, :])"
    assert (barrier.model.written, other.model.written["for"]) == ({"pipe": "all"}, (((1, 2), (3, 4)),))
    assert len(flag.model.written["for"]) == 2
    assert alloc.model.written["memory"] == "vec"
    assert [name_of(value) for value in pipeline.extras.yields["m"]] == ["m.1"]
    assert parallel.model.written["index"] == ("i", "j")


SECTIONS = """
spec: v1
name: n
about: costs $5
target: a5
constants: {K: 4, mode: fast}
symbols: {M: {min: 1, max: K * 2}}
scalars: {eps: fp32}
tensors:
  x: {dtype: fp32, shape: [M, K]}
  y: {dtype: fp16, shape: [1], access: out}
buffers:
  ub: {memory: vec, slots: 2}
  vec.0: {memory: vec, bytes: 64, address: 0, owner: compiler}
program: []
golden:
  expect: {y: x + 1}
  sizes: [{M: 3}]
  tolerance: {rtol: 1e-3}
  seed: 3
  python: f.py:g
  inputs: {x: {min: -1, max: 1}}
diagnostics: {disable: [PH001, wrong-type], error: PH-MR-001}
x-mine: [whatever]
"""


def test_sections() -> None:
    found = document(SECTIONS)
    model = found.model
    assert (model.target.platform, model.about, found.values) == ("a5", "costs $5", {"K": 4, "mode": "fast"})
    assert model.symbols["M"].max is not None
    assert (model.tensors["x"].access, model.tensors["y"].access) == ("in", "out")
    assert (model.buffers["vec.0"].owner, model.diagnostics.error) == ("compiler", ("PH-MR-001",))
    assert model.golden is not None
    assert model.golden.tolerance is not None
    assert (model.golden.tolerance.rtol, model.golden.sizes) == (1e-3, ({"M": 3},))
    assert cut(found.span("tensors", "x", "shape", 0)) == "M"
    assert cut(found.key_span("tensors", "y")) == "y"
    assert cut(found.span("tensors", "x", "nothing")) == "{dtype: fp32, shape: [M, K]}"


def test_words_can_be_parameters() -> None:
    text = (
        "spec: v1\nname: n\nconstants: {d: fp16, p: ptoas, N: 3}\ntarget: {planner: $p}\n"
        "program:\n  - region: r\n    body:\n"
        "      - cast: {into: y, x: t, dtype: $d}\n      - for: {index: i, count: $N}\n        body: []\n"
    )
    found = document(text, d="bf16")
    assert found.model.target.planner == "ptoas"
    cast, loop = found.program[0].body
    assert (cast.model.written["dtype"], loop.model.written["count"]) == ("bf16", Number(3))
    (wrong,) = errors(text, d="fp61")
    assert (wrong.rule.code, cut(wrong.primary.span)) == ("PS1016", "$d")
    assert "found `fp61`" in wrong.message
    (unknown,) = errors(text.replace("$d", "$e"))
    assert (unknown.rule.code, cut(unknown.primary.span)) == ("PS2001", "$e")


WRONG = [
    (["- exp: {into: y, xx: t}"], "PS1001", "xx", "did you mean `x`?"),
    (["- exp: {into: y}"], "PS1015", "exp", "needs the key `x`"),
    (["- exp: {into: y, x: 3}"], "PS1014", "3", "`x` is a word"),
    (["- exp: {into: 1y, x: t}"], "PS2012", "1y", "not spelt"),
    (["- exp: {into: , x: t}"], "PS1014", "into", "found nothing"),
    (["- exp: [y, t]"], "PS1014", "[y, t]", "a mapping of fields"),
    (["- exp:"], "PS1014", "exp", "found nothing"),
    (["- exp:", "  into: y", "  x: t"], "PS1014", "into", "indent"),
    (["- exq: {into: y, x: t}"], "PS1001", "exq", "did you mean `exp`?"),
    (["- zzqq: {}"], "PS1001", "zzqq", "statements here are"),
    (["- exp: {into: y, x: t}", "  mul: {into: z, lhs: y, rhs: y}"], "PS1021", "mul", "`exp` and `mul`"),
    (["- src: [1, 2]"], "PS1021", "src: [1, 2]", "no keyword"),
    (["- 3"], "PS1021", "3", "one keyword"),
    (["- [1]"], "PS1021", "[1]", "one keyword"),
    (["- break"], "PS1021", "break", "one keyword"),
    (["- tpush: {}"], "PS7001", "tpush", "not there yet"),
    (["- break: {when: 1}"], "PS1001", "when", "no key `when`"),
    (["- tpush: {x: t}"], "PS7001", "tpush", "not there yet"),
    (["- region: q", "  body: []"], "PS6001", "region", "move it out"),
    (["- for: {index: i}", "  body: []"], "PS1015", "for", "`count` or `range`"),
    (["- for: {index: i, count: 3, range: [0, 1]}", "  body: []"], "PS1022", "range", "only one of"),
    (["- for: {index: i, range: [0]}", "  body: []"], "PS1019", "[0]", "at least 2"),
    (["- for: {index: i, count: 3}"], "PS1015", "for", "`body`"),
    (["- for: {index: i, count: 3}", "  body:"], "PS1014", "body", "list of statements"),
    (["- for: {index: i, count: 3}", "  body: {exp: {}}"], "PS1014", "{exp: {}}", "list of statements"),
    (["- for: {index: i, count: 3}", "  bdy: []"], "PS1001", "bdy", "did you mean `body`?"),
    (["- load: {into: t, from: a, at: [i *, 0], shape: [1, 1]}"], "PS1017", "", "too early"),
    (["- load: {into: t, from: a, at: 0, shape: [1, 1]}"], "PS1014", "0", "brackets"),
    (["- load: {into: t, from: a, at: ['q + \\x', 0], shape: [1, 1]}"], "PS1017", "\\", "no meaning"),
    (["- cast: {into: t, x: a, dtype: fp23}"], "PS1016", "fp23", "did you mean `fp32`?"),
    (["- cast: {into: t, x: a, dtype: 3}"], "PS1014", "3", "the number `3`"),
    (["- store: {from: t, to: a, at: [0, 0], atomic: ad}"], "PS1016", "ad", "did you mean `add`?"),
    (["- let: y = exp(x"], "PS1017", "(", "never closed"),
    (["- let: {y: 3}"], "PS1014", "{y: 3}", "holds a formula"),
    (["- let: >", "    y =", "    exp(x $ 2)"], "PS1017", "$", "no meaning"),
    (["- exp: {into: y, x: t}", "  src: [3]"], "PS1019", "[3]", "too few"),
    (["- exp: {into: y, x: t}", "  type: {dtype: fp32, shpe: [3]}"], "PS1001", "shpe", "did you mean `shape`?"),
    (["- exp: {into: y, x: t}", "  then: []"], "PS1001", "then", "known keys"),
    (["- barrier: x"], "PS1016", "x", "`mte1`"),
    (["- barrier: {pipe: v, for: [1, 2]}"], "PS1014", "[1, 2]", "line and column"),
    (["- set_flag: {from: mte2, to: v}"], "PS1015", "set_flag", "`id`"),
]


@pytest.mark.parametrize(("lines", "code", "under", "words"), WRONG)
def test_wrong_statements(lines: list[str], code: str, under: str, words: str) -> None:
    (found,) = errors(in_region(*lines))
    assert found.rule.code == code
    assert cut(found.primary.span) == under
    assert words in " ".join([found.message, *found.helps])


@pytest.mark.parametrize(
    ("old", "new", "code", "under"),
    [
        ("spec: v1", "spec: v2", "PS1016", "v2"),
        ("name: n", "nme: n", "PS1001", "nme"),
        ("name: n", "name: 3", "PS1014", "3"),
        ("name: n", "name: a-b", "PS2012", "a-b"),
        ("program: []", "program:", "PS1014", "program"),
        ("program: []", "prgram: []", "PS1001", "prgram"),
        ("target: a2a3", "target: a6", "PS1016", "a6"),
        ("target: a2a3", "target: {sync: maual}", "PS1016", "maual"),
        ("target: a2a3", "target: {unit_flag: 1}", "PS1014", "1"),
        ("target: a2a3", "tensors: {x: {dtype: fp32, shap: [1]}}", "PS1001", "shap"),
        ("target: a2a3", "tensors: {x: 3}", "PS1014", "3"),
        ("target: a2a3", "tensors: [x]", "PS1014", "[x]"),
        ("target: a2a3", "tensors: {1x: {dtype: fp32, shape: [1]}}", "PS2012", "1x"),
        ("target: a2a3", "tensors: {x: {dtype: fp32, shape: []}}", "PS1019", "[]"),
        ("target: a2a3", "symbols: {M: {mx: 3}}", "PS1001", "mx"),
        ("target: a2a3", "golden: {expect: {o: 'a +'}}", "PS1017", ""),
        ("target: a2a3", "golden: {python: foo}", "PS1019", "foo"),
        ("target: a2a3", "golden: {tolerance: {rtol: -1}}", "PS1019", "-1"),
        ("target: a2a3", "golden: {sizes: [{M: 1.5}]}", "PS1014", "1.5"),
        ("target: a2a3", "diagnostics: {disable: PS1x}", "PS1016", "PS1x"),
        ("target: a2a3", "dump: {after: X, source: f, sha256: 'g'}", "PS1019", "'g'"),
        ("program: []", "program:\n  - exp: {into: y, x: t}", "PS6001", "exp"),
        ("program: []", "program:\n  - let: y = x", "PS6001", "let"),
        ("program: []", "program:\n  - region: r\n    split: up_down\n    body: []", "PS7001", "split"),
        ("program: []", "program:\n  - region: {name: r}\n    body: []", "PS1014", "{name: r}"),
        ("program: []", "program:\n  - parallel: {index: i, count: 2, order: diag}\n    body: []", "PS1016", "diag"),
    ],
)
def test_wrong_sections(old: str, new: str, code: str, under: str) -> None:
    text = "spec: v1\nname: n\ntarget: a2a3\nprogram: []\n"
    document(text)
    found = errors(text.replace(old, new))
    assert [(d.rule.code, cut(d.primary.span)) for d in found] == [(code, under)]
    assert all(d.helps for d in found)


def test_errors_of_an_aliased_statement_name_the_alias_once() -> None:
    found = errors(in_region("- exp: &e {into: y, x: 3}", "- exp: *e", "- exp: *e"))
    assert [(d.rule.code, cut(d.primary.span)) for d in found] == [("PS1014", "3")]
    (alone,) = errors("x-e: &e {into: y, x: 3}\n" + in_region("- exp: *e"))
    assert [cut(label.span) for label in alone.secondary] == ["*e"]


def test_all_errors_of_a_file_come_in_order() -> None:
    found = errors(
        "spec: v1\nname: n\nconstants: {A: q}\n"
        + in_region("- exp: {into: y}", "- let: y = (").split("\n", 2)[2]
        + "zz: 1\n"
    )
    assert [d.rule.code for d in found] == ["PS1015", "PS1017", "PS1001"]


def test_words_of_the_models_are_those_of_the_ir() -> None:
    assert words_of(DType) == set(DTYPES)
    assert words_of(OnChip) == {memory.value for memory in Memory} - {"gm"}
    assert words_of(structure.BarrierWord) == set(get_args(Pipe))


def words_of(annotated: Any) -> set[str]:
    words, meanings = get_args(annotated)
    assert set(get_args(words)) == set(meanings.words)
    return set(meanings.words)


def test_the_registry_has_a_model_for_every_operator() -> None:
    table = default_table()
    for keyword in table:
        if not keyword.reserved:
            model = table.model(keyword.name)
            assert keyword.doc
            assert all(field.description for field in model.model_fields.values()), keyword.name


def plain_unions(schema: object) -> Iterator[str]:
    """What the unions of a schema choose from that try all their types."""
    if isinstance(schema, dict):
        if schema.get("type") == "union":
            yield str(schema["choices"])
        for key, inner in schema.items():
            if key not in (
                "metadata",
                "serialization",
                "variants",
            ):  # `spec/variants.py` reads variants without a model
                yield from plain_unions(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from plain_unions(inner)


def test_no_model_tries_several_types() -> None:
    """Their names, as the validator has them, would stand in the paths of messages."""
    table = default_table()
    models: list[type[Model]] = [DocumentModel, Extras]
    for model in models + [table.model(keyword.name) for keyword in table if not keyword.reserved]:
        model.model_rebuild(force=True)
        assert list(plain_unions(model.__pydantic_core_schema__)) == [], model.__name__


def test_items_that_are_wrong_are_not_missing() -> None:
    text = "spec: v1\nname: n\ntensors:\n  x: {dtype: fp32, shape: ['2 +']}\nprogram: []\n"
    assert [d.rule.code for d in errors(text)] == ["PS1017"]
    assert [d.rule.code for d in errors(text.replace("'2 +'", ""))] == ["PS1019"]


def chain(count: int) -> str:
    lines = [
        f"      - mul: {{into: t{i + 1}, lhs: t{i}, rhs: t0}}\n"
        if i % 2
        else f"      - exp: {{into: t{i + 1}, x: t{i}}}\n"
        for i in range(count)
    ]
    return HEAD + "".join(lines)


def test_long_programs_are_near_linear() -> None:
    def seconds(count: int) -> float:
        source = Source("s.yaml", chain(count))
        start = time.process_time()
        load_document(source, table=TABLE)
        return time.process_time() - start

    seconds(10)
    small, large = seconds(1_000), seconds(10_000)
    assert large < 3  # measured 0.35 s
    assert large < 40 * small


def test_imports_stay_light() -> None:
    code = (
        "import sys; import pypto_spec.spec.models.document, pypto_spec.spec.load\n"
        "heavy = {'ruamel', 'torch', 'jinja2', 'tree_sitter', 'rich', 'numpy', 'pypto_spec.ops'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

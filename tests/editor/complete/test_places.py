"""What is proposed where: exactly that, where it is little."""

from __future__ import annotations

import pytest

from pypto_spec.editor.model import Kind
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.fields import DTYPE_WORDS, MEMORY_WORDS
from pypto_spec.spec.models.keywords import default_table
from tests.editor.complete.asking import BODY, HEAD, TOML, ask, item, labels, typed

S = HEAD + BODY
DTYPES = [*DTYPE_WORDS]
SIZES = ["row", "i", "N", "TR", "M", "n"]
WHOLE = ["abs", "ceil_div", "max", "min"]
SECTIONS = [
    "target",
    "constants",
    "symbols",
    "scalars",
    "tensors",
    "buffers",
    "functions",
    "golden",
    "diagnostics",
    "variants",
]
LOAD = ["into", "from", "at", "shape", "valid", "memory", "layout", "buffer", "slot"]
FIRST = ["let", "load", "move", "store"]
LOOPS = ["for", "pipeline", "unroll", "while"]
JUMPS = ["break", "continue"]
BY_HAND = ["call", "yield", "alloc", "set_flag", "wait_flag", "barrier"]
OTHERS = [name for name in OPS if name not in FIRST]
LOOPING = [*FIRST, *LOOPS, *JUMPS, "if", *OTHERS, *BY_HAND]
STATEMENTS = [*FIRST, *LOOPS, "if", *OTHERS, *JUMPS, *BY_HAND]
CONTROL = ["region", "create_tensor", "parallel", "spmd", "for", "if", "yield"]


def test_every_keyword_is_ranked() -> None:
    table = default_table()
    assert sorted(LOOPING) == sorted(STATEMENTS) == sorted(table.names("execution"))
    assert sorted(CONTROL) == sorted(table.names("control"))


EXACT = {
    # The top of a document: what must be there first, what is there not again.
    "|": ["spec", "name", "program", "about", *SECTIONS],
    "spec: v1\n|": ["name", "program", "about", *SECTIONS],
    "spec: v1\n|\nprogram: []\n": ["name", "about", *SECTIONS],
    "na|": ["spec", "name", "program", "about", *SECTIONS],
    "---\n|": ["spec", "name", "program", "about", *SECTIONS],
    HEAD + "|": ["about", "target", "golden", "diagnostics", "variants"],
    # Words, names and formulas of the sections.
    "spec: |": ["v1"],
    "target: |": ["a2a3", "a5", "{...}"],
    "target:|": ["a2a3", "a5", "{...}"],
    "target: {planner: |}": ["pypto", "ptoas"],
    "target: {planner: pypto, |": ["platform", "l0c_double_buffer", "unit_flag", "sync", "precision"],
    "target:\n  planner: pypto\n  |": ["platform", "l0c_double_buffer", "unit_flag", "sync", "precision"],
    "target: {unit_flag: |": ["false", "true"],
    "tensors:\n  |": [],
    "tensors:\n  x: {|": ["dtype", "shape", "strides", "access", "layout"],
    "tensors:\n  x: {dtype: fp32, |\n  y: {dtype: fp32}": ["shape", "strides", "access", "layout"],
    "tensors:\n  x:\n    |": ["dtype", "shape", "strides", "access", "layout"],
    "tensors:\n  x:\n    dtype: |\n": DTYPES,
    "tensors:\n  x: {dtype:|": DTYPES,
    "tensors:\n  x: {access: |": ["in", "out", "inout"],
    "tensors:\n  x: |": ["{...}"],
    "scalars: {eps: |": DTYPES,
    "constants: {a: 1, b: |": ["a", "abs", "ceil_div", "exp", "log", "max", "min", "sqrt"],
    "constants: {a: 1, |": [],
    "symbols: {M: {|": ["min", "max", "multiple_of"],
    "symbols: {M: {min: 1, |": ["max", "multiple_of"],
    "buffers: {ub: {memory: |": [*MEMORY_WORDS],
    "buffers:\n  ub: {memory: vec, |": ["slots", "bytes", "address", "owner"],
    "functions:\n  f:\n    |": ["body", "kind", "about", "args", "returns"],
    "functions:\n  f:\n    kind: |": ["inline"],
    "functions:\n  f: {args: {x: |": ["tile", "tensor", "index", "scalar", "{...}"],
    "functions:\n  f:\n    returns: [|]\n    body:\n      - let: y = 1\n      - exp: {into: z, x: y}\n": ["y", "z"],
    HEAD + "golden: {|": ["expect", "python", "sizes", "inputs", "tolerance", "seed", "sample"],
    HEAD + "golden: {expect: {|": ["out"],
    HEAD + "golden:\n  expect:\n    |": ["out"],
    HEAD + "golden:\n  inputs: {x: {}, |": ["eps", "n"],
    HEAD + "golden:\n  inputs: {x: {|": ["distribution", "min", "max", "values"],
    HEAD + "golden:\n  sizes: [{M: 1}, {|": ["M"],
    HEAD + "golden:\n  tolerance: {rtol: 1.0e-3, |": ["atol", "ulps"],
    HEAD + "diagnostics: {|": ["disable", "error"],
    HEAD + "variants:\n  |": ["matrix", "include", "exclude"],
    # Statements: keywords, their fields, what stands beside them.
    HEAD + "  - |": CONTROL,
    HEAD + "  |": CONTROL,
    S + "- |": LOOPING,
    S + "-|": LOOPING,
    S + "- lo|": LOOPING,
    HEAD + "  - region: r\n    body:\n      - |": STATEMENTS,
    S + "- unroll: {index: k, count: 2}\n" + BODY + "  body:\n" + BODY + "    - |": STATEMENTS,
    S + "- if: i > 1\n" + BODY + "  then:\n" + BODY + "    - |": LOOPING,
    S + "- lo|\n" + BODY + "- exp: {into: y, x: t}\n": LOOPING,
    S + "|": LOOPING,
    S + "- |\n" + BODY + "  body:\n": ["for", "pipeline", "unroll", "while"],
    HEAD + "  - if: M > 1\n    |": ["then", "else", "allow", "carry", "yield", "results"],
    HEAD + "  - if: M > 1\n    then:\n      - |": CONTROL,
    HEAD + "    |": ["as", "after", "core", "blocks", "order", "allow"],
    HEAD + "        |": ["allow", "error", "carry", "yield", "results"],
    S + "- load: {|": LOAD,
    S + "- load: {into: u, fr|": [name for name in LOAD if name != "into"],
    S + "- load: {into: u, fr|\n" + BODY + "- exp: {into: y, x: t}\n": [name for name in LOAD if name != "into"],
    S + "- load:\n" + BODY + "    |": LOAD,
    S + "- load:\n" + BODY + "    into: u\n" + BODY + "    |\n" + BODY + "    shape: [1]\n": [
        name for name in LOAD if name not in ("into", "shape")
    ],
    S + "- load:\n" + BODY + "    into: u\n" + BODY + "  |": ["type", "allow"],
    S + "- load: |": ["{...}"],
    S + "- load: {fr|om: x}": LOAD,
    S + "- for: {index: k, |": ["count", "range", "while"],
    S + "- for: {index: k, count: 3, |": ["while"],
    S + "- for: {index: k, count: 3}\n" + BODY + "  |": ["body", "allow", "error", "carry", "yield", "results"],
    S + "- let: y = t\n" + BODY + "  |": ["type", "allow"],
    S + "- [|": [],
    # Names.
    S + "- load: {into: u, from: |": ["x", "tmp", "out"],
    S + "- load:\n" + BODY + "    from: |\n": ["x", "tmp", "out"],
    S + "- store: {from: |": ["t"],
    S + "- store: {from: t, to: |": ["out", "tmp"],
    S + "- exp: {into: y, x: |": ["t"],
    S + "- exp: {into: y, x: t, buffer: |": ["ub"],
    S + "- debug: {dump: |": ["t", "x", "out", "tmp"],
    S + "- call: {function: |": ["norm"],
    S + "- call: {function: norm, args: {|": ["t", "k"],
    S + "- call: {function: norm, args: {t: |": ["t", "x", "out", "tmp"],
    S + "- call: {function: norm, args: {t: t, k: |": ["N", "TR", "M", "n", "i", "row"],
    HEAD + "  - region: third\n    after: [|": ["first", "begun", "second"],
    HEAD + "  - region: third\n    after: [first, |": ["begun", "second"],
    HEAD + "  - region: third\n    order: |": ["row", "col", "{...}"],
    HEAD + "  - region: third\n    order: {|": ["swizzle"],
    # Words of statements; constants that hold one of them.
    S + "- cast: {mode: |": ["none", "rint", "floor", "ceil", "round", "trunc", "odd", "$mode"],
    S + "- cast: {mode: $|": ["$mode"],
    S + "- cast: {dtype: $|": ["$half"],
    S + "- matmul: {a_trans: |": ["false", "true", "$flag"],
    S + "- barrier: |": ["s", "v", "m", "mte1", "mte2", "mte3", "fix", "all", "{...}"],
    S + "- set_flag: {from: |": ["s", "v", "m", "mte1", "mte2", "mte3", "fix"],
    HEAD + "  - region: third\n    blocks: |": ["N", "TR", "M", "n", "auto", *WHOLE],
    # Sizes and conditions.
    S + "- load: {into: u, from: x, at: [|": [*SIZES, *WHOLE],
    S + "- load: {into: u, from: x, at: [i * |, 0]}": [*SIZES, *WHOLE],
    S + "- load:\n" + BODY + "    at:\n" + BODY + "      - i * |": [*SIZES, *WHOLE],
    S + "- load: {into: u, from: x, shape: [|": ["N", "TR", *WHOLE],
    S + "- load: {into: u, valid: [\"min(64, |": [*SIZES, *WHOLE],
    S + "- load: {into: u, at: [0, 1|": [],
    S + "- load: {into: u, at: [i |": [],
    S + "- if: i |": ["and", "or"],
    "tensors:\n  x: {shape: [|": [*WHOLE],
    HEAD.replace("shape: [M, 128]}", "shape: [|, 128]}", 1): ["N", "TR", "M", *WHOLE],
    S + '- debug: {print: "row {|}"}': [*SIZES, "eps", "mode", "half", "scale", "flag", *WHOLE],
    S + '- debug: {print: "row |"}': [],
    # Formulas.
    S + "- let: |": ["out", "tmp", "t", "row"],
    S + "- let: y = cast(t, |": [*DTYPES, "half", "dtype=", "mode="],
    S + "- let: y = cast(t, fp32, |": ["none", "rint", "floor", "ceil", "round", "trunc", "odd", "mode", "mode="],
    S + "- let: y = cast(t, fp32, mode=|": ["none", "rint", "floor", "ceil", "round", "trunc", "odd", "mode"],
    S + "- let: y = matmul(t, t, a_trans=|": ["false", "true"],
    S + "- let: y = matmul(t, t, a_trans=true, |": ["b_trans=", "dtype=", "phase=", "final="],
    S + "- let: y = gelu(t, approximate=|": ["tanh", "sigmoid"],
    S + "- let: y = t[|": [*SIZES, *WHOLE],
    S + "- let: y = t[0:4, |": [*SIZES, *WHOLE],
    S + "- let: y = t[0:|": [*SIZES, *WHOLE],
    S + "- let: y = full([|": [*SIZES, *WHOLE],
    S + "- let: y = full(|": ["[...]", "shape=", "dtype="],
    S + "- let: y = t |": [],
    S + "- let: y = 3|": [],
    S + "- let: y = where(t > 0 |": ["and", "or"],
    # Nothing: comments, texts, new names, places of no meaning.
    "# spec: |": [],
    "spec: v1 # |": [],
    "about: |": [],
    "name: |": [],
    S + "- load: {into: u, from: x} # |": [],
    S + "- foo: |": [],
    S + "- foo: {|": [],
    S + "- read: {|": [],
    "foo: |": [],
    "foo: {bar: [|": [],
    "x-mine: {|": [],
    HEAD + "   |": [],
}  # fmt: skip


def _name(text: str) -> str:
    return text.removeprefix(HEAD).replace("\n", "/").strip()[-60:] or "HEAD"


@pytest.mark.parametrize("text", EXACT, ids=_name)
def test_exactly_this_is_proposed(text: str) -> None:
    assert sorted(labels(text)) == sorted(EXACT[text])


def test_line_ends_of_windows_change_nothing() -> None:
    for text, wanted in EXACT.items():
        assert sorted(labels(text.replace("\n", "\r\n"))) == sorted(wanted), text
    for text, wanted in IN_TOML.items():
        found = [label for label in labels(text.replace("\n", "\r\n"), "a.toml") if label[0] != "["]
        assert sorted(found) == sorted(wanted), text


ORDER = {
    "|": ["spec", "name", "program"],
    S + "- store: {|": ["from", "to", "at", "shape"],
    S + "- for: {|": ["index", "count", "range"],
    S + "- for: {index: k, count: 2}\n" + BODY + "  |": ["body"],
    S + "- exp: {into: u, x: t}\n" + BODY + "- add: {lhs: |": ["u", "t"],
    S + "- load: {at: [|": ["row", "i"],
    S + "- let: y = |": ["t", "x"],
    S + "- let: y = i + |": ["row", "i"],
}


@pytest.mark.parametrize("text", ORDER, ids=_name)
def test_what_is_likely_comes_first(text: str) -> None:
    assert labels(text)[: len(ORDER[text])] == ORDER[text]


AMONG = {
    S + "- let: y = exp(|": (
        ["t", "x", "scale", "eps", "norm", "row_max", "softmax", "where"],
        ["i", "M", "load", "min", "mode"],
    ),
    S + "- let: y = |": (["t", "x", "row", "i", "exp", "min", "norm"], ["mode", "first", "ub"]),
    S + "- let: y = t + |": (["t", "x", "eps", "exp"], ["row", "i", "M", "min", "fp32"]),
    S + "- let: r = i * |": (["row", "i", "N", "M", "min"], ["t", "x", "scale", "exp"]),
    S + "- let: y = norm(t, |": (["row", "i", "t"], ["mode"]),
    S + "- if: |": (["row", "i", "mode", "flag", "not", "true"], ["t", "x", "and"]),
    S + "- while: mode == |": (["half"], ["t"]),
    S + "- muls: {into: y, x: t, scalar: |": (["scale", "eps", "n", "N"], ["t", "i", "mode"]),
    HEAD + "golden: {expect: {out: |": (["x", "eps", "M", "scale", "erf", "softmax"], ["out", "t", "tmp", "norm"]),
    HEAD + "golden: {expect: {out: gelu(x, approximate=|": (["tanh", "sigmoid"], ["x"]),
    HEAD + "golden: {expect: {out: cast(x, |": (["bf16"], ["x"]),
    HEAD + "diagnostics: {disable: [|": (["PH001", "PS2020"], ["PS1001"]),
    HEAD + "diagnostics: {disable: [PH001, |": (["PH-MR-001", "PS2020"], ["PH001"]),
    HEAD + "diagnostics:\n  error: |": (["PH001"], ["PS1001"]),
    S + "- load: {into: u}\n" + BODY + "  allow: |": (["PH001", "PS2020"], ["PS1001"]),
    HEAD + "        error: [|": (["PH-MR-001"], ["PS2020"]),
    HEAD + "variants: {matrix: {|": (["TR", "mode", "target.planner"], ["M", "x"]),
    HEAD + "  - spmd: {index: b, blocks: 2}\n    body:\n      - region: q\n        body:\n          - for: {count: |": (
        ["num_blocks", "b"],
        ["t"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", AMONG, ids=_name)
def test_these_are_among_the_proposals_and_those_are_not(text: str) -> None:
    wanted, never = AMONG[text]
    found = set(labels(text))
    assert set(wanted) <= found
    assert not set(never) & found


def test_no_reserved_keyword_is_proposed() -> None:
    reserved = {keyword.name for keyword in default_table() if keyword.reserved}
    assert reserved
    assert not reserved & {*labels(S + "- |"), *labels(HEAD + "  - |")}


def test_no_version_of_a_name_is_proposed() -> None:
    assert "t.1" not in labels(S + "- let: t.1 = exp(t)\n" + BODY + "- exp: {into: y, x: |")


TYPED = {
    (S + "- lo|", "load"): "- load: {into: tile, from: , at: [], shape: []}",
    (S + "- fo|", "for"): f"- for: {{index: i, count: }}\n{BODY}  body:\n{BODY}    - ",
    (S + "|", "if"): f"- if: \n{BODY}  then:\n{BODY}    - ",
    (S + "- le|t: y = 1", "load"): "- load: y = 1",
    (S + "- load: {into: u, fr|}", "from"): "- load: {into: u, from: }",
    (S + "- load: {fr|om: x}", "from"): "- load: {from: x}",
    (S + "- load:\n" + BODY + "    |", "at"): f"- load:\n{BODY}    at: []",
    (S + "- load: {from:|}", "x"): "- load: {from: x}",
    (S + "- cast: {mode: ri|}", "rint"): "- cast: {mode: rint}",
    (S + "- cast: {mode: $|}", "$mode"): "- cast: {mode: $mode}",
    (S + "- let: y = ex|", "exp"): "- let: y = exp(x)",
    (S + "- let: y = ex|(t)", "exp"): "- let: y = exp(t)",
    (S + "- let: y = cast(t, dt|", "dtype="): "- let: y = cast(t, dtype=",
    (S + "- let: |", "out"): "- let: out = ",
    (S + "- let: o|= t", "out"): "- let: out= t",
    (S + "- load: {at: [i * TR + ro|, 0]}", "row"): "- load: {at: [i * TR + row, 0]}",
    # A function with a comma needs quotes in brackets, and only there.
    (S + "- load: {at: [|, 0]}", "min"): '- load: {at: ["min(a, b)", 0]}',
    (S + "- load: {at: [i * mi|, 0]}", "min"): '- load: {at: ["i * min(a, b)", 0]}',
    (S + "- load: {at: [mi| + 1, 0]}", "min"): '- load: {at: ["min(a, b) + 1", 0]}',
    (S + "- load: {at: [2 * mi| + 1, 0]}", "min"): '- load: {at: ["2 * min(a, b) + 1", 0]}',
    (S + '- load: {at: ["mi|", 0]}', "min"): '- load: {at: ["min(a, b)", 0]}',
    (S + "- while: i < mi|", "min"): "- while: i < min(a, b)",
    (HEAD + "golden:\n  |", "expect"): "golden:\n  expect:\n    ",
    (HEAD + "  |", "create_tensor"): "- create_tensor: {into: tmp, dtype: fp32, shape: []}",
}


@pytest.mark.parametrize(("text", "label"), TYPED, ids=lambda value: _name(value) if len(value) > 20 else value)
def test_accepting_a_proposal_writes_this(text: str, label: str) -> None:
    assert typed(text, label).removeprefix(HEAD).strip() == TYPED[text, label].strip()


def test_items_say_what_they_are() -> None:
    load = item(S + "- |", "load")
    assert load.kind is Kind.KEYWORD
    assert "window" in load.detail
    assert "- load: {into: t" in load.doc
    access = item("tensors:\n  x: {|", "access")
    assert (access.kind, access.detail) == (Kind.FIELD, "in | out | inout = in")
    assert item("tensors:\n  x: {|", "dtype").detail.endswith("required")
    tensor = item(S + "- load: {from: |", "out")
    assert (tensor.kind, tensor.detail) == (Kind.TENSOR, "fp32 [M, 128], out")
    assert item(S + "- exp: {x: |", "t").detail == "load [TR, 128]"
    assert item(S + "- load: {at: [|", "row").detail == "= i * 64"
    cast = item(S + "- let: y = |", "cast")
    assert (cast.kind, cast.detail) == (Kind.FUNCTION, "(x, dtype, mode=...)")
    assert "dtype" in cast.doc


def test_everything_proposed_at_a_keyword_has_a_doc() -> None:
    assert not [found.label for found in ask(S + "- |") if not found.doc]


REFERENCE = {
    S + "- load: {|": "load.at",
    S + "- for: {index: k, count: 2}\n" + BODY + "  |": "for.carry",
    HEAD + "    |": "region.order",
    S + "- for: {index: k, count: 2}\n" + BODY + "  carry: {k: {|": "carry.NAME.init",
    "tensors:\n  x: {|": "tensors.NAME.access",
    "golden: {inputs: {x: {|": "golden.inputs.NAME.min",
    "|": "golden",
}


@pytest.mark.parametrize("text", REFERENCE, ids=_name)
def test_keys_are_explained_by_the_reference(text: str) -> None:
    place = REFERENCE[text]
    assert item(text, place.rpartition(".")[2]).doc.startswith(f"# `{place}`\n")


def test_words_are_explained_by_the_models() -> None:
    assert "vector core" in item(S + "- load: {memory: |", "vec").doc
    assert "Row by row" in item(HEAD + "  - region: q\n    order: |", "row").doc
    assert item(HEAD + "diagnostics: {disable: [|", "PH001").detail == "tile-innermost-dim"


IN_TOML = {
    "|": ["spec", "name", "about", "target"],
    "spec = |": ["v1"],
    TOML + "  { |": STATEMENTS,
    TOML + "  |": STATEMENTS,
    TOML + "  { load = { into = 'u', |": ["from", "at", "shape", "valid", "memory", "layout", "buffer", "slot"],
    TOML + "  { load = { from = |": ["x", "out"],
    TOML + '  { load = { from = "|': ["x", "out"],
    TOML + '  { cast = { mode = "$|': ["$mode"],
    TOML + "  { store = { from = 't', at = [|": ["N", *WHOLE],
    TOML + ']\n[golden.expect]\n|': ["out"],
    TOML + ']\n[golden]\nexpect = { |': ["out"],
    TOML + "]\n[target]\nplanner = |": ["pypto", "ptoas"],
    TOML + "]\n[target]\nunit_flag = |": ["false", "true"],
    TOML + "]\n[tensors.y]\n|\nshape = [1]": ["dtype", "strides", "access", "layout"],
    TOML + "]\n[[program]]\n|": CONTROL,
    TOML + "]\n[[program]]\nregion = 'q'\n|": ["body", "as", "after", "core", "blocks", "order", "allow"],
    TOML + "]\n[[program]]\nregion = 'q'\n[[program.body]]\nlo|": STATEMENTS,
    TOML + "]\n[[program]]\nregion = 'q'\n[[program.|": ["body"],
    TOML + "]\n[|": ["target", "symbols", "scalars", "buffers", "functions", "golden", "diagnostics", "variants"],
    TOML + "]\n[golden.|": ["expect", "inputs", "tolerance"],
    TOML + "]\n[[|": ["program"],
    TOML + "]\n[[golden.|": ["sizes"],
    TOML + "]\n# |": [],
}  # fmt: skip


@pytest.mark.parametrize("text", IN_TOML, ids=lambda text: _name(text.removeprefix(TOML)))
def test_toml(text: str) -> None:
    found = [label for label in labels(text, "a.toml") if label[0] != "["]
    assert sorted(found) == sorted(IN_TOML[text])


def test_toml_proposes_tables_where_one_ends() -> None:
    tables = [
        "[buffers]",
        "[diagnostics]",
        "[functions]",
        "[golden]",
        "[scalars]",
        "[symbols]",
        "[target]",
        "[variants]",
    ]
    found = [label for label in labels(TOML + "]\n|", "a.toml") if label[0] == "["]
    assert sorted(found) == [table for table in tables if table != "[target]"] or sorted(found) == tables
    assert "[[program]]" in labels("|", "a.toml")
    assert not [label for label in labels("|\nname = 'a'\n", "a.toml") if label[0] == "["]


TYPED_IN_TOML = {
    ("spe|", "spec"): 'spec = "v1"',
    ("|", "[[program]]"): "[[program]]\n",
    (TOML + "  { lo| }", "load"): '{ load = { into = "tile", from = "", at = [], shape = [] } }',
    (TOML + "  |", "load"): '{ load = { into = "tile", from = "", at = [], shape = [] } }',
    (TOML + "  { fo|", "for"): '{ for = { index = "i", count = "" }, body = []',
    (TOML + "  { load = { from =|", "x"): '{ load = { from = "x"',
    (TOML + '  { load = { from = "|', "x"): '{ load = { from = "x',
    (TOML + "  { load = { at = [|", "N"): '{ load = { at = ["N"',
    (TOML + '  { load = { at = ["N * mi|"', "min"): '{ load = { at = ["N * min(a, b)"',
    (TOML + "]\n[gol|]", "golden"): "]\n[golden]",
    (TOML + "]\n[target]\nunit_flag = |", "true"): "]\n[target]\nunit_flag = true",
    (TOML + "]\n[[program]]\nfo|", "for"): ']\n[[program]]\nfor = { index = "i", count = "" }\nbody = [\n  \n]',
}


@pytest.mark.parametrize(("text", "label"), TYPED_IN_TOML, ids=lambda v: _name(v.removeprefix(TOML)))
def test_accepting_a_proposal_in_toml_writes_this(text: str, label: str) -> None:
    assert typed(text, label, "a.toml").removeprefix(TOML).strip() == TYPED_IN_TOML[text, label].strip()

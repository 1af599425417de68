"""Scopes, loops, branches and regions."""

from __future__ import annotations

import pytest

from pypto_spec.convert.to_spec import to_spec
from pypto_spec.ir.nodes import For, Grid, If, Loop, Region
from tests.convert.reading import HEAD, errors, marked, read, region, statements

LOAD = "load: {into: t, from: x, at: [0, 0], shape: [64, 128]}"


def only(text: str) -> Region:
    """The only region of a spec."""
    (found,) = read(text).body
    assert isinstance(found, Region)
    return found


def test_loop() -> None:
    loop = only(region("for: {index: i, range: [3, 17, 5]}\nbody: []")).body[0]
    assert isinstance(loop, For)
    assert (loop.start, loop.stop, loop.step, loop.kind) == (3, 17, 5, "for")
    assert (loop.index.low, loop.index.high) == (3, 13)


@pytest.mark.parametrize("text", ["count: 8", "range: [0, 8]", "range: [0, 8, 1]"])
def test_forms_of_a_range(text: str) -> None:
    assert statements(region(f"for: {{index: i, {text}}}\nbody: []"))[0] == "- for: {index: i, range: [0, 8, 1]}"


def test_run_time_range() -> None:
    loop = only(region('for: {index: i, range: [0, "ceil_div(M, 64)", M]}\nbody: []')).body[0]
    assert isinstance(loop, For)
    assert (str(loop.stop), str(loop.step), loop.index.low, loop.index.high) == ("((M + 63) // 64)", "M", 0, 63)


def test_pipeline_keeps_its_stages() -> None:
    text = region("pipeline: {index: i, count: 8, stages: 2}\nbody: []")
    loop = only(text).body[0]
    assert isinstance(loop, For)
    assert (loop.kind, loop.stages) == ("pipeline", 2)


@pytest.mark.parametrize("stages", ["0", "17", "-1"])
def test_stages_out_of_range(stages: str) -> None:
    (found,) = errors(region(f"pipeline: {{index: i, count: 8, stages: {stages}}}\nbody: []"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS5002", stages)


def test_operands_are_the_latest_binding_in_the_text() -> None:
    body = only(
        region(LOAD, "let: t = t + 1", "for: {index: i, count: 2}\nbody:\n  - let: t = t * 2", "let: y = t")
    ).body
    load, first, loop, last = body
    assert isinstance(loop, For)
    inner = loop.body[0]
    assert first.operands["x"] is load.results[0]  # type: ignore[union-attr]
    assert inner.operands["x"] is first.results[0]  # type: ignore[union-attr]
    assert last.operands["x"] is inner.results[0]  # type: ignore[union-attr]
    assert not loop.carries


def test_explicit_carry() -> None:
    text = region(
        LOAD,
        "for: {index: i, count: 2}\ncarry: {s: t}\nresults: {sum: s}\nbody:\n  - let: u = s + s\n  - yield: {s: u}",
        "let: y = sum + 1",
    )
    _, loop, last = only(text).body
    assert isinstance(loop, For)
    (carry,) = loop.carries
    assert (carry.arg.name, carry.init.name, carry.yielded.name, carry.result.name) == ("s", "t", "u", "sum")
    assert last.operands["x"] is carry.result  # type: ignore[union-attr]


def test_explicit_results_of_an_if() -> None:
    arms = "if: M > 3\nresults: [v]\nthen:\n  - let: u = t + 1\n  - yield: {v: u}\nelse:\n  - yield: {v: t}"
    branch = only(region(LOAD, arms, "let: y = v")).body[1]
    assert isinstance(branch, If)
    (phi,) = branch.phis
    assert (phi.result.name, phi.then.name, phi.other.name) == ("v", "u", "t")


def test_a_name_bound_in_both_arms_goes_on() -> None:
    arms = "if: M > 3\nthen:\n  - let: z = t + 1\nelse:\n  - let: z = t - 1"
    assert errors(region(LOAD, arms, "let: y = z")) == []


@pytest.mark.parametrize(
    "inner",
    ["for: {index: i, count: 2}\nbody:\n  - let: z = t + 1", "if: M > 3\nthen:\n  - let: z = t + 1"],
    ids=["loop", "arm"],
)
def test_a_name_first_bound_inside_ends_there(inner: str) -> None:
    (found,) = errors(region(LOAD, inner, "let: y = z"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS2001", "z")
    assert "ends there" in found.message
    assert [marked(label.span) for label in found.secondary] == ["z"]


def test_values_end_with_their_region() -> None:
    text = f"{region(LOAD)}  - region: second\n    body:\n      - let: y = t\n"
    (found,) = errors(text)
    assert "bound in another region" in found.message


@pytest.mark.parametrize("name", ["a", "N", "eps", "M"])
def test_an_index_shadows_nothing(name: str) -> None:
    (found,) = errors(region(f"for: {{index: {name}, count: 2}}\nbody: []"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS2030", name)


def test_a_value_is_no_index_and_an_index_no_value() -> None:
    body = "body:\n  - let: i = t"
    (found,) = errors(region(LOAD, f"for: {{index: i, count: 2}}\n{body}"))
    assert found.rule.code == "PS2030"
    (found,) = errors(region(LOAD, "for: {index: t, count: 2}\nbody: []"))
    assert found.message == "`t` cannot name a loop index: it is a value already"


def test_constants_do_not_shadow_tensors() -> None:
    (found,) = errors(region(LOAD).replace("{N: 128,", "{N: 128, a: 3,"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS2030", "a")


@pytest.mark.parametrize(
    ("statement", "code", "under"),
    [
        ("load: {into: y, from: t, at: [0, 0], shape: [8, 128]}", "PS2033", "t"),
        ("load: {into: y, from: xx, at: [0, 0], shape: [8, 128]}", "PS2001", "xx"),
        ("load: {into: y, from: x, at: [0, 0], shape: [M, 128]}", "PS3035", "M"),
        ("load: {into: y, from: x, at: [0, 1.5], shape: [8, 128]}", "PS3032", "1.5"),
        ("load: {into: y, from: x, at: [M * n, 0], shape: [8, 128]}", "PS3032", "M * n"),
        ("load: {into: y, from: x, at: [M // n, 0], shape: [8, 128]}", "PS3032", "n"),
        ("load: {into: y, from: x, at: [8 // 0, 0], shape: [8, 128]}", "PS1020", "0"),
        ("load: {into: y, from: x, at: [8 / 2, 0], shape: [8, 128]}", "PS3032", "8 / 2"),
        ("load: {into: y, from: x, at: [mx(1, 2), 0], shape: [8, 128]}", "PS2001|PS1011", None),
        ("load: {into: y, from: x, at: [num_blocks(), 0], shape: [8, 128]}", "PS3032", "num_blocks()"),
        ("store: {from: t, to: x, at: [0, 0]}", "PS3012", "x"),
        ("exp: {into: x, x: t}", "PS3012", "x"),
        ("exp: {into: y, x: t, buffer: ub}", "PS2001", "ub"),
        ("exp: {into: y, x: N}", "PS2033", "N"),
        ("exp: {into: y, x: tt}", "PS2001", "tt"),
        ("adds: {into: y, x: t, scalar: M}", "PS2033", "M"),
        ("adds: {into: y, x: t, scalar: zz}", "PS2001", "zz"),
        ("adds: {into: y, x: t, scalar: rounding}", "PS1014", "rounding"),
        ("for: {index: i, range: [0, 8, 0]}\nbody: []", "PS1020", "0"),
        ("for: {index: i, range: [0, 8, n]}\nbody: []", "PS1020", "n"),
        ("for: {index: i, count: 2}\ncarry: {s: t}\nbody: []", "PS1015", "s"),
        ("yield: {s: t}", "PS1022", "yield"),
        ("if: M + 1\nthen: []", "PS2001|PS3032|PS1020", None),
        ("if: t > 1\nthen: []", "PS2033", "t"),
        ("parallel: {index: i, count: 2}\nbody: []", "PS6001", "parallel"),
    ],
)
def test_errors_of_statements(statement: str, code: str, under: str | None) -> None:
    (found,) = errors(region(LOAD, statement))
    assert found.rule.code in code.split("|")
    assert under is None or marked(found.primary.span) == under


def test_reading_an_output_before_it_is_written() -> None:
    text = region("let: y = res + 1").replace("res: {dtype: fp32, shape: [64, 128], access: inout}",
                                              "res: {dtype: fp32, shape: [64, 128], access: out}")  # fmt: skip
    found = errors(text)
    assert [d.rule.code for d in found] == ["PS3012"]
    assert errors(text.replace("let: y = res + 1", "let: res = a\n      - let: y = res + 1")) == []


def test_an_output_nobody_writes() -> None:
    text = region(LOAD).replace("access: inout}\n  brain", "access: out}\n  brain")
    (found,) = errors(text)
    assert (found.rule.code, marked(found.primary.span)) == ("PS2031", "res")


def test_words_as_parameters() -> None:
    assert statements(region(LOAD, "cast: {into: y, x: t, dtype: int32, mode: $rounding}"))[1:] == [
        "- cast: {into: y, x: t, dtype: int32, mode: floor}"
    ]


def test_grids() -> None:
    text = (
        f"{HEAD}  - spmd: {{index: blk, blocks: auto}}\n    body:\n      - region: k\n        body:\n"
        "          - for: {index: i, range: [blk, 8, num_blocks()]}\n            body: []\n"
        "  - parallel: {index: p, range: [2, 12, 3], order: {swizzle: 4}}\n    body:\n"
        "      - for: {index: j, count: 2}\n        body:\n          - region: k2\n            body: []\n"
    )
    spmd, parallel = read(text).body
    assert isinstance(spmd, Grid)
    assert isinstance(parallel, Grid)
    loop = spmd.body[0].body[0]  # type: ignore[union-attr]
    assert isinstance(loop, For)
    assert str(loop.step) == "num_blocks()"
    assert (spmd.count, parallel.count, parallel.start, parallel.step, parallel.order) == ("auto", 4, 2, 3, "swizzle:4")
    assert isinstance(parallel.body[0], Loop)
    again = to_spec(read(to_spec(read(text))))
    assert again == to_spec(read(again))
    assert "parallel: {index: p, count: 4, start: 2, step: 3, order: {swizzle: 4}}" in again


def test_names_of_regions() -> None:
    text = f"{HEAD}  - region: k\n    as: one\n    body: []\n  - region: l\n    after: [ome]\n    body: []\n"
    (found,) = errors(text)
    assert (marked(found.primary.span), found.helps) == ("ome", ("did you mean `one`?",))
    (found,) = errors(text.replace("region: l", "region: one").replace("ome", "one"))
    assert found.rule.code == "PS2030"


def test_written_types_are_checked() -> None:
    good = region(LOAD, "exp: {into: y, x: t}\ntype: {dtype: fp32, shape: [64, 128], memory: vec}")
    assert errors(good) == []
    (found,) = errors(good.replace("[64, 128], memory: vec", "[64, 64], memory: vec"))
    assert found.rule.code == "PS3001"
    (found,) = errors(good.replace("{dtype: fp32, shape: [64, 128], memory: vec", "{dtype: fp16, shape: [64, 128]"))
    assert found.rule.code == "PS3002"


def test_places_of_aliased_fields() -> None:
    """The fields stand at the anchor, the statement where its keyword is."""
    text = region("load: &window {into: t, from: x, at: [0, 0], shape: [64, 128]}", "load: *window")
    first, second = only(text).body
    assert (marked(first.loc.span)[:13], marked(second.loc.span)) == ("load: &window", "load")
    found = errors(text.replace("from: x", "from: xx"))
    assert [(d.rule.code, marked(d.primary.span)) for d in found] == [("PS2001", "xx")] * 2


PARALLEL = f"{HEAD}  - parallel: {{FIELDS}}\n    body:\n      - region: k\n        body: []\n"


def test_several_indices() -> None:
    fields = "index: [l, i, j], count: [2, M, N], blocks: 5, order: {swizzle: 3}"
    text = PARALLEL.replace("FIELDS", fields)
    (grid,) = read(text).body
    assert isinstance(grid, Grid)
    assert (grid.index.name, grid.count, grid.most, grid.order) == ("l", 2, 5, "swizzle:3")
    assert [(index.name, index.high, str(count)) for index, count in grid.inner] == [
        ("i", 4095, "M"),
        ("j", 127, "128"),
    ]
    again = to_spec(read(to_spec(read(text))))
    assert "parallel: {index: [l, i, j], count: [2, M, 128], blocks: 5, order: {swizzle: 3}}" in again
    assert again == to_spec(read(again))


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ("index: [i, j], count: 4", "PS1022", "4"),
        ("index: [i, j], count: [4]", "PS1022", "[4]"),
        ("index: i, count: [4, 4]", "PS1022", "[4, 4]"),
        ("index: [i, j], range: [0, 4]", "PS1022", "[0, 4]"),
        ("index: [i, j], count: [4, 0]", "PS1019", "0"),
        ("index: [i, i], count: [4, 4]", "PS2030", "i"),
        ("index: [i, j], count: [4, M * M]", "PS3032", "M * M"),
        ("index: [], count: 4", "PS1015", "[]"),
        ("index: i, count: 4, blocks: 0", "PS1019", "0"),
        ("index: i, count: 4, blocks: M", "PS3035", "M"),
    ],
)
def test_what_several_indices_need(fields: str, code: str, place: str) -> None:
    (found,) = errors(PARALLEL.replace("FIELDS", fields))
    assert (found.rule.code, marked(found.primary.span)) == (code, place)

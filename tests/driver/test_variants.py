"""Variants: which there are, what they are called, and how commands speak of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.check import check_text
from pypto_spec.driver.inputs import Gathered, Spec, UsageError
from pypto_spec.driver.session import compile_spec
from pypto_spec.driver.variants import expand, variants_of
from tests.cli.run import run

SPEC = """\
spec: v1
name: scaled
constants: {{TR: 64, dtype: fp32, mode: rint, gain: 2.0}}
variants:
{variants}
tensors:
  x:   {{dtype: $dtype, shape: [128, 64]}}
  out: {{dtype: $dtype, shape: [128, 64], access: out}}
program:
  - region: scaled
    body:
      - for: {{index: i, count: 128 // TR}}
        body:
          - load:  {{into: t, from: x, at: [i * TR, 0], shape: [TR, 64]}}
          - let: y = t * 2
          - store: {{from: y, to: out, at: [i * TR, 0]}}
"""


def spec(*lines: str) -> Spec:
    text = SPEC.format(variants="\n".join(f"  {line}" for line in lines))
    return Spec(Source("k.yaml", text), "yaml", text.encode())


def keys(*lines: str, **defines: str) -> list[str | None]:
    return [one.variant for one in variants_of(spec(*lines), defines)]


def test_keys_are_made_of_the_values() -> None:
    assert keys("matrix: {TR: [32, 64], dtype: [fp16, fp32]}") == ["TR32_fp16", "TR32_fp32", "TR64_fp16", "TR64_fp32"]
    assert keys("matrix: {target.precision: [exact, fast]}") == ["exact", "fast"]
    assert keys("matrix: {target.unit_flag: [true, false]}") == ["unit_flagtrue", "unit_flagfalse"]


def test_the_same_words_on_two_axes_stand_behind_their_names() -> None:
    made = keys("matrix: {dtype: [fp16, fp32], mode: [fp16, fp32]}", "exclude: [{dtype: fp32, mode: fp32}]")
    assert made == ["fp16_fp16", "fp16_fp32", "fp32_fp16"]
    made = keys("matrix: {dtype: [a-1, am1]}")
    assert made == ["dtypeam1", "dtypeam1_2"]


def test_exclude_and_include() -> None:
    lines = ("matrix: {TR: [32, 64], dtype: [fp16, fp32]}", "exclude: [{TR: 64, dtype: fp32}]",
             "include: [{TR: 128, dtype: fp16}, {TR: 32, dtype: fp16}]")  # fmt: skip
    assert keys(*lines) == ["TR32_fp16", "TR32_fp32", "TR64_fp16", "TR128_fp16"]


def test_a_define_fixes_an_axis() -> None:
    lines = ("matrix: {TR: [32, 64], dtype: [fp16, fp32]}", "include: [{TR: 128, dtype: fp16}]")
    assert keys(*lines, TR="16") == ["TR16_fp16", "TR16_fp32"]
    assert keys(*lines, TR="128") == ["TR128_fp16", "TR128_fp32"]
    assert keys(*lines, mode="floor") == ["TR32_fp16", "TR32_fp32", "TR64_fp16", "TR64_fp32", "TR128_fp16"]


def test_a_variant_is_a_program_with_its_own_name_and_values() -> None:
    for one in variants_of(spec("matrix: {TR: [32], dtype: [fp16], target.precision: [fast]}")):
        program = compile_spec(one).program
        assert program is not None
        assert (program.name, program.target.precision) == ("scaled__TR32_fp16_fast", "fast")
        assert str(program.tensors[0].type) == "fp16[128, 64]"


def test_wanted_variants() -> None:
    gathered = Gathered([spec("matrix: {TR: [32, 64]}")])
    with pytest.raises(UsageError, match="there is no variant `TR23`; did you mean `TR32`"):
        expand(gathered, {}, ["TR23"])
    assert [s.variant for s in expand(gathered, {}, ["TR64"]).specs] == ["TR64"]


def test_findings_of_some_variants_name_them() -> None:
    one = spec("matrix: {dtype: [fp16, int8, uint8]}")
    found = check_text(one.source.text, "k.yaml")
    assert [(d.rule.code, d.notes[-1]) for d in found] == [
        ("PS3003", "in the variant `int8`"), ("PS3003", "in the variant `uint8`"),
    ]  # fmt: skip
    everywhere = check_text(one.source.text.replace("t * 2", "tt * 2"), "k.yaml")
    assert [(d.rule.code, d.notes) for d in everywhere] == [("PS2001", ())]


@pytest.mark.parametrize(
    ("lines", "code", "words"),
    [
        (("matrix: {TX: [1]}",), "PS2070", "`TX` is no constant"),
        (("matrix: {target.planer: [pypto]}",), "PS2070", "no option `planer`"),
        (("matrix: {target.planner: [best]}",), "PS2070", "`best` is no `planner`"),
        (("matrix: {}",), "PS2071", "no matrix"),
        (("matrix: {TR: []}",), "PS1014", "list of values"),
        (("matrix: {TR: 32}",), "PS1014", "list of values"),
        (("matrx: {TR: [32]}",), "PS1014", "no key `matrx`"),
        (("matrix: {TR: [32]}", "exclude: [{TR: 32}]"), "PS2071", "leaves no variant"),
        (("matrix: {TR: [32]}", "exclude: [{TT: 32}]"), "PS2072", "no axis"),
        (("matrix: {TR: [32], dtype: [fp16]}", "include: [{TR: 64}]"), "PS2072", "`dtype` has none"),
        (("matrix: {TR: [64, 0x40]}",), "PS2070", "`0x40` is a value of `TR` already"),
        (("matrix: {gain: [1, 1.0]}",), "PS2070", "`1.0` is a value of `gain` already"),
        (("matrix: {TR: [64, 64.0]}",), "PS2070", "the variants give `TR` the value 64.0: it is an integer"),
        (("matrix: {TR: [64, TR*2]}",), "PS2070", "the variants give `TR` a value made of itself"),
        (("matrix: {TR: [64]}", "include: [{TR: word}]"), "PS2070", "the variants give `TR` the value word"),
        (("matrix: {TR: [64]}", "exclude: [{TR: 46}]"), "PS2073", "`TR` is never 46"),
        ((f"matrix: {{TR: {list(range(1, 300))}}}",), "PS2071", "299 variants, at most 256"),
    ],
)
def test_mistakes(lines: tuple[str, ...], code: str, words: str) -> None:
    found = check_text(spec(*lines).source.text, "k.yaml")
    assert code in [d.rule.code for d in found]
    assert any(words in d.message for d in found), [d.message for d in found]


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.yaml").write_text(spec("matrix: {TR: [32, 64]}").source.text)
    assert run("build", "k.yaml", "-o", "out").exit_code == 0
    assert sorted(p.name for p in Path("out").iterdir()) == ["scaled__TR32", "scaled__TR64"]
    assert run("build", "k.yaml", "-o", "one", "--variant", "TR64").exit_code == 0
    assert (Path("one") / "manifest.json").exists()
    refused = run("lower", "k.yaml")
    assert refused.exit_code == 2
    assert run("lower", "k.yaml", "--variant", "TR64").exit_code == 0


@pytest.mark.parametrize(
    ("lines", "marked"),
    [
        (("matrix: {TR: [64, 64.0]}",), "64.0"),
        (("matrix: {TR: [64, TR*2]}",), "TR*2"),
        (("matrix: {TR: [64]}", "include: [{TR: 1.5}]"), "1.5"),
        (("matrix: {TR: [64, 0x40]}",), "0x40"),
        (("matrix: {TR: [64]}", "exclude: [{TR: 46}]"), "46"),
    ],
)
def test_a_bad_value_is_shown_where_it_is_written(lines: tuple[str, ...], marked: str) -> None:
    (found,) = check_text(spec(*lines).source.text, "k.yaml")
    span = found.primary.span
    assert span.source.line(span.line)[span.col - 1 : span.end_col - 1] == marked
    assert found.helps
    assert "-D" not in found.message


def test_values_are_compared_not_spellings() -> None:
    assert keys("matrix: {TR: [32, 64]}", "exclude: [{TR: 0x40}]") == ["TR32"]
    assert keys("matrix: {TR: [32, 64]}", "include: [{TR: 0x20}]") == ["TR32", "TR64"]
    assert keys("matrix: {TR: [32, 64]}", TR="0x40") == ["TR64"]
    assert keys("matrix: {TR: [32, 64]}", "include: [{TR: 0x80}]", TR="128") == ["TR128"]
    assert keys("matrix: {gain: [1.0, 2.5]}", "exclude: [{gain: 1}]") == ["gain2_5"]


def test_an_exclusion_of_nothing_leaves_the_variants() -> None:
    lines = ("matrix: {TR: [32, 64]}", "exclude: [{TR: 46}]")
    assert keys(*lines) == ["TR32", "TR64"]
    found = check_text(spec(*lines).source.text, "k.yaml")
    assert [(d.rule.code, d.level.value, d.notes) for d in found] == [("PS2073", "warning", ())]
    assert not compile_spec(spec("matrix: {TR: [32, 64]}", "exclude: [{TR: 64}]"), defines={"TR": "32"}).findings


def test_options_of_the_target_are_no_constants() -> None:
    (found,) = compile_spec(spec("matrix: {TR: [32]}"), defines={"target.precision": "fast"}).findings
    assert found.rule.code == "PS2011"
    assert "`--variant KEY`" in found.helps[0]
    assert "under `target` in the spec" in found.helps[0]


GOLDEN = "golden: {expect: {out: x * 2}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.yaml").write_text(spec("matrix: {TR: [32, 64]}").source.text + GOLDEN)
    return tmp_path


def test_test_runs_all_variants_or_one(folder: Path) -> None:
    every = run("test", "k.yaml")
    assert every.exit_code == 0, every.output
    assert all(f"k.yaml [{key}]" in every.output for key in ("TR32", "TR64")), every.output
    one = run("test", "k.yaml", "--variant", "TR64")
    assert one.exit_code == 0
    assert "TR64" in one.output
    assert "TR32" not in one.output


def test_mutate_takes_a_variant(folder: Path) -> None:
    done = run("mutate", "k.yaml", "--variant", "TR64")
    assert done.exit_code == 0, done.output
    assert "TR64" in done.output
    assert "TR32" not in done.output
    assert run("mutate", "k.yaml", "--variant", "TR65").exit_code == 2


def test_machine_formats_name_the_variant(folder: Path) -> None:
    (folder / "k.yaml").write_text(spec("matrix: {dtype: [fp16, int8]}").source.text)
    (found,) = json.loads(run("check", "k.yaml", "--format", "json").stdout)["diagnostics"]
    assert found["notes"] == ["in the variant `int8`"]
    (result,) = json.loads(run("check", "k.yaml", "--format", "sarif").stdout)["runs"][0]["results"]
    assert result["ruleId"] == "PS3003"
    assert "in the variant `int8`" in result["message"]["text"]

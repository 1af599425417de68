"""From YAML to TOML and back: the same data, order, comments and kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.edit.pieces import comments
from pypto_spec.edit.same import same_tree
from pypto_spec.edit.toml_reader import read_toml, statement_comments
from pypto_spec.edit.transcribe import transcribe
from pypto_spec.edit.yaml_reader import read_yaml
from pypto_spec.spec.load import load
from tests.convert.programs import bodies, spec
from tests.edit.noise import REMARK, noisy_yaml
from tests.edit.test_layout_law import COMPILED, GALLERY, ORIGINS, PHASES, SAMPLE, kernels, laid_out
from tests.edit.toml_noise import noisy_toml

YAML = [path for path in GALLERY if path.suffix == ".yaml"]


def to_toml(text: str) -> str:
    made = transcribe(Source("k.yaml", text), "yaml", "toml").text
    assert laid_out(made, "toml") == made
    assert same_tree(load(Source("k", text), "yaml"), load(Source("k", made), "toml"))
    return made


def to_yaml(text: str) -> str:
    made = transcribe(Source("k.toml", text), "toml", "yaml").text
    assert laid_out(made) == made
    assert same_tree(load(Source("k", text), "toml"), load(Source("k", made), "yaml"))
    return made


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.stem)
def test_gallery_there_and_back(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    toml = to_toml(text)
    again = to_yaml(toml)
    assert load(Source("k", again)).to_plain() == load(Source("k", text)).to_plain()
    kept = list(comments(read_yaml(text).root))
    assert list(comments(read_yaml(again).root)) == kept
    modeline = "# yaml-language-server: $schema="
    expected = [comment.replace(modeline, "#:schema ") for comment in kept]
    assert list(statement_comments(read_toml(toml))) == expected


def test_the_spec_of_the_gallery_in_toml() -> None:
    text = next(path for path in GALLERY if path.suffix == ".toml").read_text(encoding="utf-8")
    yaml = to_yaml(text)
    assert yaml.startswith("# yaml-language-server: $schema=../../pypto_spec/spec/schema.json\nspec: v1\n")
    assert to_toml(yaml) == text.replace("body = [{ let", "body = [\n  { let").replace('x" }]', 'x" },\n]')


@pytest.mark.parametrize("number", range(0, len(SAMPLE), 2))
def test_kernels_stay(number: int) -> None:
    toml = to_toml(SAMPLE[number])
    assert kernels(toml, "toml") == kernels(to_yaml(toml)) == kernels(SAMPLE[number])


@pytest.mark.long
@pytest.mark.parametrize("text", COMPILED)
def test_kernels_of_the_whole_gallery_stay(text: str) -> None:
    toml = to_toml(text)
    assert kernels(toml, "toml") == kernels(to_yaml(toml)) == kernels(text)


def check_noise(text: str, seed: int) -> None:
    noisy, remarks = noisy_yaml(text, seed)
    toml = to_toml(noisy)
    assert REMARK.findall(toml) == remarks
    assert REMARK.findall(to_yaml(toml)) == remarks
    noisy, remarks = noisy_toml(text, seed)
    laid_out(noisy, "toml")
    yaml = to_yaml(noisy)
    assert REMARK.findall(yaml) == remarks
    assert REMARK.findall(to_toml(yaml)) == remarks


@settings(max_examples=15, phases=PHASES)
@given(st.sampled_from(ORIGINS), st.integers(0, 1 << 32))
def test_noise_on_the_gallery(text: str, seed: int) -> None:
    check_noise(text, seed)


@pytest.mark.long
@settings(max_examples=1000, phases=(Phase.generate,))
@given(st.one_of(st.sampled_from(ORIGINS), bodies().map(spec)), st.integers(0, 1 << 32))
def test_noise_on_a_thousand_specs(text: str, seed: int) -> None:
    check_noise(text, seed)


ALIASES = """\
spec: v1
name: k # the name
x-defaults: &tile {dtype: fp32, shape: [64, 128]}
tensors:
  a: *tile
  out:
    # all but the access
    <<: *tile
    access: out # written
program: []
"""


def test_aliases_are_written_out_and_said() -> None:
    made = transcribe(Source("k.yaml", ALIASES), "yaml", "toml")
    assert [(one.alias, str(one.span)) for one in made.expanded] == [("*tile", "k.yaml:5:6"), ("*tile", "k.yaml:8:9")]
    assert made.text == (
        'spec = "v1"\nname = "k" # the name\n'
        'x-defaults = { dtype = "fp32", shape = [64, 128] }\n'
        'tensors.a = { dtype = "fp32", shape = [64, 128] }\n'
        "# all but the access\n"
        'tensors.out.access = "out" # written\n'
        'tensors.out.dtype = "fp32"\n'
        "tensors.out.shape = [64, 128]\n"
        "program = []\n"
    )


def test_what_toml_has_no_form_for() -> None:
    with pytest.raises(CompileError) as caught:
        transcribe(Source("k.yaml", "spec: v1\nfunctions:\n  f: {args: {x: }}\nname: ~\n"), "yaml", "toml")
    assert [(d.rule.code, str(d.primary.span)) for d in caught.value.diagnostics] == [
        ("PS1061", "k.yaml:3:17"),
        ("PS1061", "k.yaml:4:7"),
    ]


def test_a_keyword_without_fields_has_a_form() -> None:
    text = "spec: v1\nprogram:\n  - region: r\n    body:\n      - if: i == 3\n        then:\n          - break:\n"
    assert "{ break = {} }," in transcribe(Source("k.yaml", text), "yaml", "toml").text


@pytest.mark.parametrize(
    ("yaml", "toml"),
    [
        ("0x3b000000", "0x3b000000"),
        ("0o17", "0o17"),
        ("1.0e-05", "1.0e-05"),
        (".5", "0.5"),
        ("007", "7"),
        (".inf", "inf"),
        ("-.inf", "-inf"),
        ("yes", '"yes"'),
        ('"8"', '"8"'),
        ("'say \"a\\b\"'", '"say \\"a\\\\b\\""'),
        ('"a\\tb"', '"a\\tb"'),
        ('"\\e"', '"\\u001B"'),
        ("\"\"", '""'),
    ],
)  # fmt: skip
def test_single_values(yaml: str, toml: str) -> None:
    made = to_toml(f"spec: {yaml}\n")
    assert made == f"spec = {toml}\n"
    to_yaml(made)


@pytest.mark.parametrize("text", ["one\ntwo\n", "one\n  two", "one\n\n", " one\ntwo", 'say """\nyes\\"', "a \nb"])
def test_texts_of_several_lines(text: str) -> None:
    import json

    toml = to_toml(f"spec: {json.dumps(text)}\n")
    assert '"""' in toml
    value = load(Source("k", to_yaml(toml))).get("spec")
    assert value is not None and value.to_plain() == text

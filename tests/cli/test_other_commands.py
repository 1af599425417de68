"""`lower`, `schema`, `explain`, `new`, `doctor`, `completion`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.convert.exprs import FUNCTIONS as INDEX_FUNCTIONS
from pypto_spec.convert.function_reference import function_names, function_text
from pypto_spec.driver.wrap import wrapped
from pypto_spec.spec.formula.integer import FUNCTIONS
from pypto_spec.spec.models.keywords import default_table
from tests.cli.run import process, run
from tests.cli.specs import BAD, GOOD, ROOT, write

SOFTMAX = str(ROOT / "specs" / "vector" / "softmax.yaml")


def test_lower_prints_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, k=GOOD)
    text = run("lower", "k.yaml", "--after", "memoryreuse").stdout
    assert text.startswith("spec: v1\ndump: {after: MemoryReuse, source: k.yaml, sha256: ")
    assert run("lower", "k.yaml").stdout.splitlines()[1].startswith("dump: {after: InsertSync, ")
    assert "dump:" not in run("lower", "k.yaml", "--after", "frontend").stdout


def test_lower_to_a_file_names_the_source_from_there(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    out = tmp_path / "dumps" / "d.yaml"
    assert run("lower", spec, "--after", "InitMemRef", "-o", str(out)).exit_code == 0
    assert 'source: "../k.yaml"' in out.read_text()
    again = run("lower", str(out), "--after", "InitMemRef", "-o", str(tmp_path / "dumps" / "e.yaml"))
    assert again.exit_code == 0
    assert (tmp_path / "dumps" / "e.yaml").read_bytes() == out.read_bytes()
    earlier = run("lower", str(out), "--after", "Simplify")
    assert earlier.exit_code == 2
    assert "is a dump after InitMemRef" in earlier.stderr


def test_lower_of_a_wrong_pass_or_spec(tmp_path: Path) -> None:
    good, bad = write(tmp_path, good=GOOD, bad=BAD)
    done = run("lower", good, "--after", "InsertSinc")
    assert done.exit_code == 2
    assert "did you mean `InsertSync`?" in done.stderr
    done = run("lower", bad)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "InsertSync" in run("lower", "--list").stdout
    assert run("lower").exit_code == 2
    assert run("lower", str(tmp_path)).exit_code == 2


def test_schema_is_the_committed_one(tmp_path: Path) -> None:
    text = run("schema").stdout
    assert json.loads(text)["$schema"].startswith("http://json-schema.org/draft-07")
    assert text == (ROOT / "pypto_spec" / "spec" / "schema.json").read_text()
    assert run("schema", "-o", str(tmp_path / "s.json")).exit_code == 0
    assert (tmp_path / "s.json").read_text() == text
    assert Path(run("schema", "--path").stdout.strip()).is_file()


def test_explain_by_code_and_name() -> None:
    assert run("explain", "ps4001").stdout.startswith("# PS4001: memory-overflow\n")
    assert run("explain", "memory-overflow").stdout == run("explain", "PS4001").stdout
    done = run("explain", "memory-overflw")
    assert done.exit_code == 2
    assert "did you mean `memory-overflow`?" in done.stderr
    assert "PS1001" in run("explain").stdout


def test_explain_keywords_fields_and_functions() -> None:
    assert run("explain", "load").stdout.startswith("# `load`: a statement in a region\n")
    assert "* `out`: it must be written" in run("explain", "tensors.x.access").stdout
    assert "In a `let`: `matmul(lhs, rhs" in run("explain", "matmul").stdout
    assert "`exp(x)`" in run("explain", "exp").stdout
    assert "log(row_sum(exp(s)))" in run("explain", "log_softmax").stdout
    assert run("explain", "stages").stdout == run("explain", "pipeline.stages").stdout
    assert "pypto-spec explain load.memory" in run("explain", "memory").stdout


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("lod", "`load`"),
        ("tensors.x.acces", "`tensors.x.access`"),
        ("tensr.x.access", "`tensors.x.access`"),
        ("log_softmx", "`log_softmax`"),
        ("PS201", "`PS2011`"),
        ("stges", "`stages`"),
    ],
)
def test_explain_suggests_from_all_kinds_of_words(word: str, near: str) -> None:
    done = run("explain", word)
    assert done.exit_code == 2
    assert near in done.stderr


def test_explain_lists() -> None:
    assert "\nlayer_norm\n" in run("explain", "--list", "functions").stdout
    assert "\ntensors.NAME.access\n" in run("explain", "--list", "fields").stdout
    keywords = run("explain", "--list", "keywords").stdout
    assert all(keyword.name in keywords for keyword in default_table())
    assert run("explain", "--list", "codes").stdout == run("explain").stdout
    assert run("explain", "load", "--list", "codes").exit_code == 2


def test_every_function_has_words() -> None:
    for name in function_names():
        text = function_text(name)
        assert text is not None and len(text.splitlines()) > 3, name
    assert {*FUNCTIONS, *INDEX_FUNCTIONS} <= set(function_names())


@given(st.text(alphabet=" ab*-`#\n|", max_size=200), st.integers(0, 200))
@settings(max_examples=50)
def test_wrapping_keeps_every_word(text: str, width: int) -> None:
    made = wrapped(text, width)
    assert made.split() == text.split()
    assert wrapped(made, width).split() == text.split()


def test_wrapping_leaves_code_alone() -> None:
    code = "```cpp\n" + "f(" + ", ".join(["argument"] * 30) + ");\n```\n"
    assert wrapped(code, 40) == code
    assert wrapped("* " + "word " * 20, 40).splitlines()[1].startswith("  word")


@pytest.mark.parametrize("template", ["softmax", "square"])
def test_new_writes_a_spec_that_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("new", "k", "--from", template).exit_code == 0
    (path,) = tmp_path.glob("k.*")
    text = path.read_text()
    assert 'name = "k"' in text or "name: k\n" in text
    schema = text.splitlines()[0].partition("schema")[2].strip(" =")
    assert Path(schema.removeprefix("file://")).is_file()
    assert run("check", str(path)).exit_code == 0
    before = path.read_bytes()
    again = run("new", "k", "--from", template)
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert path.read_bytes() == before


def test_new_takes_the_name_by_which_editors_tell_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("new", "mine.kernel.yaml", "--from", "rope").exit_code == 0
    assert "python: mine.py:" in (tmp_path / "mine.kernel.yaml").read_text()
    assert run("check", "mine.kernel.yaml").exit_code == 0


def test_new_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "did you mean `softmax`?" in run("new", "k", "--from", "softmx").stderr
    assert "cannot name a program" in run("new", "my-kernel").stderr
    assert "is YAML" in run("new", "k.toml", "--from", "add").stderr
    assert "softmax" in run("new", "--list").stdout
    assert list(tmp_path.iterdir()) == []


def test_new_brings_the_reference_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    assert run("new", "turn", "--from", "rope").exit_code == 0
    assert {p.name for p in tmp_path.iterdir()} == {"turn.yaml", "turn.py"}
    assert "turn.yaml" in (tmp_path / "turn.py").read_text()
    assert "turn: python, 15 runs" in run("test", "turn.yaml").stdout
    (tmp_path / "turn.yaml").unlink()
    again = run("new", "turn", "--from", "rope")
    assert again.exit_code == 2
    assert "turn.py exists already" in again.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"turn.py"}


def test_every_template_makes_a_good_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pypto_spec.driver.new import templates

    monkeypatch.chdir(tmp_path)
    for name in templates():
        assert run("new", f"my_{name}", "--from", name).exit_code == 0
    assert run("check", str(tmp_path)).exit_code == 0


def test_doctor_names_every_part() -> None:
    done = run("doctor")
    assert done.exit_code == 0
    for part in ("python", "pypto-spec", "C++ compiler", "torch", "torch_npu", "CANN"):
        assert f"{part:<13} " in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = run("completion", shell)
    assert done.exit_code == 0
    assert "_PYPTO_SPEC_COMPLETE" in done.stdout


def test_completion_knows_commands_passes_and_templates() -> None:
    def complete(words: str, cursor: int) -> str:
        return process(COMP_WORDS=words, COMP_CWORD=str(cursor), _PYPTO_SPEC_COMPLETE="bash_complete").stdout

    assert "plain,lower" in complete("pypto-spec lo", 1)
    assert "InsertSync" in complete("pypto-spec lower --after Ins", 3)
    assert "softmax_fp16" in complete("pypto-spec new k --from soft", 4)
    assert "PS4001" in complete("pypto-spec explain ps4", 2)

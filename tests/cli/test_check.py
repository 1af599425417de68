"""`check`, and what all commands do with their arguments."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import MAIN, process, run
from tests.cli.specs import BAD, GOOD, OVERFLOW, ROOT, TOML, write


def test_good_specs_give_0_and_a_summary(tmp_path: Path) -> None:
    done = run("check", *write(tmp_path, a=GOOD, b=TOML))
    assert done.exit_code == 0
    assert done.stderr == "2 specs checked: no findings\n"
    assert done.stdout == ""


def test_errors_give_1_with_the_place(tmp_path: Path) -> None:
    good, bad = write(tmp_path, good=GOOD, bad=BAD)
    done = run("check", good, bad)
    assert done.exit_code == 1
    assert f"--> {bad}:11:" in done.stdout
    assert done.stdout.endswith("1 error\n")


def test_folders_are_searched_for_specs(tmp_path: Path) -> None:
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / ".pypto-spec").touch()
    (tmp_path / "other.yaml").write_text("some: thing\nnested:\n  spec: v1\n")
    write(tmp_path, a=GOOD)
    write(tmp_path / "deep", b=TOML)
    write(tmp_path / "deep" / ".hidden", c=BAD)
    write(tmp_path / "built", d=BAD)
    done = run("check", str(tmp_path), str(tmp_path / "a.yaml"))
    assert (done.exit_code, done.stderr) == (0, "2 specs checked: no findings\n")


def test_standard_input_in_both_languages() -> None:
    assert run("check", "-", input=GOOD).exit_code == 0
    assert run("check", "-", "--input-format", "toml", input=TOML).exit_code == 0
    done = run("check", "-", input=BAD)
    assert done.exit_code == 1
    assert "--> -:11:" in done.stdout


def test_what_cannot_be_read_is_usage(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    (tmp_path / "empty").mkdir()
    done = run("check", good, str(tmp_path / "none.yaml"), str(tmp_path / "empty"))
    assert done.exit_code == 2
    assert "none.yaml: there is no such file" in done.stderr
    assert "no specs in the folder" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_usage(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    os.chmod(good, stat.S_IWUSR)
    assert run("check", good).exit_code == 2


def test_text_that_is_not_utf8_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_bytes(GOOD.encode() + b"# \xff\n")
    done = run("check", str(path))
    assert done.exit_code == 1
    assert "is not UTF-8" in done.stdout


def test_constants_from_the_command_line(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    assert run("check", good, "-D", "R=32").exit_code == 0
    assert run("check", good, "-D", "R=32", "-D", "R=many").exit_code == 1
    assert run("check", good, "-D", "NOPE=32").exit_code == 1
    done = run("check", good, "-D", "R")
    assert (done.exit_code, done.stderr) == (
        2,
        "pypto-spec: -D R: write -D NAME=VALUE, or -D @FILE for a file of defines\n",
    )


def test_formats(tmp_path: Path) -> None:
    good, bad = write(tmp_path, good=GOOD, bad=BAD)
    document = json.loads(run("check", bad, "--format", "json").stdout)
    assert document["summary"]["errors"] == 1
    assert json.loads(run("check", good, "--format", "json").stdout)["diagnostics"] == []
    assert json.loads(run("check", bad, "--format", "sarif").stdout)["version"] == "2.1.0"
    assert run("check", bad, "--format", "github").stdout.startswith("::error file=")


def test_overflow_is_answered_with_a_number_that_was_seen_to_fit(tmp_path: Path) -> None:
    (big,) = write(tmp_path, big=OVERFLOW)
    done = run("check", big)
    assert done.exit_code == 1
    assert "`TR`: 96 -> 16 fits (needs 131072 B)" in done.stdout
    assert run("check", big, "-D", "TR=16").exit_code == 0
    assert run("check", big, "-D", "TR=24").exit_code == 1


def test_exit_codes_of_a_process(tmp_path: Path) -> None:
    good, bad = write(tmp_path, good=GOOD, bad=BAD)
    assert [process("check", p).returncode for p in (good, bad, "none.yaml")] == [0, 1, 2]
    assert process("frobnicate").returncode == 2


def test_no_colour_without_a_terminal(tmp_path: Path) -> None:
    (bad,) = write(tmp_path, bad=BAD)
    assert "\x1b" not in process("check", bad).stdout


def test_unknown_command_and_no_arguments() -> None:
    done = run("chek", "x")
    assert done.exit_code == 2
    assert "did you mean `check`?" in done.stderr
    assert run("check").exit_code == 2
    assert run("--version").stdout.startswith("pypto-spec ")


def test_help_of_every_command() -> None:
    from pypto_spec.cli.main import COMMANDS

    shown = run("--help").stdout
    for name in COMMANDS:
        assert f"  {name}" in shown
        assert run(name, "--help").exit_code == 0


def test_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-c", MAIN, "lower", str(ROOT / "specs" / "reductions" / "columns.yaml")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(
    "words", [("lower", "--after", "InsertSync"), ("build", "--stdout"), ("check", "--format=json")]
)
def test_a_full_disk_is_no_bug_of_ours(words: tuple[str, ...], stream: str) -> None:
    command = [sys.executable, "-c", MAIN, words[0], str(ROOT / "specs" / "vector" / "add.yaml"), *words[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with open("/dev/full", "w") as full:
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, stream: full}
        done = subprocess.run(command, **pipes, env=environment, text=True, check=False)  # type: ignore[call-overload]
    if stream == "stdout":
        assert done.stderr == "pypto-spec: cannot write the output: no space left on device\n"
        assert done.returncode == 2
    else:
        assert done.returncode in (0, 2)  # 2 where something was to be said


@pytest.mark.parametrize("blocks", [0, 1])
def test_a_limit_of_file_sizes_is_a_finding(tmp_path: Path, blocks: int) -> None:
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({blocks * 1024}, {blocks * 1024})); {MAIN}"
    spec = str(ROOT / "specs" / "vector" / "add.yaml")
    command = [sys.executable, "-c", limited, "build", spec, "-o", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error[PS7011]" in done.stderr
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_check_imports_neither_torch_nor_templates(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    code = (
        f"import sys; sys.argv = ['pypto-spec', 'check', {good!r}]\ntry:\n    {MAIN}\nfinally:\n    print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    loaded = set(done.stdout.split())
    assert "pypto_spec.driver.check" in loaded
    for name in ("torch", "jinja2", "pypto_spec.render.program", "pypto_spec.golden", "importlib.metadata"):
        assert name not in loaded, name

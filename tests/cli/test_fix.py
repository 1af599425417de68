"""`pypto-spec fix` and the fixes in formats for machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import run
from tests.diagnostics.test_fixes import GOOD, headed

UNUSED_OPTION = headed("target: {unit_flag: true}")
MISSPELT = GOOD.replace("x: t}", "x: tt}")


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)


def test_safe_fixes_are_written_and_the_rest_is_told(tmp_path: Path) -> None:
    put(tmp_path, a=UNUSED_OPTION, b=MISSPELT, c=GOOD)
    done = run("fix", str(tmp_path))
    assert done.exit_code == 1
    assert (tmp_path / "a.yaml").read_text() == GOOD
    assert (tmp_path / "b.yaml").read_text() == MISSPELT
    assert "leave `unit_flag` out" in done.stderr and "PS2001" in done.stderr
    assert "3 specs: 1 fixed; `--unsafe` has fixes for 1 finding more" in done.stderr
    done = run("fix", "--unsafe", str(tmp_path))
    assert done.exit_code == 0
    assert (tmp_path / "b.yaml").read_text() == GOOD
    assert "replace `tt` by `t`" in done.stderr


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_check_and_diff_write_nothing(tmp_path: Path, option: str) -> None:
    put(tmp_path, a=UNUSED_OPTION)
    done = run("fix", option, str(tmp_path))
    assert (tmp_path / "a.yaml").read_text() == UNUSED_OPTION
    assert "1 spec: 1 would be fixed" in done.stderr
    if option == "--check":
        assert done.exit_code == 1 and done.stdout == f"{tmp_path / 'a.yaml'}\n"
    else:
        assert done.exit_code == 0 and "\n-target: {unit_flag: true}\n" in done.stdout
    put(tmp_path, a=GOOD)
    done = run("fix", option, str(tmp_path))
    assert done.exit_code == 0 and done.stdout == ""


def test_standard_input_goes_to_standard_output() -> None:
    done = run("fix", "-", input=UNUSED_OPTION)
    assert (done.stdout, done.stderr, done.exit_code) == (GOOD, "", 0)
    assert run("fix", "-", input=GOOD).stdout == GOOD
    assert run("fix", "-", "--input-format", "toml", input="spec = v1\n").stdout == 'spec = "v1"\n'


def test_formats_for_machines_carry_the_fixes_with_their_titles(tmp_path: Path) -> None:
    put(tmp_path, a=UNUSED_OPTION)
    (finding,) = json.loads(run("check", "--format", "json", str(tmp_path)).stdout)["diagnostics"]
    (fix,) = finding["fixes"]
    assert (fix["title"], fix["safe"], fix["replacement"]) == ("leave `unit_flag` out", True, "")
    sarif = json.loads(run("check", "--format", "sarif", str(tmp_path)).stdout)
    (found,) = sarif["runs"][0]["results"]
    assert "leave `unit_flag` out" in found["fixes"][0]["description"]["text"]

"""`fmt` and `convert`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.run import process, run
from tests.cli.specs import GOOD, ROOT

UNTIDY = "spec:   v1\nname: 'k' # name\nprogram: [ ]\n"
TIDY = "spec: v1\nname: k # name\nprogram: []\n"


def test_the_gallery_is_in_style() -> None:
    done = run("fmt", "--check", str(ROOT / "specs"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith(" specs: 0 would change\n")


def test_files_and_folders(tmp_path: Path) -> None:
    spec, link, other = tmp_path / "k.yaml", tmp_path / "link.yaml", tmp_path / "other.yaml"
    spec.write_text(UNTIDY)
    spec.chmod(0o640)
    link.symlink_to(spec)
    other.write_text("b:   1\n")  # no spec: folders are searched for specs only
    done = run("fmt", "--check", str(tmp_path))
    assert (done.exit_code, done.stdout) == (1, f"{spec}\n")
    done = run("fmt", "--diff", str(spec))
    assert done.exit_code == 0
    assert done.stdout.startswith(f"--- {spec}\n+++ {spec}\n@@ -1,3 +1,3 @@\n-spec:   v1\n-name: 'k' # name\n")
    assert spec.read_text() == UNTIDY
    done = run("fmt", str(link))
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"formatted: {link}\n1 spec: 1 formatted\n"
    assert spec.read_text() == TIDY and link.is_symlink()
    assert spec.stat().st_mode & 0o777 == 0o640
    assert other.read_text() == "b:   1\n"
    assert sorted(os.listdir(tmp_path)) == ["k.yaml", "link.yaml", "other.yaml"]
    assert run("fmt", str(tmp_path)).stderr == "1 spec: 0 formatted\n"


def test_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(UNTIDY)
    bad.write_text("spec:  v1\nname: [\n")
    done = run("fmt", str(good), str(bad))
    assert (done.exit_code, done.stdout) == (1, "")
    assert "error[PS1002]" in done.stderr
    assert (good.read_text(), bad.read_text()) == (TIDY, "spec:  v1\nname: [\n")
    assert run("fmt", str(tmp_path / "none.yaml")).exit_code == 2


def test_a_rare_form_is_said(tmp_path: Path) -> None:
    spec = tmp_path / "k.yaml"
    spec.write_text("spec: v1\n? name\n:  k\n")
    done = run("fmt", str(spec))
    assert (done.exit_code, done.stderr) == (
        0,
        f"left as it is: {spec} (a key stands behind `?`)\n1 spec: 0 formatted\n",
    )


def test_standard_input() -> None:
    done = run("fmt", "-", input=UNTIDY)
    assert (done.exit_code, done.stdout, done.stderr) == (0, TIDY, "")
    done = run("fmt", "-", "--input-format", "toml", input="spec='v1'\n")
    assert done.stdout == 'spec = "v1"\n'
    assert run("fmt", "--check", "-", input=UNTIDY).exit_code == 1
    assert run("fmt", "-", input=b"\xef\xbb\xbfspec:  v1\r\n").stdout_bytes == b"\xef\xbb\xbfspec: v1\r\n"


def test_convert_by_endings(tmp_path: Path) -> None:
    spec, toml, back = tmp_path / "k.yaml", tmp_path / "k.toml", tmp_path / "back.yaml"
    spec.write_text(GOOD)
    done = run("convert", str(spec), "-o", str(toml))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"written: {toml}\n")
    assert run("check", str(toml)).exit_code == run("check", str(spec)).exit_code == 0
    assert run("convert", str(toml), "-o", str(back)).exit_code == 0
    assert run("convert", str(toml)).stdout == back.read_text()
    assert run("convert", str(toml), "--to", "yaml").stdout == back.read_text()
    done = run("convert", str(spec), "--to", "yaml")
    assert done.exit_code == 2 and "is YAML already" in done.stderr
    done = run("convert", str(tmp_path))
    assert done.exit_code == 2 and "holds several specs" in done.stderr


def test_convert_standard_input_and_aliases() -> None:
    done = run("convert", "-", input="spec: v1\nx-a: &a [1]\nx-b: *a\n")
    assert (done.exit_code, done.stdout) == (0, 'spec = "v1"\nx-a = [1]\nx-b = [1]\n')
    assert done.stderr == "-:3:6: `*a` is written out, TOML has no aliases\n"
    done = run("convert", "-", "--input-format", "toml", input='spec = "v1" # one\n')
    assert done.stdout == "spec: v1 # one\n"


@pytest.mark.parametrize("text", ["spec: v1\nname: ~\n", "spec: [\n"])
def test_convert_what_cannot_be_converted(text: str, tmp_path: Path) -> None:
    out = tmp_path / "k.toml"
    done = run("convert", "-", "-o", str(out), input=text)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "error[PS1" in done.stderr and not out.exists()
    done = run("convert", "-", input="spec: v1\n? name\n: k\n")
    assert done.exit_code == 2 and "a key stands behind `?`" in done.stderr


def test_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(UNTIDY)
    done = process("fmt", "k.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "formatted: k.yaml\n1 spec: 1 formatted\n")

"""`tune` as a command, and `-D @FILE` in every command."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.run import process, run
from tests.driver.tunable import PIPELINED, REPEATED, RESIZED, VARIANTS

QUICK = ("--goldens", "0")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("k", PIPELINED), ("r", RESIZED), ("v", VARIANTS), ("d", REPEATED)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_the_table(snapshot: SnapshotAssertion) -> None:
    done = run("tune", "k.yaml", "-D", "TR=16..256:16", "-D", "stages=1..4", *QUICK)
    assert done.exit_code == 0
    assert done.stdout == snapshot
    assert done.stderr == "written: scaled.defines; next: pypto-spec build k.yaml -D @scaled.defines\n"
    assert "modelled" in done.stdout
    short = run("tune", "k.yaml", "-D", "TR=16..256:16", "-D", "stages=1..4", *QUICK, "--rows", "2").stdout
    assert short == snapshot


def test_the_table_by_element(snapshot: SnapshotAssertion) -> None:
    assert run("tune", "r.yaml", "-D", "TR=32,64", *QUICK).stdout == snapshot


def test_the_file_of_defines(folder: Path, snapshot: SnapshotAssertion) -> None:
    assert run("tune", "k.yaml", "-D", "TR=16,64", "-D", "stages=1..2", "-D", "C=128", *QUICK).exit_code == 0
    written = (folder / "scaled.defines").read_bytes()
    assert written.decode() == snapshot
    again = run("tune", "k.yaml", "-D", "TR=16,64", "-D", "stages=1..2", "-D", "C=128", *QUICK, "-o", "new/mine.yaml")
    assert again.exit_code == 0
    assert (folder / "new" / "mine.yaml").read_bytes() == written
    assert sorted(p.name for p in (folder / "new").iterdir()) == ["mine.yaml"]


def test_every_command_takes_the_file(folder: Path) -> None:
    (folder / "best.defines").write_text("TR: 64\nstages: 2\n")
    plain = ("-D", "TR=64", "-D", "stages=2")
    for command in (("build", "--stdout"), ("lower",), ("map", "--format", "json"), ("check", "--format", "json")):
        name, *others = command
        one, other = (run(name, "k.yaml", *others, *given) for given in (("-D", "@best.defines"), plain))
        assert one.exit_code == 0, one.output
        assert one.stdout == other.stdout
    assert run("diff-passes", "k.yaml", "-D", "@best.defines", "-o", "p.html").exit_code == 0
    over = run("build", "k.yaml", "--stdout", "-D", "@best.defines", "-D", "TR=32").stdout
    assert over == run("build", "k.yaml", "--stdout", "-D", "TR=32", "-D", "stages=2").stdout
    tuned = json.loads(
        run("tune", "k.yaml", "-D", "@best.defines", "-D", "stages=1..3", *QUICK, "--format", "json").stdout
    )
    assert (tuned["axes"], tuned["fixed"]) == ({"stages": ["1", "2", "3"]}, {"TR": "64"})
    (folder / "wrong.defines").write_text("TR: 64\nTR: 32\n")
    for command in (("build",), ("check",), ("lower",), ("map", "--format", "svg"), ("tune", *QUICK), ("test",)):
        done = run(command[0], "k.yaml", *command[1:], "-D", "@wrong.defines")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "wrong.defines:2:1: " in done.stderr
        assert "Traceback" not in done.stderr


def test_help_says_how() -> None:
    assert "@FILE" in run("build", "--help").stdout
    assert "A..B:STEP" in run("tune", "--help").stdout
    assert "tune" in run("--help").stdout


def test_somebody_elses_file_is_left_alone(folder: Path) -> None:
    (folder / "scaled.defines").write_text("TR: 1\n")
    done = run("tune", "k.yaml", "-D", "TR=16,64", *QUICK)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "scaled.defines is there and `tune` did not write it; name another file with -o FILE" in done.stderr
    assert (folder / "scaled.defines").read_text() == "TR: 1\n"
    assert run("tune", "k.yaml", "-D", "TR=16,64", *QUICK, "-o", "scaled.defines").exit_code == 0
    assert run("tune", "k.yaml", "-D", "TR=32,64", *QUICK).exit_code == 0


def test_without_a_winner_nothing_is_written(folder: Path) -> None:
    done = run("tune", "k.yaml", "-D", "TR=192,256", *QUICK, "-o", "o.defines")
    assert done.exit_code == 1
    assert "PS4001 TR=192: region `scaled` needs" in done.stdout
    assert "no winner: no candidate gives a program" in done.stdout
    document = json.loads(run("tune", "k.yaml", "-D", "TR=192,256", *QUICK, "--format", "json").stdout)
    assert (document["winner"], document["file"], document["no_winner"] is None) == (None, None, False)
    (folder / "bad.yaml").write_text(PIPELINED.replace("t * 2", "u * 2"))
    done = run("tune", "bad.yaml", "-D", "TR=16,32", *QUICK)
    assert done.exit_code == 1
    assert "PS2001 TR=16,32: `u` is not defined here" in done.stdout
    assert "error[PS2001]" in done.stderr
    (folder / "broken.yaml").write_text("spec: v1\n  name: [\n")
    done = run("tune", "broken.yaml", "-D", "TR=16,32", *QUICK)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "broken.yaml:2:" in done.stderr
    (folder / "latin.yaml").write_bytes(b"spec: v1\nabout: \xe9\n")
    assert run("tune", "latin.yaml", "-D", "TR=16,32", *QUICK).exit_code == 1
    assert [p.name for p in folder.glob("*.defines")] == []


def test_one_variant() -> None:
    done = run("tune", "v.yaml", "-D", "TR=16,64", *QUICK)
    assert done.exit_code == 2
    assert "choose one with --variant: C64, C256" in done.stderr
    done = run("tune", "v.yaml", "-D", "TR=16,64", *QUICK, "--variant", "C64")
    assert done.exit_code == 0
    assert "written: scaled__C64.defines" in done.stderr
    assert done.stderr.endswith("next: pypto-spec build v.yaml --variant C64 -D @scaled__C64.defines\n")
    assert run("build", "v.yaml", "--variant", "C64", "-D", "@scaled__C64.defines").exit_code == 0


def test_standard_input(folder: Path) -> None:
    done = run("tune", "-", "-D", "TR=16,64", *QUICK, input=PIPELINED)
    assert done.exit_code == 0
    assert "# of standard input, sha256 " in (folder / "scaled.defines").read_text()


def test_a_failure_of_the_compiler_is_not_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)

    def planted(*_: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr("pypto_spec.driver.compile.report_hints", planted)
    done = run("tune", "k.yaml", "-D", "TR=16,64", *QUICK, "-j", "1")
    assert done.exit_code == 2
    assert "PS9001" in done.stdout
    assert "Traceback" not in done.output


LOADED = "import sys; from pypto_spec.cli.main import cli; cli.main({args!r}, standalone_mode=False); print({names})"


def test_without_goldens_nothing_heavy_is_loaded(folder: Path) -> None:
    import subprocess
    import sys

    from tests.cli.specs import ROOT

    names = "[m for m in ('torch', 'numpy', 'ortools', 'pypto_spec.host.compile') if m in sys.modules]"
    args = ["tune", "k.yaml", "-D", "TR=16,64", *QUICK, "-j", "1"]
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(args=args, names=names)],
        capture_output=True, text=True, check=True, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert done.stdout.endswith("\n[]\n")


@pytest.mark.skipif(find_spec("torch") is None, reason="goldens compare with torch")
def test_goldens_in_the_table(folder: Path, snapshot: SnapshotAssertion) -> None:
    done = run("tune", "d.yaml", "-D", "reps=1..3", "--goldens", "1")
    assert done.exit_code == 0
    # where the first error of a golden is depends on the inputs that were drawn
    assert "\n".join(line for line in done.stdout.splitlines() if "PS7030" not in line) == snapshot
    assert "    PS7030 reps=1: `out` differs in " in done.stdout
    assert (folder / "doubled.defines").read_text().endswith("\nreps: 2\n")
    assert "its golden is good on the host model" in (folder / "doubled.defines").read_text()


def test_the_same_bytes_from_process_to_process(folder: Path) -> None:
    args = ("tune", "k.yaml", "-D", "TR=16..64:16", "-D", "stages=1..3", *QUICK, "--format", "json")
    first, second = (process(*args, cwd=folder, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout

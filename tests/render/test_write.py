"""The output folder: whole or not at all, never over what no build wrote, whatever happens meanwhile."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules.target import OUTPUT_NOT_OURS, OUTPUT_NOT_WRITTEN
from pypto_spec.render import write
from pypto_spec.render.write import MARKER, write_tree
from tests.render.tools import ROOT

FILES = {"kernels/aiv/k.cpp": "one\n", "manifest.json": "{}\n"}


def content(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file() and p.name != MARKER
    }


def refusal(rule: object) -> pytest.RaisesExc[CompileError]:
    return pytest.RaisesExc(CompileError, check=lambda error: error.diagnostics[0].rule is rule)


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.name.startswith("."))


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "build" / "k"
    if (tmp_path / "build").is_dir():
        os.chmod(tmp_path / "build", 0o755)
        assert leftovers(tmp_path / "build") == []


def test_writes_and_replaces(out: Path) -> None:
    write_tree(FILES, out)
    assert content(out) == FILES
    write_tree({"manifest.json": "[]\n"}, out)
    assert content(out) == {"manifest.json": "[]\n"}


def test_an_empty_folder_is_filled(out: Path) -> None:
    out.mkdir(parents=True)
    write_tree(FILES, out)
    assert content(out) == FILES


def test_a_link_stays_a_link(out: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    out.parent.mkdir()
    out.symlink_to(real)
    write_tree(FILES, out)
    write_tree(FILES, out)
    assert out.is_symlink()
    assert content(real) == FILES
    assert leftovers(tmp_path) == []


def test_a_folder_of_somebody_else_is_left_alone(out: Path) -> None:
    out.mkdir(parents=True)
    (out / "thesis.tex").write_text("years of work")
    with refusal(OUTPUT_NOT_OURS):
        write_tree(FILES, out)
    assert content(out) == {"thesis.tex": "years of work"}


def test_files_of_somebody_else_in_our_folder_are_not_lost(out: Path) -> None:
    write_tree(FILES, out)
    (out / "kernels" / "notes.txt").write_text("mine")
    with refusal(OUTPUT_NOT_OURS):
        write_tree(FILES, out)
    assert content(out) == {**FILES, "kernels/notes.txt": "mine"}
    (out / "kernels" / "notes.txt").unlink()
    (out / "binding" / "__pycache__").mkdir(parents=True)
    (out / "binding" / "__pycache__" / "k.pyc").write_text("")
    write_tree(FILES, out)
    assert content(out) == FILES


def test_a_file_is_left_alone(out: Path) -> None:
    out.parent.mkdir()
    out.write_text("a file")
    with refusal(OUTPUT_NOT_OURS):
        write_tree(FILES, out)
    assert out.read_text() == "a file"


def test_the_current_folder_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    for place in (".", "..", str(tmp_path)):
        with refusal(OUTPUT_NOT_OURS):
            write_tree(FILES, place)
    assert list(tmp_path.rglob("*")) == [inner]


def test_a_file_in_the_way_is_a_diagnostic(out: Path) -> None:
    out.parent.write_text("a file")
    with refusal(OUTPUT_NOT_WRITTEN):
        write_tree(FILES, out)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_a_diagnostic(out: Path) -> None:
    out.parent.mkdir()
    os.chmod(out.parent, 0o555)
    with refusal(OUTPUT_NOT_WRITTEN):
        write_tree(FILES, out)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_what_the_system_refuses_is_a_diagnostic_and_the_old_folder_stays(
    out: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    write_tree(FILES, out)

    def refuse(folder: Path, files: object) -> None:
        (folder / "half").write_text("half")
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(write, "_fill", refuse)
    with pytest.raises(CompileError) as caught:
        write_tree({"x": "y"}, out)
    (found,) = caught.value.diagnostics
    assert found.rule is OUTPUT_NOT_WRITTEN
    assert os.strerror(number) in found.message
    assert found.helps
    assert content(out) == FILES


def test_without_an_exchange_in_one_step(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    for text in ("a", "b"):
        write_tree({"x": text}, out)
        assert content(out) == {"x": text}


def test_leftovers_of_a_killed_build_are_removed(out: Path) -> None:
    write_tree(FILES, out)
    killed = out.parent / ".k.building-0123456789ab"
    killed.mkdir()
    (killed / MARKER).write_text("")
    (killed / "kernels").mkdir()
    (out.parent / ".k.building-ba9876543210").mkdir()
    write_tree(FILES, out)
    assert leftovers(out.parent) == []


WRITER = """
import sys
from pypto_spec.render.write import write_tree
name, count, rounds = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
for _ in range(rounds):
    write_tree({f"d{n % 7}/f{n}.txt": name * 300 for n in range(count)} | {"name": name}, sys.argv[1])
"""


def start(out: Path, name: str, count: int, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(out), name, str(count), str(rounds)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def whole(folder: Path, counts: dict[str, int]) -> None:
    """One build's files, all of them and no others. Read through one open folder, as a reader would hold it."""
    for _ in range(100):
        try:
            here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return
        try:
            found = content(Path(f"/proc/self/fd/{here}").resolve())
            break
        except FileNotFoundError:  # replaced while it was read
            continue
        finally:
            os.close(here)
    else:
        raise AssertionError("never readable as a whole")
    name = found.pop("name")
    assert set(found.values()) <= {name * 300}
    assert len(found) == counts[name]


def test_two_builds_at_once(out: Path) -> None:
    counts = {"a": 30, "b": 40}
    processes = [start(out, name, count, 40) for name, count in counts.items()]
    while any(p.poll() is None for p in processes):
        time.sleep(0.01)
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()
    assert [process.wait() for process in processes] == [0, 0]
    whole(out, counts)
    write_tree(FILES, out)


def test_killed_at_any_moment(out: Path) -> None:
    counts = {"a": 40, "b": 40}
    for number in range(12):
        process = start(out, "ab"[number % 2], 40, 1000)
        time.sleep(0.004 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        whole(out, counts)
    write_tree(FILES, out)
    assert content(out) == FILES

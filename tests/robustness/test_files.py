"""The files around a compilation: folders that are only read, full disks, builds at once, killed builds, odd names."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run import MAIN
from tests.cli.specs import ROOT

SPEC = """\
spec: v1
name: kernel
constants: {F: 1}
tensors:
  x:   {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
  - region: k
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [64, 128]}
      - let: y = exp(t) * F
      - store: {from: y, to: out, at: [0, 0]}
golden: {python: "reference.py:kernel"}
"""
REFERENCE = "def kernel(x):\n    return x.exp()\n"


def start(
    *words: str | bytes,
    folder: Path,
    cache: Path | None = None,
    before: Callable[[], None] | None = None,
    bytecode: bool = False,
) -> subprocess.Popen[bytes]:
    """The command line in a process (and a process group) of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    if bytecode:
        del environment["PYTHONDONTWRITEBYTECODE"]
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    command: list[str | bytes] = [sys.executable, "-c", MAIN, *words]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, preexec_fn=before,
    )  # fmt: skip


def run(
    *words: str | bytes, folder: Path, before: Callable[[], None] | None = None, bytecode: bool = False
) -> tuple[int, str]:
    process = start(*words, folder=folder, before=before, bytecode=bytecode)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output.decode(errors="replace")


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a spec and its reference; builds go beside it."""
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "kernel.yaml").write_text(SPEC)
    (folder / "reference.py").write_text(REFERENCE)
    return folder


def test_a_folder_of_specs_is_only_read(here: Path) -> None:
    """Python's compiled files do not appear there either, though a reference is imported from there."""
    before = content(here)
    here.chmod(0o555)
    try:
        for words in (
            ("check", "kernel.yaml"), ("lower", "kernel.yaml"), ("test", "kernel.yaml"),
            ("build", "kernel.yaml", "-o", "../built"), ("build", "kernel.yaml", "--stdout"),
        ):  # fmt: skip
            code, output = run(*words, folder=here, bytecode=True)
            assert code == 0, output
            assert output
    finally:
        here.chmod(0o755)
    assert content(here) == before


@pytest.mark.parametrize("most", [0, 100, 1000, 8000])
def test_a_full_disk_leaves_the_old_build(here: Path, most: int) -> None:
    """No file may grow beyond a number of bytes: writing stops in the middle of the tree."""
    assert run("build", "kernel.yaml", "-o", "../built", folder=here)[0] == 0
    old = content(here.parent / "built")
    assert 1000 < max(map(len, old.values())) < 8000

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    code, output = run("build", "kernel.yaml", "-o", "../built", "-D", "F=2", folder=here, before=limit)
    assert "Traceback" not in output
    if most < 8000:
        assert code == 1
        assert "error[PS7011]" in output
    else:
        assert code == 0, output
    assert (content(here.parent / "built") == old) == (most < 8000)
    assert [p.name for p in here.parent.iterdir() if "building" in p.name] == []


def test_a_full_disk_under_the_compiler_of_kernels(here: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    process = start("test", "kernel.yaml", folder=here, cache=tmp_path / "cache", before=limit)
    output = process.communicate(timeout=240)[0].decode()
    assert process.returncode == 2, output
    assert "free some memory and disk space" in output
    assert "bug" not in output
    after = start("test", "kernel.yaml", folder=here, cache=tmp_path / "cache")
    output = after.communicate(timeout=240)[0].decode()
    assert after.returncode == 0, output


def test_a_cache_that_cannot_be_written(here: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    process = start("test", "kernel.yaml", folder=here, cache=tmp_path / "file")
    output = process.communicate(timeout=240)[0].decode()
    assert process.returncode == 2, output
    assert "XDG_CACHE_HOME" in output
    assert "bug" not in output
    assert "internal error" not in output


def versions(here: Path) -> dict[str, dict[str, bytes]]:
    """What a build of each version of the spec leaves."""
    made: dict[str, dict[str, bytes]] = {}
    for value in ("2", "3"):
        out = here.parent / f"version{value}"
        assert run("build", "kernel.yaml", "-o", str(out), "-D", f"F={value}", folder=here)[0] == 0
        made[value] = content(out)
    assert made["2"] != made["3"]
    return made


def test_two_builds_of_one_folder_at_once(here: Path) -> None:
    made = versions(here)
    out = here.parent / "built"
    for _ in range(4):
        pair = [start("build", "kernel.yaml", "-o", str(out), "-D", f"F={v}", folder=here) for v in made]
        for process in pair:
            output = process.communicate(timeout=120)[0].decode()
            assert process.returncode == 0, output
        assert content(out) in made.values()
    assert [p.name for p in here.parent.iterdir() if "building" in p.name] == []


def test_a_build_killed_at_any_moment(here: Path) -> None:
    """The folder is the old build or the new one, never a part of one."""
    made = versions(here)
    out = here.parent / "built"
    started = time.monotonic()
    assert run("build", "kernel.yaml", "-o", str(out), "-D", "F=2", folder=here)[0] == 0
    whole = time.monotonic() - started
    rng = random.Random(0)
    for number in range(16):
        process = start("build", "kernel.yaml", "-o", str(out), "-D", f"F={2 + number % 2}", folder=here)
        time.sleep(whole * rng.uniform(0.3, 1.1))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        assert content(out) in made.values()
    assert run("build", "kernel.yaml", "-o", str(out), "-D", "F=3", folder=here)[0] == 0
    assert content(out) == made["3"]
    assert [p.name for p in here.parent.iterdir() if "building" in p.name] == []


@pytest.mark.long
def test_a_test_killed_at_any_moment_leaves_no_bad_cache(here: Path, tmp_path: Path) -> None:
    rng = random.Random(1)
    cache = tmp_path / "cache"
    for _ in range(4):
        process = start("test", "kernel.yaml", folder=here, cache=cache)
        time.sleep(rng.uniform(0.5, 4.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    process = start("test", "kernel.yaml", folder=here, cache=cache)
    output = process.communicate(timeout=240)[0].decode()
    assert process.returncode == 0, output


NAMES = (b"a\nb.yaml", "ü变.yaml".encode(), b"bad\xff\xfe.yaml", b"sp ace'q\".yaml", b"%d{x}.yaml", b"\x1b[31m.yaml",
         "\u202egpj.yaml".encode(), b"\\u0041??.yaml")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_of_files(here: Path, name: bytes) -> None:
    """Whatever a file system allows: it is built, its dumps give the same kernel, and findings show it."""
    with open(os.path.join(os.fsencode(here), name), "w") as file:
        file.write(SPEC)
    code, output = run("build", "-o", "../built", "--dump-passes", "../dumps", "--", name, folder=here)
    assert code == 0, output
    (dump,) = (here.parent / "dumps").glob("*_Simplify.yaml")
    code, output = run("build", "-o", "../again", "--", str(dump), folder=here)
    assert code == 0, output
    one, two = (content(here.parent / folder) for folder in ("built", "again"))
    kernel = "kernels/aiv/kernel_k.cpp"
    assert _code(one[kernel]) == _code(two[kernel])
    for text in one.values():
        text.decode()
    with open(os.path.join(os.fsencode(here), name), "a") as file:
        file.write("wrong: 1\n")
    for format in ("text", "json", "sarif", "github"):
        code, output = run("check", "--format", format, "--", name, folder=here)
        assert code == 1, output
        assert "PS1001" in output


def _code(text: bytes) -> list[bytes]:
    return [line for line in text.splitlines() if not line.lstrip().startswith(b"//")]

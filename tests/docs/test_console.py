"""The commands that the documentation shows, run page by page in one folder, print what it says they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.generated import ROOT, pages
from tests.docs.samples import ALL, Sample, samples

RUNNABLE = frozenset({"pypto-spec", "cat", "ls", "sed", "head", "mkdir", "python"})
_TIME = re.compile(r"\b\d+\.\d+ s\b")
_EXIT = re.compile(r"\s+# exit code (\d+)$")


def commands(text: str) -> Iterator[tuple[str, int, str]]:
    """Each command of a console block, the exit code it must have (0 unless it says), and what it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        code = _EXIT.search(line)
        yield _EXIT.sub("", line).partition("  #")[0], int(code[1]) if code else 0, output


def runnable(text: str) -> bool:
    """Whether all commands of a block can run here."""
    return all(shlex.split(command)[0] in RUNNABLE for command, _, _ in commands(text))


@pytest.mark.parametrize("sample", [s for s in ALL if s.kind == "console"], ids=str)
def test_commands_are_run_or_say_why_not(sample: Sample) -> None:
    if sample.skipped:
        assert sample.words.index("skip:") == 0
        assert len(sample.words) > 1, "`console skip:` wants a reason behind it"
    else:
        assert runnable(sample.text), f"a command that is not run here: {', '.join(RUNNABLE)} are; else `skip: REASON`"


def matches(expected: str, found: str) -> bool:
    """Whether a text is the expected one: a line `...` stands for any lines, one within a line for any text in it."""
    pieces = [_TIME.sub("T s", line.rstrip()) for line in expected.rstrip().splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n" for line in pieces
    )
    text = "".join(f"{_TIME.sub('T s', line.rstrip())}\n" for line in found.rstrip().splitlines())
    return re.fullmatch(pattern, text) is not None


def blocks(path: Path) -> list[str]:
    """The console blocks of a page that are run."""
    return [s.text for s in samples(path) if s.kind == "console" and not s.skipped]


@pytest.mark.parametrize("path", [p for p in pages() if blocks(p)], ids=lambda p: p.name)
def test_commands_print_what_the_page_shows(path: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    command = tools / "pypto-spec"
    command.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from pypto_spec.cli.main import main; main()' \"$@\"\n", encoding="utf-8"
    )
    command.chmod(0o755)
    place = tmp_path / "place"
    place.mkdir()
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "110",
    }
    for sample in samples(path):
        if sample.file is not None:
            (place / sample.file).write_text(sample.text, encoding="utf-8")
    for block in blocks(path):
        for line, code, output in commands(block):
            done = subprocess.run(
                ["sh", "-c", line], cwd=place, env=environment, capture_output=True, text=True, check=False
            )
            shown = done.stdout + done.stderr
            assert done.returncode == code, f"{line}\n{shown}"
            if output.strip():
                assert matches(output, shown), f"{line} prints\n{shown}"

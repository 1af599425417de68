"""What the tests draw: the largest kernel of the gallery, a ring buffer, a pipeline's copies, an overlap."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli.run import run
from tests.cli.specs import ROOT

GALLERY = sorted(p for p in (ROOT / "specs").rglob("*") if p.suffix in (".yaml", ".toml"))

RING = """\
spec: v1
name: ring
tensors:
  a:   {dtype: fp32, shape: [512, 128]}
  b:   {dtype: fp32, shape: [512, 128]}
  out: {dtype: fp32, shape: [512, 128], access: out}
buffers:
  ub: {memory: vec, slots: 2}
program:
  - region: ring
    body:
      - for: {index: i, count: 8}
        body:
          - load:  {into: t, from: a, at: [i * 64, 0], shape: [64, 128], buffer: ub, slot: i % 2}
          - load:  {into: u, from: b, at: [i * 64, 0], shape: [64, 128]}
          - add:   {into: y, lhs: t, rhs: u}
          - store: {from: y, to: out, at: [i * 64, 0]}
"""


@cache
def document(path: str) -> dict[str, Any]:
    """The map of a spec as JSON, read again."""
    done = run("map", path, "--format", "json")
    assert done.stdout, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def memories(path: str) -> list[dict[str, Any]]:
    """Every memory of every kernel of every program of a spec."""
    return [m for p in document(path)["programs"] for k in p["kernels"] for m in k["memories"]]


@cache
def largest() -> Path:
    """The kernel of the gallery with the most buffers."""
    return max(GALLERY, key=lambda path: max(len(m["buffers"]) for m in memories(str(path))))


def dump(spec: Path, target: Path, after: str = "InsertSync") -> str:
    """The dump of a spec after a pass."""
    done = run("lower", str(spec), "--after", after, "-o", str(target))
    assert done.exit_code == 0, done.stderr
    return target.read_text(encoding="utf-8")


def overlapping(spec: Path, target: Path) -> Path:
    """A dump in which the second buffer reaches into the first one, which is in use at the same time."""
    text = dump(spec, target)
    first, second = re.findall(r"address: (\d+)", text)[:2]
    assert first == "0"
    target.write_text(text.replace(f"address: {second}", f"address: {int(second) // 2}", 1), encoding="utf-8")
    return target


def tagged(spec: Path, target: Path) -> Path:
    """A dump whose statements are copies of two pipelines, three copies each in turn."""
    lines: list[str] = []
    number = 0
    for line in dump(spec, target, "InitMemRef").splitlines():
        lines.append(line)
        if re.match(r" +src: \[", line) and lines[-2].strip().startswith("type:"):
            number += 1
            if number > 2:
                lines.append(f"{line.partition('src')[0]}stage: [[{number % 2}, {number % 3}]]")
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def draw(spec: Path, target: Path, code: int = 0) -> Path:
    """The page of a spec's map."""
    done = run("map", str(spec), "-o", str(target))
    assert done.exit_code == code, done.stderr
    return target

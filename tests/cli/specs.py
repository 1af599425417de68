"""Small specs for the tests of commands."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]

GOOD = """\
spec: v1
name: good
constants: {R: 16, C: 64}
tensors:
  x: {dtype: fp32, shape: [R, C]}
  out: {dtype: fp32, shape: [R, C], access: out}
program:
  - region: good
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [R, C]}
      - let: y = exp(t)
      - store: {from: y, to: out, at: [0, 0]}
golden:
  expect:
    out: exp(x)
"""

TOML = """\
spec = "v1"
name = "tom"
[tensors.x]
dtype = "fp32"
shape = [16, 64]
[tensors.out]
dtype = "fp32"
shape = [16, 64]
access = "out"
[[program]]
region = "tom"
body = [{let = "out = x + x"}]
"""

BAD = GOOD.replace("exp(t)", "exp(u)")
WRONG = GOOD.replace("out: exp(x)", "out: exp(x) * 2").replace("name: good", "name: wrong")

OVERFLOW = """\
spec: v1
name: big
constants: {R: 960, C: 1024, TR: 96}
tensors:
  a: {dtype: fp32, shape: [R, C]}
  out: {dtype: fp32, shape: [R, C], access: out}
program:
  - region: big
    body:
      - for: {index: i, range: [0, R // TR]}
        body:
          - load: {into: t, from: a, at: [i * TR, 0], shape: [TR, C]}
          - exp: {into: y, x: t}
          - add: {into: z, lhs: t, rhs: y}
          - store: {from: z, to: out, at: [i * TR, 0]}
"""


def write(folder: Path, **texts: str) -> list[str]:
    """The texts as files `NAME.yaml` (or `.toml`), and their paths."""
    made = []
    for name, text in texts.items():
        path = folder / f"{name}.{'toml' if text.startswith('spec =') else 'yaml'}"
        path.write_text(text, encoding="utf-8")
        made.append(str(path))
    return made

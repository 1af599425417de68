"""Random tile programs as spec text, and their results after each pass."""

from __future__ import annotations

from random import Random
from typing import Any

from pypto_spec.convert.to_ir import convert
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.golden.meaning import Machine
from pypto_spec.golden.need_torch import torch
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import TensorType
from pypto_spec.passes import pipeline
from pypto_spec.passes.base import Context
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import A2A3

HEAD = """spec: v1
name: k
tensors:
  x: {dtype: fp32, shape: [64, 32]}
  wide: {dtype: fp32, shape: [64, 32], access: inout}
  half: {dtype: fp16, shape: [8, 32], access: out}
  col: {dtype: fp32, shape: [8, 1], access: out}
  row: {dtype: fp32, shape: [1, 32], access: out}
"""

FIRST = """program:
  - region: r
    body:
      - load: {into: w0, from: x, at: [0, 0], shape: [8, 32]}
      - load: {into: w1, from: x, at: [8, 0], shape: [8, 32]}
      - load: {into: w2, from: x, at: [16, 0], shape: [8, 32]}
      - row_max: {into: c0, x: w0}
      - row_min: {into: c1, x: w1}
      - col_max: {into: r0, x: w0}
      - col_min: {into: r1, x: w1}
      - cast: {into: h0, x: w0, dtype: fp16, mode: rint}
"""

LAST = """      - store: {from: w0, to: wide, at: [0, 0]}
      - maximum: {into: w1, lhs: w1, rhs: w2}
      - store: {from: w1, to: wide, at: [8, 0]}
      - store: {from: h0, to: half, at: [0, 0]}
      - row_expand_max: {into: w2, x: w2, v: c1}
      - col_expand_max: {into: w2, x: w2, v: r1}
      - store: {from: w2, to: wide, at: [16, 0]}
      - store: {from: c0, to: col, at: [0, 0]}
      - store: {from: r0, to: row, at: [0, 0]}
"""


def random_text(rng: Random, pinned: bool = False) -> str:
    """Statements over three tiles, two columns, two rows and one fp16 tile, rebound in loops and branches."""
    buffers = "buffers:\n  mine: {memory: vec}\n" if pinned else ""
    first = FIRST.replace("at: [16, 0], shape: [8, 32]}", "at: [16, 0], shape: [8, 32], buffer: mine}")
    lines = _block(rng, 0, "      ", [])
    return HEAD + buffers + (first if pinned else FIRST) + "".join(lines) + LAST


def _block(rng: Random, depth: int, pad: str, around: list[str]) -> list[str]:
    lines: list[str] = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(100)
        inner = pad + "    "
        if depth < 2 and kind < 18:
            index = f"i{depth}_{rng.randrange(10**6)}"
            lines.append(f"{pad}- for: {{index: {index}, count: {rng.choice([1, 2, 3])}}}\n{pad}  body:\n")
            lines += _block(rng, depth + 1, inner, [*around, index])
        elif depth < 3 and kind < 32 and around:
            lines.append(f"{pad}- if: {rng.choice(around)} == {rng.randrange(2)}\n{pad}  then:\n")
            lines += _block(rng, depth + 1, inner, around)
            if rng.randrange(2):
                lines.append(f"{pad}  else:\n")
                lines += _block(rng, depth + 1, inner, around)
        else:
            lines += [f"{pad}- {line}\n" for line in _statements(rng, around)]
    return lines


def _statements(rng: Random, around: list[str]) -> list[str]:
    w, x, y = (f"w{rng.randrange(3)}" for _ in range(3))
    c, d = (f"c{rng.randrange(2)}" for _ in range(2))
    r, s = (f"r{rng.randrange(2)}" for _ in range(2))
    at = f"{rng.choice(around)} * 8" if around and rng.randrange(2) else str(8 * rng.randrange(4))
    t = f"t{rng.randrange(10**9)}"
    choices = [
        [f"load: {{into: {w}, from: wide, at: [{at}, 0], shape: [8, 32]}}"],
        [f"store: {{from: {w}, to: wide, at: [{at}, 0]}}"],
        [f"neg: {{into: {w}, x: {x}}}"],
        [f"maximum: {{into: {w}, lhs: {x}, rhs: {y}}}"],
        [f"let: {w} = {x}", f"let: {x} = {y}"],
        [f"let: {c} = {d}"],
        [f"row_max: {{into: {c}, x: {x}}}"],
        [f"col_min: {{into: {r}, x: {x}}}"],
        [f"minimum: {{into: {r}, lhs: {r}, rhs: {s}}}"],
        [f"row_expand_max: {{into: {w}, x: {x}, v: {c}}}"],
        [f"col_expand_min: {{into: {w}, x: {x}, v: {r}}}"],
        [f"cast: {{into: h0, x: {x}, dtype: fp16, mode: rint}}"],
        ["neg: {into: h0, x: h0}"],
        [f"cast: {{into: {w}, x: h0, dtype: fp32}}"],
        [f"slice: {{into: {t}, x: {x}, at: [4, 0], shape: [4, 32]}}", f"neg: {{into: {t}, x: {t}}}",
         f"store: {{from: {t}, to: wide, at: [{at}, 0]}}"],
        [f"reshape: {{into: {t}, x: {x}, shape: [1, 256]}}", f"abs: {{into: {t}, x: {t}}}",
         f"reshape: {{into: {w}, x: {t}, shape: [8, 32]}}"],
    ]  # fmt: skip
    return rng.choice(choices)


def stages(text: str, after: str | None = None) -> tuple[Program, dict[str, Program]]:
    """The program as it was read, and after each pass, up to `after`."""
    sink = Sink()
    program = convert(load_document(Source("k.yaml", text)), sink)
    sink.stop_on_errors()
    found: dict[str, Program] = {}

    def keep(step: Any, made: Program) -> None:
        found[step.name] = made

    pipeline.run(program, Context(A2A3, sink), after=after, on_pass=keep, thorough=True)
    return program, found


def results(program: Program, seed: int = 0) -> dict[str, Any]:
    """What the program leaves in its tensors."""
    generator = torch().Generator().manual_seed(seed)
    tensors: dict[Any, Any] = {}
    for tensor in program.tensors:
        assert isinstance(tensor.type, TensorType)
        values = torch().randint(-50, 50, tensor.type.shape, generator=generator)
        tensors[tensor] = values.to(torch().float16 if tensor.name == "half" else torch().float32)
    Machine(program, tensors).run()
    return {tensor.name: value for tensor, value in tensors.items()}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(torch().equal(value, b[name]) for name, value in a.items())

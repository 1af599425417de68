"""Specs with constants to choose."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.tune import TuneOptions, Tuning, tune_spec
from pypto_spec.driver.tuning.space import parse_space

PIPELINED = """\
spec: v1
name: scaled
constants: {R: 1024, C: 256, TR: 16, stages: 1}
tensors:
  x:   {dtype: fp32, shape: [R, C]}
  out: {dtype: fp32, shape: [R, C], access: out}
program:
  - region: scaled
    body:
      - pipeline: {index: i, count: R // TR, stages: stages}
        body:
          - load:  {into: t, from: x, at: [i * TR, 0], shape: [TR, C]}
          - let: y = t * 2
          - store: {from: y, to: out, at: [i * TR, 0]}
golden: {expect: {out: x * 2}}
"""
"""Bound by its copies: with two stages, the load of a tile runs under the work and the store of the one before."""

REPEATED = """\
spec: v1
name: doubled
constants: {R: 64, C: 64, TR: 32, reps: 2}
tensors:
  x:   {dtype: fp32, shape: [R, C]}
  out: {dtype: fp32, shape: [R, C], access: out}
program:
  - region: doubled
    body:
      - for: {index: i, count: R // TR}
        body:
          - load:  {into: t, from: x, at: [i * TR, 0], shape: [TR, C]}
          - for: {index: k, count: reps}
            body:
              - let: t = t * 2
          - store: {from: t, to: out, at: [i * TR, 0]}
golden: {expect: {out: x * 4}}
"""
"""With one repetition it is quicker and wrong."""

RESIZED = PIPELINED.replace("{R: 1024, C: 256, TR: 16", "{NT: 8, R: NT * TR, C: 256, TR: 16")
"""The arguments change with TR."""

RUN_TIME = """\
spec: v1
name: tailed
constants: {C: 64, TR: 16, gain: 2.0}
symbols: {M: {min: 1, max: 200}}
tensors:
  x:   {dtype: fp32, shape: [M, C]}
  out: {dtype: fp32, shape: [M, C], access: out}
program:
  - region: tailed
    body:
      - for: {index: i, count: "ceil_div(M, TR)"}
        body:
          - load:  {into: t, from: x, at: [i * TR, 0], shape: [TR, C], valid: ["min(TR, M - i * TR)", C]}
          - let: y = t * gain
          - store: {from: y, to: out, at: [i * TR, 0]}
golden: {sizes: [{M: 100}, {M: 7}], expect: {out: x * gain}}
"""

VARIANTS = PIPELINED.replace("tensors:", "variants: {matrix: {C: [64, 256]}}\ntensors:", 1)


def spec_of(text: str) -> Spec:
    """A spec that stands in no file."""
    return Spec(Source("k.yaml", text), "yaml", text.encode())


def tuned(text: str, *words: str, goldens: int = 0, jobs: int = 1) -> Tuning:
    """What comes of tuning a text."""
    return tune_spec(spec_of(text), parse_space(words), TuneOptions(goldens, jobs))

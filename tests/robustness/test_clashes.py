"""Names that mean something to C++, to Ascend C or to the kernels' own helpers: the kernels compile all the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ops.instructions import CALLS
from pypto_spec.render.names import HELPERS
from pypto_spec.render.program import render_kernels
from tests.robustness.words import NAMES

SPEC = """\
spec: v1
name: {program}
scalars: {{{scalar}: fp32}}
tensors:
  {tensor}: {{dtype: fp32, shape: [64, 64]}}
  result: {{dtype: fp32, shape: [64, 64], access: out}}
buffers: {{{buffer}: {{memory: vec}}}}
program:
  - region: {region}
    body:
      - for: {{index: {index}, count: 4}}
        body:
          - load: {{into: {value}, from: {tensor}, at: [{index} * 16, 0], shape: [16, 64], buffer: {buffer}}}
          - let: made = exp({value} * {scalar}) + row_max({value})
          - store: {{from: made, to: result, at: [{index} * 16, 0]}}
"""

OURS = tuple(sorted({*HELPERS, *CALLS} - set(NAMES)))
"""Functions that kernels define or call."""
PLACES = ("program", "scalar", "tensor", "buffer", "region", "index", "value")


def spec(number: int, place: str, name: str) -> str:
    words = {word: f"{word}_{number}" for word in PLACES}
    return SPEC.format(
        **{**words, place: f'"{name}"'} if place not in ("index", "value", "scalar") else {**words, place: name}
    )


def kernels(place: str, names: Sequence[str] = NAMES) -> list[KernelSource]:
    """The kernels of all names that the compiler accepts there."""
    made: dict[str, KernelSource] = {}
    for number, name in enumerate(names):
        done = compile_source(Source("kernel.yaml", spec(number, place, name)))
        assert done.failure is None, (place, name)
        if done.program is None:
            assert any(d.level is Severity.ERROR for d in done.diagnostics), (place, name)
            continue
        for kernel in render_kernels(done.program).kernels:
            made[kernel.name] = KernelSource(kernel.name, kernel.text)
    return list(made.values())


@pytest.mark.parametrize("place", PLACES)
def test_names_are_accepted_or_refused(place: str) -> None:
    assert len(kernels(place)) > 60


@pytest.mark.parametrize("place", PLACES)
def test_names_of_our_functions_are_free(place: str) -> None:
    """They are no words of the language: whoever knows no Ascend C may use them."""
    assert len(OURS) > 30
    assert len(kernels(place, OURS)) == len(OURS)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("names", [NAMES, OURS], ids=["words", "functions"])
def test_kernels_compile(place: str, names: Sequence[str]) -> None:
    found = kernels(place, names)
    for first in range(0, len(found), 12):
        batch = found[first : first + 12]
        assert len(compile_kernels(batch).kernels) == len(batch)

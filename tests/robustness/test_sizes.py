"""Tensors beyond 2^31 elements: offsets are 64-bit numbers, and what the instructions cannot count is copied apart."""

from __future__ import annotations

import re
from time import process_time

import pytest

from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.render.program import render_kernels

SPEC = """\
spec: v1
name: kernel
symbols: {{N: {{min: 1, max: 100000000000}}}}
tensors:
  x:   {{dtype: {dtype}, shape: {shape}}}
  out: {{dtype: {dtype}, shape: {shape}, access: inout}}
program:
  - region: k
    body:
      - for: {{index: i, count: {count}}}
        body:
          - load:  {{into: t, from: x, at: {at}, shape: [4, 128]}}
          - store: {{from: t, to: out, at: {at}}}
"""


def spec(shape: str, at: str = "[0, 0]", count: str = "1", dtype: str = "fp32") -> Compilation:
    started = process_time()
    done = compile_source(Source("k.yaml", SPEC.format(shape=shape, at=at, count=count, dtype=dtype)))
    assert process_time() - started < 3
    assert done.failure is None
    return done


def kernel(done: Compilation) -> str:
    assert done.program is not None, render(done.diagnostics)
    (only,) = render_kernels(done.program).kernels
    return only.text


def test_offsets_have_64_bits() -> None:
    text = kernel(spec("[40000000000, 128]", '["i * 4 + 30000000000", 0]', "2000000000"))
    assert "for (int64_t i = 0; i < 2000000000; ++i)" in text
    assert "x[i * 512 + 3840000000000]" in text
    assert "SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x_gm), 5120000000000)" in text


def test_run_time_offsets_have_64_bits() -> None:
    text = kernel(spec("[N, 128]", "[i * 4, 0]", '"N // 4"'))
    assert "int64_t N" in text
    assert "for (int64_t i = 0; i < N / 4; ++i)" in text
    assert not re.search(r"\bint32_t\b|\buint32_t\b", text)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("row", [2**30, 2**31, 2**32, 2**33, 2**40])
def test_rows_too_far_apart_for_one_copy(row: int, dtype: str) -> None:
    """The distance of rows in a copy has 32 bits, in bytes."""
    size = {"fp32": 4, "fp16": 2, "int8": 1}[dtype]
    text = kernel(spec(f"[4, {row}]", dtype=dtype))
    gap = (row - 128) * size
    if gap < 2**32:
        assert f"DataCopyExtParams(4, {128 * size}, {gap}, 0, 0)" in text
    else:
        assert "DataCopyExtParams" not in text
        for number in range(1, 4):
            assert f"DataCopy(t[{number * 128}], x[{number * row}], 128);" in text


@pytest.mark.parametrize(
    "shape", ["[4611686018427387904, 128]", "[2305843009213693952, 1, 1]", "[N, 2305843009213693952]"]
)
def test_tensors_beyond_64_bits_are_refused(shape: str) -> None:
    done = spec(shape)
    assert "PS1018" in render(done.diagnostics)
    assert "do not fit in 64 bits" in render(done.diagnostics)

"""Windows that leave their tensor for some run-time sizes: examples are found, and only true ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.driver.inputs import gather
from pypto_spec.driver.session import compile_spec

ROOT = Path(__file__).parents[2]
GALLERY = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "specs").rglob("*") if p.suffix in (".yaml", ".toml"))

SPEC = """\
spec: v1
name: tails
symbols: {{M: {symbol}, N: {{min: 1, max: 128}}}}
scalars: {{n: int32}}
tensors:
  x:   {{dtype: fp32, shape: [M, 128]}}
  out: {{dtype: fp32, shape: [M, 128], access: out}}
program:
  - {grid}
    body:
      - region: tails
        body:
          - for: {{index: i, {loop}}}
            body:
              {guard}
"""
BODY = """- load: {{into: t, from: x, at: [{at}, 0], shape: [64, 128]{valid}}}
{indent}- let: y = t * 2
{indent}- store: {{from: y, to: out, at: [{at}, 0]}}"""


def found(
    symbol: str = "{min: 1, max: 4096}",
    loop: str = 'count: "ceil_div(M, 64)"',
    at: str = "i * 64",
    valid: str = "",
    grid: str = "spmd: {index: b, blocks: 1}",
    guard: str = "",
    more: str = "",
) -> list[Diagnostic]:
    indent = " " * (20 if guard else 14)
    body = BODY.format(at=at, valid=f', valid: ["{valid}", 128]' if valid else "", indent=indent)
    inside = f"- if: {guard}\n                then:\n                    {body}" if guard else body
    text = SPEC.format(symbol=symbol, loop=loop, grid=grid, guard=inside) + more
    done = compile_source(Source("tails.yaml", text))
    return [d for d in done.diagnostics if d.rule.code != "PS8001"]


def codes(**words: str) -> list[str]:
    return [d.rule.code for d in found(**words)]


def test_a_whole_last_tile_leaves_the_tensor_and_an_example_says_so() -> None:
    load, store = found(symbol="{min: 64, max: 4096}")
    assert (load.rule.code, store.rule.code) == ("PS3063", "PS3063")
    assert load.message.startswith(
        "with M = 65, N = 1, b = 0, i = 1 axis 0 of the window covers 64 to 128 of `x`, which ends at 65"
    )
    assert 'valid` with "min(64, M - i * 64)" on axis 0' in load.helps[0]
    assert "of `out`" in store.message


def test_the_way_out_of_the_message_works() -> None:
    assert codes(valid="min(64, M - i * 64)") == []


def test_whole_tiles_by_the_symbol_s_own_word() -> None:
    assert codes(symbol="{min: 64, max: 4096, multiple_of: 64}") == []
    assert codes(symbol="{min: 32, max: 4096, multiple_of: 32}") == ["PS3063", "PS3063"]


def test_a_loop_over_whole_windows_only() -> None:
    assert codes(loop="count: M // 64") == []
    assert codes(loop="count: M // 64 + 1") == ["PS3063", "PS3063"]
    assert codes(loop="range: [1, M // 64 + 1]", at="i * 64 - 64") == []


def test_conditions_are_evaluated() -> None:
    assert codes(guard="i * 64 + 64 <= M") == []
    assert codes(guard="i * 64 < M") == ["PS3063", "PS3063"]


def test_blocks_beyond_the_end() -> None:
    grid = "spmd: {index: b, blocks: 8}"
    row = "b * 64"
    assert codes(grid=grid, at=row, loop="count: 1") == ["PS3004"]
    assert codes(grid=grid, at=row, loop="count: 1", valid="min(64, max(0, M - b * 64))") == []
    assert codes(grid=grid, at=row, loop="count: 1", symbol="{min: 512, max: 4096}") == []


def test_an_empty_window_may_start_anywhere() -> None:
    assert codes(loop="count: 99", valid="min(64, max(0, M - i * 64))") == []


def test_a_window_before_the_start() -> None:
    assert set(codes(at="M - 64", loop="count: 1")) == {"PS3004"}


def test_what_depends_on_a_scalar_is_left_out() -> None:
    assert codes(at="n", loop="count: 1") == []


def test_it_can_be_switched_off_and_made_an_error() -> None:
    assert codes(more="diagnostics: {disable: PS3063}\n") == []
    made = found(more="diagnostics: {error: PS3063}\n")
    assert {d.level.value for d in made} == {"error"}


@pytest.mark.parametrize("file", GALLERY)
def test_the_gallery_is_clean(file: str) -> None:
    (spec,) = gather([str(ROOT / file)]).specs
    assert "PS3063" not in {d.rule.code for d in compile_spec(spec).findings}

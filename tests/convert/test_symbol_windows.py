"""Windows against dimensions known at run time: refused where some size certainly breaks them, and only there."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source

SPEC = """\
spec: v1
name: k
symbols: {{M: {{min: {low}, max: 1000}}, N: {{min: 1, max: 1000}}}}
tensors:
  x:   {{dtype: fp32, shape: [M, 128]}}
  z:   {{dtype: fp32, shape: [N, 128]}}
  out: {{dtype: fp32, shape: [M, 128], access: out}}
program:
  - region: k
    body:
{body}
"""
WHOLE = "load: {into: t, from: x, at: [0, 0], shape: [64, 128]}"
PART = 'load: {into: t, from: x, at: [i * 64, 0], shape: [64, 128], valid: ["min(64, M - i * 64)", 128]}'
STORE = "store: {from: t, to: out, at: [0, 0]}"


def found(body: str, low: int = 1) -> set[str]:
    lines = "\n".join(f"      {line}" for line in body.splitlines())
    done = compile_source(Source("k.yaml", SPEC.format(low=low, body=lines)))
    assert done.failure is None
    return {d.rule.code for d in done.diagnostics if d.rule.code != "PS2020"}


def loop(count: str, statement: str, to: str = "i * 64") -> str:
    store = f"store: {{from: t, to: out, at: [{to}, 0]}}"
    return f'- for: {{index: i, count: "{count}"}}\n  body:\n    - {statement}\n    - {store}'


REFUSED = {
    "too_small": f"- {WHOLE}\n- {STORE}",
    "rounds_that_do_not_exist": loop("16", PART),
    "in_a_fixed_loop": loop("2", WHOLE, to="0"),
    "of_another_symbol": f"- load: {{into: t, from: x, at: [0, 0], shape: [1024, 8], valid: [N, 8]}}\n- {STORE}",
}
ACCEPTED = {
    "its_own_rounds": loop("ceil_div(M, 64)", PART),
    "whole_rounds": loop("M // 64", WHOLE, to="0"),
    "guarded": f"- if: M >= 64\n  then:\n    - {WHOLE}\n    - {STORE}\n  else:\n    - load: {{into: u, from: x, "
    "at: [0, 0], shape: [1, 128]}\n    - store: {from: u, to: out, at: [0, 0]}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_some_size_breaks_it(name: str) -> None:
    assert found(REFUSED[name]) == {"PS3004"}


@pytest.mark.parametrize("name", ACCEPTED)
def test_no_size_is_known_to_break_it(name: str) -> None:
    assert "PS3004" not in found(ACCEPTED[name])


def test_a_load_may_come_down_to_nothing() -> None:
    body = f'- load: {{into: t, from: x, at: [0, 0], shape: [64, 128], valid: ["EXTENT", 128]}}\n- {STORE}'
    assert found(body.replace("EXTENT", "min(64, M)"), low=0) == set()
    assert found(body.replace("EXTENT", "min(64, M - 1)"), low=0) == {"PS3004"}


def test_a_closer_bound_helps() -> None:
    assert "PS3004" not in found(REFUSED["too_small"], low=64)
    assert found(REFUSED["too_small"], low=63) == {"PS3004"}


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_what_follows_a_jump_is_conditional(jump: str) -> None:
    body = f"""\
- for: {{index: i, count: 8}}
  body:
    - if: M < 512
      then:
        - {jump}:
    - load: {{into: t, from: x, at: [i * 64, 0], shape: [64, 128]}}
    - store: {{from: t, to: out, at: [i * 64, 0]}}"""
    assert found(body) == set()
    assert found(body.replace(f"- {jump}:", "- let: n = i")) == {"PS3004"}

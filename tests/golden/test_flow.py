"""Control flow and functions against values computed here, through the rendered C++ on the host model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.golden.harness import Case, check_all, report

pytest.importorskip("torch")

HEAD = """\
spec: v1
name: {name}
symbols: {{N: {{min: 0, max: 9}}}}
{functions}tensors:
  x: {{dtype: fp32, shape: [16, 64]}}
  out: {{dtype: fp32, shape: [16, 64], access: out}}
program:
  - region: r
    body:
      - load: {{into: t, from: x, at: [0, 0], shape: [16, 64]}}
{body}
      - store: {{from: t, to: out, at: [0, 0]}}
golden:
  sizes: [{{N: 0}}, {{N: 1}}, {{N: 4}}, {{N: 5}}, {{N: 9}}]
  inputs: {{x: {{distribution: integers, min: -8, max: 8}}}}
"""

Expected = Callable[[Any, int], Any]


def _indent(text: str, blanks: int) -> str:
    return "\n".join(" " * blanks + line for line in text.strip("\n").split("\n"))


def _case(name: str, body: str, expected: Expected, functions: str = "") -> Case:
    def expect(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"out": expected(inputs["x"].float(), int(inputs["N"])).double()}

    text = HEAD.format(
        name=name, body=_indent(body, 6), functions=f"functions:\n{_indent(functions, 2)}\n" if functions else ""
    )
    return Case(text, exact=True, expect=expect)


def _collatz(x: Any, n: int) -> Any:
    steps = 0
    while n > 1 and steps < 30:
        n = n // 2 if n % 2 == 0 else n + 3
        steps += 1
    return x + steps


def _broken(x: Any, n: int) -> Any:
    for i in range(8):
        if i == 2:
            continue
        x = x + 1
        if i * 2 >= n:
            break
        x = x + 16
    return x


def _nested(x: Any, n: int) -> Any:
    total = 0
    for i in range(4):
        for j in range(n):
            if j > i:
                if i == 1:
                    break
                total += 2
                continue
            total += 1
        if total > 12:
            break
        x = x + 1
    return x + total


def _unrolled(x: Any, n: int) -> Any:
    x = x.clone()
    k = n
    for u in range(3):
        k = k + u
        x[u * 4 : u * 4 + 4] += k % 4
    return x


def _called(x: Any, n: int) -> Any:
    for _ in range(3):
        x = x + 1
        x = x + x
    return x + (n + 2)


CASES = [
    _case(
        "steps",
        """
- let: n = N
- let: steps = 0
- while: n > 1 and steps < 30
  body:
    - if: n % 2 == 0
      then:
        - let: n = n // 2
      else:
        - let: n = n + 3
    - let: steps = steps + 1
    - let: t = t + 1.0
""",
        _collatz,
    ),
    _case(
        "leaving",
        """
- for: {index: i, count: 8}
  body:
    - if: i == 2
      then:
        - continue:
    - let: t = t + 1.0
    - if: i * 2 >= N
      then:
        - break:
    - let: t = t + 16.0
""",
        _broken,
    ),
    _case(
        "nested",
        """
- let: total = 0
- for: {index: i, count: 4}
  body:
    - for: {index: j, count: N}
      body:
        - if: j > i
          then:
            - if: i == 1
              then:
                - break:
            - let: total = total + 2
            - let: t = t + 2.0
            - continue:
        - let: total = total + 1
        - let: t = t + 1.0
    - if: total > 12
      then:
        - break:
    - let: t = t + 1.0
""",
        _nested,
    ),
    _case(
        "unrolled",
        """
- let: k = N
- unroll: {index: u, count: 3}
  body:
    - let: k = k + u
    - slice: {into: s, x: t, at: [u * 4, 0], shape: [4, 64]}
    - for: {index: j, count: k % 4}
      body:
        - let: s = s + 1.0
    - assemble: {into: t, target: t, x: s, at: [u * 4, 0]}
""",
        _unrolled,
    ),
    _case(
        "called",
        """
- for: {index: i, count: 3}
  body:
    - call: {function: twice, args: {x: t}, into: t}
- call: {function: more, args: {x: t, k: N}, into: [t, k]}
- if: k != N + 2
  then:
    - let: t = t * 0.0
""",
        _called,
        """
twice:
  args: [x]
  returns: [y]
  body:
    - let: x = x + 1.0
    - let: y = x + x
more:
  args: {x: {dtype: fp32, shape: [16, 64]}, k: index}
  returns: [t, k]
  body:
    - let: k = k + 2
    - let: t = x
    - for: {index: j, count: k}
      body:
        - let: t = t + 1.0
""",
    ),
]


def test_values_computed_by_hand() -> None:
    failures = check_all(CASES)
    assert not failures, report(failures, 3)

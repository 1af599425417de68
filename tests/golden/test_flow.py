"""Control flow and functions against values computed here, through the rendered C++ on the host model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.lower_check import check_passes
from pypto_spec.driver.session import compile_spec
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


def _triangle(x: Any, n: int) -> Any:
    x = x.clone()
    for a in range(4):
        for b in range(a, 4):
            x[a * 4 + b] += b
    return x


def _called(x: Any, n: int) -> Any:
    for _ in range(3):
        x = x + 1
        x = x + x
    return x + (n + 2)


def _by_hand(x: Any, n: int) -> Any:
    k, m = 1, 0
    for i in range(4):
        if i == 1:
            m -= 5
            continue
        x = x + (2 if m < 0 else 1)
        m += 1
    for _ in range(3):
        k = k + 2
        x = x + k
    return x * (k + m + 4)


def _rebound(x: Any, n: int) -> Any:
    k = 1
    for i in range(n):
        k = k + 3
        k = k + 2 if i == 1 else k - 1
        x = x + k
    return x + k


def _swapped(x: Any, n: int) -> Any:
    u, k, m = x * 2, n, 3
    for _ in range(5):
        x, u, k, m = u, x, m, k
        m, x = m + 1, x + 1
    return x - u * 3 + 10 * k + m


def _one_name(x: Any, n: int) -> Any:
    m = n
    for i in range(3):
        for _ in range(4):
            m = m + 1
        m = m % 7 if i == 1 else m + 2
    return x + 2 * m


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
        "triangle",
        """
- unroll: {index: a, count: 4}
  body:
    - unroll: {index: b, range: [a, 4]}
      body:
        - slice: {into: s, x: t, at: [a * 4 + b, 0], shape: [1, 64]}
        - unroll: {index: c, count: b}
          body:
            - let: s = s + 1.0
        - assemble: {into: t, target: t, x: s, at: [a * 4 + b, 0]}
""",
        _triangle,
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
    _case(
        "by_hand",
        """
- let: k = 9
- for: {index: i, count: 4}
  carry: {k: 0}
  body:
    - if: i == 1
      then:
        - continue: {yield: {k: k - 5}}
    - let: t = t + 1.0
    - if: k < 0
      then:
        - let: t = t + 1.0
    - yield: {k: k + 1}
  results: {m: k}
- if: k != 9
  then:
    - let: t = t * 0.0
- let: u = t
- let: k = 1
- for: {index: i, count: 3}
  body:
    - for: {index: j, count: 2}
      carry: {k: k, t: u}
      body:
        - let: k = k + 1
        - let: v = t
        - if: j == 1
          then:
            - for: {index: l, count: k}
              body:
                - let: v = v + 1.0
        - yield: {k: k, t: v}
      results: {k: k, u: t}
- let: t = u
- let: s = t * 0.0
- for: {index: i, count: k + m + 4}
  body:
    - let: s = s + t
- let: t = s
""",
        _by_hand,
    ),
    _case(
        "rebound",
        """
- let: k = 1
- for: {index: i, count: N}
  body:
    - call: {function: more, args: {k: k, by: 3}, into: k}
    - if: i == 1
      then:
        - yield: {k: k + 2}
      else:
        - yield: {k: k - 1}
      results: [k]
    - for: {index: j, count: k}
      body:
        - let: t = t + 1.0
- for: {index: j, count: k}
  body:
    - let: t = t + 1.0
""",
        _rebound,
        """
more:
  args: [k, by]
  returns: [k]
  body:
    - let: by = by - 1
    - let: k = k + by + 1
""",
    ),
    _case(
        "swapped",
        """
- let: u = t * 2.0
- let: k = N
- let: m = 3
- for: {index: i, count: 5}
  body:
    - call: {function: swap, args: {x: t, b: u, k: k, m: m}, into: [t, k, m, u]}
    - let: m = m + 1
    - let: t = t + 1.0
- let: t = t - u * 3.0
- for: {index: j, count: 10 * k + m}
  body:
    - let: t = t + 1.0
""",
        _swapped,
        """
swap:
  args: [x, b, k, m]
  returns: [b, m, k, x]
  body:
    - let: c = whole(x)
zero:
  args: [y]
  returns: [r]
  body:
    - load: {into: w, from: x, at: [0, 0], shape: [16, 64]}
    - let: r = y * w
whole:
  args: [x]
  returns: [r]
  body:
    - let: r = zero(x) + x
""",
    ),
    _case(
        "one_name",
        """
- let: m = N
- for: {index: i, count: 3}
  carry: {m: m}
  body:
    - unroll: {index: u, count: 2}
      body:
        - for: {index: j, count: 2}
          carry: {m: m}
          body:
            - yield: {m: m + 1}
    - if: i == 1
      then:
        - yield: {m: m % 7}
      else:
        - yield: {m: m + 2}
      results: [m]
    - yield: {m: m}
- call: {function: same, args: {m: m}, into: m}
- for: {index: j, count: m}
  body:
    - let: t = t + 1.0
""",
        _one_name,
        """
same:
  args: [m]
  returns: [m]
  body:
    - for: {index: i, count: m}
      carry: {m: m}
      body:
        - yield: {m: m + 1}
""",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text.splitlines()[1])
def test_a_dump_gives_the_same_dump_and_the_same_meaning(case: Case) -> None:
    spec = Spec(Source("k.yaml", case.text), "yaml", case.text.encode())
    assert all(step.word == "equal" for step in check_passes(spec).steps)
    done = compile_spec(spec, keep_stages=True)
    assert done.ok, done.findings
    for name, program in done.stages:
        text = dump_text(program, name, spec)
        again = compile_spec(Spec(Source("dump.yaml", text), "yaml", text.encode()), keep_stages=True)
        assert again.ok, (name, again.findings)
        assert name is None or dump_text(again.frontend, name, again.spec) == text


def test_values_computed_by_hand() -> None:
    failures = check_all(CASES)
    assert not failures, report(failures, 3)

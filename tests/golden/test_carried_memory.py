"""Values that stand in one memory with others: views of what a loop changes, and values that change places."""

from __future__ import annotations

import pytest

from tests.golden.harness import Case, assert_good

pytest.importorskip("torch")

HEAD = """spec: v1
name: {name}
tensors:
  x: {{dtype: fp32, shape: [64, 64], access: in}}
  o: {{dtype: fp32, shape: [64, 64], access: inout}}
  p: {{dtype: fp32, shape: [64, 64], access: inout}}
program:
  - region: r
    body:
      - load: {{into: t, from: x, at: [0, 0], shape: [8, 32]}}
      - load: {{into: u, from: x, at: [8, 0], shape: [8, 32]}}
"""

BODIES = {
    "view_needed_after": """\
      - slice: {into: s, x: t, at: [0, 8], shape: [8, 8]}
      - for: {index: i, count: 3}
        body:
          - adds: {into: t, x: t, scalar: 2}
      - store: {from: t, to: o, at: [0, 0]}
      - store: {from: s, to: p, at: [0, 0]}
""",
    "value_needed_after": """\
      - reshape: {into: u, x: t, shape: [8, 32]}
      - for: {index: i, count: 3}
        body:
          - slice: {into: s, x: t, at: [0, 8], shape: [8, 8]}
          - store: {from: s, to: p, at: [i * 8, 0]}
          - adds: {into: t, x: t, scalar: 2}
      - store: {from: u, to: o, at: [0, 0]}
      - store: {from: t, to: o, at: [8, 0]}
""",
    "value_yielded_as_well": """\
      - for: {index: i, count: 3}
        body:
          - adds: {into: t, x: t, scalar: 2}
          - reshape: {into: u, x: t, shape: [8, 32]}
          - for: {index: j, count: 2}
            body:
              - muls: {into: u, x: u, scalar: 2}
              - store: {from: u, to: o, at: [i * 16 + j * 8, 0]}
      - store: {from: t, to: p, at: [0, 0]}
""",
    "views_of_views": """\
      - for: {index: i, count: 3}
        body:
          - adds: {into: t, x: t, scalar: 2}
          - reshape: {into: u, x: t, shape: [32, 8]}
          - slice: {into: s, x: u, at: [8, 0], shape: [8, 8]}
          - if: i == 1
            then:
              - store: {from: s, to: o, at: [i * 8, 0]}
              - muls: {into: s, x: s, scalar: 2}
          - store: {from: s, to: o, at: [i * 8, 8]}
          - for: {index: j, count: 2}
            body:
              - muls: {into: u, x: u, scalar: 2}
              - store: {from: u, to: p, at: [i * 8, 16]}
      - store: {from: t, to: p, at: [0, 32]}
""",
    "slice_is_carried": """\
      - slice: {into: s, x: t, at: [0, 8], shape: [8, 8]}
      - for: {index: i, count: 3}
        body:
          - adds: {into: u, x: s, scalar: 2}
          - store: {from: s, to: o, at: [i * 8, 0]}
          - slice: {into: s, x: t, at: [0, 16], shape: [8, 8]}
          - store: {from: u, to: p, at: [i * 8, 0]}
          - adds: {into: t, x: t, scalar: 2}
      - store: {from: s, to: p, at: [32, 0]}
""",
    "slice_from_a_branch": """\
      - slice: {into: s, x: t, at: [0, 8], shape: [8, 8]}
      - for: {index: i, count: 3}
        body:
          - if: i == 1
            then:
              - adds: {into: t, x: t, scalar: 2}
              - slice: {into: s, x: t, at: [0, 16], shape: [8, 8]}
          - store: {from: s, to: o, at: [i * 8, 0]}
      - store: {from: t, to: p, at: [32, 0]}
""",
    "needed_in_the_next_round": """\
      - for: {index: i, count: 3}
        body:
          - reshape: {into: u, x: t, shape: [8, 32]}
          - for: {index: j, count: 2}
            body:
              - muls: {into: u, x: u, scalar: 2}
              - store: {from: u, to: o, at: [i * 16 + j * 8, 0]}
""",
    "change_places": """\
      - for: {index: i, count: 3}
        body:
          - adds: {into: w, x: u, scalar: 2}
          - reshape: {into: u, x: t, shape: [8, 32]}
          - reshape: {into: t, x: w, shape: [8, 32]}
          - store: {from: t, to: o, at: [i * 8, 0]}
      - store: {from: u, to: p, at: [0, 0]}
      - store: {from: t, to: p, at: [8, 0]}
""",
    "two_of_one": """\
      - for: {index: i, count: 3}
        body:
          - add: {into: t, lhs: u, rhs: t}
          - store: {from: t, to: o, at: [i * 8, 0]}
          - muls: {into: t, x: t, scalar: 0.5}
          - reshape: {into: u, x: t, shape: [8, 32]}
      - adds: {into: u, x: u, scalar: 2}
      - store: {from: u, to: p, at: [0, 0]}
      - store: {from: t, to: p, at: [8, 0]}
""",
    "slice_of_another": """\
      - slice: {into: s, x: t, at: [0, 8], shape: [8, 8]}
      - load: {into: u, from: x, at: [8, 0], shape: [8, 32]}
      - for: {index: i, count: 3}
        body:
          - store: {from: s, to: o, at: [i * 8, 0]}
          - adds: {into: u, x: u, scalar: 2}
          - slice: {into: s, x: u, at: [0, 16], shape: [8, 8]}
      - store: {from: s, to: p, at: [0, 0]}
      - store: {from: t, to: p, at: [8, 0]}
""",
    "views_follow": """\
      - for: {index: i, count: 3}
        body:
          - add: {into: w, lhs: t, rhs: u}
          - slice: {into: s, x: w, at: [0, 8], shape: [8, 8]}
          - reshape: {into: z, x: w, shape: [32, 8]}
          - if: i == 1
            then:
              - store: {from: s, to: o, at: [i * 8, 0]}
              - slice: {into: y, x: z, at: [8, 0], shape: [8, 8]}
              - store: {from: y, to: o, at: [i * 8, 8]}
          - store: {from: z, to: o, at: [24, 32]}
          - reshape: {into: t, x: w, shape: [8, 32]}
      - store: {from: t, to: p, at: [8, 0]}
""",
}


def test_carried_values_keep_clear_of_what_is_needed() -> None:
    assert_good([Case(HEAD.format(name=name) + body, exact=True) for name, body in BODIES.items()])


def test_a_view_of_a_value_written_in_place_follows_it() -> None:
    text = """spec: v1
name: view_in_loop
tensors:
  x: {dtype: fp16, shape: [72, 80]}
  v: {dtype: fp16, shape: [72, 1]}
  o: {dtype: fp16, shape: [72, 1], access: inout}
program:
  - region: r
    body:
      - load: {into: t, from: x, at: [7, 4], shape: [8, 64]}
      - for: {index: i, count: 3}
        body:
          - row_max: {into: m, x: t}
          - for: {index: j, count: 2}
            body:
              - load: {into: e, from: v, at: [2, 0], shape: [1, 1]}
              - col_expand_rdiv: {into: m, v: e, x: m}
              - store: {from: m, to: o, at: [j * 12 + 7, 0]}
"""
    assert_good([Case(text, exact=True)])

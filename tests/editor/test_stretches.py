"""What can be folded, and what lies around a place."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pypto_spec.editor.document import open_document
from pypto_spec.editor.stretches import around, folds

YAML = """\
spec: v1
base: &b
  x: 1

  y: {a: 1,
      b: 2}
again: *b
program:
  - region: r
    body: |
      text
      more

  - one
"""

TOML = """\
spec = "v1"
[tensors]
x = { dtype = "fp32" }

[[program]]
body = [
  1,
]
"""


def test_folds_of_yaml() -> None:
    assert folds(open_document("x.yaml", YAML)) == [(2, 6), (5, 6), (8, 14), (9, 12), (10, 12)]


def test_folds_of_toml() -> None:
    found = folds(open_document("x.toml", TOML))
    assert (6, 8) in found
    assert all(last > first for first, last in found)


@pytest.mark.parametrize(("name", "text"), [("x.yaml", YAML), ("x.toml", TOML), ("x.yaml", "a: [1"), ("x.toml", "")])
def test_each_stretch_lies_in_the_one_around_it(name: str, text: str) -> None:
    document = open_document(name, text)
    for at in range(len(text) + 1):
        found = around(document, at)
        assert found[0] == (0, len(text))
        assert all(start <= at <= end for start, end in found)
        for outer, inner in pairwise(found):
            assert outer != inner
            assert outer[0] <= inner[0] <= inner[1] <= outer[1]


def test_the_smallest_is_the_word() -> None:
    document = open_document("x.yaml", YAML)
    at = YAML.index("region") + 2
    words = [YAML[start:end] for start, end in around(document, at)]
    assert words[-1] == "region"
    assert words[-2] == "region: r"

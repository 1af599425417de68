"""What is said of `args` of a function that are written wrongly: once, at the place, in words of the language."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source

SPEC = """\
spec: v1
name: kernel
tensors:
  x: {{dtype: fp32, shape: [64, 128]}}
  y: {{dtype: fp32, shape: [64, 128], access: out}}
functions:
  f:
    args: {args}
    returns: [b]
    body:
      - let: b = a + 1
program:
  - region: k
    body:
      - call: {{function: f, args: {{a: x}}, into: b}}
      - let: y = b
"""

WRONG = {
    "number": ("5", "PS1014"),
    "bool": ("true", "PS1014"),
    "nothing": ("", "PS1014"),
    "empty": ('""', "PS1014"),
    "one_name": ("a", "PS1014"),
    "name_misspelt": ("[1a]", "PS2012"),
    "second_name_misspelt": ("[a, b-c]", "PS2012"),
    "name_is_a_number": ("[a, 5]", "PS1014"),
    "name_is_a_list": ("[[a]]", "PS1014"),
    "list_of_mappings": ("[{a: tile}]", "PS1014"),
    "key_misspelt": ("{1a: tile}", "PS2012"),
    "word_misspelt": ("{a: til}", "PS1016"),
    "word_is_a_number": ("{a: 5}", "PS1014"),
    "word_is_a_list": ("{a: [tile]}", "PS1014"),
    "field_misspelt": ("{a: {dtyp: fp32}}", "PS1001"),
    "dtype_misspelt": ("{a: {dtype: fp33}}", "PS1016"),
    "dtype_is_a_number": ("{a: {dtype: 5}}", "PS1014"),
    "shape_is_a_number": ("{a: {shape: 64}}", "PS1014"),
    "shape_is_empty": ("{a: {shape: []}}", "PS1019"),
    "extent_is_no_formula": ("{a: {shape: [64, 2 +]}}", "PS1017"),
}


def found(args: str) -> list[Diagnostic]:
    return compile_source(Source("kernel.yaml", SPEC.format(args=args))).diagnostics


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str, text_snapshot: SnapshotAssertion) -> None:
    args, code = WRONG[name]
    (only,) = found(args)
    assert only.rule.code == code
    assert only.helps
    assert render([only]) == text_snapshot


@pytest.mark.parametrize("args", ["[a]", "{a: tensor}", "{a: {dtype: fp32}}", "{a: {shape: [64, 128]}}", "{a: }"])
def test_right_arguments(args: str) -> None:
    assert found(args) == []


def test_each_wrong_argument_is_told() -> None:
    assert [d.rule.code for d in found("[1a, 2b]")] == ["PS2012", "PS2012"]
    assert [d.rule.code for d in found("{a: til, b: {dtype: fp33, shape: 3}}")] == ["PS1016", "PS1016", "PS1014"]

"""Which fields are words for people: the layout leaves their text alone."""

from __future__ import annotations

from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.prose import TEXT_KINDS, prose_fields, section_fields

FORMULAS = frozenset({"ints", "exprs", "expr", "condition", "number", "formula"})


def test_fields_of_sections_and_statements() -> None:
    assert {"about", "python", "source", "sha256", "allow", "error", "disable"} <= prose_fields()
    assert not {"expect", "shape", "count", "let", "range", "if", "while", "name", "into"} & prose_fields()
    assert {"tensors", "dtype", "shape", "expect", "min", "matrix"} <= section_fields()


def test_fields_of_operators_by_their_kinds() -> None:
    fields = [field for defn in OPS.values() for field in defn.fields]
    assert {field.name for field in fields if field.kind in TEXT_KINDS} <= prose_fields()
    assert not {field.name for field in fields if field.kind in FORMULAS} & prose_fields()

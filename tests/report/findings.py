"""Findings of a spec that is given as text."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source


def found(text: str, code: str = "") -> list[Diagnostic]:
    """What the compiler says of a spec, of one code or all; it has to compile."""
    done = compile_source(Source("k.yaml", text), format="yaml")
    assert done.ok, [d.message for d in done.diagnostics]
    return [d for d in done.diagnostics if not code or d.rule.code == code]

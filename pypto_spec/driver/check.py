"""`pypto-spec check`: everything there is to say about specs, without building them."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Gathered, Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.driver.variants import merged, variants_of


def check_specs(gathered: Gathered, defines: Mapping[str, str] | None = None) -> list[Diagnostic]:
    """The findings of all specs."""
    results = [(spec, compile_spec(spec, defines=defines).findings) for spec in gathered.specs]
    return [*gathered.findings, *merged(results)]


def check_text(text: str, name: str = "<text>", defines: Mapping[str, str] | None = None) -> list[Diagnostic]:
    """Everything there is to say about a text."""
    from pypto_spec.spec.load import format_of

    spec = Spec(Source(name, text), format_of(name), text.encode())
    return check_specs(Gathered(variants_of(spec, defines)), defines)

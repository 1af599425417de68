"""PS207x: variants."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

BAD_AXIS = rule(
    "PS2070", "bad-variant-axis", Severity.ERROR, "an axis of `variants`, or a value of one, does not fit the spec"
)
NO_VARIANTS = rule("PS2071", "no-variants", Severity.ERROR, "`variants` leaves no program, or far too many")
BAD_COMBINATION = rule(
    "PS2072", "bad-variant-combination", Severity.ERROR, "an entry of `include` or `exclude` does not fit the matrix"
)
NOTHING_EXCLUDED = rule("PS2073", "nothing-excluded", Severity.WARNING, "an entry of `exclude` matches no variant")

"""PS205x: functions and calls."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

BAD_CALL = rule("PS2050", "bad-call", Severity.ERROR, "a call does not fit the arguments or results of its function")
FUNCTION_CYCLE = rule("PS2051", "function-cycle", Severity.ERROR, "functions call each other in a circle")
TOO_MUCH_INLINED = rule(
    "PS2052", "too-much-inlined", Severity.ERROR, "calls are nested too deeply, or make too many statements"
)

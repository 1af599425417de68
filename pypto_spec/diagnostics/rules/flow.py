"""PS206x: control flow inside a region."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

JUMP_OUTSIDE = rule(
    "PS2060", "jump-outside", Severity.ERROR, "`break` or `continue` stands in no loop that it could leave"
)
CARRIED_BY_HAND = rule(
    "PS2061", "carried-by-hand", Severity.ERROR, "`break` or `continue` in a loop or `if` with values written by hand"
)
ENDLESS_LOOP = rule("PS2062", "endless-loop", Severity.ERROR, "nothing in a `while` can make its condition false")
NOT_IN_RANGE = rule(
    "PS2063", "not-in-range", Severity.ERROR, "the written bounds of a carried number cannot be shown to hold"
)
UNROLL_COUNT = rule(
    "PS2064", "unroll-count", Severity.ERROR, "an `unroll` has a run-time count, too many iterations, or carries tiles"
)
UNREACHABLE = rule("PS2065", "unreachable", Severity.WARNING, "a statement stands behind a `break` or `continue`")

"""PS7: target and rendering."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

NOT_YET = rule("PS7001", "not-yet", Severity.ERROR, "a reserved part of the language that is not there yet")
OUTPUT_NOT_OURS = rule(
    "PS7010", "output-not-ours", Severity.ERROR, "the output folder holds something that no build wrote"
)
OUTPUT_NOT_WRITTEN = rule("PS7011", "output-not-written", Severity.ERROR, "the output could not be written")
NO_TOOLKIT = rule("PS7020", "no-toolkit", Severity.ERROR, "what a type check needs is not on this machine")
TYPE_CHECK = rule("PS7021", "type-check", Severity.ERROR, "a kernel does not compile against the toolkit's headers")
GOLDEN_MISMATCH = rule(
    "PS7030", "golden-mismatch", Severity.ERROR, "a kernel's result on the host model differs from its reference"
)
HOST_FAULT = rule("PS7031", "host-fault", Severity.ERROR, "the host model objects to what a kernel does")
GOLDEN_ERROR = rule("PS7032", "golden-error", Severity.ERROR, "a golden section that cannot be evaluated")
NO_EFFECT = rule("PS7002", "no-effect-yet", Severity.HINT, "an option that changes nothing in a program")

"""PS9: bugs of the compiler itself."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

INTERNAL_ERROR = rule("PS9001", "internal-error", Severity.ERROR, "the compiler itself failed")
BROKEN_PROPERTY = rule("PS9002", "broken-property", Severity.ERROR, "a pass left the program in a state it must not")
CHANGED_RESULT = rule("PS9003", "changed-result", Severity.ERROR, "a pass changed what the program computes")

"""PS2: names and scopes."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

UNDEFINED_NAME = rule("PS2001", "undefined-name", Severity.ERROR, "a name is used that nothing defines here")
CONSTANT_CYCLE = rule("PS2010", "constant-cycle", Severity.ERROR, "constants are defined by each other")
BAD_OVERRIDE = rule(
    "PS2011", "bad-override", Severity.ERROR, "-D names no constant or gives it a value of another type"
)
BAD_NAME = rule("PS2012", "bad-name", Severity.ERROR, "a name is not spelt as names are")
UNUSED_VALUE = rule("PS2020", "unused-value", Severity.WARNING, "a value is computed and never used")
SHADOWED_NAME = rule("PS2030", "shadowed-name", Severity.ERROR, "a name means something else already")
NEVER_WRITTEN = rule("PS2031", "output-never-written", Severity.ERROR, "no statement writes an output tensor")
UNKNOWN_FUNCTION = rule("PS2032", "unknown-function", Severity.ERROR, "a formula calls a function that does not exist")
NOT_A_VALUE = rule("PS2033", "not-a-value", Severity.ERROR, "a name stands where its kind cannot stand")
UNDEFINED_CONTENTS = rule(
    "PS2034", "undefined-contents", Severity.ERROR, "a created tile or tensor is read before anything is written to it"
)
PARTLY_WRITTEN = rule("PS2035", "output-partly-written", Severity.WARNING, "no store reaches a part of an output")

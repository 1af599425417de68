"""PS4: on-chip memory."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

CAPACITY = rule("PS4001", "memory-overflow", Severity.ERROR, "live buffers exceed an on-chip memory")
NO_PATH = rule("PS4020", "no-path", Severity.ERROR, "a tile cannot get from the memory it is in to where it is needed")
ROW_TOO_WIDE = rule("PS4030", "row-too-wide", Severity.ERROR, "whole arrays cannot be divided into chunks that fit")
OVERWRITTEN = rule("PS4002", "overwritten-value", Severity.ERROR, "a value is put where another is still needed")
BUFFER_TOO_SMALL = rule("PS4003", "buffer-too-small", Severity.ERROR, "a tile is larger than the buffer it is put in")
SLOTS_REFUSED = rule("PS4010", "slots-refused", Severity.ERROR, "slots that the planner `ptoas` cannot express")
BAD_ADDRESS = rule("PS4004", "bad-address", Severity.ERROR, "a written address that the buffer cannot have")
OPERAND_TOO_LARGE = rule(
    "PS4021", "operand-too-large", Severity.ERROR, "an operand put into L0 by hand is larger than its memory"
)

"""PS5: pipelines and synchronisation."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

BAD_STAGES = rule("PS5002", "bad-stages", Severity.ERROR, "the number of stages of a pipeline is out of range")
PIPELINE_KEPT = rule("PS5003", "pipeline-kept", Severity.HINT, "a pipeline that is not divided runs at depth 1")
PINNED_IN_PIPELINE = rule(
    "PS5004", "pinned-in-pipeline", Severity.ERROR, "all iterations in flight would write one place of a buffer"
)
SLOTS_DECLINED = rule(
    "PS5005",
    "slots-declined",
    Severity.HINT,
    "the planner `ptoas` copies the body of a pipeline in place of using slots",
)
RACE = rule("PS5101", "race", Severity.ERROR, "two accesses to the same bytes run in no fixed order")
WAIT_NEVER_SET = rule("PS5102", "wait-never-set", Severity.ERROR, "a wait for a flag that nobody sets")
FLAG_SET_TWICE = rule("PS5103", "flag-set-twice", Severity.ERROR, "a flag is set while it may still be set")
FLAG_LEFT_SET = rule("PS5104", "flag-left-set", Severity.ERROR, "a flag is still set at the end of its region")
FLAG_KIND = rule("PS5105", "flag-kind", Severity.ERROR, "a flag or barrier that the core does not have")
FLAG_ID = rule("PS5106", "flag-id", Severity.ERROR, "a flag's id is outside the ids of the target")
SYNC_UNDECIDED = rule("PS5107", "sync-undecided", Severity.ERROR, "the order of a region cannot be proven")
FLAG_UNDER_AUTO = rule(
    "PS5108", "flag-under-auto", Severity.ERROR, "a flag or barrier by hand where the compiler puts them in"
)

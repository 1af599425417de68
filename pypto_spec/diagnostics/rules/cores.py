"""PS6: planes and cores."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

WRONG_PLANE = rule("PS6001", "wrong-plane", Severity.ERROR, "a statement stands on a plane where it cannot run")
MIXED_CORES = rule(
    "PS6010", "mixed-cores", Severity.ERROR, "a region has statements of the cube core and of the vector core"
)
WRONG_CORE = rule(
    "PS6011", "wrong-core", Severity.ERROR, "`core` names another core than the statements of the region run on"
)
NESTED_LAUNCH = rule("PS6020", "nested-launch", Severity.ERROR, "a launch stands inside another launch")
LAUNCH_CYCLE = rule("PS6021", "launch-cycle", Severity.ERROR, "launches wait for each other")
BAD_INSTRUCTION = rule("PS6030", "bad-instruction", Severity.ERROR, "a written instruction cannot be read")
BLOCKS = rule("PS6040", "blocks", Severity.ERROR, "`blocks` asks for a sharing-out that this region does not allow")
BLOCKS_OVERLAP = rule("PS6041", "blocks-overlap", Severity.ERROR, "blocks of one launch write the same elements")
NOTHING_TO_ADD_TO = rule(
    "PS6042", "nothing-to-add-to", Severity.ERROR, "`atomic: add` adds to a tensor that nothing has written before"
)

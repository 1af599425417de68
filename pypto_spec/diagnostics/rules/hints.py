"""PS8: hints of ours, and PyPTO's PH codes."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

INNERMOST_DIM = rule("PH001", "tile-innermost-dim", Severity.HINT, "rows of a copy are shorter than a GM burst")
PIPELINE_DEPTH = rule(
    "PH-MR-001", "pipeline-depth", Severity.HINT, "a pipeline gets fewer buffers in a memory than it has stages"
)
SLICE_COPIED = rule("PS8001", "slice-copied", Severity.HINT, "a slice starts inside a block of 32 B and is copied")

"""PS8: hints of ours. PH: PyPTO's performance hints, under its codes."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

INNERMOST_DIM = rule("PH001", "tile-innermost-dim", Severity.HINT, "rows of a copy are shorter than a GM burst")
PIPELINE_DEPTH = rule(
    "PH-MR-001", "pipeline-depth", Severity.HINT, "a pipeline gets fewer buffers in a memory than it has stages"
)
SLICE_COPIED = rule("PS8001", "slice-copied", Severity.HINT, "a slice starts inside a block of 32 B and is copied")
TILING_DTYPE = rule("PH-AT-003", "tiling-dtype", Severity.HINT, "a matmul of a dtype that is not cut for L0")
TILING_REFUSED = rule("PH-AT-005", "tiling-refused", Severity.HINT, "a matmul of extents that are not cut for L0")
OUTPUT_KEPT = rule("PH-AT-006", "output-kept", Severity.HINT, "an output that should be cut for L0 cannot be")
K_UNALIGNED = rule("PH-AT-007", "k-unaligned", Severity.HINT, "a matmul whose K is not cut into even blocks")
TILE_PADDED = rule("PH-AT-008", "tile-padded", Severity.HINT, "a matmul is cut for L0 as if it were larger")
CHAIN_DTYPE = rule("PH-AT-009", "chain-dtype", Severity.ERROR, "a large product cannot come back to `mat` in its dtype")
CAST_NOT_FOLDED = rule("PH-AT-010", "cast-not-folded", Severity.ERROR, "a cast between two products the cube cannot do")
BIAS_UNALIGNED = rule("PH-AT-011", "bias-unaligned", Severity.HINT, "a matmul with a bias whose extents are uneven")

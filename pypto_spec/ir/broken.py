"""What a check of the verifier finds."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Loc
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that does not hold, and the statement where it shows."""

    message: str
    loc: Loc

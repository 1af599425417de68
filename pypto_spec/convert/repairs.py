"""Repairs of what is written in a spec that more than one reader asks for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from pypto_spec.diagnostics.model import Fix
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.dtype import DType
from pypto_spec.ops.numbers import rounded


def as_taken(value: float, dtype: DType, place: Span) -> Iterator[Fix]:
    """A literal as the number that it becomes, where it is written as a number."""
    taken = rounded(value, dtype)
    start, end = place.offsets
    if math.isfinite(taken) and re.fullmatch(r"[0-9.e+-]+", place.source.text[start:end]):
        shown = str(int(taken)) if isinstance(value, int) else repr(taken)
        yield Fix(place, shown, title=f"write {shown}, which it becomes in {dtype}")

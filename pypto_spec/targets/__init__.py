"""Targets by platform name."""

from __future__ import annotations

from pypto_spec.targets.a2a3 import A2A3
from pypto_spec.targets.a5 import A5
from pypto_spec.targets.model import Target

TARGETS: dict[str, Target] = {t.name: t for t in (A2A3, A5)}

__all__ = ["A2A3", "A5", "TARGETS", "Target"]

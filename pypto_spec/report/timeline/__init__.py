"""The modelled timeline: a program's cycles by pipe, from the target's cost table."""

from __future__ import annotations

from pypto_spec.report.timeline.model import KernelTimeline, Timeline
from pypto_spec.report.timeline.program import modelled

__all__ = ["KernelTimeline", "Timeline", "modelled"]

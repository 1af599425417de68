"""`pypto-spec explain-tiling`: how a matmul is cut for L0, and why so."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.driver.inputs import Gathered, UsageError
from pypto_spec.driver.tiling.divided import Divided
from pypto_spec.driver.tiling.spec import matmuls
from pypto_spec.driver.tiling.subject import Subject
from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.types import Memory
from pypto_spec.passes.l0.problem import pose
from pypto_spec.records import dataclass
from pypto_spec.targets import TARGETS

LARGEST = 1 << 20
"""The largest extent that is asked about; beyond it a wall has more digits than a double."""

_SHAPE = re.compile(r"\s*(\d{1,9})\s*[,x]\s*(\d{1,9})\s*[,x]\s*(\d{1,9})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """A matmul without a spec, as it is written on the command line. `bias` is where a bias stands."""

    shape: str
    dtype: str
    platform: str = "a2a3"
    planner: str = "pypto"
    l0c_double_buffer: bool = False
    bias: str | None = None
    pad: bool = False


def subject_of(question: Question) -> Subject:
    """The matmul of a question. Raises UsageError for a shape or a dtype that there is not."""
    m, n, k = parse_shape(question.shape)
    problem = pose(
        TARGETS[question.platform],
        m,
        n,
        k,
        parse_dtype(question.dtype),
        planner=question.planner,
        l0c_double_buffer=question.l0c_double_buffer,
        bias=Memory(question.bias) if question.bias is not None else None,
        pad=question.pad,
    )
    return Subject(problem, question.platform, question.planner)


def subjects_of_specs(
    gathered: Gathered, defines: Mapping[str, str] | None = None
) -> tuple[list[Subject | Divided], list[Diagnostic]]:
    """All matmuls of specs, and what was found in these."""
    found: list[Subject | Divided] = []
    findings: list[Diagnostic] = list(gathered.findings)
    for spec in gathered.specs:
        made = matmuls(spec, defines)
        found += made.found
        findings += made.findings
    return found, findings


def parse_shape(text: str) -> tuple[int, int, int]:
    """`M,N,K` or `MxNxK`. Raises UsageError."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise UsageError(f"`{text}` is no shape of a matmul; write M,N,K, such as 256,256,128")
    m, n, k = (int(word) for word in found.groups())
    for name, extent in zip("MNK", (m, n, k), strict=True):
        if not 1 <= extent <= LARGEST:
            raise UsageError(f"{name} is {extent:,}; it has to be from 1 to {LARGEST:,}")
    return m, n, k


def parse_dtype(text: str) -> DType:
    """A dtype by its name. Raises UsageError."""
    dtype = DTYPES.get(text.strip().casefold())
    if dtype is None:
        near = did_you_mean(text, DTYPES) or f"the dtypes are {', '.join(DTYPES)}"
        raise UsageError(f"there is no dtype `{text}`; {near}")
    return dtype

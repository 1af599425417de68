"""Golden outcomes as diagnostics at places of the spec."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Diagnostic, Label, diagnose
from pypto_spec.diagnostics.rules.target import GOLDEN_ERROR, GOLDEN_MISMATCH, HOST_FAULT
from pypto_spec.diagnostics.span import Span
from pypto_spec.driver.inputs import Spec
from pypto_spec.golden.compare import Difference
from pypto_spec.golden.run import Fault, Outcome, Subject
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import TensorType
from pypto_spec.render.model import RenderedKernel
from pypto_spec.spec.load import load


def outcome_findings(spec: Spec, subject: Subject, outcome: Outcome) -> list[Diagnostic]:
    """What a golden run found, as diagnostics; empty where it was good."""
    made = [_fault(subject, fault) for fault in outcome.faults]
    made += [_mismatch(spec, subject, outcome, difference) for difference in outcome.differences]
    if outcome.error is not None:
        made.append(golden_error(spec, outcome.error, outcome.way_out, subject.program.loc.span))
    return made


def golden_error(spec: Spec, error: str, way_out: str | None, elsewhere: Span) -> Diagnostic:
    """What a GoldenError says, at the part of the section that its text starts with, or else at `elsewhere`."""
    words = error.partition(":")[0].split(".")
    named = words[0] == "golden"
    message = error.partition(": ")[2] if named else error
    span = _section(spec, words if named else ["golden"]) or elsewhere
    if way_out is None and words[:2] == ["golden", "expect"]:
        way_out = (
            "formulas know the tensors' initial values, scalars, constants and symbols, and the functions in the "
            "documentation of goldens; anything else can be computed in `golden.python`"
        )
    what = "inputs cannot be drawn" if words[:2] == ["golden", "inputs"] else "reference cannot be computed"
    return diagnose(GOLDEN_ERROR, span, f"the {what}: {message}", label="here", helps=[way_out] if way_out else [])


def _section(spec: Spec, path: list[str]) -> Span | None:
    """Where a value of the spec stands; of what is not written, the nearest thing above it."""
    root = load(spec.source, spec.format)
    for length in range(len(path), 0, -1):
        node = root.find(*path[:length])
        if node is not None:
            return node.span
    return None


def _rounded(program: Program, written: bool) -> list[str]:
    """The way out where a program rounds values between its regions that a written reference takes as exact."""
    kinds = {v.name: v.type.dtype for v in program.created if isinstance(v.type, TensorType)}
    name, dtype = next(((n, d) for n, d in kinds.items() if d.name in ("fp16", "bf16")), ("", None))
    if not written or dtype is None:
        return []
    return [
        f"`{name}` rounds to {dtype} on the way: let the reference round there too, with `cast(..., {dtype})`, take "
        "`inputs` that need no rounding, such as small integers, or say with `tolerance` what is allowed"
    ]


def _mismatch(spec: Spec, subject: Subject, outcome: Outcome, difference: Difference) -> Diagnostic:
    program = subject.program
    name = difference.output
    written = program.golden is not None and name in program.golden.expect
    declared = program.tensor_locs.get(name)
    span = _section(spec, ["golden", "expect", name]) if written else None
    if span is None:
        span = declared.span if declared is not None else program.loc.span
    reference = {"derived": "the program's own meaning", "python": "`golden.python`"}.get(outcome.label)
    return diagnose(
        GOLDEN_MISMATCH,
        span,
        str(difference),
        label="the reference" if written else "this output",
        notes=[f"the reference is {reference}"] if reference else [],
        helps=[*_rounded(program, written), f"see what the kernel does with `pypto-spec build {spec.name} --stdout`"],
        figures=[("off", difference.off), ("total", difference.total)],
    )


def _fault(subject: Subject, fault: Fault) -> Diagnostic:
    kernel = next(k for k in subject.rendered.kernels if k.name == fault.kernel)
    found = _spans(kernel, fault.finding.lines)
    span = found[0] if found else subject.program.loc.span
    text = kernel.text.splitlines()
    shown = [f"{kernel.name}.cpp:{line}: {text[line - 1].strip()}" for line in fault.finding.lines if line <= len(text)]
    return diagnose(
        HOST_FAULT,
        span,
        f"{fault.kernel}: {fault.finding.message}",
        label="in this statement",
        secondary=[Label(other, "and in this one") for other in found[1:]],
        notes=["\n".join(shown)] if shown else [],
        helps=[f"schedule {fault.schedule}; `pypto-spec explain {HOST_FAULT.code}` says what each fault means"],
        figures=[("schedule", fault.schedule), ("block", fault.finding.block)],
    )


def _spans(kernel: RenderedKernel, lines: tuple[int, ...]) -> list[Span]:
    known = {info.line: info.loc for info in kernel.lines if info.loc is not None}
    return list({known[line].span.start: known[line].span for line in lines if line in known}.values())

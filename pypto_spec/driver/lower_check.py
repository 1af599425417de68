"""`pypto-spec lower --check`: a program's torch meaning after every pass, to name the one that changed the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pypto_spec.diagnostics.model import Diagnostic, diagnose
from pypto_spec.diagnostics.rules.internal import CHANGED_RESULT
from pypto_spec.driver.faults import golden_error
from pypto_spec.driver.inputs import Spec, UsageError
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.golden.compare import Allowed, Difference, allowed_for, compare
from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.inputs import domains, draw
from pypto_spec.golden.meaning import Machine
from pypto_spec.golden.need_torch import TorchMissingError
from pypto_spec.golden.run import sizes
from pypto_spec.ir.expr import Sym, evaluate
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.passes.chunk_tensor_ops import CHUNK_TENSOR_OPS
from pypto_spec.records import dataclass

ASSOCIATES = frozenset({CHUNK_TENSOR_OPS.name})
"""Passes that may add up in another order; their results may differ as far as the dtype's tolerance."""

EXACT = Allowed(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Step:
    """What one pass did to the results: `word` is `equal`, `equal within tolerance` or `CHANGED`."""

    name: str
    word: str


@dataclass(slots=True)
class Checked:
    """The passes up to the first one that changed a result, and the findings."""

    steps: list[Step] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)


def check_passes(spec: Spec, defines: Mapping[str, str] | None = None, *, seed: int = 0) -> Checked:
    """Run the program after every pass on one set of inputs. Raises UsageError without torch."""
    done = compile_spec(spec, defines=defines, keep_stages=True)
    checked = Checked(findings=list(done.findings))
    if not done.stages:
        return checked
    try:
        _run(done, checked, seed)
    except TorchMissingError as error:
        raise UsageError(str(error)) from error
    except GoldenError as error:
        assert done.frontend is not None
        checked.findings.append(golden_error(spec, str(error), error.way_out, done.frontend.loc.span))
    return checked


def _run(done: Compiled, checked: Checked, seed: int) -> None:
    frontend = done.frontend
    if frontend.golden is not None and frontend.golden.sample is not None:
        raise GoldenError(
            "golden.sample: `lower --check` computes the whole program after every pass, and this one is sampled",
            "give its constants smaller values (`-D NAME=VALUE`) and leave `sample` out",
        )
    values = sizes(frontend)[-1]
    inputs = _inputs(frontend, values, seed)
    before, since = _results(frontend, values, inputs), "before any pass"
    previous = frontend
    for name, program in done.stages[1:]:
        assert name is not None
        if program is previous:
            checked.steps.append(Step(name, "equal"))
            continue
        try:
            now = _results(program, values, inputs)
        except Exception as error:  # a broken program may fail in any way; that is a change as well
            checked.steps.append(Step(name, "CHANGED"))
            checked.findings.append(_failed(frontend, name, error))
            return
        exact = _differences(frontend, now, before, exact=True)
        if not exact:
            checked.steps.append(Step(name, "equal"))
        else:
            rest = _differences(frontend, now, before, exact=False) if name in ASSOCIATES else exact
            if rest:
                checked.steps.append(Step(name, "CHANGED"))
                checked.findings.append(_changed(frontend, name, since, rest))
                return
            checked.steps.append(Step(name, "equal within tolerance"))
        before, since, previous = now, f"after {name}", program


def _inputs(program: Program, values: Mapping[Sym, int], seed: int) -> dict[str, Any]:
    written = program.golden.inputs if program.golden is not None else {}
    found = {v.name: d for v, d in domains(program).items()}
    made: dict[str, Any] = {}
    for place, argument in enumerate((*program.tensors, *program.scalars)):
        kind = argument.type
        shape = tuple(evaluate(e, values) for e in kind.shape) if isinstance(kind, TensorType) else ()
        spec = written.get(argument.name)
        domain = found[argument.name]
        words = spec if isinstance(spec, Mapping) else None
        made[argument.name] = draw(argument, shape, domain, words, seed + place, {d.name: v for d, v in values.items()})
    return made


def _results(program: Program, values: Mapping[Sym, int], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs by name; the program is run on copies of the inputs."""
    by_name = {s.name: v for s, v in values.items()}
    tensors = {t: inputs[t.name].clone() for t in program.tensors}
    scalars = {s: inputs[s.name] for s in program.scalars}
    Machine(program, tensors, scalars, indices={d: by_name[d.name] for d in program.dims}).run()
    return {t.name: tensors[t] for t in program.tensors if _written(t.type)}


def _written(kind: object) -> bool:
    return isinstance(kind, TensorType) and kind.access is not Access.IN


def _differences(
    program: Program, now: Mapping[str, Any], before: Mapping[str, Any], *, exact: bool
) -> list[Difference]:
    made: list[Difference] = []
    for tensor in program.tensors:
        if _written(tensor.type):
            dtype = tensor.type.dtype
            allowed = EXACT if exact else allowed_for(dtype)
            reference = before[tensor.name]
            wide = reference.double() if dtype.is_float else reference.long()
            found = compare(tensor.name, now[tensor.name], wide, dtype, allowed)
            if found is not None:
                made.append(found)
    return made


def _changed(program: Program, name: str, since: str, found: Sequence[Difference]) -> Diagnostic:
    first = found[0]
    place = program.tensor_locs.get(first.output)
    return diagnose(
        CHANGED_RESULT,
        place.span if place is not None else program.loc.span,
        f"the pass {name} changed the result: {first}",
        label="this output",
        notes=[f"expected is what it was {since}", "this is a bug of the compiler, not of the spec"],
    )


def _failed(program: Program, name: str, error: Exception) -> Diagnostic:
    return diagnose(
        CHANGED_RESULT,
        program.loc.span,
        f"after the pass {name} the program has no meaning any more: {type(error).__name__}: {error}",
        notes=["this is a bug of the compiler, not of the spec"],
    )

"""One golden run: inputs, reference, the rendered kernels on the host model, comparison.

A schedule is one legal order in which the host model runs a kernel's pipes; schedule 0 is program order. Every finding
of the host model (a race, an undefined byte, a wrong flag ...) fails the run like a wrong value does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pypto_spec.diagnostics.span import Loc
from pypto_spec.golden.compare import Allowed, Difference, allowed_for, compare
from pypto_spec.golden.formula import GoldenError, evaluate
from pypto_spec.golden.inputs import domains, draw
from pypto_spec.golden.launches import Run, cores_for, launches
from pypto_spec.golden.meaning import Machine
from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.python import reference
from pypto_spec.golden.storage import Storage, store, strides_of, undefined
from pypto_spec.golden.sums import recorded
from pypto_spec.host.run import Arg, Finding, GmArg, HostLibrary, RunReport, ScalarArg
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.expr import evaluate as number
from pypto_spec.ir.nodes import Program, Value
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.render.model import RenderedKernel, RenderedProgram
from pypto_spec.spec.formula import FormulaError
from pypto_spec.targets import TARGETS

AUTO_BLOCKS = (3, 1, 8, 48)
"""Block counts that stand for `auto`, one schedule after another: few, one, more than some have work for, all cores."""
MOST = 100
"""The largest size that is run where the golden gives none."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding of the host model on one kernel, with the lines of the spec behind the kernel's lines."""

    kernel: str
    finding: Finding
    schedule: int
    sources: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        where = ", ".join(f"{line}:{col}" for line, col in self.sources)
        return f"{self.kernel}: {self.finding.message}" + (f" (spec {where})" if where else "")


@dataclass(slots=True)
class Outcome:
    """What came of one program's golden runs; `label` says where the reference comes from."""

    name: str
    label: str
    runs: int = 0
    differences: list[Difference] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    sampled: float | None = None
    """The share of the outputs that was run and compared, where the golden is sampled."""
    shown: list[str] = field(default_factory=list)
    """What the kernels of the first run printed and dumped, in the order of launches and blocks."""
    error: str | None = None
    way_out: str | None = None
    """How an error can be put right, where that is known."""

    @property
    def ok(self) -> bool:
        """Whether every run was good."""
        return self.error is None and not self.differences and not self.faults


@dataclass(frozen=True, slots=True)
class Subject:
    """What is tested: the program as it was read, the finished one, its kernels, and where they are compiled."""

    frontend: Program
    program: Program
    rendered: RenderedProgram
    library: HostLibrary


def sizes(program: Program) -> list[dict[Sym, int]]:
    """The sizes to run: those of the golden section, or the smallest and a middling value of each dimension."""
    by_name = {d.name: d for d in program.dims}
    written = program.golden.sizes if program.golden is not None else ()
    if written:
        return [_sizes(row, by_name) for row in written]
    if not by_name:
        return [{}]
    low = {d: d.low if d.low is not None else d.multiple for d in program.dims}
    high = {d: max(low[d], min(d.high if d.high is not None else MOST, MOST) // d.multiple * d.multiple) for d in low}
    return [low, high]


def _sizes(row: Mapping[str, int], dims: Mapping[str, Sym]) -> dict[Sym, int]:
    """One row of `golden.sizes`, which keeps to what the symbols say of themselves."""
    made = {dims[name]: value for name, value in row.items() if name in dims}
    for dim, value in made.items():
        wrong = None
        if (dim.low is not None and value < dim.low) or (dim.high is not None and value > dim.high):
            wrong = f"`{dim.name}` is {dim.low} to {'any' if dim.high is None else dim.high}"
        elif value % dim.multiple:
            wrong = f"`{dim.name}` is a multiple of {dim.multiple}"
        if wrong is not None:
            raise GoldenError(f"golden.sizes: {wrong}, found {value}", "give a value that the symbol allows")
    missing = [name for name in dims if name not in row]
    if missing:
        raise GoldenError(f"golden.sizes: a row gives no value for `{missing[0]}`", "give every symbol a value")
    return made


class GoldenRun:
    """Inputs and reference of one program at one size."""

    def __init__(self, subject: Subject, values: Mapping[Sym, int], seed: int) -> None:
        self.subject = subject
        self.values = dict(values)
        self.inputs: dict[str, Any] = {}
        self.scalars: dict[str, Any] = {}
        program = subject.program
        golden = program.golden
        written = golden.inputs if golden is not None else {}
        base = golden.seed if golden is not None and golden.seed is not None else 0
        found = {v.name: d for v, d in domains(subject.frontend).items()}
        sizes = {dim.name: value for dim, value in self.values.items()}
        for place, tensor in enumerate((*program.tensors, *program.scalars)):
            spec = written.get(tensor.name)
            made = draw(
                tensor,
                self.shape(tensor),
                found[tensor.name],
                spec if isinstance(spec, Mapping) else None,
                1_000_003 * base + 101 * seed + place,
                sizes,
            )
            if isinstance(tensor.type, TensorType):
                made = store(made, strides_of(tensor, self.values)).view.clone()  # what overlaps is one value
            (self.inputs if isinstance(tensor.type, TensorType) else self.scalars)[tensor.name] = made
        self.slack: dict[str, float] = {}
        """What products may be off, by output (see `sums`)."""
        self.expected, self.label = self._reference()
        self.shown: list[str] = []

    def shape(self, tensor: Value) -> tuple[int, ...]:
        """Extents of a tensor argument at this size; () for a scalar."""
        if not isinstance(tensor.type, TensorType):
            return ()
        return tuple(number(extent, self.values) for extent in tensor.type.shape)

    @property
    def outputs(self) -> list[Value]:
        """The tensors the program writes."""
        return [t for t in self.subject.program.tensors if access_of(t) is not Access.IN]

    # -- reference ------------------------------------------------------------------------------------------------

    def _reference(self) -> tuple[dict[str, Any], str]:
        golden = self.subject.program.golden
        if golden is not None and golden.python is not None:
            return self._from_python(golden.python), "python"
        expect = golden.expect if golden is not None else {}
        known = self._exact_names()
        expected: dict[str, Any] = {}
        for name, text in expect.items():
            with explained(name), recorded() as found:
                expected[name] = evaluate(text, known)
            self.slack[name] = sum(found)
            self._check_shape(f"golden.expect.{name}", "formula", name, expected[name])
        missing = [t.name for t in self.outputs if t.name not in expected]
        if missing:
            with recorded() as found:
                derived = self.derived()
            self.slack.update({name: max(found, default=0.0) for name in missing})
            expected.update({name: derived[name] for name in missing})
        return expected, "golden" if not missing else (
            "derived" if len(missing) == len(self.outputs) else "partly derived"
        )

    def _check_shape(self, where: str, what: str, name: str, value: Any) -> None:
        tensor = next((t for t in self.outputs if t.name == name), None)
        if tensor is None:
            listed = ", ".join(f"`{t.name}`" for t in self.outputs)
            raise GoldenError(f"{where}: `{name}` is no output of the program", f"its outputs are {listed}")
        shape, needed = tuple(getattr(value, "shape", ())), self.shape(tensor)
        if shape != needed:
            raise GoldenError(
                f"{where}: the {what} gives shape {list(shape)}, `{name}` has {list(needed)}",
                f"make it {list(needed)}; `row_sum` and its like keep the reduced dimension"
                if what == "formula" else f"return `{name}` with shape {list(needed)}",
            )  # fmt: skip

    def _exact_names(self) -> dict[str, Any]:
        module = torch()
        names: dict[str, Any] = {d.name: v for d, v in self.values.items()}
        for name, value in (*self.inputs.items(), *self.scalars.items()):
            exact = value.to(module.float64 if value.is_floating_point() else module.int64)
            names[name] = exact if name in self.inputs else exact.item()
        return names

    def derived(self) -> dict[str, Any]:
        """The outputs by the program's own torch meaning, before any pass."""
        program = self.subject.frontend
        tensors = {t: self.inputs[t.name].clone() for t in program.tensors}
        scalars = {s: self.scalars[s.name] for s in program.scalars}
        indices = {d: v for d in program.dims for e, v in self.values.items() if e.name == d.name}
        Machine(program, tensors, scalars, indices=indices).run()
        return {t.name: tensors[t] for t in program.tensors}

    def _from_python(self, where: str) -> dict[str, Any]:
        program = self.subject.program
        known = self._exact_names()
        given = {
            v.name: known[v.name]
            for v in (*program.tensors, *program.scalars)
            if not isinstance(v.type, TensorType) or v.type.access is not Access.OUT
        }
        symbols = {d.name: known[d.name] for d in self.values}
        folder = Path(program.loc.span.source.name).parent
        made = reference(where, folder, given, symbols, [t.name for t in self.outputs])
        for name, value in made.items():
            self._check_shape("golden.python", "function", name, value)
        return made

    # -- host model -----------------------------------------------------------------------------------------------

    def run(
        self,
        schedule: int,
        auto_blocks: int,
        drop: Mapping[str, Sequence[int]] | None = None,
        watch: Callable[[Run, RunReport], None] | None = None,
        *,
        only: Sequence[int] = (),
    ) -> tuple[dict[str, Any], list[Fault]]:
        """Run all launches under one schedule; outputs by name, and what the host model objects to.

        `auto_blocks` is the number of vector cores that `blocks: auto` finds; the cube cores that belong to them are
        found with it. `drop` names kernel lines whose calls do nothing, for mutation. `watch` sees each launch with its
        records. With `only` just these blocks of each launch run.
        """
        buffers: dict[str, Storage] = {}
        for tensor in self.subject.program.tensors:
            made = self.inputs[tensor.name].clone().contiguous()
            if access_of(tensor) is Access.OUT:
                made = undefined(self.shape(tensor), tensor.type.dtype)
            buffers[tensor.name] = store(made, strides_of(tensor, self.values))
        for tensor in self.subject.program.created:
            buffers[tensor.name] = store(undefined(self.shape(tensor), tensor.type.dtype), None)
        faults: list[Fault] = []
        self.shown = []
        auto = cores_for(TARGETS[self.subject.program.target.platform], auto_blocks)
        for launch in launches(self.subject.rendered.launches, self.values, auto):
            args = list(self._arguments(launch, buffers))
            lines = (drop or {}).get(launch.kernel.name, ())
            blocks = max(1, launch.blocks)
            report = self.subject.library.run(
                launch.kernel.name, args, blocks=blocks, seed=schedule, drop=list(lines), records=watch is not None,
                only=only,
            )  # fmt: skip
            if watch is not None:
                watch(launch, report)
            self.shown += [f"[{launch.kernel.name} block {s.block}/{blocks}] {s.text}" for s in report.shown]
            faults += [
                Fault(launch.kernel.name, f, schedule, _sources(launch.kernel, f.lines)) for f in report.findings
            ]
            faults += self._touched(launch.kernel, buffers, schedule, {(f.kernel, f.finding.message) for f in faults})
        return {t.name: buffers[t.name].view.clone() for t in self.outputs}, faults

    def _touched(
        self, kernel: RenderedKernel, buffers: Mapping[str, Storage], schedule: int, told: set[tuple[str, str]]
    ) -> list[Fault]:
        """What a launch wrote between the rows of tensors, where nothing of theirs stands."""
        found: list[Fault] = []
        for argument in kernel.arguments:
            places = buffers[argument.name].touched() if argument.kind == "tensor" else []
            if places:
                where = ", ".join(map(str, places))
                said = f"`{argument.name}` is written between its rows: elements {where} of its memory"
                if (kernel.name, said) not in told:
                    found.append(Fault(kernel.name, Finding("outside-view", said, (), 0), schedule, ()))
        return found

    def _arguments(self, launch: Run, buffers: Mapping[str, Storage]) -> Iterator[Arg]:
        for argument in launch.kernel.arguments:
            if argument.kind == "tensor":
                data = buffers[argument.name].flat
                size = data.numel() * data.element_size()
                yield GmArg(data.data_ptr(), argument.dtype, size, readonly=argument.access is Access.IN)
            elif argument.kind == "scalar":
                yield ScalarArg(self.scalars[argument.name].item())
            else:
                assert argument.symbol is not None
                yield ScalarArg(next(v for s, v in launch.values.items() if s.name == argument.symbol.name))

    def allowed(self, tensor: Value) -> Allowed:
        """The tolerance of an output: the spec's, else that of its dtype and of the products on the way."""
        golden = self.subject.program.golden
        words: Mapping[str, float] = golden.tolerance if golden is not None else {}
        slack = self.slack.get(tensor.name, 0.0)
        return allowed_for(tensor.type.dtype, words.get("rtol"), words.get("atol"), words.get("ulps"), slack)

    def compare(self, outputs: Mapping[str, Any]) -> list[Difference]:
        """What differs from the reference beyond the tolerance."""
        found: list[Difference] = []
        for tensor in self.outputs:
            dtype = tensor.type.dtype
            allowed: Allowed = self.allowed(tensor)
            difference = compare(tensor.name, outputs[tensor.name], self.expected[tensor.name], dtype, allowed)
            if difference is not None:
                found.append(difference)
        return found


@contextmanager
def explained(output: str) -> Iterator[None]:
    """Says of what goes wrong with a formula whose it is."""
    try:
        yield
    except (FormulaError, RuntimeError) as error:
        raise GoldenError(f"golden.expect.{output}: {error}") from error
    except GoldenError as error:
        raise GoldenError(f"golden.expect.{output}: {error}", error.way_out) from error


def access_of(tensor: Value) -> Access:
    """What the program does with a tensor argument."""
    assert isinstance(tensor.type, TensorType)
    return tensor.type.access


def _sources(kernel: RenderedKernel, lines: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Places in the spec behind lines of a kernel."""
    known = {info.line: info.loc for info in kernel.lines if info.loc is not None}
    locs: list[Loc] = [known[line] for line in lines if line in known]
    return tuple(dict.fromkeys(loc.span.start for loc in locs))

"""From a spec's text to a program with every decision made: what every command starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from pypto_spec.check import check_program
from pypto_spec.collector import collector_paused
from pypto_spec.convert.to_ir import convert
from pypto_spec.diagnostics.model import CompileError, Diagnostic, Sink, diagnose, has_errors
from pypto_spec.diagnostics.rules.internal import INTERNAL_ERROR
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.ir.nodes import Program
from pypto_spec.ops.instructions import effects
from pypto_spec.passes.base import Context, Pass
from pypto_spec.passes.debug_statements import without_debug
from pypto_spec.passes.pipeline import run
from pypto_spec.passes.stages.achieved import Depth
from pypto_spec.records import dataclass
from pypto_spec.report.coverage import report_coverage
from pypto_spec.report.hints import report_hints
from pypto_spec.report.softmax import report_softmax
from pypto_spec.spec.load import Format
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import TARGETS

OnPass = Callable[[Pass | None, Program], None]


@dataclass(slots=True)
class Compilation:
    """What came of one spec: `program` is None if errors stopped it; findings in the order they were made."""

    source: Source
    program: Program | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    depths: list[Depth] = field(default_factory=list)
    failure: BaseException | None = None
    """What was raised where the compiler itself failed."""

    @property
    def ok(self) -> bool:
        """Whether there is no error among the findings."""
        return self.program is not None and not has_errors(self.diagnostics)


def compile_source(
    source: Source,
    *,
    format: Format | None = None,
    defines: Mapping[str, str] | None = None,
    variant: str | None = None,
    after: str | None = None,
    on_pass: OnPass | None = None,
    thorough: bool = False,
    debug: bool = False,
    trial: bool = False,
) -> Compilation:
    """Compile one spec, up to pass `after` or to the end; never raises for what is wrong with the spec.

    `defines` are the command line's `-D NAME=VALUE`, `variant` is the key of one of the spec's variants. `on_pass` sees
    the program as it was read (with None) and after each pass. `debug` keeps the `debug` statements, which a dump has
    kept already. A program compiled to its end has been through the checker and the performance hints. In a
    `trial` hints stay hints, and no exact search is asked.
    """
    result = Compilation(source)
    with collector_paused():
        try:
            _compile(result, format, defines, variant, after, on_pass, thorough, debug, trial)
        except CompileError as error:
            result.program = None
            result.failure = error.__cause__
            result.diagnostics += [d for d in error.diagnostics if d not in result.diagnostics]
        except RecursionError as error:
            result.program = None
            result.failure = error
            result.diagnostics.append(_internal(source, "the spec is nested too deeply for the compiler"))
        except Exception as error:  # a bug of ours must not reach the user as a traceback
            result.program = None
            result.failure = error
            result.diagnostics.append(_internal(source, f"{type(error).__name__}: {error}"))
        if not trial and any(d.repairs or d.fixes for d in result.diagnostics):
            from pypto_spec.edit.repairs import repaired

            result.diagnostics[:] = repaired(result.diagnostics, source, format)
    return result


def _compile(
    result: Compilation,
    format: Format | None,
    defines: Mapping[str, str] | None,
    variant: str | None,
    after: str | None,
    on_pass: OnPass | None,
    thorough: bool,
    debug: bool,
    trial: bool,
) -> None:
    document = load_document(result.source, format, defines=defines, variant=variant)
    sink = Sink(
        disabled=frozenset(document.model.diagnostics.disable),
        promoted=frozenset() if trial else frozenset(document.model.diagnostics.error),
        found=result.diagnostics,
    )
    for diagnostic in document.warnings:
        sink.emit(diagnostic)
    program = convert(document, sink)
    sink.stop_on_errors()
    if not debug and program.dump is None:
        program = without_debug(program)
    report_softmax(program, sink)
    if on_pass is not None:
        on_pass(None, program)
    target = TARGETS[program.target.platform]
    context = Context(target, sink, timings=result.timings, trial=trial, depths=result.depths)
    program = run(program, context, after=after, on_pass=on_pass, thorough=thorough)
    if after is None:
        check_program(program, context.target, sink, effects)
        report_coverage(program, sink)
        report_hints(program, context.target, sink)
        sink.stop_on_errors()
    result.program = program


def _internal(source: Source, what: str) -> Diagnostic:
    return diagnose(
        INTERNAL_ERROR,
        Span(source, 1, 1, 1, 1),
        f"the compiler failed: {what}",
        notes=["this is a bug of the compiler, not of the spec"],
    )

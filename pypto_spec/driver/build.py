"""`pypto-spec build`: kernels and host code of specs, written as whole folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from pypto_spec.diagnostics.model import CompileError, Diagnostic, diagnose, has_errors
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Gathered, Spec, UsageError
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.records import dataclass

if TYPE_CHECKING:
    from pypto_spec.render.model import RenderedKernel, RenderedProgram
    from pypto_spec.report.timeline import Timeline

DEFAULT = "build"
"""The folder that holds the output folders where `-o` is not given."""

DIALECTS = frozenset({"a2a3"})
"""Platforms that kernels can be rendered for."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What the command line says; `out` and `dump_passes` are the folders of one spec, or hold those of several."""

    out: str | None = None
    stdout: bool = False
    dump_passes: str | None = None
    typecheck: bool = False
    cann: str | None = None
    timings: bool = False
    defines: Mapping[str, str] = field(default_factory=dict)
    debug: bool = False


@dataclass(slots=True)
class Built:
    """What came of one spec: where it was written (None with `stdout` or after an error), its kernels, its findings.

    `timeline` and `rendered` are there where it was written.
    """

    spec: Spec
    name: str | None = None
    folder: str | None = None
    kernels: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    rendered: tuple[RenderedKernel, ...] = ()
    timeline: Timeline | None = None
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not has_errors(self.findings)


def build_specs(gathered: Gathered, options: BuildOptions) -> Iterator[Built]:
    """Build specs one after the other. Raises UsageError before the first where two would go to the same folder."""
    several = gathered.folders or len(gathered.specs) > 1
    keep = options.dump_passes is not None
    compiled = [
        compile_spec(spec, defines=options.defines, keep_stages=keep, debug=options.debug) for spec in gathered.specs
    ]
    _distinct(compiled, options, several)
    for one in compiled:
        yield _build(one, options, several)


def _distinct(compiled: Sequence[Compiled], options: BuildOptions, several: bool) -> None:
    names: dict[str, str] = {}
    for one in compiled:
        if one.program is None or options.stdout or not several:
            continue
        first = names.setdefault(one.program.name, one.spec.name)
        if first != one.spec.name:
            raise UsageError(
                f"{first} and {one.spec.name} are both named `{one.program.name}` and would be built into one folder; "
                "build them one at a time with -o DIR"
            )


def _build(one: Compiled, options: BuildOptions, several: bool) -> Built:
    made = Built(one.spec, findings=list(one.findings))
    try:
        if one.stages and options.dump_passes is not None:
            _write_dumps(one, options.dump_passes, several)
        program = one.program
        if program is None:
            return made
        made.name = program.name
        if program.target.platform not in DIALECTS:
            made.findings.append(no_dialect(one))
            return made
        from pypto_spec.render.program import render_kernels

        rendered = render_kernels(program, one.spec.sha256 if program.dump is None else None)
        made.kernels = tuple(k.name for k in rendered.kernels)
        made.texts = tuple(k.text for k in rendered.kernels)
        if options.typecheck:
            made.findings += _typecheck(rendered, options.cann)
        if not options.stdout and made.ok:
            _write(one, rendered, made, options, several)
    except CompileError as error:
        made.findings += error.diagnostics
    return made


def _write_dumps(one: Compiled, folder: str, several: bool) -> None:
    from pypto_spec.driver.dumps import dump_files
    from pypto_spec.render.write import write_tree

    where = os.path.join(folder, one.frontend.name) if several else folder
    write_tree(dump_files(one.spec, one.stages, where), where)


def _write(one: Compiled, rendered: RenderedProgram, made: Built, options: BuildOptions, several: bool) -> None:
    from pypto_spec.driver.summary import report_files
    from pypto_spec.render.tree import tree_of
    from pypto_spec.render.write import write_tree
    from pypto_spec.report.timeline import modelled
    from pypto_spec.targets import TARGETS

    assert one.program is not None
    parent = options.out or DEFAULT
    folder = os.path.join(parent, one.program.name) if several or options.out is None else parent
    files = tree_of(rendered)
    made.rendered = rendered.kernels
    made.timeline = modelled(one.program, TARGETS[one.program.target.platform])
    timings = one.compilation.timings if options.timings else None
    files |= report_files(one.program, made.findings, made.timeline, timings, one.compilation.depths)
    write_tree(files, folder)
    made.folder = folder


def _typecheck(rendered: RenderedProgram, cann: str | None) -> list[Diagnostic]:
    from pypto_spec.render.toolkit import find_toolkit
    from pypto_spec.render.typecheck import findings, typecheck

    toolkit = find_toolkit(cann)
    return [d for kernel in rendered.kernels for d in findings(kernel, typecheck(kernel, toolkit))]


def no_dialect(one: Compiled) -> Diagnostic:
    """The error for a platform whose kernels cannot be rendered."""
    from pypto_spec.spec.load import load

    assert one.program is not None
    platform = one.program.target.platform
    root = load(one.spec.source, one.spec.format)
    node = root.find("target", "platform") or root.find("target")
    return diagnose(
        NOT_YET,
        node.span if node is not None else one.program.loc.span,
        f"kernels for `{platform}` cannot be built: its dialect is not there yet",
        label="not yet",
        notes=[f"`check` and `lower` work for `{platform}`"],
        helps=["build for `target: a2a3`"],
    )


def build_text(text: str, name: str = "<text>", defines: Mapping[str, str] | None = None) -> list[Diagnostic]:
    """The findings of a build of a text that writes nothing."""
    from pypto_spec.spec.load import format_of

    spec = Spec(Source(name, text), format_of(name), text.encode())
    options = BuildOptions(stdout=True, defines=dict(defines or {}))
    return [d for built in build_specs(Gathered([spec]), options) for d in built.findings]

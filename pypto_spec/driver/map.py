"""`pypto-spec map`: the memory map of a spec, as data, a drawing or a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pypto_spec.convert.to_ir import convert
from pypto_spec.diagnostics.model import CompileError, Diagnostic, Severity, Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.ir.nodes import Buffer, Op, Program, Region, Value
from pypto_spec.ir.rewrite import regions
from pypto_spec.passes.allocate_memory_addr import ALLOCATE_MEMORY_ADDR, place
from pypto_spec.passes.memory.grids import grids
from pypto_spec.passes.memory.lifetimes import Lifetimes, in_place
from pypto_spec.passes.memory.written import apart, may_overwrite, together
from pypto_spec.passes.memory_reuse import MEMORY_REUSE
from pypto_spec.passes.pipeline import PASSES, position
from pypto_spec.records import dataclass
from pypto_spec.report.map.build import build_map, stage_tags
from pypto_spec.report.map.conflicts import Rules
from pypto_spec.report.map.document import map_text
from pypto_spec.report.map.model import MappedProgram
from pypto_spec.report.map.page import Texts, page_text
from pypto_spec.report.map.svg import svg_text
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import TARGETS

DRAWN_ALL_THE_SAME = ("PS4", "PS51")
"""Errors of memory and of synchronisation: where nothing else stopped the passes, the drawing shows what is wrong."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The text that was asked for, None where nothing can be drawn, and what was found in each spec."""

    text: str | None
    findings: list[tuple[Spec, list[Diagnostic]]]


def map_specs(
    specs: Sequence[Spec], format: str, *, defines: Mapping[str, str] | None = None, debug: bool = False
) -> Mapped:
    """The map of one file, as `html`, `json` or `svg`: of the one spec in it, or of each of its variants.

    What has errors is drawn where it has addresses, or can be given some: an overflow, two buffers that share bytes.
    """
    drawn: list[tuple[MappedProgram, str]] = []
    findings: list[tuple[Spec, list[Diagnostic]]] = []
    for spec in specs:
        done = compile_spec(spec, defines=defines, keep_stages=True, debug=debug)
        findings.append((spec, done.findings))
        found = _program(done)
        if found is not None:
            program, after = found
            ir = dump_text(program, after, spec)
            tags = stage_tags(stage for _, stage in done.stages)
            made = build_map(
                program,
                TARGETS[program.target.platform],
                memory_rules,
                after=after,
                variant=spec.variant,
                printed=_read_again(ir),
                tags=tags,
            )
            drawn.append((made, ir))
    return Mapped(_text(drawn, specs[0], format) if drawn else None, findings)


def _text(drawn: Sequence[tuple[MappedProgram, str]], spec: Spec, format: str) -> str:
    programs = [program for program, _ in drawn]
    if format == "json":
        return map_text(programs, spec.name)
    if format == "svg":
        return svg_text(programs)
    return page_text(programs, Texts(spec.name, spec.source.text, [ir for _, ir in drawn]))


def _program(done: Compiled) -> tuple[Program, str] | None:
    """The program to draw, with addresses, and the last pass that ran on it."""
    if done.program is not None:
        return done.program, PASSES[-1].name
    if not done.stages:
        return None
    name, program = done.stages[-1]
    errors = {d.rule.code for d in done.findings if d.level is Severity.ERROR}
    if name != PASSES[-1].name and not all(code.startswith(DRAWN_ALL_THE_SAME) for code in errors):
        return None
    after = name or (program.dump.after if program.dump is not None else None)
    if after is None or position(after) < position(MEMORY_REUSE.name):
        return None
    if position(after) < position(ALLOCATE_MEMORY_ADDR.name):
        return _placed(program), ALLOCATE_MEMORY_ADDR.name
    return program, after


def _placed(program: Program) -> Program:
    """The program with addresses for all buffers, whatever is wrong with them."""
    target = TARGETS[program.target.platform]
    asked = grids(program)
    placed: dict[str, Buffer] = {}
    for region in regions(program.body):
        lives = Lifetimes(region.body)
        mine = [b for b in program.buffers if b.name in lives.of]
        for memory in dict.fromkeys(b.memory for b in mine):
            here, _ = place([b for b in mine if b.memory is memory], memory, target, asked)
            placed.update((b.name, b) for b in here)
    return replace(program, buffers=tuple(placed.get(b.name, b) for b in program.buffers))


def _read_again(text: str) -> Program | None:
    """The program of a dump, whose statements know their lines in it; None where it does not load."""
    try:
        document = load_document(Source("dump.yaml", text), "yaml")
        return convert(document, Sink(), read_source=lambda name: None)
    except CompileError:
        return None


def memory_rules(region: Region) -> Rules:
    """What the check of written addresses and buffers allows in a region."""
    lives = Lifetimes(region.body)
    return Rules(_over, apart, lambda first, second: together(first, second, lives))


def _over(op: Op, old: Value, new: Value) -> bool:
    assert old.buffer is not None and new.buffer is not None
    if old.buffer.buffer == new.buffer.buffer:
        return may_overwrite(op, old, new)
    return in_place(op, old.buffer.buffer, new.buffer.buffer)  # where two buffers start is judged by `together`

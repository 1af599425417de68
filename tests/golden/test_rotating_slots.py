"""Loops whose tiles stand in slots `i % N`: results, schedules and mutants through the rendered C++."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from pypto_spec.check import check_program
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.golden.mutate import judge, syncs
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ir.expr import add, substitute, sym, symbols
from pypto_spec.ir.nodes import Dump, Program, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import Rewriter, regions
from pypto_spec.ops.instructions import effects
from pypto_spec.passes.base import Pass
from pypto_spec.render.program import render_kernels
from pypto_spec.targets import A2A3
from tests.golden.harness import Case, check_all

HEAD = """\
spec: v1
name: {name}
symbols: {{M: {{min: 0, max: 12}}, S: {{min: 0, max: 3}}}}
tensors:
  a:   {{dtype: fp32, shape: [16, 64]}}
  b:   {{dtype: fp32, shape: [16, 64]}}
  out: {{dtype: fp32, shape: [16, 64], access: inout}}
buffers:
  ub: {{memory: vec, slots: {slots}}}
  uc: {{memory: vec, slots: {other}}}
program:
  - region: {name}
    body:
"""
TAIL = "golden: {sizes: [{M: 0, S: 0}, {M: 1, S: 1}, {M: 4, S: 2}, {M: 5, S: 3}, {M: 12, S: 1}]}\n"

ROUND = """\
load:  {{into: t, from: a, at: [i, 0], shape: [1, 64], buffer: ub, slot: {slot}}}
exp:   {{into: y, x: t}}
store: {{from: y, to: out, at: [i, 0]}}
"""
IN_PLACE = """\
load:  {{into: t, from: a, at: [i, 0], shape: [1, 64], buffer: ub, slot: {slot}}}
load:  {{into: u, from: b, at: [i, 0], shape: [1, 64], buffer: uc, slot: i % {other}}}
mul:   {{into: w, lhs: t, rhs: u, buffer: ub, slot: {slot}}}
store: {{from: w, to: out, at: [i, 0]}}
"""
SUMS = """\
load:  {{into: t, from: a, at: [i, 0], shape: [1, 64], buffer: ub, slot: {slot}}}
load:  {{into: u, from: b, at: [i, 0], shape: [1, 64], buffer: ub, slot: (i + 1) % {slots}}}
let: total = total + t * u
"""

KINDS = {"one": ROUND, "two": IN_PLACE, "sums": SUMS}


def spec(name: str, lines: str, loop: str, slots: int, other: int = 2, *, slot: str = "") -> str:
    """A loop with these statements, an accumulator `total` around it where they name one."""
    lines = lines.format(slot=slot or f"i % {slots}", slots=slots, other=other)
    total = "total" in lines
    text = HEAD.format(name=name, slots=slots, other=other)
    if total:
        text += "      - full: {into: total, shape: [1, 64], value: 0.0, dtype: fp32}\n"
    text += f"      - for: {{index: i, {loop}}}\n        body:\n"
    text += "".join(f"          - {line}\n" for line in lines.splitlines())
    if total:
        text += "      - store: {from: total, to: out, at: [0, 0]}\n"
    return text + TAIL


def nested(name: str, lines: str, slots: int, other: int = 2, inner: str = "count: M") -> str:
    lines = lines.format(slot=f"i % {slots}", slots=slots, other=other)
    text = HEAD.format(name=name, slots=slots, other=other)
    text += "      - for: {index: o, count: 3}\n        body:\n"
    text += f"          - for: {{index: i, {inner}}}\n            body:\n"
    return text + "".join(f"              - {line}\n" for line in lines.splitlines()) + TAIL


def programs() -> dict[str, str]:
    """All of them by name."""
    made: dict[str, str] = {}

    def put(name: str, lines: str, loop: str, slots: int, other: int = 3, slot: str = "") -> None:
        made[name] = spec(name, lines, loop, slots, other, slot=slot)

    for slots, (kind, lines) in product((2, 3, 4), KINDS.items()):
        start = f"{kind}_{slots}_"
        # With as many rounds as slots `i % N` is `i`, which nobody knows to be another slot than `(i + 1) % N`.
        for count in {1, 2, slots - 1, slots, slots + 1, 8, 9} - ({slots} if kind == "sums" else set()):
            put(f"{start}{count}", lines, f"count: {count}", slots, 5 - slots if slots < 4 else 3)
        put(f"{start}m", lines, "count: M", slots)
        put(f"{start}from", lines, "range: [1, M]", slots, 2)
        put(f"{start}start", lines, "range: [S, M]", slots, 2)
        put(f"{start}twos", lines, "range: [0, M, 2]", slots, 2)
        if kind != "sums":
            put(f"{start}late", lines, "count: M", slots, slot=f"(i + 1) % {slots}")
            put(f"{start}fixed", lines, "count: M", slots, slot="1")
            made[f"{start}nested"] = nested(f"{start}nested", lines, slots, 3)
            made[f"{start}from_nested"] = nested(f"{start}from_nested", lines, slots, 3, "range: [1, M]")
            made[f"{start}nested_5"] = nested(f"{start}nested_5", lines, slots, 3, "count: 5")
    own = ROUND.replace("x: t}}", "x: t, buffer: ub, slot: {slot}}}").replace("[i, 0]", "[o * 5 + i, 0]")
    made["one_slot_nested"] = nested("one_slot_nested", own, 2, inner="count: 5")
    put("broken", ROUND + "{{if: i >= 5, then: [{{break: {{}}}}]}}\n", "count: M", 2)
    return made


PROGRAMS = programs()


def test_results_and_schedules() -> None:
    failures = check_all([Case(text, schedules=3) for text in PROGRAMS.values()])
    assert [str(f) for f in failures] == []


def subject(text: str) -> Subject:
    before: list[Program] = []
    done = compile_source(Source("k.yaml", text), on_pass=lambda step, program: before.append(program))
    assert done.program is not None, [d.message for d in done.diagnostics]
    rendered = render_kernels(done.program)
    library = compile_kernels([KernelSource(k.name, k.text) for k in rendered.kernels])
    return Subject(before[0], done.program, rendered, library)


@pytest.mark.parametrize(
    "name", ["one_2_m", "two_2_9", "two_3_m", "one_4_8", "sums_3_m", "one_3_start", "one_slot_nested", "broken"]
)
def test_every_flag_is_missed(name: str) -> None:
    alive = [str(v.mutant) for v in judge(subject(PROGRAMS[name])) if not v.dead]
    assert alive == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_dump_behind_the_flags_gives_the_same_kernel(name: str) -> None:
    dumps: list[str] = []

    def keep(step: Pass | None, program: Program) -> None:
        if step is not None and step.name == "InsertSync":
            dumps.append(to_spec(replace(program, dump=Dump("InsertSync", "k.yaml", "0" * 64))))

    done = compile_source(Source("k.yaml", PROGRAMS[name]), on_pass=keep)
    assert done.program is not None, [d.message for d in done.diagnostics]
    again = compile_source(Source("d.yaml", dumps[0]))
    assert again.program is not None, [d.message for d in again.diagnostics]
    first, second = (render_kernels(p).kernels[0].text for p in (done.program, again.program))
    assert first == second
    assert to_spec(replace(again.program, dump=Dump("InsertSync", "k.yaml", "0" * 64))) == dumps[0]


class _Shifted(Rewriter):
    """The program with the ids of one flag that take turns moved on by one."""

    def __init__(self, gone: SetFlag | WaitFlag) -> None:
        super().__init__()
        self.gone = gone

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        if node is not self.gone or not isinstance(node, SetFlag | WaitFlag):
            return super().stmt(node)
        (loop,) = symbols(node.id)
        return (replace(node, id=substitute(node.id, {loop: add(sym(loop), 1)})),)


@pytest.mark.parametrize("name", ["one_2_9", "two_3_9", "one_4_m"])
def test_an_id_that_is_one_off_is_seen_by_both(name: str) -> None:
    whole = subject(PROGRAMS[name])
    (region,) = regions(whole.program.body)
    turning = [s for s in syncs(region.body) if isinstance(s, SetFlag | WaitFlag) and not isinstance(s.id, int)]
    assert len(turning) >= 4
    wrong = [
        replace(p, body=tuple(replace(r, kernel=f"{r.kernel}_{n}") for r in regions(p.body)))
        for n, p in enumerate(_Shifted(flag).program(whole.program) for flag in turning)
    ]
    rendered = [render_kernels(program) for program in wrong]
    library = compile_kernels([KernelSource(k.name, k.text) for found in rendered for k in found.kernels])
    for program, found in zip(wrong, rendered, strict=True):
        sink = Sink()
        check_program(program, A2A3, sink, effects)
        assert {d.rule.code for d in sink.found} & {"PS5102", "PS5103", "PS5104"}
        run = GoldenRun(Subject(whole.frontend, program, found, library), sizes(whole.frontend)[-1], 0)
        assert any(run.run(schedule, 1)[1] for schedule in range(3))

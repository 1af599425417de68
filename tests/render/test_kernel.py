"""Kernels: their text, their format, and the map from their lines to the spec."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from time import process_time

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.nodes import Dump, Program, Region
from pypto_spec.ir.types import Access
from pypto_spec.render.kernel import render_kernel
from pypto_spec.render.model import RenderedKernel
from pypto_spec.render.program import render_kernels
from tests.render import programs
from tests.render.forms import forms
from tests.render.programs import chain, exp_pipelined, tail_rows
from tests.render.tools import clang_format

PROGRAMS = {"exp_pipelined": exp_pipelined, "tail_rows": tail_rows, "forms": forms}


def kernel_of(program: Program) -> RenderedKernel:
    (kernel,) = render_kernels(program).kernels
    return kernel


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name: str, text_snapshot: SnapshotAssertion) -> None:
    assert kernel_of(PROGRAMS[name]()).text == text_snapshot


@pytest.mark.parametrize("name", PROGRAMS)
def test_clang_format_leaves_kernels_alone(name: str) -> None:
    text = kernel_of(PROGRAMS[name]()).text
    assert clang_format(text) == text


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_gives_the_same_bytes(name: str) -> None:
    assert kernel_of(PROGRAMS[name]()).text == kernel_of(PROGRAMS[name]()).text


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_line_is_in_the_map(name: str) -> None:
    kernel = kernel_of(PROGRAMS[name]())
    text = kernel.text.splitlines()
    assert [info.line for info in kernel.lines] == list(range(1, len(text) + 1))
    for info, line in zip(kernel.lines, text, strict=True):
        starts = {"set": "SetFlag<", "wait": "WaitFlag<", "barrier": "PipeBarrier<", "comment": "// line "}
        for kind, start in starts.items():
            if kind != "barrier":
                assert (info.kind == kind) == line.strip().startswith(start), line
        if info.kind == "comment":
            assert info.src is not None
            assert line.strip().startswith(f"// line {info.src[0]}: ")
        if info.kind in ("set", "wait"):
            assert line.strip().endswith(f"<HardEvent::{info.event}>({info.id});")
        if info.kind == "barrier":
            assert line.strip() == f"PipeBarrier<PIPE_{info.event}>();"
        if info.kind in ("copy", "vector", "state"):
            assert info.op is not None
            assert info.first <= info.line
    assert text[-2].strip() == "PipeBarrier<PIPE_ALL>();"
    assert kernel.lines[-2].kind == "form"


def test_kinds_and_pairs_of_the_example() -> None:
    kernel = kernel_of(exp_pipelined())
    assert Counter(info.kind for info in kernel.lines)["set"] == 4
    assert Counter(info.kind for info in kernel.lines)["wait"] == 4
    by_text = dict(zip((line.strip() for line in kernel.text.splitlines()), kernel.lines, strict=True))
    copy = by_text["DataCopy(t, a[i * 8192], 8192);"]
    assert (copy.kind, copy.src, copy.op) == ("copy", (16, 13), "load")
    assert by_text["Exp(y, t, 8192);"].kind == "vector"
    assert by_text["SetFlag<HardEvent::MTE2_V>(0);"].pairs == (((16, 13), (17, 13)),)


def test_calls_over_several_lines_know_their_first_line() -> None:
    kernel = kernel_of(tail_rows())
    lines = kernel.text.splitlines()
    (number,) = [n for n, line in enumerate(lines) if line.strip().startswith("DataCopyPadExtParams")]
    assert kernel.lines[number].first == number
    assert lines[number - 1].strip().startswith("DataCopyPad(t,")


def test_arguments_are_those_the_kernel_uses() -> None:
    kernel = kernel_of(tail_rows())
    assert [(a.name, a.cpp, a.kind, a.ctype) for a in kernel.arguments] == [
        ("x", "x_gm", "tensor", "void*"),
        ("out", "out_gm", "tensor", "void*"),
        ("eps", "eps", "scalar", "float"),
        ("M", "M", "dim", "int64_t"),
    ]
    assert [a.access for a in kernel.arguments[:2]] == [Access.IN, Access.OUT]
    assert kernel.blocks == "auto"
    assert kernel.memory == {"vec": 147712}
    assert kernel.path == "kernels/aiv/rowmax.cpp"


def test_nothing_of_a_spec_gets_out_of_a_comment() -> None:
    name = Source("/home/me/\u202eevil\n#error.yaml", "")
    program = replace(exp_pipelined(), about="ends in \\", name="x\ny", loc=Loc(Span(name, 1, 1, 1, 1)))
    head = kernel_of(program).text.split("#include", 1)[0]
    assert head.isascii()
    assert "/home" not in head
    assert all(line.startswith("// ") and not line.endswith("\\") for line in head.splitlines())


def test_a_dump_gives_the_same_bytes_as_its_spec() -> None:
    program = exp_pipelined()
    loaded = replace(
        program,
        loc=Loc(Span(Source("09_InsertSync.yaml", ""), 1, 1, 1, 1)),
        dump=Dump("InsertSync", "specs/some/kernel.yaml", "0" * 64),
    )
    assert kernel_of(loaded).text == kernel_of(program).text


def test_names_of_the_spec_never_clash_with_the_frame() -> None:
    a, out = programs.tensor("pipe", 64, 128), programs.tensor("half", 64, 128, access=Access.OUT)
    t, y = programs.tile("half.1", 64, 128), programs.tile("Exp.1", 64, 128)
    body = [programs.load(t, a, 0, 10), programs.exp(y, t, 11), programs.store(y, out, 0, 12)]
    program = programs.program("exp", [a, out], [programs.region("exp", *body)], [programs.buffer("vec.0", 32768, 0)])
    text = kernel_of(program).text
    assert "void exp_kernel(GM_ADDR pipe_v_gm, GM_ADDR half_v_gm)" in text
    assert "DataCopy(half_tile, pipe_v, 8192);" in text
    assert "Exp(Exp_v, half_tile, 8192);" in text


def test_a_kernel_needs_no_memory() -> None:
    program = programs.program("empty", [], [programs.region("empty")])
    text = kernel_of(program).text
    assert clang_format(text) == text
    assert "TBuf" not in text


def test_ten_thousand_statements_are_rendered_quickly() -> None:
    program = chain(10_000)
    region = program.body[0]
    assert isinstance(region, Region)
    times = []
    for _ in range(3):
        started = process_time()
        assert len(render_kernel(program, region).lines) > 30_000
        times.append(process_time() - started)
    assert min(times) < 0.8

"""The dump law: after every pass the program prints as a spec that gives the byte-identical kernel."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec, gather
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.render.program import render_kernels

ROOT = Path(__file__).parents[2]
GALLERY = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "specs").rglob("*") if p.suffix in (".yaml", ".toml"))
_COMMENT = re.compile(r"\s*//")


@cache
def compiled(file: str) -> Compiled:
    (spec,) = gather([str(ROOT / file)]).specs
    done = compile_spec(spec, keep_stages=True)
    assert done.ok, done.findings
    return done


def kernels(done: Compiled) -> list[str]:
    assert done.program is not None, done.findings
    return [kernel.text for kernel in render_kernels(done.program).kernels]


def read(file: str, text: str) -> Compiled:
    """The text compiled as if it stood beside the spec."""
    name = str((ROOT / file).with_name("dump.yaml"))
    return compile_spec(Spec(Source(name, text), "yaml", text.encode()), keep_stages=True)


def code(text: str) -> list[str]:
    """The lines of a kernel without comments, which name lines of the spec."""
    return [line for line in text.splitlines() if not _COMMENT.match(line)]


@pytest.mark.parametrize("step", [p.name for p in PASSES])
@pytest.mark.parametrize("file", GALLERY)
def test_a_dump_gives_the_same_kernel_and_the_same_dump(file: str, step: str) -> None:
    first = compiled(file)
    program = dict(first.stages)[step]
    text = dump_text(program, step, first.spec, (ROOT / file).parent)
    again = read(file, text)
    assert kernels(again) == kernels(first)
    assert dump_text(again.frontend, step, again.spec, (ROOT / file).parent) == text


@pytest.mark.parametrize("step", [p.name for p in PASSES])
@pytest.mark.parametrize("file", GALLERY)
def test_without_its_header_a_dump_is_a_spec_whose_decisions_stay(file: str, step: str) -> None:
    first = compiled(file)
    text = dump_text(dict(first.stages)[step], step, first.spec, (ROOT / file).parent)
    plain = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("dump: "))
    again = read(file, plain)
    assert [code(k) for k in kernels(again)] == [code(k) for k in kernels(first)]


def test_frontend_is_an_ordinary_spec() -> None:
    for file in GALLERY:
        first = compiled(file)
        text = dump_text(first.frontend, None, first.spec)
        assert "dump:" not in text
        assert [code(k) for k in kernels(read(file, text))] == [code(k) for k in kernels(first)]

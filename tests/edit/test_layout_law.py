"""The law of `fmt`: it finds its own output in order, keeps every comment, and never changes what a spec says."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.edit.layout import Layout, lay_out
from pypto_spec.edit.same import same_tree
from pypto_spec.render.program import render_kernels
from pypto_spec.spec.load import Format, format_of, load
from pypto_spec.spec.reader import decode
from tests.convert.programs import bodies, spec
from tests.docs.samples import ALL
from tests.edit.noise import REMARK, noisy_yaml
from tests.robustness.mutants import mutants

SPECS = Path(__file__).resolve().parents[2] / "specs"
GALLERY = sorted(path for path in SPECS.rglob("*") if path.suffix in (".yaml", ".toml"))
ORIGINS = tuple(path.read_text(encoding="utf-8") for path in GALLERY if path.suffix == ".yaml")
PHASES = (Phase.explicit, Phase.generate)
"""Noise comes from one seed, which has nothing to shrink."""
LINE_COMMENT = re.compile(r"//.*")


def laid_out(text: str, format: Format = "yaml") -> str:
    """The layout of a text, which has the same data, and is its own layout."""
    source = Source(f"k.{format}", text)
    made = lay_out(source, format)
    assert not made.reason, f"{made.reason}\n{text}"
    assert same_tree(load(source, format), load(Source("k", made.text), format))
    assert lay_out(Source("k", made.text), format) == Layout(made.text)
    return made.text


def kernels(text: str, format: Format = "yaml") -> list[str]:
    """The code of a spec's kernels, without the lines of the spec that are quoted in it.

    A generated spec may be refused, mostly for want of memory: then the codes of what is found.
    """
    done = compile_source(Source(f"k.{format}", text), format=format)
    if done.program is None:
        return [finding.rule.code for finding in done.diagnostics]
    return [LINE_COMMENT.sub("", kernel.text) for kernel in render_kernels(done.program).kernels]


def check_noise(text: str, seed: int, rendered: bool) -> None:
    noisy, remarks = noisy_yaml(text, seed)
    assert same_tree(load(Source("k", text)), load(Source("k", noisy)))  # the noise is noise only
    made = laid_out(noisy)
    assert REMARK.findall(made) == remarks, noisy
    lines = made.split("\r\n" if "\r\n" in noisy else "\n")
    assert lines.pop() == "" and "\n" not in "".join(lines)
    assert not any(line != line.rstrip() for line in lines)
    assert not any(one == two == "" for one, two in pairwise(lines))
    if rendered:
        assert kernels(made) == kernels(text)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery_is_in_style(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert laid_out(text, format_of(path.name)) == text


def test_samples_of_the_documentation() -> None:
    count = 0
    for sample in ALL:
        if sample.spec is not None and sample.code is None:
            laid_out(sample.spec, "toml" if sample.kind == "toml" else "yaml")
            count += 1
    assert count > 40


@settings(max_examples=90, phases=PHASES)
@given(st.sampled_from(ORIGINS), st.integers(0, 1 << 32))
def test_noise_on_the_gallery(text: str, seed: int) -> None:
    check_noise(text, seed, rendered=False)


@settings(max_examples=60, phases=PHASES)
@given(bodies(), st.integers(0, 1 << 32))
def test_noise_on_generated_specs(lines: list[str], seed: int) -> None:
    check_noise(spec(lines), seed, rendered=seed % 8 == 0)


@pytest.mark.long
@settings(max_examples=1000, phases=PHASES)
@given(bodies(), st.integers(0, 1 << 32))
def test_noise_on_a_thousand_generated_specs(lines: list[str], seed: int) -> None:
    check_noise(spec(lines), seed, rendered=True)


COMPILED = tuple(text for text in ORIGINS if "\nvariants:" not in text)
SAMPLE = COMPILED[::9]


def test_the_gallery_compiles() -> None:
    assert all("__aicore__" in kernel for text in SAMPLE for kernel in kernels(text))


@pytest.mark.parametrize("number", range(len(SAMPLE)))
def test_kernels_stay(number: int) -> None:
    check_noise(SAMPLE[number], number, rendered=True)


@pytest.mark.long
@pytest.mark.parametrize("text", COMPILED)
def test_kernels_of_the_whole_gallery_stay(text: str) -> None:
    for seed in range(4):
        check_noise(text, seed, rendered=True)


def test_damaged_specs_are_refused_or_laid_out() -> None:
    done = 0
    for mutant in mutants(120):
        try:
            source = decode("k", mutant.data)
            made = lay_out(source, mutant.format)
        except CompileError:
            continue
        done += 1
        assert lay_out(Source("k", made.text), mutant.format).text == made.text
        assert same_tree(load(source, mutant.format), load(Source("k", made.text), mutant.format))
    assert done > 40

"""Every block of the documentation is run or compared: by the tests beside this one, or by this one."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver import check_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.golden.goldens import golden_test
from pypto_spec.golden.run import Outcome, Subject
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.render.program import render_kernels
from tests.docs.generated import BLOCK, pages
from tests.docs.samples import ALL, Sample

CHECKED = {"yaml", "toml", "console"}
"""Kinds that `test_samples.py` and `test_console.py` look after."""

SHOWN = {"python", "json", "lua", "elisp"}
"""Kinds that are of other programs: settings of editors, code of another project."""

PARSERS: dict[str, Callable[[str], object]] = {"python": ast.parse, "json": json.loads, "toml": tomllib.loads}

BESIDE = [s for s in ALL if s.named("beside") is not None]
MESSAGES = [s for s in ALL if s.named("message") is not None]


def spec_of(sample: Sample, file: str) -> str:
    """The text of a spec that stands on the same page."""
    return next(s.text for s in ALL if s.page == sample.page and s.file == file)


def golden_of(sample: Sample, kernel: str) -> Outcome:
    """What comes of the golden of the spec beside a kernel when this kernel runs instead of the compiler's."""
    file = sample.named("beside")
    assert file is not None
    text = spec_of(sample, file)
    done = compile_spec(Spec(Source(file, text), "yaml", text.encode()), keep_stages=True)
    assert done.program is not None
    rendered = render_kernels(done.program, None)
    (made,) = rendered.kernels
    library = compile_kernels([KernelSource(made.name, kernel)])
    return golden_test(Subject(done.frontend, done.program, rendered, library))


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_every_block_says_what_it_is(path: Path) -> None:
    if path.name == "ops.md":  # written by the registry as a whole, and compared with it
        return
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    opening = re.findall(r"^ *```([^\n]*)\n.*?^ *```$", text, re.MULTILINE | re.DOTALL)
    for info in opening:
        kind, *words = info.split() or [""]
        known = kind in CHECKED or (kind == "cpp" and "beside=" in info) or (kind in {"text", *SHOWN} and words)
        assert known, f"{path.name}: a block ```{info} is not run; see tests/docs/samples.py for what may stand there"
        if kind == "text":
            assert words == ["diagram"] or words[0].startswith("message="), f"{path.name}: ```{info}"
        if kind in SHOWN:
            assert words[0] == "shown:"
            assert len(words) > 1, f"{path.name}: `{kind} shown:` wants a reason behind it"
    assert len(opening) * 2 == len(re.findall(r"^ *```", text, re.MULTILINE))


@pytest.mark.parametrize("sample", [s for s in ALL if "shown:" in s.words and s.kind in PARSERS], ids=str)
def test_what_is_shown_can_be_read(sample: Sample) -> None:
    PARSERS[sample.kind](sample.text)


@pytest.mark.parametrize("sample", MESSAGES, ids=str)
def test_a_message_is_what_the_compiler_says(sample: Sample) -> None:
    file = sample.named("message")
    assert file is not None
    _, old, new, _ = sample.words[-1].split("/")
    text = spec_of(sample, file)
    assert text.count(old) == 1
    assert render(check_text(text.replace(old, new), file)).startswith(sample.text)


@pytest.mark.parametrize("sample", BESIDE, ids=str)
def test_a_kernel_by_hand_passes_the_golden_of_the_spec_beside_it(sample: Sample) -> None:
    assert golden_of(sample, sample.text).ok


@pytest.mark.parametrize("sample", BESIDE[:1], ids=str)
def test_a_kernel_by_hand_that_is_wrong_does_not_pass(sample: Sample) -> None:
    wait = "        WaitFlag<HardEvent::MTE2_V>(slot);\n"
    assert wait in sample.text
    assert not golden_of(sample, sample.text.replace(wait, "")).ok

"""Every call of the cube against the headers of the host model, and of the toolkits in PYPTO_SPEC_TOOLKITS."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_spec.ops.instructions import CALLS, FORMS
from pypto_spec.render.toolkit import find_toolkit
from pypto_spec.render.typecheck import typecheck
from tests.render.cube_kernel import every_call
from tests.render.test_typecheck import toolkit
from tests.render.test_typecheck_ops import FOLDERS, needs_toolkit

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def test_no_call_is_left_out() -> None:
    used = set(re.findall(r"\b([A-Z]\w+)(?:<[^()]*>)?\(", every_call().text))
    assert {form.split(".")[0] for form in FORMS if "." in form} | {"Mmad"} <= used & set(CALLS)


@needs_compiler
def test_the_host_model_has_every_call(tmp_path: Path) -> None:
    assert typecheck(every_call(), toolkit(tmp_path, "8.1")) == []


@needs_toolkit
@pytest.mark.parametrize("folder", FOLDERS or [""])
def test_real_headers_have_every_call(folder: str) -> None:
    assert typecheck(every_call(), find_toolkit(folder)) == []


@needs_toolkit
@pytest.mark.parametrize("folder", FOLDERS or [""])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("LoadData(a2, a1, MatrixParams<half>", "LoadData(a2, a1, MatrixParams<float>"),
        ("QuantMode_t::VDEQF16", "QuantMode_t::VDEQF17"),
        ("Mmad(ic, ia2, ib2, ibias2, MmadParams(", "Mmad(ic, ia2, ib2, ibias2, FixpipeParamsV220("),
    ],
)
def test_real_headers_refuse_what_is_wrong(folder: str, right: str, wrong: str) -> None:
    kernel = every_call()
    assert right in kernel.text
    found = typecheck(replace(kernel, text=kernel.text.replace(right, wrong, 1)), find_toolkit(folder))
    assert any(message.level == "error" for message in found)

"""A kernel of every operator and dtype against the headers of real toolkits, and the calls that kernels may hold.

The headers are not part of this repository: PYPTO_SPEC_TOOLKITS names folders of CANN toolkits (see CONTRIBUTING.md).
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pypto_spec.ops.instructions import CALLS
from pypto_spec.ops.support import no_form
from pypto_spec.render.model import RenderedKernel
from pypto_spec.render.toolkit import Toolkit, find_toolkit
from pypto_spec.render.typecheck import typecheck_all
from tests.golden.harness import Failure, make
from tests.golden.matrix import all_forms, form_cases
from tests.golden.op_cases import OPS

FOLDERS = [folder for folder in os.environ.get("PYPTO_SPEC_TOOLKITS", "").split(os.pathsep) if folder]
GROUPS = 8

needs_toolkit = pytest.mark.skipif(
    not FOLDERS, reason="PYPTO_SPEC_TOOLKITS names no CANN toolkits, which are not part of this repository"
)


@cache
def kernels(group: int) -> list[RenderedKernel]:
    """A kernel of each operator of the group, of each dtype: of whole tiles, a column, and tiles cut at run time."""
    found: list[RenderedKernel] = []
    for defn in list(OPS.values())[group::GROUPS]:
        for dtype, form in all_forms(defn):
            if form not in ("whole", "one column", "run-time rows", "extents") or no_form(defn, dtype, form):
                continue
            for case in form_cases(defn, dtype, form)[:1]:
                made = make(case)
                assert not isinstance(made, Failure), made
                found += made.rendered.kernels
    return found


@needs_toolkit
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("folder", FOLDERS or [""])
def test_real_headers_accept_every_op_and_dtype(folder: str, group: int) -> None:
    assert len(kernels(group)) > 50
    for kernel, messages in typecheck_all(kernels(group), find_toolkit(folder)):
        pytest.fail(f"{messages}\n{kernel.text}")


@needs_toolkit
@pytest.mark.parametrize("folder", FOLDERS or [""])
def test_real_headers_refuse_what_does_not_exist(folder: str) -> None:
    good = next(k for k in kernels(0) if "DataCopy(" in k.text)
    bad = replace(good, name="bad", text=good.text.replace("DataCopy(", "DataCopyTo("))
    ((kernel, messages),) = typecheck_all([good, bad], find_toolkit(folder))
    assert kernel is bad
    assert any(m.level == "error" and "DataCopyTo" in m.text for m in messages)


@needs_toolkit
@pytest.mark.parametrize("folder", FOLDERS or [""])
def test_every_call_is_declared_where_the_table_says(folder: str) -> None:
    toolkit = find_toolkit(folder)
    for call in CALLS.values():
        assert re.search(rf"\b{call.name}\b", _headers(toolkit, call.source)), (call.name, call.source)


def _headers(toolkit: Toolkit, source: str) -> str:
    names = (f"kernel_operator_{source}_intf.h", f"kernel_operator_{source}_intf_impl.h")
    found = {p for folder in toolkit.includes for name in names for p in Path(folder).glob(name)}
    return "".join(p.read_text(errors="replace") for p in found)


# --- without a toolkit ----------------------------------------------------------------------------------------------

STATEMENT = re.compile(r"\s*(\w+)(?:<[^()]*>)?\(")


def calls_of(kernel: RenderedKernel) -> set[str]:
    """The API calls of a kernel: how the lines that came of instructions begin."""
    lines = kernel.text.splitlines()
    found = set()
    for info in kernel.lines:
        if info.kind in ("vector", "copy", "state") and info.first in (0, info.line):
            match = STATEMENT.match(lines[info.line - 1])
            assert match is not None, lines[info.line - 1]
            found.add(match[1])
    return found


def test_every_call_has_a_source() -> None:
    for call in CALLS.values():
        assert re.fullmatch(r"(vec|data|set|dump)_[a-z_]+|proposal|mm|fixpipe", call.source), call.name


def test_kernels_hold_no_call_outside_the_table() -> None:
    used = {name for group in range(GROUPS) for kernel in kernels(group) for name in calls_of(kernel)}
    assert used <= set(CALLS)
    assert {"DataCopyPad", "Cast", "Brcb", "Gather", "WholeReduceMax", "Select"} <= used


def test_a_stray_call_is_seen() -> None:
    kernel = kernels(0)[0]
    assert "Stray" in calls_of(replace(kernel, text=kernel.text.replace("DataCopy(", "Stray(")))

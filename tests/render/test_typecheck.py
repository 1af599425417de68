"""Type checks against a toolkit; the toolkits here are tiny and made by the tests."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules.target import NO_TOOLKIT, TYPE_CHECK
from pypto_spec.render.model import RenderedKernel
from pypto_spec.render.program import render_kernels
from pypto_spec.render.toolkit import find_toolkit
from pypto_spec.render.typecheck import findings, parse, typecheck
from tests.render.programs import exp_pipelined, tail_rows
from tests.render.tools import ROOT

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

LAYOUTS = {
    "8.1": {
        "tools/tikicpulib/lib/include/tikicpulib.h": "",
        "tools/tikicpulib/lib/include/stub_fun.h": "",
        "include/securec.h": "",
        "compiler/ascendc/include/basic_api/kernel_operator.h": '#include "api.h"\n',
        "compiler/ascendc/include/basic_api/interface/api.h": "",
        "compiler/ascendc/include/highlevel_api/kernel_tiling/kernel_tiling.h": "",
    },
    "8.1 framework": {
        "tools/tikicpulib/lib/include/tikicpulib.h": "",
        "tools/tikicpulib/lib/include/stub_fun.h": "",
        "compiler/tikcpp/tikcfw/kernel_operator.h": '#include "api.h"\n',
        "compiler/tikcpp/tikcfw/interface/api.h": "",
        "compiler/ascendc/include/highlevel_api/kernel_tiling/kernel_tiling.h": "",
    },
    "newer": {
        "tools/tikicpulib/lib/include/tikicpulib.h": "#include <securec.h>\n#include <dlog_pub.h>\n",
        "tools/tikicpulib/lib/include/stub_fun.h": "",
        "aarch64-linux/asc/include/kernel_operator.h": '#include "basic_api/api.h"\n',
        "aarch64-linux/asc/include/basic_api/api.h": "",
        "aarch64-linux/include/kernel_tiling/kernel_tiling.h": "",
    },
}


def toolkit(root: Path, layout: str, without: str = "") -> Path:
    """A toolkit whose API is the host model's: rendered kernels compile against it."""
    for name, text in LAYOUTS[layout].items():
        if name.endswith(without) and without:
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name == "api.h":
            text = f'#include "{ROOT / "pypto_spec/host/include/kernel_operator.h"}"\n'
        path.write_text(text)
    return root


def kernel() -> RenderedKernel:
    return render_kernels(tail_rows()).kernels[0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_recognised(layout: str, tmp_path: Path) -> None:
    found = find_toolkit(toolkit(tmp_path, layout))
    assert found.layout == layout.split()[0]
    assert found.includes[0] == tmp_path / "tools/tikicpulib/lib/include"


def test_the_newer_layout_wins_over_its_old_links(tmp_path: Path) -> None:
    toolkit(tmp_path, "8.1")
    assert find_toolkit(toolkit(tmp_path, "newer")).layout == "newer"


def test_the_usual_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolkit(tmp_path / "latest", "8.1")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    assert find_toolkit().root == tmp_path / "latest"


@needs_compiler
@pytest.mark.parametrize("layout", LAYOUTS)
def test_kernels_are_accepted(layout: str, tmp_path: Path) -> None:
    toolkit(tmp_path, layout)
    for program in (exp_pipelined(), tail_rows()):
        assert typecheck(render_kernels(program).kernels[0], tmp_path) == []


@needs_compiler
def test_errors_lead_to_the_statement(tmp_path: Path) -> None:
    good = kernel()
    bad = replace(good, text=good.text.replace("Adds(r, r, eps, 64)", "Adds(r, r, nothing, 64)"))
    (message,) = typecheck(bad, toolkit(tmp_path, "8.1"))
    assert (message.level, message.src) == ("error", (21, 13))
    assert "nothing" in message.text
    (found,) = findings(bad, [message])
    assert found.rule is TYPE_CHECK
    assert found.primary.span.start == (21, 13)
    assert f"kernels/aiv/rowmax.cpp:{message.line}" in found.message


def test_errors_inside_headers_lead_to_the_line_that_needed_them() -> None:
    lines = kernel().lines
    number = next(info.line for info in lines if info.op == "row_max" and info.kind == "vector")
    output = f"""api.h: In instantiation of 'void AscendC::Max(T) [with T = int]':
rowmax.cpp:{number}:12:   required from here
api.h:10:5: error: static assertion failed: no such type
rowmax.cpp:3:1: warning: something
rowmax.cpp:3:1: warning: something
"""
    first, second = parse(output, "rowmax.cpp", lines)
    assert (first.level, first.line, first.src) == ("error", number, (21, 13))
    assert first.text == "static assertion failed: no such type (api.h:10)"
    assert (second.level, second.line, second.src) == ("warning", 3, None)


@pytest.mark.parametrize("header", ["tikicpulib.h", "stub_fun.h", "kernel_tiling.h"])
def test_a_runtime_without_the_tools_is_a_diagnostic(header: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        find_toolkit(toolkit(tmp_path, "newer", without=header))
    (found,) = caught.value.diagnostics
    assert found.rule is NO_TOOLKIT
    assert header in found.message
    assert found.helps


def test_no_toolkit_is_a_diagnostic(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        typecheck(kernel(), tmp_path / "nowhere")
    assert caught.value.diagnostics[0].rule is NO_TOOLKIT
    assert "nowhere" in caught.value.diagnostics[0].message


def test_no_compiler_is_a_diagnostic(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        typecheck(kernel(), toolkit(tmp_path, "8.1"), compiler="no-such-compiler")
    (found,) = caught.value.diagnostics
    assert found.rule is NO_TOOLKIT
    assert any("apt-get install g++" in text for text in found.helps)

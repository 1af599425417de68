"""Launcher, build projects, binding and manifest; C++ compiled against stubs, both ways of launching run."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.nodes import Branch, Condition, Grid, Loop, Program
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Access
from pypto_spec.render.tree import render_program
from tests.render import programs
from tests.render.forms import forms
from tests.render.programs import at, exp_pipelined, region, tail_rows, through_gm
from tests.render.tools import STUBS, clang_format, compile_and_run

PROGRAMS = {"exp_pipelined": exp_pipelined, "tail_rows": tail_rows, "forms": forms, "through_gm": through_gm}
CALLS = {
    "exp_pipelined": ("exp_pipelined_launch(p, p, p)", "exp_pipelined_exp<1,stream> ptr ptr\n"),
    "tail_rows": ("tail_rows_launch(p, p, 0.5f, 1000, p)", "rowmax<40,stream> ptr ptr 0.5 1000\n"),
    "forms": (
        "forms_launch(p, p, 0.5f, 7, 2.0f, 1.00390625f, 30, p)",
        "".join(f"forms<30,stream> ptr ptr 0.5 7 2 16256 30 {k}\n" for k in range(4)),
    ),
    "through_gm": ("through_gm_launch(p, p, 9, p, p)", "up<1,stream> ptr ptr ptr 9\ndown<1,stream> ptr ptr ptr 9\n"),
}


def write(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_files_of_a_program() -> None:
    assert list(render_program(exp_pipelined())) == [
        "binding/binding.cpp",
        "binding/exp_pipelined_op.py",
        "cmake/asc/CMakeLists.txt",
        "cmake/asc/exp_pipelined_exp.asc",
        "cmake/cann81/CMakeLists.txt",
        "cmake/cann81/device.cpp",
        "cmake/torch.cmake",
        "kernels/aiv/exp_pipelined_exp.cpp",
        "launcher/launch.cpp",
        "launcher/launch.h",
        "manifest.json",
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_of_the_host_side(name: str, text_snapshot: SnapshotAssertion) -> None:
    files = render_program(PROGRAMS[name]())
    assert "\n".join(f"==== {n}\n{t}" for n, t in files.items() if "kernels/" not in n) == text_snapshot


@pytest.mark.parametrize("name", PROGRAMS)
def test_clang_format_leaves_the_host_side_alone(name: str) -> None:
    for path, text in render_program(PROGRAMS[name]()).items():
        if path.endswith((".h", ".cpp")):
            assert clang_format(text, path) == text, path


@pytest.mark.parametrize("way", ["cann81", "asc"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_launches_run_in_order(name: str, way: str, tmp_path: Path) -> None:
    files = render_program(PROGRAMS[name]())
    write(files, tmp_path)
    call, expected = CALLS[name]
    kernels = [path for path in files if path.startswith("kernels/")]
    if way == "cann81":
        for path in kernels:
            stub = f'#pragma once\n#include "launches.h"\nKERNEL({Path(path).stem})\n'
            (tmp_path / f"aclrtlaunch_{Path(path).stem}.h").write_text(stub)
        device = [tmp_path / "cmake/cann81/device.cpp"]
    else:
        device = []
        for path in kernels:
            stem = Path(path).stem
            text = files[f"cmake/asc/{stem}.asc"]
            assert f'#include "../../{path}"' in text
            text = re.sub(r"#include .*", f'#include "launches.h"\nKERNEL({stem})', text)
            text = re.sub(r"(\w+)<<<blocks, nullptr, stream>>>\(", r"aclrtlaunch_\1(blocks, stream, ", text)
            device.append(tmp_path / f"{stem}.cpp")
            device[-1].write_text(text.replace("static_cast<uint8_t*>", "static_cast<void*>"))
    main = tmp_path / "main.cpp"
    main.write_text(
        '#include "launch.h"\n#include "acl/acl.h"\n'
        'extern "C" aclError aclrtGetDevice(int32_t* id) { *id = 0; return 0; }\n'
        'extern "C" aclError aclGetDeviceCapability(uint32_t, aclDeviceInfo, int64_t* n) { *n = 40; return 0; }\n'
        f"int main() {{\n    int x = 0;\n    void* p = &x;\n    return {call};\n}}\n"
    )
    out = compile_and_run(
        tmp_path, [main, tmp_path / "launcher/launch.cpp", *device], [tmp_path / "launcher", tmp_path, STUBS]
    )
    assert out == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_bindings_compile(name: str, tmp_path: Path) -> None:
    files = render_program(PROGRAMS[name]())
    write(files, tmp_path)
    stub = tmp_path / "stub.cpp"
    declared = re.sub(r"//.*", "", files["launcher/launch.h"])
    functions = re.findall(r"u?int\d+_t \w+\([^;]*\);", declared)
    assert functions
    stubs = [re.sub(r" (\w+)(?=[,)])", "", function)[:-1] + " { return 0; }\n" for function in functions]
    stub.write_text(f'#include "launcher/launch.h"\n{"".join(stubs)}')
    main = tmp_path / "main.cpp"
    main.write_text("int main() {}\n")
    compile_and_run(tmp_path, [main, stub, tmp_path / "binding/binding.cpp"], [tmp_path, STUBS])
    compile(files[next(f for f in files if f.endswith(".py"))], "module.py", "exec")


def test_created_tensors_stand_in_one_workspace() -> None:
    files = render_program(through_gm())
    made = json.loads(files["manifest.json"])
    assert made["workspace_bytes"] == "((M * 400 + 511) // 512) * 512 + 32768"
    assert made["created"] == [
        {"name": "workspace", "dtype": "fp32", "shape": ["M", 100], "workspace_offset": 0, "bytes": "M * 400"},
        {"name": "left", "dtype": "fp32", "shape": [64, 128], "workspace_offset": "((M * 400 + 511) // 512) * 512",
         "bytes": 32768},
    ]  # fmt: skip
    assert [a["name"] for a in made["arguments"]] == ["x", "out", "M"]
    assert "uint64_t through_gm_workspace_bytes(int64_t M);" in files["launcher/launch.h"]
    launch = files["launcher/launch.cpp"]
    assert "void* workspace_v = workspace;" in launch
    assert "unused" not in launch


def test_each_core_is_asked_for_its_number(tmp_path: Path) -> None:
    """A kernel of the cube takes cube cores where its blocks are `auto`, and is launched like any other."""
    index, blocks = Sym("b", "block", 0, None), Sym("num_blocks()", "blocks", 1, None)
    made = through_gm()
    up, down = regions(made.body)
    grids = [
        Grid(kind="spmd", index=index, count="auto", blocks_symbol=blocks, body=(node,), loc=at(9))
        for node in (replace(up, core="aic"), down)
    ]
    made = replace(made, body=tuple(grids))
    files = render_program(made)
    write(files, tmp_path)
    for name in ("up", "down"):
        (tmp_path / f"aclrtlaunch_{name}.h").write_text(f'#pragma once\n#include "launches.h"\nKERNEL({name})\n')
    main = tmp_path / "main.cpp"
    main.write_text(
        '#include "launch.h"\n#include "acl/acl.h"\n'
        'extern "C" aclError aclrtGetDevice(int32_t* id) { *id = 0; return 0; }\n'
        'extern "C" aclError aclGetDeviceCapability(uint32_t, aclDeviceInfo what, int64_t* n) {\n'
        "    *n = what == ACL_DEVICE_INFO_AI_CORE_NUM ? 20 : 40;\n    return 0;\n}\n"
        "int main() {\n    int x = 0;\n    void* p = &x;\n    return through_gm_launch(p, p, 9, p, p);\n}\n"
    )
    sources = [main, tmp_path / "launcher/launch.cpp", tmp_path / "cmake/cann81/device.cpp"]
    out = compile_and_run(tmp_path, sources, [tmp_path / "launcher", tmp_path, STUBS])
    assert out == "up<20,stream> ptr ptr ptr 9\ndown<40,stream> ptr ptr ptr 9\n"
    assert "KERNEL_TYPE_AIC_ONLY" in files["kernels/aic/up.cpp"]


def _host_control() -> Program:
    a, out = programs.tensor("a", 64, 128), programs.tensor("error", 64, 128, access=Access.OUT)
    t = programs.tile("t.1", 64, 128)
    index, dim = Sym("k", "loop", 0, 3), Sym("N", "dim", 1, 9)
    first = region("first", programs.load(t, a, sym(index), 10), programs.store(t, out, 0, 11), kernel="first")
    second = region("second", programs.load(t, a, 0, 12), programs.store(t, out, 0, 13), kernel="Second")
    third = region("third", programs.load(t, a, 0, 12), programs.store(t, out, 0, 13), kernel="second")
    branch = Branch(condition=Condition("<", sym(index), sym(dim)), then=(second,), other=(third,), loc=at(9))
    loop = Loop(index=index, start=1, stop=4, step=2, body=(first, branch), loc=at(8))
    return programs.program("control", [a, out], [loop], [programs.buffer("vec.0", 32768, 0)], dims=[dim])


def test_host_loops_and_branches(text_snapshot: SnapshotAssertion) -> None:
    files = render_program(_host_control())
    assert files["launcher/launch.cpp"] == text_snapshot
    launches = json.loads(files["manifest.json"])["launches"]
    assert launches == [
        {
            "for": "k",
            "range": [1, 4, 2],
            "line": 8,
            "body": [
                {"kernel": "first", "line": 12},
                {
                    "if": "k < N",
                    "line": 9,
                    "then": [{"kernel": "Second", "line": 12}],
                    "else": [{"kernel": "second", "line": 12}],
                },
            ],
        }
    ]


def test_manifest() -> None:
    files = render_program(tail_rows(), spec_sha256="ab" * 32)
    made = json.loads(files["manifest.json"])
    assert list(made) == [
        "manifest", "name", "about", "spec", "pypto_spec", "arguments", "kernels", "launches", "launch_function",
        "workspace_bytes", "debug",
    ]  # fmt: skip
    assert made["spec"] == {"file": "kernel.yaml", "sha256": "ab" * 32}
    assert made["arguments"][0] == {
        "name": "x", "kind": "tensor", "dtype": "fp32", "shape": ["M", 256], "access": "in", "cpp": "x",
        "ctype": "void*",
    }  # fmt: skip
    (kernel,) = made["kernels"]
    assert (kernel["name"], kernel["core"], kernel["blocks"]) == ("rowmax", "aiv", "auto")
    assert kernel["on_chip_bytes"] == {"vec": 147712}
    assert kernel["sha256"] == hashlib.sha256(files[kernel["file"]].encode()).hexdigest()
    assert made["workspace_bytes"] == 0


def test_toolchains_add_no_sync_of_their_own() -> None:
    files = render_program(exp_pipelined())
    for project in ("cann81", "asc"):
        assert "--cce-auto-sync=off" in files[f"cmake/{project}/CMakeLists.txt"]


def test_nothing_depends_on_the_machine() -> None:
    files = render_program(replace(exp_pipelined(), loc=at(1)))
    assert files == render_program(exp_pipelined())
    assert not any("/home" in text or "/tmp" in text for text in files.values())

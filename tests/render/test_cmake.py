"""The generated build projects configure and build; both toolkits are stand-ins made here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pypto_spec.render.tree import render_program
from tests.render.programs import tail_rows
from tests.render.test_tree import write
from tests.render.tools import STUBS

pytestmark = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("g++") is None, reason="cmake or g++ is not installed"
)

CANN81 = """
function(ascendc_library name)
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE ${CMAKE_BINARY_DIR})
  list(GET ARGN 1 first)
  if(NOT EXISTS ${first})
    message(FATAL_ERROR "no kernel ${first}")
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/aclrtlaunch_rowmax.h "#include \\"launches.h\\"\\nKERNEL(rowmax)\\n")
endfunction()
function(ascendc_compile_options name)
  if(NOT "--cce-auto-sync=off" IN_LIST ARGN)
    message(FATAL_ERROR "auto sync is on")
  endif()
endfunction()
include_directories(@STUBS@)
"""

# A language ASC whose compiler is a script that checks the options and makes an empty object.
FIND_ASC = "list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/modules)\ninclude_directories(@STUBS@)\n"
MODULES = {
    "CMakeDetermineASCCompiler.cmake": """
set(CMAKE_ASC_COMPILER ${CMAKE_CURRENT_LIST_DIR}/compile.sh)
set(CMAKE_ASC_COMPILER_ENV_VAR "")
set(made ${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake)
configure_file(${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in ${made} @ONLY)
""",
    "CMakeASCCompiler.cmake.in": """
set(CMAKE_ASC_COMPILER "@CMAKE_ASC_COMPILER@")
set(CMAKE_ASC_COMPILER_LOADED 1)
set(CMAKE_ASC_SOURCE_FILE_EXTENSIONS asc)
set(CMAKE_ASC_OUTPUT_EXTENSION .o)
set(CMAKE_ASC_LINKER_PREFERENCE 0)
""",
    "CMakeASCInformation.cmake": """
set(CMAKE_ASC_COMPILE_OBJECT "<CMAKE_ASC_COMPILER> <FLAGS> -o <OBJECT> -c <SOURCE>")
set(CMAKE_ASC_CREATE_SHARED_LIBRARY "")
""",
    "CMakeTestASCCompiler.cmake": "set(CMAKE_ASC_COMPILER_WORKS 1)\n",
    "compile.sh": """#!/bin/sh
case "$*" in *--npu-arch=dav-2201*--cce-auto-sync=off*) ;; *) echo "wrong options: $*"; exit 1;; esac
while [ "$1" != -o ]; do shift; done
echo | g++ -fPIC -x c++ -c - -o "$2"
""",
}


def cmake(*args: str) -> None:
    done = subprocess.run(["cmake", *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_cann_81(tmp_path: Path) -> None:
    write(render_program(tail_rows()), tmp_path / "out")
    home = tmp_path / "cann" / "tools" / "tikcpp" / "ascendc_kernel_cmake"
    write({"ascendc.cmake": CANN81.replace("@STUBS@", str(STUBS))}, home)
    project = tmp_path / "out" / "cmake" / "cann81"
    cmake("-S", str(project), "-B", str(tmp_path / "b"), f"-DASCEND_CANN_PACKAGE_PATH={tmp_path / 'cann'}")
    cmake("--build", str(tmp_path / "b"))
    assert (tmp_path / "b" / "libtail_rows.so").is_file()


def test_newer_toolkits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(render_program(tail_rows()), tmp_path / "out")
    home = tmp_path / "cann"
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    write({"asc-config.cmake": FIND_ASC.replace("@STUBS@", str(STUBS))}, home / "cmake")
    write(MODULES, home / "cmake" / "modules")
    (home / "cmake" / "modules" / "compile.sh").chmod(0o755)
    (home / "lib64").mkdir()
    subprocess.run(
        ["g++", "-shared", "-o", str(home / "lib64" / "libascendcl.so"), "-x", "c++", "/dev/null"], check=True
    )
    project = tmp_path / "out" / "cmake" / "asc"
    cmake("-S", str(project), "-B", str(tmp_path / "b"), f"-DASC_DIR={home / 'cmake'}")
    cmake("--build", str(tmp_path / "b"))
    assert (tmp_path / "b" / "libtail_rows.so").is_file()

"""Type-checking a rendered kernel against the real headers of a toolkit, with the compiler of this machine.

Accepted is necessary, not sufficient: most limits on dtypes, alignment and ranges are run-time assertions there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pypto_spec.diagnostics.model import CompileError, Diagnostic, diagnose
from pypto_spec.diagnostics.rules.target import NO_TOOLKIT, TYPE_CHECK
from pypto_spec.diagnostics.span import NOWHERE, Source, Span
from pypto_spec.records import dataclass
from pypto_spec.render.model import LineInfo, RenderedKernel
from pypto_spec.render.toolkit import Toolkit, find_toolkit

DEFINES = (
    "__CCE_AICORE__=220",
    "__DAV_C220__",
    "__NPU_ARCH__=2201",
    "__CCE_KT_TEST__=1",
    "ASCENDC_CPU_DEBUG=1",
    "ASCENDC_DEBUG=1",
)
"""What makes the headers declare the API of dav-2201 for a host compiler."""

_FLAGS = ("-std=c++17", "-fsyntax-only", "-Werror=narrowing", "-fmax-errors=20", "-fno-diagnostics-show-caret")
_MESSAGE = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?P<level>error|warning|fatal error): (?P<text>.*)")
_REQUIRED = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)?\s+(?:required from|in instantiation of)")
_CONTEXT = re.compile(r"[^:\n]+: In (?:instantiation|substitution|function|member|static|constructor)")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the compiler: the kernel line it leads to (0: none) and that line's statement."""

    level: Literal["error", "warning"]
    text: str
    line: int
    info: LineInfo | None

    @property
    def src(self) -> tuple[int, int] | None:
        """Line and column of the statement in the spec."""
        return self.info.src if self.info is not None else None


def typecheck(
    kernel: RenderedKernel,
    cann_dir: str | os.PathLike[str] | Toolkit | None = None,
    *,
    compiler: str | None = None,
) -> list[Message]:
    """What the compiler says about a kernel; empty means accepted. Raises CompileError where it cannot be asked."""
    toolkit = cann_dir if isinstance(cann_dir, Toolkit) else find_toolkit(cann_dir)
    done = _ask(kernel.text, kernel.name, toolkit, compiler)
    found = parse(done.stderr, f"{kernel.name}.cpp", kernel.lines)
    if done.returncode != 0 and not any(m.level == "error" for m in found):
        last = done.stderr.strip().splitlines()[-1:] or [f"the compiler failed with status {done.returncode}"]
        found.append(Message("error", last[0], 0, None))
    return found


def typecheck_all(
    kernels: Sequence[RenderedKernel], toolkit: Toolkit, *, compiler: str | None = None
) -> Iterator[tuple[RenderedKernel, list[Message]]]:
    """The kernels that the compiler says something about, with that; many are compiled at a time.

    Reading the headers takes seconds and a kernel milliseconds. Where a batch is not accepted its halves are asked.
    """
    if len(kernels) == 1:
        found = typecheck(kernels[0], toolkit, compiler=compiler)
        if found:
            yield kernels[0], found
    elif kernels:
        parts = ['#include "kernel_operator.h"']
        for number, kernel in enumerate(kernels):
            parts += [f"namespace kernel_{number} {{", kernel.text, "}"]
        done = _ask("\n".join([*parts, ""]), "batch", toolkit, compiler)
        if done.returncode != 0 or _MESSAGE.search(done.stderr):
            half = len(kernels) // 2
            yield from typecheck_all(kernels[:half], toolkit, compiler=compiler)
            yield from typecheck_all(kernels[half:], toolkit, compiler=compiler)


def _ask(text: str, name: str, toolkit: Toolkit, compiler: str | None) -> subprocess.CompletedProcess[str]:
    """Compile a file for its messages."""
    program = compiler or os.environ.get("CXX", "g++")
    if shutil.which(program) is None:
        where = Span(Source("--typecheck", ""), 1, 1, 1, 1)
        message = f"the type check needs a C++17 compiler, and `{program}` was not found"
        helps = ["on Debian and Ubuntu: apt-get install g++", "or name another compiler in the variable CXX"]
        raise CompileError([diagnose(NO_TOOLKIT, where, message, helps=helps)])
    with tempfile.TemporaryDirectory(prefix="pypto-spec-") as folder:
        path = Path(folder, f"{name}.cpp")
        path.write_text(text, encoding="utf-8", newline="\n")
        includes = [*toolkit.includes, *stand_ins(toolkit, Path(folder))]
        command = [program, *_FLAGS, *(f"-D{d}" for d in DEFINES)]
        for include in includes:
            command += ["-isystem", os.fspath(include.resolve())]
        command += ["-include", "tikicpulib.h", path.name]
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip


def parse(output: str, file: str, lines: Sequence[LineInfo]) -> list[Message]:
    """The messages in a compiler's output; one inside a header is led back to the kernel line that needed it."""
    found: list[Message] = []
    needed = 0
    for text in output.splitlines():
        required = _REQUIRED.match(text)
        message = _MESSAGE.match(text)
        if required is not None:
            if required["file"] == file:
                needed = int(required["line"])
        elif message is not None:
            inside = message["file"] == file
            line = int(message["line"]) if inside else needed
            info = lines[line - 1] if 0 < line <= len(lines) else None
            said = message["text"] if inside else f"{message['text']} ({Path(message['file']).name}:{message['line']})"
            made = Message("warning" if message["level"] == "warning" else "error", said, line, info)
            if made not in found:
                found.append(made)
            needed = 0
        elif _CONTEXT.match(text):
            needed = 0
    led = any(m.line and m.level == "error" for m in found)
    return [m for m in found if m.line or not led]  # the others explain candidates of the same call


def findings(kernel: RenderedKernel, messages: Sequence[Message]) -> list[Diagnostic]:
    """Compiler errors as diagnostics at the statements of the spec."""
    made: list[Diagnostic] = []
    for message in messages:
        if message.level != "error":
            continue
        loc = message.info.loc if message.info is not None else None
        where = f"{kernel.path}:{message.line}" if message.line else kernel.path
        notes = [f"the kernel's line: {kernel.text.splitlines()[message.line - 1].strip()}"] if message.line else []
        made.append(
            diagnose(
                TYPE_CHECK,
                loc.span if loc is not None else NOWHERE,
                f"{where}: {message.text}",
                label="rendered from this statement" if loc is not None else "",
                notes=[*notes, "a kernel that does not compile is a bug of the compiler, not of the spec"],
                helps=["please report it with the spec and the toolkit's version"],
            )
        )
    return made


def stand_ins(toolkit: Toolkit, folder: Path) -> list[Path]:
    """Small headers in place of two that some packages leave out; only those that are missing."""
    wanted = {name: text for name, text in _STAND_INS.items() if not _present(toolkit, name)}
    for name, text in wanted.items():
        path = folder / "standin" / "inc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [folder / "standin" / "inc"] if wanted else []


def _present(toolkit: Toolkit, name: str) -> bool:
    spots = (name, f"../{name}", f"../pkg_inc/base/{name}")
    return any((folder / spot).is_file() for folder in toolkit.includes for spot in spots)


_STAND_INS = {
    "securec.h": """#pragma once
#include <cstddef>
#include <cstdio>
#include <cstring>
typedef int errno_t;
#define EOK 0
inline errno_t memcpy_s(void* to, size_t room, const void* from, size_t count) {
    return count > room ? 1 : (std::memcpy(to, from, count), EOK);
}
inline errno_t memset_s(void* to, size_t room, int value, size_t count) {
    return count > room ? 1 : (std::memset(to, value, count), EOK);
}
inline errno_t strcpy_s(char* to, size_t room, const char* from) {
    return std::strlen(from) >= room ? 1 : (std::strcpy(to, from), EOK);
}
template <class... A> int snprintf_s(char* to, size_t room, size_t, const char* form, A... args) {
    return std::snprintf(to, room, form, args...);
}
template <class... A> int sprintf_s(char* to, size_t room, const char* form, A... args) {
    return std::snprintf(to, room, form, args...);
}
""",
    "dlog_pub.h": """#pragma once
enum { ASCENDCKERNEL = 0, DLOG_DEBUG = 0, DLOG_INFO = 1, DLOG_WARN = 2, DLOG_ERROR = 3 };
#define dlog_error(...) ((void)0)
#define dlog_warn(...) ((void)0)
#define dlog_info(...) ((void)0)
#define dlog_debug(...) ((void)0)
""",
}

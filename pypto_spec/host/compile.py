"""Compile rendered kernels for the CPU: many kernels in one shared library, cached by content.

Two things are compiled. The engine, once for a version of its sources; and batches of kernels against thin headers.
Both land in a cache folder under names made of their content, written beside and moved into place, so that processes
running at the same time can share the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pypto_spec.host.run import HostLibrary, LoadedKernel, load_kernels

_HERE = Path(__file__).resolve().parent
_INCLUDE = _HERE / "include"
_ENGINE = _HERE / "engine"

# A kernel only calls the engine, which does the arithmetic and gets -O2. Optimising a thousand calls takes g++ ten
# times as long as translating them.
_KERNEL_FLAGS = (
    "-std=c++17",
    "-O0",
    "-fPIC",
    "-fno-builtin",
    "-fno-exceptions",
    "-fno-strict-aliasing",  # rendered helpers build values from bits through pointers
    "-fvisibility=hidden",
    "-fsanitize-coverage=trace-pc",
    "-w",
)
# No fortified longjmp: a fault inside a kernel leaves its stack on purpose.
_ENGINE_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-fno-math-errno", "-pthread", "-U_FORTIFY_SOURCE")

LOCKS = 64
"""Lock files of a cache folder; they are never removed, so there are not as many as things to build."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class CompilerMissingError(RuntimeError):
    """No C++ compiler on this machine."""

    def __init__(self, program: str) -> None:
        super().__init__(
            f"the host model needs a C++17 compiler and '{program}' was not found; "
            "on Debian and Ubuntu: apt-get install g++ (or name another compiler in the variable CXX)"
        )


class MachineError(RuntimeError):
    """This machine did not let a kernel be compiled: no space, no rights, a compiler that was killed."""


class CompileError(RuntimeError):
    """The C++ compiler refused a kernel; the text holds its messages with the kernel's own line numbers."""


@dataclass(frozen=True)
class KernelSource:
    """One rendered kernel file; ``name`` is its entry symbol."""

    name: str
    text: str

    def key(self) -> str:
        return _digest([self.name, self.text])


def _digest(parts: Sequence[str | bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def default_cache() -> Path:
    """``$PYPTO_SPEC_CACHE/host``, else the user's cache folder."""
    chosen = os.environ.get("PYPTO_SPEC_CACHE")
    if chosen:
        return Path(chosen) / "host"
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "pypto-spec" / "host"


@functools.cache
def _compiler(program: str) -> tuple[str, str]:
    """Absolute path and version of the compiler."""
    path = shutil.which(program)
    if path is None:
        raise CompilerMissingError(program)
    version = subprocess.run([path, "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=False)
    return path, version.stdout


def _program() -> str:
    return os.environ.get("CXX", "g++")


@functools.cache
def _sources() -> tuple[tuple[str, bytes], ...]:
    found = []
    for folder in (_INCLUDE, _ENGINE):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".h", ".cpp"}:
                found.append((path.relative_to(_HERE).as_posix(), path.read_bytes()))
    return tuple(found)


def _engine_key(version: str) -> str:
    parts: list[str | bytes] = [version, *_ENGINE_FLAGS, *_KERNEL_FLAGS]
    for name, data in _sources():
        parts += [name, data]
    return _digest(parts)


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """One build of ``target`` at a time: test workers started together would all compile the same thing.

    Builds of different things run side by side, but for those that share one of a few lock files by chance.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    number = int(_digest([target.name]), 16) % LOCKS
    with (target.parent / f".lock-{number}").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A temporary folder on the same file system as ``target``, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_OF_THE_MACHINE = re.compile(
    "No space left on device|Disk quota exceeded|Read-only file system|File too large|File size limit exceeded"
    "|[Cc]annot allocate memory|out of memory|signal terminated program|Killed"
)
"""What a compiler says when the machine is at fault, not the text."""


def _invoke(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    reason = _OF_THE_MACHINE.search(done.stderr)
    if done.returncode < 0 or (done.returncode != 0 and reason is not None):
        said = reason[0] if reason is not None else f"killed by signal {-done.returncode}"
        raise MachineError(f"the C++ compiler could not compile {what}: {said}; free some memory and disk space")
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise CompileError(f"the C++ compiler refused {what}:\n" + "\n".join(lines[:40]))


def _build_engine(cache: Path) -> Path:
    compiler, version = _compiler(_program())
    target = cache / f"libpypto_host_{_engine_key(version)}.so"
    if target.exists():
        return target
    units = sorted(_ENGINE.glob("*.cpp"))
    with _locked(target), _beside(target) as folder:
        if target.exists():
            return target

        def unit(path: Path) -> str:
            output = str(folder / f"{path.stem}.o")
            _invoke([compiler, *_ENGINE_FLAGS, "-c", str(path), "-o", output], f"the host model ({path.name})")
            return output

        with ThreadPoolExecutor(max_workers=2) as pool:
            objects = list(pool.map(unit, units))
        built = folder / target.name
        _invoke(
            [compiler, "-shared", "-pthread", f"-Wl,-soname,{target.name}", *objects, "-o", str(built)],
            "the host model",
        )
        built.replace(target)
    return target


def _unit(kernels: Sequence[KernelSource]) -> str:
    """One translation unit: every kernel in a namespace of its own, with its own file name and line numbers."""
    lines = ['#include "kernel_operator.h"', '#include "pypto_host/registry.h"']
    for index, kernel in enumerate(kernels):
        lines += [
            f"namespace pypto_kernel_{index} {{",
            f'#line 1 "{kernel.name}.cpp"',
            kernel.text.rstrip("\n"),
            '\n#line 1 "registry"',
            "}",
        ]
    lines.append("static const pypto_host::KernelEntry pypto_entries[] = {")
    for index, kernel in enumerate(kernels):
        function = f"pypto_kernel_{index}::{kernel.name}"
        trampoline = f"pypto_host::Trampoline<decltype({function})>"
        lines.append(
            f'    {{"{kernel.name}", "{kernel.key()}", {trampoline}::signature, &{trampoline}::Invoke<&{function}>}},'
        )
    lines += [
        "};",
        'extern "C" __attribute__((visibility("default"))) const pypto_host::KernelEntry* '
        "pypto_host_kernels(int64_t* count)",
        "{",
        f"    *count = {len(kernels)};",
        "    return pypto_entries;",
        "}",
        "",
    ]
    return "\n".join(lines)


def _build_batch(kernels: Sequence[KernelSource], engine: Path, folder: Path) -> Path:
    compiler, _ = _compiler(_program())
    target = folder / f"batch-{_digest([kernel.key() for kernel in kernels])}.so"
    if target.exists():
        return target
    with _locked(target), _beside(target) as temporary:
        if target.exists():
            return target
        source = temporary / "batch.cpp"
        source.write_text(_unit(kernels))
        built = temporary / target.name
        command = [compiler, *_KERNEL_FLAGS, f"-I{_INCLUDE}", "-shared", str(source), str(engine)]
        command += [f"-Wl,-rpath,{engine.parent}", "-Wl,-z,defs", "-o", str(built)]
        names = ", ".join(kernel.name for kernel in kernels[:4]) + (", ..." if len(kernels) > 4 else "")
        _invoke(command, f"kernel {names}" if len(kernels) == 1 else f"one of the kernels {names}")
        built.replace(target)
    return target


def _link(name: Path, target: Path) -> None:
    """Make ``name`` point to ``target``, replacing what is there."""
    temporary = name.with_name(f".{name.name}-{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    temporary.symlink_to(target.name)
    temporary.replace(name)


def compile_kernels(kernels: Sequence[KernelSource], *, cache: Path | None = None) -> HostLibrary:
    """Compile the kernels that the cache does not hold yet, in one go, and load all of them."""
    names = [kernel.name for kernel in kernels]
    for name in names:
        if not _IDENTIFIER.match(name):
            raise ValueError(f"'{name}' is not a C++ identifier")
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"kernel names must differ within a batch: {', '.join(twice)}")
    where = cache if cache is not None else default_cache()
    try:
        return _compiled(kernels, where)
    except OSError as error:
        raise MachineError(
            f"compiled kernels cannot be kept in {where}: {error.strerror or error}; free some space there, or name "
            "another folder in the variable XDG_CACHE_HOME"
        ) from error


def _compiled(kernels: Sequence[KernelSource], where: Path) -> HostLibrary:
    engine = _build_engine(where.resolve())
    folder = engine.parent / engine.stem.removeprefix("lib")
    missing = [kernel for kernel in kernels if not (folder / f"{kernel.key()}.so").exists()]
    if missing:
        target = _build_batch(missing, engine, folder)
        for kernel in missing:
            _link(folder / f"{kernel.key()}.so", target)
    loaded: dict[str, LoadedKernel] = {}
    for kernel in kernels:
        library = (folder / f"{kernel.key()}.so").resolve()
        loaded[kernel.name] = load_kernels(engine, library)[kernel.key()]
    return HostLibrary(engine, loaded)

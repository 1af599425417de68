"""Run compiled kernels on the host model and report what they did wrong.

Buffers are passed as they are (bytearray, memoryview, ctypes array, or an address with a size) and are read and written
in place. A faulty kernel yields findings; it does not raise and does not bring the process down.
"""

from __future__ import annotations

import ctypes
import functools
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

# In the order of the engine's Dtype.
DTYPES = ("fp16", "bf16", "fp32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

# Letter of a by-value parameter -> (dtype name, struct format).
_SCALARS: Mapping[str, tuple[str, str]] = {
    "i": ("int32", "<i"),
    "u": ("uint32", "<I"),
    "l": ("int64", "<q"),
    "m": ("uint64", "<Q"),
    "s": ("int16", "<h"),
    "S": ("uint16", "<H"),
    "b": ("bool", "<?"),
    "f": ("fp32", "<f"),
    "d": ("fp64", "<d"),
    "h": ("fp16", "<e"),
    "e": ("bf16", ""),
}


@dataclass(frozen=True)
class ArgSpec:
    """A kernel parameter as its compiled signature states it; the dtype of a GM parameter is not in the signature."""

    kind: Literal["gm", "scalar"]
    dtype: str


@dataclass(frozen=True)
class GmArg:
    """A tensor in global memory: ``data`` is a writable buffer, or an address together with ``nbytes``.

    In a run for its timing alone ``data`` may be None, with ``nbytes``: nothing is read or written.
    """

    data: Any
    dtype: str
    nbytes: int | None = None
    readonly: bool = False


@dataclass(frozen=True)
class ScalarArg:
    """A value passed by value; its type is that of the kernel's parameter."""

    value: int | float | bool


Arg = GmArg | ScalarArg


@dataclass(frozen=True)
class Finding:
    """One fault: ``lines`` are lines of the kernel's file, ``block`` the block that met it first."""

    kind: str
    message: str
    lines: tuple[int, ...]
    block: int


class Record(NamedTuple):
    """One dispatched instruction, flag or barrier, in dispatch order of its block; input of a cost table.

    ``flag`` is that of a set or wait; of an instruction with unit flags the byte of L0C where its accumulator begins,
    and -1 of any other.
    """

    block: int
    pipe: str
    name: str
    line: int
    elements: int
    bytes: int
    repeats: int
    flag: int


@dataclass(frozen=True)
class Shown:
    """A line that block ``block`` printed or dumped, at line ``line`` of the kernel's file."""

    block: int
    line: int
    text: str


@dataclass(frozen=True)
class RunReport:
    """What one run found: ``instructions`` counts data instructions, ``syncs`` flags and barriers.

    ``shown`` is what was printed and dumped, block by block, in the order of each block's program.
    """

    findings: tuple[Finding, ...]
    instructions: int
    syncs: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False)
    shown: tuple[Shown, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.findings

    def kinds(self) -> frozenset[str]:
        return frozenset(finding.kind for finding in self.findings)


class _KernelEntry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("signature", ctypes.c_char_p),
        ("invoke", ctypes.c_void_p),
    )


class _Argument(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("scalar", ctypes.c_uint64),
        ("is_gm", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("readonly", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    )


class _Options(ctypes.Structure):
    _fields_ = (
        ("blocks", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
        ("drop", ctypes.c_void_p),
        ("drop_count", ctypes.c_int64),
        ("most_events", ctypes.c_int64),
        ("most_steps", ctypes.c_int64),
        ("timing", ctypes.c_int64),
        ("only", ctypes.c_void_p),
        ("only_count", ctypes.c_int64),
    )


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel inside a loaded library."""

    name: str
    signature: str
    entry: int  # address of the engine's entry record


_ENGINES: dict[str, ctypes.CDLL] = {}


def _engine(path: Path) -> ctypes.CDLL:
    # By name, not by path: the dynamic linker hands every batch the first engine of that name it loaded, so one
    # content must be one engine even when it lies in several caches.
    if path.name not in _ENGINES:
        _ENGINES[path.name] = _load_engine(path)
    return _ENGINES[path.name]


def _load_engine(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.pypto_host_run.restype = ctypes.c_void_p
    library.pypto_host_run.argtypes = (
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_int32,
    )
    library.pypto_host_free.restype = None
    library.pypto_host_free.argtypes = (ctypes.c_void_p,)
    return library


@functools.cache
def load_kernels(engine: Path, path: Path) -> Mapping[str, LoadedKernel]:
    """Load a batch; its kernels by content key."""
    _engine(engine)
    library = ctypes.CDLL(str(path))
    library.pypto_host_kernels.restype = ctypes.POINTER(_KernelEntry)
    library.pypto_host_kernels.argtypes = (ctypes.POINTER(ctypes.c_int64),)
    count = ctypes.c_int64()
    entries = library.pypto_host_kernels(ctypes.byref(count))
    found: dict[str, LoadedKernel] = {}
    for index in range(count.value):
        entry = entries[index]
        address = ctypes.addressof(entries.contents) + index * ctypes.sizeof(_KernelEntry)
        found[entry.key.decode()] = LoadedKernel(entry.name.decode(), entry.signature.decode(), address)
    return found


def _scalar_bits(letter: str, value: float) -> int:
    name, form = _SCALARS[letter]
    if letter == "e":
        bits = struct.unpack("<I", struct.pack("<f", float(value)))[0]
        return int(((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF)
    if name.startswith("fp"):
        packed = struct.pack(form, float(value))
    elif name == "bool":
        packed = struct.pack(form, bool(value))
    else:
        if int(value) != value:
            raise TypeError(f"{value!r} is not an integer, the parameter is {name}")
        packed = struct.pack(form, int(value))
    return int.from_bytes(packed, "little")


def _buffer(argument: GmArg) -> tuple[int, int, Any]:
    """Address, byte size and what has to stay alive."""
    data = argument.data
    if isinstance(data, int):
        if argument.nbytes is None:
            raise TypeError("a GM argument given by address needs nbytes")
        return data, argument.nbytes, None
    view = memoryview(data)
    size = view.nbytes if argument.nbytes is None else argument.nbytes
    if size > view.nbytes:
        raise ValueError(f"nbytes is {size}, the buffer has {view.nbytes} bytes")
    if not view.contiguous:
        raise ValueError("a GM argument must be contiguous")
    if view.readonly:
        if not argument.readonly:
            raise ValueError("a read-only buffer needs readonly=True")
        copy = ctypes.create_string_buffer(view.tobytes(), max(1, view.nbytes))
        return ctypes.addressof(copy), size, copy
    if view.nbytes == 0:
        return 0, 0, None
    held = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B") if view.ndim != 1 or view.format != "B" else view)
    return ctypes.addressof(held), size, held


class HostLibrary:
    """Kernels compiled for the CPU, ready to run."""

    def __init__(self, engine: Path, kernels: Mapping[str, LoadedKernel]) -> None:
        self._engine = _engine(engine)
        self._kernels = dict(kernels)

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(self._kernels)

    def signature(self, kernel: str) -> tuple[ArgSpec, ...]:
        letters = self._kernels[kernel].signature
        return tuple(ArgSpec("gm", "") if c == "g" else ArgSpec("scalar", _SCALARS[c][0]) for c in letters)

    def run(
        self,
        kernel: str,
        args: Sequence[Arg],
        *,
        blocks: int = 1,
        seed: int = 0,
        drop: Sequence[int] = (),
        records: bool = False,
        max_events: int = 4_000_000,
        max_steps: int = 1_000_000_000,
        timing: bool = False,
        only: Sequence[int] = (),
    ) -> RunReport:
        """Run ``kernel`` on ``blocks`` cores.

        ``seed`` 0 takes program order, any other one of the legal schedules. Calls on the lines in ``drop`` do
        nothing. ``max_events`` caps dispatched calls and ``max_steps`` basic blocks of scalar code; past either, the
        kernel counts as endless. With ``timing`` only what is dispatched is recorded: no data is moved, and nothing is
        looked for that hangs on data or order (races, undefined bytes, deadlocks); the records are those of a full run.
        With ``only`` just these blocks of the launch run, as if the others had not begun.
        """
        loaded = self._kernels[kernel]
        if len(args) != len(loaded.signature):
            raise TypeError(f"{kernel} takes {len(loaded.signature)} arguments, {len(args)} were given")
        if not 1 <= blocks <= 65535:
            raise ValueError("blocks must be 1 to 65535")
        chosen = sorted(set(only))
        if chosen and not 0 <= chosen[0] <= chosen[-1] < blocks:
            raise ValueError(f"only has block {chosen[0] if chosen[0] < 0 else chosen[-1]} of {blocks}")
        packed = (_Argument * max(1, len(args)))()
        alive: list[Any] = []
        for index, (letter, argument) in enumerate(zip(loaded.signature, args, strict=True)):
            slot = packed[index]
            if letter == "g":
                if not isinstance(argument, GmArg):
                    raise TypeError(f"argument {index} of {kernel} is a GM address")
                if argument.data is None and timing:
                    slot.bytes, held = argument.nbytes or 0, None
                else:
                    slot.address, slot.bytes, held = _buffer(argument)
                slot.is_gm = 1
                slot.dtype = DTYPES.index(argument.dtype)
                slot.readonly = int(argument.readonly)
                alive.append(held)
            else:
                if not isinstance(argument, ScalarArg):
                    raise TypeError(f"argument {index} of {kernel} is passed by value")
                slot.scalar = _scalar_bits(letter, argument.value)
        dropped = (ctypes.c_int32 * max(1, len(drop)))(*drop)
        taken = (ctypes.c_int32 * max(1, len(chosen)))(*chosen)
        options = _Options(
            blocks,
            seed & 0xFFFFFFFFFFFFFFFF,
            ctypes.addressof(dropped),
            len(drop),
            max_events,
            max_steps,
            int(timing),
            ctypes.addressof(taken),
            len(chosen),
        )
        text = self._engine.pypto_host_run(
            loaded.entry, ctypes.addressof(packed), len(args), ctypes.addressof(options), int(records)
        )
        del alive
        if not text:
            raise MemoryError("the host model ran out of memory")
        try:
            summary = json.loads(ctypes.string_at(text))
        finally:
            self._engine.pypto_host_free(text)
        if "error" in summary:
            raise MemoryError(f"the host model failed: {summary['error']}")
        return RunReport(
            tuple(Finding(f["kind"], f["message"], tuple(f["lines"]), f["block"]) for f in summary["findings"]),
            summary["instructions"],
            summary["syncs"],
            tuple(map(Record._make, summary["records"])),
            tuple(Shown(*line) for line in summary["shown"]),
        )

"""What rendering gives: kernels with a map from their lines to the statements of the spec, and what was planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.expr import Index, Sym, symbols
from pypto_spec.ir.nodes import Condition, Pair
from pypto_spec.ir.types import Access
from pypto_spec.records import dataclass

LineKind = Literal[
    "form",
    "declare",
    "comment",
    "control",
    "set",
    "wait",
    "barrier",
    "copy",
    "vector",
    "load",
    "cube",
    "state",
    "debug",
]
"""`form` is what every kernel has; `copy` moves data to or from GM, Fixpipe to L1 included; `load` moves it out of L1;
`cube` is Mmad; `state` changes modes of the scalar stream (atomics); `debug` shows something."""


@dataclass(frozen=True, slots=True)
class LineInfo:
    """Where one line of a kernel comes from.

    `event` is `MTE2_V` on a set or wait and the pipe (`V`) on a barrier, `id` the flag's id as printed, `pairs` the
    statements it orders. A call over several lines has one entry for each; `first` is its first line.
    """

    line: int
    kind: LineKind
    loc: Loc | None = None
    op: str | None = None
    event: str | None = None
    id: str | None = None
    pairs: tuple[Pair, ...] = ()
    first: int = 0
    number: int | None = None
    """Of a line of an op: its place among the ops of the region, in program order."""

    @property
    def src(self) -> tuple[int, int] | None:
        """Line and column of the statement in the user's file."""
        return None if self.loc is None else self.loc.span.start


ArgumentKind = Literal["tensor", "scalar", "dim", "index"]


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a kernel or of the program.

    `name` is the spec's, `cpp` the parameter's in C++ (`ctype` its type on the host), `access` what this kernel does
    with a tensor. `symbol` is set for run-time dimensions and indices of host loops.
    """

    name: str
    cpp: str
    kind: ArgumentKind
    ctype: str
    dtype: str
    shape: tuple[Index, ...] = ()
    access: Access | None = None
    symbol: Sym | None = None
    strides: tuple[Index, ...] | None = None
    """Elements between neighbours of each dimension, where the tensor is not dense."""


@dataclass(frozen=True, slots=True)
class Created:
    """A tensor of the program's own: where it stands in the workspace, in bytes, and how many bytes it takes.

    `cpp` is its name in the launcher.
    """

    name: str
    cpp: str
    dtype: str
    shape: tuple[Index, ...]
    offset: Index
    bytes: Index


Blocks = Index | Literal["auto"]


@dataclass(frozen=True, slots=True)
class RenderedKernel:
    """One kernel: its text, its lines, its parameters in order, and how many blocks it is launched on."""

    name: str
    region: str
    text: str
    lines: tuple[LineInfo, ...]
    arguments: tuple[Argument, ...]
    core: Literal["aiv", "aic"]
    blocks: Blocks
    memory: Mapping[str, int]
    planners: Mapping[str, str]
    """Who placed the buffers of a memory, for memories in which shared places did not fit."""

    @property
    def path(self) -> str:
        """Where the file stands in the output folder."""
        return f"kernels/{self.core}/{self.name}.cpp"


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One launch on the stream."""

    kernel: RenderedKernel
    loc: Loc


@dataclass(frozen=True, slots=True, eq=False)
class HostLoop:
    """A loop of the control plane."""

    index: Sym
    start: Index
    stop: Index
    step: Index
    body: tuple[HostStep, ...]
    loc: Loc


@dataclass(frozen=True, slots=True, eq=False)
class HostBranch:
    """A branch of the control plane."""

    condition: Condition
    then: tuple[HostStep, ...]
    other: tuple[HostStep, ...]
    loc: Loc


HostStep = Launch | HostLoop | HostBranch


@dataclass(frozen=True, slots=True)
class RenderedProgram:
    """All kernels of a program, its arguments in order, and its launches in order."""

    name: str
    symbol: str
    about: str
    spec: str
    spec_sha256: str
    version: str
    arguments: tuple[Argument, ...]
    kernels: tuple[RenderedKernel, ...]
    launches: tuple[HostStep, ...]
    created: tuple[Created, ...] = ()
    workspace: Index = 0
    """Bytes of the workspace that the caller gives to the launcher: all created tensors, one behind the other."""
    debug: bool = False
    """Whether a kernel shows something (`debug`)."""

    @property
    def workspace_arguments(self) -> tuple[Argument, ...]:
        """The run-time dimensions on which the size of the workspace depends."""
        needed = symbols(self.workspace)
        return tuple(a for a in self.arguments if a.symbol in needed)

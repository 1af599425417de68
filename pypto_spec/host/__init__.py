"""The host model: the printed C++ itself, run on the CPU under the rules of the hardware."""

from pypto_spec.host.compile import (
    CompileError,
    CompilerMissingError,
    KernelSource,
    compile_kernels,
    default_cache,
)
from pypto_spec.host.run import (
    Arg,
    ArgSpec,
    Finding,
    GmArg,
    HostLibrary,
    Record,
    RunReport,
    ScalarArg,
)

__all__ = [
    "Arg",
    "ArgSpec",
    "CompileError",
    "CompilerMissingError",
    "Finding",
    "GmArg",
    "HostLibrary",
    "KernelSource",
    "Record",
    "RunReport",
    "ScalarArg",
    "compile_kernels",
    "default_cache",
]

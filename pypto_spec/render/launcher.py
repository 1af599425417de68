"""The host side: what the launcher, the build projects and the torch binding print."""

from __future__ import annotations

import keyword
from typing import NamedTuple

from pypto_spec.ir.dtype import BF16
from pypto_spec.ir.expr import Expr, Index, Sym
from pypto_spec.ir.types import Access
from pypto_spec.render.cexpr import Cpp
from pypto_spec.render.comments import condition_text, index_text, safe
from pypto_spec.render.model import (
    Argument,
    Created,
    HostBranch,
    HostLoop,
    HostStep,
    Launch,
    RenderedKernel,
    RenderedProgram,
)
from pypto_spec.render.names import HELPERS, HOST_RESERVED, Names
from pypto_spec.render.wrap import INDENT, wrap
from pypto_spec.templating import render

TORCH_DTYPES = {
    "fp32": "kFloat", "fp16": "kHalf", "bf16": "kBFloat16", "int8": "kChar", "int16": "kShort", "int32": "kInt",
    "int64": "kLong", "uint8": "kByte", "uint16": "kUInt16", "uint32": "kUInt32",
}  # fmt: skip


class Asked(NamedTuple):
    """How the launcher asks for the number of cores of a kind."""

    cpp: str
    device_info: str


CORES = {
    "aiv": Asked("cores", "ACL_DEVICE_INFO_VECTOR_CORE_NUM"),
    "aic": Asked("cube_cores", "ACL_DEVICE_INFO_AI_CORE_NUM"),
}
"""By core: the variable, and what aclGetDeviceCapability is asked for (acl_base.h; an AI core has one cube core)."""


class Host:
    """Writes the launches of a program as C++."""

    def __init__(self, program: RenderedProgram) -> None:
        self.program = program
        known: tuple[Argument | Created, ...] = (*program.arguments, *program.created)
        self.names = Names(HOST_RESERVED | {a.cpp for a in known})
        self.by_name = {a.name: a for a in known}
        self.symbols: dict[Sym, str] = {a.symbol: a.cpp for a in program.arguments if a.symbol is not None}
        self.cpp = Cpp(self._symbol)
        self.lines: list[str] = []
        self.asks: set[str] = set()
        """The cores whose number is asked of the platform."""

    def _symbol(self, symbol: Sym) -> str:
        return self.symbols.get(symbol) or self.by_name[symbol.name].cpp

    def workspace(self) -> list[str]:
        """Where each created tensor stands."""
        made: list[str] = []
        for created in self.program.created:
            place = "workspace"
            if created.offset != 0:
                place = f"static_cast<uint8_t*>(workspace) + {self.cpp.index(created.offset)}"
            made += wrap(f"void* {created.cpp} = {place};", INDENT)
        return made

    def steps(self, steps: tuple[HostStep, ...], indent: str) -> None:
        """The launches of one block."""
        for step in steps:
            if isinstance(step, Launch):
                self._launch(step, indent)
            elif isinstance(step, HostLoop):
                self._loop(step, indent)
            else:
                self._branch(step, indent)

    def _comment(self, step: HostStep, text: str, indent: str) -> None:
        self.lines.append(f"{indent}// line {step.loc.span.line}: {safe(text)}")

    def _launch(self, step: Launch, indent: str) -> None:
        kernel = step.kernel
        self._comment(step, f"region {kernel.region}", indent)
        blocks, guarded = self._blocks(kernel)
        inside = indent + INDENT if guarded else indent
        if guarded:
            self.lines.append(f"{indent}if (const uint32_t num_blocks = {blocks}; num_blocks > 0) {{")
            blocks = "num_blocks"
        args = ", ".join([blocks, "stream", *(self._passed(a) for a in kernel.arguments)])
        self.lines += wrap(f"error = launch_{kernel.name}({args});", inside)
        self.lines += [f"{inside}if (error != 0) {{", f"{inside}{INDENT}return error;", f"{inside}}}"]
        if guarded:
            self.lines.append(f"{indent}}}")

    def _blocks(self, kernel: RenderedKernel) -> tuple[str, bool]:
        """C++ text of a kernel's number of blocks, and whether it may be 0 at run time."""
        blocks = kernel.blocks
        if isinstance(blocks, int):
            return str(blocks), False
        if isinstance(blocks, str):
            self.asks.add(kernel.core)
            return CORES[kernel.core].cpp, False
        return f"static_cast<uint32_t>({self.cpp.index(blocks)})", True

    def _passed(self, argument: Argument) -> str:
        if argument.symbol is not None:
            return self._symbol(argument.symbol)
        mine = self.by_name[argument.name].cpp
        return f"BFloat16Bits({mine})" if argument.kind == "scalar" and argument.dtype == BF16.name else mine

    def _loop(self, step: HostLoop, indent: str) -> None:
        start, stop, width = (self.cpp.index(i) for i in (step.start, step.stop, step.step))
        name = self.symbols[step.index] = self.names.unique(step.index.name)
        self._comment(step, f"for {step.index.name} from {index_text(step.start)} to {index_text(step.stop)}", indent)
        advance = f"++{name}" if step.step == 1 else f"{name} += {width}"
        self.lines += wrap(f"for (int64_t {name} = {start}; {name} < {stop}; {advance}) {{", indent)
        self.steps(step.body, indent + INDENT)
        self.lines.append(f"{indent}}}")

    def _branch(self, step: HostBranch, indent: str) -> None:
        self._comment(step, f"if {condition_text(step.condition)}", indent)
        self.lines += wrap(f"if ({self.cpp.condition(step.condition)}) {{", indent)
        self.steps(step.then, indent + INDENT)
        if step.other:
            self.lines.append(f"{indent}}} else {{")
            self.steps(step.other, indent + INDENT)
        self.lines.append(f"{indent}}}")


def _host_type(argument: Argument) -> str:
    """The type of a program's argument: bf16 scalars come as float and are rounded by the launcher."""
    return "float" if argument.kind == "scalar" and argument.dtype == BF16.name else argument.ctype


def _stub(kernel: RenderedKernel) -> list[str]:
    """Parameters of the function that launches one kernel."""
    return ["uint32_t blocks", "void* stream", *(f"{a.ctype} {a.cpp}" for a in kernel.arguments)]


def host_files(program: RenderedProgram) -> dict[str, str]:
    """Launcher and build projects."""
    host = Host(program)
    host.steps(program.launches, INDENT)
    places = host.workspace()
    own = ["void* workspace"] if program.created else []
    parameters = [*(f"{_host_type(a)} {a.cpp}" for a in program.arguments), *own, "void* stream"]
    function = f"int32_t {program.symbol}_launch({', '.join(parameters)})"
    rounds = any(a.kind == "scalar" and a.dtype == BF16.name for a in program.arguments)
    kernels = [
        {
            "name": k.name,
            "path": k.path,
            "declaration": wrap(f"int32_t launch_{k.name}({', '.join(_stub(k))});"),
            "signature": wrap(f'extern "C" int32_t launch_{k.name}({", ".join(_stub(k))}) {{'),
            "aclrt": wrap(
                f"return static_cast<int32_t>(aclrtlaunch_{k.name}({', '.join(['blocks', 'stream', *_names(k)])}));",
                INDENT,
            ),
            "direct": wrap(f"{k.name}<<<blocks, nullptr, stream>>>({', '.join(_bytes(k))});", INDENT),
        }
        for k in program.kernels
    ]
    view = {
        "program": program,
        "about": safe(program.about),
        "spec": safe(program.spec),
        "declaration": wrap(f"{function};"),
        "signature": wrap(f"{function} {{"),
        "steps": [*places, *host.lines],
        "workspace": _workspace(program, host.cpp),
        "helpers": [h for h in HELPERS if h in host.cpp.helpers],
        "inline": "static inline",
        "asks": [asked for core, asked in CORES.items() if core in host.asks],
        "rounds_bf16": rounds,
        "kernels": kernels,
    }
    files = {
        "launcher/launch.h": render("launcher/launch.h.j2", **view),
        "launcher/launch.cpp": render("launcher/launch.cpp.j2", **view),
        "cmake/cann81/CMakeLists.txt": render("cmake/cann81.txt.j2", **view),
        "cmake/cann81/device.cpp": render("cmake/device.cpp.j2", **view),
        "cmake/asc/CMakeLists.txt": render("cmake/asc.txt.j2", **view),
        "cmake/torch.cmake": render("cmake/torch.cmake.j2", **view),
    }
    for kernel in kernels:
        files[f"cmake/asc/{kernel['name']}.asc"] = render("cmake/kernel.asc.j2", kernel=kernel, **view)
    return files


def _workspace(program: RenderedProgram, cpp: Cpp) -> dict[str, list[str]] | None:
    """The function that says how large the workspace is; None where the program needs none."""
    if not program.created:
        return None
    dims = ", ".join(f"int64_t {a.cpp}" for a in program.workspace_arguments)
    head = f"uint64_t {program.symbol}_workspace_bytes({dims or 'void'})"
    size = f"return static_cast<uint64_t>({cpp.index(program.workspace)});"
    return {"declaration": wrap(f"{head};"), "signature": wrap(f"{head} {{"), "body": wrap(size, INDENT)}


def _names(kernel: RenderedKernel) -> list[str]:
    return [a.cpp for a in kernel.arguments]


def _bytes(kernel: RenderedKernel) -> list[str]:
    return [f"static_cast<uint8_t*>({a.cpp})" if a.kind == "tensor" else a.cpp for a in kernel.arguments]


def _python(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


class _Binding:
    """The torch function of a program: inputs come in, outputs are allocated from their shapes and returned."""

    def __init__(self, program: RenderedProgram) -> None:
        self.program = program
        self.cpp = Cpp(self._symbol)
        self.inputs = [a for a in program.arguments if a.kind == "tensor" and a.access is not Access.OUT]
        self.outputs = [a for a in program.arguments if a.kind == "tensor" and a.access is Access.OUT]
        self.scalars = [a for a in program.arguments if a.kind == "scalar"]
        self.sizes: dict[Sym, str] = {}
        for argument in self.inputs:
            for axis, extent in enumerate(argument.shape):
                if (
                    isinstance(extent, Expr)
                    and extent.const == 0
                    and len(extent.terms) == 1
                    and extent.terms[0][1] == 1
                ):
                    symbol = extent.terms[0][0]
                    if isinstance(symbol, Sym):
                        self.sizes.setdefault(symbol, f"{argument.cpp}.size({axis})")
        for argument in self.inputs:
            for axis, stride in enumerate(argument.strides or ()):
                if (
                    isinstance(stride, Expr)
                    and stride.const == 0
                    and len(stride.terms) == 1
                    and stride.terms[0][1] == 1
                ):
                    symbol = stride.terms[0][0]
                    if isinstance(symbol, Sym):
                        self.sizes.setdefault(symbol, f"{argument.cpp}.stride({axis})")
        self.dims = [a for a in program.arguments if a.kind == "dim"]
        self.given = [a for a in self.dims if a.symbol not in self.sizes]

    def _symbol(self, symbol: Sym) -> str:
        return next(a.cpp for a in self.program.arguments if a.name == symbol.name)

    def _shape(self, argument: Argument) -> str:
        return self._list(argument.shape)

    def _list(self, items: tuple[Index, ...]) -> str:
        return f"{{{', '.join(map(self.cpp.index, items))}}}"

    def _empty(self, argument: Argument) -> str:
        """The start of the call that allocates an output."""
        if argument.strides is None:
            return f"at::empty({self._shape(argument)}"
        return f"at::empty_strided({self._shape(argument)}, {self._list(argument.strides)}"

    def view(self) -> dict[str, object]:
        taken: list[tuple[str, str, str, str]] = []
        for a in self.inputs:
            written = "(a!)" if a.access is Access.INOUT else ""
            taken.append(("const at::Tensor& ", f"Tensor{written} ", a.cpp, "torch.Tensor"))
        for a in self.scalars:
            floating = a.ctype == "float" or a.dtype == BF16.name
            taken.append(("double ", "float ", a.cpp, "float") if floating else ("int64_t ", "int ", a.cpp, "int"))
        taken += [("int64_t ", "int ", a.cpp, "int") for a in self.given]
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        schema = ", ".join(f"{s.replace('(a!)', f'({next(letters)}!)') if '!' in s else s}{n}" for _, s, n, _ in taken)
        results = len(self.outputs)
        returned = "Tensor" if results == 1 else f"({', '.join(['Tensor'] * results)})"
        ctype = {0: "void", 1: "at::Tensor"}.get(results, f"std::tuple<{', '.join(['at::Tensor'] * results)}>")
        first = self.inputs[0].cpp if self.inputs else None
        options = f"{first}.options()" if first else "at::TensorOptions(at::kPrivateUse1)"
        checks = [
            wrap(f'Check({a.cpp}, at::{TORCH_DTYPES[a.dtype]}, {self._shape(a)}, "{a.cpp}");', INDENT)
            for a in self.inputs
        ]
        strided = any(a.strides is not None for a in self.inputs)
        for a in self.inputs if strided else ():
            kind = "Contiguous" if a.strides is None else "Strided"
            given = [a.cpp, *([] if a.strides is None else [self._list(a.strides)]), f'"{a.cpp}"']
            checks.append(wrap(f"{kind}({', '.join(given)});", INDENT))
        made = [
            wrap(
                f"at::Tensor {a.cpp} = {self._empty(a)}, {options}.dtype(at::{TORCH_DTYPES[a.dtype]}));",
                INDENT,
            )
            for a in self.outputs
        ]
        own = ["workspace.data_ptr()"] if self.program.created else []
        passed = ", ".join([*map(self._passed, self.program.arguments), *own, "stream"])
        python = {0: "None", 1: "torch.Tensor"}.get(results, f"tuple[{', '.join(['torch.Tensor'] * results)}]")
        return {
            "program": self.program,
            "spec": safe(self.program.spec),
            "about": safe(self.program.about).replace('"', "'").replace("\\", "/"),
            "signature": wrap(f"{ctype} Run({', '.join(c + n for c, _, n, _ in taken)}) {{"),
            "sizes": [
                f"{INDENT}const int64_t {a.cpp} = {self.sizes[a.symbol]};"
                for a in self.dims
                if a.symbol is not None and a.symbol in self.sizes
            ],
            "checks": [line for lines in checks for line in lines],
            "outputs": [line for lines in made for line in lines],
            "workspace": self._workspace(options),
            "call": wrap(f"const int32_t error = {self.program.symbol}_launch({passed});", INDENT),
            "result": self._result(),
            "has_inputs": bool(self.inputs),
            "has_dense": any(a.strides is None for a in self.inputs),
            "has_strided": strided,
            "schema": f"run({schema}) -> {returned}",
            "python_parameters": ", ".join(f"{_python(n)}: {p}" for _, _, n, p in taken),
            "python_arguments": ", ".join(_python(n) for _, _, n, _ in taken),
            "python_result": python,
            "helpers": [h for h in HELPERS if h in self.cpp.helpers],
            "inline": "inline",
        }

    def _workspace(self, options: str) -> list[str]:
        """The memory of the created tensors; torch_npu gives it back to others on the same stream only."""
        if not self.program.created:
            return []
        sizes = ", ".join(a.cpp for a in self.program.workspace_arguments)
        count = f"static_cast<int64_t>({self.program.symbol}_workspace_bytes({sizes}))"
        return wrap(f"at::Tensor workspace = at::empty({{{count}}}, {options}.dtype(at::kByte));", INDENT)

    def _passed(self, a: Argument) -> str:
        if a.kind == "tensor":
            return f"{a.cpp}.data_ptr()"
        return f"static_cast<{_host_type(a)}>({a.cpp})" if a.kind == "scalar" else a.cpp

    def _result(self) -> str | None:
        names = [a.cpp for a in self.outputs]
        return None if not names else names[0] if len(names) == 1 else f"std::make_tuple({', '.join(names)})"


def binding_files(program: RenderedProgram) -> dict[str, str]:
    """The torch_npu binding and the Python module that loads it."""
    view = _Binding(program).view()
    return {
        "binding/binding.cpp": render("binding/binding.cpp.j2", **view),
        f"binding/{program.symbol}_op.py": render("binding/module.py.j2", **view),
    }

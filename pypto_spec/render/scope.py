"""What one kernel declares: parameters, tensors in GM, memories, tensors on chip, symbols; each with its C++ name.

Tensors on chip are declared once, at the top, as a map of the memories; values of the same name, type and place share
one declaration. Where an address depends on symbols the declaration stands at the first use instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.arguments import region_arguments
from pypto_spec.ir.dtype import BF16, FP16, FP32, DType
from pypto_spec.ir.expr import Expr, Index, Sym, add, mul, symbols
from pypto_spec.ir.nodes import Buffer, BufferRef, Grid, Op, Planner, Program, Region, Value
from pypto_spec.ir.types import Access, Memory, ScalarType, TensorType, TileType, round_up
from pypto_spec.records import dataclass
from pypto_spec.render.cexpr import Cpp
from pypto_spec.render.model import Argument
from pypto_spec.render.names import RESERVED, Names, base, identifier

POSITIONS: Mapping[Memory, tuple[str, str]] = {
    Memory.VEC: ("ub", "VECCALC"),
    Memory.MAT: ("l1", "A1"),
    Memory.LEFT: ("l0a", "A2"),
    Memory.RIGHT: ("l0b", "B2"),
    Memory.ACC: ("l0c", "CO1"),
    Memory.BIAS: ("bt", "C2"),
}
"""The name of each memory's buffer in a kernel, and its TPosition."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor on chip: its C++ name and definition; `moving` where its address depends on symbols."""

    name: str
    text: str
    moving: bool
    loc: Loc


def host_type(dtype: DType) -> str:
    """The C++ type of a scalar parameter: fp16 travels as float, bf16 as its bits; no host compiler knows either."""
    return {FP16: "float", BF16: "uint16_t"}.get(dtype, dtype.cpp)


def scalar_argument(value: Value, cpp: str) -> Argument:
    """A run-time scalar as a parameter."""
    assert isinstance(value.type, ScalarType)
    dtype = value.type.dtype
    return Argument(value.name, cpp, "scalar", host_type(dtype), dtype.name)


class Scope:
    """The declarations of one kernel."""

    def __init__(self, program: Program, region: Region, grid: Grid | None, indices: tuple[Sym, ...]) -> None:
        self.buffers: Mapping[str, Buffer] = {b.name: b for b in program.buffers}
        self.names = Names(RESERVED)
        self.cpp = Cpp(self.symbol)
        self.symbols: dict[Sym, str] = {}
        self.used: set[Sym] = set()
        self.gm: dict[Value, str] = {}
        self.arguments: list[Argument] = []
        self.tensors: dict[tuple[object, ...], Tensor] = {}
        self.extents: dict[Memory, int] = {}
        self.planners: dict[Memory, Planner] = {}
        self._seen: dict[tuple[Value | BufferRef, DType], Tensor] = {}
        self._loops: dict[str, list[str]] = {}
        self._active: list[str] = []
        self._parameters(program, region, indices)
        if grid is not None:
            for symbol in (grid.index, grid.blocks_symbol):
                self.symbols[symbol] = self.names.unique(symbol.name)
        self.grid = grid

    # Parameters

    def _parameters(self, program: Program, region: Region, indices: tuple[Sym, ...]) -> None:
        found = region_arguments(program, region)
        dims = set(found.dims)
        for value in found.tensors:
            assert isinstance(value.type, TensorType)
            for extent in (*value.type.shape, *(value.type.pitches or ())):
                dims |= symbols(extent)
            name = self.gm[value] = self.names.unique(value.name)
            access = Access.INOUT if value.name in found.reads else Access.OUT
            if value.name not in found.writes:
                access = Access.IN
            kind = value.type
            cpp = self.names.unique(f"{name}_gm")
            self.arguments.append(
                Argument(value.name, cpp, "tensor", "void*", kind.dtype.name, kind.shape, access, strides=kind.pitches)
            )
        for value in found.scalars:
            self.arguments.append(scalar_argument(value, self.names.unique(value.name)))
        for symbol in program.dims:
            if symbol in dims:
                self._symbol_argument(symbol, "dim")
        for symbol in (s for s in indices if s in found.indices):
            self._symbol_argument(symbol, "index")
        self.scalars = {a.name: a.cpp for a in self.arguments if a.kind == "scalar"}

    def _symbol_argument(self, symbol: Sym, kind: str) -> None:
        name = self.symbols[symbol] = self.names.unique(symbol.name)
        self.arguments.append(
            Argument(symbol.name, name, "dim" if kind == "dim" else "index", "int64_t", "int64", symbol=symbol)
        )

    def parameters(self) -> list[str]:
        """The kernel's parameter list."""
        return [f"{'GM_ADDR' if a.kind == 'tensor' else a.ctype} {a.cpp}" for a in self.arguments]

    # Symbols

    def symbol(self, symbol: Sym) -> str:
        """The C++ name of a symbol; integer scalars are symbols of the same name as their argument."""
        name = self.symbols.get(symbol)
        if name is None:
            name = self.symbols[symbol] = self.scalars[symbol.name]
        self.used.add(symbol)
        return name

    def open_loop(self, symbol: Sym) -> str:
        """Name the index of a loop; loops that do not contain each other may have the same name."""
        first = identifier(symbol.name)
        mine = self._loops.setdefault(first, [])
        name = next((n for n in mine if n not in self._active), None)
        if name is None:
            name = self.names.unique(symbol.name)
            mine.append(name)
        self._active.append(name)
        self.symbols[symbol] = name
        return name

    def number(self, symbol: Sym) -> str:
        """Name a number that a loop carries or an `if` picks."""
        name = self.symbols[symbol] = self.names.unique(base(symbol.name))
        return name

    def close_loop(self) -> None:
        """Leave the innermost loop."""
        self._active.pop()

    # Tensors

    def tile(self, value: Value, loc: Loc) -> Tensor:
        """The tensor of a tile."""
        kind = value.type
        assert isinstance(kind, TileType), f"{value.name} is no tile"
        key = (value, kind.dtype)
        found = self._seen.get(key)
        if found is None:
            assert value.buffer is not None, f"{value.name} has no buffer"
            found = self._declare(base(value.name), value.buffer, kind.dtype, kind.bytes, loc)
            self._seen[key] = found
        return found

    def scratch(self, ref: BufferRef, dtype: DType, loc: Loc) -> Tensor:
        """The tensor of a scratch area read as `dtype`; it reaches to the end of its buffer."""
        key = (ref, dtype)
        found = self._seen.get(key)
        if found is None:
            whole = self.buffers[ref.buffer].bytes
            assert whole is not None
            size = whole - ref.offset if isinstance(ref.offset, int) else dtype.bytes
            found = self._seen[key] = self._declare("scratch", ref, dtype, size, loc)
        return found

    def _declare(self, name: str, ref: BufferRef, dtype: DType, size: int, loc: Loc) -> Tensor:
        buffer = self.buffers[ref.buffer]
        assert buffer.address is not None and buffer.bytes is not None, f"{buffer.name} has no place"
        address: Index = add(buffer.address, ref.offset)
        if ref.slot is not None:
            address = add(address, mul(ref.slot, buffer.bytes))
        end = buffer.address + buffer.bytes * buffer.slots
        if buffer.planner is not None:
            self.planners[buffer.memory] = buffer.planner
        self.extents[buffer.memory] = max(self.extents.get(buffer.memory, 0), round_up(end, 32))
        elements = size // dtype.bytes
        key = (name, buffer.memory, address, dtype.name, elements)
        found = self.tensors.get(key)
        if found is None:
            stored = any(v.name == name for v in self.gm)
            cpp = self.names.unique(f"{name}_tile" if stored else name)
            pool, where = POSITIONS[buffer.memory][0], self.cpp.index(address)
            text = f"LocalTensor<{dtype.cpp}> {cpp} = {pool}.GetWithOffset<{dtype.cpp}>({elements}, {where});"
            found = self.tensors[key] = Tensor(cpp, text, isinstance(address, Expr), loc)
        return found

    def shown(self, value: Value) -> str:
        """The name of a value in comments: its C++ name where it has one."""
        found = self._seen.get((value, value.type.dtype))
        return found.name if found is not None else self.gm.get(value) or base(value.name)

    # The top of the kernel

    def globals(self) -> list[tuple[str, Value]]:
        """Definitions of the tensors in GM."""
        made: list[tuple[str, Value]] = []
        parameters = {a.name: a.cpp for a in self.arguments if a.kind == "tensor"}
        for value, name in self.gm.items():
            kind = value.type
            assert isinstance(kind, TensorType)
            cast = f"reinterpret_cast<__gm__ {kind.dtype.cpp}*>({parameters[value.name]})"
            made.append((f"GlobalTensor<{kind.dtype.cpp}> {name};", value))
            made.append((f"{name}.SetGlobalBuffer({cast}, {self.cpp.index(kind.elements)});", value))
        return made

    def block_symbols(self) -> list[str]:
        """Definitions of the block index and the number of blocks, where they are used."""
        if self.grid is None:
            return []
        known = ((self.grid.index, "GetBlockIdx()"), (self.grid.blocks_symbol, "GetBlockNum()"))
        return [f"const int64_t {self.symbols[s]} = {call};" for s, call in known if s in self.used]


def scalar_text(name: str, have: DType, want: DType, helpers: set[str]) -> str:
    """A run-time scalar that came as `host_type(have)`, as a value of exactly `want`."""
    if have is BF16:
        if want is BF16:
            helpers.add("BFloat16FromBits")
            return f"BFloat16FromBits({name})"
        helpers.add("FloatFromBits")
        name, have = f"FloatFromBits(static_cast<uint32_t>({name}) << 16)", FP32
    elif have is FP16:
        name = f"static_cast<half>({name})"
        if want not in (FP16, FP32):
            name, have = f"static_cast<float>({name})", FP32
    if have is want:
        return name
    if want is BF16:
        helpers.add("BFloat16FromFloat")
        return f"BFloat16FromFloat({name if have is FP32 else f'static_cast<float>({name})'})"
    if want is FP16 and have is not FP32:
        name = f"static_cast<float>({name})"
    return f"static_cast<{want.cpp}>({name})"


def operand_tensor(op: Op, name: str, dtype: DType | None, scope: Scope) -> Tensor:
    """The tensor behind `scratch`, `scratch.1` ... of an op."""
    number = int(name[8:]) if name != "scratch" else 0
    assert dtype is not None, f"{op.name} reads {name} without a type"
    return scope.scratch(op.scratch[number], dtype, op.loc)

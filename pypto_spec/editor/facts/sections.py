"""What a program's sections say once its statements are read: tensors, symbols, buffers."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_spec.convert.instructions import index_text
from pypto_spec.editor.facts.model import BufferFacts, TensorFacts, TileFacts
from pypto_spec.editor.facts.origin import place
from pypto_spec.ir.expr import Sym, mul
from pypto_spec.ir.nodes import Buffer, Program
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TensorType


def tensors_of(program: Program) -> dict[str, TensorFacts]:
    """The tensors with the lines that read and write them, of the program as it was read."""
    reads: dict[str, dict[int, None]] = {}
    writes: dict[str, dict[int, None]] = {}
    for region in regions(program.body):
        for op in ops(region.body):
            line = place(op.loc)[0]
            for name, value in op.operands.items():
                if isinstance(value.type, TensorType):
                    written = op.defn.effects == "writes_gm" and name == "to"
                    (writes if written else reads).setdefault(value.name, {})[line] = None
    return {
        tensor.name: _tensor(tensor.type, reads.get(tensor.name, ()), writes.get(tensor.name, ()))
        for tensor in (*program.tensors, *program.created)
        if isinstance(tensor.type, TensorType)
    }


def _tensor(kind: TensorType, reads: Iterable[int], writes: Iterable[int]) -> TensorFacts:
    size = mul(kind.elements, kind.dtype.bytes)
    return TensorFacts(
        type=f"{kind.dtype}[{', '.join(map(index_text, kind.shape))}]",
        dtype=kind.dtype.name,
        access=kind.access.value,
        strides="" if kind.pitches is None else f"[{', '.join(map(index_text, kind.pitches))}]",
        bytes=f"{size:,}" if isinstance(size, int) else index_text(size),
        reads=tuple(sorted(reads)),
        writes=tuple(sorted(writes)),
    )


def symbols_of(program: Program) -> dict[str, str]:
    """The bounds of the run-time dimensions in words."""
    return {dim.name: bounds_text(dim) for dim in program.dims}


def bounds_text(symbol: Sym) -> str:
    """From where to where a symbol goes."""
    low = 0 if symbol.low is None else symbol.low
    reach = f"from {low:,}" + (f" to {symbol.high:,}" if symbol.high is not None else ", without an upper bound")
    return reach + (f", a multiple of {symbol.multiple:,}" if symbol.multiple > 1 else "")


def buffers_of(buffers: Iterable[Buffer], tiles: Iterable[TileFacts]) -> dict[str, BufferFacts]:
    """The author's buffers with the tiles in them."""
    inside: dict[str, dict[str, None]] = {}
    for tile in tiles:
        for spot in tile.spots:
            inside.setdefault(spot.buffer, {})[tile.name] = None
    return {
        b.name: BufferFacts(b.memory.value, b.bytes, b.slots, b.address, tuple(inside.get(b.name, ())))
        for b in buffers
        if b.owner == "author"
    }

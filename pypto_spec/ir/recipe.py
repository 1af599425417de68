"""What a recipe sees of one op: the view that InitMemRef (scratch), ExpandToInstructions and the loader share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Ref
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.ir.types import Memory, TensorType, TileType


class OpRecipe:
    """One op as its definition's `recipe` and `scratch` see it (see `opdef.Recipe`)."""

    __slots__ = ("op", "precision")

    def __init__(self, op: Op, precision: Literal["exact", "fast"]) -> None:
        self.op = op
        self.precision: Literal["exact", "fast"] = precision

    @property
    def line(self) -> int:
        """The line of the statement in the user's file."""
        return self.op.loc.span.line

    @property
    def operands(self) -> Mapping[str, Value]:
        """All operands by field."""
        return self.op.operands

    def value(self, name: str) -> Value:
        """The operand or result in that field; KeyError where it was left out."""
        found = self.op.operands.get(name)
        if found is not None:
            return found
        place = 0
        for field in self.op.defn.fields:
            if field.kind == "bind":
                if field.name == name:
                    return self.op.results[place]
                place += 1
        raise KeyError(name)

    def has(self, name: str) -> bool:
        """Whether an operand that may be left out is there."""
        return name in self.op.operands

    def tile(self, name: str) -> TileType:
        """The type of a tile operand or result."""
        found = self.value(name).type
        assert isinstance(found, TileType), f"{self.op.name}.{name} is {found}, not a tile"
        return found

    def attr(self, name: str) -> Any:
        """A written field, or its default."""
        if name in self.op.attrs:
            return self.op.attrs[name]
        return self.op.defn.field(name).default

    def dtype_of(self, ref: Ref) -> DType:
        """The data type that an instruction reads an operand as."""
        return ref.dtype if ref.dtype is not None else self.value(ref.name).type.dtype

    def memory_of(self, ref: Ref) -> Memory:
        """The memory an operand lives in; scratch is in `vec`, and so is a tile of which nothing else is known."""
        if ref.name == "scratch" or ref.name.startswith("scratch."):
            return Memory.VEC
        found = self.value(ref.name).type
        if isinstance(found, TensorType):
            return Memory.GM
        assert isinstance(found, TileType), f"{self.op.name}.{ref.name} is {found}, which is in no memory"
        return found.memory or Memory.VEC

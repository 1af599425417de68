"""What the definition of an operator consists of.

Everything about an operator is derived from its `OpDef`: the statement's model (schema, loader errors, completion,
reference page), shape and dtype rules, memory spaces, aliasing, the pipe, the torch meaning, the cost entry, and the
recipe of Ascend C instructions. `pypto_spec.ops` holds the definitions; a test proves that none lacks a part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pypto_spec.diagnostics.model import CompileError, Fix, Label, Repair, Rule, diagnose
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Attr, Op, Pipe, Value
from pypto_spec.ir.types import Memory, TileType, ValueType
from pypto_spec.records import dataclass

if TYPE_CHECKING:
    from pypto_spec.ir.instr import Step

FieldKind = Literal[
    "bind",  # a name this statement binds
    "tile",  # a value to read: a tile, or at tensor level an array or a whole tensor
    "tensor",  # a tensor argument
    "ints",  # a list of size expressions
    "exprs",  # a list of index expressions
    "expr",  # one index expression
    "flag",  # true or false
    "condition",  # a comparison of index expressions
    "number",  # a literal, a constant or a run-time scalar's name
    "dtype",
    "word",  # one of `words`
    "text",  # plain text
    "format",  # text with `{expression}`; what stands in the braces becomes the attribute `values` and operands
    "memory",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a statement. Every op has besides: `buffer`, `slot`, `scratch` where they apply."""

    name: str
    kind: FieldKind
    doc: str
    required: bool = True
    default: Any = None
    words: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What each of `words` says, for the reference and for editors."""
    examples: tuple[Any, ...] = ()
    number: DType | None = None
    """The dtype a number has, where it is not that of the op's tile."""


class Inference:
    """What a shape rule sees: operands and attributes of one statement, and how to refuse it.

    `type(name)` and `attr(name)` give what was written (attr: or the field's default). `fail` raises the diagnostic at
    the field's own span. `level` says what an op without tile operands makes (`full`): a tile, or an array in a
    tensor-level statement. `walked` are the loop indices that take each value of their bounds here.
    """

    __slots__ = ("attrs", "defn", "level", "loc", "operands", "walked")

    def __init__(
        self,
        defn: OpDef,
        operands: Mapping[str, Value],
        attrs: Mapping[str, Attr],
        loc: Loc,
        level: Literal["tile", "array"] = "tile",
        walked: Collection[Sym] = (),
    ) -> None:
        self.walked = walked
        self.defn = defn
        self.level: Literal["tile", "array"] = level
        self.operands = operands
        self.attrs = attrs
        self.loc = loc

    def type(self, name: str) -> ValueType:
        """Type of an operand."""
        return self.operands[name].type

    def attr(self, name: str) -> Any:
        """A written field, or its default."""
        if name in self.attrs:
            return self.attrs[name]
        return self.defn.field(name).default

    def fail(
        self,
        rule: Rule,
        message: str,
        field: str | None = None,
        *,
        label: str = "",
        helps: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        secondary: tuple[Label, ...] = (),
        figures: tuple[tuple[str, int | str], ...] = (),
        fixes: tuple[Fix | Repair, ...] = (),
    ) -> CompileError:
        """The error to raise, at the span of `field` or of the whole statement."""
        span = self.loc.field(field) if field else self.loc.span
        found = diagnose(
            rule,
            span,
            message,
            label=label,
            helps=helps,
            notes=notes,
            secondary=secondary,
            figures=figures,
            fixes=fixes,
        )
        return CompileError([found])


class Recipe(Protocol):
    """What a recipe sees once addresses are known."""

    @property
    def line(self) -> int:
        """The line of the statement in the user's file."""

    @property
    def operands(self) -> Mapping[str, Value]:
        """All operands by field; some statements have more than their definition's fields."""

    @property
    def precision(self) -> Literal["exact", "fast"]: ...

    def tile(self, name: str) -> TileType:
        """Type of the tile in operand or result field `name`."""

    def has(self, name: str) -> bool:
        """Whether an operand that may be left out is there."""

    def value(self, name: str) -> Value:
        """The operand or result itself (tensors and scalars included)."""

    def attr(self, name: str) -> Any:
        """A written field, or its default."""


def no_alignment(recipe: Recipe) -> Mapping[str, int]:
    """The alignment of an op whose operands may start wherever their memory lets them."""
    return {}


Role = Literal[
    "elementwise",
    "row_reduce",
    "col_reduce",
    "row_expand",
    "col_expand",
    "create",
    "move",
    "view",
    "rearrange",
    "matmul",
]
"""How an op behaves under chunking and layout repair; `move` is load and store, `view` shares its input's buffer,
`rearrange` brings elements to other places: it works on tiles only, and takes columns as they are. `matmul` is the
cube's: a product of matrices, by blocks of all three extents."""

REDUCED_AXIS: Mapping[Role, int] = MappingProxyType({"row_reduce": -1, "col_reduce": -2})
"""The axis of `x` that an op of a role joins, counted from the last; other roles join none."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OpDef:
    """One operator.

    * `infer(inference)` gives the result type or raises; at tensor level operands are arrays and so is the result.
    * `dtypes` are the legal dtypes of the operand `dtype_of` (after casts); anything else is DTYPE_UNSUPPORTED.
    * `spaces` says for each tile field (operands and `into`) which memories it may live in, first = preferred.
    * `no_alias` are operand fields whose buffer the result must not share while the op runs.
    * `reuses` is the operand that the op changes in place: the result stands in its buffer. Where the operand is still
      needed, InitMemRef copies it first.
    * `torch(torch, inputs, attrs)` computes the exact meaning in the inputs' own dtype semantics: tensors by operand
      field name, attrs by field name with defaults filled in.
    * `scratch(recipe)` gives bytes of each scratch area; `recipe(recipe)` the instructions, without barriers:
      InsertSync adds those that the byte ranges ask for.
    * `alignment(recipe)` gives bytes on whose multiples a field's tile must start (`scratch`: every scratch area), for
      fields whose memory's own grid is not enough; AllocateMemoryAddr sees to it.
    * `pipes` is the pipe by memories, from and to, for ops that copy between several; other pairs do not exist, and
      `pipe` is that of the copy within `vec` (or to it).
    * `effects`: `shows` is a statement that only people see: it is kept though nothing uses it.
    * `infix` is the operator and `function` the function name under which `let` offers it.
    """

    name: str
    family: str
    doc: str
    fields: tuple[Field, ...]
    role: Role
    pipe: Pipe
    infer: Callable[[Inference], ValueType | None]
    dtypes: tuple[DType, ...]
    torch: Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]
    recipe: Callable[[Recipe], tuple[Step, ...]]
    scratch: Callable[[Recipe], tuple[int, ...]]
    spaces: Mapping[str, tuple[Memory, ...]]
    dtype_of: str
    no_alias: frozenset[str] = frozenset()
    reuses: str | None = None
    alignment: Callable[[Recipe], Mapping[str, int]] = no_alignment
    pipes: Mapping[tuple[Memory, Memory], Pipe] = field(default_factory=dict)
    effects: Literal["pure", "reads_gm", "writes_gm", "shows"] = "pure"
    infix: str | None = None
    function: str | None = None
    example: str = ""

    def field(self, name: str) -> Field:
        """The field of that name; KeyError where there is none."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(name)


def issue_pipe(op: Op) -> Pipe:
    """Where an op's instructions issue: `pipe`, or for an op that copies the pipe of the way it takes.

    A tensor counts as in `gm`. Before memories are known it is the definition's own pipe.
    """
    if not op.defn.pipes:
        return op.defn.pipe
    ends = ends_of(op)
    return op.defn.pipe if ends is None else op.defn.pipes.get(ends, op.defn.pipe)


def ends_of(op: Op) -> tuple[Memory, Memory] | None:
    """From which memory to which an op copies; None where one of them is not known yet."""
    source = op.operands.get("from") or op.operands.get("x")
    target = op.results[0] if op.results else op.operands.get("to")
    start, end = (None if value is None else _memory(value.type) for value in (source, target))
    return None if start is None or end is None else (start, end)


def _memory(kind: ValueType) -> Memory | None:
    return kind.memory if isinstance(kind, TileType) else Memory.GM

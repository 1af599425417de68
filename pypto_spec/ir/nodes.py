"""The nodes of a program: frozen, and alike only if they are the same object.

Before ConvertToSSA a name may be bound several times and operands are resolved by name; after it every value of a
region has a name of its own and operands refer to the value itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index, Sym
from pypto_spec.ir.types import Memory, ValueType
from pypto_spec.records import dataclass

if TYPE_CHECKING:
    from pypto_spec.ir.instr import Step
    from pypto_spec.ir.opdef import OpDef

Pipe = Literal["s", "v", "m", "mte1", "mte2", "mte3", "fix", "all"]
Pair = tuple[tuple[int, int], tuple[int, int]]
"""The statements (line, column in the user's file) that a flag or barrier orders: first, then."""


Stage = tuple[int, int]
"""Membership of a statement in a pipeline: the group of copies that run side by side, and which copy it is, from 0."""


@dataclass(frozen=True, slots=True)
class BufferRef:
    """Where a tile or scratch lives: a buffer, a byte offset into it, and the slot where it has several."""

    buffer: str
    offset: Index = 0
    slot: Index | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An SSA value: the result of an op, a carried value, or an argument of the program."""

    name: str
    type: ValueType
    buffer: BufferRef | None = None

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}" + (f" @{self.buffer.buffer}" if self.buffer else "")


Relation = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two indices, or a conjunction/disjunction/negation of conditions."""

    op: Relation | Literal["and", "or", "not"]
    left: Index | Condition
    right: Index | Condition | None = None


Attr = int | float | str | bool | DType | Memory | tuple[Index, ...] | Index | Condition | None
"""What an op's non-value field holds. Fields left out are absent from `Op.attrs` (the definition gives defaults)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Op:
    """One statement with an operator.

    `operands` maps operand field names (in the definition's order) to values; `attrs` holds the other written fields.
    `results` has one value per `bind` field. `scratch` and `instrs` are filled by InitMemRef and ExpandToInstructions.
    `stages` says of a copy that LowerPipelineLoops made which copy it is, inner pipelines first, until
    AllocateMemoryAddr.
    """

    defn: OpDef
    operands: Mapping[str, Value]
    attrs: Mapping[str, Attr]
    results: tuple[Value, ...]
    loc: Loc
    scratch: tuple[BufferRef, ...] = ()
    instrs: tuple[Step, ...] | None = None
    allow: frozenset[str] = frozenset()
    stages: tuple[Stage, ...] = ()

    @property
    def name(self) -> str:
        return self.defn.name

    @property
    def result(self) -> Value:
        """The only result."""
        (only,) = self.results
        return only

    def __repr__(self) -> str:
        return (
            f"{', '.join(map(repr, self.results))} = {self.name}({', '.join(v.name for v in self.operands.values())})"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Carry:
    """A value carried by a loop: `arg` inside the body, starting as `init`, next time `yielded`, `result` after it."""

    arg: Value
    init: Value
    yielded: Value
    result: Value


@dataclass(frozen=True, slots=True, eq=False)
class NumberCarry:
    """An integer carried by a loop: `arg` inside the body, starting as `init`, next time `yielded`, `result` after it.

    Numbers are in SSA form from the start; a number computed from others is no node but an index over their symbols.
    """

    arg: Sym
    init: Index
    yielded: Index
    result: Sym


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class For:
    """A loop inside a region over `start <= index < stop` by `step`, as long as `condition` holds.

    A `while` has a condition and an index that nothing reads; its `stop` is a symbol that nothing is known of. The
    condition is tested before each iteration, over the `arg`s of what is carried. An `unroll` is gone after
    UnrollLoops, a `condition` beside a range comes from a `break` (CtrlFlowTransform). `insist` are the codes of hints
    that are errors for this loop. With `l0c_double_buffer` two accumulators take turns in a pipeline, so that one
    drains while the other is summed up: CanonicalizeIOOrder orders its copies in pairs, MemoryReuse keeps that order.
    """

    index: Sym
    start: Index
    stop: Index
    step: Index
    body: tuple[Stmt, ...]
    loc: Loc
    carries: tuple[Carry, ...] = ()
    numbers: tuple[NumberCarry, ...] = ()
    condition: Condition | None = None
    kind: Literal["for", "pipeline", "unroll", "while"] = "for"
    stages: int = 1
    allow: frozenset[str] = frozenset()
    insist: frozenset[str] = frozenset()
    l0c_double_buffer: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Phi:
    """A value an `if` gives: `then` or `other`, whichever arm ran."""

    result: Value
    then: Value
    other: Value


@dataclass(frozen=True, slots=True, eq=False)
class NumberPhi:
    """An integer an `if` gives: `then` or `other`, whichever arm ran."""

    result: Sym
    then: Index
    other: Index


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class If:
    """A branch inside a region."""

    condition: Condition
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...]
    loc: Loc
    phis: tuple[Phi, ...] = ()
    numbers: tuple[NumberPhi, ...] = ()
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Jump:
    """`break` or `continue` of the innermost loop; gone after CtrlFlowTransform.

    `numbers` is what the numbers of that loop (in its order) are here: the next iteration's, or those behind the loop.
    """

    kind: Literal["break", "continue"]
    loc: Loc
    numbers: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Call:
    """A call of an inline function; gone after InlineFunctions.

    `body` is the function's, read for these arguments: names in it are its own. `params` maps the names of tile
    arguments to the caller's values; tensors, scalars and numbers stand in the body already. The values `returned` by
    the body are the caller's `results`.
    """

    function: str
    body: tuple[Stmt, ...]
    params: Mapping[str, Value]
    returned: tuple[Value, ...]
    results: tuple[Value, ...]
    loc: Loc


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SetFlag:
    """Raise flag `id` of the kind `source` to `target` once the earlier work of pipe `source` is done."""

    source: Pipe
    target: Pipe
    id: Index
    loc: Loc
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WaitFlag:
    """Pipe `target` waits for flag `id` of the kind `source` to `target` and lowers it."""

    source: Pipe
    target: Pipe
    id: Index
    loc: Loc
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Barrier:
    """Later instructions of `pipe` start after its earlier ones are done (`all`: every pipe)."""

    pipe: Pipe
    loc: Loc
    pairs: tuple[Pair, ...] = ()


Stmt = Op | For | If | Call | Jump | SetFlag | WaitFlag | Barrier


Planner = Literal["first_fit", "exact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """An on-chip allocation. `bytes` is of one slot; `address` is in bytes from the start of the memory.

    `planner` says who found the address where the memory overflowed with shared places one behind the other.
    """

    name: str
    memory: Memory
    loc: Loc
    bytes: int | None = None
    slots: int = 1
    address: int | None = None
    owner: Literal["author", "compiler"] = "author"
    planner: Planner | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Region:
    """A core group's work: one kernel.

    `kernel` is the C++ entry's name, decided by OutlineIncoreScopes together with `core`. `blocks` is what the author
    asked for (`auto` = as many as the platform has); ChunkTensorOps turns it into an `spmd` around the region.
    """

    name: str
    body: tuple[Stmt, ...]
    loc: Loc
    core: Literal["aiv", "aic"] | None = None
    blocks: Index | Literal["auto"] | None = None
    alias: str | None = None
    after: tuple[str, ...] = ()
    order: str | None = None
    kernel: str | None = None
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Loop:
    """A control-plane `for`: the host launches the body once per index."""

    index: Sym
    start: Index
    stop: Index
    step: Index
    body: tuple[Control, ...]
    loc: Loc


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Grid:
    """`spmd` (one run of the body per block index) or `parallel` (independent indices shared out over blocks).

    Around a region it is one launch. `count` is the number of blocks (spmd) or of indices (parallel). A `parallel` may
    have `inner` indices besides, each with its count: its cells are walked in `order` (see `ir/orders.py`). `most` is
    the number of blocks that its author allows.
    """

    kind: Literal["spmd", "parallel"]
    index: Sym
    count: Index | Literal["auto"]
    blocks_symbol: Sym
    body: tuple[Control, ...]
    loc: Loc
    start: Index = 0
    step: Index = 1
    order: str | None = None
    inner: tuple[tuple[Sym, Index], ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Branch:
    """A control-plane `if`."""

    condition: Condition
    then: tuple[Control, ...]
    other: tuple[Control, ...]
    loc: Loc


Control = Region | Loop | Grid | Branch


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """The `target` section."""

    platform: str = "a2a3"
    planner: Literal["pypto", "ptoas"] = "pypto"
    l0c_double_buffer: bool = False
    unit_flag: bool = False
    sync: Literal["auto", "manual"] = "auto"
    precision: Literal["exact", "fast"] = "exact"


@dataclass(frozen=True, slots=True)
class Dump:
    """The header of a dump: the last pass that ran, and the file and hash it came from."""

    after: str
    source: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Golden:
    """The `golden` section as written: formulas by output, sizes, input domains, tolerance, seed, size of a sample."""

    expect: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    sizes: tuple[Mapping[str, int], ...] = ()
    inputs: Mapping[str, object] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    sample: int | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Program:
    """A whole program. `tensors` and `scalars` are its arguments in order; `dims` its run-time dimensions.

    `created` are the tensors of its own in GM (`create_tensor`), which regions hand to later ones; `tensor_locs` says
    where these and the arguments are declared.
    """

    name: str
    about: str
    target: TargetOptions
    tensors: tuple[Value, ...]
    scalars: tuple[Value, ...]
    body: tuple[Control, ...]
    loc: Loc
    dims: tuple[Sym, ...] = ()
    created: tuple[Value, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    golden: Golden | None = None
    disabled: tuple[str, ...] = ()
    promoted: tuple[str, ...] = ()
    dump: Dump | None = None
    tensor_locs: Mapping[str, Loc] = field(default_factory=dict)

"""Reading what nobody wrote: the result of `create_tile` as an operand.

A created tile is there to be carried into a loop, or to be changed in place. An op that reads it reads undefined lanes:
a store would bring them to GM, a reduction would spread them. Followed through views, and into loops: what a loop
carries holds in its first round what it starts from. An arm of an `if` may be for the later rounds, so there only what
holds nothing in every round is judged; what a loop or an `if` gives may have been written, and is not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pypto_spec.diagnostics.model import Label, Repair, Sink
from pypto_spec.diagnostics.rules.names import UNDEFINED_CONTENTS
from pypto_spec.ir.condition import condition_symbols, holds
from pypto_spec.ir.expr import Sym, to_text
from pypto_spec.ir.nodes import Condition, For, If, Op, Program, Stmt, Value
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Memory, TileType


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known where a statement stands."""

    created: dict[Value, Op]
    """Values that hold nothing, and the `create_tile` they come from."""
    first: dict[Value, Op] = field(default_factory=dict)
    """Values that hold nothing in the first round of every loop around that carries them."""
    loops: dict[Value, tuple[For, ...]] = field(default_factory=dict)
    """Those loops, outer first."""
    starts: Mapping[Sym, int] = field(default_factory=dict)
    """The indices of those loops in that round, where they are known."""

    def origin(self, value: Value) -> Op | None:
        """The `create_tile` of a value without contents, whichever round it is."""
        return self.created.get(value) or self.first.get(value)


def check_contents(program: Program, sink: Sink) -> None:
    """Report ops that read a created tile before anything is written to it."""
    for region in regions(program.body):
        _Reader(sink, set()).block(region.body, _Known({}))


@dataclass(frozen=True, slots=True)
class _Reader:
    sink: Sink
    told: set[Op]
    """The `create_tile`s reported, once each."""

    def block(self, body: Iterable[Stmt], known: _Known) -> None:
        """Judge the statements of a block in order."""
        for node in body:
            if isinstance(node, Op):
                self.op(node, known)
            elif isinstance(node, If):
                for arm in (node.then, node.other):
                    self.block(arm, _Known(dict(known.created)))
            elif isinstance(node, For):
                self.block(node.body, _first_round(node, known))

    def op(self, op: Op, known: _Known) -> None:
        """Judge what one op reads, and follow a view."""
        if op.name == "create_tile":
            known.created[op.result] = op
            return
        for field_, value in op.operands.items():
            origin = known.origin(value)
            if origin is None:
                continue
            if op.defn.role == "view":
                (known.created if value in known.created else known.first)[op.result] = origin
                if value in known.loops:
                    known.loops[op.result] = known.loops[value]
            elif (field_ != op.defn.reuses or _adds(op, field_, known.starts)) and origin not in self.told:
                self.told.add(origin)
                _report(op, field_, value, origin, known.loops.get(value, ()), self.sink)


def _first_round(loop: For, known: _Known) -> _Known:
    """What is known in the first round of a loop, of what it carries too."""
    first, loops = dict(known.first), dict(known.loops)
    for carry in loop.carries:
        origin = known.origin(carry.init)
        if origin is not None:
            first[carry.arg] = origin
            loops[carry.arg] = (*known.loops.get(carry.init, ()), loop)
    starts = dict(known.starts)
    if isinstance(loop.start, int):
        starts[loop.index] = loop.start
    return _Known(dict(known.created), first, loops, starts)


def _adds(op: Op, field_: str, starts: Mapping[Sym, int]) -> bool:
    """Whether an op that changes an operand in place adds to what stands there, in the first round."""
    if op.defn.role != "matmul" or field_ != op.defn.reuses:
        return False
    init = op.attrs.get("init")
    if not isinstance(init, Condition):
        return init is None
    return condition_symbols(init) <= starts.keys() and not holds(init, starts)


def _report(op: Op, field_: str, value: Value, origin: Op, loops: Sequence[For], sink: Sink) -> None:
    name, created = value.name.split(".")[0], origin.result.name.split(".")[0]
    what = f"`{name}` is" if name == created else f"`{name}` is a part of `{created}`,"
    fixes: list[Repair] = []
    when = "in the first round of its loop" if loops else "before anything is written to it"
    if field_ == op.defn.reuses:
        start = f"start from zero with `{op.name.removesuffix('_acc')}`"
        helps = [
            f"start from zero in the first round: `init: {' and '.join(map(_is_first, loops))}`"
            if loops and all(loop.kind != "while" for loop in loops)
            else f"{start} in front of the loop"
            if loops
            else f"{start}, or say when with `init`"
        ]
    elif isinstance(origin.result.type, TileType) and origin.result.type.memory is Memory.ACC:
        helps = ["give it contents first, with `matmul` or with a `matmul_acc` whose `init` holds in the first round"]
    else:
        fixes = [_full(origin)]
        helps = [
            f"start from a value: `- full: {{into: {created}, ..., value: 0}}`",
            f"or bind `{created}` again before it is read; a `load` and every other statement makes its own tile, "
            "`create_tile` is needed only for what a loop carries",
        ]
    sink.report(
        UNDEFINED_CONTENTS,
        op.loc.field(field_),
        f"{what} created without contents, and `{op.name}` reads it {when}",
        label="reads undefined elements",
        secondary=[Label(origin.loc.span, f"`{created}` is created here")],
        helps=helps,
        fixes=fixes,
    )


def _full(origin: Op) -> Repair:
    """A tile of zeros in the place of one without contents."""
    start, _ = origin.loc.span.offsets
    keyword = origin.loc.span.part(start, start + len(origin.name))
    also = ((keyword, "full"),) if origin.name == "create_tile" else ()
    return Repair("set", origin.loc.span, ("value",), 0, title="start from zeros: `full` with `value: 0`", also=also)


def _is_first(loop: For) -> str:
    """The comparison that holds in the first round of a loop."""
    return f"{loop.index.name.split('.')[0]} == {to_text(loop.start)}"

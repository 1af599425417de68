"""Walking and rebuilding programs.

A `Rewriter` rebuilds a program bottom-up and returns the very same node where nothing below it changed, so that a pass
that does nothing costs little and allocates nothing. Override `op`, `loop`, `branch`, `region` ... for what changes;
`bind` a new value in place of an old one and later operands follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pypto_spec.ir.expr import Expr, Index, Sym, substitute
from pypto_spec.ir.nodes import (
    Attr,
    Branch,
    BufferRef,
    Call,
    Carry,
    Condition,
    Control,
    For,
    Grid,
    If,
    Jump,
    Loop,
    NumberCarry,
    NumberPhi,
    Op,
    Phi,
    Program,
    Region,
    SetFlag,
    Stage,
    Stmt,
    Value,
    WaitFlag,
)
from pypto_spec.ir.types import TileType

if TYPE_CHECKING:
    from pypto_spec.ir.instr import Step


def with_parts(
    op: Op,
    *,
    operands: Mapping[str, Value] | None = None,
    attrs: Mapping[str, Attr] | None = None,
    results: tuple[Value, ...] | None = None,
    scratch: tuple[BufferRef, ...] | None = None,
    instrs: tuple[Step, ...] | None = None,
    stages: tuple[Stage, ...] | None = None,
) -> Op:
    """The op with some parts replaced; a third of the time that `dataclasses.replace` takes."""
    return Op(
        defn=op.defn,
        operands=op.operands if operands is None else operands,
        attrs=op.attrs if attrs is None else attrs,
        results=op.results if results is None else results,
        loc=op.loc,
        scratch=op.scratch if scratch is None else scratch,
        instrs=op.instrs if instrs is None else instrs,
        allow=op.allow,
        stages=op.stages if stages is None else stages,
    )


class Rewriter:
    """Base of passes that change statements. One instance rewrites one program."""

    def __init__(self) -> None:
        self.values: dict[Value, Value] = {}

    def bind(self, old: Value, new: Value) -> Value:
        """Make later uses of `old` refer to `new`."""
        if old is not new:
            self.values[old] = new
        return new

    def use(self, value: Value) -> Value:
        """The value that now stands for `value`."""
        return self.values.get(value, value)

    def program(self, program: Program) -> Program:
        """Rebuild the whole program."""
        body = self.controls(program.body)
        return program if body is program.body else replace(program, body=body)

    def controls(self, body: tuple[Control, ...]) -> tuple[Control, ...]:
        made = tuple(new for old in body for new in self.control(old))
        return body if len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True)) else made

    def control(self, node: Control) -> Sequence[Control]:
        """Rebuild one control-plane node; may give several or none."""
        if isinstance(node, Region):
            return (self.region(node),)
        if isinstance(node, Branch):
            then, other = self.controls(node.then), self.controls(node.other)
            return (node if then is node.then and other is node.other else replace(node, then=then, other=other),)
        body = self.controls(node.body)
        return (node if body is node.body else replace(node, body=body),)

    def region(self, region: Region) -> Region:
        """Rebuild one region (kernel)."""
        body = self.block(region.body)
        return region if body is region.body else replace(region, body=body)

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Rebuild a list of statements."""
        made: list[Stmt] = []
        changed = False
        for old in body:
            new = self.stmt(old)
            if len(new) != 1 or new[0] is not old:
                changed = True
            made.extend(new)
        return tuple(made) if changed else body

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        """Rebuild one statement; may give several or none."""
        if isinstance(node, Op):
            return self.op(self.operands(node))
        if isinstance(node, For):
            return self.loop(node)
        if isinstance(node, If):
            return self.branch(node)
        return (node,)

    def operands(self, op: Op) -> Op:
        """The op with its operands brought up to date."""
        values = self.values
        if values:
            for value in op.operands.values():
                if value in values:
                    return with_parts(op, operands={k: values.get(v, v) for k, v in op.operands.items()})
        return op

    def op(self, op: Op) -> Sequence[Stmt]:
        """Rebuild one op whose operands are up to date."""
        return (op,)

    def loop(self, loop: For) -> Sequence[Stmt]:
        """Rebuild a loop: initial values first, then the body, then what it yields."""
        inits = [self.use(c.init) for c in loop.carries]
        body = self.block(loop.body)
        carries = tuple(self.carry(c, init) for c, init in zip(loop.carries, inits, strict=True))
        same = body is loop.body and all(a is b for a, b in zip(carries, loop.carries, strict=True))
        return (loop if same else replace(loop, body=body, carries=carries),)

    def carry(self, carry: Carry, init: Value) -> Carry:
        parts = (self.use(carry.arg), init, self.use(carry.yielded), self.use(carry.result))
        old = (carry.arg, carry.init, carry.yielded, carry.result)
        return carry if all(a is b for a, b in zip(parts, old, strict=True)) else Carry(*parts)

    def branch(self, branch: If) -> Sequence[Stmt]:
        """Rebuild both arms, then the values they give."""
        then, other = self.block(branch.then), self.block(branch.other)
        phis = tuple(self.phi(p) for p in branch.phis)
        same = (
            then is branch.then
            and other is branch.other
            and all(a is b for a, b in zip(phis, branch.phis, strict=True))
        )
        return (branch if same else replace(branch, then=then, other=other, phis=phis),)

    def phi(self, phi: Phi) -> Phi:
        parts = (self.use(phi.result), self.use(phi.then), self.use(phi.other))
        old = (phi.result, phi.then, phi.other)
        return phi if all(a is b for a, b in zip(parts, old, strict=True)) else Phi(*parts)


class Substitution(Rewriter):
    """Replaces symbols by indices in everything a region holds: fields, bounds, conditions, types, slots."""

    def __init__(self, symbols: Mapping[Sym, Index]) -> None:
        super().__init__()
        self.symbols = symbols

    def index(self, index: Index) -> Index:
        """An index with the symbols replaced; the same object where it has none of them."""
        if isinstance(index, int):
            return index
        made = substitute(index, self.symbols)
        return index if made == index else made

    def indices(self, items: tuple[Index, ...]) -> tuple[Index, ...]:
        made = tuple(map(self.index, items))
        return items if all(a is b for a, b in zip(made, items, strict=True)) else made

    def attr(self, attr: Attr) -> Attr:
        if isinstance(attr, Expr):
            return self.index(attr)
        if isinstance(attr, Condition):
            return self.condition(attr)
        return self.indices(attr) if isinstance(attr, tuple) else attr

    def condition(self, condition: Condition) -> Condition:
        """A condition with the symbols replaced."""
        left, right = condition.left, condition.right
        first = self.condition(left) if isinstance(left, Condition) else self.index(left)
        second = self.condition(right) if isinstance(right, Condition) else None if right is None else self.index(right)
        return condition if first is left and second is right else replace(condition, left=first, right=second)

    def buffer(self, ref: BufferRef | None) -> BufferRef | None:
        if ref is None:
            return None
        offset, slot = self.index(ref.offset), None if ref.slot is None else self.index(ref.slot)
        return ref if offset is ref.offset and slot is ref.slot else BufferRef(ref.buffer, offset, slot)

    def define(self, value: Value) -> Value:
        """The definition of a value whose type or place may hold symbols."""
        made = value.type
        if isinstance(made, TileType) and made.valid is not None:
            valid = self.indices(made.valid)
            made = made if valid is made.valid else replace(made, valid=valid)
        buffer = self.buffer(value.buffer)
        if made is value.type and buffer is value.buffer:
            return value
        return self.bind(value, Value(value.name, made, buffer))

    def op(self, op: Op) -> Sequence[Stmt]:
        attrs = {name: self.attr(attr) for name, attr in op.attrs.items()}
        results = tuple(self.define(r) for r in op.results)
        scratch = tuple(cast(BufferRef, self.buffer(s)) for s in op.scratch)
        same = all(attrs[name] is attr for name, attr in op.attrs.items())
        if same and _alike(results, op.results) and _alike(scratch, op.scratch):
            return (op,)
        return (replace(with_parts(op, attrs=attrs, results=results), scratch=scratch),)

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        if isinstance(node, SetFlag | WaitFlag):
            event = self.index(node.id)
            return (node if event is node.id else replace(node, id=event),)
        if isinstance(node, Jump):
            numbers = self.indices(node.numbers)
            return (node if numbers is node.numbers else replace(node, numbers=numbers),)
        return super().stmt(node)

    def loop(self, loop: For) -> Sequence[Stmt]:
        for carry in loop.carries:
            self.define(carry.arg)
            self.define(carry.result)
        start, stop, step = self.indices((loop.start, loop.stop, loop.step))
        condition = self.condition(loop.condition) if loop.condition is not None else None
        (made,) = super().loop(loop)
        numbers = tuple(map(self.number, loop.numbers))  # what the body settled is known now
        if (
            start is not loop.start
            or stop is not loop.stop
            or step is not loop.step
            or condition is not loop.condition
            or not _alike(numbers, loop.numbers)
        ):
            made = replace(cast(For, made), start=start, stop=stop, step=step, condition=condition, numbers=numbers)
        return (made,)

    def number(self, number: NumberCarry) -> NumberCarry:
        """A carried number; what it yields may hold the symbols as well."""
        init, yielded = self.index(number.init), self.index(number.yielded)
        if init is number.init and yielded is number.yielded:
            return number
        return NumberCarry(number.arg, init, yielded, number.result)

    def number_phi(self, number: NumberPhi) -> NumberPhi:
        then, other = self.index(number.then), self.index(number.other)
        return number if then is number.then and other is number.other else NumberPhi(number.result, then, other)

    def branch(self, branch: If) -> Sequence[Stmt]:
        condition = self.condition(branch.condition)
        for phi in branch.phis:
            self.define(phi.result)
        (made,) = super().branch(branch)
        numbers = tuple(map(self.number_phi, branch.numbers))
        if condition is not branch.condition or not _alike(numbers, branch.numbers):
            made = replace(cast(If, made), condition=condition, numbers=numbers)
        return (made,)


def _alike(a: Sequence[object], b: Sequence[object]) -> bool:
    return all(x is y for x, y in zip(a, b, strict=True))


def regions(body: Sequence[Control]) -> Iterator[Region]:
    """All regions in program order."""
    for node in body:
        if isinstance(node, Region):
            yield node
        elif isinstance(node, Branch):
            yield from regions(node.then)
            yield from regions(node.other)
        elif isinstance(node, Loop | Grid):
            yield from regions(node.body)


def statements(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """All statements in program order, outer before inner."""
    for node in body:
        yield node
        if isinstance(node, For):
            yield from statements(node.body)
        elif isinstance(node, If):
            yield from statements(node.then)
            yield from statements(node.other)
        elif isinstance(node, Call):
            yield from statements(node.body)


def ops(body: Sequence[Stmt]) -> Iterator[Op]:
    """All ops in program order."""
    return (s for s in statements(body) if isinstance(s, Op))


def definitions(body: Sequence[Stmt]) -> Iterator[Value]:
    """All values defined by statements, in program order; a loop's and an `if`'s results come after their bodies."""
    for node in body:
        if isinstance(node, Op):
            yield from node.results
        elif isinstance(node, For):
            yield from (c.arg for c in node.carries)
            yield from definitions(node.body)
            yield from (c.result for c in node.carries)
        elif isinstance(node, If):
            yield from definitions(node.then)
            yield from definitions(node.other)
            yield from (p.result for p in node.phis)
        elif isinstance(node, Call):
            yield from definitions(node.body)
            yield from node.results


def local_symbols(body: Sequence[Stmt]) -> Iterator[Sym]:
    """All symbols that loops and ifs define: indices, carried numbers and those that arms give."""
    for node in statements(body):
        if isinstance(node, For):
            yield node.index
            for number in node.numbers:
                yield from (number.arg, number.result)
        elif isinstance(node, If):
            yield from (number.result for number in node.numbers)


def used_values(body: Sequence[Stmt]) -> set[Value]:
    """All values that an op, a loop or an `if` refers to."""
    used: set[Value] = set()
    for node in statements(body):
        if isinstance(node, Op):
            used.update(node.operands.values())
        elif isinstance(node, For):
            for carry in node.carries:
                used.update((carry.init, carry.yielded))
        elif isinstance(node, If):
            for phi in node.phis:
                used.update((phi.then, phi.other))
    return used

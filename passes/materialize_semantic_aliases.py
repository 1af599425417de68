"""MaterializeSemanticAliases: carried values really stay in one buffer.

A loop's carried value lives in the buffer of its initial value. The op that makes the next value is told to write there
directly, so that an accumulator is updated in place; where the old value is still read after that, or the op may not
write over it, or the author chose another buffer for it, or several carried values change places, the new value is
copied there (`move`) at the end of the round.
An initial value whose memory is needed again (after the loop, in it, or when a loop around it comes round; by itself or
through a view) is copied before it. The arms of an `if` write to one buffer alike. Views follow what they look at.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from pypto_spec.ir.nodes import BufferRef, Carry, For, If, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, definitions, statements
from pypto_spec.ir.types import TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.init_mem_ref import view_ref
from pypto_spec.passes.memory.buffers import BufferPool
from pypto_spec.passes.memory.lifetimes import in_place
from pypto_spec.passes.memory.no_copy import can_copy, moves_on
from pypto_spec.passes.memory.uses import Uses, base_of, entering, leaving, reads


def _following(op: Op) -> Op:
    """The op with its result where it belongs, if that is in the memory of an operand that was given another place."""
    base = base_of(op)
    if base is None or base.buffer is None or op.result.buffer is None:
        return op
    home = view_ref(op, base) if op.defn.role == "view" else base.buffer
    return op if op.result.buffer == home else replace(op, results=(replace(op.result, buffer=home),))


class _Aliaser(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.pool = BufferPool(program)
        self.pinned = {b.name for b in program.buffers if b.owner == "author"}
        self.names: set[str] = set()
        self.uses = Uses(())

    def region(self, region: Region) -> Region:
        self.names = {v.name for s in statements(region.body) for v in _bound(s)}
        self.uses = Uses(region.body)
        return super().region(region)

    # -- loops ----------------------------------------------------------------------------------------------------

    def op(self, op: Op) -> Sequence[Stmt]:
        made = _following(op)
        if made is not op:
            self.bind(op.result, made.result)
        return (made,)

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        """Rebuild a statement; a loop may need a copy of its initial values."""
        if isinstance(node, For) and any(c.arg.buffer for c in node.carries):
            return self._own_inits(node)
        return super().stmt(node)

    def _own_inits(self, loop: For) -> list[Stmt]:
        """The loop, after copies of the initial values that others still need."""
        copies: list[Stmt] = []
        carries: list[Carry] = []
        seen: set[Value] = set()
        for carry in loop.carries:
            init, owner = self.use(carry.init), self.uses.owner(carry.init)
            chosen = carry.arg.buffer if carry.arg.buffer != carry.init.buffer else None
            shared = self.uses.needed(carry.init, loop) or owner in seen or chosen is not None
            if isinstance(init.type, TileType) and shared:
                copy = self._move(init, loop, chosen, carry.arg)
                copies.append(copy)
                init = copy.result
            if init.buffer != carry.arg.buffer:
                for value in (carry.arg, carry.result):
                    self.bind(value, replace(value, buffer=init.buffer))
            seen.add(owner)
            carries.append(Carry(carry.arg, init, carry.yielded, carry.result))
        made = replace(loop, carries=tuple(carries)) if copies else loop
        return [*copies, *self.loop(made)]

    def loop(self, loop: For) -> Sequence[Stmt]:
        body = loop.body
        for number, carry in enumerate(loop.carries):
            home = self.use(carry.arg).buffer
            if home is not None and carry.arg.buffer is not None and carry.yielded.type == carry.arg.type:
                others = [c.yielded for n, c in enumerate(loop.carries) if n != number]
                held = {home.buffer, carry.arg.buffer.buffer}
                body = self._prefer(body, carry.yielded, home, held, others)
        if body is not loop.body:
            loop = replace(loop, body=body)
        (made,) = super().loop(loop)
        assert isinstance(made, For)
        tiles = [c for c in made.carries if c.arg.buffer is not None]
        if not tiles:
            return (made,)
        return (self._settle(made),)

    def _settle(self, loop: For) -> For:
        """Make every yielded value end in the buffer of its carried argument."""
        body = list(loop.body)
        for number, carry in enumerate(loop.carries):
            if self.use(carry.yielded) is carry.yielded:  # it has not found its place for another carried value
                others = [self.use(c.yielded) for n, c in enumerate(loop.carries) if n != number]
                self._write_home(body, carry.arg, carry.yielded, others)
        carries = [replace(c, yielded=self.use(c.yielded)) for c in loop.carries]
        late = [n for n, c in enumerate(carries) if c.yielded is not c.arg and c.yielded.buffer != c.arg.buffer]
        args = {c.arg.buffer.buffer for c in carries if c.arg.buffer is not None}
        # Values that live in another carried buffer are first copied aside: the copies home may overwrite them.
        for number in late:
            value = carries[number].yielded
            if value.buffer is not None and value.buffer.buffer in args:
                body.append(self._move(value, loop, None, value, carries[number].arg))
                carries[number] = replace(carries[number], yielded=_result(body[-1]))
        for number in late:
            carry = carries[number]
            body.append(self._move(carry.yielded, loop, carry.arg.buffer, carry.arg))
            carries[number] = replace(carry, yielded=_result(body[-1]))
        return replace(loop, body=tuple(body), carries=tuple(carries))

    def _write_home(self, body: list[Stmt], arg: Value, made: Value, others: Sequence[Value]) -> None:
        """Let the op that makes a yielded value write where the carried argument lives, if it may."""
        home = arg.buffer
        number = next((n for n, s in enumerate(body) if isinstance(s, Op) and made in s.results), None)
        if number is None or home is None or made.buffer is None or made.buffer == home or self._is_pinned(made):
            return
        op = body[number]
        assert isinstance(op, Op)
        if base_of(op) is not None or made.type != arg.type:
            return
        rest = body[number + 1 :]
        users = [*(v for s in rest for v in reads(s)), *others]
        if any(v.buffer is not None and v.buffer.buffer == home.buffer for v in users):
            return
        if not _follows(rest, made, others):
            return
        moved = replace(made, buffer=home)
        new = replace(op, results=tuple(moved if v is made else v for v in op.results))
        if _reads(op, home) and not in_place(new, home.buffer, home.buffer):
            return
        body[number] = new
        body[number + 1 :] = _Swap(made, moved).block(tuple(rest))
        self.bind(made, moved)
        self._write_home_before(body, number, home, [v for v in others if v is not made])

    def _write_home_before(self, body: list[Stmt], number: int, home: BufferRef, others: Sequence[Value]) -> None:
        """Let what the op there makes its value of stand at home as well: an accumulator, step by step."""
        op = body[number]
        assert isinstance(op, Op)
        for value in dict.fromkeys(op.operands.values()):
            at = next((n for n, s in enumerate(body[:number]) if isinstance(s, Op) and value in s.results), None)
            if at is None or value.buffer is None or value.buffer == home or value in others or self._is_pinned(value):
                continue
            maker, between = body[at], body[at + 1 : number]
            assert isinstance(maker, Op)
            later = [v for s in body[number + 1 :] for v in reads(s)]
            passing = [v for s in between for v in (*reads(s), *definitions((s,)))]
            passing += [v for v in op.operands.values() if v is not value]
            if base_of(maker) is not None or value.type != op.result.type or value in later:
                continue
            viewed = any(isinstance(s, Op) and base_of(s) is value for s in statements(between))
            if viewed or any(_stands(v, home) for v in passing) or not _follows(between, value, ()):
                continue
            moved = replace(value, buffer=home)
            made = replace(maker, results=tuple(moved if v is value else v for v in maker.results))
            then = replace(op, operands={name: moved if v is value else v for name, v in op.operands.items()})
            over = not _reads(maker, home) or in_place(made, home.buffer, home.buffer)
            if not over or not in_place(then, home.buffer, home.buffer):
                continue
            body[at] = made
            body[at + 1 :] = _Swap(value, moved).block(tuple(body[at + 1 :]))
            self.bind(value, moved)
            self._write_home_before(body, at, home, others)
            return

    def _is_pinned(self, value: Value) -> bool:
        """Whether the author chose the buffer of a value, which then stays there."""
        return value.buffer is not None and value.buffer.buffer in self.pinned

    def _prefer(
        self, body: tuple[Stmt, ...], value: Value, home: BufferRef, held: Set[str], others: Sequence[Value]
    ) -> tuple[Stmt, ...]:
        """Let the `if` that gives a value put it at `home`, if what is `held` there is needed no more behind it."""
        place = next((n for n, s in enumerate(body) if isinstance(s, If) and value in _bound(s)), None)
        if place is None or value.buffer is None or self._is_pinned(value):
            return body
        branch = body[place]
        assert isinstance(branch, If)
        chosen = next(p for p in branch.phis if p.result is value)
        peers = [p for p in branch.phis if p is not chosen]
        rest = body[place + 1 :]
        users = [*(v for s in rest for v in reads(s)), *others, *(v for p in peers for v in (p.then, p.other))]
        if any(v.buffer is not None and v.buffer.buffer in held for v in users) or not _follows(rest, value, others):
            return body
        result = self.bind(value, replace(value, buffer=home))
        body = self._made_before(body, place, chosen, home, held, users)
        then = self._prefer(branch.then, chosen.then, home, held, [p.then for p in peers])
        other = self._prefer(branch.other, chosen.other, home, held, [p.other for p in peers])
        phis = tuple(replace(p, result=result) if p is chosen else p for p in branch.phis)
        return (*body[:place], replace(branch, then=then, other=other, phis=phis), *rest)

    def _made_before(
        self,
        body: tuple[Stmt, ...],
        place: int,
        phi: Phi,
        home: BufferRef,
        held: Set[str],
        users: Sequence[Value],
    ) -> tuple[Stmt, ...]:
        """Let an op in front of an `if` write home what an arm hands on as it is, if it may."""
        for value in dict.fromkeys((phi.then, phi.other)):
            number = next((n for n, s in enumerate(body[:place]) if isinstance(s, Op) and value in s.results), None)
            if number is None or value.buffer is None or value.type != phi.result.type or self._is_pinned(value):
                continue
            op = body[number]
            assert isinstance(op, Op)
            between = [v for s in body[number + 1 : place + 1] for v in reads(s)]
            if base_of(op) is not None or any(
                v.buffer is not None and v.buffer.buffer in held for v in (*between, *users)
            ):
                continue
            branch = body[place]
            assert isinstance(branch, If)
            plain = replace(branch, phis=tuple(p for p in branch.phis if p is not phi))
            if not _follows((*body[number + 1 : place], plain, *body[place + 1 :]), value, ()):
                continue
            moved = replace(value, buffer=home)
            operands = {name: self.use(v) for name, v in op.operands.items()}
            new = replace(op, operands=operands, results=tuple(moved if v is value else v for v in op.results))
            reads_home = any(v.buffer is not None and v.buffer.buffer == home.buffer for v in operands.values())
            if reads_home and not in_place(new, home.buffer, home.buffer):
                continue
            self.bind(value, moved)
            body = (*body[:number], replace(new, operands=op.operands), *body[number + 1 :])
        return body

    # -- branches -------------------------------------------------------------------------------------------------

    def branch(self, branch: If) -> Sequence[Stmt]:
        (made,) = super().branch(branch)
        assert isinstance(made, If)
        then, other, phis = list(made.then), list(made.other), []
        for phi in made.phis:
            home = phi.result.buffer
            if home is None:
                phis.append(phi)
                continue
            peers = [p for p in made.phis if p is not phi]
            self._write_home(then, phi.result, phi.then, [self.use(p.then) for p in peers])
            self._write_home(other, phi.result, phi.other, [self.use(p.other) for p in peers])
            sides = (
                self._arm(then, self.use(phi.then), phi.result, made),
                self._arm(other, self.use(phi.other), phi.result, made),
            )
            phis.append(Phi(phi.result, *sides))
        if not made.phis:
            return (made,)
        return (replace(made, then=tuple(then), other=tuple(other), phis=tuple(phis)),)

    def _arm(self, body: list[Stmt], value: Value, result: Value, branch: If) -> Value:
        if value.buffer == result.buffer:
            return value
        body.append(self._move(value, branch, result.buffer, result))
        return _result(body[-1])

    # -- copies ---------------------------------------------------------------------------------------------------

    def _move(self, value: Value, stmt: Stmt, home: BufferRef | None, like: Value, meant: Value | None = None) -> Op:
        """A copy of `value` in the form of `like`, to `home` or to a new buffer, on its way to `meant`."""
        kind = like.type
        assert isinstance(kind, TileType) and kind.memory is not None
        if not can_copy(kind.memory):
            raise moves_on(value, stmt, meant or like)
        base = value.name.split(".")[0]
        number = 1
        while f"{base}.{number}" in self.names:
            number += 1
        name = f"{base}.{number}"
        self.names.add(name)
        buffer = home if home is not None else self.pool.fresh(kind.memory, kind.bytes, stmt.loc)
        return Op(
            defn=OPS["move"],
            operands={"from": value},
            attrs={"memory": kind.memory},
            results=(Value(name, kind, buffer),),
            loc=stmt.loc,
        )


class _Swap(Rewriter):
    """Puts a value in the place of another, with the views of it."""

    def __init__(self, old: Value, new: Value) -> None:
        super().__init__()
        self.values[old] = new

    def op(self, op: Op) -> Sequence[Stmt]:
        made = _following(op)
        if made is not op:
            self.bind(op.result, made.result)
        return (made,)


def _follows(rest: Sequence[Stmt], made: Value, others: Sequence[Value]) -> bool:
    """Whether all that stands in the memory of `made` are views: no loop or branch goes on with it or with one."""
    held = {made}
    for stmt in statements(rest):
        base = base_of(stmt) if isinstance(stmt, Op) else None
        if isinstance(stmt, Op) and base in held:
            held.add(stmt.result)
        if not isinstance(stmt, Op) and any(v in held for v in (*entering(stmt), *leaving(stmt))):
            return False
    return not any(v in held for v in others if v is not made)


def _stands(value: Value, home: BufferRef) -> bool:
    """Whether a value stands in the buffer of that place."""
    return value.buffer is not None and value.buffer.buffer == home.buffer


def _reads(op: Op, home: BufferRef) -> bool:
    """Whether an op reads what stands in the buffer of that place."""
    return any(_stands(v, home) for v in op.operands.values())


def _result(stmt: Stmt) -> Value:
    assert isinstance(stmt, Op)
    return stmt.result


def _bound(stmt: Stmt) -> list[Value]:
    if isinstance(stmt, Op):
        return list(stmt.results)
    if isinstance(stmt, For):
        return [v for c in stmt.carries for v in (c.arg, c.result)]
    return [p.result for p in stmt.phis] if isinstance(stmt, If) else []


def run(program: Program, context: Context) -> Program:
    """Bring every carried value home."""
    aliaser = _Aliaser(program)
    made = aliaser.program(program)
    return made if made is program else replace(made, buffers=tuple(aliaser.pool.buffers))


MATERIALIZE_SEMANTIC_ALIASES = Pass(
    name="MaterializeSemanticAliases",
    run=run,
    requires=frozenset({Property.HAS_MEM_REFS}),
    produces=frozenset({Property.HAS_MEM_REFS}),
    doc=__doc__,
)

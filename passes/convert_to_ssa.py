"""ConvertToSSA: every binding gets a name of its own, and loops and ifs say which values they carry and merge.

It decides the versions (`t` becomes `t.1`, `t.2`, ...; a name already written as a version and bound once is kept), and
where values meet: a name rebound in a loop is carried if an iteration or what follows reads it, a name bound in an `if`
is merged if what follows reads it. A name first bound inside a loop or in one arm ends there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Label, diagnose
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.shapes import TYPE_CHANGES
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.differ import difference
from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Carry, For, If, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, definitions, local_symbols, with_parts
from pypto_spec.ir.verifier import same_type
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.name_flow import NameFlow, is_argument
from pypto_spec.passes.undefined import check_contents


class _Regions(Rewriter):
    def region(self, region: Region) -> Region:
        body = _Renamer(region).block(region.body, set())
        return region if body is region.body else replace(region, body=body)


class _Renamer:
    """Renames one region: an environment from names to values, with a trail to leave scopes by."""

    def __init__(self, region: Region) -> None:
        written = Counter(v.name for v in definitions(region.body))
        self.names = Names((*written, *(s.name for s in local_symbols(region.body))))
        self.kept = {n for n, times in written.items() if times == 1 and split(n)[1] is not None}
        self.first = {n for n, times in written.items() if times > 1 and split(n)[1] is not None}
        self.flow = NameFlow(region.body)
        self.env: dict[str, Value] = {}
        self.origin: dict[str, Loc] = {}  # where a value (by its new name) was bound
        self.ended: dict[str, Loc] = {}  # where a name was bound that no longer stands
        self.trail: list[tuple[str, Value | None]] = []

    # Names and scopes

    def bind(self, old: Value, loc: Loc, value: Value | None = None) -> Value:
        """Bind the name of `old` to a value with a name of its own."""
        if value is None:
            if old.name in self.kept:
                value = old
            elif old.name in self.first:
                self.first.discard(old.name)
                value = old
            else:
                value = Value(self.names.fresh(old.name), old.type, old.buffer)
        self.put(old.name, value, loc)
        return value

    def put(self, name: str, value: Value, loc: Loc) -> None:
        self.trail.append((name, self.env.get(name)))
        self.env[name] = value
        self.origin.setdefault(value.name, loc)

    def leave(self, mark: int) -> None:
        """Forget everything bound since `mark`."""
        while len(self.trail) > mark:
            name, before = self.trail.pop()
            if before is None:
                self.ended[name] = self.origin[self.env.pop(name).name]
            else:
                self.env[name] = before

    def use(self, value: Value, loc: Loc, field: str | None = None) -> Value:
        """The value a name stands for here."""
        if is_argument(value):
            return value
        found = self.env.get(value.name)
        if found is None:
            raise CompileError([self.undefined(value.name, loc, field)])
        return found

    def undefined(self, name: str, loc: Loc, field: str | None) -> Diagnostic:
        span = loc.field(field) if field else loc.span
        ended = self.ended.get(name)
        if ended is None:
            return diagnose(UNDEFINED_NAME, span, f"`{name}` is not defined here", label="not defined here")
        return diagnose(
            UNDEFINED_NAME,
            span,
            f"`{name}` is not defined here: it is first bound inside a loop or one arm of an `if`, and ends there",
            label="ended before this",
            secondary=[Label(ended.span, f"`{name}` is first bound here")],
            helps=[f"bind `{name}` before the loop or `if` as well, with the same dtype and shape"],
        )

    # Statements

    def block(self, body: tuple[Stmt, ...], live: Set[str]) -> tuple[Stmt, ...]:
        """Rename a block after which the names `live` are read."""
        after = self.live_after(body, live)
        made: list[Stmt] = []
        for node in body:
            if isinstance(node, Op):
                made.append(self.op(node))
            elif isinstance(node, For):
                made.append(self.loop(node, after[id(node)]))
            elif isinstance(node, If):
                made.append(self.branch(node, after[id(node)]))
            else:
                made.append(node)
        return body if all(a is b for a, b in zip(made, body, strict=True)) else tuple(made)

    def live_after(self, body: Sequence[Stmt], names: Set[str]) -> dict[int, frozenset[str]]:
        after: dict[int, frozenset[str]] = {}
        if any(isinstance(n, For | If) for n in body):
            live = set(names)
            for node in reversed(body):
                if isinstance(node, For | If):
                    after[id(node)] = frozenset(live)
                self.flow.apply(node, live)
        return after

    def op(self, op: Op) -> Op:
        loc = op.loc
        operands = {field: self.use(v, loc, field) for field, v in op.operands.items()}
        results = tuple([self.bind(r, loc) for r in op.results])
        if operands == op.operands and results == op.results:
            return op
        return with_parts(op, operands=operands, results=results)

    def loop(self, loop: For, live: frozenset[str]) -> For:
        written = [(c, self.use(c.init, loop.loc)) for c in loop.carries]
        explicit = {c.arg.name for c in loop.carries}
        flow = self.flow.body(loop)
        carried = [
            name
            for name in flow.writes
            if name in self.env and name not in explicit and (name in flow.reads or name in live)
        ]
        before = {name: self.env[name] for name in carried}
        mark = len(self.trail)
        args = [self.bind(c.arg, loop.loc) for c, _ in written]
        new = {}
        for name in carried:
            old = before[name]
            new[name] = Value(self.names.fresh(name), old.type, old.buffer)
            self.put(name, new[name], self.origin[old.name])
        body = self.block(loop.body, live | flow.reads | {c.yielded.name for c in loop.carries})
        yields = [self.use(c.yielded, loop.loc) for c, _ in written]
        ends = {name: self.env[name] for name in carried}
        self.leave(mark)
        for (carry, init), end in zip(written, yields, strict=True):
            self.meet(carry.result.name, init, end, loop.loc, "before the loop", "at the end of an iteration")
        carries = [
            self.carry(carry, arg, init, end, loop.loc)
            for (carry, init), arg, end in zip(written, args, yields, strict=True)
        ]
        for name in carried:
            init, end = before[name], ends[name]
            self.meet(name, init, end, loop.loc, "before the loop", "at the end of an iteration")
            result = Value(self.names.fresh(name), init.type, init.buffer)
            self.put(name, result, loop.loc)
            carries.append(Carry(new[name], init, end, result))
        if (
            body is loop.body
            and len(carries) == len(loop.carries)
            and all(a is b for a, b in zip(carries, loop.carries, strict=True))
        ):
            return loop
        return replace(loop, body=body, carries=tuple(carries))

    def carry(self, old: Carry, arg: Value, init: Value, yielded: Value, loc: Loc) -> Carry:
        result = self.bind(old.result, loc)
        same = arg is old.arg and init is old.init and yielded is old.yielded and result is old.result
        return old if same else Carry(arg, init, yielded, result)

    def branch(self, branch: If, live: frozenset[str]) -> If:
        explicit = {p.result.name for p in branch.phis}
        names = [n for n in self.flow.of(branch).writes if n in live and n not in explicit]
        then, first, ends = self.arm(branch, branch.then, [p.then for p in branch.phis], names, live)
        other, second, others = self.arm(branch, branch.other, [p.other for p in branch.phis], names, live)
        phis = []
        for phi, a, b in zip(branch.phis, first, second, strict=True):
            self.meet(phi.result.name, a, b, branch.loc, "at the end of `then`", "at the end of `else`")
            result = self.bind(phi.result, branch.loc)
            phis.append(phi if (phi.result, phi.then, phi.other) == (result, a, b) else Phi(result, a, b))
        for name in names:
            one, two = ends.get(name), others.get(name)
            if one is None or two is None or one is two:
                continue
            self.meet(name, one, two, branch.loc, "at the end of `then`", "at the end of `else`")
            result = Value(self.names.fresh(name), one.type, one.buffer)
            self.put(name, result, branch.loc)
            phis.append(Phi(result, one, two))
        if then is branch.then and other is branch.other and tuple(phis) == branch.phis:
            return branch
        return replace(branch, then=then, other=other, phis=tuple(phis))

    def arm(
        self, branch: If, body: tuple[Stmt, ...], given: list[Value], names: list[str], live: frozenset[str]
    ) -> tuple[tuple[Stmt, ...], list[Value], dict[str, Value]]:
        """One arm renamed, the values it gives to the written phis, and what `names` stand for at its end."""
        mark = len(self.trail)
        made = self.block(body, live | {v.name for v in given})
        values = [self.use(v, branch.loc) for v in given]
        ends = {n: self.env[n] for n in names if n in self.env}
        self.leave(mark)
        return made, values, ends

    def meet(self, name: str, a: Value, b: Value, loc: Loc, where_a: str, where_b: str) -> None:
        """Refuse a name whose type depends on the way control took."""
        if same_type(a.type, b.type):
            return
        label = split(name)[0] if name not in self.env else name
        first, second, what = difference(a.type, b.type)
        labels = [
            Label(self.origin[v.name].span, f"{said} {where}")
            for v, said, where in ((a, first, where_a), (b, second, where_b))
        ]
        raise CompileError(
            [
                diagnose(
                    TYPE_CHANGES,
                    labels[1].span,
                    f"`{label}` is {first} {where_a} and {second} {where_b}",
                    label=labels[1].text,
                    secondary=[labels[0], Label(loc.span, "the two meet here")],
                    notes=[what],
                    helps=[f"give both the same dtype, shape and valid extent, or bind another name than `{label}`"],
                )
            ]
        )


def run(program: Program, context: Context) -> Program:
    """Rename every region of the program."""
    made = _Regions().program(program)
    check_contents(made, context.sink)
    return made


CONVERT_TO_SSA = Pass(
    name="ConvertToSSA",
    run=run,
    requires=frozenset({Property.STRUCTURED_CTRL_FLOW}),
    produces=frozenset({Property.SSA_FORM}),
    doc=__doc__,
)

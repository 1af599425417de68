"""Calls of functions: the body is read at each call, with the arguments' own types, in a scope of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

from pypto_spec.convert.carried import Block
from pypto_spec.convert.context import PoisonedError, Reading
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.scope import Name, Place, span_of
from pypto_spec.diagnostics.model import CompileError, Diagnostic, Label, Repair, has_errors
from pypto_spec.diagnostics.rules.calls import BAD_CALL, FUNCTION_CYCLE, TOO_MUCH_INLINED
from pypto_spec.diagnostics.rules.names import UNKNOWN_FUNCTION
from pypto_spec.diagnostics.span import Loc
from pypto_spec.diagnostics.suggest import closest, did_you_mean
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Call, Stmt, Value
from pypto_spec.ir.types import ArrayType, ScalarType, TensorType, TileType
from pypto_spec.spec.formula import Name as NameExpr
from pypto_spec.spec.models.document import Function
from pypto_spec.spec.models.sections import ArgumentSpec
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import Call as CallModel
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

DEEPEST = 32
"""Calls inside calls."""
MOST_INLINED = 1_000
"""Statements that all calls of a program make together, each counted once, and calls that make them. A check of that
many takes 1 to 3 s: each may be a `sin`, of many instructions."""

Given = Value | Index | float | str | bool
"""What an argument is: a tile, array, tensor or scalar; an integer expression; or a constant."""


class CallReader:
    """Reads calls; `block` reads what stands in a function."""

    def __init__(self, reading: Reading, ops: OpReader, block: Block, apart: Callable[[], Iterator[None]]) -> None:
        self.reading = reading
        self.ops = ops
        self.block = block
        self.apart = contextmanager(apart)
        self.stack: list[tuple[Function, Place]] = []
        self.spent = 0
        self.calls = 0
        self.over = False
        """Whether the calls were found to be too many: nothing more is then read in them, nor said about them."""

    # The statement

    def statement(self, item: Statement, loc: Loc) -> list[Stmt]:
        """`call: {function, args, into}`."""
        model = item.model
        assert isinstance(model, CallModel)
        reading = self.reading
        fields = reading.mapping(item.value, item.node, "call")
        place = fields.get("function")
        assert place is not None
        function = self.reading.functions.get(model.function)
        if function is None:
            known = list(self.reading.functions)
            reading.fail(
                UNKNOWN_FUNCTION,
                place,
                f"there is no function `{model.function}`",
                label="not in `functions`",
                helps=[
                    did_you_mean(model.function, known)
                    or (f"there are {', '.join(f'`{n}`' for n in known)}" if known else "write it under `functions`")
                ],
            )
        written = fields.get("args")
        given: dict[str, tuple[Given, Place]] = {}
        if isinstance(written, MappingNode):
            for key, node in written.items:
                given[key.text] = self._given(node), node
        into = list(self._names(fields.get("into")))
        returns = function.model.returns
        if len(into) != len(returns):
            reading.fail(
                BAD_CALL,
                fields.get("into") or place,
                f"`{function.name}` returns {_count(len(returns), 'value')}, `into` names {len(into)}",
                label=f"{len(into)} of {len(returns)}",
                secondary=[Label(function.key.span, f"returns {', '.join(returns) or 'nothing'}")],
                helps=[f"write `into: [{', '.join(returns)}]`" if returns else "leave `into` out"],
                fixes=[] if returns else [Repair("remove", span_of(place), ("into",), title="leave `into` out")],
            )
        texts = [reading.text(node) for node in into]
        for number, text in enumerate(texts):
            if text in texts[:number]:
                reading.fail(
                    BAD_CALL,
                    into[number],
                    f"`into` names `{text}` twice",
                    label="the first one would be lost",
                    helps=["give each result a name of its own"],
                )
        call, results = self.call(function, given, place, loc)
        made: list[Stmt] = []
        bound: list[Value] = []
        returned: list[Value] = []
        for node, result in zip(into, results, strict=True):
            text = reading.text(node)
            if not isinstance(result, Value):
                found = reading.scope.get(text)
                if found is not None and not found.rebound:
                    raise reading.scope.shadowed(found, node.span, "a number")
                reading.scope.set(Name(text, "number", node, index=result))
                continue
            target = self.ops.output(text, node)
            value = Value(reading.fresh.name(text) if target is not None else text, result.type)
            bound.append(value)
            returned.append(result)
            if target is None:
                self.ops.bind(value, node)
            else:
                made.append(self.ops.store(value, target, loc))
        return [replace(call, results=tuple(bound), returned=tuple(returned)), *made]

    def _names(self, node: Node | None) -> Sequence[Node]:
        if isinstance(node, SequenceNode):
            return node.items
        return [] if node is None else [node]

    def _given(self, node: Node) -> Given:
        reading = self.reading
        if isinstance(node, ScalarNode) and isinstance(node.value, float | bool):
            return node.value
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            constant = reading.parameter(node)
            if constant is not None:
                return constant
            expr = reading.expression(node)
            if isinstance(expr, NameExpr):
                found = reading.scope.get(expr.id)
                if found is None:
                    raise reading.scope.undefined(expr.id, node.span, ("value", "tensor", "number", "constant"))
                if found.kind == "constant":
                    assert found.constant is not None
                    return found.constant
                if found.kind in ("value", "tensor") or (found.kind == "scalar" and found.value is not None):
                    return self._value(found, node)
        return reading.index(node)

    def _value(self, found: Name, place: Place) -> Value:
        """A value or scalar as it is read; a tensor is looked at where the body uses it."""
        if found.kind == "tensor":
            assert found.value is not None
            return found.value
        return self.ops.use(found, place)

    # Any call

    def call(
        self, function: Function, given: Mapping[str, tuple[Given, Place]], place: Place, loc: Loc
    ) -> tuple[Call, list[Value | Index]]:
        """The call with its body read, without results, and what the function returns."""
        self._allowed(function, place)
        names = self._arguments(function, given, place)
        actual = {n.text: given[n.text][0] for n in names if n.kind == "value"}
        params = {name: value for name, value in actual.items() if isinstance(value, Value)}
        reading = self.reading
        before = len(reading.sink.found)
        self.stack.append((function, place))
        try:
            with reading.scope.apart(names), self.apart():
                body = self.block(function.body)
                results = [self._returned(function, name) for name in function.model.returns]
        except CompileError as error:
            raise CompileError([self.inside(d) for d in error.diagnostics]) from None
        finally:
            self.stack.pop()
        if has_errors(reading.sink.found[before:]):
            raise PoisonedError
        made = Call(function=function.name, body=body, params=params, returned=(), results=(), loc=loc)
        return made, results

    def inside(self, diagnostic: Diagnostic) -> Diagnostic:
        """A finding in a body, with the call it is about."""
        if not self.stack:
            return diagnostic
        function, place = self.stack[-1]
        label = Label(span_of(place), f"in this call of `{function.name}`")
        return diagnostic if label in diagnostic.secondary else replace(
            diagnostic, secondary=(*diagnostic.secondary, label)
        )  # fmt: skip

    def _allowed(self, function: Function, place: Place) -> None:
        """Refuse circles, and what would never end to be written out."""
        if self.over:
            raise PoisonedError
        names = [f.name for f, _ in self.stack]
        if function.name in names:
            circle = [*names[names.index(function.name) :], function.name]
            self.reading.fail(
                FUNCTION_CYCLE,
                place,
                f"functions call each other in a circle: {' calls '.join(f'`{n}`' for n in circle)}",
                label="comes back here",
                secondary=[Label(function.key.span, f"`{function.name}` is written here")],
                helps=["a function is put in the place of its calls, so it cannot call itself: use a loop"],
            )
        self.calls += 1
        if len(names) >= DEEPEST:
            self._too_much(place, f"calls stand inside calls more than {DEEPEST} deep")
        if self.calls > MOST_INLINED:  # they may make none at all: a function of numbers is computed while it is read
            self._too_much(place, f"this program makes more than {MOST_INLINED:,} calls")

    def charge(self, made: Sequence[Stmt]) -> None:
        """Count statements of a body as they are read, without calls; what is inside them has been counted.

        Raises CompileError beyond `MOST_INLINED`.
        """
        if not self.stack:
            return
        self.spent += sum(not isinstance(s, Call) for s in made)
        if self.spent > MOST_INLINED:
            place = self.stack[-1][1]
            self._too_much(place, f"the calls of this program make more than {MOST_INLINED:,} statements")

    def _too_much(self, place: Place, message: str) -> NoReturn:
        self.over = True
        self.reading.fail(
            TOO_MUCH_INLINED,
            place,
            message,
            label="this call is one too many",
            helps=["call the function in a loop, or let functions call fewer others"],
        )

    def _arguments(self, function: Function, given: Mapping[str, tuple[Given, Place]], place: Place) -> list[Name]:
        """The names of the arguments in the body."""
        args = function.model.args
        wanted = list(args)
        unknown = [name for name in given if name not in wanted]
        missing = [name for name in wanted if name not in given]
        if unknown or missing:
            name = (unknown or missing)[0]
            where = given[name][1] if unknown else place
            message = (
                f"`{function.name}` has no argument `{name}`"
                if unknown
                else f"`{name}` of `{function.name}` is not given"
            )
            self.reading.fail(
                BAD_CALL,
                where,
                message,
                label="no such argument" if unknown else f"`{name}` is missing",
                secondary=[Label(function.key.span, f"takes {', '.join(wanted) or 'nothing'}")],
                helps=[
                    (did_you_mean(name, missing) if unknown else None)
                    or f"write `args: {{{', '.join(f'{n}: ...' for n in wanted)}}}`"
                ],
                fixes=_renamed(name, missing, where) if unknown else [],
            )
        made: list[Name] = []
        for name in wanted:
            value, where = given[name]
            wants = args[name] if isinstance(args, dict) else None
            self._fits(function, name, value, wants, where)
            if isinstance(value, Value):
                index = next((n.index for n in self.reading.scope if n.value is value), None)
                made.append(_argument(name, value, index, where))
            elif isinstance(value, bool | int | float | str):
                index = value if type(value) is int else None
                made.append(Name(name, "constant", where, index=index, constant=value, argument=True))
            else:
                made.append(Name(name, "number", where, index=value))
        return made

    def _fits(self, function: Function, name: str, value: Given, wants: object, where: Place) -> None:
        """Refuse an argument that is not what the function says it is."""
        if wants is None:
            return
        kind = value.type if isinstance(value, Value) else None
        found = _kind_of(value)
        if isinstance(wants, ArgumentSpec):
            ok = isinstance(kind, TileType | ArrayType | TensorType)
            shape = tuple(self.reading.exprs.index(e) for e in wants.shape) if wants.shape is not None else None
            ok = ok and (wants.dtype is None or (kind is not None and kind.dtype.name == wants.dtype))
            ok = ok and (shape is None or getattr(kind, "shape", None) == shape)
            said = " ".join(str(w) for w in (wants.dtype, list(shape) if shape is not None else None) if w is not None)
            found = str(kind) if kind is not None else found
        else:
            ok, said = found == f"a {wants}" or (wants == "index" and found == "an integer"), _article(wants)
            ok = ok or (
                wants == "index" and isinstance(kind, ScalarType) and kind.dtype.name.startswith(("int", "uint"))
            )
        if not ok:
            self.reading.fail(
                BAD_CALL,
                where,
                f"`{name}` of `{function.name}` is {said}, found {found}",
                label=found,
                secondary=[Label(function.key.span, "says so")],
                helps=["give what the function asks for, or leave the argument open there"],
            )

    def _returned(self, function: Function, name: str) -> Value | Index:
        reading = self.reading
        found = reading.scope.get(name)
        place = function.node.get("returns")
        node: Place = place if place is not None else function.key.span
        if found is None:
            if reading.sink.has_errors:
                raise PoisonedError
            reading.fail(
                BAD_CALL,
                node,
                f"`{function.name}` returns `{name}`, which its body does not bind",
                label="not bound",
                helps=[f"bind it: `- let: {name} = ...`"],
            )
        if found.index is not None:
            return found.index
        if found.kind == "constant" and type(found.constant) is int:
            return found.constant
        if found.kind != "value":
            reading.fail(
                BAD_CALL,
                node,
                f"`{function.name}` returns `{name}`, which is {found.what}",
                label="no tile and no number",
                helps=["return what the body computes; the caller has the rest already"],
            )
        return self.ops.use(found, function.key.span)


def _argument(name: str, value: Value, index: Index | None, where: Place) -> Name:
    """The name of a tile is the body's own; tensors and scalars are what they are outside."""
    if isinstance(value.type, TensorType):
        return Name(name, "tensor", where, value)
    if isinstance(value.type, ScalarType):
        return Name(name, "scalar", where, value, index=index)
    return Name(name, "value", where, Value(name, value.type))


def _kind_of(value: Given) -> str:
    if isinstance(value, Value):
        if isinstance(value.type, TensorType):
            return "a tensor"
        return "a scalar" if isinstance(value.type, ScalarType) else "a tile"
    return "an integer" if not isinstance(value, float | str | bool) else "a constant"


def _article(word: object) -> str:
    return f"an {word}" if str(word).startswith("i") else f"a {word}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _renamed(name: str, missing: list[str], where: Place) -> list[Repair]:
    """The name of an argument that is meant: the nearest, or the only one that is not given yet."""
    near = closest(name, missing) or missing
    if len(near) != 1:
        return []
    return [Repair("rename", span_of(where), (name,), near[0], title=f"write `{near[0]}` in place of `{name}`")]

"""The execution plane: statements inside a region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from pypto_spec.convert.branches import BranchReader
from pypto_spec.convert.calls import CallReader
from pypto_spec.convert.context import PoisonedError, Reading, end_of
from pypto_spec.convert.instructions import PIPES, InstructionTextError, decode_pairs
from pypto_spec.convert.let import LetReader
from pypto_spec.convert.level import level_of
from pypto_spec.convert.located import Written
from pypto_spec.convert.loops import LoopReader
from pypto_spec.convert.numbers import is_number
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.ranges import as_found, constants_in
from pypto_spec.convert.scope import Name
from pypto_spec.diagnostics.model import CompileError, Repair
from pypto_spec.diagnostics.rules.cores import BAD_INSTRUCTION
from pypto_spec.diagnostics.rules.names import SHADOWED_NAME
from pypto_spec.diagnostics.rules.sync import FLAG_UNDER_AUTO
from pypto_spec.diagnostics.rules.syntax import CONFLICTING_KEYS, MISSING_KEY, OUT_OF_RANGE, UNKNOWN_WORD
from pypto_spec.diagnostics.span import Loc, Located
from pypto_spec.ir.nodes import (
    Barrier,
    Buffer,
    Pair,
    Pipe,
    Planner,
    SetFlag,
    Stmt,
    WaitFlag,
)
from pypto_spec.ir.types import Access, Memory, TensorType
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.formula import FormulaError, Let
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import Call as CallModel
from pypto_spec.spec.models.structure import LetStatement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

_LOOPS = frozenset({"for", "pipeline", "unroll", "while"})


class BodyReader:
    """Reads the bodies of regions."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.ops = OpReader(reading)
        self.lets = LetReader(self.ops)
        self.loops = LoopReader(reading, self.ops, self.block)
        self.calls = CallReader(reading, self.ops, self.block, self.loops.apart)
        self.lets.calls = self.calls
        self.branches = BranchReader(reading, self.ops, self.block)

    def region(self, items: Sequence[Statement]) -> tuple[Stmt, ...]:
        """The body of a region, a scope of its own."""
        scope = self.reading.scope
        self.reading.level = level_of(items, scope)
        mark = scope.mark()
        try:
            return self.block(items)
        finally:
            scope.close(mark)

    def block(self, items: Sequence[Statement]) -> tuple[Stmt, ...]:
        """A list of statements. One with errors is noted, and what it would have bound is not asked for again."""
        made: list[Stmt] = []
        for item in items:
            try:
                read = self.statement(item)
                self.calls.charge(read)
                made += read
            except CompileError as error:
                for diagnostic in error.diagnostics:
                    self.reading.sink.emit(self.calls.inside(diagnostic))
                self._poison(item)
            except PoisonedError:
                self._poison(item)
            if self.calls.over and self.calls.stack:  # nothing more of a body is worth a look
                raise PoisonedError
        return tuple(made)

    def _poison(self, item: Statement) -> None:
        """Bind the names of a statement that could not be read to nothing."""
        names: list[tuple[str, Node]] = []
        if item.keyword in OPS and isinstance(item.value, MappingNode):
            into = [item.value.get(f.name) for f in OPS[item.keyword].fields if f.kind == "bind"]
            names = [(n.text, n) for n in into if isinstance(n, ScalarNode)]
        elif item.keyword == "let" and isinstance(item.value, ScalarNode):
            names = [(item.value.text.partition("=")[0].strip(), item.value)]
        elif isinstance(item.model, CallModel) and isinstance(item.value, MappingNode):
            names = [(text, item.value) for text in item.model.into]
        for key in ("carry", "results"):
            beside = item.node.get(key)
            if isinstance(beside, MappingNode):
                names += [(k.text, k) for k, _ in beside.items]
            elif isinstance(beside, SequenceNode):
                names += [(n.text, n) for n in beside.items if isinstance(n, ScalarNode)]
        if item.keyword == "store" and isinstance(item.value, MappingNode):
            target = item.value.get("to")
            names += [(target.text, target)] if isinstance(target, ScalarNode) else []
        for text, node in names:
            found = self.reading.scope.get(text)
            if found is None or found.kind in ("value", "number"):
                self.reading.scope.set(Name(text, "value", node))
            elif found.value is not None and isinstance(found.value.type, TensorType):
                self.reading.written.add(text)
                if found.value.type.access is Access.IN:  # what was meant to be in it is not known
                    self.reading.scope.set(Name(text, "value", node))

    def statement(self, item: Statement) -> list[Stmt]:
        """One statement; a `let` gives several."""
        reading = self.reading
        word, node, value = item.keyword, item.node, item.value
        defn = OPS.get(word)
        if defn is not None:
            fields = reading.mapping(value, node, word)
            return self.ops.read(defn, fields, node, self._loc(item, fields))
        if word == "let":
            assert isinstance(value, ScalarNode)
            assert isinstance(item.model, LetStatement)
            if is_number(item.model.formula.value, reading.scope) and self._number(item.model.formula, value):
                return []
            return self.lets.read(item.model.formula, value, node, self._loc(item, None))
        if word in _LOOPS:
            return [self.loops.loop(item, self._loc(item, item.value if isinstance(item.value, MappingNode) else None))]
        if word == "if":
            return [self.branches.branch(item, self._loc(item, None))]
        if word == "call":
            return self.calls.statement(
                item, self._loc(item, item.value if isinstance(item.value, MappingNode) else None)
            )
        if word in ("break", "continue"):
            return [self.loops.jump(item, self._loc(item, None))]
        if word in ("set_flag", "wait_flag", "barrier"):
            return [self.sync(item)]
        if word == "alloc":
            self.alloc(item)
            return []
        if word == "yield":
            reading.fail(
                CONFLICTING_KEYS,
                item.key,
                "`yield` is the last statement of a loop that carries values, or of an arm of an `if` with `results`",
                label="nothing takes this",
            )
        raise AssertionError(f"the loader lets `{word}` through in a region")

    def _number(self, let: Let, node: ScalarNode) -> bool:
        """Bind a number; False where the name is a tensor's, which takes no number."""
        scope = self.reading.scope
        found = scope.get(let.target)
        if found is not None and found.kind == "tensor":
            return False
        if found is not None and not found.rebound:
            raise scope.shadowed(found, node.sub_span(let.start, let.end), "a number")
        try:
            index = self.reading.exprs.index(let.value)
        except FormulaError as error:
            raise self.reading.formula_error(error, node) from None
        scope.set(Name(let.target, "number", (node, let.start, let.end), index=index))
        return True

    def _loc(self, item: Statement, fields: Located | None) -> Loc:
        return self.reading.loc(item.node, item.key.start, end_of(item), fields)

    # The lowest level

    def sync(self, item: Statement) -> Stmt:
        """`set_flag`, `wait_flag` and `barrier`."""
        reading, word, value = self.reading, item.keyword, item.value
        if reading.sync == "auto":
            reading.sync = "manual"  # said once
            reading.fail(
                FLAG_UNDER_AUTO,
                item.span,
                f"`{word}` by hand, but with `sync: auto` the compiler puts in all flags and barriers",
                label="not with `sync: auto`",
                helps=[
                    "remove the flags and barriers",
                    "or take them all into your own hands: `target: {sync: manual}`; the checker then says what is "
                    "missing",
                ],
                fixes=[
                    Repair("remove", item.span, title=f"remove the `{word}`"),
                    Repair("set", None, ("target", "sync"), "manual", title="write `sync: manual` in `target`"),
                ],
            )
        if not isinstance(value, MappingNode):
            value = MappingNode(value.source, value.start, value.end, {"pipe": (item.key, value)}, True)
        loc = self._loc(item, value)
        if reading.dump is None or "src" in item.node:
            loc = replace(loc, fields=Written(value))
        fields = value
        pairs = self._pairs(fields.get("for"))
        if word == "barrier":
            return Barrier(pipe=self._pipe(fields, "pipe"), loc=loc, pairs=pairs)
        number = fields.get("id")
        if number is None:
            reading.fail(MISSING_KEY, loc.span, f"`{word}` needs `id`: the event id")
        make = SetFlag if word == "set_flag" else WaitFlag
        source, target = self._pipe(fields, "from"), self._pipe(fields, "to")
        return make(source=source, target=target, id=reading.index(number), loc=loc, pairs=pairs)

    def _pipe(self, fields: MappingNode, name: str) -> Pipe:
        node = fields.get(name)
        text = self.reading.text(node) if node is not None else ""
        if text not in PIPES:
            self.reading.fail(
                UNKNOWN_WORD, node if node is not None else fields, f"`{name}` is a pipe: {', '.join(sorted(PIPES))}"
            )
        return cast(Pipe, text)

    def _pairs(self, node: Node | None) -> tuple[Pair, ...]:
        if node is None:
            return ()
        try:
            return decode_pairs(node.to_plain())
        except InstructionTextError as error:
            self.reading.fail(
                BAD_INSTRUCTION, node, error.args[0], label="not read", helps=["leave `for` out: it is a remark only"]
            )

    def alloc(self, item: Statement) -> None:
        """An allocation written among the statements: the same as one in `buffers`."""
        reading = self.reading
        fields = reading.mapping(item.value, item.node, "alloc")
        node = fields.get("buffer")
        assert node is not None
        name = reading.text(node)
        if name in reading.buffers:
            reading.fail(SHADOWED_NAME, node, f"there is a buffer `{name}` already", label="this name is taken")
        reading.buffers[name] = read_buffer(reading, name, fields, self._loc(item, fields))


_LEAST = {"slots": 1, "bytes": 1, "address": 0}
"""Numbers of a buffer, and the least that each may be."""
_LEFT_OUT = {"slots": "there is one", "bytes": "its tiles decide", "address": "the compiler finds one"}
"""What holds where they are not written."""


def read_buffer(reading: Reading, name: str, fields: MappingNode, loc: Loc) -> Buffer:
    """A buffer from its mapping."""
    memory = fields.get("memory")
    text = reading.text(memory) if memory is not None else "vec"
    sizes = {
        key: reading.static(node, f"`{key}`")
        for key in ("bytes", "slots", "address")
        if (node := fields.get(key)) is not None and not (isinstance(node, ScalarNode) and node.value is None)
    }
    for key, found in sizes.items():
        if found < _LEAST[key]:
            node = fields.get(key)
            assert node is not None
            reading.unreadable.add(name)
            reading.fail(
                OUT_OF_RANGE,
                node,
                f"`{key}` of the buffer `{name}` is {_LEAST[key]} or more, found {as_found(node, found)}",
                label="too low",
                secondary=constants_in(reading, [node]),
                helps=[f"write a number from {_LEAST[key]} on, or leave `{key}` out: {_LEFT_OUT[key]}"],
            )
    owner, planner = fields.get("owner"), fields.get("planner")
    return Buffer(
        name=name,
        memory=Memory(text),
        loc=loc,
        bytes=sizes.get("bytes"),
        slots=sizes.get("slots", 1),
        address=sizes.get("address"),
        owner=cast(Literal["author", "compiler"], reading.text(owner)) if owner is not None else "author",
        planner=cast(Planner, planner.value) if isinstance(planner, ScalarNode) and planner.value else None,
    )

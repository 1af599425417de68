"""The execution plane: statements inside a region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from pypto_spec.convert.context import PoisonedError, Reading, end_of
from pypto_spec.convert.instructions import PIPES, InstructionTextError, decode_pairs
from pypto_spec.convert.let import LetReader
from pypto_spec.convert.level import level_of
from pypto_spec.convert.located import Written
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.ranges import loop_symbol, read_range
from pypto_spec.convert.scope import Name
from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules.cores import BAD_INSTRUCTION
from pypto_spec.diagnostics.rules.names import SHADOWED_NAME, UNDEFINED_NAME
from pypto_spec.diagnostics.rules.sync import FLAG_UNDER_AUTO, STAGES_NOT_YET
from pypto_spec.diagnostics.rules.syntax import CONFLICTING_KEYS, MISSING_KEY, UNKNOWN_WORD
from pypto_spec.diagnostics.span import Loc, Located
from pypto_spec.ir.nodes import (
    Barrier,
    Buffer,
    Carry,
    For,
    If,
    Pair,
    Phi,
    Pipe,
    SetFlag,
    Stmt,
    Value,
    WaitFlag,
)
from pypto_spec.ir.types import Access, Memory, TensorType
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import LetStatement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode


class BodyReader:
    """Reads the bodies of regions."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.ops = OpReader(reading)
        self.lets = LetReader(self.ops)

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
                made += self.statement(item)
            except CompileError as error:
                for diagnostic in error.diagnostics:
                    self.reading.sink.emit(diagnostic)
                self._poison(item)
            except PoisonedError:
                self._poison(item)
        return tuple(made)

    def _poison(self, item: Statement) -> None:
        """Bind the names of a statement that could not be read to nothing."""
        names: list[tuple[str, Node]] = []
        if item.keyword in OPS and isinstance(item.value, MappingNode):
            into = [item.value.get(f.name) for f in OPS[item.keyword].fields if f.kind == "bind"]
            names = [(n.text, n) for n in into if isinstance(n, ScalarNode)]
        elif item.keyword == "let" and isinstance(item.value, ScalarNode):
            names = [(item.value.text.partition("=")[0].strip(), item.value)]
        if item.keyword == "store" and isinstance(item.value, MappingNode):
            target = item.value.get("to")
            names += [(target.text, target)] if isinstance(target, ScalarNode) else []
        for text, node in names:
            found = self.reading.scope.get(text)
            if found is None or found.kind == "value":
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
            return self.lets.read(item.model.formula, value, node, self._loc(item, None))
        if word in ("for", "pipeline"):
            return [self.loop(item)]
        if word == "if":
            return [self.branch(item)]
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

    def _loc(self, item: Statement, fields: Located | None) -> Loc:
        return self.reading.loc(item.node, item.key.start, end_of(item), fields)

    # Loops

    def loop(self, item: Statement) -> For:
        """`for` and `pipeline`."""
        reading, scope = self.reading, self.reading.scope
        word, statement = item.keyword, item.node
        fields = reading.mapping(item.value, statement, word)
        loc = self._loc(item, fields)
        start, stop, step = read_range(reading, fields)
        stages = fields.get("stages")
        depth = reading.static(stages, "`stages`") if stages is not None else 1
        allow = self.ops.allow(statement)
        if depth > 1 and reading.dump is None:
            reading.sink.report(
                STAGES_NOT_YET,
                loc.field("stages"),
                f"`stages: {depth}` is not used yet: the loop runs at depth 1",
                label="compiles as a `for`",
                allow=allow,
                notes=["results are the same; the copies of one iteration do not overlap the next one's"],
                helps=["leave `stages` out, or keep it for a later version and write `allow: [PS5001]` beside it"],
            )
        starts = self._starts(statement)
        mark = scope.mark()
        index = fields.get("index")
        if index is None:
            reading.fail(MISSING_KEY, loc.span, f"`{word}` needs `index`: the name of the loop index")
        symbol = loop_symbol(reading.text(index), start, stop, step)
        scope.declare(Name(symbol.name, "index", index, sym=symbol))
        for argument, _, node_of in starts:
            self.ops.bind(argument, node_of)
        items, yields = self._split_yield(item.body, statement.get("yield"))
        with reading.walking(symbol, start, stop, step):
            body = self.block(items)
        ends = {name: self._value(value) for name, value in yields.items()}
        scope.leave(mark)
        carries = self._carries(statement, starts, ends, loc)
        return For(
            index=symbol,
            start=start,
            stop=stop,
            step=step,
            body=body,
            loc=loc,
            carries=carries,
            kind=cast(Literal["for", "pipeline"], word),
            stages=depth,
            allow=allow,
        )

    def _starts(self, statement: MappingNode) -> list[tuple[Value, Value, Node]]:
        """The carried values: their name inside, what they start from, and where that is written."""
        node = statement.get("carry")
        if node is None:
            return []
        found: list[tuple[Value, Value, Node]] = []
        for key, item in self.reading.mapping(node, statement, "carry").items:
            init = item.get("init") if isinstance(item, MappingNode) else item
            start = self._value(init if init is not None else item)
            found.append((self._like(key.text, start, item), start, key))
        return found

    def _like(self, name: str, model: Value, node: Node) -> Value:
        """A value of the type and at the place of another, but for what its own mapping says."""
        if not isinstance(node, MappingNode):
            return Value(name, model.type, model.buffer)
        written = node.get("type")
        kind = self.ops.fields.written_type(written) if written is not None else model.type
        return Value(name, kind, self.reading.buffer_ref(node) if "buffer" in node else model.buffer)

    def _split_yield(
        self, items: Sequence[Statement], beside: Node | None
    ) -> tuple[Sequence[Statement], dict[str, Node]]:
        """The statements of a block, and what its `yield` (its last statement, or the key beside it) hands on."""
        found = beside
        if items and items[-1].keyword == "yield":
            found = items[-1].value
            items = items[:-1]
        return items, {key.text: value for key, value in found.items} if isinstance(found, MappingNode) else {}

    def _value(self, node: Node) -> Value:
        text = self.reading.text(node)
        found = self.reading.scope.get(text)
        if found is None:
            raise self.reading.scope.undefined(text, node.span, ("value",))
        return self.ops.use(found, node)

    def _carries(
        self, statement: MappingNode, starts: list[tuple[Value, Value, Node]], ends: dict[str, Value], loc: Loc
    ) -> tuple[Carry, ...]:
        """The carries, their results bound after the loop: to names of their own, or to the argument's."""
        if not starts:
            return ()
        names: dict[str, tuple[str, Node]] = {}
        results = statement.get("results")
        if isinstance(results, MappingNode):
            for key, item in results.items:
                of = item.get("of") if isinstance(item, MappingNode) else item
                names[self.reading.text(of if of is not None else item)] = (key.text, item)
        made: list[Carry] = []
        for argument, start, node in starts:
            if argument.name not in ends:
                self.reading.fail(
                    MISSING_KEY,
                    node,
                    f"the loop does not yield `{argument.name}`",
                    label="carried",
                    helps=[f"end the body with `- yield: {{{argument.name}: VALUE}}`"],
                )
            name, item = names.pop(argument.name, (argument.name, node))
            result = self._like(name, argument, item)
            self.ops.bind(result, item)
            made.append(Carry(argument, start, ends[argument.name], result))
        for text, (_, item) in names.items():
            self.reading.fail(UNDEFINED_NAME, item, f"the loop carries no `{text}`", label="not carried")
        return tuple(made)

    # Branches

    def branch(self, item: Statement) -> If:
        """`if` with its arms."""
        reading, scope = self.reading, self.reading.scope
        statement = item.node
        loc = self._loc(item, None)
        condition = reading.condition(item.value)
        mark = scope.mark()
        with reading.deciding():
            then, first, latest = self._arm(item, 0, mark)
            other, second, others = self._arm(item, 1, mark)
        both = [name for name in latest if name in others and scope.get(name) is None]
        for text, name in {**latest, **others}.items():
            if text in both or scope.get(text) is not None:
                scope.set(others.get(text, name))
            elif name.kind == "value":
                scope.end(name)
        phis: list[Phi] = []
        for text, node in self._result_names(statement):
            if text not in first or text not in second:
                reading.fail(
                    MISSING_KEY,
                    node,
                    f"both arms must yield `{text}`",
                    label="a result of the `if`",
                    helps=[f"end each arm with `- yield: {{{text}: VALUE}}`"],
                )
            result = self._like(text, first[text], node)
            self.ops.bind(result, node)
            phis.append(Phi(result, first[text], second[text]))
        return If(
            condition=condition, then=then, other=other, loc=loc, phis=tuple(phis), allow=self.ops.allow(statement)
        )

    def _arm(
        self, item: Statement, number: int, mark: int
    ) -> tuple[tuple[Stmt, ...], dict[str, Value], dict[str, Name]]:
        """The statements of an arm, what it yields, and what it bound; the scope is then what it was before."""
        beside = item.node.get("yield")
        items, yields = self._split_yield((item.then, item.orelse)[number], beside)
        body = self.block(items)
        values: dict[str, Value] = {}
        for name, node in yields.items():
            own = node.items[number] if isinstance(node, SequenceNode) and len(node.items) == 2 else node
            values[name] = self._value(own)
        return body, values, self.reading.scope.rewind(mark)

    def _result_names(self, statement: MappingNode) -> list[tuple[str, Node]]:
        node = statement.get("results")
        if isinstance(node, MappingNode):
            return [(key.text, item) for key, item in node.items]
        found: list[tuple[str, Node]] = []
        for item in self.reading.items(node, statement, "results"):
            name = item.get("name") if isinstance(item, MappingNode) else item
            found.append((self.reading.text(name if name is not None else item), item))
        return found

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


def read_buffer(reading: Reading, name: str, fields: MappingNode, loc: Loc) -> Buffer:
    """A buffer from its mapping."""
    memory = fields.get("memory")
    text = reading.text(memory) if memory is not None else "vec"
    sizes = {
        key: reading.static(node, f"`{key}`")
        for key in ("bytes", "slots", "address")
        if (node := fields.get(key)) is not None and not (isinstance(node, ScalarNode) and node.value is None)
    }
    owner = fields.get("owner")
    return Buffer(
        name=name,
        memory=Memory(text),
        loc=loc,
        bytes=sizes.get("bytes"),
        slots=sizes.get("slots", 1),
        address=sizes.get("address"),
        owner=cast(Literal["author", "compiler"], reading.text(owner)) if owner is not None else "author",
    )

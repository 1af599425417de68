"""What the readers of a program share: names, diagnostics, places in the text, and expressions read from nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Literal, NoReturn

from pypto_spec.convert.exprs import Expressions, NotIntegerError, UndefinedNameError
from pypto_spec.convert.instructions import index_text
from pypto_spec.convert.scope import Fresh, Kind, Name, Place, Scope, span_of
from pypto_spec.convert.scope import PoisonedError as PoisonedError
from pypto_spec.diagnostics.model import CompileError, Fix, Label, Repair, Rule, Sink, diagnose
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.shapes import OUT_OF_BOUNDS, RUNTIME_SIZE
from pypto_spec.diagnostics.rules.syntax import MISSING_KEY, WRONG_TYPE
from pypto_spec.diagnostics.span import Loc, Located, Source, Span
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.expr import Index, Sym, bounds
from pypto_spec.ir.nodes import Buffer, BufferRef, Condition, Dump, Value
from pypto_spec.records import dataclass
from pypto_spec.spec.formula import Expr, FormulaError, parse_expression
from pypto_spec.spec.models.document import Function
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode, span_between

SIZE_HELP = ("use a fixed size here, and `valid` for the part of it that is in use",)


def _span(source: Source, start: int, end: int) -> Span:
    """`span_between`, faster for what stands on one line."""
    starts = source.line_starts()
    row = bisect_right(starts, start)
    first = starts[row - 1]
    if row == len(starts) or end < starts[row]:
        return Span(source, row, start - first + 1, row, end - first + 1)
    return span_between(source, start, end)


def end_of(item: Statement) -> int:
    """Where a statement ends, without its blocks; where its value is an alias, the keyword stands for it."""
    return item.value.end if len(item.value.via) == len(item.key.via) else item.key.end


@dataclass(frozen=True, slots=True)
class EarlyRead:
    """A statement of a region that reads a tensor before anything in the text stores to it."""

    region: str
    tensor: str
    place: Place


@dataclass(slots=True)
class Reading:
    """The state of reading one program."""

    sink: Sink
    scope: Scope
    exprs: Expressions
    fresh: Fresh
    dump: Dump | None = None
    origin: Source | None = None
    """The file a dump was made of; its text is empty where it cannot be read."""
    constants: Mapping[str, int | float | str | bool] = field(default_factory=dict)
    expanded: bool = False
    """Whether ops without written instructions get those of their recipe."""
    precision: Literal["exact", "fast"] = "exact"
    sync: Literal["auto", "manual"] = "auto"
    level: Literal["tile", "array"] = "tile"
    """What `full` makes in the region being read."""
    buffers: dict[str, Buffer] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    """Buffers that were reported; what is put in one is not looked into."""
    functions: Mapping[str, Function] = field(default_factory=dict)
    created: dict[Value, frozenset[str]] = field(default_factory=dict)
    """Tensors that `create_tensor` made so far, and the codes that each allows itself."""
    early: list[EarlyRead] = field(default_factory=list)
    """Reads of tensors that nothing in the text before them stores to; the order of launches decides about them."""
    written: set[str] = field(default_factory=set)
    """Tensors that some statement read so far stores to."""
    walked: set[Sym] = field(default_factory=set)
    """Indices of the loops around this point, and dimensions, that take each value of their bounds here, as no `if` is
    in between."""
    unrolled: set[Sym] = field(default_factory=set)
    """Indices of the `unroll`s read so far: constants in each iteration."""
    reported: list[Name] = field(default_factory=list)
    """Constants that were reported as no integers; one message each."""
    loops: int = 0
    """Loops around this point, host loops and grids among them."""

    region: str = ""
    """The region being read."""

    jumps: int = 0
    """Each `break` and `continue` read so far."""

    # What is around this point

    @contextmanager
    def walking(self, symbol: Sym, start: Index = 0, stop: Index | None = None, step: Index = 1) -> Iterator[None]:
        """In the body of a loop; without `stop` nothing is said about the values of its index."""
        fixed = isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and start < stop
        self.loops += 1
        outside = self.walked
        # A loop of a run-time count may not run at all for some values of the symbols.
        self.walked = outside | {symbol} if fixed else {s for s in outside if s.kind != "dim"}
        try:
            yield
        finally:
            self.walked = outside
            self.loops -= 1

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """In the arms of an `if`."""
        outside, self.walked, before = self.walked, set(), self.jumps
        try:
            yield
        finally:
            # What follows a jump in an arm is as conditional as the arm.
            self.walked = outside if self.jumps == before else set()

    # Places

    def loc(self, statement: MappingNode, start: int, end: int, fields: Located | None) -> Loc:
        """The origin of a statement: where it stands, or for one of a dump where its `src` says."""
        own = _span(statement.source, start, end)
        if self.origin is None:
            return Loc(own, fields)
        src = statement.get("src")
        if not isinstance(src, SequenceNode) or len(src.items) != 2:
            return Loc(own, fields)
        line, col = (item.value if isinstance(item, ScalarNode) else None for item in src.items)
        if not isinstance(line, int) or not isinstance(col, int):
            return Loc(own, fields)
        end_col = max(len(self.origin.line(line)) + 1, col + 1)
        return Loc(Span(self.origin, line, col, line, end_col), None, own)

    # Errors

    def fail(
        self,
        rule: Rule,
        node: Place,
        message: str,
        *,
        label: str = "",
        helps: Collection[str] = (),
        secondary: Collection[Label] = (),
        fixes: Collection[Fix | Repair] = (),
    ) -> NoReturn:
        """Raise one error at a node; what an alias brought here is not repaired, as others use it too."""
        labels = (*(node.alias_labels if isinstance(node, Node) else ()), *secondary)
        if isinstance(node, Node) and node.via:
            fixes = ()
        raise CompileError(
            [diagnose(rule, span_of(node), message, label=label, helps=helps, secondary=labels, fixes=fixes)]
        )

    def formula_error(self, error: FormulaError, node: ScalarNode) -> CompileError:
        """The error of a formula at its place in the file."""
        if isinstance(error, UndefinedNameError):
            return self.scope.undefined(error.name, node.sub_span(error.start, error.end), error.kinds)
        if isinstance(error, NotIntegerError):
            if error.found in self.reported:
                raise PoisonedError
            self.reported.append(error.found)
            found = error.diagnostic(node)
            definition = Label(error.found.span, f"`{error.found.text}` is defined here")
            return CompileError([replace(found, secondary=(*found.secondary, definition))])
        return CompileError([error.diagnostic(node)])

    # Nodes

    def text(self, node: Node) -> str:
        """The words of a scalar, such as a name; `$NAME` is the word that a constant holds."""
        if isinstance(node, ScalarNode):
            constant = self.parameter(node)
            return node.text if constant is None else str(constant)
        self.fail(WRONG_TYPE, node, f"a name or word is needed here, found a {node.kind}", label="not a word")

    def parameter(self, node: ScalarNode) -> int | float | str | bool | None:
        """The value of the constant that `$NAME` stands for; None for any other text."""
        return self.constants.get(node.text[1:]) if node.text[:1] == "$" else None

    def mapping(self, node: Node | None, parent: Node, what: str) -> MappingNode:
        """A node that must be a mapping."""
        if isinstance(node, MappingNode):
            return node
        self.fail(WRONG_TYPE, node if node is not None else parent, f"`{what}` is a mapping", label="not a mapping")

    def items(self, node: Node | None, parent: Node, what: str) -> list[Node]:
        """The items of a node that must be a sequence; nothing at all counts as an empty one."""
        if isinstance(node, SequenceNode):
            return node.items
        if node is None:
            return []
        if isinstance(node, ScalarNode) and node.value is None:
            return []
        self.fail(WRONG_TYPE, node, f"`{what}` is a list", label="not a list")

    def expression(self, node: Node) -> Expr:
        """The expression a scalar holds."""
        if not isinstance(node, ScalarNode):
            self.fail(WRONG_TYPE, node, f"an expression is needed here, found a {node.kind}", label="no expression")
        if node.value is None:
            self.fail(
                WRONG_TYPE,
                node,
                "an expression is needed here, and nothing is written",
                label="no value",
                helps=["write a number, a name or an expression, or take the key out"],
            )
        constant = self.parameter(node)
        try:
            return parse_expression(node.text if constant is None else node.text[1:])
        except FormulaError as error:
            raise self.formula_error(error, node) from None

    def index(self, node: Node) -> Index:
        """The index a scalar holds."""
        if isinstance(node, ScalarNode) and type(node.value) is int:
            return node.value
        expr = self.expression(node)
        assert isinstance(node, ScalarNode)
        try:
            return self.exprs.index(expr)
        except FormulaError as error:
            raise self.formula_error(error, node) from None

    def static(self, node: Node, what: str, helps: Collection[str] = SIZE_HELP) -> int:
        """An index that must be known at compile time; `what` says what it is, `helps` the way out."""
        value = self.index(node)
        if isinstance(value, int):
            return value
        self.fail(
            RUNTIME_SIZE,
            node,
            f"{what} must be known at compile time, found `{index_text(value)}`",
            label="depends on run-time values",
            helps=helps,
        )

    def condition(self, node: Node) -> Condition:
        """The condition a scalar holds."""
        expr = self.expression(node)
        assert isinstance(node, ScalarNode)
        try:
            return self.exprs.condition(expr)
        except FormulaError as error:
            raise self.formula_error(error, node) from None

    # Names

    def lookup(self, text: str, span: Node, kinds: tuple[Kind, ...]) -> Name:
        """What a name means, which must be something; an error else."""
        found = self.scope.get(text)
        if found is None:
            raise self.scope.undefined(text, span.span, kinds)
        return found

    def buffer_ref(self, fields: MappingNode) -> BufferRef | None:
        """The place that `buffer`, `slot` and `offset` of a mapping name."""
        node = fields.get("buffer")
        if node is None or (isinstance(node, ScalarNode) and node.value is None):
            slot = fields.get("slot")
            if slot is not None and node is None:
                self.fail(
                    MISSING_KEY,
                    slot,
                    "`slot` says which slot of a buffer, and no `buffer` is named",
                    label="a slot of which buffer?",
                    helps=["write `buffer: NAME` beside it, or leave `slot` out: the compiler then places the tile"],
                )
            return None
        slot, offset = fields.get("slot"), fields.get("offset")
        name = self.buffer_name(node)
        return BufferRef(
            name,
            self.index(offset) if offset is not None else 0,
            self._slot(self.buffers[name], node, slot),
        )

    def _slot(self, buffer: Buffer, node: Node, slot: Node | None) -> Index | None:
        """Which slot of a buffer, where it has several."""
        if slot is None:
            if buffer.slots > 1:
                self.fail(
                    MISSING_KEY,
                    node,
                    f"`{buffer.name}` has {buffer.slots} slots; `slot` says which one",
                    label="`slot` is missing",
                    helps=[f"rotate them with a loop index: `slot: i % {buffer.slots}`"],
                )
            return None
        index = self.index(slot)
        low, high = bounds(index)
        if low is None or high is None or low < 0 or high >= buffer.slots:
            self.fail(
                OUT_OF_BOUNDS,
                slot,
                f"`{buffer.name}` has the slots 0 to {buffer.slots - 1}, found `{index_text(index)}`",
                label="not known to be one of them",
                helps=[f"write `% {buffer.slots}` behind it, or give the buffer more `slots`"],
            )
        return index

    def buffer_name(self, node: Node) -> str:
        """The name of a buffer that exists."""
        name = self.text(node)
        if name in self.unreadable:
            raise PoisonedError
        if name not in self.buffers:
            meant = did_you_mean(name, self.buffers)
            self.fail(
                UNDEFINED_NAME,
                node,
                f"no buffer is named `{name}`",
                label="not defined",
                helps=[meant or f"define it: `buffers: {{{name}: {{memory: vec}}}}`"],
            )
        return name

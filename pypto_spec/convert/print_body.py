"""Printing the statements of a region (see `to_spec.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.convert import emit
from pypto_spec.convert.instructions import condition_text, encode, index_text, pairs_text
from pypto_spec.convert.located import is_written
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Expr, Index, Sym
from pypto_spec.ir.nodes import (
    Attr,
    Barrier,
    BufferRef,
    Call,
    Carry,
    Condition,
    For,
    If,
    Jump,
    NumberCarry,
    NumberPhi,
    Op,
    Pair,
    Phi,
    Program,
    Stmt,
    Value,
    WaitFlag,
)
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import ArrayType, Memory, TileType, ValueType
from pypto_spec.ops.debug import format_text


class BodyPrinter:
    """Prints blocks of statements; texts of types and fields are made once per program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.precision = program.target.precision
        self.types: dict[ValueType, str] = {}
        self.plans: dict[str, list[tuple[str, str]]] = {}
        self.carried: list[list[Sym]] = []
        """The numbers that the loops around this point carry."""

    def block(self, body: Sequence[Stmt], indent: str) -> list[str]:
        """Lines of a list of statements."""
        lines: list[str] = []
        for node in body:
            self.stmt(node, indent, lines)
        return lines

    def stmt(self, node: Stmt, indent: str, lines: list[str]) -> None:
        """Append the lines of one statement."""
        if isinstance(node, Op):
            self.op(node, indent, lines)
        elif isinstance(node, For):
            self.loop(node, indent, lines)
        elif isinstance(node, If):
            self.branch(node, indent, lines)
        elif isinstance(node, Call):
            raise AssertionError("calls are put in place before a program is printed")
        elif isinstance(node, Jump):
            given = [(emit.word(s.name), _index(n)) for s, n in zip(self.carried[-1], node.numbers, strict=True)]
            more = f"yield: {emit.mapping(given)}" if given else ""
            lines.append(f"{indent}- {node.kind}: {{{more}}}")
            lines.append(f"{indent}  src: [{node.loc.span.line}, {node.loc.span.col}]")
        elif isinstance(node, Barrier):
            self._sync(f"barrier: {{pipe: {node.pipe}", node.pairs, node.loc, indent, lines)
        else:
            keyword = "wait_flag" if isinstance(node, WaitFlag) else "set_flag"
            text = f"{keyword}: {{from: {node.source}, to: {node.target}, id: {_index(node.id)}"
            self._sync(text, node.pairs, node.loc, indent, lines)

    def _sync(self, text: str, pairs: tuple[Pair, ...], loc: Loc, indent: str, lines: list[str]) -> None:
        """A flag or barrier. Only those an author wrote have a place in the source; others name what they order."""
        lines.append(f"{indent}- {text}{f', for: {pairs_text(pairs)}' if pairs else ''}}}")
        if is_written(loc):
            lines.append(f"{indent}  src: [{loc.span.line}, {loc.span.col}]")

    # Ops

    def op(self, op: Op, indent: str, lines: list[str]) -> None:
        """The statement, then what the compiler knows about it."""
        defn = op.defn
        plan = self.plans.get(defn.name)
        if plan is None:
            plan = self.plans[defn.name] = [(f.name, f.kind) for f in defn.fields]
        operands, attrs, results = op.operands, op.attrs, op.results
        parts: list[str] = []
        bound = 0
        for name, kind in plan:
            if kind == "bind":
                if bound < len(results):
                    parts.append(f"{name}: {emit.word(results[bound].name)}")
                    bound += 1
            elif name in operands:
                parts.append(f"{name}: {emit.word(operands[name].name)}")
            elif name in attrs:
                shown = emit.word(format_text(op)) if kind == "format" else attr_text(attrs[name])
                parts.append(f"{name}: {shown}")
        result = results[0] if results else None
        if result is not None and result.buffer is not None:
            parts.append(_place(result.buffer))
        if op.scratch:
            parts.append(f"scratch: {emit.sequence([_scratch(s) for s in op.scratch])}")
        lines.append(f"{indent}- {defn.name}: {{{', '.join(parts)}}}")
        if result is not None:
            lines.append(f"{indent}  type: {self.type(result.type)}")
        lines.append(f"{indent}  src: [{op.loc.span.line}, {op.loc.span.col}]")
        self._allow(op.allow, indent, lines)
        if op.stages:
            lines.append(f"{indent}  stage: {emit.sequence([f'[{group}, {stage}]' for group, stage in op.stages])}")
        if op.instrs is not None and not self._recomputable(op):
            lines.append(f"{indent}  instructions:" if op.instrs else f"{indent}  instructions: []")
            lines += [f"{indent}    - {encode(step)}" for step in op.instrs]

    def _recomputable(self, op: Op) -> bool:
        """Whether a reader gets the instructions from the recipe; several are always written out."""
        return (
            op.instrs is not None and len(op.instrs) <= 1 and op.instrs == op.defn.recipe(OpRecipe(op, self.precision))
        )

    def _allow(self, allow: frozenset[str], indent: str, lines: list[str]) -> None:
        if allow:
            lines.append(f"{indent}  allow: {emit.sequence(map(emit.word, sorted(allow)))}")

    def type(self, kind: ValueType) -> str:
        """A type as a flow mapping, defaults left out."""
        text = self.types.get(kind)
        if text is None:
            text = self.types[kind] = type_text(kind)
        return text

    # Blocks

    def loop(self, loop: For, indent: str, lines: list[str]) -> None:
        """A loop with what it carries."""
        condition = condition_text(loop.condition) if loop.condition is not None else ""
        if loop.kind == "while":
            lines.append(f"{indent}- while: {emit.line(condition)}")
        else:
            more = f", stages: {loop.stages}" if loop.kind == "pipeline" else ""
            more += f", while: {emit.word(condition)}" if condition else ""
            more += ", l0c_double_buffer: true" if loop.l0c_double_buffer else ""
            limits = emit.sequence(map(_index, (loop.start, loop.stop, loop.step)))
            lines.append(f"{indent}- {loop.kind}: {{index: {emit.word(loop.index.name)}, range: {limits}{more}}}")
        lines.append(f"{indent}  src: [{loop.loc.span.line}, {loop.loc.span.col}]")
        self._allow(loop.allow, indent, lines)
        if loop.insist:
            lines.append(f"{indent}  error: {emit.sequence(map(emit.word, sorted(loop.insist)))}")
        if loop.carries or loop.numbers:
            starts = [*map(self._carry, loop.carries), *map(_number_carry, loop.numbers)]
            results = [*map(self._result, loop.carries), *map(_number_result, loop.numbers)]
            lines.append(f"{indent}  carry: {emit.mapping(starts)}")
            lines.append(f"{indent}  results: {emit.mapping(results)}")
        yields = [(c.arg.name, emit.word(c.yielded.name)) for c in loop.carries]
        yields += [(n.arg.name, _index(n.yielded)) for n in loop.numbers]
        self.carried.append([n.arg for n in loop.numbers])
        self._arm("body", loop.body, yields, indent, lines)
        self.carried.pop()

    def branch(self, branch: If, indent: str, lines: list[str]) -> None:
        """An `if` with what its arms give."""
        lines.append(f"{indent}- if: {emit.line(condition_text(branch.condition))}")
        lines.append(f"{indent}  src: [{branch.loc.span.line}, {branch.loc.span.col}]")
        self._allow(branch.allow, indent, lines)
        results = [*map(self._phi, branch.phis), *map(_number_phi, branch.numbers)]
        if results:
            lines.append(f"{indent}  results: {emit.sequence(results)}")
        then = [(p.result.name, emit.word(p.then.name)) for p in branch.phis]
        then += [(n.result.name, _index(n.then)) for n in branch.numbers]
        self._arm("then", branch.then, then, indent, lines)
        if branch.other or results:
            other = [(p.result.name, emit.word(p.other.name)) for p in branch.phis]
            other += [(n.result.name, _index(n.other)) for n in branch.numbers]
            self._arm("else", branch.other, other, indent, lines)

    def _arm(
        self, key: str, body: Sequence[Stmt], yields: list[tuple[str, str]], indent: str, lines: list[str]
    ) -> None:
        under = indent + "    "
        inner = self.block(body, under)
        if yields:
            inner.append(f"{under}- yield: {emit.mapping([(emit.word(a), b) for a, b in yields])}")
        lines.append(f"{indent}  {key}:" if inner else f"{indent}  {key}: []")
        lines += inner

    def _carry(self, carry: Carry) -> tuple[str, str]:
        return emit.word(carry.arg.name), self._like("init", carry.arg, carry.init)

    def _result(self, carry: Carry) -> tuple[str, str]:
        return emit.word(carry.result.name), self._like("of", carry.result, carry.arg)

    def _phi(self, phi: Phi) -> str:
        more = self._differs(phi.result, phi.then)
        return emit.mapping([("name", emit.word(phi.result.name)), *more]) if more else emit.word(phi.result.name)

    def _like(self, key: str, value: Value, model: Value) -> str:
        """The value it starts from or stands for; in long form where type or place differ from that one's."""
        more = self._differs(value, model)
        return emit.mapping([(key, emit.word(model.name)), *more]) if more else emit.word(model.name)

    def _differs(self, value: Value, model: Value) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        if value.type != model.type:
            found.append(("type", self.type(value.type)))
        if value.buffer != model.buffer:
            found += [_split(p) for p in _place_parts(value.buffer)] if value.buffer else [("buffer", "null")]
        return found


def _limits(symbol: Sym) -> list[tuple[str, str]]:
    limits = (("min", symbol.low), ("max", symbol.high))
    return [(key, str(limit)) for key, limit in limits if limit is not None]


def _number_carry(number: NumberCarry) -> tuple[str, str]:
    init, more = _index(number.init), _limits(number.arg)
    return emit.word(number.arg.name), emit.mapping([("init", init), *more]) if more else init


def _number_result(number: NumberCarry) -> tuple[str, str]:
    of, more = emit.word(number.arg.name), _limits(number.result)
    return emit.word(number.result.name), emit.mapping([("of", of), *more]) if more else of


def _number_phi(number: NumberPhi) -> str:
    name, more = emit.word(number.result.name), _limits(number.result)
    return emit.mapping([("name", name), *more]) if more else name


def _split(part: str) -> tuple[str, str]:
    key, _, text = part.partition(": ")
    return key, text


def _index(index: Index) -> str:
    return str(index) if isinstance(index, int) else emit.word(index_text(index))


def _place_parts(ref: BufferRef) -> list[str]:
    parts = [f"buffer: {emit.word(ref.buffer)}"]
    if ref.slot is not None:
        parts.append(f"slot: {_index(ref.slot)}")
    if ref.offset != 0:
        parts.append(f"offset: {_index(ref.offset)}")
    return parts


def _place(ref: BufferRef) -> str:
    return ", ".join(_place_parts(ref))


def _scratch(ref: BufferRef) -> str:
    parts = _place_parts(ref)
    return emit.word(ref.buffer) if len(parts) == 1 else f"{{{', '.join(parts)}}}"


def attr_text(attr: Attr) -> str:
    """A written field that is no value."""
    if isinstance(attr, tuple):
        return emit.sequence(map(_index, attr))
    if isinstance(attr, bool | int | float):
        return emit.number(attr)
    if isinstance(attr, str):
        return emit.word(attr)
    if isinstance(attr, Condition):
        return emit.word(condition_text(attr))
    if isinstance(attr, DType):
        return attr.name
    if isinstance(attr, Memory):
        return attr.value
    return emit.word(index_text(attr)) if isinstance(attr, Expr) else "null"


def type_text(kind: ValueType) -> str:
    """A type as a flow mapping, defaults left out; an array at tensor level says so, since it has no memory yet."""
    parts = [("dtype", kind.dtype.name)]
    if isinstance(kind, ArrayType):
        parts += [("shape", emit.sequence(map(str, kind.shape))), ("level", "tensor")]
    elif isinstance(kind, TileType):
        parts.append(("shape", emit.sequence(map(str, kind.shape))))
        if kind.memory is not None:
            parts.append(("memory", kind.memory.value))
        if kind.layout is not None:
            parts.append(("layout", kind.layout.value))
        if kind.valid is not None:
            parts.append(("valid", emit.sequence(map(_index, kind.valid))))
        if kind.pitch is not None:
            parts.append(("pitch", str(kind.pitch)))
    return emit.mapping(parts)

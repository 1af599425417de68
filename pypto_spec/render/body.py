"""The statements of one kernel as lines of C++, each with the statement of the spec it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Expr, Index, bounds
from pypto_spec.ir.instr import Arg, InnerBarrier, Instr, Number, Ref, ScalarRef, Struct, Word
from pypto_spec.ir.nodes import Barrier, Condition, For, If, Op, Pair, SetFlag, Stmt, Value, WaitFlag
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import ScalarType, TensorType
from pypto_spec.ops.instructions import form_of
from pypto_spec.records import dataclass
from pypto_spec.render.comments import heading
from pypto_spec.render.literals import literal
from pypto_spec.render.model import LineKind
from pypto_spec.render.names import HELPERS
from pypto_spec.render.numbers import advances, open_numbers, open_picks, picks
from pypto_spec.render.scope import Scope, Tensor, operand_tensor, scalar_text
from pypto_spec.render.wrap import COLUMNS, INDENT, wrap

_KINDS: Mapping[str, LineKind] = {
    "DataCopyPad": "copy",
    "DataCopy.nz": "copy",
    "DataCopy.bias": "load",
    "LoadData": "load",
    "LoadDataWithTranspose": "load",
    "Mmad": "cube",
    "Fixpipe": "copy",
    "printf": "debug",
    "DumpTensor": "debug",
}
"""What calls and forms of calls are that are no vector instructions."""
_TYPED = frozenset({"DataCopyPadExtParams", "MrgSortSrcList", "MatrixParams"})
"""Parameter structs that are templates on the element type."""
_STATE = ("SetAtomic", "SetMask", "SetVectorMask", "ResetMask", "SetDeqScale")


@dataclass(slots=True)
class Line:
    """One line of the body; `ahead` is how many lines further up its call begins."""

    text: str
    kind: LineKind
    loc: Loc | None = None
    op: str | None = None
    event: str | None = None
    id: str | None = None
    pairs: tuple[Pair, ...] = ()
    ahead: int = 0
    number: int | None = None


class Body:
    """Writes the lines of a region's statements."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.lines: list[Line] = []
        self.count = 0
        """Ops written so far, in program order."""
        self.declared: list[set[str]] = [set()]
        self.helpers = scope.cpp.helpers

    # Statements

    def block(self, body: tuple[Stmt, ...], indent: str) -> None:
        """All statements of a block. What an op waits for stands under the op's comment."""
        waiting: list[Stmt] = []
        behind: Stmt | None = None
        for node in body:
            if isinstance(node, WaitFlag | Barrier):
                waiting.append(node)
                continue
            if isinstance(node, Op):
                split = len(waiting)
                while split and not _drains(waiting[split - 1], behind):
                    split -= 1
                self._sync(waiting[:split], indent)
                self._op(node, waiting[split:], indent)
            else:
                self._sync(waiting, indent)
                if isinstance(node, For):
                    self._loop(node, indent)
                elif isinstance(node, If):
                    self._branch(node, indent)
                else:
                    self._sync([node], indent)
            waiting = []
            behind = node
        self._sync(waiting, indent)

    def _sync(self, nodes: list[Stmt], indent: str) -> None:
        for node in nodes:
            if isinstance(node, Barrier):
                self._barrier(node.pipe, node.pairs, node.loc, None, indent)
                continue
            assert isinstance(node, SetFlag | WaitFlag)
            event = f"{node.source.upper()}_{node.target.upper()}"
            id_text = self.scope.cpp.index(node.id)
            word, kind = ("WaitFlag", "wait") if isinstance(node, WaitFlag) else ("SetFlag", "set")
            text = f"{indent}{word}<HardEvent::{event}>({id_text});"
            self.lines.append(
                Line(text, "wait" if kind == "wait" else "set", node.loc, None, event, id_text, node.pairs)
            )

    def _barrier(self, pipe: str, pairs: tuple[Pair, ...], loc: Loc, op: str | None, indent: str) -> None:
        name = pipe.upper()
        self.lines.append(Line(f"{indent}PipeBarrier<PIPE_{name}>();", "barrier", loc, op, name, None, pairs))

    def _loop(self, loop: For, indent: str) -> None:
        cpp = self.scope.cpp
        self.lines.append(Line(indent + heading(loop), "comment", loc=loop.loc))
        for text in open_numbers(loop, self.scope):
            self._put(text, "control", loop.loc, None, indent)
        if loop.kind == "while":
            assert loop.condition is not None
            self._inside(f"while ({cpp.condition(loop.condition)}) {{", loop.body, loop, indent)
        else:
            start, stop, step = cpp.index(loop.start), cpp.index(loop.stop), cpp.index(loop.step)
            name = self.scope.open_loop(loop.index)
            advance = f"++{name}" if loop.step == 1 else f"{name} += {step}"
            going = f"{name} {'>' if isinstance(loop.step, int) and loop.step < 0 else '<'} {stop}"
            if loop.condition is not None:
                going += f" && {cpp.operand(loop.condition, 'and')}"
            self._inside(f"for (int64_t {name} = {start}; {going}; {advance}) {{", loop.body, loop, indent)
            self.scope.close_loop()
        self.lines.append(Line(f"{indent}}}", "control", loc=loop.loc))

    def _branch(self, branch: If, indent: str) -> None:
        self.lines.append(Line(indent + heading(branch), "comment", loc=branch.loc))
        for text in open_picks(branch, self.scope):
            self._put(text, "control", branch.loc, None, indent)
        self._inside(f"if ({self.scope.cpp.condition(branch.condition)}) {{", branch.then, branch, indent)
        if branch.other or picks(branch, self.scope, 1):
            self._inside("} else {", branch.other, branch, indent, 1)
        self.lines.append(Line(f"{indent}}}", "control", loc=branch.loc))

    def _inside(self, head: str, body: tuple[Stmt, ...], node: For | If, indent: str, arm: int = 0) -> None:
        self._put(head, "control", node.loc, None, indent)
        self.declared.append(set())
        before = len(self.lines)
        self.block(body, indent + INDENT)
        for text in advances(node, self.scope) if isinstance(node, For) else picks(node, self.scope, arm):
            self._put(text, "control", node.loc, None, indent + INDENT)
        if len(self.lines) == before:
            self.lines.append(Line(f"{indent}{INDENT}// nothing to do here", "form"))
        self.declared.pop()

    # Ops

    def _op(self, op: Op, waits: list[Stmt], indent: str) -> None:
        lines = self.lines
        before, number = len(lines), self.count
        self.count += 1
        loc, name = op.loc, op.name
        printer = _Calls(op, self)
        made: list[tuple[str, LineKind] | InnerBarrier] = []
        for step in op.instrs or ():
            made.append((printer.call(step), printer.kind(step)) if isinstance(step, Instr) else step)
        lines.append(Line(indent + heading(op, self.scope.shown), "comment", loc, name))
        for tensor in printer.moving:
            if not any(tensor.name in scope for scope in self.declared):
                self.declared[-1].add(tensor.name)
                self._put(tensor.text, "declare", loc, name, indent)
        self._sync(waits, indent)
        room = COLUMNS - len(indent)
        for item in made:
            if isinstance(item, InnerBarrier):
                self._barrier(item.pipe, item.pairs, loc, name, indent)
            elif len(item[0]) <= room:
                lines.append(Line(indent + item[0], item[1], loc, name))
            else:
                self._put(item[0], item[1], loc, name, indent)
        for line in lines[before:]:
            line.number = number

    def _put(self, text: str, kind: LineKind, loc: Loc, op: str | None, indent: str) -> None:
        for number, line in enumerate(wrap(text, indent)):
            self.lines.append(Line(line, kind, loc, op, ahead=number))


def _drains(node: Stmt, behind: Stmt | None) -> bool:
    """Whether a wait behind a loop lowers a flag that the loop carries: it belongs to the loop, not to what follows."""
    if not isinstance(node, WaitFlag) or not isinstance(behind, For):
        return False
    kind = (node.source, node.target)
    return any(
        isinstance(s, WaitFlag) and (s.source, s.target) == kind and _may_be(s.id, node.id) for s in _inside(behind)
    )


def _may_be(event: Index, number: Index) -> bool:
    """Whether an event id may be that one, which is a number where flags of several ids are lowered one by one."""
    if isinstance(event, int) or not isinstance(number, int):
        return event == number
    low, high = bounds(event)
    return low is not None and high is not None and low <= number <= high


def _inside(loop: For | If) -> Iterator[Stmt]:
    for stmt in loop.body if isinstance(loop, For) else (*loop.then, *loop.other):
        yield stmt
        if isinstance(stmt, For | If):
            yield from _inside(stmt)


class _Calls:
    """Prints the instructions of one op."""

    __slots__ = ("_bases", "body", "moving", "op", "scope", "view")

    def __init__(self, op: Op, body: Body) -> None:
        self.op = op
        self.body = body
        self.scope = body.scope
        self.view = OpRecipe(op, "exact")
        self.moving: list[Tensor] = []
        self._bases: dict[tuple[str, DType | None], tuple[str, DType]] = {}

    def kind(self, instr: Instr) -> LineKind:
        """What a call is: a copy, a load, a matrix or vector instruction, or a change of the scalar stream's state."""
        found = _KINDS.get(instr.call)
        if found is not None:
            return found
        if instr.call == "DataCopy":
            names = [a.name for a in instr.args if isinstance(a, Ref)]
            plain: LineKind = "copy" if "to" in names or "from" in names else "vector"
            return _KINDS.get(form_of(instr, self.view.memory_of), plain)
        return "state" if instr.call.startswith(_STATE) else "vector"

    def call(self, instr: Instr) -> str:
        """One call as a statement."""
        template = f"<{', '.join(instr.template)}>" if instr.template else ""
        return f"{instr.call}{template}({', '.join([self.arg(a, instr) for a in instr.args])});"

    def arg(self, arg: Arg, instr: Instr) -> str:
        """One argument."""
        if isinstance(arg, Ref):
            return self.ref(arg)
        if isinstance(arg, bool):
            return "true" if arg else "false"
        if isinstance(arg, int):
            return str(arg)
        if isinstance(arg, Word):
            return arg.text
        if isinstance(arg, Struct):
            if arg.name in HELPERS:
                self.body.helpers.add(arg.name)
            name = f"{arg.name}<{self.element(instr).cpp}>" if arg.name in _TYPED else arg.name
            return f"{name}({', '.join([self.arg(a, instr) for a in arg.args])})"
        if isinstance(arg, Number):
            text, helper = literal(arg.value, arg.dtype)
            if helper is not None:
                self.body.helpers.add(helper)
            return text
        if isinstance(arg, ScalarRef):
            assert isinstance(arg.value.type, ScalarType)
            name = self.scope.scalars[arg.value.name]
            return scalar_text(name, arg.value.type.dtype, arg.dtype, self.body.helpers)
        if isinstance(arg, Condition):
            return self.scope.cpp.condition(arg)
        assert isinstance(arg, Expr)
        return self.scope.cpp.index(arg)

    def element(self, instr: Instr) -> DType:
        """The element type of a call's first operand."""
        first = next(a for a in instr.args if isinstance(a, Ref))
        return first.dtype if first.dtype is not None else self.base(first)[1]

    def ref(self, ref: Ref) -> str:
        """An operand: `t`, `t[64]`, `t[64].ReinterpretCast<int16_t>()`, `a[i * 64]`."""
        name, dtype = self.base(ref)
        offset = "" if ref.offset == 0 else f"[{self.scope.cpp.index(ref.offset)}]"
        if ref.dtype is None or ref.dtype is dtype:
            return name + offset
        cast = f".ReinterpretCast<{ref.dtype.cpp}>()"
        return name + offset + cast if ref.dtype.bytes == dtype.bytes else name + cast + offset

    def base(self, ref: Ref) -> tuple[str, DType]:
        """The C++ name behind an operand, and the type it is declared with."""
        key = (ref.name, ref.dtype)
        found = self._bases.get(key)
        if found is None:
            found = self._bases[key] = self._find(ref)
        return found

    def _find(self, ref: Ref) -> tuple[str, DType]:
        if ref.name == "scratch" or ref.name.startswith("scratch."):
            tensor = operand_tensor(self.op, ref.name, ref.dtype, self.scope)
            assert ref.dtype is not None
            dtype = ref.dtype
        else:
            value: Value = self.view.value(ref.name)
            dtype = value.type.dtype
            if isinstance(value.type, TensorType):
                return self.scope.gm[value], dtype
            tensor = self.scope.tile(value, self.op.loc)
        if tensor.moving and tensor not in self.moving:
            self.moving.append(tensor)
        return tensor.name, dtype

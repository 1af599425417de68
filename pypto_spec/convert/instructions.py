"""Instructions of a recipe as spec text, and back.

    instructions:
      - {call: Max, args: [scratch, x, "x + 64", 64, 64, {BinaryRepeatParams: [1, 1, 1, 8, 32, 32]}]}
      - {barrier: v}

`reach: N` behind the arguments of a Gather is how many elements of its source it may read.

An argument is written so that its kind can be told from its form:

    x, scratch.1            an operand by its field's name (`Ref`)
    x + i * 64              the same, that many elements in
    x as int16 + 64         the same, read as another type of that width
    "RoundMode::CAST_RINT"  a C++ word: a string with `::`; any other one is {word: PIPE_V}
    64, true                an integer, a boolean
    {index: i * 64}         an integer that depends on symbols
    {condition: i == 0}     a boolean that depends on symbols
    {fp32: 0.5}             a number of that data type; `inf`, `-inf` and `nan` are words
    {fp32: eps}             the run-time scalar `eps` converted to that type
    {Params: [1, 8]}        a parameter struct
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

from pypto_spec.convert import emit
from pypto_spec.ir.condition import text_of
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ir.expr import Expr, Index, Quot, to_text
from pypto_spec.ir.instr import Arg, InnerBarrier, Instr, Number, Ref, ScalarRef, Step, Struct, Word
from pypto_spec.ir.nodes import Condition, Pair, Pipe, Value

PIPES: frozenset[str] = frozenset(get_args(Pipe))
_REF = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(?:\.[0-9]+)?)(?: as ([a-z]+[0-9]+))?(?: \+ (.+))?\Z")
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


INSTRUCTIONS_HELP = "leave `instructions` out: the compiler then writes those of the operator's recipe"


class InstructionTextError(ValueError):
    """An instruction that has none of the forms above; `args[0]` says what is wrong."""


def index_text(index: Index) -> str:
    """Spec text of an index without the outermost parentheses, not quoted."""
    if isinstance(index, int):
        return str(index)
    text = to_text(index)
    (atom, factor), *more = index.terms
    alone = not more and index.const == 0 and factor == 1
    return text[1:-1] if alone and isinstance(atom, Quot) else text


def condition_text(condition: Condition) -> str:
    """A condition as an expression."""
    return text_of(condition, index_text)


def encode(step: Step) -> str:
    """One step as a flow mapping."""
    if isinstance(step, InnerBarrier):
        pairs: list[tuple[str, str]] = [("barrier", step.pipe)]
        if step.pairs:
            pairs.append(("for", pairs_text(step.pairs)))
        return emit.mapping(pairs)
    parts = [("call", emit.word(step.call))]
    if step.template:
        parts.append(("template", emit.sequence(map(emit.word, step.template))))
    parts.append(("args", emit.sequence(map(_arg, step.args))))
    if step.reach is not None:
        parts.append(("reach", emit.number(step.reach)))
    return emit.mapping(parts)


def pairs_text(pairs: Sequence[Pair]) -> str:
    """What a flag or barrier orders: `[[l, c], [l, c]]` for one pair, a list of such for several."""
    made = [f"[[{a[0]}, {a[1]}], [{b[0]}, {b[1]}]]" for a, b in pairs]
    return made[0] if len(made) == 1 else emit.sequence(made)


def _arg(arg: Arg) -> str:
    if isinstance(arg, Ref):
        text = arg.name if arg.dtype is None else f"{arg.name} as {arg.dtype.name}"
        return emit.word(text if arg.offset == 0 else f"{text} + {index_text(arg.offset)}")
    if isinstance(arg, bool | int):
        return emit.number(arg)
    if isinstance(arg, Word):
        return emit.quoted(arg.text) if "::" in arg.text else emit.mapping([("word", emit.word(arg.text))])
    if isinstance(arg, Expr):
        return emit.mapping([("index", emit.word(index_text(arg)))])
    if isinstance(arg, Number):
        return emit.mapping([(arg.dtype.name, emit.number(arg.value))])
    if isinstance(arg, ScalarRef):
        return emit.mapping([(arg.dtype.name, emit.word(arg.value.name))])
    if isinstance(arg, Condition):
        return emit.mapping([("condition", emit.word(condition_text(arg)))])
    return emit.mapping([(arg.name, emit.sequence(map(_arg, arg.args)))])


class Decoder:
    """Reads steps back.

    `index` and `condition` parse expression text, `scalar` finds a run-time scalar (None: there is none).
    """

    def __init__(
        self,
        index: Callable[[str], Index],
        condition: Callable[[str], Condition],
        scalar: Callable[[str], Value | None],
    ) -> None:
        self.index = index
        self.condition = condition
        self.scalar = scalar

    def step(self, plain: object) -> Step:
        """One step from plain data; raises InstructionTextError."""
        if not isinstance(plain, Mapping):
            raise InstructionTextError("an instruction is a mapping `{call: NAME, args: [...]}` or `{barrier: PIPE}`")
        if "barrier" in plain:
            pipe = plain["barrier"]
            if pipe not in PIPES:
                raise InstructionTextError(f"`{pipe}` is not a pipe; pipes are {', '.join(sorted(PIPES))}")
            return InnerBarrier(cast(Pipe, pipe), decode_pairs(plain.get("for")))
        call, args, template = plain.get("call"), plain.get("args", []), plain.get("template", [])
        if not isinstance(call, str) or not isinstance(args, list) or not isinstance(template, list):
            raise InstructionTextError("an instruction is `{call: NAME, template: [WORD, ...], args: [ARGUMENT, ...]}`")
        reach = plain.get("reach")
        if reach is not None and type(reach) is not int:
            raise InstructionTextError("`reach` of an instruction is a number of elements")
        return Instr(call, tuple(map(self.arg, args)), tuple(map(str, template)), reach)

    def arg(self, plain: object) -> Arg:
        """One argument from plain data; raises InstructionTextError."""
        if isinstance(plain, bool | int):
            return plain
        if isinstance(plain, str):
            return Word(plain) if "::" in plain else self._ref(plain)
        if isinstance(plain, Mapping) and len(plain) == 1:
            ((key, value),) = plain.items()
            if isinstance(value, list):
                return Struct(str(key), tuple(map(self.arg, value)))
            if key == "word":
                return Word(str(value))
            if key == "index":
                return self.index(str(value))
            if key == "condition":
                return self.condition(str(value))
            if key in DTYPES:
                return self._number(value, str(key))
        raise InstructionTextError(f"`{plain}` is no argument of an instruction")

    def _ref(self, text: str) -> Ref:
        found = _REF.match(text)
        if found is None or (found[2] is not None and found[2] not in DTYPES):
            raise InstructionTextError(f"`{text}` is no operand; write `x`, `x + OFFSET` or `x as int16 + OFFSET`")
        return Ref(found[1], self.index(found[3]) if found[3] else 0, DTYPES[found[2]] if found[2] else None)

    def _number(self, value: object, dtype: str) -> Number | ScalarRef:
        if isinstance(value, int | float):
            return Number(value, DTYPES[dtype])
        if isinstance(value, str):
            if value in _WORDS:
                return Number(_WORDS[value], DTYPES[dtype])
            scalar = self.scalar(value)
            if scalar is not None:
                return ScalarRef(scalar, DTYPES[dtype])
        raise InstructionTextError(f"`{value}` is neither a number nor a run-time scalar")


def decode_pairs(plain: object) -> tuple[Pair, ...]:
    """The pairs of a `for` field: one pair or a list of pairs; raises InstructionTextError."""
    if plain is None or plain == []:
        return ()
    try:
        if isinstance(plain, list | tuple) and isinstance(plain[0][0], int):
            return (_pair(plain),)
        return tuple(map(_pair, cast("list[object]", plain)))
    except (TypeError, IndexError, ValueError):
        raise InstructionTextError("`for` holds pairs of statements, `[[line, column], [line, column]]`") from None


def _pair(plain: object) -> Pair:
    first, second = cast("list[list[int]]", plain)
    (a, b), (c, d) = first, second
    if not all(type(n) is int for n in (a, b, c, d)):
        raise ValueError
    return (a, b), (c, d)

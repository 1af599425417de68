"""Instructions as text and back."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.convert.exprs import Expressions
from pypto_spec.convert.instructions import Decoder, InstructionTextError, decode_pairs, encode
from pypto_spec.convert.scope import Name, Scope
from pypto_spec.diagnostics.span import NOWHERE
from pypto_spec.ir.dtype import DTYPES, FP32, INT16, UINT32
from pypto_spec.ir.expr import Index, Sym, add, floordiv, minimum, mod, mul, sym
from pypto_spec.ir.instr import Arg, InnerBarrier, Instr, Number, Ref, ScalarRef, Struct, Word
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import ScalarType
from pypto_spec.spec.formula import parse_expression

I = Sym("i", "loop", 0, None)  # noqa: E741
M = Sym("M", "dim", 1, None)
EPS = Value("eps", ScalarType(FP32))


def decoder() -> Decoder:
    scope = Scope()
    scope.declare(Name("i", "index", NOWHERE, index=sym(I)))
    scope.declare(Name("M", "symbol", NOWHERE, index=sym(M)))
    exprs = Expressions(scope)
    exprs.affine = False
    return Decoder(
        lambda text: exprs.index(parse_expression(text)),
        lambda text: exprs.condition(parse_expression(text)),
        {"eps": EPS}.get,
    )


def test_text() -> None:
    step = Instr(
        "Max",
        (
            Ref("scratch"),
            Ref("x", 64),
            Ref("x", mul(sym(I), 64), INT16),
            Word("RoundMode::CAST_RINT"),
            Word("PIPE_V"),
            64,
            True,
            add(sym(M), -1),
            Number(0.5, FP32),
            Number(-math.inf, FP32),
            ScalarRef(EPS, FP32),
            Struct("BinaryRepeatParams", (1, 1, 1, 8, 32, 32)),
        ),
        ("half", "false"),
    )
    assert encode(step) == (
        '{call: Max, template: [half, "false"], args: [scratch, x + 64, x as int16 + i * 64, "RoundMode::CAST_RINT", '
        "{word: PIPE_V}, 64, true, {index: M - 1}, {fp32: 0.5}, {fp32: -inf}, {fp32: eps}, "
        "{BinaryRepeatParams: [1, 1, 1, 8, 32, 32]}]}"
    )
    assert encode(InnerBarrier("v", (((1, 2), (3, 4)),))) == "{barrier: v, for: [[1, 2], [3, 4]]}"
    assert encode(InnerBarrier("v")) == "{barrier: v}"


words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
operands = st.one_of(words, words.map(lambda w: f"{w}.1"))


@st.composite
def indices(draw: st.DrawFn) -> Index:
    made: Index = draw(st.integers(-1000, 1000))
    for symbol in draw(st.lists(st.sampled_from([I, M]), max_size=3)):
        made = add(made, mul(sym(symbol), draw(st.integers(-64, 64))))
    for _ in range(draw(st.integers(0, 2))):
        how = draw(st.sampled_from(["//", "%", "min", "*"]))
        if how == "//":
            made = floordiv(made, draw(st.integers(1, 9)))
        elif how == "%":
            made = mod(made, draw(st.integers(1, 9)))
        else:
            made = minimum(made, add(sym(M), -3)) if how == "min" else mul(made, sym(I))
    return made


numbers = st.one_of(st.floats(allow_nan=False), st.integers(-(1 << 40), 1 << 40))
dtypes = st.sampled_from(list(DTYPES.values()))
simple: st.SearchStrategy[Arg] = st.one_of(
    st.builds(Ref, operands, indices(), st.one_of(st.none(), dtypes)),
    st.builds(Word, words),
    st.builds(lambda a, b: Word(f"{a}::{b}"), words, words),
    st.builds(Number, numbers, dtypes),
    st.builds(ScalarRef, st.just(EPS), dtypes),
    indices(),
    st.booleans(),
)
args = st.recursive(simple, lambda inner: st.builds(Struct, words, st.lists(inner).map(tuple)), max_leaves=6)
position = st.tuples(st.integers(1, 99), st.integers(1, 99))
pairs = st.lists(st.tuples(position, position), max_size=3).map(tuple)
steps = st.one_of(
    st.builds(Instr, words, st.lists(args, max_size=5).map(tuple), st.lists(words, max_size=2).map(tuple)),
    st.builds(InnerBarrier, st.sampled_from(["v", "mte2", "all"]), pairs),
)


@given(steps)
def test_round_trip(step: Instr | InnerBarrier) -> None:
    assert decoder().step(yaml.safe_load(encode(step))) == step


@pytest.mark.parametrize(
    "plain",
    [
        "x",
        {"call": "Exp", "args": "x"},
        {"args": []},
        {"barrier": "w"},
        {"barrier": "v", "for": [1]},
        {"call": "Exp", "args": ["x y"]},
        {"call": "Exp", "args": ["x as fp99"]},
        {"call": "Exp", "args": [{"fp32": "zz"}]},
        {"call": "Exp", "args": [{"a": 1, "b": 2}]},
        {"call": "Exp", "args": [None]},
    ],
)
def test_what_cannot_be_read(plain: object) -> None:
    with pytest.raises(InstructionTextError):
        decoder().step(plain)


def test_pairs() -> None:
    assert decode_pairs(None) == ()
    assert decode_pairs([[1, 2], [3, 4]]) == (((1, 2), (3, 4)),)
    assert decode_pairs([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]) == (((1, 2), (3, 4)), ((5, 6), (7, 8)))


def test_the_reach_of_a_gather_comes_back() -> None:
    step = Instr("Gather", (Ref("into"), Ref("x"), Ref("scratch", 0, UINT32), 0, 64), (), 96)
    text = "{call: Gather, args: [into, x, scratch as uint32, 0, 64], reach: 96}"
    assert encode(step) == text
    assert decoder().step(yaml.safe_load(text)) == step
    with pytest.raises(InstructionTextError, match="reach"):
        decoder().step({"call": "Gather", "args": [], "reach": "all"})

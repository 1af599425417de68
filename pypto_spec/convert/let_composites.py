"""Functions of a `let` that are formulas over operators: softmax, sigmoid, gelu ...

Each becomes a chain of one-op statements. The formulas are chosen so that no intermediate overflow gives NaN: an
exponential that becomes infinite only ever divides, and softmax subtracts the largest element first. fp16 operands are
widened to fp32 and the result is rounded once, half to even, as torch does; bf16 counts as everywhere in a `let`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pypto_spec.convert.let_terms import Number, Term, Tile
from pypto_spec.diagnostics.rules.shapes import BAD_ARGUMENT, DTYPE_UNSUPPORTED, RUNTIME_EXTENT, SHAPE_MISMATCH
from pypto_spec.diagnostics.rules.syntax import UNKNOWN_WORD
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.dtype import BF16, FP16, FP32
from pypto_spec.ir.expr import to_text
from pypto_spec.ir.types import TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.formula import Call, Expr, Name

if TYPE_CHECKING:
    from pypto_spec.convert.let import Formula


class Chain:
    """Writes the ops of one composite function; every op stands at the call's place in the formula."""

    def __init__(self, formula: Formula, call: Call) -> None:
        self.formula = formula
        self.call = call

    def unary(self, name: str, x: Term) -> Term:
        """An operator of one tile."""
        return self.formula.maker.apply(OPS[name], {"x": x}, {}, self.call)

    def binary(self, sign: str, left: Term | float, right: Term | float) -> Term:
        """An infix sign, spreading vectors as in a formula."""
        return self.formula.binary(sign, self._term(left), self._term(right), self.call)

    def _term(self, value: Term | float) -> Term:
        return (
            value
            if isinstance(value, Number | Tile) or not isinstance(value, int | float)
            else Number(value, self.call)
        )


Build = Callable[[Chain, Tile, str], Term]


class Composite(NamedTuple):
    """A function: its formula in words, how its ops are made, and the words of `approximate` where it has that."""

    formula: str
    build: Build
    forms: tuple[str, ...] = ()
    rows: bool = False


def _over_exp(chain: Chain, top: Term | float, exponent: Term) -> Term:
    """top / (1 + exp(exponent)); where the exponential is infinite this is 0."""
    return chain.binary("/", top, chain.binary("+", chain.unary("exp", exponent), 1))


def _sigmoid(chain: Chain, x: Tile, form: str) -> Term:
    return _over_exp(chain, 1, chain.unary("neg", x))


def _silu(chain: Chain, x: Tile, form: str) -> Term:
    return _over_exp(chain, x, chain.unary("neg", x))


def _tanh(chain: Chain, x: Tile, form: str) -> Term:
    return chain.binary("-", 1, _over_exp(chain, 2, chain.binary("*", x, 2)))


LINEAR = 2 * math.sqrt(2 / math.pi)
CUBIC = LINEAR * 0.044715


def _gelu(chain: Chain, x: Tile, form: str) -> Term:
    if form == "sigmoid":
        return _over_exp(chain, x, chain.binary("*", x, -1.702))
    inner = chain.binary("-", chain.binary("*", chain.binary("*", x, x), -CUBIC), LINEAR)
    return _over_exp(chain, x, chain.binary("*", inner, x))


def _softmax(chain: Chain, x: Tile, form: str) -> Term:
    e = chain.unary("exp", chain.binary("-", x, chain.unary("row_max", x)))
    return chain.binary("/", e, chain.unary("row_sum", e))


def _log_softmax(chain: Chain, x: Tile, form: str) -> Term:
    shifted = chain.binary("-", x, chain.unary("row_max", x))
    return chain.binary("-", shifted, chain.unary("log", chain.unary("row_sum", chain.unary("exp", shifted))))


def _square(chain: Chain, x: Tile, form: str) -> Term:
    return chain.binary("*", x, x)


def _mean(axis: str) -> Build:
    def build(chain: Chain, x: Tile, form: str) -> Term:
        along = -1 if axis == "row" else -2
        kind = x.value.type
        valid = kind.valid if isinstance(kind, TileType) else None
        count = x.shape[along] if valid is None else valid[along]
        if not isinstance(count, int):
            name = chain.formula.maker.text(chain.call.args[0]) if chain.call.args else "x"
            raise chain.formula.maker.fail(
                RUNTIME_EXTENT,
                chain.call,
                f"`{axis}_mean` divides by the number of elements, {to_text(count)}, which is known at run time only",
                label="of how many?",
                helps=(
                    f"pass its inverse as a scalar, `scalars: {{inverse: fp32}}`, and write "
                    f"`{axis}_sum({name}) * inverse`",
                ),
            )
        return chain.binary("/", chain.unary(f"{axis}_sum", x), count)

    return build


COMPOSITES: Mapping[str, Composite] = {
    "sigmoid": Composite("1 / (1 + exp(-x))", _sigmoid),
    "silu": Composite("x / (1 + exp(-x))", _silu),
    "tanh": Composite("1 - 2 / (1 + exp(2 x)); wrong by at most 3e-7, which near 0 is much of the value", _tanh),
    "gelu": Composite(
        "x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3) for `tanh`, u = 0.851 x for `sigmoid`",
        _gelu,
        forms=("tanh", "sigmoid"),
    ),
    "softmax": Composite("e / row_sum(e) with e = exp(x - row_max(x))", _softmax, rows=True),
    "log_softmax": Composite("s - log(row_sum(exp(s))) with s = x - row_max(x)", _log_softmax, rows=True),
    "square": Composite("x * x", _square),
    "row_mean": Composite("row_sum(x) / N", _mean("row"), rows=True),
    "col_mean": Composite("col_sum(x) / M", _mean("col"), rows=True),
}
"""Every composite function by name. A test computes each against torch, at large arguments too."""

_IN_OWN_DTYPE = frozenset({"square"})
"""Functions of one instruction: those keep the operand's dtype, integers included."""


def usage(name: str) -> str:
    """How a function is written."""
    return f"{name}(x, approximate=...)" if COMPOSITES[name].forms else f"{name}(x)"


def composite(formula: Formula, call: Call) -> Term:
    """The ops of a call to a composite function."""
    found = COMPOSITES[call.func]
    x, form = _arguments(formula, call, found)
    term = formula.term(x)
    fail = formula.maker.fail
    if not isinstance(term, Tile):
        raise fail(BAD_ARGUMENT, term.at, f"`{call.func}` takes a tile as `x`", label="a number")
    if found.rows and len(term.shape) < 2:
        raise fail(
            SHAPE_MISMATCH,
            x,
            f"`{call.func}` needs rows and columns, `{formula.maker.text(x)}` is {list(term.shape)}",
            label="one dimension",
            helps=(f"make it a row first: `reshape({formula.maker.text(x)}, [1, {term.shape[0]}])`",),
        )
    own = call.func in _IN_OWN_DTYPE
    if not own and term.dtype not in (FP32, FP16, BF16):
        raise fail(
            DTYPE_UNSUPPORTED,
            x,
            f"`{call.func}` does not exist for {term.dtype}; it takes fp32, fp16 or bf16",
            label=f"{term.dtype} here",
            helps=(f"cast it first: `{call.func}(cast({formula.maker.text(x)}, fp32))`",),
        )
    narrow = term.dtype == FP16 and not own
    if narrow:
        term = formula.maker.emit(OPS["cast"], {"x": term.value}, {"dtype": FP32}, {"x": x}, call)
    made = found.build(Chain(formula, call), term, form)
    if not narrow:
        return made
    assert isinstance(made, Tile)
    return formula.maker.emit(OPS["cast"], {"x": made.value}, {"dtype": FP16, "mode": "rint"}, {"x": x}, call)


def _arguments(formula: Formula, call: Call, found: Composite) -> tuple[Expr, str]:
    fail, write = formula.maker.fail, f"write `{usage(call.func)}`"
    names = ["x", "approximate"] if found.forms else ["x"]
    written: dict[str, Expr] = {}
    if len(call.args) > len(names):
        raise fail(
            BAD_ARGUMENT,
            call.args[len(names)],
            f"`{call.func}` takes {len(names)} argument{'s' if len(names) > 1 else ''}, found {len(call.args)}",
            label="one too many",
            helps=(write,),
        )
    written.update(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.name not in names or keyword.name in written:
            known = keyword.name in names
            raise fail(
                BAD_ARGUMENT,
                keyword,
                f"`{keyword.name}` of `{call.func}` is given twice"
                if known
                else f"`{call.func}` has no argument `{keyword.name}`",
                label="given by position already" if known else "unknown argument",
                helps=(write,),
            )
        written[keyword.name] = keyword.value
    if "x" not in written:
        raise fail(BAD_ARGUMENT, call, f"`{call.func}` needs `x`: the operand", label="`x` is missing", helps=(write,))
    form = written.get("approximate")
    if found.forms and form is None:
        raise fail(
            BAD_ARGUMENT,
            call,
            f"`{call.func}` by the error function does not exist on this hardware; its approximations are "
            + " and ".join(f"`{f}`" for f in found.forms),
            label="which approximation?",
            helps=tuple(
                f"write `{call.func}({formula.maker.text(written['x'])}, approximate={f})`" for f in found.forms
            ),
        )
    word = form.id if isinstance(form, Name) else ""
    if form is not None and word not in found.forms:
        shown = formula.maker.text(form)
        raise fail(
            UNKNOWN_WORD,
            form,
            f"`{shown}` is no form of `{call.func}`",
            label="unknown word",
            helps=(did_you_mean(shown, found.forms) or f"one of {', '.join(found.forms)}",),
        )
    return written["x"], word

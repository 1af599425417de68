"""Index expressions mean in C++ what they mean in the spec, for negative values too."""

from __future__ import annotations

import random
from pathlib import Path

from pypto_spec.ir.expr import (
    Expr,
    Index,
    Sym,
    add,
    ceil_div,
    evaluate,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    sub,
    sym,
)
from pypto_spec.ir.nodes import Condition
from pypto_spec.render.cexpr import Cpp
from pypto_spec.render.names import HELPERS
from pypto_spec.templating import render
from tests.render.tools import compile_and_run

SYMBOLS = (Sym("i", "loop", 0, 63), Sym("j", "loop", -40, 40), Sym("M", "dim", 1, 4096), Sym("n", "scalar"))


def _random_index(rng: random.Random, depth: int) -> Index:
    if depth == 0:
        leaves: list[Index] = [rng.randint(-70, 70), *map(sym, SYMBOLS)]
        return rng.choice(leaves)
    a, b = _random_index(rng, depth - 1), _random_index(rng, depth - 1)
    by = rng.randint(2, 9)
    made: list[Index] = [add(a, b), sub(a, b), mul(a, rng.randint(-9, 9)), mul(a, b), floordiv(a, by), mod(a, by)]
    made += [ceil_div(a, by), minimum(a, b), maximum(a, b)]
    return rng.choice(made)


def test_indices_mean_the_same_in_cpp(tmp_path: Path) -> None:
    rng = random.Random(7)
    cpp = Cpp(lambda s: s.name)
    cases: list[tuple[Expr, dict[Sym, int], int]] = []
    while len(cases) < 400:
        index = _random_index(rng, rng.randint(1, 3))
        values = {s: rng.randint(-40 if s.low is None else s.low, 60 if s.high is None else s.high) for s in SYMBOLS}
        if isinstance(index, Expr):
            cases.append((index, values, evaluate(index, values)))
    lines = []
    for index, values, expected in cases:
        named = "; ".join(f"[[maybe_unused]] const int64_t {s.name} = {v}" for s, v in values.items())
        lines.append(f"    {{ {named}; Expect({cpp.index(index)}, {expected}); }}")
    helpers = [render(f"ascendc/helpers/{h}.h.j2", inline="static inline") for h in HELPERS if h in cpp.helpers]
    source = tmp_path / "main.cpp"
    check = "static void Expect(int64_t a, int64_t b) {\n    if (a != b) {\n        ++wrong;\n    }\n}\n"
    body = "\n".join(lines)
    source.write_text(
        "#include <cstdint>\n#include <cstdio>\nstatic int wrong = 0;\n" + check + "\n".join(helpers)
        + f'\nint main() {{\n{body}\n    std::printf("%d wrong", wrong);\n}}\n'
    )  # fmt: skip
    assert compile_and_run(tmp_path, [source], []) == "0 wrong"
    assert {"FloorDivide", "FloorRemainder", "CeilDivide", "SmallerOf", "LargerOf"} <= cpp.helpers


def test_plain_division_where_nothing_is_negative() -> None:
    cpp = Cpp(lambda s: s.name)
    i, j, m, n = map(sym, SYMBOLS)
    assert cpp.index(add(mul(mod(i, 2), 64), 8)) == "(i % 2) * 64 + 8"
    assert cpp.index(mod(i, 2)) == "i % 2"
    assert cpp.index(floordiv(add(i, 1), 3)) == "(i + 1) / 3"
    assert cpp.index(sub(64, mul(i, 8))) == "64 - i * 8"
    assert cpp.index(sub(mul(m, 2), i)) == "M * 2 - i"
    assert not cpp.helpers
    assert cpp.index(ceil_div(m, 64)) == "CeilDivide(M, 64)"
    assert cpp.index(floordiv(j, 3)) == "FloorDivide(j, 3)"
    assert cpp.index(minimum(m, 64, n)) == "SmallerOf(SmallerOf(M, n), 64)"


def test_conditions() -> None:
    cpp = Cpp(lambda s: s.name)
    i, _, m, _ = map(sym, SYMBOLS)
    first, last = Condition("==", i, 0), Condition(">=", add(i, 1), m)
    assert cpp.condition(first) == "i == 0"
    assert cpp.condition(Condition("and", first, Condition("not", last))) == "i == 0 && !(i + 1 >= M)"
    assert cpp.condition(Condition("and", first, Condition("or", first, last))) == "i == 0 && (i == 0 || i + 1 >= M)"

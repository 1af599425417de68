"""Long lines are broken where clang-format breaks them."""

from __future__ import annotations

import random

from pypto_spec.render.wrap import COLUMNS, wrap
from tests.render.tools import clang_format


def _argument(rng: random.Random, depth: int = 1) -> str:
    name = rng.choice(
        ["x", "some_tile", "a_rather_long_name_of_a_tile_0123456789", "t[64]", "out[i * 8192 + 64]", "2.0f"]
    )
    if depth and rng.random() < 0.4:
        called = rng.choice(["SmallerOf", "DataCopyExtParams", "BinaryRepeatParams", "DataCopyPadExtParams<float>"])
        return f"{called}({', '.join(_argument(rng, depth - 1) for _ in range(rng.randint(1, 5)))})"
    return name


def test_random_calls_are_left_alone_by_clang_format() -> None:
    rng = random.Random(3)
    lines = ["void f() {"]
    for _ in range(400):
        args = ", ".join(_argument(rng, int(n > 1)) for n in range(rng.randint(1, 7)))
        lines += wrap(f"{rng.choice(['Add', 'DataCopyPad', 'x.SetGlobalBuffer', 'Max<half, false>'])}({args});", "    ")
    text = "\n".join([*lines, "}", ""])
    before, after = text.split("\n"), clang_format(text).split("\n")
    assert max(map(len, before)) <= COLUMNS
    assert before == after


def test_definitions_and_headers_are_left_alone_by_clang_format() -> None:
    deep = "    " * 6
    long_sum = " + ".join(f"index_{n} * 8192" for n in range(4))
    body = [
        *wrap(
            f"LocalTensor<float> a_rather_long_name = ub.GetWithOffset<float>(8192, (i % 2) * 32768 + {'x' * 40});",
            deep,
        ),
        *wrap(f"for (int64_t i = blk * 64 + 12345; i < SmallerOf({long_sum}, 64); i += num_blocks * 64) {{", deep),
        f"{deep}    Exp(y, x, 64);",
        f"{deep}}}",
        *wrap(f"if (first_of_all_conditions == {long_sum[:30]} && second_of_all_conditions < 12345678) {{", deep),
        f"{deep}    Exp(y, x, 64);",
        f"{deep}}}",
    ]
    head = wrap(f'extern "C" __global__ __aicore__ void f({", ".join(f"GM_ADDR tensor_{n}_gm" for n in range(12))}) {{')
    opened = ["    " * n + "for (;;) {" for n in range(1, 6)]
    text = "\n".join([*head, *opened, *body, *("    " * n + "}" for n in range(5, 0, -1)), "}", ""])
    assert clang_format(text) == text


def test_short_lines_stay_as_they_are() -> None:
    assert wrap("Exp(y, x, 64);", "    ") == ["    Exp(y, x, 64);"]
    assert wrap("x" * 200) == ["x" * 200]

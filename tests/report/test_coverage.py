"""PS2035: what is reported is written by nobody, and what a loop leaves out is reported."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

import pytest

from tests.report.findings import found

ROWS, COLS = 24, 64

Window = tuple[int, int, int, int]
"""First row and column, rows and columns."""


def spec(body: Sequence[str], *, symbols: str = "", rows: str = str(ROWS), access: str = "out") -> str:
    return "\n".join([
        "spec: v1",
        "name: k",
        f"symbols: {{{symbols}}}",
        "tensors:",
        f"  x: {{dtype: fp32, shape: [{rows}, {COLS}]}}",
        f"  out: {{dtype: fp32, shape: [{rows}, {COLS}], access: {access}}}",
        "diagnostics: {disable: [PH001]}",
        "program:",
        *(f"  {line}" for line in body),
        "",
    ])  # fmt: skip


def region(*body: str, indent: str = "") -> list[str]:
    return [f"{indent}- region: r", f"{indent}  body:", *(f"{indent}    {line}" for line in body)]


def copy(at: str, rows: int, cols: int, valid: str = "") -> list[str]:
    part = f", valid: {valid}" if valid else ""
    return [
        f"- load: {{into: t, from: x, at: {at}, shape: [{rows}, {cols}]{part}}}",
        f"- store: {{from: t, to: out, at: {at}}}",
    ]


def inside(head: str, body: Sequence[str]) -> list[str]:
    return [head, "  body:", *(f"    {line}" for line in body)]


def gap(text: str) -> tuple[range, range] | None:
    """The rows and columns of the part that is reported."""
    reported = found(text, "PS2035")
    if not reported:
        return None
    (only,) = reported
    where = re.search(r"`out\[(\S+), (\S+)\]`", only.message)
    assert where is not None
    parts = [range(n) if part == ":" else range(*map(int, part.split(":"))) for part, n in
             zip(where.groups(), (ROWS, COLS), strict=True)]  # fmt: skip
    return parts[0], parts[1]


def written(windows: Iterator[Window]) -> set[tuple[int, int]]:
    return {(r, c) for i, j, m, n in windows for r in range(i, i + m) for c in range(j, j + n)}


@pytest.mark.parametrize("seed", range(40))
def test_against_a_list_of_all_elements(seed: int) -> None:
    """Loops with known bounds: a gap is reported exactly where there is one, and it is one."""
    rng = random.Random(seed)
    body: list[str] = []
    windows: list[Window] = []
    for number in range(rng.choice((1, 1, 2, 3))):
        rows, cols = rng.choice((2, 4, 8, 12, 24)), rng.choice((8, 16, 32, 64))
        step, right = rng.choice((rows, rows, rows + 1, max(1, rows - 1))), rng.choice((cols, cols, cols // 2))
        first = rng.randrange(0, ROWS - rows + 1)
        down = rng.randrange(1, (ROWS - rows - first) // step + 2)
        across = rng.randrange(1, (COLS - cols) // max(right, 1) + 2)
        i, j = f"i{number}", f"j{number}"
        moves = copy(f"[{i} * {step} + {first}, {j} * {right}]", rows, cols)
        inner = inside(f"- for: {{index: {j}, count: {across}}}", moves)
        body += inside(f"- for: {{index: {i}, count: {down}}}", inner)
        windows += [(first + a * step, b * right, rows, cols) for a in range(down) for b in range(across)]
    everything = {(r, c) for r in range(ROWS) for c in range(COLS)}
    missing = everything - written(iter(windows))
    reported = gap(spec(region(*body)))
    assert (reported is None) == (not missing)
    if reported is not None:
        assert {(r, c) for r in reported[0] for c in reported[1]} <= missing


SURE = {
    "blocks": ["- spmd: {index: b, blocks: 3}", "  body:", *region(*copy("[b * 8, 0]", 8, 64), indent="    ")],
    "share": [
        "- spmd: {index: b, blocks: 2}", "  body:",
        *region(*inside("- for: {index: i, range: [b, 3, num_blocks()]}", copy("[i * 8, 0]", 8, 64)), indent="    "),
    ],
    "parallel": ["- parallel: {index: b, count: 3}", "  body:", *region(*copy("[b * 8, 0]", 8, 64), indent="    ")],
    "host": ["- for: {index: h, count: 3}", "  body:", *region(*copy("[h * 8, 0]", 8, 64), indent="    ")],
    "array": region("- let: out = x * 2"),
    "arms": region("- for: {index: i, count: 3}", "  body:", "    - if: i == 1", "      then:",
                   *(f"        {line}" for line in copy("[8, 0]", 8, 64)), "      else:",
                   *(f"        {line}" for line in copy("[i * 8, 0]", 8, 64))),
}  # fmt: skip


@pytest.mark.parametrize("name", SURE)
def test_all_is_written(name: str) -> None:
    assert gap(spec(SURE[name])) is None


@pytest.mark.parametrize("name", ["blocks", "parallel", "host"])
def test_one_round_less(name: str) -> None:
    text = spec(SURE[name]).replace("blocks: 3", "blocks: 2").replace("count: 3", "count: 2")
    assert gap(text) == (range(16, 24), range(64))


def test_an_arm_that_never_runs() -> None:
    text = spec(SURE["arms"]).replace("i == 1", "i == 7")
    assert gap(text) is None
    assert gap(text.replace("[i * 8, 0]", "[i % 2 * 8, 0]")) == (range(16, 24), range(64))


def test_a_host_branch_is_taken_where_it_is_known() -> None:
    arm = [
        "- if: i == 1", "  then:", *region(*copy("[i * 8, 0]", 8, 64), indent="    "),
        "  else:", *region(*copy("[i * 8, 0]", 8, 32), indent="    "),
    ]  # fmt: skip
    text = spec(inside("- for: {index: i, count: 3}", arm)).replace("region: r", "region: q", 1)
    assert gap(text) == (range(0, 8), range(32, 64))
    assert gap(text.replace("i == 1", "i <= 2")) is None


def test_run_time_values_count_as_all_that_they_may_be() -> None:
    loop = inside("- for: {index: i, count: N}", copy("[i * 8, 0]", 8, 64))
    assert gap(spec(region(*loop), symbols="N: {min: 1, max: 3}")) is None
    assert gap(spec(region(*copy("[N, 0]", 8, 64)), symbols="N: {min: 0, max: 16}")) is None
    assert gap(spec(region(*copy("[N, 0]", 8, 64)), symbols="N: {min: 4, max: 16}")) == (range(4), range(64))
    part = copy("[0, 0]", 24, 64, "[N, 64]")
    assert gap(spec(region(*part), symbols="N: {min: 1, max: 24}")) is None
    assert gap(spec(region(*part), symbols="N: {min: 1, max: 20}")) == (range(20, 24), range(64))


def test_an_axis_of_run_time_extent_is_left_out() -> None:
    loop = inside("- for: {index: i, count: M // 8}", copy("[i * 8, 0]", 8, 32))
    (only,) = found(spec(region(*loop), symbols="M: {min: 8, max: 64}", rows="M"), "PS2035")
    assert "`out[:, 32:64]`" in only.message


def test_inout_keeps_the_rest() -> None:
    assert gap(spec(region(*copy("[0, 0]", 8, 64)), access="inout")) is None
    assert gap(spec(region(*copy("[0, 0]", 8, 64)))) == (range(8, 24), range(64))


def test_very_long_loops_take_no_time() -> None:
    text = spec(region(*inside("- for: {index: i, count: 1000000000000}", copy("[i % 3 * 8, 0]", 8, 64))))
    assert gap(text) is None


def test_an_atomic_add_needs_what_was_written() -> None:
    """It reaches all of the tensor, and half of it holds nothing to add to."""
    half = copy("[0, 0]", ROWS // 2, COLS)
    whole = copy("[0, 0]", ROWS, COLS)
    adds = [line.replace("at: [0, 0]}", "at: [0, 0], atomic: add}") if "store" in line else line for line in whole]
    assert gap(spec(region(*half, *adds))) == (range(ROWS // 2, ROWS), range(COLS))
    assert gap(spec(region(*whole, *adds))) is None

"""Programs whose regions hand values on through GM: their launches, their workspace, and what they compute."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.golden.harness import Case, assert_good, check_all

HEAD = """\
spec: v1
name: NAME
symbols: {M: {min: 1, max: 64}}
tensors:
  x:   {dtype: fp32, shape: [64, 128]}
  io:  {dtype: fp32, shape: [64, 128], access: inout}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
"""
TMP = "  - create_tensor: {into: tmp, dtype: fp32, shape: [64, 128]}\n"


def program(name: str, *regions: tuple[str, ...], created: str = "", expect: str = "") -> Case:
    """A program with one region per tuple of `let`s; one that starts with `after` waits for that region."""
    text = HEAD.replace("NAME", name) + created
    for number, (first, *rest) in enumerate(regions):
        waits = f"    after: [{first.split()[1]}]\n" if first.startswith("after ") else ""
        lets = rest if waits else [first, *rest]
        text += f"  - region: r{number}\n{waits}    body:\n" + "".join(f"      - let: {let}\n" for let in lets)
    return Case(f"{text}golden: {{sizes: [{{M: 3}}], expect: {expect}}}\n")


def test_launches_see_what_earlier_ones_wrote() -> None:
    cases = [
        program("read_after_write", ("io = x + 1",), ("out = io * 2",), expect="{io: x + 1, out: 2 * (x + 1)}"),
        program("write_after_read", ("out = io * 2",), ("io = x + 1",), expect="{io: x + 1, out: 2 * io}"),
        program("write_after_write", ("out = x",), ("out = x * 2",), ("io = out",), expect="{io: 2 * x, out: 2 * x}"),
        program("after_turns", ("after r1", "out = io * 2"), ("io = x + 1",), expect="{io: x + 1, out: 2 * (x + 1)}"),
        program("created", ("tmp = exp(x)",), ("out = tmp + io",), created=TMP, expect="{io: io, out: exp(x) + io}"),
        program("created_twice", ("tmp = x",), ("out = tmp",), ("tmp = io",), ("io = out + tmp",), created=TMP,
                expect="{out: x, io: x + io}"),
        program("in_place", ("tmp = x",), ("tmp = tmp * 2",), ("out = tmp - io",), created=TMP,
                expect="{io: io, out: 2 * x - io}"),
        program("within", ("tmp = x + 1", "out = tmp * row_max(tmp)"), ("io = tmp",), created=TMP,
                expect="{io: x + 1, out: (x + 1) * row_max(x + 1)}"),
    ]  # fmt: skip
    assert_good(cases)


def test_undefined_contents_show_in_the_result() -> None:
    half = "tmp = x"
    case = program("half_written", (half,), ("out = tmp", "io = io * 1"), created=TMP, expect="{io: io, out: x}")
    store = "load: {into: t, from: x, at: [0, 0], shape: [32, 128]}\n      - store: {from: t, to: tmp, at: [0, 0]}"
    (failed,) = check_all([Case(case.text.replace(f"let: {half}", store))])
    assert failed.message.startswith("`out` differs in 4096 of 8192 elements")

"""Grids of several indices in every order, with counts and blocks that do not go with each other."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("torch")

from tests.golden.harness import Case, assert_good, check_all

ORDERS = ("row", "col", "{swizzle: 2}", "{swizzle: 3}", "{swizzle: 4}", "{swizzle: 100}")

TILES = """\
spec: v1
name: NAME
constants: {MT: ROWS, NT: COLS}
tensors:
  x:   {dtype: fp32, shape: [MT * 8, NT * 16]}
  out: {dtype: fp32, shape: [MT * 8, NT * 16], access: out}
program:
  - parallel: {index: [i, j], count: [MT, NT], blocks: BLOCKS, order: ORDER}
    body:
      - region: k
        body:
          - load:  {into: t, from: x, at: [i * 8, j * 16], shape: [8, 16]}
          - let: y = t * 2
          - store: {from: y, to: out, at: [i * 8, j * 16]}
golden: {expect: {out: x * 2}}
"""


def grid(text: str, name: str, order: str, rows: int, cols: int, blocks: object) -> Case:
    for word, value in (("ROWS", rows), ("COLS", cols), ("BLOCKS", blocks), ("ORDER", order), ("NAME", name)):
        text = text.replace(word, str(value))
    return Case(text, exact=True)


def test_every_cell_is_written_once() -> None:
    shapes = ((1, 1, 3), (7, 9, "auto"), (7, 9, 5), (5, 3, 4), (10, 13, 48), (2, 5, 100), (1, 50, 7), (9, 1, 4))
    assert_good([
        grid(TILES, f"g{number}", order, rows, cols, blocks)
        for number, (order, (rows, cols, blocks)) in enumerate(product(ORDERS, shapes))
    ])  # fmt: skip


def test_run_time_counts() -> None:
    """The first count of `row` and of groups, the second of `col`, and both a launch of no block and a short one."""
    text = TILES.replace("constants: {MT: ROWS, NT: COLS}\n", "symbols: {M: {min: 1, max: 300}}\n")
    text = text.replace("golden: {", "golden: {sizes: [{M: 1}, {M: 6}, {M: 37}], ")
    rows = text.replace("count: [MT, NT]", "count: [M, 5]").replace("MT * 8", "M * 8").replace("NT * 16", "80")
    cols = text.replace("count: [MT, NT]", "count: [5, M]").replace("MT * 8", "40").replace("NT * 16", "M * 16")
    assert_good([
        *(grid(rows, f"r{n}", order, 0, 0, 7) for n, order in enumerate(ORDERS) if order != "col"),
        grid(cols, "c", "col", 0, 0, 7),
        grid(rows, "rows_auto", "{swizzle: 4}", 0, 0, "auto"),
    ])  # fmt: skip


BATCHES = """\
spec: v1
name: NAME
tensors:
  x:   {dtype: fp32, shape: [3, 40, 80]}
  out: {dtype: fp32, shape: [3, 40, 80], access: out}
program:
  - parallel: {index: [b, i, j], count: [3, 5, 5], blocks: BLOCKS, order: ORDER}
    body:
      - region: k
        body:
          - load:  {into: t, from: x, at: [b, i * 8, j * 16], shape: [1, 8, 16]}
          - let: y = t * 2
          - store: {from: y, to: out, at: [b, i * 8, j * 16]}
golden: {expect: {out: x * 2}}
"""


def test_three_indices() -> None:
    assert_good([grid(BATCHES, f"b{n}", order, 0, 0, 7) for n, order in enumerate(ORDERS)])


CHUNKS = """\
spec: v1
name: NAME
tensors:
  a:   {dtype: fp32, shape: [ROWS, COLS]}
  b:   {dtype: fp32, shape: [1, COLS]}
  out: {dtype: fp32, shape: [ROWS, COLS], access: out}
program:
  - region: k
    blocks: BLOCKS
    order: ORDER
    body:
      - let: out = (a + 1) * b - a
golden: {expect: {out: (a + 1) * b - a}}
"""


def test_chunks_of_whole_arrays() -> None:
    """Rows that do not fit are a grid of chunks, with and without something left of each row; others a list."""
    shapes = ((11, 4000, 5), (4, 4096, "auto"), (7, 3000, 3), (300, 64, 7))
    assert_good([
        Case(grid(CHUNKS, f"w{number}", order, rows, cols, blocks).text, vec=16 * 1024)
        for number, (order, (rows, cols, blocks)) in enumerate(product(ORDERS, shapes))
    ])  # fmt: skip


PARTS = """\
spec: v1
name: NAME
constants: {R: ROWS, C: COLS}
tensors:
  a:   {dtype: fp32, shape: [R, C]}
  b:   {dtype: fp32, shape: [R, 2 * C]}
  out: {dtype: fp32, shape: [R, 3 * C], access: out}
program:
  - region: k
    blocks: BLOCKS
    order: ORDER
    body:
      - let: e = a * 2
      - store: {from: e, to: out, at: [0, 0]}
      - let: f = b + b
      - store: {from: f, to: out, at: [0, C]}
golden: {expect: {out: "concat(a, b) * 2"}}
"""


def test_arrays_are_stored_to_parts_of_a_tensor() -> None:
    """Parts that lie apart are one loop, over rows of several lengths."""
    shapes = ((300, 64, 7), (40, 32, 1), (1, 128, 4))
    assert_good([
        Case(grid(PARTS, f"p{number}", "row", rows, cols, blocks).text, exact=True, vec=vec)
        for number, ((rows, cols, blocks), vec) in enumerate(product(shapes, (None, 16 * 1024)))
    ])  # fmt: skip
    again = PARTS.replace("at: [0, C]", "at: [0, C - 8]").replace("b + b", "b * 2")
    (failed,) = check_all([Case(grid(again, "again", "row", 300, 64, 7).text, vec=16 * 1024)])
    assert "`out` is written in part, and read or written by another statement here" in failed.message


CELLS = """\
spec: v1
name: NAME
constants: {MT: ROWS, NT: COLS}
tensors:
  a:   {dtype: fp32, shape: [MT * 16, NT * 32]}
  out: {dtype: fp32, shape: [MT * 16, NT * 32], access: out}
program:
  - create_tensor: {into: tmp, dtype: fp32, shape: [MT * 16, NT * 32]}
  - parallel: {index: [m, n], count: [MT, NT], blocks: BLOCKS, order: ORDER}
    body:
      - region: first
        body:
          - let: part = exp(a[m*16:(m+1)*16, n*32:(n+1)*32])
          - store: {from: part, to: tmp, at: [m * 16, n * 32]}
  - region: second
    blocks: auto
    body:
      - let: out = tmp - row_max(tmp)
golden: {expect: {out: exp(a) - row_max(exp(a))}}
"""


def test_cells_of_whole_arrays() -> None:
    assert_good([Case(grid(CELLS, f"c{n}", order, 5, 3, 4).text) for n, order in enumerate(ORDERS)])

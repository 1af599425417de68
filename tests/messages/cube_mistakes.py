"""Mistakes with products of matrices, each as an edit of a spec that is right."""

from __future__ import annotations

from tests.messages.mistakes import Mistake

CUBE = """\
spec: v1
name: kernel
constants: {M: 64, K: 128, N: 32}
symbols: {D: {min: 0, max: 128}}
tensors:
  a:   {dtype: fp16, shape: [M, K]}
  b:   {dtype: fp16, shape: [K, N]}
  bt:  {dtype: fp16, shape: [N, K]}
  h:   {dtype: bf16, shape: [K, N]}
  n:   {dtype: int32, shape: [K, N]}
  d:   {dtype: fp32, shape: [1, N]}
  d1:  {dtype: fp32, shape: [N]}
  d2:  {dtype: fp16, shape: [1, N]}
  s:   {dtype: fp16, shape: [2, M, K]}
  big: {dtype: fp16, shape: [4096, K]}
  a2:  {dtype: fp16, shape: [M, 1024]}
  b2:  {dtype: fp16, shape: [1024, N]}
  out: {dtype: fp32, shape: [M, N], access: out}
  low: {dtype: int32, shape: [M, N], access: inout}
  sized: {dtype: fp32, shape: [8, D], access: inout}
  wide: {dtype: fp32, shape: [M, N], access: inout}
  so:  {dtype: fp32, shape: [2, M, N], access: inout}
  to:  {dtype: fp16, shape: [M, K], access: inout}
program:
  - region: product
    body:
      - load:   {into: l, from: a, at: [0, 0], shape: [M, K]}
      - load:   {into: r, from: b, at: [0, 0], shape: [K, N]}
      - matmul: {into: y, lhs: l, rhs: r}
      - store:  {from: y, to: out, at: [0, 0]}
"""

LEFT = "      - load:   {into: l, from: a, at: [0, 0], shape: [M, K]}\n"
RIGHT = "      - load:   {into: r, from: b, at: [0, 0], shape: [K, N]}\n"
PRODUCT = "      - matmul: {into: y, lhs: l, rhs: r}\n"
STORE = "      - store:  {from: y, to: out, at: [0, 0]}\n"


def lines(*statements: str) -> str:
    """Statements of the region."""
    return "".join(f"      - {statement}\n" for statement in statements)


def loop(*statements: str) -> str:
    """A loop over two accumulators, `y` and `z`, of which `w` is the first at the end."""
    head = "      - for: {index: i, count: 2}\n        carry: {u: {init: y}, v: {init: z}}\n"
    body = "".join(f"          - {statement}\n" for statement in statements)
    return f"{head}        results: {{w: u}}\n        body:\n{body}{lines('store: {from: w, to: out, at: [0, 0]}')}"


def edit(name: str, old: str, new: str, code: str, way_out: str) -> Mistake:
    """A mistake in the spec of this page."""
    return Mistake(name, old, new, code, way_out, CUBE)


ADD = "matmul_acc: {into: p, acc: u, lhs: l, rhs: r}"
SUM = "create_tile: {into: c, shape: %s, dtype: %s}", "matmul_acc: {into: y, acc: c, lhs: l, rhs: r%s}"
NARROW = "load: {into: n16, from: bt, at: [0, 0], shape: [N, K]}"
DEEP = (
    "load: {into: w, from: a2, at: [0, 0], shape: [M, 1024]}",
    "load: {into: v, from: b2, at: [0, 0], shape: [1024, N]}",
)
STACK = "load: {into: q, from: s, at: [0, 0, 0], shape: [2, M, K]}"
STACKED = "move: {into: v, from: z}\n      - store: {from: v, to: so, at: [0, 0, 0]}"
BACK = "move: {into: t, from: y, memory: mat, dtype: %s}"


def summed(shape: str, dtype: str, init: str) -> str:
    """A product added to a created accumulator."""
    return lines(SUM[0] % (shape, dtype), SUM[1] % init)


def rounds(init: str) -> str:
    """A sum over the rounds of two loops, the inner one from 1, into a created accumulator."""
    return (
        lines(SUM[0] % ("[M, N]", "fp32"), "for: {index: i, count: 2}")
        + "        body:\n          - for: {index: j, range: [1, 3]}\n            body:\n"
        + f"              - matmul_acc: {{into: c, acc: c, lhs: l, rhs: r{init}}}\n"
        + lines("store: {from: c, to: wide, at: [0, 0]}")
        + PRODUCT
    )


def windowed(rows: int, at: int) -> str:
    """A window of a larger tile as the left operand."""
    return lines(
        f"load: {{into: w, from: big, at: [0, 0], shape: [{rows}, K]}}",
        f"extract: {{into: l, x: w, at: [{at}, 0], shape: [M, K], memory: left}}",
    )


def assembled(width: int) -> str:
    """A product of 24 columns, at the start of a tile of more or as many."""
    return lines(
        "load: {into: r24, from: b, at: [0, 0], shape: [K, 24]}",
        f"load: {{into: w, from: big, at: [0, 0], shape: [{width}, N]}}",
        "matmul: {into: z, lhs: l, rhs: r24}",
        f"create_tile: {{into: t, shape: [M, {width}], dtype: fp16, memory: mat}}",
        "assemble: {into: t1, target: t, x: z, at: [0, 0]}",
        "matmul: {into: q, lhs: t1, rhs: w}",
        "store: {from: q, to: wide, at: [0, 0]}",
    )


CUBE_MISTAKES: tuple[Mistake, ...] = (
    edit("gm_to_left", LEFT, LEFT.replace("}", ", memory: left}"), "PS4020", LEFT),
    edit(
        "gm_to_right",
        RIGHT,
        RIGHT.replace("}", ", memory: right}"),
        "PS4020",
        RIGHT.replace("}", ", memory: mat}") + lines("move: {into: r_right, from: r, memory: right}"),
    ),
    edit("gm_to_acc", LEFT, LEFT.replace("}", ", memory: acc}"), "PS4020", LEFT),
    edit("operand_in_vec", LEFT, LEFT.replace("}", ", memory: vec}"), "PS6010", LEFT),
    edit(
        "operand_of_the_vector_core",
        PRODUCT,
        lines("exp: {into: x, x: l}", "matmul: {into: y, lhs: x, rhs: r}"),
        "PS6010",
        PRODUCT,
    ),
    edit(
        "result_to_the_vector_core",
        STORE,
        lines("exp: {into: x, x: y}", "store: {from: x, to: out, at: [0, 0]}"),
        "PS6010",
        STORE,
    ),
    edit(
        "left_in_right",
        PRODUCT,
        lines("move: {into: x, from: l, memory: right}", "matmul: {into: y, lhs: x, rhs: r}"),
        "PS4020",
        lines("move: {into: x, from: l, memory: left}", "matmul: {into: y, lhs: x, rhs: r}"),
    ),
    edit(
        "accumulator_as_operand",
        STORE,
        lines(NARROW, "matmul: {into: z, lhs: y, rhs: n16}") + STORE,
        "PS3002",
        lines(NARROW, BACK % "fp16", "matmul: {into: z, lhs: t, rhs: n16}") + STORE,
    ),
    edit("accumulator_back_as_fp32", STORE, lines(BACK % "fp32") + STORE, "PS3003", lines(BACK % "fp16") + STORE),
    edit(
        "accumulator_to_vec",
        STORE,
        lines("move: {into: t, from: y}", "store: {from: t, to: out, at: [0, 0]}"),
        "PS4020",
        STORE,
    ),
    edit(
        "mat_to_gm",
        STORE,
        STORE
        + lines(
            "load: {into: t, from: a, at: [0, 0], shape: [M, K], memory: mat}", "store: {from: t, to: to, at: [0, 0]}"
        ),
        "PS4020",
        STORE,
    ),
    edit(
        "depths_differ",
        PRODUCT,
        lines(NARROW, "matmul: {into: y, lhs: l, rhs: n16}"),
        "PS3001",
        lines(NARROW, "transpose_view: {into: n16_t, x: n16}", "matmul: {into: y, lhs: l, rhs: n16_t}"),
    ),
    edit(
        "valid_depths_differ",
        RIGHT,
        RIGHT.replace("}", ", valid: [100, N]}"),
        "PS3001",
        RIGHT.replace("}", ", valid: [100, N]}") + LEFT.replace("}", ", valid: [64, 100]}"),
    ),
    edit(
        "depth_of_nothing",
        LEFT,
        LEFT.replace("}", ", valid: [M, D]}"),
        "PS3001",
        LEFT.replace("}", ", valid: [M, 'max(D, 1)']}"),
    ),
    edit("dtypes_differ", RIGHT, RIGHT.replace("from: b", "from: h"), "PS3002", RIGHT),
    edit("dtype_of_operands", RIGHT, RIGHT.replace("from: b", "from: n"), "PS3003", RIGHT),
    edit(
        "operand_larger_than_left",
        PRODUCT,
        lines(*DEEP, "move: {into: x, from: w, memory: left}", "matmul: {into: y, lhs: x, rhs: v}"),
        "PS4021",
        lines(*DEEP, "matmul: {into: y, lhs: w, rhs: v}"),
    ),
    edit("operand_larger_than_mat", LEFT, windowed(4096, 0), "PS4001", windowed(256, 0)),
    edit(
        "relu_of_no_product",
        PRODUCT,
        PRODUCT + lines("store: {from: l, to: out, at: [0, 0], relu: true}"),
        "PS3001",
        PRODUCT,
    ),
    edit(
        "bias_dtype",
        PRODUCT,
        lines(
            "load: {into: e, from: d2, at: [0, 0], shape: [1, N]}", "matmul_bias: {into: y, lhs: l, rhs: r, bias: e}"
        ),
        "PS3002",
        lines("load: {into: e, from: d, at: [0, 0], shape: [1, N]}", "matmul_bias: {into: y, lhs: l, rhs: r, bias: e}"),
    ),
    edit(
        "bias_shape",
        PRODUCT,
        lines(
            "load: {into: e, from: d, at: [0, 0], shape: [1, 16]}", "matmul_bias: {into: y, lhs: l, rhs: r, bias: e}"
        ),
        "PS3001",
        lines("load: {into: e, from: d, at: [0, 0], shape: [1, N]}", "matmul_bias: {into: y, lhs: l, rhs: r, bias: e}"),
    ),
    edit("assembled_over_others", PRODUCT, PRODUCT + assembled(96), "PS3005", PRODUCT + assembled(24)),
    edit("gemv_of_rows", PRODUCT, PRODUCT.replace("matmul", "gemv"), "PS3001", PRODUCT),
    edit("window_inside_a_fractal", LEFT, windowed(256, 5), "PS3005", windowed(256, 16)),
    edit(
        "slice_inside_a_fractal",
        PRODUCT,
        lines(
            "slice: {into: x, x: l, at: [0, 8], shape: [M, 64]}",
            "slice: {into: v, x: r, at: [0, 0], shape: [64, N]}",
            "matmul: {into: y, lhs: x, rhs: v}",
        ),
        "PS3005",
        lines(
            "slice: {into: x, x: l, at: [0, 16], shape: [M, 64]}",
            "slice: {into: v, x: r, at: [0, 0], shape: [64, N]}",
            "matmul: {into: y, lhs: x, rhs: v}",
        ),
    ),
    edit(
        "accumulator_shape",
        PRODUCT,
        summed("[M, 16]", "fp32", ", init: 0 == 0"),
        "PS3001",
        summed("[M, N]", "fp32", ", init: 0 == 0"),
    ),
    edit(
        "accumulator_dtype",
        PRODUCT,
        summed("[M, N]", "int32", ", init: 0 == 0"),
        "PS3002",
        summed("[M, N]", "fp32", ", init: 0 == 0"),
    ),
    edit("accumulator_of_nothing", PRODUCT, summed("[M, N]", "fp32", ""), "PS2034", PRODUCT),
    edit("sum_from_nothing", PRODUCT, rounds(""), "PS2034", rounds(", init: i == 0 and j == 1")),
    edit("sum_that_starts_late", PRODUCT, rounds(", init: i + j == 2"), "PS2034", rounds(", init: i + j == 1")),
    edit(
        "accumulator_without_contents_read",
        PRODUCT,
        lines(SUM[0] % ("[M, N]", "fp32, memory: acc"), "store: {from: c, to: wide, at: [0, 0]}") + PRODUCT,
        "PS2034",
        PRODUCT,
    ),
    edit(
        "accumulator_still_needed",
        STORE,
        lines("matmul_acc: {into: z, acc: y, lhs: l, rhs: r}", "store: {from: z, to: out, at: [0, 0]}") + STORE,
        "PS4020",
        STORE + lines("matmul_acc: {into: z, acc: y, lhs: l, rhs: r}", "store: {from: z, to: out, at: [0, 0]}"),
    ),
    edit(
        "accumulators_change_places",
        STORE,
        lines("matmul: {into: z, lhs: l, rhs: r}") + loop(ADD, "yield: {u: v, v: p}"),
        "PS4020",
        lines("matmul: {into: z, lhs: l, rhs: r}") + loop(ADD, "yield: {u: p, v: v}"),
    ),
    edit(
        "bias_of_one_dimension",
        PRODUCT,
        lines("load: {into: q, from: d1, at: [0], shape: [N]}", "matmul_bias: {into: y, lhs: l, rhs: r, bias: q}"),
        "PS3001",
        lines("load: {into: q, from: d, at: [0, 0], shape: [1, N]}", "matmul_bias: {into: y, lhs: l, rhs: r, bias: q}"),
    ),
    edit(
        "stack_of_matrices",
        PRODUCT,
        lines(STACK, "matmul: {into: z, lhs: q, rhs: r}") + PRODUCT,
        "PS3001",
        lines(STACK, "batch_matmul: {into: z, lhs: q, rhs: r}", "store: {from: z, to: so, at: [0, 0, 0]}") + PRODUCT,
    ),
    edit(
        "stack_read_as_one",
        PRODUCT,
        lines(STACK, "batch_matmul: {into: z, lhs: q, rhs: r}", STACKED) + PRODUCT,
        "PS3021",
        lines(STACK, "batch_matmul: {into: z, lhs: q, rhs: r}", "store: {from: z, to: so, at: [0, 0, 0]}") + PRODUCT,
    ),
    edit(
        "copied_within_mat",
        LEFT + RIGHT + PRODUCT,
        LEFT.replace("}", ", memory: mat}")
        + lines("move: {into: x, from: l, memory: mat}")
        + RIGHT
        + PRODUCT.replace("lhs: l", "lhs: x"),
        "PS4020",
        LEFT.replace("}", ", memory: mat}") + RIGHT + PRODUCT,
    ),
    edit(
        "transposed_although_it_fits",
        LEFT + RIGHT + PRODUCT + STORE,
        lines("let: out = matmul(a, b, b_trans=true)"),
        "PS3001",
        lines("let: out = matmul(a, b)"),
    ),
    edit(
        "blocks_beside_the_vector_core",
        "    body:\n" + LEFT + RIGHT + PRODUCT + STORE,
        "    blocks: 3\n    body:\n" + lines("let: out = exp(matmul(a, b))"),
        "PS6010",
        "    blocks: 3\n    body:\n" + lines("let: out = matmul(a, b)"),
    ),
    edit("transposed_by_a_flag", PRODUCT, PRODUCT.replace("}", ", a_trans: true}"), "PS3011", PRODUCT),
    edit("layout_without_memory", LEFT, LEFT.replace("}", ", layout: zz}"), "PS3001", LEFT),
)

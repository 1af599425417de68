"""Mistakes that kernel authors make, each as an edit of a spec that is right."""

from __future__ import annotations

from typing import NamedTuple

GOOD = """\
spec: v1
name: kernel
constants: {R: 64, C: 128, eps: 1.0e-5}
symbols:
  M: {min: 1, max: 4096}
scalars: {alpha: fp32}
tensors:
  a:   {dtype: fp32, shape: [R, C]}
  b:   {dtype: fp16, shape: [R, C]}
  g:   {dtype: fp32, shape: [1, C]}
  n:   {dtype: int32, shape: [R, C]}
  d:   {dtype: fp32, shape: [M, C]}
  out: {dtype: fp32, shape: [R, C], access: out}
program:
  - region: scale
    body:
      - load:  {into: t, from: a, at: [0, 0], shape: [R, C]}
      - load:  {into: u, from: g, at: [0, 0], shape: [1, C]}
      - let: y = t * u + alpha
      - store: {from: y, to: out, at: [0, 0]}
golden:
  sizes: [{M: 64}]
  expect: {out: a * g + alpha}
"""

TOML = """\
spec = "v1"
name = "kernel"

[tensors]
a = { dtype = "fp32", shape = [64, 128] }
out = { dtype = "fp32", shape = [64, 128], access = "out" }

[[program]]
region = "square"
body = [
  { let = "out = a * a" },
]
"""

LET = "      - let: y = t * u + alpha\n"
WHILE = "      - let: k = 0\n      - while: k < 2\n        body:\n          - let: t = t * 2.0\n"
UNROLL = "      - unroll: {{index: j, count: {}}}\n        body:\n          - let: t = t * 2.0\n"
STORE = "      - store: {from: y, to: out, at: [0, 0]}\n"
LOAD = "      - load:  {into: t, from: a, at: [0, 0], shape: [R, C]}\n"
PART = "      - if: M > 32\n        then:\n          - load: {{into: t, from: a, at: [0, 0], shape: [R, C]{}}}\n"


class Mistake(NamedTuple):
    """What is replaced by what; and what the author does then, having read the message ('' where nothing is left)."""

    name: str
    old: str
    new: str
    code: str
    way_out: str
    base: str = GOOD


def _let(name: str, formula: str, code: str, way_out: str) -> Mistake:
    return Mistake(name, LET, f"      - let: {formula}\n", code, f"      - let: {way_out}\n" if way_out else "")


MISTAKES = (
    Mistake("key_misspelt", "access: out}", "acess: out}", "PS1001", "access: out}"),
    Mistake("section_misspelt", "scalars:", "scalar:", "PS1001", "scalars:"),
    Mistake("keyword_misspelt", STORE, STORE.replace("store", "stroe"), "PS1001", STORE),
    Mistake("field_misspelt", LOAD, LOAD.replace("shape", "size"), "PS1001", LOAD),
    Mistake("field_of_another_op", STORE, STORE.replace("from", "x"), "PS1001", STORE),
    Mistake("tensor_misspelt", LOAD, LOAD.replace("from: a", "from: aa"), "PS2001", LOAD),
    _let("value_misspelt", "y = tt * u + alpha", "PS2001", "y = t * u + alpha"),
    _let("function_misspelt", "y = epx(t)", "PS2032", "y = exp(t)"),
    _let("function_of_torch", "y = leaky_relu(t, 0.1)", "PS2032", "y = maximum(t, t * 0.1)"),
    Mistake("dtype_misspelt", "a:   {dtype: fp32", "a:   {dtype: float32", "PS1016", "a:   {dtype: fp32"),
    Mistake("access_misspelt", "access: out", "access: output", "PS1016", "access: out"),
    Mistake("missing_into", LOAD, LOAD.replace("into: t, ", ""), "PS1015", LOAD),
    Mistake("missing_shape", LOAD, LOAD.replace(", shape: [R, C]", ""), "PS1015", LOAD),
    Mistake("missing_name", "name: kernel\n", "", "PS1015", "name: kernel\n"),
    Mistake("missing_spec", "spec: v1\n", "", "PS1015", "spec: v1\n"),
    Mistake("missing_body", "    body:\n", "", "PS1002", "    body:\n"),
    Mistake("name_with_dash", "name: kernel", "name: my-kernel", "PS2012", "name: my_kernel"),
    Mistake("name_starts_with_digit", "name: kernel", "name: 2d_kernel", "PS2012", "name: kernel_2d"),
    Mistake("version_of_the_language", "spec: v1", "spec: v2", "PS1016", "spec: v1"),
    Mistake("unknown_target", "name: kernel\n", "name: kernel\ntarget: a3\n", "PS1016", "name: kernel\ntarget: a2a3\n"),
    _let("dtypes_mixed", "y = t * cast(t, fp16)", "PS3002", "y = t * cast(cast(t, fp16), fp32)"),
    Mistake("valid_in_one_arm", LET, PART.format(", valid: [32, C]") + LET, "PS3020", PART.format("") + LET),
    Mistake("store_of_the_wrong_dtype", LET, "      - let: y = cast(t, fp16)\n", "PS3002", LET),
    Mistake("bf16_in_one_op", LET, "      - cast: {into: h, x: t, dtype: bf16, mode: rint}\n      - exp: {into: y, x: h}\n",
            "PS3003", "      - cast: {into: h, x: t, dtype: bf16, mode: rint}\n      - let: y = cast(exp(h), fp32)\n"),
    _let("shapes_do_not_fit", "y = t * t[:, 0:64]", "PS3001", "y = t * t[:, 0:128]"),
    Mistake("shapes_in_one_op", LET, "      - add: {into: y, lhs: t, rhs: u}\n", "PS3001", "      - let: y = t + u\n"),
    Mistake("at_of_the_wrong_rank", LOAD, LOAD.replace("at: [0, 0]", "at: [0]"), "PS3001", LOAD),
    Mistake("window_out_of_bounds", LOAD, LOAD.replace("at: [0, 0]", "at: [0, 8]"), "PS3004",
            LOAD.replace("at: [0, 0]", "at: [0, 8]").replace("}", ", valid: [R, 120]}")),
    Mistake("window_before_the_start", LOAD, LOAD.replace("at: [0, 0]", "at: [-1, 0]"), "PS3004", LOAD),
    Mistake("store_to_an_input", STORE, STORE.replace("to: out", "to: a"), "PS3012", STORE),
    Mistake("load_of_an_output", LOAD, LOAD.replace("from: a", "from: out"), "PS3012", LOAD),
    Mistake("sum_of_nothing", STORE, STORE.replace("[0, 0]}", "[0, 0], atomic: add}"), "PS6042", STORE),
    Mistake("after_nobody", "  - region: scale\n", "  - region: scale\n    after: [scael]\n", "PS2001",
            "  - region: scale\n"),
    Mistake("after_itself", "  - region: scale\n", "  - region: scale\n    after: [scale]\n", "PS6021",
            "  - region: scale\n"),
    Mistake("created_in_a_region", LET, "      - create_tensor: {into: z, dtype: fp32, shape: [R, C]}\n" + LET,
            "PS6001", LET),
    Mistake("created_and_never_written", "  - region: scale\n",
            "  - create_tensor: {into: z, dtype: fp32, shape: [R, C]}\n  - region: first\n    body:\n"
            "      - load: {into: t, from: z, at: [0, 0], shape: [R, C]}\n"
            "      - store: {from: t, to: out, at: [0, 0]}\n  - region: scale\n", "PS2034", "  - region: scale\n"),
    Mistake("grid_with_one_count", "  - region: scale\n    body:\n",
            "  - parallel: {index: [i, j], count: 4}\n    body: []\n  - region: scale\n    body:\n", "PS1022",
            "  - region: scale\n    body:\n"),
    Mistake("output_never_stored", STORE, "", "PS2031", STORE),
    Mistake("value_never_used", LET, LET + "      - let: z = exp(t)\n", "PS2020", LET),
    Mistake("comma_in_flow", LOAD, LOAD.replace("[0, 0]", "[min(0, 8), 0]"), "PS1011",
            LOAD.replace("[0, 0]", '["min(0, 8)", 0]')),
    Mistake("bracket_in_flow", LOAD, LOAD.replace("shape: [R, C]", "shape: [max(R, 1), C]"), "PS1011",
            LOAD.replace("shape: [R, C]", 'shape: ["max(R, 1)", C]')),
    Mistake("comma_in_a_flow_value", LET, "      - for: {index: i, count: min(1, R)}\n        body:\n    " + LOAD + LET,
            "PS1011", '      - for: {index: i, count: "min(1, R)"}\n        body:\n    ' + LOAD + LET),
    _let("colon_in_slice", "y = t[0 : 64, :]", "PS1011", "y = t[0:64, :]"),
    _let("colon_then_blank", "y = t[:, 0: 128] * u", "PS1011", "y = t[:, 0:128] * u"),
    Mistake("division_of_constants", "eps: 1.0e-5", "H: R / 2", "PS1020", "H: R // 2"),
    Mistake("division_of_int_tiles", LET,
            "      - load: {into: k, from: n, at: [0, 0], shape: [R, C]}\n      - let: y = cast(k / k, fp32)\n", "PS3030",
            "      - load: {into: k, from: n, at: [0, 0], shape: [R, C]}\n"
            "      - let: y = cast(k, fp32) / cast(k, fp32)\n"),
    Mistake("division_in_an_index", LOAD, LOAD.replace("[R, C]", "[R / 2, C]"), "PS3032",
            LOAD.replace("[R, C]", "[R // 1, C]")),
    _let("value_shadows_a_constant", "R = t * u", "PS2030", "y = t * u"),
    Mistake("index_shadows_a_tensor", LET, "      - for: {index: a, count: 2}\n        body:\n    " + LOAD + LET, "PS2030",
            "      - for: {index: i, count: 2}\n        body:\n    " + LOAD + LET),
    Mistake("index_after_its_loop", STORE, "      - for: {index: i, count: 2}\n        body:\n          - let: y = y + 1\n"
            + STORE.replace("[0, 0]", "[i, 0]"), "PS2001", STORE),
    Mistake("value_after_its_loop", LET, "      - for: {index: i, count: 2}\n        body:\n          - let: y = t * 2\n",
            "PS2001", "      - let: y = t + 0\n      - for: {index: i, count: 2}\n        body:\n          - let: y = t * 2\n"),
    Mistake("value_of_another_region", STORE, "  - region: second\n    body:\n" + STORE, "PS2001", STORE),
    Mistake("tile_op_in_program", "  - region: scale\n    body:\n", "", "PS6001", "  - region: scale\n    body:\n"),
    Mistake("region_in_region", LET, "      - region: inner\n        body:\n      " + LET, "PS6001", LET),
    Mistake("blocks_on_tiles", "  - region: scale\n", "  - region: scale\n    blocks: 8\n", "PS6040", "  - region: scale\n"),
    Mistake("num_blocks_outside", LOAD, LOAD.replace("at: [0, 0]", "at: [num_blocks(), 0]"), "PS3032", LOAD),
    Mistake("blocks_zero", "  - region: scale\n", "  - region: scale\n    blocks: 0\n", "PS1019", "  - region: scale\n"),
    Mistake("number_too_large", "R: 64", "R: 99999999999999999999", "PS1018", "R: 64"),
    Mistake("literal_overflows", LET, "      - let: h = cast(t, fp16) * 100000.0\n      - let: y = cast(h, fp32)\n", "PS3031",
            LET),
    Mistake("size_is_a_float", "R: 64", "R: 64.0", "PS3032", "R: 64"),
    Mistake("size_is_zero", "R: 64", "R: 0", "PS1019", "R: 64"),
    Mistake("yes_is_a_word", "name: kernel\n", "name: kernel\ntarget: {unit_flag: yes}\n", "PS1014",
            "name: kernel\ntarget: {unit_flag: true}\n"),
    Mistake("dtype_in_capitals", "a:   {dtype: fp32", "a:   {dtype: FP32", "PS1016", "a:   {dtype: fp32"),
    Mistake("shape_is_a_number", "a:   {dtype: fp32, shape: [R, C]", "a:   {dtype: fp32, shape: R", "PS1014",
            "a:   {dtype: fp32, shape: [R, C]"),
    Mistake("loop_without_body", LET, LET + "      - for: {index: i, count: 2}\n", "PS1015", LET),
    Mistake("loop_count_and_range", LET, "      - for: {index: i, count: 2, range: [0, 2]}\n        body:\n    " + LET,
            "PS1022", LET),
    Mistake("two_keywords", LET, "      - let: y = t\n        exp: {into: y, x: t}\n", "PS1021", LET),
    Mistake("statement_is_a_text", LET, "      - y = t * u\n", "PS1021", LET),
    Mistake("let_without_equals", LET, "      - let: t * u\n", "PS1017", LET),
    Mistake("let_with_plus_equals", LET, "      - let: t += u\n", "PS1017", LET),
    _let("power", "y = t ** 2", "PS7001", "y = t * t"),
    _let("power_with_caret", "y = t ^ 2", "PS1017", "y = t * t"),
    _let("index_into_a_tile", "y = t[0, :] * u", "PS3034", "y = t[0:1, :] * t"),
    _let("loop_index_in_a_let", "y = t * M", "PS2033", "y = t * 2"),
    _let("never_closed", "y = exp(t * u", "PS1017", "y = exp(t * u)"),
    _let("array_meets_tile", "y = t * a", "PS3011", "y = t * t"),
    _let("matmul", "y = matmul(t, t)", "PS3001", "y = t"),
    Mistake("reserved_keyword", LET, LET + "      - tpush: {}\n", "PS7001", LET),
    Mistake("endless_loop", LET, f"{WHILE}{LET}", "PS2062", f"{WHILE}          - let: k = k + 1\n{LET}"),
    Mistake("break_outside", LET, LET + "      - break:\n", "PS2060", LET),
    Mistake("runtime_unroll", LET, UNROLL.format("M") + LET, "PS2064", UNROLL.format(2) + LET),
    Mistake("number_is_a_tile", LET, LET + "      - let: y = 3\n", "PS2030", LET),
    Mistake("too_large_for_the_chip", "R: 64, C: 128", "R: 64, C: 1024", "PS4001", "R: 64, C: 128"),
    Mistake("runtime_rows_as_a_size", LOAD, LOAD.replace("from: a", "from: d").replace("[R, C]", "[M, C]"), "PS3035",
            LOAD.replace("from: a", "from: d").replace("}", ', valid: ["min(R, M)", C]}')),
    Mistake("tab", "    body:\n", "\tbody:\n", "PS1005", "    body:\n"),
    Mistake("duplicate_tensor", "  g:   {dtype: fp32, shape: [1, C]}\n",
            "  g:   {dtype: fp32, shape: [1, C]}\n  g:   {dtype: fp32, shape: [1, C]}\n", "PS1004",
            "  g:   {dtype: fp32, shape: [1, C]}\n"),
    Mistake("golden_of_no_output", "expect: {out:", "expect: {result:", "PS2001", "expect: {out:"),
    Mistake("golden_size_out_of_bounds", "[{M: 64}]", "[{M: 5000}]", "PS1019", "[{M: 4096}]"),
    Mistake("golden_size_missing", "sizes: [{M: 64}]", "sizes: [{}]", "PS1015", "sizes: [{M: 64}]"),
    Mistake("loop_too_long", LET, "      - for: {index: i, count: 3}\n        body:\n    "
            + LOAD.replace("[0, 0]", "[i * 32, 0]").replace("shape: [R, C]", "shape: [32, C]") + LET, "PS3004", LET),
    Mistake("tile_of_gigabytes", LOAD, LOAD.replace("from: a", "from: d").replace("[R, C]", "[2147483648, C]"), "PS4001", LOAD),
    Mistake("name_too_long", "name: kernel", "name: " + "kernel_" * 20, "PS2012", "name: kernel"),
    Mistake("golden_size_of_no_symbol", "[{M: 64}]", "[{N: 64}]", "PS2001", "[{M: 64}]"),
    Mistake("toml_bare_formula", '{ let = "out = a * a" }', "{ let = out = a * a }", "PS1003", '{ let = "out = a * a" }', TOML),
    Mistake("toml_bare_word", 'dtype = "fp32", shape = [64, 128], access', "dtype = fp32, shape = [64, 128], access", "PS1003",
            'dtype = "fp32", shape = [64, 128], access', TOML),
    Mistake("toml_colon", 'name = "kernel"', 'name: "kernel"', "PS1003", 'name = "kernel"', TOML),
    Mistake("toml_table_twice", "[[program]]", "[tensors]\n[[program]]", "PS1004", "[[program]]", TOML),
    Mistake("toml_single_program", "[[program]]", "[program]", "PS1014", "[[program]]", TOML),
    Mistake("toml_unknown_key", 'access = "out"', 'acces = "out"', "PS1001", 'access = "out"', TOML),
)  # fmt: skip

"""The reference page of the operators, from their definitions: `python -m pypto_spec.ops.reference > docs/ops.md`.

Types and recipes are those of an example of 64 rows of 128 elements (`reference_examples`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal, get_args

from pypto_spec.ir.condition import text_of
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import to_text
from pypto_spec.ir.instr import Arg, InnerBarrier, Instr, Number, Ref, ScalarRef, Step, Struct, Word
from pypto_spec.ir.nodes import Condition, Op
from pypto_spec.ir.opdef import Field, OpDef
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import Memory
from pypto_spec.ops.build import shape_text
from pypto_spec.ops.reference_examples import example, ways
from pypto_spec.ops.registry import COMMUTATIVE, FAMILIES, OPS, Operand, form, function
from pypto_spec.ops.support_page import support

SHOWN = 10
"""Calls of a recipe that are printed; the rest are counted."""

HEAD = """\
# Operators

<!-- Written by `python -m pypto_spec.ops.reference > docs/ops.md` from the definitions in `pypto_spec/ops/`. -->

One definition per operator (`pypto_spec/ops/`) is the source of everything here, of the schema, of the loader's
messages and of the C++. Each operator is a statement of a region: `- KEYWORD: {FIELD: VALUE, ...}`. A statement that
binds a name (`into`) also takes `buffer` and `slot`, see [memory](memory.md). In a `let`, see [language](language.md),
most operators have a sign or a function name.

How to read an entry:

* **dtypes** are those of the operand that is named, as the hardware has them. Nothing is converted silently.
* **shapes**: the rule in words, and the types of the example.
* **recipe**: the Ascend C calls for the example, operands by their field names, an offset in elements in brackets,
  `scratch` for areas of the compiler. Barriers between the calls are added by InsertSync. The calls depend on shapes:
  rows that are not dense, tails and more than 255 repeats give others.
* **aliasing**: a result may take the place of an operand that is not needed any more, except where it says not.
"""

SHAPES: Mapping[str, str] = {
    "elementwise": "all operands have one shape, which is the result's",
    "row_reduce": "[M, N] becomes [M, 1]",
    "col_reduce": "[M, N] becomes [1, N]; with more than two dimensions the ones before these must be 1",
    "row_expand": "`x` is [M, N], the vector `v` is [M, 1]; the result is [M, N]",
    "col_expand": "`x` is [M, N], the vector `v` is [1, N]; the result is [M, N]",
    "matmul": "[M, K] and [K, N] become [M, N]; `acc` is [M, N], `bias` is [1, N]. K is what is valid of `lhs`; "
    "as much must be valid of `rhs`",
}
"""The shape rule of a role in words."""

OWN_SHAPES: Mapping[str, str] = {
    "load": "the window has one extent per axis of the tensor; the tile has its extents. `valid` is within `shape`",
    "store": "the tile's extents stand behind axes of extent 1 of the tensor, or are those of `shape` folded",
    "debug": "a tile of any shape, or a window of a tensor whose rows are multiples of 32 B",
    "move": "the result has the shape of the operand, and dense rows",
    "create_tile": "`shape`",
    "full": "`shape`",
    "arange": "`shape`",
    "tri": "`shape`",
    "extract": "`shape` lies in the operand; its rows stand at one distance",
    "assemble": "`x` lies in `target`, whose shape is the result's",
    "concat": "[M, A] and [M, B] become [M, A + B]",
    "fillpad": "the result has the shape of the operand",
    "transpose": "[M, N] becomes [N, M]",
    "gather": "`x` is [M, N], `index` is [M, K]; the result is [M, K]",
    "gather_mask": "[M, N] becomes [M, N / 2] or [M, N / 4]",
    "sort32": "[M, N] becomes [M, 2 N] for fp32, [M, 4 N] for fp16; N is a multiple of 32",
    "mrgsort": "the result has the shape of the operand",
    "mrgsort_lists": "lists of [M, A], [M, B] ... become [M, A + B + ...]",
    "topk": "[M, N] becomes [M, 2 k] for fp32, [M, 4 k] for fp16",
    "sort": "[M, N] becomes [M, 2 N] for fp32, [M, 4 N] for fp16",
    "record_values": "[M, 2 N] of fp32 or [M, 4 N] of fp16 becomes [M, N]",
    "record_indices": "[M, 2 N] of fp32 or [M, 4 N] of fp16 becomes int32 [M, N]",
    "fillpad_inplace": "the result has the shape of the operand",
    "fillpad_expand": "`shape` is nowhere smaller than the operand",
    "set_validshape": "the result has the shape of the operand",
    "cmp": "[M, N] becomes uint8 [M, roundup(ceil(N / 8), 32)], of which [M, ceil(N / 8)] is valid",
    "cmps": "[M, N] becomes uint8 [M, roundup(ceil(N / 8), 32)], of which [M, ceil(N / 8)] is valid",
    "sel": "the predicate of [M, N] is uint8 [M, roundup(ceil(N / 8), 32)]; the result is [M, N]",
    "sels": "the predicate of [M, N] is uint8 [M, roundup(ceil(N / 8), 32)]; the result is [M, N]",
    "slice": "`shape` lies in the operand; it starts at a multiple of 32 B in the row, and its rows at one distance",
    "transpose_view": "[..., M, N] becomes [..., N, M]",
    "batch_matmul": "[..., M, K] and [..., K, N] become [..., M, N]; leading dimensions are alike, or 1, or missing",
    "reshape": "as many elements as before; rows with padding behind them keep their length",
    "row_expand": "[M, 1] becomes [M, cols]",
    "col_expand": "[1, N] becomes [rows, N]",
}
"""Shape rules of single operators in words."""

PIPES = {
    "s": "S (scalar)",
    "v": "V (vector)",
    "m": "M (cube)",
    "mte1": "MTE1 (L1 to L0 and the bias table)",
    "mte2": "MTE2 (GM to chip)",
    "mte3": "MTE3 (UB to GM)",
    "fix": "FIX (L0C to GM and L1)",
}

EFFECTS = {
    "pure": "",
    "reads_gm": "reads global memory",
    "writes_gm": "writes global memory",
    "shows": "shows something, and is there with `--debug` only",
}


def page() -> str:
    """The whole page."""
    parts = [HEAD, _overview(), support()]
    for family in FAMILIES:
        found = [d for d in OPS.values() if d.family == family]
        parts.append(f"## {family}\n")
        parts += [entry(defn) for defn in found]
    return "\n".join(parts)


def _overview() -> str:
    lines = ["| family | operators |", "| --- | --- |"]
    for family in FAMILIES:
        names = ", ".join(f"[`{d.name}`](#{d.name})" for d in OPS.values() if d.family == family)
        lines.append(f"| {family} | {names} |")
    known = [d for family in FAMILIES for d in OPS.values() if d.family == family]
    listed = ", ".join(dict.fromkeys(f"`{d.function}`" for d in known if d.function))
    infix = ", ".join(dict.fromkeys(f"`{d.infix}`" for d in known if d.infix))
    return "\n".join([*lines, "", f"Signs in a `let`: {infix}. Functions in a `let`: {listed}.", ""])


def entry(defn: OpDef) -> str:
    """The entry of one operator."""
    op = example(defn)
    lines = [f"### {defn.name}", "", _sentence(defn.doc), "", "```yaml statement", defn.example, "```", ""]
    forms = let_forms(defn)
    if forms:
        lines += [f"In a `let`: {', '.join(f'`{text}`' for text in forms)}.", ""]
    lines += ["| field | holds | meaning |", "| --- | --- | --- |"]
    lines += [f"| `{f.name}` | {holds(f)} | {_escape(f.doc)} |" for f in defn.fields]
    return "\n".join([*lines, "", *_facts(defn, f". Example: {_types(op)}"), *_recipes(op), ""])


def let_forms(defn: OpDef) -> list[str]:
    """How an operator is written in a formula, by its fields."""
    return list(dict.fromkeys(_forms(defn)))


def facts(defn: OpDef) -> list[str]:
    """What holds for every use of an operator, and the names of the Ascend C calls that it becomes, as list items."""
    op = example(defn)
    made: tuple[tuple[Op, Literal["exact", "fast"]], ...] = (
        (op, "exact"),
        (op, "fast"),
        *((way, "exact") for _, way in ways(defn)),
    )
    steps = [step for one, precision in made for step in defn.recipe(OpRecipe(one, precision))]
    calls = dict.fromkeys(f"`{step.call}`" for step in steps if isinstance(step, Instr))
    return [*_facts(defn), f"* **Ascend C**: {', '.join(calls) or 'no instruction'}"]


def _facts(defn: OpDef, behind_shapes: str = "") -> Iterator[str]:
    rule = OWN_SHAPES.get(defn.name) or SHAPES[defn.role]
    yield f"* **dtypes** of `{defn.dtype_of}`: {', '.join(d.name for d in defn.dtypes)}"
    yield f"* **shapes**: {rule}{behind_shapes}"
    yield f"* **memory**: {_spaces(defn)}"
    effect = EFFECTS[defn.effects]
    yield f"* **pipe**: {_pipe(defn)}" + (f"; {effect}" if effect else "")
    yield f"* **aliasing**: {_aliasing(defn)}"


def recipes(defn: OpDef) -> list[str]:
    """The Ascend C calls of the example, as list items with blocks of C++."""
    return list(_recipes(example(defn)))


# --- words of the example ---


def _types(op: Op) -> str:
    operands = ", ".join(f"`{name}` {value.type}" for name, value in op.operands.items())
    attrs = ", ".join(f"{name} {_value(value)}" for name, value in op.attrs.items())
    given = "; ".join(filter(None, (operands, attrs)))
    return f"{given} -> `into` {op.result.type}" if op.results else f"{given}; nothing is bound"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return shape_text(value)
    if isinstance(value, Memory):
        return f"`{value.value}`"
    return f"`{value}`" if isinstance(value, DType) else str(value)


# --- words ----------------------------------------------------------------------------------------------------------


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


_KINDS: Mapping[str, str] = {
    "bind": "a name",
    "tile": "a tile or array",
    "tensor": "a tensor",
    "ints": "a list of sizes",
    "exprs": "a list of integer expressions",
    "condition": "a comparison of integer expressions",
    "flag": "`true` or `false`",
    "expr": "an integer expression",
    "number": "a number",
    "dtype": "a dtype",
    "memory": "a memory",
    "word": "a word",
    "text": "a text",
    "format": "a text with `{expression}`",
}


def kind_text(field: Field) -> str:
    """What a field takes, in words."""
    return ", ".join(f"`{word}`" for word in field.words) if field.words else _KINDS[field.kind]


def holds(field: Field) -> str:
    """What a field takes, in words, and whether it may be left out."""
    text = kind_text(field)
    if field.required:
        return text
    default = field.default.value if isinstance(field.default, Memory) else field.default
    return f"{text}; optional" + (f", default `{default}`" if default is not None else "")


def _spaces(defn: OpDef) -> str:
    by: dict[str, list[str]] = {}
    for field, spaces in defn.spaces.items():
        by.setdefault(" or ".join(f"`{s.value}`" for s in spaces), []).append(f"`{field}`")
    return "; ".join(f"{', '.join(fields)} in {spaces}" for spaces, fields in by.items())


def _pipe(defn: OpDef) -> str:
    """The pipe of an operator, by the memories it copies between where that makes a difference."""
    if defn.role == "view":
        return "none, there is no instruction"
    by: dict[str, list[str]] = {}
    for (start, end), pipe in defn.pipes.items():
        by.setdefault(PIPES[pipe], []).append(f"`{start.value}` to `{end.value}`")
    return "; ".join(f"{pipe} from {', '.join(ends)}" for pipe, ends in by.items()) or PIPES[defn.pipe]


def _aliasing(defn: OpDef) -> str:
    into = defn.spaces.get("into", ())
    tiles = [f.name for f in defn.fields if f.kind == "tile" and set(defn.spaces[f.name]) & set(into)]
    if defn.role == "view":
        return "the result is its operand's memory"
    if not tiles:
        return "no operand that the result could share memory with"
    if defn.reuses is not None:
        others = [f"`{name}`" for name in tiles if name in defn.no_alias]
        changed = f"the result is `{defn.reuses}`, changed in place"
        return f"{changed}; it never shares memory with {', '.join(others)}" if others else changed
    fixed = [f"`{name}`" for name in tiles if name in defn.no_alias]
    free = [f"`{name}`" for name in tiles if name not in defn.no_alias]
    parts = [f"may take the place of {' or '.join(free)}"] if free else []
    parts += [f"never shares memory with {', '.join(fixed)}"] if fixed else []
    return "; ".join(parts)


def _forms(defn: OpDef) -> Iterator[str]:
    if defn.function is not None and len(function(defn.function)) == 1:
        fields = [f for f in defn.fields if f.kind != "bind"]
        yield f"{defn.function}({', '.join(f.name if f.required else f'{f.name}=...' for f in fields)})"
    for symbol in filter(None, (defn.infix, defn.function)):
        for count in (1, 2):
            for kinds in product(get_args(Operand), repeat=count):
                found = form(symbol, *kinds)
                if found is None or found.defn is not defn:
                    continue
                if symbol in COMMUTATIVE and list(found.fields) != _operand_order(defn):
                    continue
                if symbol == defn.infix:
                    yield f"{symbol}{found.fields[0]}" if count == 1 else f" {symbol} ".join(found.fields)
                elif len(function(symbol)) > 1:
                    yield f"{symbol}({', '.join(found.fields)})"


def _operand_order(defn: OpDef) -> list[str]:
    return [f.name for f in defn.fields if f.kind in ("tile", "number")]


# --- recipes --------------------------------------------------------------------------------------------------------


def _recipes(op: Op) -> Iterator[str]:
    exact, fast = _recipe(op, "exact"), _recipe(op, "fast")
    yield f"* **recipe**: {exact[0]}"
    yield from _block(exact[1])
    if fast != exact:
        yield f"* **recipe** with `precision: fast`: {fast[0]}"
        yield from _block(fast[1])
    for title, way in ways(op.defn):
        count, lines = _recipe(way, "exact")
        yield f"* **recipe** from {title}, {_types(way)}: {count}"
        yield from _block(lines)


def _recipe(op: Op, precision: Literal["exact", "fast"]) -> tuple[str, list[str]]:
    view = OpRecipe(op, precision)
    areas = op.defn.scratch(view)
    steps = op.defn.recipe(view)
    scratch = f"scratch {' + '.join(f'{n} B' for n in areas)}" if areas else "no scratch"
    if not steps:
        return "no instruction", []
    lines = [step_text(step) for step in steps[:SHOWN]]
    if len(steps) > SHOWN:
        lines.append(f"... {len(steps) - SHOWN} more")
    return f"{len(steps)} call{'' if len(steps) == 1 else 's'}, {scratch}", lines


def _block(lines: list[str]) -> Iterator[str]:
    if lines:
        yield "\n  ```cpp"
        yield from (f"  {line}" for line in lines)
        yield "  ```"


def step_text(step: Step) -> str:
    """A call of a recipe as the page prints it: operands by the names of their fields."""
    if isinstance(step, InnerBarrier):
        return f"PipeBarrier<PIPE_{step.pipe.upper()}>()"
    assert isinstance(step, Instr)
    template = f"<{', '.join(step.template)}>" if step.template else ""
    return f"{step.call}{template}({', '.join(map(_arg, step.args))})"


def _arg(arg: Arg) -> str:
    if isinstance(arg, Ref):
        name = arg.name if arg.dtype is None else f"{arg.name} as {arg.dtype}"
        return name if arg.offset == 0 else f"{name}[{to_text(arg.offset)}]"
    if isinstance(arg, Word):
        return arg.text
    if isinstance(arg, Struct):
        return f"{arg.name}({', '.join(map(_arg, arg.args))})"
    if isinstance(arg, Number):
        return f"{arg.value}"
    if isinstance(arg, ScalarRef):
        return arg.value.name
    if isinstance(arg, bool):
        return str(arg).lower()
    return text_of(arg) if isinstance(arg, Condition) else to_text(arg)


if __name__ == "__main__":
    sys.stdout.write(page())

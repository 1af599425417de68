"""One spec for an operator, a dtype and a shape: made from the operator's definition, so that new ones are covered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_spec.ir.dtype import DTYPES, FP32, DType
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ops.cast import MODES, NATIVE, cast_chain
from pypto_spec.ops.registry import OPS, form
from tests.golden.choice_cases import bring, compared
from tests.golden.cube_cases import products, stacks, views
from tests.golden.harness import Case
from tests.golden.place_cases import PLACES
from tests.golden.sort_cases import SORTS
from tests.golden.spec_text import Shape, Spec

INEXACT = re.compile(r"exp|log|rsqrt|sin|cos|\w+_prod|\w+_expdif|\w+_sum")
"""Ops whose floating-point result may be off by a few units; all others are exact."""

HALF = "golden: {tolerance: {rtol: 0.004, atol: 0.0005}}"


def shapes(dtype: DType) -> dict[str, Shape]:
    """The shapes of the matrix; `pitch` has rows further apart than a repeat stride can say."""
    wide = 255 * dtype.block + 10
    return {
        "full": (64, 64),
        "row": (1, 100),
        "column": (70, 1),
        "odd": (7, 9),
        "tail": (33, 100),
        "r255": (255, 24),
        "r256": (256, 24),
        "r257": (257, 8),
        "pitch": (3, wide),
        "tiny": (1, 1),
        "long": (1, 4200),
        "tall": (257, 1),
    }


def near_one(defn: OpDef, dtype: DType, shape: Shape) -> str:
    """Inputs of long products: partial ones must not overflow here and not there, by the order of the factors."""
    if defn.family != "product" or not dtype.is_float or max(shape) <= 100:
        return ""
    return "golden: {inputs: {g_x: {min: 0.97, max: 1.03}}}"


def exact(defn: OpDef, dtype: DType) -> bool:
    """Whether the op's result must equal its torch meaning bit for bit."""
    return not dtype.is_float or not INEXACT.fullmatch(defn.name)


def result(defn: OpDef, shape: Shape) -> Shape:
    """Shape of what the op makes of a full operand."""
    rows, cols = shape
    return {"row_reduce": (rows, 1), "col_reduce": (1, cols)}.get(defn.role, shape)


def made_dtype(defn: OpDef, dtype: DType) -> DType:
    """Dtype of what the op makes of operands of a dtype."""
    return DTYPES["int32"] if defn.family == "arg" else dtype


def operand(defn: OpDef, name: str, shape: Shape) -> Shape:
    """Shape of a tile operand, where the full shape is given."""
    rows, cols = shape
    spread = name == "v" or defn.name in ("row_expand", "col_expand")
    if spread and defn.role == "row_expand":
        return rows, 1
    if spread and defn.role == "col_expand":
        return 1, cols
    return shape


def statement(defn: OpDef, name: str, dtype: DType, shape: Shape, scalar: str = "3") -> Case:
    """The op as a statement between loads and a store."""
    spec = Spec(name)
    fields = []
    for f in defn.fields:
        if f.kind == "bind":
            fields.append(f"{f.name}: y")
        elif f.kind == "tile":
            bring(spec, defn, f.name, dtype, operand(defn, f.name, shape))
            fields.append(f"{f.name}: {f.name}")
        elif f.kind == "number":
            fields.append(f"{f.name}: {scalar}")
        elif f.name in ("rows", "cols"):
            fields.append(f"{f.name}: {shape[f.name == 'cols']}")
        elif f.kind == "word" and f.required:
            fields.append(f"{f.name}: {f.words[0]}")
        elif f.required:
            raise KeyError(f"`{defn.name}` has the field `{f.name}`, which no case knows how to fill")
    spec.body.append(f"{defn.name}: {{{', '.join(fields)}}}")
    spec.store("y", made_dtype(defn, dtype), result(defn, shape))
    return Case(spec.text(near_one(defn, dtype, shape)), exact(defn, dtype))


def written_as_let(defn: OpDef) -> list[str]:
    """Formulas that mean this op, with operands named as its fields."""
    names = [f.name for f in defn.fields if f.kind == "tile" or (f.kind == "number" and f.required)]
    if defn.function is not None and defn.name not in ("row_expand", "col_expand"):
        return [f"{defn.function}({', '.join(names)})"]
    if defn.infix is not None and len(names) == 2:
        return [f"{names[0]} {defn.infix} {names[1]}"]
    return [f"{defn.infix}{names[0]}"] if defn.infix is not None else []


def let(defn: OpDef, name: str, dtype: DType, shape: Shape, scalar: str = "3") -> Iterator[Case]:
    """The op as a formula, if it has such a form."""
    for number, formula in enumerate(written_as_let(defn)):
        spec = Spec(f"{name}_{number}")
        for f in defn.fields:
            if f.kind == "tile":
                bring(spec, defn, f.name, dtype, operand(defn, f.name, shape))
        written = formula
        for f in defn.fields:
            if f.kind == "number":
                written = re.sub(rf"\b{f.name}\b", scalar, written)
        spec.body.append(f"let: y = {written}")
        spec.store("y", made_dtype(defn, dtype), result(defn, shape))
        yield Case(spec.text(near_one(defn, dtype, shape)), exact(defn, dtype))


# --- ops of their own -----------------------------------------------------------------------------------------------


def copies(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[Case]:
    """load, store and move: whole, and a window that starts and ends anywhere."""
    rows, cols = shape
    spec = Spec(f"{name}_whole")
    spec.load("x", dtype, shape)
    source = "x"
    if defn.name == "move":
        spec.body.append("move: {into: y, from: x}")
        source = "y"
    spec.store(source, dtype, shape)
    yield Case(spec.text(), True)
    spec = Spec(f"{name}_window")
    wide = cols if cols == 1 else cols + 5
    spec.tensor("a", dtype, (rows + 3, wide))
    spec.tensor("out", dtype, (rows + 4, wide), "inout")
    at = [2, 0 if cols == 1 else 3]
    spec.body.append(f"load: {{into: x, from: a, at: {at}, shape: [{rows}, {cols}]}}")
    if defn.name == "move":
        spec.body.append("move: {into: y, from: x}")
    spec.body.append(f"store: {{from: {source}, to: out, at: {[1, at[1] - (cols > 1)]}}}")
    yield Case(spec.text(), True)
    if rows > 1 and cols > 1:
        spec = Spec(f"{name}_valid")
        spec.tensor("a", dtype, (rows, cols))
        spec.tensor("out", dtype, (rows, cols), "inout")
        spec.body.append(
            f"load: {{into: x, from: a, at: [1, 1], shape: [{rows}, {cols}], valid: [{rows - 1}, {cols - 1}]}}"
        )
        if defn.name == "move":
            spec.body.append("move: {into: y, from: x}")
        spec.body.append(f"store: {{from: {source}, to: out, at: [0, 1]}}")
        yield Case(spec.text(), True)


def atomic(name: str, dtype: DType, shape: Shape) -> Case:
    """store that adds to what is there."""
    spec = Spec(name)
    spec.load("x", dtype, shape)
    spec.tensor("out", dtype, shape, "inout")
    spec.body += ["store: {from: x, to: out, at: [0, 0], atomic: add}"] * 2
    return Case(spec.text(), not dtype.is_float)


def filled(name: str, dtype: DType, shape: Shape, value: str) -> Case:
    """full."""
    spec = Spec(name)
    spec.body.append(f"full: {{into: y, shape: {list(shape)}, value: {value}, dtype: {dtype}}}")
    spec.store("y", dtype, shape)
    return Case(spec.text(), True)


def created(name: str, dtype: DType, shape: Shape) -> Case:
    """create_tile: what it makes is undefined, so it is only ever overwritten."""
    spec = Spec(name)
    spec.load("x", dtype, shape)
    spec.body.append(f"create_tile: {{into: y, shape: {list(shape)}, dtype: {dtype}}}")
    spec.body.append("move: {into: y, from: x}")
    spec.store("y", dtype, shape)
    return Case(spec.text(), True)


def sliced(name: str, dtype: DType, shape: Shape) -> Iterator[Case]:
    """slice: the lower right part, from an aligned column; used by a store and by a copy."""
    rows, cols = shape
    down = rows // 2
    if cols == 1:
        down = down // dtype.block * dtype.block
    right = cols // 2 // dtype.block * dtype.block
    part = (rows - down, cols - right)
    if part[1] == 1 and cols != 1 and dtype.name not in ("fp32", "fp16"):
        return
    for use in ("store", "move"):
        spec = Spec(f"{name}_{use}")
        spec.load("x", dtype, shape)
        spec.body.append(f"slice: {{into: s, x: x, at: {[down, right]}, shape: {list(part)}}}")
        if use == "move":
            spec.body.append("move: {into: y, from: s}")
        spec.store("s" if use == "store" else "y", dtype, part)
        yield Case(spec.text(), True)


def reshaped(name: str, dtype: DType, shape: Shape) -> Iterator[Case]:
    """reshape to one row, where no padding is in the way."""
    rows, cols = shape
    if cols % dtype.block and rows > 1 and cols > 1:
        return
    spec = Spec(name)
    spec.load("x", dtype, shape)
    spec.body.append(f"reshape: {{into: y, x: x, shape: [1, {rows * cols}]}}")
    spec.store("y", dtype, (1, rows * cols))
    yield Case(spec.text(), True)


def casts(name: str, src: DType, shape: Shape, every_mode: bool) -> Iterator[Case]:
    """cast to every dtype there is a way to."""
    if src not in OPS["cast"].dtypes:
        spec = Spec(name)
        spec.load("x", src, shape)
        spec.body.append("cast: {into: y, x: x, dtype: fp32}")
        spec.store("y", FP32, shape)
        yield Case(spec.text(), True)
    for dst in DTYPES.values():
        if (
            src not in OPS["cast"].dtypes
            or (not cast_chain(src, dst) and src != dst)
            or shape[0] * shape[1] * (src.bytes + dst.bytes) > 150_000
        ):
            continue
        legal = NATIVE.get((src, dst), frozenset({"rint", "floor", "ceil", "round", "trunc"}))
        modes = [m for m in MODES if m in legal] if every_mode and src != dst else []
        for mode in (None, *modes):
            spec = Spec(f"{name}_{dst}_{mode or 'default'}")
            spec.load("x", src, shape)
            spec.body.append(f"cast: {{into: y, x: x, dtype: {dst}{f', mode: {mode}' if mode else ''}}}")
            spec.store("y", dst, shape)
            yield Case(spec.text(), True)


def cases(defn: OpDef, dtype: DType, shape: Shape, name: str, thorough: bool) -> Iterator[Case]:
    """Every case of one op, dtype and shape."""
    if defn.name in ("load", "store", "move"):
        yield from copies(defn, name, dtype, shape)
        if defn.name == "store" and dtype.name in ("fp32", "fp16", "bf16", "int32", "int16", "int8"):
            yield atomic(f"{name}_atomic", dtype, shape)
    elif defn.name == "create_tile":
        yield created(name, dtype, shape)
    elif defn.effects == "shows":
        spec = Spec(name)
        spec.load("x", dtype, shape)
        spec.body.append(f"{defn.name}: {{dump: x}}")
        spec.store("x", dtype, shape)
        yield Case(spec.text(), True)
    elif defn.name == "full":
        yield filled(name, dtype, shape, "7")
        if dtype.is_float:
            yield filled(f"{name}_inf", dtype, shape, "-.inf")
    elif defn.family == "compare":
        spec = Spec(name)
        compared(spec, defn, dtype, shape)
        yield Case(spec.text(), True)
    elif defn.name == "batch_matmul":
        yield from stacks(name, dtype, shape)
    elif defn.role == "matmul":
        yield from products(defn, name, dtype, shape)
    elif defn.name == "transpose_view":
        yield from views(name, dtype, shape)
    elif defn.name in PLACES:
        for text in PLACES[defn.name](defn, name, dtype, shape):
            yield Case(text, True)
    elif defn.name in SORTS:
        for text in SORTS[defn.name](defn, name, dtype, shape):
            yield Case(text, True)
    elif defn.name == "slice":
        yield from sliced(name, dtype, shape)
    elif defn.name == "reshape":
        yield from reshaped(name, dtype, shape)
    elif defn.name == "cast":
        yield from casts(name, dtype, shape, thorough)
    elif defn.family == "product" and dtype.is_float and max(shape) > 300:
        return  # not even products of numbers near 1 stay in the range of fp16
    else:
        yield statement(defn, name, dtype, shape)
        yield from let(defn, f"{name}_let", dtype, shape)


__all__ = ["OPS", "Spec", "cases", "form", "shapes"]

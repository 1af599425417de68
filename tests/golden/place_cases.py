"""Specs for the ops that count, pad, and bring elements to other places: as text, for the op matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.opdef import OpDef
from tests.golden.spec_text import Shape, Spec


def counted(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """arange, up and down; as far as the dtype goes."""
    count = shape[0] * shape[1]
    for word, start, step in (("", 5, 1), ("_down", count, -1), ("_steps", 0, 3)):
        reach = max(start, start + (count - 1) * step)
        if reach > {"fp16": 2048, "int16": 32767}.get(dtype.name, reach):
            continue
        spec = Spec(f"{name}{word}")
        spec.body.append(f"arange: {{into: y, shape: {list(shape)}, start: {start}, dtype: {dtype}, step: {step}}}")
        spec.store("y", dtype, shape)
        yield spec.text()


def gathered(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """gather: more indices than columns, as many, and one."""
    rows, cols = shape
    for width in sorted({1, 16, cols}):
        if (cols == 1 < rows and width > 1) or rows * (width + cols) > 10_000:
            continue
        spec = Spec(f"{name}_{width}")
        spec.load("x", dtype, shape)
        spec.load("index", DTYPES["int32"], (rows, width))
        spec.body.append("gather: {into: y, x: x, index: index}")
        spec.store("y", dtype, (rows, width))
        yield spec.text(f"golden: {{inputs: {{g_index: {{min: 0, max: {cols - 1}}}}}}}")


def masked(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """gather_mask: every pattern."""
    rows, cols = shape[0], 4 * -(-shape[1] // 4)
    for pattern, part in (("p0101", 2), ("p1010", 2), ("p0001", 4), ("p0010", 4), ("p0100", 4), ("p1000", 4)):
        spec = Spec(f"{name}_{pattern}")
        spec.load("x", dtype, (rows, cols))
        spec.body.append(f"gather_mask: {{into: y, x: x, pattern: {pattern}}}")
        spec.store("y", dtype, (rows, cols // part))
        yield spec.text()


def padded(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """fillpad and set_validshape: static tails, and rows and columns known at run time only."""
    rows, cols = shape
    if defn.name != "fillpad_expand" or max(shape) < 100:
        yield _padded_whole(defn, name, dtype, shape)
    parts: dict[str, tuple[object, object]] = {"tail": (max(1, rows - 2), max(1, cols - 3)), "full": shape}
    if rows > 1:
        parts["rows"] = (f"min({rows}, i + 1)", cols)
    if 1 < cols and rows * cols < 5_000:
        parts["cols"] = (max(1, rows - 1), f"min({cols}, i + 2)")
    for word, valid in parts.items():
        for pad in ("zero", "min", "max") if word == "tail" else ("min",):
            spec = Spec(f"{name}_{word}_{pad}")
            spec.tensor("a", dtype, shape)
            more = (rows + 3, cols if cols == 1 else cols + 9) if defn.name == "fillpad_expand" else shape
            if more[0] * more[1] * dtype.bytes > 50_000:
                continue
            spec.tensor("out", dtype, (2, *more), "inout")
            load = f"load: {{into: x, from: a, at: [0, 0], shape: {list(shape)}"
            ends = ", ".join(f'"{v}"' for v in valid)
            if defn.name == "set_validshape":
                inner = [f"{load}}}", f"set_validshape: {{into: y, x: x, valid: [{ends}]}}"]
            else:
                extra = f", shape: {list(more)}" if defn.name == "fillpad_expand" else ""
                inner = [f"{load}, valid: [{ends}]}}", f"{defn.name}: {{into: y, x: x{extra}, pad: {pad}}}"]
            inner.append("store: {from: y, to: out, at: [i, 0, 0]}")
            body = "".join(f"\n          - {line}" for line in inner)
            spec.body.append(f"for: {{index: i, count: 2}}\n        body:{body}")
            yield spec.text()


def _padded_whole(defn: OpDef, name: str, dtype: DType, shape: Shape) -> str:
    """One of these of a whole tile."""
    spec = Spec(f"{name}_whole")
    more = (shape[0] + 3, shape[1] if shape[1] == 1 else shape[1] + 9)
    spec.load("x", dtype, shape)
    fields = {"set_validshape": f"valid: {list(shape)}", "fillpad_expand": f"shape: {list(more)}, pad: max"}
    spec.body.append(f"{defn.name}: {{into: y, x: x, {fields.get(defn.name, 'pad: max')}}}")
    spec.store("y", dtype, more if defn.name == "fillpad_expand" else shape)
    return spec.text()


def extracted(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """extract: from an aligned column, from any column, and a single column."""
    rows, cols = shape
    down = rows // 2
    starts = {0, cols // 2 // dtype.block * dtype.block, min(cols - 1, 3), cols - 1}
    if dtype.bytes == 1:
        starts = {s for s in starts if (down if cols == 1 else s) % dtype.block == 0}
        down = 0 if cols == 1 else down
    for start in sorted(starts):
        for width in {cols - start, min(cols - start, 5)}:
            if width == 1 < cols and rows - down > 1 and dtype.bytes not in (2, 4):
                continue
            spec = Spec(f"{name}_{start}_{width}")
            spec.load("x", dtype, shape)
            part = (rows - down, width)
            spec.body.append(f"extract: {{into: y, x: x, at: {[down, start]}, shape: {list(part)}}}")
            spec.store("y", dtype, part)
            yield spec.text()


def assembled(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """assemble: at aligned and other columns, in place, and where the target is still needed."""
    rows, cols = shape
    down = rows // 2
    for start in sorted({0, min(cols - 1, 3), cols // 2 // dtype.block * dtype.block}):
        for width in sorted({cols - start, min(cols - start, dtype.block), 1}):
            part = (rows - down, width)
            if rows * cols * dtype.bytes > 30_000 and start and width > 8:
                continue  # three copies of each row do not fit beside its tables
            aligned = start % dtype.block == 0 and (width % dtype.block == 0 or start + width == cols)
            if dtype.bytes == 1 and not (aligned and (cols > 1 or down % dtype.block == 0)):
                continue
            if dtype.bytes == 8 and width == 1 < cols and rows - down > 1:
                continue
            spec = Spec(f"{name}_{start}_{width}")
            spec.load("t", dtype, shape)
            spec.load("x", dtype, part)
            spec.body.append(f"assemble: {{into: y, target: t, x: x, at: {[down, start]}}}")
            spec.store("y", dtype, shape)
            if width == cols - start:
                spec.tensor("before", dtype, shape, "out")
                spec.body.append("store: {from: t, to: before, at: [0, 0]}")
            yield spec.text()


def joined(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """concat: with a tile of the same shape, a narrow one and a column, on either side."""
    rows, cols = shape
    for width in sorted({1, 5, cols} if dtype.bytes in (2, 4) else {dtype.block, cols}):
        for a, b in {(cols, width), (width, cols)}:
            if (
                cols > 1
                and dtype.bytes not in (2, 4)
                and ((dtype.bytes == 1 and a % dtype.block) or (rows > 1 and 1 in (a, b)))
            ):
                continue
            if rows * (a + b) * dtype.bytes > 30_000:
                continue
            spec = Spec(f"{name}_{a}_{b}")
            spec.load("lhs", dtype, (rows, a))
            spec.load("rhs", dtype, (rows, b))
            spec.body.append("concat: {into: y, lhs: lhs, rhs: rhs}")
            spec.store("y", dtype, (rows, a + b))
            yield spec.text()


def triangles(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """tri: the main diagonal, others, and one that is out of reach."""
    if max(shape) > 1024:
        return
    for diagonal, part in ((0, "lower"), (2, "upper"), (-3, "lower"), (-1, "upper"), (999, "upper")):
        spec = Spec(f"{name}_{part}_{abs(diagonal)}")
        fields = f"shape: {list(shape)}, dtype: {dtype}, diagonal: {diagonal}, part: {part}"
        spec.body.append(f"tri: {{into: y, {fields}}}")
        spec.store("y", dtype, shape)
        yield spec.text()


def turned(defn: OpDef, name: str, dtype: DType, shape: Shape) -> Iterator[str]:
    """transpose, where the result fits."""
    if max(shape) > 300 and 1 not in shape:
        return
    spec = Spec(name)
    spec.load("x", dtype, shape)
    spec.body.append("let: y = transpose(x)")
    spec.store("y", dtype, shape[::-1])
    yield spec.text()


PLACES: Mapping[str, Callable[[OpDef, str, DType, Shape], Iterator[str]]] = {
    "arange": counted,
    "tri": triangles,
    "extract": extracted,
    "assemble": assembled,
    "concat": joined,
    "fillpad": padded,
    "fillpad_inplace": padded,
    "fillpad_expand": padded,
    "set_validshape": padded,
    "transpose": turned,
    "gather": gathered,
    "gather_mask": masked,
}
"""The specs of an op, a dtype and a shape, by the op's name; all results are exact."""

"""Debug statements: what a kernel prints and dumps. They are there with `--debug` only, and change nothing.

On the device `printf` and `DumpTensor` are in the headers of CANN 8.1.RC1 and of 2026 alike. (`PRINTF` is missing in
the CPU build of 8.1.) `printf` takes no escapes but the line's end, so that texts hold printable ASCII without
backslashes and `%`. `DumpTensor` of 8.1 refuses what is no multiple of 32 B, and tells dumps
apart by a number alone: it is the line of the statement, and a printed line with name, type and label goes ahead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.diagnostics.rules import syntax
from pypto_spec.ir.dtype import BLOCK_BYTES, FP32
from pypto_spec.ir.expr import Expr, Index, to_text
from pypto_spec.ir.instr import Arg, Instr, Ref, ScalarRef, Step, Word
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import ArrayType, ScalarType, TensorType, TileType, round_up
from pypto_spec.ops.build import ANY, VEC, no_scratch, shape_text, static_shape
from pypto_spec.ops.registry import define
from pypto_spec.ops.window import Run, UnsupportedWindowError, check_bounds, check_rank, runs

PRINTED = "print:"
"""What the operands of a printed text are called: this and the name of the run-time scalar."""
PIECE_BYTES = 16_384
"""Bytes of one DumpTensor at most; the device drops what is longer than its line buffer (30 KB by default)."""
MAX_PIECES = 64
"""Dumps that one statement may become."""


def pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """The parts of a text: what stands before each pair of braces, and what is in it (None behind the last).

    Doubled braces stand for themselves. A brace without its partner is a ValueError whose second argument is its place.
    """
    literal, at = "", 0
    while at < len(text):
        char = text[at]
        if text[at : at + 2] in ("{{", "}}"):
            literal, at = literal + char, at + 2
        elif char == "{":
            end = text.find("}", at)
            if end < 0:
                raise ValueError("a `{` without its `}`", at)
            yield literal, text[at + 1 : end]
            literal, at = "", end + 1
        elif char == "}":
            raise ValueError("a `}` without its `{`", at)
        else:
            literal, at = literal + char, at + 1
    yield literal, None


def format_text(op: Op) -> str:
    """The text of a statement as a spec writes it, with what is printed as it is now."""
    text, values = op.attrs["print"], op.attrs["values"]
    assert isinstance(text, str) and isinstance(values, tuple)
    left = iter(values)
    made = ""
    for literal, held in pieces(text):
        made += literal.replace("{", "{{").replace("}", "}}")
        if held is not None:
            made += f"{{{held or _plain(next(left))}}}"
    return made


def _plain(index: Index) -> str:
    text = to_text(index)
    alone = isinstance(index, Expr) and len(index.terms) == 1 and index.const == 0 and index.terms[0][1] == 1
    return text[1:-1] if alone and text.startswith("(") else text


# --- what may be shown ----------------------------------------------------------------------------------------------


def _infer(inference: Inference) -> None:
    written = [name for name in ("print", "dump") if name in inference.attrs or name in inference.operands]
    if inference.level == "array":
        raise inference.fail(
            rules.LEVEL_MIX,
            "`debug` stands in a region that works on tiles; this one works on whole arrays, which are cut up later",
            helps=("work on tiles here (`load`, `store`), or look at one stage with `lower --check`",),
        )
    if len(written) != 1:
        raise inference.fail(
            syntax.CONFLICTING_KEYS if written else syntax.MISSING_KEY,
            "`debug` holds `print` or `dump`, " + ("found both" if written else "found neither"),
            label="one of the two",
            helps=('print: `- debug: {print: "row {i}"}`; dump: `- debug: {dump: TILE, label: "after exp"}`',),
        )
    extra = [name for name in ("label", "count", "at", "shape") if name in inference.attrs]
    if written == ["print"]:
        if extra:
            raise inference.fail(
                syntax.CONFLICTING_KEYS,
                f"`{extra[0]}` belongs to `dump`, and this statement prints a text",
                extra[0],
                helps=(f"leave `{extra[0]}` out",),
            )
        return
    label = inference.attrs.get("label")
    if isinstance(label, str):
        bad = bad_character(label)
        if bad is not None:
            raise inference.fail(syntax.DEBUG_TEXT, bad[0], "label", helps=(bad[1],))
    kind = inference.type("dump")
    name = inference.operands["dump"].name
    if isinstance(kind, TensorType):
        _check_window(inference, kind, name)
    elif isinstance(kind, TileType):
        _check_tile(inference, kind, name)
    elif isinstance(kind, ScalarType | ArrayType):
        way = f'- debug: {{print: "{name} = {{{name}}}"}}'
        raise inference.fail(
            rules.LEVEL_MIX,
            f"`dump` shows a tile, or a window of a tensor; `{name}` is {kind}",
            "dump",
            helps=(f"print it: `{way}`" if isinstance(kind, ScalarType) else "work on tiles to look at them",),
        )


def bad_character(text: str) -> tuple[str, str] | None:
    """What is wrong with the characters of a text that the device is to print, and the way out."""
    for char in text:
        if char in "\\%" or not (char.isascii() and char.isprintable()):
            return (
                f"the device cannot print {char!r}: its `printf` takes printable ASCII, without `%` and `\\`",
                "write it in other words; each text is a line of its own already",
            )
    return None


def _check_tile(inference: Inference, tile: TileType, name: str) -> None:
    for field in ("at", "shape"):
        if field in inference.attrs:
            raise inference.fail(
                syntax.CONFLICTING_KEYS,
                f"`{field}` cuts a window of a tensor, and `{name}` is a tile",
                field,
                helps=(f"cut the tile first: `- slice: {{into: part, x: {name}, ...}}`, and dump that",),
            )
    count = inference.attr("count")
    if count is not None and not (isinstance(count, int) and 1 <= count <= tile.span_elements):
        raise inference.fail(
            syntax.OUT_OF_RANGE,
            f"`{name}` takes {tile.span_elements} elements on chip, padding included, and `count` is {_plain(count)}",
            "count",
            helps=(f"write 1 to {tile.span_elements}, or leave it out for all",),
        )
    if not tile.is_dense and tile.rows > MAX_PIECES and count is None:
        raise _too_many(inference, f"the rows of `{name}` lie apart: {tile.rows} of them", "dump")


def _check_window(inference: Inference, tensor: TensorType, name: str) -> None:
    for field in ("at", "shape"):
        if field not in inference.attrs:
            raise inference.fail(
                syntax.MISSING_KEY,
                f"a dump of the tensor `{name}` needs `{field}`: which window of it to show",
                "dump",
                label="a whole tensor may be of any size",
                helps=(f"write `at: {shape_text((0,) * len(tensor.shape))}, shape: [...]`, one entry per axis",),
            )
    if "count" in inference.attrs:
        raise inference.fail(
            syntax.CONFLICTING_KEYS, "`count` is for tiles; of a tensor `shape` says how much is shown", "count",
            helps=("leave `count` out, and make `shape` smaller",),
        )  # fmt: skip
    shape, at = static_shape(inference, "shape"), inference.attr("at")
    check_rank(inference, tensor.shape, "dump", at=at, shape=shape)
    check_bounds(inference, tensor.shape, at, shape, "dump")
    try:
        found = _lines(tensor, at, shape)
    except UnsupportedWindowError as reason:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the window {shape_text(shape)} of `{name}` cannot be shown: {reason}",
            "shape",
            helps=("show it in a loop over the outer axes",),
        ) from None
    if len(found) > MAX_PIECES:
        raise _too_many(inference, f"the rows of the window lie apart in GM: {len(found)} of them", "shape")
    for _, length in found[:1]:
        size = length * tensor.dtype.bytes
        if size % BLOCK_BYTES:
            block = tensor.dtype.block
            raise inference.fail(
                rules.CANNOT_DUMP,
                f"rows of {length} {tensor.dtype} elements are {size} B, and the device dumps global memory in "
                f"multiples of {BLOCK_BYTES} B",
                "shape",
                label=f"{size} B a row",
                helps=(
                    f"show a multiple of {block} elements a row, such as {length // block * block or block}",
                    f"or load the window and dump the tile, which is padded to {BLOCK_BYTES} B",
                ),
                figures=(("row_bytes", size), ("block_bytes", BLOCK_BYTES)),
            )


def _too_many(inference: Inference, what: str, field: str) -> CompileError:
    return inference.fail(
        rules.CANNOT_DUMP,
        f"{what}, and each is a dump of its own; a statement makes at most {MAX_PIECES}",
        field,
        helps=("show fewer rows",),
    )


def _lines(tensor: TensorType, at: tuple[Index, ...], shape: tuple[int, ...]) -> list[tuple[Index, int]]:
    """Start and length of each stretch of a window that lies in one piece, in elements."""
    found: list[tuple[Index, int]] = []
    for run in runs(tensor, at, shape, shape):
        rows, length = run.rows, run.length
        assert isinstance(rows, int) and isinstance(length, int)
        if run.pitch == length or rows == 1:
            found.append((run.start, rows * length))
        else:
            found += [(_row(run, n), length) for n in range(rows)]
    return found


def _row(run: Run, number: int) -> Index:
    from pypto_spec.ir.expr import add, mul

    return add(run.start, mul(run.pitch, number))


# --- the calls ------------------------------------------------------------------------------------------------------


def _recipe(of: Recipe) -> tuple[Step, ...]:
    if of.attr("print") is not None:
        return (_print(of),)
    value = of.value("dump")
    kind = value.type
    label = of.attr("label")
    base = value.name.partition(".")[0]
    head = f"line {of.line}: {base}, {kind}" + (f": {label}" if label else "")
    if isinstance(kind, TensorType):
        at, shape = of.attr("at"), of.attr("shape")
        head = f"line {of.line}: {base}, {kind.dtype}{shape_text(shape)} of a tensor" + (f": {label}" if label else "")
        found = _lines(kind, at, shape)
    else:
        assert isinstance(kind, TileType)
        found = _stored(kind, of.attr("count"))
    return (Instr("printf", (_word(head),)), *_dumps(found, kind.dtype.bytes, of.line))


def _stored(tile: TileType, count: int | None) -> list[tuple[Index, int]]:
    """The stretches of a tile on chip, each rounded up to whole blocks (a tile ends on one)."""
    block = tile.dtype.block
    if tile.is_dense or tile.rows == 1:
        return [(0, round_up(tile.span_elements if count is None else count, block))]
    left = tile.span_elements if count is None else count
    width, pitch = round_up(tile.cols, block), tile.row_pitch
    return [
        (row * pitch, min(width, round_up(left - row * pitch, block))) for row in range(tile.rows) if left > row * pitch
    ]


def _dumps(found: list[tuple[Index, int]], size: int, line: int) -> Iterator[Step]:
    from pypto_spec.ir.expr import add

    most = PIECE_BYTES // size
    for start, length in found:
        for first in range(0, length, most):
            yield Instr("DumpTensor", (Ref("dump", add(start, first)), line, min(most, length - first)))


def _print(of: Recipe) -> Step:
    left = iter(of.attr("values"))
    text, args = "", list[Arg]()
    for literal, held in pieces(of.attr("print")):
        text += literal
        if held:
            scalar = of.operands[f"{PRINTED}{held}"]
            text += "%f"
            args.append(ScalarRef(scalar, FP32))
        elif held is not None:
            text += "%d"
            args.append(next(left))
    return Instr("printf", (_word(text), *args))


def _word(text: str) -> Word:
    return Word('"' + text.replace('"', '\\"') + '\\n"')


def _meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return None


define(
    OpDef(
        name="debug",
        family="debug",
        doc="print a line, or show what is in a tile or a tensor; with `--debug` only",
        fields=(
            Field(
                name="print",
                kind="format",
                doc="a text; `{i}` in it is an integer expression or the name of a run-time scalar or constant",
                required=False,
                examples=("block {i}: rows from {i * 64}",),
            ),
            Field(name="dump", kind="tile", doc="a tile, or with `at` and `shape` a tensor", required=False),
            Field(name="label", kind="text", doc="a text in the line before a dump", required=False),
            Field(name="count", kind="expr", doc="elements of a tile to show, from its first one", required=False),
            Field(name="at", kind="exprs", doc="first element of the window of a tensor", required=False),
            Field(name="shape", kind="ints", doc="extents of the window of a tensor", required=False),
        ),
        role="move",
        pipe="s",
        infer=_infer,
        dtypes=ANY,
        dtype_of="dump",
        torch=_meaning,
        recipe=_recipe,
        scratch=no_scratch,
        spaces={"dump": VEC},
        effects="shows",
        example='- debug: {dump: t, label: "after exp"}',
    )
)

"""Printing a program as spec text (YAML): what `lower` shows and `build --dump-passes` writes.

Reading the text gives the program back, and printing that gives the same bytes. Constants are gone (they are folded),
what a reader of the text can infer is left out: defaults, and the instructions of a recipe that has only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pypto_spec.convert import emit
from pypto_spec.convert.instructions import condition_text, index_text
from pypto_spec.convert.print_body import BodyPrinter
from pypto_spec.ir.arguments import kernel_name
from pypto_spec.ir.expr import Index
from pypto_spec.ir.inline import inlined
from pypto_spec.ir.nodes import Branch, Buffer, Control, Golden, Grid, Loop, Program, Region, TargetOptions
from pypto_spec.ir.types import Access, ScalarType, TensorType
from pypto_spec.ops.registry import OPS

_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")


def to_spec(program: Program) -> str:
    """The whole program as one YAML document; functions stand in the place of their calls."""
    program = inlined(program, OPS["reshape"])
    sections = [_header(program)]
    arguments = _symbols(program) + _scalars(program)
    if arguments:
        sections.append(arguments)
    if program.tensors:
        sections.append(["tensors:", *emit.block(_tensors(program), "  ")])
    if program.buffers:
        sections.append(["buffers:", *emit.block(((b.name, _buffer(b)) for b in program.buffers), "  ")])
    body = [*_created(program), *_controls(program.body, "  ", BodyPrinter(program))]
    sections.append(["program:", *body] if body else ["program: []"])
    if program.golden is not None:
        sections.append(_golden(program.golden))
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _header(program: Program) -> list[str]:
    lines = ["spec: v1"]
    if program.dump is not None:
        dump = program.dump
        source, sha256 = _file_name(dump.source), emit.quoted(dump.sha256)
        fields = [("after", emit.word(dump.after)), ("source", source), ("sha256", sha256)]
        lines.append(f"dump: {emit.mapping(fields)}")
    lines.append(f"name: {emit.line(program.name)}")
    if program.about:
        lines.append(f"about: {emit.line(program.about)}")
    lines.append(f"target: {_target(program.target)}")
    lists = [("disable", program.disabled), ("error", program.promoted)]
    found = [(key, emit.sequence(map(emit.word, codes))) for key, codes in lists if codes]
    if found:
        lines.append(f"diagnostics: {emit.mapping(found)}")
    return lines


def _target(options: TargetOptions) -> str:
    pairs = [("platform", options.platform), ("planner", options.planner)]
    if options.l0c_double_buffer:
        pairs.append(("l0c_double_buffer", "true"))
    if options.unit_flag:
        pairs.append(("unit_flag", "true"))
    pairs.append(("sync", options.sync))
    if options.precision != "exact":
        pairs.append(("precision", options.precision))
    return emit.mapping(pairs)


def _symbols(program: Program) -> list[str]:
    entries: list[tuple[str, str]] = []
    for dim in program.dims:
        limits = [(key, str(value)) for key, value in (("min", dim.low), ("max", dim.high)) if value is not None]
        if dim.multiple != 1:
            limits.append(("multiple_of", str(dim.multiple)))
        entries.append((dim.name, emit.mapping(limits)))
    return ["symbols:", *emit.block(entries, "  ")] if entries else []


def _scalars(program: Program) -> list[str]:
    entries = [(emit.word(v.name), v.type.dtype.name) for v in program.scalars if isinstance(v.type, ScalarType)]
    return [f"scalars: {emit.mapping(entries)}"] if entries else []


def _tensors(program: Program) -> Iterator[tuple[str, str]]:
    for tensor in program.tensors:
        kind = tensor.type
        assert isinstance(kind, TensorType)
        fields = [("dtype", kind.dtype.name), ("shape", indices(kind.shape))]
        if kind.pitches is not None:
            fields.append(("strides", indices(kind.pitches)))
        if kind.access is not Access.IN:
            fields.append(("access", kind.access.value))
        yield tensor.name, emit.mapping(fields)


def _created(program: Program) -> Iterator[str]:
    """The tensors of the program's own; they are there from its start, so they stand before all launches."""
    for tensor in program.created:
        kind = tensor.type
        assert isinstance(kind, TensorType)
        fields = [("into", emit.word(tensor.name)), ("dtype", kind.dtype.name), ("shape", indices(kind.shape))]
        yield f"  - create_tensor: {emit.mapping(fields)}"
        loc = program.tensor_locs.get(tensor.name)
        if loc is not None:
            yield f"    src: [{loc.span.line}, {loc.span.col}]"


def _buffer(buffer: Buffer) -> str:
    fields = [("memory", buffer.memory.value)]
    if buffer.bytes is not None:
        fields.append(("bytes", str(buffer.bytes)))
    if buffer.slots != 1:
        fields.append(("slots", str(buffer.slots)))
    if buffer.address is not None:
        fields.append(("address", str(buffer.address)))
    if buffer.owner != "author":
        fields.append(("owner", buffer.owner))
    if buffer.planner is not None:
        fields.append(("planner", buffer.planner))
    return emit.mapping(fields)


def _golden(golden: Golden) -> list[str]:
    lines = ["golden:"]
    if golden.sizes:
        lines.append(f"  sizes: {emit.data(golden.sizes)}")
    if golden.expect:
        lines += ["  expect:", *emit.block(((k, emit.line(v)) for k, v in golden.expect.items()), "    ")]
    if golden.python is not None:
        lines.append(f"  python: {emit.line(golden.python)}")
    if golden.inputs:
        lines += ["  inputs:", *emit.block(((k, emit.data(v)) for k, v in golden.inputs.items()), "    ")]
    if golden.tolerance:
        lines.append(f"  tolerance: {emit.data(golden.tolerance)}")
    if golden.seed is not None:
        lines.append(f"  seed: {golden.seed}")
    if golden.sample is not None:
        lines.append(f"  sample: {golden.sample}")
    return lines if len(lines) > 1 else ["golden: {}"]


def indices(items: Sequence[Index]) -> str:
    """A flow sequence of expressions."""
    return emit.sequence([emit.word(index_text(i)) if not isinstance(i, int) else str(i) for i in items])


def _controls(body: Sequence[Control], indent: str, printer: BodyPrinter) -> list[str]:
    lines: list[str] = []
    for node in body:
        if isinstance(node, Region):
            lines += _region(node, indent, printer)
        elif isinstance(node, Branch):
            lines.append(f"{indent}- if: {emit.line(condition_text(node.condition))}")
            lines += _arm("then", _controls(node.then, indent + "    ", printer), indent)
            if node.other:
                lines += _arm("else", _controls(node.other, indent + "    ", printer), indent)
        else:
            lines.append(f"{indent}- {_loop(node) if isinstance(node, Loop) else _grid(node)}")
            if isinstance(node, Grid) and node.kind == "parallel":  # its loop in the kernel has that place
                lines.append(f"{indent}  src: [{node.loc.span.line}, {node.loc.span.col}]")
            lines += _arm("body", _controls(node.body, indent + "    ", printer), indent)
    return lines


def _arm(key: str, lines: list[str], indent: str) -> list[str]:
    return [f"{indent}  {key}:", *lines] if lines else [f"{indent}  {key}: []"]


def _loop(loop: Loop) -> str:
    return f"for: {{index: {emit.word(loop.index.name)}, range: {indices((loop.start, loop.stop, loop.step))}}}"


def _grid(grid: Grid) -> str:
    fields = [("index", emit.word(grid.index.name))]
    count = count_text(grid.count)
    if grid.kind == "spmd":
        fields.append(("blocks", count))
    elif grid.inner:
        assert not isinstance(grid.count, str)
        names = [grid.index.name, *(index.name for index, _ in grid.inner)]
        counts = (grid.count, *(found for _, found in grid.inner))
        fields = [("index", emit.sequence(map(emit.word, names))), ("count", indices(counts))]
    else:
        fields.append(("count", count))
    if grid.kind == "parallel":
        if grid.most is not None:
            fields.append(("blocks", str(grid.most)))
        if grid.start != 0:
            fields.append(("start", indices((grid.start,))[1:-1]))
        if grid.step != 1:
            fields.append(("step", indices((grid.step,))[1:-1]))
        if grid.order is not None:
            fields.append(("order", order_text(grid.order)))
    return f"{grid.kind}: {emit.mapping(fields)}"


def count_text(count: Index | str) -> str:
    """`auto` or an expression, which may stand in a flow collection."""
    return count if isinstance(count, str) else indices((count,))[1:-1]


def _file_name(name: str) -> str:
    """A path, plain where it may be."""
    return name if _PATH.match(name) else emit.quoted(name)


def order_text(order: str) -> str:
    """`row`, `col`, or `swizzle:4` as the mapping `{swizzle: 4}`."""
    kind, _, count = order.partition(":")
    return emit.mapping([(kind, count)]) if count else kind


def _region(region: Region, indent: str, printer: BodyPrinter) -> list[str]:
    lines = [f"{indent}- region: {emit.line(region.name)}"]
    under = indent + "  "
    if region.alias is not None:
        lines.append(f"{under}as: {emit.line(region.alias)}")
    if region.after:
        lines.append(f"{under}after: {emit.sequence(map(emit.word, region.after))}")
    if region.core is not None:
        lines.append(f"{under}core: {region.core}")
    if region.kernel is not None and region.kernel != kernel_name(printer.program.name, region.name):
        lines.append(f"{under}kernel: {emit.line(region.kernel)}")
    if region.blocks is not None:
        lines.append(f"{under}blocks: {count_text(region.blocks)}")
    if region.order is not None:
        lines.append(f"{under}order: {order_text(region.order)}")
    if region.allow:
        lines.append(f"{under}allow: {emit.sequence(map(emit.word, sorted(region.allow)))}")
    body = printer.block(region.body, indent + "    ")
    return lines + ([f"{under}body:", *body] if body else [f"{under}body: []"])

"""From a loaded spec to the program it describes, before ConvertToSSA: names as the author wrote them.

An operand is the value that its name was bound to last in the order of the text; ConvertToSSA resolves names again as
control flows, gives every binding a version of its own, and adds what loops carry and branches merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pypto_spec.collector import collector_paused
from pypto_spec.convert.body import read_buffer
from pypto_spec.convert.contents import check_tensors, report_early
from pypto_spec.convert.context import PoisonedError, Reading
from pypto_spec.convert.control import ControlReader
from pypto_spec.convert.exprs import FUNCTIONS, Expressions
from pypto_spec.convert.golden import check_golden, read_golden
from pypto_spec.convert.let_calls import is_known_function
from pypto_spec.convert.options import check_effects, check_options
from pypto_spec.convert.scope import Fresh, Name, Scope
from pypto_spec.convert.tensors import read_argument
from pypto_spec.diagnostics.model import CompileError, Sink
from pypto_spec.diagnostics.rules.names import NEVER_WRITTEN, SHADOWED_NAME
from pypto_spec.diagnostics.rules.syntax import OUT_OF_RANGE
from pypto_spec.diagnostics.span import Loc, Source
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.nodes import Dump, Program, TargetOptions, Value
from pypto_spec.ir.types import Access, ScalarType, TensorType, round_up
from pypto_spec.spec.models.document import Document
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode

T = TypeVar("T")

EXPANDED_AFTER = frozenset({"ExpandToInstructions", "InsertSync"})
"""Passes whose dumps leave out instructions that the recipe gives."""


def convert(
    document: Document,
    sink: Sink | None = None,
    *,
    read_source: Callable[[str], str | None] | None = None,
    expanded_after: frozenset[str] = EXPANDED_AFTER,
) -> Program:
    """The program of a document. Raises CompileError with all its errors; warnings and hints go to `sink`.

    `read_source` gives the text of the file a dump came from, by the name in its header; by default the file is looked
    for beside the dump, and taken only if its hash is the header's.
    """
    if sink is None:
        lists = document.model.diagnostics
        sink = Sink(frozenset(lists.disable), frozenset(lists.error))
    with collector_paused():
        return _Converter(document, sink, read_source, expanded_after).program()


class _Converter:
    def __init__(
        self,
        document: Document,
        sink: Sink,
        read_source: Callable[[str], str | None] | None,
        expanded_after: frozenset[str],
    ) -> None:
        self.document = document
        header = document.model.dump
        dump = Dump(header.after, header.source, header.sha256) if header is not None else None
        scope = Scope()
        exprs = Expressions(scope)
        exprs.affine = dump is None
        self.reading = Reading(
            sink=sink,
            scope=scope,
            exprs=exprs,
            fresh=Fresh(document.source.text),
            dump=dump,
            origin=_origin(document.source.name, dump, read_source) if dump is not None else None,
            constants=document.values,
            expanded=dump is not None and dump.after in expanded_after,
            precision=document.model.target.precision,
            sync=document.model.target.sync,
            functions=document.functions,
        )
        self._names_of_functions()

    def _names_of_functions(self) -> None:
        """Functions of `let` and operators keep their names."""
        for function in self.document.functions.values():
            if is_known_function(function.name) or function.name in FUNCTIONS:
                self.reading.sink.report(
                    SHADOWED_NAME,
                    function.key.span,
                    f"`{function.name}` cannot name a function: the language has one of that name",
                    label="this name is taken",
                    helps=[f"choose another name, for example `my_{function.name}`"],
                )

    def program(self) -> Program:
        """Sections in the order in which names come to be, then the program itself."""
        document, reading, model = self.document, self.reading, self.document.model
        for constant in document.constants.values():
            reading.scope.declare(Name(constant.name, "constant", constant.key, constant=constant.value))
        dims = tuple(self._each("symbols", self._symbol))
        scalars = tuple(self._each("scalars", self._scalar))
        tensors = tuple(self._each("tensors", self._tensor))
        for _ in self._each("buffers", self._buffer):
            pass
        if reading.dump is None:
            check_options(document, reading.sink)
        control = ControlReader(reading, model.name)
        body = control.read(document.program)
        if reading.dump is None:
            check_effects(document, reading.sink, body)
        if reading.sink.has_errors:
            report_early(reading, ordered=bool(control.waits))
        else:
            self._outputs(tensors)
        reading.sink.stop_on_errors()
        target = model.target
        tensor_section = document.root.get("tensors")
        program = Program(
            name=model.name,
            about=model.about,
            target=TargetOptions(
                target.platform,
                target.planner,
                target.l0c_double_buffer,
                target.unit_flag,
                target.sync,
                target.precision,
            ),
            tensors=tensors,
            scalars=scalars,
            body=body,
            loc=Loc(document.key_span("name"), document.root),
            dims=dims,
            created=tuple(reading.created),
            buffers=tuple(reading.buffers.values()),
            golden=read_golden(document),
            disabled=tuple(model.diagnostics.disable),
            promoted=tuple(model.diagnostics.error),
            dump=reading.dump,
            tensor_locs={**dict(_places(tensor_section)), **control.created},
        )
        check_tensors(program, reading)
        reading.sink.stop_on_errors()
        check_golden(document, program, reading.sink)
        return program

    def _each(self, section: str, read: Callable[[KeyNode, Node], T]) -> Iterator[T]:
        """What `read` makes of the entries of a section; errors are noted and the reading goes on."""
        node = self.document.root.get(section)
        if not isinstance(node, MappingNode):
            return
        for key, value in node.items:
            if key.text.startswith("x-"):
                continue
            try:
                yield read(key, value)
            except PoisonedError:
                continue
            except CompileError as error:
                for diagnostic in error.diagnostics:
                    self.reading.sink.emit(diagnostic)

    def _symbol(self, key: KeyNode, node: Node) -> Sym:
        fields = node if isinstance(node, MappingNode) else MappingNode(node.source, node.start, node.end, {}, False)
        limits = {
            word: self.reading.static(found, f"`{word}`")
            for word in ("min", "max", "multiple_of")
            if (found := fields.get(word)) is not None and not (isinstance(found, ScalarNode) and found.value is None)
        }
        unit, low, high = limits.get("multiple_of", 1), limits.get("min", 1), limits.get("max")
        if unit < 1:
            self.reading.fail(
                OUT_OF_RANGE,
                fields.get("multiple_of") or key,
                f"`{key.text}` is to be a multiple of {unit}",
                label="at least 1",
                helps=["write a positive number, or leave `multiple_of` out"],
            )
        low, high = round_up(low, unit), None if high is None else high // unit * unit
        if low < 0 or (high is not None and high < low):
            kind = f"multiple of {unit}" if unit > 1 else "value"
            self.reading.fail(
                OUT_OF_RANGE,
                node,
                f"`{key.text}` has no {kind} from {limits.get('min', 1)} to {limits.get('max')}",
                label="no value is left",
                helps=["give `min` and `max` with 0 <= min <= max"],
            )
        symbol = Sym(key.text, "dim", low, high, unit)
        self.reading.walked.add(symbol)
        self.reading.scope.declare(Name(key.text, "symbol", key, index=sym(symbol)))
        return symbol

    def _scalar(self, key: KeyNode, node: Node) -> Value:
        dtype = DTYPES[self.reading.text(node)]
        value = Value(key.text, ScalarType(dtype))
        symbol = Sym(key.text, "scalar") if not dtype.is_float else None
        self.reading.scope.declare(Name(key.text, "scalar", key, value, None if symbol is None else sym(symbol)))
        return value

    def _tensor(self, key: KeyNode, node: Node) -> Value:
        return read_argument(self.reading, key, node, self.document.model.tensors[key.text])

    def _buffer(self, key: KeyNode, node: Node) -> None:
        fields = self.reading.mapping(node, node, key.text)
        self.reading.buffers[key.text] = read_buffer(self.reading, key.text, fields, Loc(key.span, fields))

    def _outputs(self, tensors: tuple[Value, ...]) -> None:
        """Every output is written somewhere; one that is read as well is the matter of `check_tensors`."""
        read = {early.tensor for early in self.reading.early}
        for tensor in tensors:
            assert isinstance(tensor.type, TensorType)
            if tensor.type.access is Access.OUT and tensor.name not in self.reading.written | read:
                self.reading.sink.report(
                    NEVER_WRITTEN,
                    self.document.key_span("tensors", tensor.name),
                    f"the output `{tensor.name}` is never written",
                    label="no statement stores to it",
                    helps=[
                        f"bind it in a region, `- let: {tensor.name} = ...`, or store tiles to it: "
                        f"`- store: {{from: TILE, to: {tensor.name}, at: [0, 0]}}`"
                    ],
                )


def _places(section: Node | None) -> Iterator[tuple[str, Loc]]:
    if isinstance(section, MappingNode):
        for key, node in section.items:
            yield key.text, Loc(key.span, node if isinstance(node, MappingNode) else None)


def _origin(name: str, dump: Dump, read_source: Callable[[str], str | None] | None) -> Source:
    """The file a dump came from; with an empty text where it cannot be had, or is not that file any more."""
    shown = str(Path(name).parent / dump.source) if name not in ("-", "") else dump.source
    text = read_source(dump.source) if read_source is not None else _read_beside(shown, dump.sha256)
    return Source(shown, text or "")


def _read_beside(path: str, sha256: str) -> str | None:
    from hashlib import sha256 as digest

    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    if digest(data).hexdigest() != sha256:
        return None
    return data.decode("utf-8", "replace").removeprefix("\ufeff")

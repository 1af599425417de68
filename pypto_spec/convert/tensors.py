"""Tensors in GM: the arguments of `tensors`, and those that `create_tensor` makes on the control plane."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.convert.context import PoisonedError, Reading
from pypto_spec.convert.scope import Name
from pypto_spec.convert.strides import read_strides
from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules.syntax import NUMBER_RANGE, OUT_OF_RANGE
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.ir.dtype import DTYPES, DType
from pypto_spec.ir.expr import Index, bounds
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.spec.models.sections import TensorSpec
from pypto_spec.spec.models.structure import CreateTensor
from pypto_spec.spec.tree import KeyNode, MappingNode, Node


def read_argument(reading: Reading, key: KeyNode, node: Node, spec: TensorSpec) -> Value:
    """One entry of `tensors`, declared under its name."""
    fields = reading.mapping(node, node, key.text)
    layout = fields.get("layout")
    if spec.layout != "nd" and layout is not None:
        reading.fail(NOT_YET, layout, f"`layout: {spec.layout}` of a tensor is not there yet", label="not yet")
    return _declared(reading, key.text, key, fields, DTYPES[spec.dtype], Access(spec.access))


def read_created(reading: Reading, fields: MappingNode, spec: CreateTensor, allow: frozenset[str]) -> Value:
    """A `create_tensor`, declared under its name: in regions it is read and written like an `inout` tensor.

    `allow` are the codes that it allows itself.
    """
    place = fields.get("into")
    assert place is not None
    made = _declared(reading, spec.into, place, fields, DTYPES[spec.dtype], Access.INOUT)
    reading.created[made] = allow
    return made


def _declared(reading: Reading, name: str, place: Node, fields: MappingNode, dtype: DType, access: Access) -> Value:
    reading.exprs.affine = False
    try:
        shape = tuple(_extent(reading, name, item) for item in reading.items(fields.get("shape"), fields, "shape"))
        pitches = read_strides(reading, name, fields, dtype, shape, access)
    except (CompileError, PoisonedError):
        reading.scope.declare(Name(name, "value", place))  # nothing more is said about what uses it
        raise
    finally:
        reading.exprs.affine = reading.dump is None
    _size(reading, name, fields.get("shape") or fields, dtype, shape)
    value = Value(name, TensorType(dtype, shape, access, pitches))
    reading.scope.declare(Name(name, "tensor", place, value))
    return value


def _size(reading: Reading, name: str, where: Node, dtype: DType, shape: Sequence[Index]) -> None:
    """Offsets in a tensor are 64-bit numbers, even where all its symbols are as small as they can be."""
    least = dtype.bytes
    for extent in shape:
        least *= bounds(extent)[0] or 1
    if least >= 2**63:
        reading.fail(
            NUMBER_RANGE,
            where,
            f"`{name}` takes {least:,} bytes, which do not fit in 64 bits",
            label="too large for any memory",
            helps=["make an extent smaller"],
        )


def _extent(reading: Reading, name: str, item: Node) -> Index:
    """An extent of a tensor, which is 1 or more where it is known."""
    extent = reading.index(item)
    high = bounds(extent)[1]
    if high is not None and high < 1:
        reading.fail(
            OUT_OF_RANGE,
            item,
            f"an extent of `{name}` is {extent if isinstance(extent, int) else f'at most {high}'}",
            label="an extent is 1 or more",
            helps=["write 1 or more; a size known at run time is a symbol: `symbols: {M: {min: 1, max: 4096}}`"],
        )
    return extent

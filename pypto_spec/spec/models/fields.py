"""The kinds of fields an operator's statement has: each with its type, once for the model and its JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ir.opdef import Field as OpField
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ir.types import Memory
from pypto_spec.spec.models.base import Formula, LetFormula, Model, Name, Text, ValueName
from pypto_spec.spec.models.marks import BINDS_VALUE, FORMAT, READS_BUFFER, READS_TENSOR, READS_VALUE
from pypto_spec.spec.models.words import Meanings

DTYPE_WORDS = tuple(DTYPES)
MEMORY_WORDS = tuple(memory.value for memory in Memory if memory is not Memory.GM)

DType = Annotated[
    Literal["fp32", "fp16", "bf16", "int32", "int16", "int8", "int64", "uint32", "uint16", "uint8"],
    Meanings(
        fp32="32-bit floating point",
        fp16="16-bit floating point: 10 bits of fraction, up to 65504",
        bf16="16-bit floating point: 7 bits of fraction, the range of fp32",
        int32="32-bit integer",
        int16="16-bit integer",
        int8="8-bit integer",
        int64="64-bit integer",
        uint32="32-bit integer without sign",
        uint16="16-bit integer without sign",
        uint8="8-bit integer without sign, and predicates",
    ),
]
"""The words for data types; a test compares them with the table of the IR."""

OnChip = Annotated[
    Literal["vec", "mat", "left", "right", "acc", "bias"],
    Meanings(
        vec="the unified buffer (UB), on which the vector core computes",
        mat="L1, where the cube core keeps operands",
        left="L0A, the left operand of a product",
        right="L0B, the right operand of a product",
        acc="L0C, the sums of a product",
        bias="the bias table (BT)",
    ),
]
"""The words for on-chip memories; a test compares them with the IR."""

Numeric = Annotated[Formula, WithJsonSchema({"type": ["number", "string"]})]


def _word(field: OpField) -> Any:
    words: Any = Literal[field.words]
    return Annotated[words, Meanings(**field.meanings)] if field.meanings else words


KINDS: dict[str, Callable[[OpField], Any]] = {
    "bind": lambda field: Annotated[ValueName, BINDS_VALUE],
    "tile": lambda field: Annotated[ValueName, READS_VALUE],
    "tensor": lambda field: Annotated[Name, READS_TENSOR],
    "buffer": lambda field: Annotated[ValueName, READS_BUFFER],
    "ints": lambda field: tuple[Formula, ...],
    "exprs": lambda field: tuple[Formula, ...],
    "expr": lambda field: Formula,
    "condition": lambda field: Formula,
    "flag": lambda field: bool,
    "number": lambda field: Numeric,
    "dtype": lambda field: DType,
    "memory": lambda field: OnChip,
    "word": _word,
    "text": lambda field: Text,
    "format": lambda field: Annotated[Text, FORMAT],
    "formula": lambda field: LetFormula,
}
"""From the kind of a field to the type of its value."""


class Scratch(Model):
    """A scratch area of a statement, in a dump."""

    buffer: Annotated[ValueName, READS_BUFFER, Field(description="the buffer it lives in")]
    slot: Annotated[Formula | None, Field(description="which slot of the buffer")] = None
    offset: Annotated[Formula | None, Field(description="bytes into the buffer")] = None


def _scratch(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [{"buffer": item} if isinstance(item, str) else item for item in value]


def op_model(defn: OpDef) -> type[Model]:
    """The model of an operator's statement, from its definition."""
    fields: dict[str, Any] = {}
    binds = False
    for field in defn.fields:
        binds = binds or field.kind == "bind"
        kind = KINDS[field.kind](field)
        info: dict[str, Any] = {"description": field.doc}
        if field.examples:
            info["examples"] = [_plain_example(example) for example in field.examples]
        if field.required:
            fields[field.name] = (kind, Field(**info))
        else:
            if field.default is not None:
                info["json_schema_extra"] = {"default": _plain_default(field.default)}
            fields[field.name] = (kind | None, Field(default=None, **info))
    if binds:
        fields |= {
            "buffer": (
                Annotated[ValueName, READS_BUFFER] | None,
                Field(default=None, description="the buffer the result lives in (else chosen)"),
            ),
            "slot": (Formula | None, Field(default=None, description="which slot of the buffer", examples=["i % 2"])),
            "offset": (Formula | None, Field(default=None, description="bytes into the buffer; dumps only")),
        }
        scratch = Annotated[
            tuple[Scratch, ...], BeforeValidator(_scratch), WithJsonSchema({"type": "array"}), READS_BUFFER
        ]
        fields["scratch"] = (
            scratch | None,
            Field(default=None, description="where the scratch areas live; dumps only"),
        )
    made: type[Model] = create_model(f"{defn.name}_statement", __base__=Model, __doc__=defn.doc, **fields)
    return made


def _plain_example(value: object) -> object:
    """An example as JSON, which has no infinities: as an expression it is a word."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _plain_default(value: object) -> object:
    """A default as JSON: data types and memories by their words."""
    if isinstance(value, Memory):
        return value.value
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else list(value) if isinstance(value, tuple) else value

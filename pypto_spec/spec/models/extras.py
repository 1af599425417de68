"""The sibling keys of a statement: what a dump (or an author) says about it beside its own fields."""

# Without `from __future__ import annotations`: pydantic would compile each annotation from its text again.

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from pypto_spec.spec.models.base import Codes, Formula, Model, Position, Text, ValueName
from pypto_spec.spec.models.fields import DType, OnChip
from pypto_spec.spec.models.marks import BINDS_CARRIED, EXPRESSION, READS_BUFFER, READS_CARRIED, READS_VALUE
from pypto_spec.spec.models.words import Meanings

LevelWord = Annotated[
    Literal["tensor", "tile"], Meanings(tensor="a whole array, which the compiler divides", tile="a tile on chip")
]
StoredWord = Annotated[
    Literal["nd", "dn", "nz", "zn", "zz"],
    Meanings(
        nd="rows one behind the other",
        dn="columns one behind the other",
        nz="fractals by columns, rows within them",
        zn="fractals by rows, columns within them",
        zz="fractals by rows, rows within them",
    ),
]


class TypeSpec(Model):
    """The type of a value. What is left out has its default."""

    dtype: Annotated[DType, Field(description="data type")]
    shape: Annotated[tuple[Formula, ...] | None, Field(description="extents in elements")] = None
    level: Annotated[LevelWord | None, Field(description="`tensor` for a whole array")] = None
    memory: Annotated[OnChip | None, Field(description="memory it lives in")] = None
    layout: Annotated[StoredWord | None, Field(description="storage order")] = None
    valid: Annotated[tuple[Formula, ...] | None, Field(description="the defined extents, where smaller")] = None
    pitch: Annotated[Formula | None, Field(description="elements from row to row, where not the implicit ones")] = None
    view: Annotated[ValueName | None, READS_VALUE, Field(description="the value it is a view of")] = None


class Carried(Model):
    """A carried value or a result with what the compiler decided about it."""

    init: Annotated[Formula | None, Field(description="the value or number it starts from")] = None
    of: Annotated[ValueName | None, READS_CARRIED, Field(description="the value it stands for")] = None
    name: Annotated[ValueName | None, BINDS_CARRIED, Field(description="its name behind the statement")] = None
    type: Annotated[TypeSpec | None, Field(description="its type")] = None
    min: Annotated[Formula | None, Field(description="of a number: its smallest value")] = None
    max: Annotated[Formula | None, Field(description="of a number: its largest value")] = None
    buffer: Annotated[ValueName | None, READS_BUFFER, Field(description="the buffer it lives in")] = None
    slot: Annotated[Formula | None, Field(description="which slot of the buffer")] = None
    offset: Annotated[Formula | None, Field(description="bytes into the buffer")] = None


def _named(key: str) -> BeforeValidator:
    def read(value: object) -> object:
        if isinstance(value, dict):
            return {name: {key: item} if isinstance(item, str | int) else item for name, item in value.items()}
        return value

    return BeforeValidator(read)


def _results(value: object) -> object:
    """A loop's results are a mapping `{RESULT: ARG}`, an `if`'s a list of names."""
    if isinstance(value, list):
        named = [{"name": item} if isinstance(item, str) else item for item in value]
        return {item["name"]: item for item in named if isinstance(item, dict) and "name" in item}
    if isinstance(value, dict):
        return {name: {"of": item} if isinstance(item, str) else item for name, item in value.items()}
    return value


def _yields(value: object) -> object:
    if isinstance(value, dict):
        return {name: [item] if isinstance(item, str | int) else item for name, item in value.items()}
    return value


_MAP = WithJsonSchema({"type": "object"})
_MAP_OR_LIST = WithJsonSchema({"type": ["object", "array"]})


class Instruction(Model):
    """One instruction of a recipe, or a barrier between two."""

    call: Annotated[Text | None, Field(description="name of the Ascend C function")] = None
    template: Annotated[tuple[Any, ...], Field(description="template arguments")] = ()
    args: Annotated[tuple[Any, ...], Field(description="arguments")] = ()
    reach: Annotated[int | None, Field(description="elements of its source that a gather may read")] = None
    barrier: Annotated[Text | None, Field(description="pipe of a barrier")] = None
    for_: Annotated[Any, Field(alias="for", description="the pairs a barrier orders")] = None


class Extras(Model):
    """What may stand beside a statement's keyword, apart from the blocks in its body."""

    src: Annotated[Position | None, Field(description="line and column in the author's file; dumps only")] = None
    type: Annotated[TypeSpec | None, Field(description="type of the value it binds")] = None
    allow: Annotated[Codes, Field(description="codes of warnings and hints this statement allows itself")] = ()
    error: Annotated[
        Codes,
        Field(
            description="codes of hints that are errors for this pipeline; beside `for` in dumps only",
            examples=[["PH-MR-001"]],
        ),
    ] = ()
    stage: Annotated[
        tuple[tuple[int, int], ...],
        Field(description="`[[GROUP, STAGE]]`: the copy of a pipeline's body that this is; dumps only"),
    ] = ()
    carry: Annotated[
        dict[Annotated[ValueName, BINDS_CARRIED], Annotated[Carried, EXPRESSION]],
        _named("init"),
        _MAP,
        Field(description="`{ARG: INIT}`: values carried by the loop"),
    ] = Field(default_factory=dict)
    yields: Annotated[
        dict[Annotated[ValueName, READS_CARRIED], tuple[Formula, ...]],
        BeforeValidator(_yields),
        _MAP,
        Field(alias="yield", description="loop: `{ARG: VALUE}`; if: `{RESULT: [THEN, ELSE]}`"),
    ] = Field(default_factory=dict)
    results: Annotated[
        dict[Annotated[ValueName, BINDS_CARRIED], Annotated[Carried, READS_CARRIED]],
        BeforeValidator(_results),
        _MAP_OR_LIST,
        Field(description="names of the values after the statement"),
    ] = Field(default_factory=dict)
    instructions: Annotated[tuple[Instruction, ...], Field(description="the instructions it becomes; dumps only")] = ()


NO_EXTRAS = Extras.model_construct()

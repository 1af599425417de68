"""The base of all models, and the types of the values their fields hold.

Validators raise `ValueProblem`-typed pydantic errors where pydantic's own would say nothing useful to an author;
`problems.py` turns every error into a diagnostic at its place in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, Strict, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from pypto_spec.spec.formula.errors import FormulaError
from pypto_spec.spec.formula.nodes import Boolean, Expr, Let, number
from pypto_spec.spec.formula.parser import parse_expression, parse_let
from pypto_spec.spec.models.marks import EXPRESSION, LET
from pypto_spec.spec.models.words import DESCRIPTIONS

MAX_NAME = 100
"""Characters of a name: names of programs and regions become names of files."""

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,99}$"
VALUE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,99}(\.[0-9]{1,9})?$"
PARAMETER = {"title": "$NAME", "pattern": r"^\$[A-Za-z_]"}
"""Schema of `$NAME`: any word may be the value of a constant. Without a type: servers then report the words instead."""

NAME_RULE = "names are letters, digits and `_`, and start with no digit"
"""What editors say where a name does not match its pattern."""


class Model(BaseModel):
    """A frozen model whose validator is built when it is first used, so that importing the models stays cheap."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True)

    exactly_one: ClassVar[tuple[str, ...]] = ()
    """Keys of which exactly one must be written."""

    not_yet: ClassVar[tuple[str, ...]] = ()
    """Fields of the language this version does not have yet: they parse, and using one is an error."""

    @property
    def written(self) -> dict[str, Any]:
        """The fields that stand in the file, by their names there."""
        fields = type(self).model_fields
        return {fields[name].alias or name: getattr(self, name) for name in fields if name in self.model_fields_set}


def _problem(kind: str, message: str, help_text: str, **parts: Any) -> PydanticCustomError:
    return PydanticCustomError("problem", "{message}", {"kind": kind, "message": message, "help": help_text, **parts})


def describe(value: object) -> str:
    """A value of plain data in the words of messages."""
    if value is None:
        return "nothing"
    if value == "":
        return "an empty text"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (int, float)):
        return f"the number `{value}`"
    if isinstance(value, str):
        return f"`{value if len(value) <= 40 else value[:37] + '...'}`"
    return "a list" if isinstance(value, (list, tuple)) else "a mapping"


def read_expression(value: object) -> Expr:
    """A number or the text of a formula as an expression."""
    if isinstance(value, str):
        try:
            return parse_expression(value)
        except FormulaError as error:
            raise PydanticCustomError("formula", "{message}", {"message": error.message, "error": error}) from None
    if isinstance(value, bool):
        return Boolean(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, (Mapping, list, tuple)) or value is None:
        raise _problem("type", f"an expression is needed, found {describe(value)}", "write a number or a formula")
    assert not isinstance(value, (dict, list))
    return value  # type: ignore[return-value]  # an expression already


def read_let(value: object) -> Let:
    """The text of a `let`."""
    if not isinstance(value, str):
        raise _problem("type", f"`let` holds a formula, found {describe(value)}", "write `let: y = exp(x)`")
    try:
        return parse_let(value)
    except FormulaError as error:
        raise PydanticCustomError("formula", "{message}", {"message": error.message, "error": error}) from None


def one_as_list(value: object) -> object:
    """A word that stands for a list of one."""
    return [value] if isinstance(value, str) else value


_EXPRESSION_SCHEMA = {
    "type": ["integer", "number", "string"],
    "errorMessage": "a number or a formula is needed",
}

Name: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=NAME_PATTERN, strict=True),
    WithJsonSchema({"type": "string", "pattern": NAME_PATTERN, "patternErrorMessage": NAME_RULE}),
]
"""A name without a version."""

ValueName: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=VALUE_PATTERN, strict=True),
    WithJsonSchema({"type": "string", "pattern": VALUE_PATTERN, "patternErrorMessage": NAME_RULE}),
]
"""The name of a value or buffer, perhaps with a version: `t`, `t.1`."""

Text: TypeAlias = Annotated[str, StringConstraints(strict=True)]
Names: TypeAlias = Annotated[
    tuple[Name, ...],
    BeforeValidator(one_as_list),
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]
"""A list of names; a single one may stand without brackets."""

Codes: TypeAlias = Annotated[
    tuple[Text, ...],
    BeforeValidator(one_as_list),
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]
"""A list of diagnostic codes; a single one may stand without brackets."""

Whole: TypeAlias = Annotated[int, Strict()]
Position: TypeAlias = tuple[Whole, Whole]
"""Line and column in the author's own file."""


def read_pairs(value: object) -> tuple[tuple[Position, Position], ...]:
    """What a flag or barrier orders: one pair `[[l, c], [l, c]]` of statements, or a list of such pairs."""
    if not isinstance(value, list):
        raise _problem(
            "type", f"a pair of positions is needed, found {describe(value)}", "write `[[16, 13], [17, 13]]`"
        )
    single = len(value) == 2 and all(_is_position(item) for item in value)
    pairs = [value] if single else value
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_position, pair))):
            raise _problem(
                "type", "a pair of positions is needed", "write `[[16, 13], [17, 13]]`: line and column of both"
            )
    return tuple(((a[0], a[1]), (b[0], b[1])) for a, b in pairs)


def _is_position(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(item) is int and item > 0 for item in value)


def read_order(value: object) -> str:
    """`row`, `col`, or `{swizzle: n}`, which becomes `swizzle:n`."""
    if value in ("row", "col"):
        return str(value)
    if (
        isinstance(value, dict)
        and list(value) == ["swizzle"]
        and type(value["swizzle"]) is int
        and value["swizzle"] > 0
    ):
        return f"swizzle:{value['swizzle']}"
    raise _problem(
        "word", f"`order` is `row`, `col` or `{{swizzle: n}}`, found {describe(value)}", "write `order: {swizzle: 4}`"
    )


_ORDER_SCHEMA = {
    "anyOf": [
        {
            "enum": ["row", "col"],
            DESCRIPTIONS: ["row by row: the last index runs fastest", "column by column: the first index runs fastest"],
        },
        {"type": "object", "properties": {"swizzle": {"type": "integer", "minimum": 1}}, "additionalProperties": False},
    ]
}


def read_counts(value: object) -> Expr | tuple[Expr, ...]:
    """A number of iterations, or one for each index."""
    return tuple(map(read_expression, value)) if isinstance(value, list) and value else read_expression(value)


def read_blocks(value: object) -> Expr | Literal["auto"]:
    """A number of blocks, or `auto`."""
    return "auto" if value == "auto" else read_expression(value)


# What a value becomes is told to the type checker only: pydantic would build schemas of all node classes for it, which
# takes longer than everything else in a model.
if TYPE_CHECKING:
    Formula: TypeAlias = Expr
    LetFormula: TypeAlias = Let
    Pairs: TypeAlias = tuple[tuple[Position, Position], ...]
    Order: TypeAlias = str
    Counts: TypeAlias = Expr | tuple[Expr, ...]
    Blocks: TypeAlias = Expr | Literal["auto"]
else:
    Formula = Annotated[Any, PlainValidator(read_expression), WithJsonSchema(_EXPRESSION_SCHEMA), EXPRESSION]
    """A number or a formula, read into an expression."""

    LetFormula = Annotated[Any, PlainValidator(read_let), WithJsonSchema({"type": "string"}), LET]
    """`name = expression`."""

    Pairs = Annotated[Any, PlainValidator(read_pairs), WithJsonSchema({"type": "array"})]
    """What a flag or barrier orders."""

    Order = Annotated[Any, PlainValidator(read_order), WithJsonSchema(_ORDER_SCHEMA)]
    """How a block walks its share."""

    Counts = Annotated[
        Any,
        PlainValidator(read_counts),
        WithJsonSchema(
            {"type": ["integer", "string", "array"], "items": {"type": ["integer", "string"]}, "examples": [8]}
        ),
        EXPRESSION,
    ]
    """A number of iterations, or a list with one for each index."""

    Blocks = Annotated[
        Any,
        PlainValidator(read_blocks),
        WithJsonSchema({"type": ["integer", "string"], "examples": ["auto", 8]}),
        EXPRESSION,
    ]
    """How many blocks a launch has: an expression, or `auto` for as many as there are cores."""

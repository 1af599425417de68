"""What the words of a field mean: stands beside the type, and from there goes into the schema and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

DESCRIPTIONS = "enumDescriptions"
"""The key of the JSON Schema under which editors look for the meanings, in the order of `enum`."""


class Meanings:
    """`Annotated[Literal["in", "out"], Meanings(out="...", **{"in": "..."})]`; a test finds words without a meaning."""

    def __init__(self, **words: str) -> None:
        self.words = words

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return described(handler(schema), self.words)


def described(schema: JsonSchemaValue, words: Mapping[str, str]) -> JsonSchemaValue:
    """A schema of words with their meanings."""
    listed = schema.get("enum")
    return {**schema, DESCRIPTIONS: [words[word] for word in listed]} if listed else schema

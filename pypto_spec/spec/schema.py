"""The JSON Schema of the language, made from the models.

Draft-07, which yaml-language-server and TOML servers both read. A statement is one object with a property per keyword:
measured with yaml-language-server, an `anyOf` of 80 branches completes with mostly junk and reports false errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from pypto_spec.spec.models.base import PARAMETER, Model
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import BLOCK_KEYS, Keyword, KeywordTable, default_table
from pypto_spec.spec.models.sections import PLATFORMS, DocumentModel
from pypto_spec.spec.models.words import DESCRIPTIONS, described

FILE = Path(__file__).with_name("schema.json")
"""The committed schema; a test compares it with what `schema_text` gives."""


_Json = dict[str, Any]
_STATEMENTS: _Json = {"type": "array", "items": {"$ref": "#/definitions/statement"}}
_FREE: _Json = {"^x-": {"description": "yours: the compiler does not read it"}}
"""Keys that are the author's own, in any mapping."""
_BLOCK_DOCS = {
    "body": "the statements inside",
    "then": "the statements that run if the condition holds",
    "else": "the statements that run if it does not",
}
_CONSTANTS: _Json = {
    "type": "object",
    "description": "compile-time integers, floats and words; expressions may use other constants",
    "additionalProperties": {"type": ["integer", "number", "boolean", "string"]},
    "examples": [{"TR": 64, "TC": "2 * TR", "mode": "up_down"}],
}


class _Generator(GenerateJsonSchema):
    """Draft-07 instead of pydantic's 2020-12."""

    schema_dialect = "http://json-schema.org/draft-07/schema#"


def make_schema(table: KeywordTable | None = None) -> _Json:
    """The schema of a whole spec."""
    table = table or default_table()
    keywords = [keyword for keyword in table if not keyword.reserved]
    models: dict[str, type[Model]] = {keyword.name: table.model(keyword.name) for keyword in keywords}
    wanted: list[type[Model]] = [DocumentModel, Extras, *models.values()]
    refs, found = models_json_schema(
        [(model, "validation") for model in wanted], ref_template="#/definitions/{model}", schema_generator=_Generator
    )
    definitions = cast(dict[str, _Json], found["$defs"])
    named = {model: definitions[str(refs[(model, "validation")]["$ref"]).rsplit("/", 1)[-1]] for model in wanted}
    document = _clean(dict(named[DocumentModel]))
    properties = document["properties"]
    properties["program"] = {**_STATEMENTS, "description": properties["program"]["description"]}
    properties["constants"] = _CONSTANTS
    properties["target"] = _target(properties["target"])
    statement = _statement(keywords, models, named)
    used = _reachable({"document": document, "statement": statement}, definitions)
    return {
        "$schema": _Generator.schema_dialect,
        "title": "pypto-spec v1",
        **{key: value for key, value in document.items() if key != "title"},
        "definitions": {"statement": statement, **{name: _clean(definitions[name]) for name in sorted(used)}},
    }


def schema_text(table: KeywordTable | None = None) -> str:
    """The schema as the text of `schema.json`."""
    return json.dumps(make_schema(table), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _target(schema: _Json) -> _Json:
    """A platform's name or a mapping."""
    text = schema.get("description", "")
    platform = {"enum": list(PLATFORMS.words), "description": "the chip family"}
    return {
        "description": text,
        "anyOf": [described(platform, PLATFORMS.words), {"$ref": "#/definitions/Target"}],
        "default": "a2a3",
    }


def _statement(keywords: list[Keyword], models: Mapping[str, type[Model]], named: Mapping[type[Model], _Json]) -> _Json:
    properties: dict[str, _Json] = {}
    options: dict[str, _Json] = {}
    for keyword in keywords:
        fields = dict(named[models[keyword.name]])
        own = dict(fields.get("properties", {}))
        for name in [name for name in own if name in keyword.options]:
            options[name] = own.pop(name)
        scalar = own.get(keyword.scalar) if keyword.scalar is not None else None
        mapping = _clean({**fields, "properties": own})
        if scalar is None:
            shown = mapping
        elif keyword.fields:
            shown = {"anyOf": [_clean(scalar), mapping]}
        else:
            shown = dict(_clean(scalar))
            shown.setdefault("type", "string")
        properties[keyword.name] = {**shown, "description": keyword.doc}
        if keyword.example and "examples" not in properties[keyword.name] and not keyword.fields:
            properties[keyword.name]["examples"] = [keyword.example.partition(": ")[2]]
    for name, extra in named[Extras]["properties"].items():
        if name not in properties:
            options[name] = extra
    for name in BLOCK_KEYS:
        options[name] = {**_STATEMENTS, "description": _BLOCK_DOCS[name]}
    for name, option in options.items():
        properties[name] = _clean(option)
    return {
        "type": "object",
        "description": "one keyword with its fields, and the keys that stand beside it",
        "properties": properties,
        "patternProperties": _FREE,
        "additionalProperties": False,
        "minProperties": 1,
    }


def _clean(schema: JsonSchemaValue) -> _Json:
    """Without generated titles and nulls; objects take `x-*` keys and words take parameters."""
    return cast(_Json, _tidy(schema))


def _tidy(value: Any) -> Any:
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "oneOf" in value:  # forms that exclude each other anyway
        value = {("anyOf" if key == "oneOf" else key): item for key, item in value.items()}
    if "properties" in value and isinstance(value["properties"], dict):
        value = {**value, "properties": {name: _tidy(item) for name, item in value["properties"].items()}}
        if value.get("additionalProperties") is False:
            value["patternProperties"] = _FREE
        return {key: item if key == "properties" else _tidy(item) for key, item in value.items() if key != "title"}
    if "patternProperties" in value and "properties" not in value:
        # A mapping from names: nothing else may stand in it but the author's own keys.
        value = {**value, "patternProperties": {**value["patternProperties"], **_FREE}, "additionalProperties": False}
    branches = [item for item in value.get("anyOf", []) if item != {"type": "null"}]
    rest = {key: _tidy(item) for key, item in value.items() if key not in ("title", "anyOf")}
    if rest.get("default", ...) is None or rest.get("default", ...) in ({}, [], ""):
        del rest["default"]  # says nothing a reader would not guess
    if "const" in rest:
        rest["enum"] = [rest.pop("const")]
    if "prefixItems" in rest:  # draft-07 calls it `items`
        rest["items"] = rest.pop("prefixItems")
    if len(branches) == 1:
        inner = _tidy(branches[0])
        rest = {**inner, **rest} if "$ref" not in inner else {"allOf": [inner], **rest}
    elif branches:
        rest["anyOf"] = [_tidy(item) for item in branches]
    if "$ref" in rest and len(rest) > 1:
        # Draft-07 ignores what stands beside `$ref`.
        rest = {"allOf": [{"$ref": rest.pop("$ref")}], **rest}
    if "enum" in rest and rest["enum"] != ["v1"]:
        words = {key: rest.pop(key) for key in ("enum", "type", DESCRIPTIONS) if key in rest}
        rest = {**rest, "anyOf": [words, PARAMETER]}
    return rest


def _reachable(roots: _Json, definitions: Mapping[str, _Json]) -> set[str]:
    """Definitions that are referred to."""
    found: set[str] = set()
    pending: list[Any] = [roots]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            ref = value.get("$ref")
            if isinstance(ref, str) and ref.startswith("#/definitions/"):
                name = ref.rsplit("/", 1)[-1]
                if name in definitions and name not in found:
                    found.add(name)
                    pending.append(definitions[name])
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return found

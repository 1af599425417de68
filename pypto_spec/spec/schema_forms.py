"""From pydantic's JSON Schema to the draft-07 that editors read well.

Three servers are looked after, each with limits of its own, which the tests in `tests/servers` hold:

- yaml-language-server completes through `anyOf` and `allOf`, reports the best alternative of an `anyOf`, and reads
  `errorMessage`, `patternErrorMessage`, `markdownDescription`, `markdownEnumDescriptions`, `doNotSuggest` and
  `defaultSnippets`. Beside `if` it completes what `then` and `else` hold.
- tombi reports the alternative of an `anyOf` that has the type of the value, else all of them, and looks at neither
  `if` nor `errorMessage`.
- taplo completes through `anyOf` and `allOf` at any depth, which is why a keyword lists nothing twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from pydantic.json_schema import JsonSchemaValue

from pypto_spec.spec.models.base import NAME_PATTERN, NAME_RULE, PARAMETER, VALUE_PATTERN
from pypto_spec.spec.models.words import DESCRIPTIONS

Json = dict[str, Any]

FREE: Json = {"^x-": {"description": "yours: the compiler does not read it"}}
"""Keys that are the author's own, in any mapping."""

_NOT_FOR_AUTHORS = re.compile(r"(?<!in )dumps only|^in dumps|header of a dump|\(reserved")
"""Descriptions of keys that authors do not write: those of dumps, and those that are not there yet."""

_MARKDOWN_DESCRIPTIONS = "markdownEnumDescriptions"
_MARKDOWN = re.compile(r"[\\`*_{}[\]#+!]")


def clean(schema: JsonSchemaValue) -> Json:
    """Without generated titles and nulls; objects take `x-*` keys and words take parameters."""
    return cast(Json, _tidy(schema))


def hidden(schema: Mapping[str, Any]) -> bool:
    """Whether a key is left out of completions."""
    return bool(_NOT_FOR_AUTHORS.search(str(schema.get("description", ""))))


def described(name: str, schema: Json) -> Json:
    """A key with its name as its title, and its description as Markdown."""
    text = str(schema.get("description", ""))
    shown: Json = {"title": name, **schema}
    if _MARKDOWN.search(text):  # servers would show the signs themselves
        shown["markdownDescription"] = text
    if hidden(schema):
        shown["doNotSuggest"] = True
    return shown


def explained(words: Json) -> Json:
    """Words with what they mean, as Markdown too where servers would show its signs."""
    texts = words.get(DESCRIPTIONS, [])
    return {**words, _MARKDOWN_DESCRIPTIONS: texts} if any(map(_MARKDOWN.search, texts)) else words


def _tidy(value: Any) -> Any:
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "oneOf" in value:  # forms that exclude each other anyway
        value = {("anyOf" if key == "oneOf" else key): item for key, item in value.items()}
    if isinstance(value.get("properties"), dict):
        return _object(value)
    if "patternProperties" in value:
        return _names(value)
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
        words = {"type": "string", **explained({key: rest.pop(key) for key in ("enum", DESCRIPTIONS) if key in rest})}
        rest = {**rest, "type": "string", "anyOf": [words, PARAMETER]}
    return rest


def _object(value: Json) -> Json:
    """A mapping with known keys."""
    fields = {name: described(name, _tidy(item)) for name, item in value["properties"].items()}
    made = {key: _tidy(item) for key, item in value.items() if key not in ("title", "properties")}
    made["properties"] = fields
    if value.get("additionalProperties") is False:
        made["patternProperties"] = FREE
    return made


def _names(value: Json) -> Json:
    """A mapping from names: nothing else may stand in it but the author's own keys."""
    made = {
        key: _tidy(item) for key, item in value.items() if key not in ("title", "patternProperties", "propertyNames")
    }
    patterns = {key: _tidy(item) for key, item in value["patternProperties"].items()}
    if set(patterns) <= {NAME_PATTERN, VALUE_PATTERN}:
        made["errorMessage"] = f"a mapping from names is needed; {NAME_RULE}"
    if made.get("default", ...) in ({}, None):
        del made["default"]
    return {**made, "patternProperties": {**patterns, **FREE}, "additionalProperties": False}


def words_or_mapping(name: str, words: Json, mapping: Json, keys: list[str]) -> list[Json]:
    """The alternatives of a value that is one of some words, or a mapping with some keys.

    Where a value fits neither, a server cannot tell which was meant: the words speak for both.
    """
    quoted = [f"`{word}`" for word in words.get("enum", ())]
    message = f"`{name}` is {' or '.join(filter(None, [', '.join(quoted), 'a mapping']))} with {', '.join(keys)}"
    return [{"title": name, **words, "errorMessage": message}, mapping]


def inlined(value: Any, definitions: Mapping[str, Json]) -> Any:
    """A schema with the definitions put in place of their references; none of these may hold itself.

    Servers look at the type and the keys of what they insert, not behind references.
    """
    if isinstance(value, list):
        return [inlined(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    match value.get("allOf"):
        case [{"$ref": str(place)}] if (found := definitions.get(place.removeprefix("#/definitions/"))) is not None:
            return inlined({**found, **{key: item for key, item in value.items() if key != "allOf"}}, definitions)
    found = definitions.get(str(value.get("$ref")).removeprefix("#/definitions/"))
    if found is not None:
        return inlined(found, definitions)
    return {key: inlined(item, definitions) for key, item in value.items()}


def reachable(roots: Json, definitions: Mapping[str, Json]) -> set[str]:
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

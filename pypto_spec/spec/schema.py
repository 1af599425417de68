"""The JSON Schema of the language, made from the models.

Draft-07, which yaml-language-server and TOML servers both read. A statement is one object with a property per keyword:
measured with yaml-language-server, an `anyOf` of 80 branches completes with mostly junk and reports false errors.
What may stand beside a keyword hangs on the keyword (`dependencies`); keywords are proposed until there is one (`if`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import BLOCK_KEYS, Keyword, KeywordTable, default_table
from pypto_spec.spec.models.sections import PLATFORMS, DocumentModel, FunctionSpec
from pypto_spec.spec.models.words import described as word_meanings
from pypto_spec.spec.schema_forms import FREE, Json, clean, described, explained, inlined, reachable, words_or_mapping
from pypto_spec.spec.snippets import entry_snippet, example_of, value_snippet

FILE = Path(__file__).with_name("schema.json")
"""The committed schema; a test compares it with what `schema_text` gives."""

_BLOCK_DOCS = {
    "body": "the statements inside",
    "then": "the statements that run if the condition holds",
    "else": "the statements that run if it does not",
}
_CONSTANTS: Json = {
    "type": "object",
    "description": "compile-time integers, floats and words; expressions may use other constants",
    "additionalProperties": {"type": ["integer", "number", "boolean", "string"]},
    "defaultSnippets": [{"label": "{N: 64}", "body": "^{${1:N}: ${2:64}}"}],
}


class _Generator(GenerateJsonSchema):
    """Draft-07 instead of pydantic's 2020-12."""

    schema_dialect = "http://json-schema.org/draft-07/schema#"


def make_schema(table: KeywordTable | None = None) -> Json:
    """The schema of a whole spec."""
    table = table or default_table()
    keywords = [keyword for keyword in table if not keyword.reserved]
    models: dict[str, type[Model]] = {keyword.name: table.model(keyword.name) for keyword in keywords}
    wanted: list[type[Model]] = [DocumentModel, FunctionSpec, Extras, *models.values()]
    refs, found = models_json_schema(
        [(model, "validation") for model in wanted], ref_template="#/definitions/{model}", schema_generator=_Generator
    )
    definitions = cast(dict[str, Json], found["$defs"])
    named = {model: definitions[str(refs[(model, "validation")]["$ref"]).rsplit("/", 1)[-1]] for model in wanted}
    document = clean(named[DocumentModel])
    properties = document["properties"]
    properties["program"] = {**_list_of("launch"), **properties["program"]}
    properties["constants"] = described("constants", _CONSTANTS)
    properties["target"] = described("target", _target(properties["target"], definitions["Target"]))
    statements = _Statements(keywords, {keyword.name: named[models[keyword.name]] for keyword in keywords})
    own = statements.definitions(named[Extras])
    models_used = {name: clean(definitions[name]) for name in reachable({"document": document, **own}, definitions)}
    body = models_used[FunctionSpec.__name__]["properties"]["body"]
    models_used[FunctionSpec.__name__]["properties"]["body"] = {**_list_of("statement"), **body}
    whole = cast(Json, inlined({**document, "definitions": own}, models_used))
    for section in whole["properties"].values():
        for entry in list(section.get("patternProperties", {}).values())[:1]:
            if snippets := entry_snippet(entry):
                section["defaultSnippets"] = snippets
    return {"$schema": _Generator.schema_dialect, **whole, "title": "pypto-spec v1"}


def schema_text(table: KeywordTable | None = None) -> str:
    """The schema as the text of `schema.json`."""
    return json.dumps(make_schema(table), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _list_of(name: str) -> Json:
    return {"type": "array", "items": {"$ref": f"#/definitions/{name}"}}


def _target(schema: Json, options: Json) -> Json:
    """A platform's name or a mapping."""
    platforms: Json = {"type": "string", "enum": list(PLATFORMS.words)}
    words = explained(word_meanings(platforms, PLATFORMS.words))
    mapping = {"allOf": [{"$ref": "#/definitions/Target"}]}
    return {
        "description": schema["description"],
        "anyOf": words_or_mapping("target", words, mapping, list(options["properties"])),
        "default": "a2a3",
    }


class _Statements:
    """The definitions of statements.

    `keyword.NAME` is what a keyword holds, `insert.NAME` what is inserted where there is none yet, `key.NAME` a key
    beside a keyword, `beside.NAME` all of those that one keyword (and others like it) takes. `launch` and `statement`
    put them together: what stands in `program`, and what stands in any body.
    """

    def __init__(self, keywords: Iterable[Keyword], models: Mapping[str, Json]) -> None:
        self.keywords = list(keywords)
        self.options: dict[str, Json] = {}
        self.own: dict[str, Json] = {}
        for keyword in self.keywords:
            fields = dict(models[keyword.name])
            own = dict(fields.get("properties", {}))
            for name in [name for name in own if name in keyword.options]:
                self.options[name] = own.pop(name)
            self.own[keyword.name] = _keyword(keyword, {**fields, "properties": own})

    def definitions(self, extras: Json) -> dict[str, Json]:
        """All definitions, by name."""
        self.options |= extras["properties"]
        for name in BLOCK_KEYS:
            self.options[name] = {**_list_of("statement"), "description": _BLOCK_DOCS[name]}
        groups: dict[tuple[frozenset[str], tuple[str, ...]], str] = {}
        made: dict[str, Json] = {}
        for keyword in self.keywords:
            group = keyword.siblings, keyword.needs
            if group not in groups:
                groups[group] = f"beside.{keyword.name}"
                made[groups[group]] = self._beside(keyword)
        beside = {keyword.name: groups[keyword.siblings, keyword.needs] for keyword in self.keywords}
        return {
            "launch": self._statement([k for k in self.keywords if "control" in k.planes], beside),
            "statement": self._statement(self.keywords, beside),
            **made,
            **{f"insert.{keyword.name}": self._insert(keyword) for keyword in self.keywords},
            # Proposed by `insert` and `beside` only.
            **{
                f"key.{name}": {**_key(name, option), "doNotSuggest": True}
                for name, option in self.options.items()
                if name not in self.own
            },
            **{f"keyword.{name}": {**schema, "doNotSuggest": True} for name, schema in self.own.items()},
        }

    def _beside(self, keyword: Keyword) -> Json:
        """What stands beside a keyword; anything else is refused by the statement itself."""
        keys = sorted(keyword.siblings, key=list(self.options).index)
        made: Json = {
            "title": "what else it needs",
            "properties": {name: self._shallow(name) for name in keys},
            "additionalProperties": True,
        }
        return {**made, "required": list(keyword.needs)} if keyword.needs else made

    def _shallow(self, name: str) -> Json:
        """A key for completions alone: what it holds is checked once, by the statement (else twice at each depth)."""
        whole = _key(name, self.options[name])
        kinds = _types(whole) or ["object"]
        return {**{key: whole[key] for key in _SHOWN if key in whole}, "type": kinds if len(kinds) > 1 else kinds[0]}

    def _insert(self, keyword: Keyword) -> Json:
        """A keyword that has no value yet."""
        shown = {key: self.own[keyword.name][key] for key in _SHOWN if key in self.own[keyword.name]}
        snippet = value_snippet(keyword)
        label = example_of(keyword).partition(": ")[2]
        if not snippet or label in _words(self.own[keyword.name]):
            return {**shown, "anyOf": [self._place(keyword.name)]}
        return {**shown, "defaultSnippets": [{"label": label, "body": f"^{snippet}"}]}

    def _place(self, name: str) -> Json:
        return {"$ref": f"#/definitions/{'keyword' if name in self.own else 'key'}.{name}"}

    def _statement(self, keywords: list[Keyword], beside: Mapping[str, str]) -> Json:
        names = [keyword.name for keyword in keywords]
        return {
            "title": "statement",
            "type": "object",
            "description": "one keyword with its fields, and the keys that stand beside it",
            "properties": {name: self._place(name) for name in dict.fromkeys([*names, *self.options])},
            "patternProperties": FREE,
            "additionalProperties": False,
            "minProperties": 1,
            "dependencies": {name: {"$ref": f"#/definitions/{beside[name]}"} for name in names},
            # No keyword has a value yet.
            "if": {"patternProperties": {f"^({'|'.join(names)})$": {"type": "null"}}, "additionalProperties": True},
            "then": {
                "properties": {name: {"$ref": f"#/definitions/insert.{name}"} for name in names},
                "additionalProperties": True,
            },
        }


def _key(name: str, option: Json) -> Json:
    return described(name, clean(option))


_SHOWN = ("title", "description", "markdownDescription", "doNotSuggest")


def _types(schema: Json) -> list[str]:
    """The types that a value may have; the first one decides what is inserted."""
    kind = schema.get("type", [])
    found = [kind] if isinstance(kind, str) else kind
    found = found or [name for item in schema.get("anyOf", ()) for name in _types(item)]
    return sorted(dict.fromkeys(found), key=lambda name: name not in ("array", "string"))


def _words(schema: Json) -> list[str]:
    """The words that a value may be."""
    inner = [word for key in ("anyOf", "allOf") for item in schema.get(key, ()) for word in _words(item)]
    return [*schema.get("enum", ()), *inner]


def _keyword(keyword: Keyword, fields: Json) -> Json:
    """One keyword: what it holds, and its documentation."""
    mapping = clean(fields)
    scalar = mapping["properties"].get(keyword.scalar) if keyword.scalar is not None else None
    names = list(mapping["properties"])
    signature = f"{keyword.name}: {{{', '.join(mapping.get('required', []))}}}"
    mapping = {"title": signature, **{key: value for key, value in mapping.items() if key != "description"}}
    made = described(keyword.name, {"description": keyword.doc})
    if example := example_of(keyword):
        made["markdownDescription"] = f"{keyword.doc}\n\n```yaml\n- {example}\n```"
    if scalar is None:
        return {**made, **mapping}
    value = {key: item for key, item in scalar.items() if key not in _SHOWN}
    if not keyword.fields:
        return {**made, **value}
    words = next((item for item in value.get("anyOf", ()) if "enum" in item), value)
    return {**made, "anyOf": words_or_mapping(keyword.name, words, mapping, names)}

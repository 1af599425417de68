"""The reference of keywords and fields, from the models and the operators: for the terminal, hovers and the site.

Everything is Markdown that also reads well as plain text: lists in place of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pypto_spec.diagnostics.suggest import closest
from pypto_spec.spec.flow import flow
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import Keyword, default_table
from pypto_spec.spec.models.places import Place, find, first_keys, inside, key_of, keys_inside, walk
from pypto_spec.spec.models.ways import schema_of
from pypto_spec.spec.models.words import DESCRIPTIONS

_EXPRESSION = {"integer", "number", "string"}


def holds(schema: Mapping[str, Any]) -> str:
    """What a field takes, in words, from its JSON Schema."""
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    options = [s for key in ("anyOf", "oneOf", "allOf") for s in schema.get(key, []) if s.get("type") != "null"]
    if options:
        return " or ".join(dict.fromkeys(holds(s) for s in options))
    kind = schema.get("type")
    if isinstance(kind, list):
        if set(kind) >= _EXPRESSION:
            return "expression"
        if set(kind) == {"number", "string"}:
            return "number, or the name of a scalar"
        if set(kind) == {"integer", "string"}:
            return "expression, or `auto`"
        if set(kind) == {"array", "string"}:
            return "list, or one word"
        if set(kind) == {"array", "integer", "string"}:
            return "expression, or a list of them"
        return " or ".join("mapping" if k == "object" else "list" if k == "array" else "expression" for k in kind)
    if kind == "array":
        items = schema.get("items") or schema.get("prefixItems", [{}])[0]
        inner = holds(items) if isinstance(items, Mapping) and items else ""
        if inner.startswith("list"):
            return "list of lists"
        return f"list of {inner}s" if inner and "`" not in inner else "list"
    if kind == "object" and "properties" in schema and "swizzle" in schema["properties"]:
        return "`{swizzle: n}`"
    words = {"object": "mapping", "boolean": "`true` or `false`", "string": "text", "number": "number"}
    return words.get(kind or "", "mapping" if kind is None else kind)


PLANE_WORDS: Final = {"control": "`program`", "execution": "a region"}
"""Where the statements of a plane stand, in words."""


def keyword_text(name: str, *, brief: bool = False) -> str | None:
    """What there is to know of a keyword of statements; None where there is none. `brief` leaves out the recipes."""
    keyword = default_table().get(name)
    return None if keyword is None else _keyword(keyword, brief)


@lru_cache(maxsize=512)
def _keyword_lines(name: str, brief: bool) -> tuple[str, ...]:
    keyword = default_table().keywords[name]
    planes = " and ".join(PLANE_WORDS[plane] for plane in sorted(keyword.planes))
    lines = [f"# `{name}`: a statement in {planes}", "", _sentence(keyword.doc), ""]
    if keyword.reserved:
        return tuple(lines)
    lines += ["```yaml", *_statement(keyword), "```", ""]
    place = find([name])
    assert place is not None
    defn = _operator(name)
    if defn is not None:
        from pypto_spec.ops.reference import facts, let_forms, recipes

        forms = let_forms(defn)
        if forms:
            lines += [f"In a `let`: {', '.join(f'`{text}`' for text in forms)}.", ""]
        lines += [*_fields(place), "", *facts(defn)]
        lines += [] if brief else recipes(defn)
    else:
        lines += _fields(place)
    return (*lines, "", f"Page: {page_of(name)}")


def _keyword(keyword: Keyword, brief: bool) -> str:
    return "\n".join(_keyword_lines(keyword.name, brief)).rstrip() + "\n"


def _operator(name: str) -> Any:
    from pypto_spec.ops.registry import OPS  # the families are imported when an operator is asked for

    return OPS.get(name)


def _statement(keyword: Keyword) -> Iterator[str]:
    """The example of a keyword, with the blocks that must stand beside it."""
    text = keyword.example.splitlines() or [f"{keyword.name}: {{}}"]
    yield f"- {text[0].removeprefix('- ')}"
    yield from text[1:]
    for block in keyword.needs:
        yield f"  {block}: [...]"


def field_text(path: str) -> str | None:
    """What there is to know of the place at a path such as `tensors.x.access`; None where nothing can stand there."""
    place = find(path.split("."))
    return None if place is None else place_text(place)


def place_text(place: Place) -> str:
    """What there is to know of a place."""
    if place.kind == "keyword" and place.keyword is not None:
        return _keyword(place.keyword, brief=False)
    schema = place.schema
    lines = [f"# `{shown(place)}`", "", _sentence(place.doc), ""]
    if place.kind in ("statements", "statement"):
        lines += ["Holds a list of statements; each is a mapping with one keyword.", ""]
    else:
        lines += [*_facts(place, schema), ""]
    words = meanings(schema)
    if words:
        lines += ["Words:", "", *(f"* `{word}`" + (f": {text}" if text else "") for word, text in words.items()), ""]
    lines += _keys(place)
    sample = _sample(place, schema)
    if sample:
        lines += ["```yaml", sample, "```", ""]
    page = page_of(place.path[0])
    return "\n".join([*lines, *([f"Page: {page}"] if page else [])]).rstrip() + "\n"


def shown(place: Place) -> str:
    """The path of a place in words."""
    return ".".join(place.path)


def _keys(place: Place) -> Iterator[str]:
    """The keys of the mapping at a place, or of those in it."""
    item, named = inside(place, "0"), inside(place, "NAME")
    item = item if item is not None and item.path[-1] == "0" and place.kind == "field" else None
    for head, inner in (("Keys", place), ("Keys of each", item), ("Keys of each", named if _named(place) else None)):
        fields = list(_fields(inner)) if inner is not None else []
        if fields:
            yield from (f"{head}:", "", *fields, "")
            return


def _facts(place: Place, schema: Mapping[str, Any]) -> Iterator[str]:
    if place.types or schema:
        yield f"* **holds**: {_holds(place, schema)}"
    if place.required:
        yield "* **required**"
    default = schema.get("default")
    if says_something(default):
        yield f"* **default**: `{plain(default)}`"
    examples = schema.get("examples") or []
    if examples:
        yield f"* **examples**: {', '.join(f'`{flow(example)}`' for example in examples)}"


def _holds(place: Place, schema: Mapping[str, Any]) -> str:
    inner = inside(place, "NAME") if _named(place) else None
    if inner is None:
        return holds(schema)
    return "names of yours, each with " + ("a mapping" if inner.models else holds(inner.schema))


def _named(place: Place) -> bool:
    """Whether names of the author's stand in it, each with a mapping."""
    inner = inside(place, "NAME") if place.kind == "field" else None
    return inner is not None and inner.kind == "name"


def _fields(place: Place) -> Iterator[str]:
    """The keys of the mapping that may stand at a place, a list item each."""
    if place.kind in ("statements", "statement"):
        return
    dumps: list[str] = []
    for key in keys_inside(place):
        inner = inside(place, key)
        if inner is None:
            continue
        if inner.doc.endswith(_DUMPS) and not inner.required:
            dumps.append(f"`{key}`")
        else:
            yield f"* `{key}` ({', '.join(_brief(inner))}): {inner.doc}"
    if dumps:
        yield f"* in dumps also {', '.join(dumps)}"


_DUMPS: Final = "dumps only"
"""How the documentation of a field ends that only the compiler writes."""


def _brief(place: Place) -> Iterator[str]:
    if place.kind == "statements":
        yield "statements"
        return
    schema = place.schema
    yield _of_operator(place) or ("mapping" if _named(place) else holds(schema))
    if place.required:
        yield "required"
    elif says_something(schema.get("default")):
        yield f"default `{plain(schema['default'])}`"


def _of_operator(place: Place) -> str:
    """What a field of an operator holds, in the words of its kind; empty for others."""
    defn = _operator(place.path[-2]) if len(place.path) > 1 else None
    field = next((f for f in defn.fields if f.name == place.path[-1]), None) if defn is not None else None
    if field is None or field.kind in ("dtype", "memory"):
        return ""  # the words of the schema say more
    from pypto_spec.ops.reference import kind_text

    return kind_text(field)


def meanings(schema: Mapping[str, Any]) -> dict[str, str]:
    """The words a value may be, with what each means (empty where nothing says it)."""
    found: dict[str, str] = {}
    if "enum" in schema:
        texts: Sequence[str] = schema.get(DESCRIPTIONS) or [""] * len(schema["enum"])
        found.update(zip(map(str, schema["enum"]), texts, strict=True))
    if "const" in schema:
        found[str(schema["const"])] = ""
    for key in ("anyOf", "oneOf", "allOf"):
        for option in schema.get(key, []):
            found |= meanings(option)
    return found


def fields_called(name: str) -> list[str]:
    """The paths of the fields with a name, such as `pipeline.stages` for `stages`."""
    from pypto_spec.spec.models.places import all_paths

    return [path for path in all_paths() if path.rpartition(".")[2] == name]


def suggest_path(path: str) -> list[str]:
    """The paths most like one that leads nowhere."""
    place, left = walk(path.split("."))
    if not left:
        return []
    steps = path.split(".")
    known = first_keys() if not place.path else keys_inside(place)
    before, rest = steps[: len(steps) - len(left)], steps[len(steps) - len(left) + 1 :]
    near = [[*before, name] for name in closest(str(left[0]), known)]
    return [".".join([*start, *rest] if find([*start, *rest]) else start) for start in near]


# --- pages ----------------------------------------------------------------------------------------------------------

LANGUAGE: Final = "docs/language.md"
_ANCHORS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("spec", "name", "about"), "document"),
    "program": "control-plane",
    "break": "break-continue",
    "continue": "break-continue",
    **dict.fromkeys(("set_flag", "wait_flag", "barrier"), "synchronisation-by-hand"),
    "alloc": "buffers",
    **dict.fromkeys(("carry", "yield", "results"), "carry-yield-results"),
    "allow": "diagnostics",
    "error": "diagnostics",
    **dict.fromkeys(("body", "then", "else"), "execution-plane"),
    **dict.fromkeys(("src", "type", "stage", "instructions"), "dumps"),
}
"""Headings of the page of the language that are not called like the key; a test looks each of them up."""


def page_of(first: str) -> str:
    """The place in the documentation of a keyword, or of a key at the top of a document or beside a keyword."""
    keyword = default_table().get(first)
    if keyword is not None and keyword.reserved:
        return f"{LANGUAGE}#reserved"
    if _operator(first) is not None:
        return f"docs/ops.md#{first}"
    return f"{LANGUAGE}#{_ANCHORS.get(first, first)}"


# --- words ----------------------------------------------------------------------------------------------------------


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:] if text[:2].isalpha() and text[:1].islower() else text
    return text if text.endswith(".") or not text else f"{text}."


def says_something(value: object) -> bool:
    """Whether a default tells a reader anything."""
    return value is not None and value != "" and not isinstance(value, (dict, list))


def plain(value: object) -> str:
    """A value as it stands in a spec."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sample(place: Place, schema: Mapping[str, Any]) -> str:
    """The place with a value in it, on one line of YAML; empty where no value is known."""
    value = _sample_value(schema)
    if place.kind not in ("field", "name"):
        return ""
    steps = list(place.path)
    table = default_table()
    start = next((n for n, step in enumerate(steps) if step in table and (n == 0 or steps[n - 1] == "0")), None)
    if start is not None:
        keyword = table.keywords[steps[start]]
        if keyword.scalar == steps[-1]:
            return "\n".join(_statement(keyword))
        if f"{steps[-1]}: " in keyword.example.partition(": {")[2]:
            return "\n".join(_statement(keyword))
        if len(steps) != start + 2 or value is None:
            return ""
        if steps[-1] in keyword.siblings:
            return "\n".join([*_statement(keyword), f"  {steps[-1]}: {flow(value)}"])
        head, brace, tail = keyword.example.partition(": {")
        if not brace:
            return "\n".join(_statement(keyword))
        inner = f"{tail.rstrip()[:-1]}, " if tail.rstrip() != "}" else ""
        return f"- {head.removeprefix('- ')}{brace}{inner}{steps[-1]}: {flow(value)}}}"
    if value is None:
        return ""
    made: object = value
    for step in reversed(steps[1:]):
        made = [made] if step == "0" else {"x" if step == "NAME" else step: made}
    return f"{steps[0]}: {flow(made)}"


def _sample_value(schema: Mapping[str, Any]) -> object:
    examples = schema.get("examples")
    if examples:
        return examples[0]
    words = [word for word in meanings(schema) if word != str(schema.get("default"))]
    if words:
        return words[0]
    default = schema.get("default")
    if isinstance(default, bool):
        return not default
    return default if says_something(default) else None


def fields_of(model: type[Model]) -> Iterator[tuple[str, str, bool, object, str]]:
    """The keys of a model: each with what it holds, whether it must be there, its default and its meaning."""
    properties = schema_of(model).get("properties", {})
    for name, field in model.model_fields.items():
        entry = properties[key_of(name, field)]
        yield key_of(name, field), holds(entry), field.is_required(), entry.get("default"), field.description or ""

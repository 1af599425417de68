"""From pydantic's errors to diagnostics at their places in the file, one for each cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, Repair, Rule, diagnose
from pypto_spec.diagnostics.rules.names import BAD_NAME
from pypto_spec.diagnostics.rules.syntax import (
    CONFLICTING_KEYS,
    MISSING_KEY,
    OUT_OF_RANGE,
    UNKNOWN_KEY,
    UNKNOWN_WORD,
    WRONG_TYPE,
)
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.diagnostics.span import Span
from pypto_spec.diagnostics.suggest import closest, did_you_mean
from pypto_spec.spec.formula.errors import FormulaError
from pypto_spec.spec.models.base import MAX_NAME, NAME_PATTERN, VALUE_PATTERN, Model, describe
from pypto_spec.spec.models.kinds import Path, as_written, model_at
from pypto_spec.spec.models.ways import first_value, retyped, schema_of
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

_EXPECTED: dict[str, tuple[str, str]] = {
    "string_type": ("a word", "quote it if it should be a word"),
    "bool_type": ("`true` or `false`", "write `true` or `false` without quotes"),
    "bool_parsing": ("`true` or `false`", "write `true` or `false` without quotes"),
    "int_type": ("an integer", "write an integer without quotes"),
    "int_parsing": ("an integer", "write an integer"),
    "int_from_float": ("an integer", "write an integer"),
    "float_type": ("a number", "write a number without quotes"),
    "float_parsing": ("a number", "write a number"),
    "tuple_type": ("a list", "put it in brackets: `[...]`"),
    "list_type": ("a list", "put it in brackets: `[...]`"),
    "dict_type": ("a mapping", "write `{key: value}`"),
    "model_type": ("a mapping", "write `{key: value}`"),
    "model_attributes_type": ("a mapping", "write `{key: value}`"),
    "arguments_form": ("a list of names or a mapping", "write `[x, row]`, or `{x: tile, row: index}`"),
    "argument_form": (
        "a word or a mapping",
        "write `tile`, `tensor`, `index` or `scalar`, or `{dtype: fp32, shape: [64, 128]}`",
    ),
}
_SYNONYMS = {
    **dict.fromkeys(("float32", "float", "f32"), "fp32"),
    **dict.fromkeys(("float16", "half", "f16"), "fp16"),
    **{"bfloat16": "bf16", "int": "int32", "i32": "int32", "long": "int64", "i64": "int64", "short": "int16"},
    **{"ub": "vec", "l1": "mat", "l0a": "left", "l0b": "right", "l0c": "acc", "bt": "bias"},
    **{"input": "in", "output": "out", "910b": "a2a3", "a2": "a2a3", "a3": "a2a3"},
}
"""What others call it, and our word."""

_WORD = re.compile(r"'([^']*)'")


class Problems:
    """Translates the errors of one model.

    `fields` holds the model's fields as they stand in the file, `owner` is the key they belong to (None for the whole
    document) and `title` how messages call it.
    """

    def __init__(self, model: type[Model], fields: MappingNode, owner: KeyNode | None, title: str) -> None:
        self.model = model
        self.fields = fields
        self.owner = owner
        self.title = title

    def translate(self, error: ValidationError) -> list[Diagnostic]:
        """One diagnostic per cause."""
        details = error.errors(include_url=False)
        for detail in details:
            detail["loc"] = as_written(detail["loc"])
        wrong = {path[:length] for path in (d["loc"] for d in details) for length in range(len(path))}
        found: list[Diagnostic] = []
        explained: set[Path] = set()
        for detail in details:
            if detail["type"] == "extra_forbidden":
                found.append(self._unknown_key(detail["loc"], explained))
        seen: set[Path] = set()
        for detail in details:
            path = detail["loc"]
            if detail["type"] == "extra_forbidden" or path in explained or path in seen:
                continue
            if detail["type"] == "too_short" and path in wrong:
                continue  # items that are wrong do not count
            seen.add(path)
            found.append(self._translate(detail))
        return sorted(found, key=lambda d: d.primary.span.start)

    def _translate(self, detail: ErrorDetails) -> Diagnostic:
        kind, path = detail["type"], detail["loc"]
        if path and path[-1] == "[key]":
            key, _ = self._find(path[:-1])
            return self._bad_name(key or self.fields, str(path[-2]))
        key, node = self._find(path)
        if kind == "missing":
            return self._missing(path)
        place = node if node is not None else key or self.owner or self.fields
        if isinstance(place, ScalarNode) and place.value is None and place.start == place.end and key is not None:
            place = key  # a value left out has no width to point at
        context: dict[str, Any] = detail.get("ctx", {})
        if kind == "formula":
            error: FormulaError = context["error"]
            if isinstance(node, ScalarNode):
                return error.diagnostic(node)
            return diagnose(error.rule, place.span, error.message, helps=[error.help])
        field = self._name(path)
        if kind == "problem":
            rule = UNKNOWN_WORD if context["kind"] == "word" else WRONG_TYPE
            message = context["message"]
            return self._at(
                place, rule, message if message[0] == "`" else f"{field}: {message}", context["help"], "here"
            )
        if kind == "literal_error":
            return self._word(place, field, detail["input"], _WORD.findall(str(context.get("expected", ""))))
        if kind == "string_pattern_mismatch":
            if context.get("pattern") in (NAME_PATTERN, VALUE_PATTERN):
                return self._bad_name(place, str(detail["input"]))
            form = self._doc(path) or f"a text of the form `{context.get('pattern')}`"
            return self._at(
                place,
                OUT_OF_RANGE,
                f"{field} holds {form}, found {describe(detail['input'])}",
                f"write {form}",
                "another form",
            )
        if kind in _EXPECTED:
            expected, help_text = _EXPECTED[kind]
            if detail["input"] is None:
                help_text = f"write {expected} behind the `:`"
            return self._at(
                place,
                WRONG_TYPE,
                f"{field} is {expected}, found {describe(detail['input'])}",
                help_text,
                f"not {expected}",
                retyped(kind, place),
            )
        if kind in ("too_short", "too_long"):
            least, most = context.get("min_length"), context.get("max_length")
            bound = f"at least {least}" if kind == "too_short" else f"at most {most}"
            number = least if kind == "too_short" else most
            return self._at(
                place,
                OUT_OF_RANGE,
                f"{field} has {bound} item{'' if number == 1 else 's'}, found {context.get('actual_length')}",
                _with_doc(f"give {bound} item{'' if number == 1 else 's'}", self._doc(path)),
                "this list",
            )
        for name, word in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than")):
            if name in context:
                return self._at(
                    place,
                    OUT_OF_RANGE,
                    f"{field} is {word} {context[name]}, found {describe(detail['input'])}",
                    f"write a number that is {word} {context[name]}",
                    "out of range",
                )
        message = str(detail["msg"])
        return self._at(
            place,
            OUT_OF_RANGE,
            f"{field}: {message[:1].lower()}{message[1:]}",
            f"found {describe(detail['input'])}",
            "this value",
        )

    def _at(
        self, place: Node, rule: Rule, message: str, help_text: str, label: str, fixes: Iterable[Fix] = ()
    ) -> Diagnostic:
        return diagnose(
            rule,
            place.span,
            message,
            label=label,
            secondary=place.alias_labels,
            helps=[help_text],
            notes=_parameter(place),
            fixes=() if place.via else fixes,
        )

    def _doc(self, path: Path) -> str:
        """What the documentation says of a field."""
        model = model_at(self.model, path[:-1])
        for name, field in model.model_fields.items() if model is not None else ():
            if (field.alias or name) == path[-1]:
                return field.description or ""
        return ""

    def _word(self, place: Node, field: str, given: object, words: Sequence[str]) -> Diagnostic:
        listed = _listed(words)
        message = f"{field} takes {'one of ' if len(words) > 1 else ''}{listed}, found {describe(given)}"
        if not isinstance(given, str):
            return self._at(place, WRONG_TYPE, message, f"write {listed}", "another type")
        known = _SYNONYMS.get(given.lower())
        near = [known] if known is not None and known in words else closest(given, words)
        fixes = []
        if len(near) == 1 and isinstance(place, ScalarNode) and not place.via and place.style not in ("|", ">"):
            fixes = [Fix(place.sub_span(0, len(place.text)), near[0], safe=known == near[0])]
        return diagnose(
            UNKNOWN_WORD,
            place.span,
            message,
            label="unknown word",
            secondary=place.alias_labels,
            helps=[
                f"did you mean {_listed(near)}?"
                if near
                else f"write {listed}"
                if len(words) < 5
                else "write one of these words"
            ],
            notes=_parameter(place),
            fixes=fixes,
        )

    def _bad_name(self, place: Node, name: str) -> Diagnostic:
        if len(name) > MAX_NAME:
            found = f"`{name[:20]}...` has {len(name):,} characters, a name has at most {MAX_NAME}"
            return self._at(place, BAD_NAME, found, "names become names of C++ and of files", "too long")
        version = name.rpartition(".")[2]
        way = "names are ASCII letters, digits and `_`, and start with no digit"
        if len(version) > 9 and version.isdecimal():
            way = "the version of a value, as in `t.1`, has at most 9 digits"
        return self._at(place, BAD_NAME, f"`{name}` is not spelt as names are", way, "not a name")

    def _missing(self, path: Path) -> Diagnostic:
        key, node = self._find(path[:-1]) if len(path) > 1 else (self.owner, None)
        place: Node = key or node or self.owner or self.fields
        span = place.span if self.owner is not None or len(path) > 1 else _first_line(place)
        if isinstance(path[-1], int):
            return diagnose(
                OUT_OF_RANGE,
                (node or place).span,
                f"{self._name(path[:-1])} has too few items",
                label="here",
                helps=["add what is missing"],
            )
        title = self._name(path[:-1]) if len(path) > 1 else self.title
        doc = self._doc(path)
        return diagnose(
            MISSING_KEY,
            span,
            f"{title} needs the key `{path[-1]}`",
            label=f"`{path[-1]}` is missing",
            secondary=place.alias_labels,
            helps=[f"add `{path[-1]}`" + (f": {doc}" if doc else "")],
            fixes=list(self._added(place, path)),
        )

    def _added(self, place: Node, path: Path) -> Iterator[Repair]:
        """A missing key with a value, where one can be told from the field alone."""
        model = model_at(self.model, path[:-1])
        if place.via or model is None:
            return
        schema = schema_of(model).get("properties", {}).get(path[-1], {})
        value = first_value(schema, str(path[-1]), place.source.name)
        if value is None:
            return
        title = f"add `{path[-1]}: {value}`"
        if self.owner is None:
            yield Repair("set", None, path, value, safe=path == ("spec",), title=title)
        else:
            yield Repair("set", self.owner.span, path, value, title=title)

    def _unknown_key(self, path: Path, explained: set[Path]) -> Diagnostic:
        key, _ = self._find(path)
        name = str(path[-1])
        model = model_at(self.model, path[:-1])
        known = known_keys(model) if model is not None else []
        title = self._name(path[:-1]) if len(path) > 1 else self.title
        _, parent = self._find(path[:-1])
        written = set(parent.entries) if isinstance(parent, MappingNode) else set()
        near = closest(name, (word for word in known if word not in written))
        if not near and model is not None and len(written - set(known)) == 1:
            needed = [f.alias or n for n, f in model.model_fields.items() if f.is_required()]
            near = [word for word in needed if word not in written]
            near = near if len(near) == 1 else []
        if near:
            explained.add((*path[:-1], near[0]))
        return unknown_key(key or self.fields, name, title, known, near)

    def _name(self, path: Path) -> str:
        """`shape[1]` of the fields, in backquotes, with what it belongs to."""
        text = ""
        for step in path:
            if step == "[key]":
                continue
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
        return f"`{text}`" if text else self.title

    def _find(self, path: Path) -> tuple[KeyNode | None, Node | None]:
        """The key and the value at a path; where the path ends in something not written, the last that is."""
        key: KeyNode | None = None
        node: Node | None = self.fields
        for step in path:
            if isinstance(node, MappingNode):
                entry = node.entries.get(str(step))
                if entry is None:
                    return key, node if node is not self.fields else None
                key, node = entry
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
            else:
                break
        return key, node

    def rules_of(self, model: Model) -> list[Diagnostic]:
        """What pydantic does not check: groups of keys of which one is needed, and reserved fields."""
        found: list[Diagnostic] = []
        for name in self.model.not_yet:
            entry = self.fields.entries.get(name)
            if entry is not None:
                found.append(not_yet(entry[0].span, f"`{name}`"))
        group = self.model.exactly_one
        if group:
            written = [self.fields.entries[name][0] for name in group if name in self.fields.entries]
            place = self.owner or self.fields
            if not written:
                found.append(
                    diagnose(
                        MISSING_KEY,
                        place.span,
                        f"{self.title} needs {_listed(group)}",
                        label=f"{_listed(group)} is missing",
                        helps=[f"add {_listed(group)}"],
                    )
                )
            elif len(written) > 1:
                found.append(
                    diagnose(
                        CONFLICTING_KEYS,
                        written[1].span,
                        f"{self.title} takes only one of {_listed(group)}",
                        label="both are written",
                        secondary=[Label(written[0].span, "the other one")],
                        helps=["remove one of them"],
                        fixes=[
                            Repair("remove", key.span, (key.text,), title=f"take `{key.text}` out")
                            for key in reversed(written)
                            if not key.via
                        ],
                    )
                )
        return found


def _with_doc(help_text: str, doc: str) -> str:
    """A way out with what the documentation says of the field, where it says what to write."""
    return f"{help_text}: {doc}" if doc else help_text


def _parameter(place: Node) -> list[str]:
    if isinstance(place, ScalarNode) and isinstance(place.value, str) and place.value[:1] == "$":
        return [f"`{place.value}` stands for the value of the constant"]
    return []


def not_yet(span: Span, what: str) -> Diagnostic:
    """The diagnostic of a reserved part of the language."""
    return diagnose(
        NOT_YET,
        span,
        f"{what} is reserved and not there yet",
        label="not there yet",
        helps=["leave it out: this version of the compiler cannot do it"],
    )


def unknown_key(key: Node, name: str, title: str, known: Iterable[str], near: Sequence[str]) -> Diagnostic:
    """The diagnostic of a key the language does not know at this place."""
    listed = ", ".join(f"`{word}`" for word in known)
    help_text = (
        did_you_mean(name, near)
        or (f"did you mean `{near[0]}`, which is missing?" if near else "")
        or (f"known keys are {listed}" if listed else "it takes no keys")
    )
    fixes = [Fix(key.span, near[0])] if len(near) == 1 and not key.via else []
    return diagnose(
        UNKNOWN_KEY,
        key.span,
        f"{title} has no key `{name}`",
        label="unknown key",
        secondary=key.alias_labels,
        helps=[help_text],
        fixes=fixes,
    )


def known_keys(model: type[Model]) -> list[str]:
    """The keys a model has in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _listed(words: Sequence[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _first_line(node: Node) -> Span:
    """The first line of the document, for what is missing in all of it."""
    span = node.span
    return Span(
        span.source, span.line, span.col, span.line, span.col + max(1, len(span.source.line(span.line)) - span.col + 1)
    )

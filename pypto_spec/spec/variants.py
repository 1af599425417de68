"""Variants: one spec, many programs, by a matrix of constants and target options.

Each combination of the matrix is a variant, without those that match an entry of `exclude`, with those of `include`.
Its key is made of the values, in the order of the matrix: a number after its name (`TR64`), a word alone (`fp16`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product

from pydantic import ValidationError

from pypto_spec.diagnostics.model import Diagnostic, Label, Repair, Rule, diagnose, has_errors
from pypto_spec.diagnostics.rules.syntax import WRONG_TYPE
from pypto_spec.diagnostics.rules.variants import BAD_AXIS, BAD_COMBINATION, NO_VARIANTS, NOTHING_EXCLUDED
from pypto_spec.diagnostics.suggest import Meant, did_you_mean
from pypto_spec.records import dataclass
from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain
from pypto_spec.spec.models.sections import Target
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode, Value

MOST_VARIANTS = 256
"""Programs of one spec."""

TARGET = "target."
"""What the names of target options begin with."""

Choice = tuple[tuple[str, str], ...]
"""The text of each axis' value, in the order of the matrix. Equal values have one text, the first that is written."""

Same = tuple[type, Value]
"""What tells values apart: `64` and `0x40` are one, `1` and `true` are not."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One combination: texts of constants as `-D` takes them, and target options."""

    key: str
    constants: Mapping[str, str]
    target: Mapping[str, Value]
    nodes: Mapping[str, ScalarNode] = field(default_factory=dict)
    """Where the values of constants are written; one that `-D` gives is not."""


@dataclass(frozen=True, slots=True)
class _Axis:
    name: str
    items: tuple[ScalarNode, ...]
    fixed: str | None = None
    """What `-D` gives it."""

    @property
    def values(self) -> tuple[str, ...]:
        return (self.fixed,) if self.fixed is not None else tuple(item.text for item in self.items)


def read_variants(
    root: MappingNode, defines: Mapping[str, str] | None = None
) -> tuple[list[Variant], list[Diagnostic]]:
    """The variants of a spec in their order, and what is wrong with the section.

    A `-D` of an axis leaves that one value of it. What is wrong may be warnings only, which leave all variants.
    """
    section = root.get("variants")
    if section is None:
        return [], []
    reader = _Reader(root, section, dict(defines or {}))
    found = reader.read()
    return ([] if reader.wrong else found), reader.errors


class _Reader:
    def __init__(self, root: MappingNode, section: Node, defines: dict[str, str]) -> None:
        self.section = section
        constants = root.get("constants")
        self.constants = constants.entries if isinstance(constants, MappingNode) else {}
        self.texts: dict[str, dict[Same, str]] = {}
        """For each axis the text of each value, as it was first met."""
        self.nodes: dict[tuple[str, str], ScalarNode] = {}
        """Where each text of an axis stands first."""
        self.defines = defines
        self.errors: list[Diagnostic] = []

    @property
    def wrong(self) -> bool:
        """Whether an error is among the findings."""
        return has_errors(self.errors)

    def _text(self, name: str, item: ScalarNode) -> str:
        """The text that stands for a value of an axis, and for all that are equal to it."""
        text = self.texts.setdefault(name, {}).setdefault(self._same(name, item.value), item.text)
        self.nodes.setdefault((name, text), item)
        return text

    def _same(self, name: str, value: Value) -> Same:
        """Equal values of an axis; where the constant is a float, an integer is one."""
        written = self.constants.get(name)
        node = written[1] if written is not None else None
        if type(value) is int and isinstance(node, ScalarNode) and isinstance(node.value, float):
            value = float(value)
        return type(value), value

    def read(self) -> list[Variant]:
        section = self.section
        if not isinstance(section, MappingNode):
            self._wrong(
                section, "`variants` is a mapping with a `matrix`", "write `variants: {matrix: {TR: [32, 64]}}`"
            )
            return []
        for key, _ in section.items:
            if key.text not in ("matrix", "include", "exclude") and not key.text.startswith("x-"):
                near = did_you_mean(key.text, ["matrix", "include", "exclude"])
                self._wrong(
                    key, f"`variants` has no key `{key.text}`", near or "it has `matrix`, `include` and `exclude`"
                )
        axes = self._axes(section.get("matrix"))
        if self.errors or not axes:
            if not self.errors:
                self._none(section, "`variants` has no matrix", "write `matrix: {TR: [32, 64]}`")
            return []
        total = 1
        for axis in axes:
            total *= len(axis.values)
        if total > MOST_VARIANTS:
            sizes = " x ".join(str(len(axis.values)) for axis in axes)
            self._none(section, f"{sizes} = {total} variants, at most {MOST_VARIANTS} are built", "leave values out")
            return []
        names = [axis.name for axis in axes]
        excluded = list(self._entries(section.get("exclude"), "exclude", names, whole=False))
        included = list(self._entries(section.get("include"), "include", names, whole=True))
        chosen: dict[Choice, None] = {}
        for values in product(*(axis.values for axis in axes)):
            choice = tuple(zip(names, values, strict=True))
            if not any(set(entry.items()) <= set(choice) for entry, _ in excluded):
                chosen[choice] = None
        written = {axis.name: {item.text for item in axis.items} for axis in axes}
        for entry, item in excluded:
            if not all(text in written[name] for name, text in entry.items()):
                self._matches_nothing(entry, item, written)
        for entry, _ in included:
            if all(self.defines.get(name, value) == value for name, value in entry.items()):
                chosen[tuple((name, entry[name]) for name in names)] = None
        if not self.wrong and not chosen:
            self._none(section, "`exclude` leaves no variant of the matrix", "take an entry out")
        return list(_named(list(chosen), self.nodes))

    def _matches_nothing(self, entry: Mapping[str, str], item: Node, written: Mapping[str, set[str]]) -> None:
        """An exclusion of values that the matrix does not have."""
        name, text = next((n, t) for n, t in entry.items() if t not in written[n])
        place = item.get(name) if isinstance(item, MappingNode) else None
        span = (place or item).span
        values = ", ".join(sorted(written[name], key=lambda t: self.nodes[name, t].start))
        self.errors.append(
            diagnose(
                NOTHING_EXCLUDED,
                span,
                f"this entry of `exclude` matches no variant: `{name}` is never {text}",
                label="not in the matrix",
                helps=[did_you_mean(text, sorted(written[name])) or f"`{name}` is {values}; take the entry out"],
                fixes=[Repair("remove", item.span, safe=True, title="take the entry out")],
            )
        )

    def _axes(self, matrix: Node | None) -> list[_Axis]:
        if not isinstance(matrix, MappingNode):
            if matrix is not None:
                self._wrong(matrix, "`matrix` is a mapping of constants to lists", "write `matrix: {TR: [32, 64]}`")
            return []
        axes: list[_Axis] = []
        for key, node in matrix.items:
            items = node.items if isinstance(node, SequenceNode) else []
            if not items or not all(isinstance(i, ScalarNode) and i.value is not None for i in items):
                self._wrong(node, f"`{key.text}` is a list of values", f"write `{key.text}: [32, 64]`")
                continue
            scalars = [i for i in items if isinstance(i, ScalarNode)]
            self._known(key, scalars)
            different = self._different(key.text, scalars)
            fixed = self.defines.get(key.text)
            if fixed is not None:
                fixed = self.texts[key.text].setdefault(self._same(key.text, _plain(fixed)), fixed)
                self.defines[key.text] = fixed
            axes.append(_Axis(key.text, different, fixed))
        return axes

    def _different(self, name: str, items: list[ScalarNode]) -> tuple[ScalarNode, ...]:
        """The values of an axis; one that stands twice is an error."""
        found: dict[str, ScalarNode] = {}
        for item in items:
            first = found.setdefault(self._text(name, item), item)
            if first is not item:
                self.errors.append(
                    diagnose(
                        BAD_AXIS,
                        item.span,
                        f"`{item.text}` is a value of `{name}` already",
                        label="again",
                        secondary=[Label(first.span, "first here")],
                        helps=["leave the second out: each value stands for a program of its own"],
                        fixes=[Repair("remove", item.span, title=f"leave the second {item.text} out")],
                    )
                )
        return tuple(found.values())

    def _known(self, key: KeyNode, items: list[ScalarNode]) -> None:
        """An axis is a constant of the spec, or an option of its target with legal values."""
        name = key.text
        if not name.startswith(TARGET):
            if name not in self.constants:
                known = [*self.constants, *(TARGET + option for option in Target.model_fields)]
                way = did_you_mean(name, known) or f"define it: `constants: {{{name}: {items[0].text}}}`"
                value = items[0].value
                defined = Repair("set", None, ("constants", name), value, title=f"define `{name}: {items[0].text}`")
                fixes = [] if isinstance(way, Meant) else [defined]
                self._error(BAD_AXIS, key, f"`{name}` is no constant of this spec", "not a constant", way, fixes)
            return
        option = name.removeprefix(TARGET)
        if option not in Target.model_fields:
            way = did_you_mean(option, Target.model_fields) or f"options are {', '.join(Target.model_fields)}"
            self._error(BAD_AXIS, key, f"`target` has no option `{option}`", "not an option", way)
            return
        for item in items:
            try:
                Target.model_validate({option: item.value})
            except ValidationError as error:
                said = error.errors()[0]["msg"].removeprefix("Input should be ")
                self._error(BAD_AXIS, item, f"`{item.text}` is no `{option}` of a target", "not one", f"it is {said}")

    def _entries(
        self, node: Node | None, word: str, names: list[str], *, whole: bool
    ) -> Iterator[tuple[dict[str, str], Node]]:
        if node is None:
            return
        items = node.items if isinstance(node, SequenceNode) else [node]
        for item in items:
            if not isinstance(item, MappingNode) or not all(isinstance(v, ScalarNode) for _, v in item.items):
                self._wrong(item, f"an entry of `{word}` maps axes to values", f"write `{word}: [{{{names[0]}: 1}}]`")
                continue
            entry = {key.text: self._text(key.text, v) for key, v in item.items if isinstance(v, ScalarNode)}
            strange = [key for key, _ in item.items if key.text not in names]
            missing = [name for name in names if name not in entry] if whole else []
            if strange:
                way = did_you_mean(strange[0].text, names) or f"axes are {', '.join(names)}"
                message = f"`{strange[0].text}` is no axis of the matrix"
                self._error(BAD_COMBINATION, strange[0], message, "not in the matrix", way)
            elif missing:
                message = f"an entry of `{word}` gives every axis a value; `{missing[0]}` has none"
                self._error(BAD_COMBINATION, item, message, "not all axes", f"add `{missing[0]}: VALUE`")
            else:
                yield entry, item

    def _wrong(self, node: Node | KeyNode, message: str, way: str) -> None:
        self._error(WRONG_TYPE, node, message, "here", way)

    def _none(self, node: Node, message: str, way: str) -> None:
        self._error(NO_VARIANTS, node, message, "these variants", way)

    def _error(
        self, rule: Rule, node: Node | KeyNode, message: str, label: str, way: str, fixes: Sequence[Repair] = ()
    ) -> None:
        self.errors.append(diagnose(rule, node.span, message, label=label, helps=[way], fixes=fixes))


def _named(choices: list[Choice], nodes: Mapping[tuple[str, str], ScalarNode]) -> Iterator[Variant]:
    """The variants under their keys; where two keys would be the same, every value stands after its name."""
    keys = [_key(choice, plain=True) for choice in choices]
    if len(set(keys)) < len(keys):
        keys = [_key(choice, plain=False) for choice in choices]
    seen: dict[str, int] = {}
    for key, choice in zip(keys, choices, strict=True):
        seen[key] = seen.get(key, 0) + 1
        unique = key if seen[key] == 1 else f"{key}_{seen[key]}"
        target = {name.removeprefix(TARGET): _typed(text) for name, text in choice if name.startswith(TARGET)}
        constants = {name: text for name, text in choice if not name.startswith(TARGET)}
        places = {name: nodes[name, text] for name, text in constants.items() if (name, text) in nodes}
        yield Variant(unique, constants, target, places)


def _key(choice: Choice, *, plain: bool) -> str:
    parts: list[str] = []
    for name, text in choice:
        word = re.sub(r"[^A-Za-z0-9]+", "_", text.replace("-", "m")).strip("_") or "v"
        alone = plain and word[:1].isalpha() and text not in ("true", "false")
        parts.append(word if alone else f"{name.removeprefix(TARGET)}{word}")
    return "_".join(parts)


def _plain(text: str) -> Value:
    """The value of a text of the command line."""
    try:
        return resolve_plain(text)
    except IntegerTooLargeError:
        return text


def _typed(text: str) -> Value:
    return {"true": True, "false": False}.get(text, text)

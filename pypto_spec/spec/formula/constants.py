"""The `constants` section: integers, floats, booleans, words, and expressions over each other in any order."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pypto_spec.diagnostics.model import Diagnostic, Label, Rule, diagnose
from pypto_spec.diagnostics.rules.names import BAD_NAME, BAD_OVERRIDE, CONSTANT_CYCLE
from pypto_spec.diagnostics.rules.syntax import WRONG_TYPE
from pypto_spec.diagnostics.rules.variants import BAD_AXIS
from pypto_spec.diagnostics.span import Source
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.records import dataclass
from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain
from pypto_spec.spec.formula.errors import FormulaError
from pypto_spec.spec.formula.integer import Value, evaluate
from pypto_spec.spec.formula.nodes import Expr
from pypto_spec.spec.formula.parser import RESERVED, parse_expression
from pypto_spec.spec.formula.walk import names
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KINDS = {bool: "a boolean", int: "an integer", float: "a float", str: "a word"}


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant with its value, where it is defined, and what holds the value (the command line for an override)."""

    name: str
    value: Value
    key: KeyNode
    node: ScalarNode


@dataclass(slots=True)
class _Entry:
    key: KeyNode
    node: ScalarNode
    ready: Value | None = None
    expr: Expr | None = None
    needs: tuple[str, ...] = ()


def resolve_constants(
    section: Node | None,
    overrides: Mapping[str, str] | None = None,
    variant: Mapping[str, ScalarNode] | None = None,
) -> tuple[dict[str, Constant], list[Diagnostic]]:
    """The constants in the order they are written, and what is wrong with the others.

    `overrides` are the `-D NAME=VALUE` of the command line; the value keeps the type the constant has in the spec.
    `variant` holds the values of a variant where they are written; what is overridden besides has no say there.
    A constant that depends on a wrong one is left out without a word of its own.
    """
    errors: list[Diagnostic] = []
    if section is None:
        section = MappingNode(Source("<none>", ""), 0, 0, {}, False)
    if not isinstance(section, MappingNode):
        errors.append(
            diagnose(
                WRONG_TYPE,
                section.span,
                f"`constants` is a mapping of names, found a {section.kind}",
                helps=["write `constants: {TR: 64}`"],
            )
        )
        return {}, errors
    texts = set(section.entries)
    entries: dict[str, _Entry] = {}
    for key, node in section.items:
        entry = _entry(key, node, texts, errors)
        if entry is not None:
            entries[key.text] = entry
    if overrides or variant:
        as_written, _ = _resolve(entries, [])
        for name, node in (variant or {}).items():
            if name not in (overrides or {}) and name in entries:
                _given(name, node, _VARIANT, entries, texts, as_written, errors)
        for name, text in (overrides or {}).items():
            _override(name, text, entries, texts, as_written, errors)
    values, failed = _resolve(entries, errors)
    found = {
        name: Constant(name, values[name], entry.key, entry.node)
        for name, entry in entries.items()
        if name in values and name not in failed
    }
    return found, errors


def _entry(key: KeyNode, node: Node, known: set[str], errors: list[Diagnostic]) -> _Entry | None:
    if not NAME.match(key.text) or key.text in RESERVED:
        errors.append(
            diagnose(
                BAD_NAME,
                key.span,
                f"`{key.text}` cannot name a constant",
                label="not a name",
                helps=["names are ASCII letters, digits and `_`, and no words of formulas"],
            )
        )
        return None
    if not isinstance(node, ScalarNode) or node.value is None:
        found = "nothing" if isinstance(node, ScalarNode) else f"a {node.kind}"
        errors.append(
            diagnose(
                WRONG_TYPE,
                node.span if found != "nothing" else key.span,
                f"the constant `{key.text}` is a number, a word or an expression, found {found}",
                helps=[f"write `{key.text}: 64`"],
            )
        )
        return None
    return _read(_Entry(key, node), known, errors)


def _read(entry: _Entry, known: set[str], errors: list[Diagnostic]) -> _Entry | None:
    value = entry.node.value
    if not isinstance(value, str):
        entry.ready = value
        return entry
    word = value.strip()
    if NAME.match(word) and word not in known and word not in RESERVED:
        entry.ready = word
        return entry
    try:
        entry.expr = parse_expression(value)
    except FormulaError as error:
        errors.append(error.diagnostic(entry.node))
        return None
    entry.needs = tuple(dict.fromkeys(name.id for name in names(entry.expr) if name.id in known))
    return entry


def _override(
    name: str,
    text: str,
    entries: dict[str, _Entry],
    known: set[str],
    as_written: Mapping[str, Value],
    errors: list[Diagnostic],
) -> None:
    source = Source("-D", f"{name}={text}")
    start = len(name) + 1
    if name not in known:
        key = KeyNode(source, 0, len(name), name)
        helps = [did_you_mean(name, known) or "an override changes a constant of the spec, it adds none"]
        if name.startswith("target."):
            helps = ["write options under `target` in the spec, or as an axis of `variants`: `--variant KEY` picks one"]
        errors.append(
            diagnose(
                BAD_OVERRIDE,
                key.span,
                f"-D sets `{name}`, which is no constant of the spec",
                label="unknown constant",
                helps=helps,
            )
        )
        return
    if name not in entries:
        return
    try:
        value = resolve_plain(text)
    except IntegerTooLargeError:
        value = text
    node = ScalarNode(source, start, len(source.text), value, text, "")
    _given(name, node, _OVERRIDE, entries, known, as_written, errors)


@dataclass(frozen=True, slots=True)
class _Giver:
    """Who gives a constant another value: the rule, message and way out, with `{name}`, `{text}`, `{kind}`, `{old}`."""

    rule: Rule
    message: str
    way: str


_OVERRIDE = _Giver(BAD_OVERRIDE, "-D {name}={text}: `{name}` is {kind}", "give {kind}: `-D {name}={old}`")
_VARIANT = _Giver(
    BAD_AXIS, "the variants give `{name}` the value {text}: it is {kind}", "write {kind} here, such as {old}"
)


def _given(
    name: str,
    node: ScalarNode,
    giver: _Giver,
    entries: dict[str, _Entry],
    known: set[str],
    as_written: Mapping[str, Value],
    errors: list[Diagnostic],
) -> None:
    """Another value of a constant, of the type it has in the spec."""
    entry = _read(_Entry(entries[name].key, node), known, errors) if node.value is not None else None
    if entry is None and node.value is not None:
        return
    wanted = as_written.get(name)
    given = entry.ready if entry is not None else None
    if wanted is not None and entry is not None and entry.expr is not None:
        if giver is _VARIANT and name in entry.needs:
            errors.append(
                diagnose(
                    BAD_AXIS,
                    node.span,
                    f"the variants give `{name}` a value made of itself: {node.text}",
                    label="needs its own value",
                    secondary=[Label(entries[name].node.span, f"the value of `{name}` without variants")],
                    helps=["write the number"],
                )
            )
            return
        try:
            given = evaluate(entry.expr, as_written)
        except FormulaError as error:
            errors.append(error.diagnostic(node))
            return
    if isinstance(wanted, float) and isinstance(given, int) and not isinstance(given, bool):
        given = float(given)
        if entry is not None and entry.expr is None:
            entry.ready = given
    if entry is None or (wanted is not None and type(given) is not type(wanted)):
        old = entries[name]
        kind = _KINDS[type(wanted)] if wanted is not None else "a value"
        words = {"name": name, "text": node.text, "kind": kind, "old": old.node.text}
        errors.append(
            diagnose(
                giver.rule,
                node.span,
                giver.message.format(**words),
                label=f"not {kind}",
                secondary=[Label(old.node.span, "defined here")],
                helps=[giver.way.format(**words)],
            )
        )
        return
    entries[name] = entry


def _resolve(entries: Mapping[str, _Entry], errors: list[Diagnostic]) -> tuple[dict[str, Value], set[str]]:
    """Values in dependency order, with a stack of its own: a chain of constants may be long."""
    values: dict[str, Value] = {}
    failed: set[str] = set()
    for root in entries:
        path: list[str] = [root]
        on_path = {root}
        while path:
            name = path[-1]
            entry = entries.get(name)
            waiting = None
            if name not in values and name not in failed:
                if entry is None or any(need in failed for need in entry.needs):
                    failed.add(name)
                elif entry.ready is not None:
                    values[name] = entry.ready
                else:
                    waiting = next((need for need in entry.needs if need not in values), None)
                    if waiting is not None and waiting in on_path:
                        cycle = path[path.index(waiting) :]
                        errors.append(_cycle(cycle, entries))
                        failed.update(cycle)
                        waiting = None
                    elif waiting is None:
                        _evaluate(name, entry, values, failed, errors)
            if waiting is None:
                on_path.discard(path.pop())
            else:
                path.append(waiting)
                on_path.add(waiting)
    return values, failed


def _evaluate(name: str, entry: _Entry, values: dict[str, Value], failed: set[str], errors: list[Diagnostic]) -> None:
    assert entry.expr is not None
    try:
        values[name] = evaluate(entry.expr, values)
    except FormulaError as error:
        failed.add(name)
        errors.append(error.diagnostic(entry.node))


def _cycle(cycle: list[str], entries: Mapping[str, _Entry]) -> Diagnostic:
    first, *others = cycle
    way = " -> ".join(f"`{name}`" for name in [*cycle, first])
    message = f"the constant `{first}` is defined by itself" if not others else f"constants define each other: {way}"
    labels = [Label(entries[name].node.span, "and this one") for name in others]
    return diagnose(
        CONSTANT_CYCLE,
        entries[first].node.span,
        message,
        label="needs its own value",
        secondary=labels,
        helps=["give one of them a number"],
    )

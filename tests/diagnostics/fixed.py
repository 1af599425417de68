"""Specs in other forms, and fixes applied to them: what the tests of fixes share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Fix, Severity
from pypto_spec.diagnostics.pages import Example
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.check import check_specs
from pypto_spec.driver.fix import State, _Fixer, with_fixes
from pypto_spec.driver.inputs import Gathered, Spec
from pypto_spec.driver.variants import variants_of
from pypto_spec.spec.flow import flow, key_text
from pypto_spec.spec.load import load

Form = Literal["as written", "flow", "toml", "toml tables"]
FORMS: tuple[Form, ...] = ("as written", "flow", "toml", "toml tables")


def check(text: str, kind: str) -> list[Diagnostic]:
    """What `check` finds in a text."""
    name = f"kernel.{kind}"
    spec = Spec(Source(name, text), "toml" if kind == "toml" else "yaml", text.encode())
    return check_specs(Gathered(variants_of(spec)))


def state(text: str, kind: str) -> State:
    """How far a text gets."""
    spec = Spec(Source(f"kernel.{kind}", text), "toml" if kind == "toml" else "yaml", text.encode())
    return _Fixer(spec, {}, False).look(text)


def with_fix(text: str, fix: Fix) -> str:
    """The text with one fix."""
    assert fix.span.source.text == text
    return with_fixes(text, [fix])


def fixes(found: list[Diagnostic], text: str) -> Iterator[tuple[Diagnostic, Fix]]:
    """All fixes of a text."""
    return ((d, fix) for d in found for fix in d.fixes if fix.span.source.text == text)


def errors(found: Sequence[Diagnostic]) -> set[str]:
    """The codes of the errors."""
    return {d.rule.code for d in found if d.level is Severity.ERROR}


def in_form(example: Example, form: Form) -> tuple[str, str] | None:
    """The text of a spec in another form, with the ending of its file; None where it cannot be read."""
    if form == "as written":
        return example.text, example.kind
    try:
        plain = _empty(load(Source(f"x.{example.kind}", example.text)).to_plain())
    except CompileError:
        return None
    if form == "flow":
        return "".join(f"{key}: {flow(value)}\n" for key, value in plain.items()), "yaml"
    if form == "toml":
        return "".join(f"{key_text(key, 'toml')} = {flow(value, 'toml')}\n" for key, value in plain.items()), "toml"
    return "\n".join(_tables(plain, "")) + "\n", "toml"


def _empty(value: Any) -> Any:
    """Plain data without nulls, which TOML does not have."""
    if isinstance(value, dict):
        return {key: _empty(item) for key, item in value.items()}
    return [_empty(item) for item in value] if isinstance(value, list) else {} if value is None else value


def _tables(mapping: Mapping[str, Any], path: str) -> Iterator[str]:
    """A mapping as tables: `[tensors]` with a line each, and `[[program.body]]` for statements."""
    later = []
    for key, value in mapping.items():
        if (isinstance(value, dict) and not path and value) or (
            isinstance(value, list) and value and all(isinstance(item, dict) for item in value) and _block(key)
        ):
            later.append((key, value))
        elif value is not None:
            yield f"{key_text(key, 'toml')} = {flow(value, 'toml')}"
    for key, value in later:
        inner = f"{path}.{key}" if path else key
        for item in value if isinstance(value, list) else [value]:
            yield ""
            yield f"[[{inner}]]" if isinstance(value, list) else f"[{inner}]"
            yield from _tables(item, inner)


def _block(key: str) -> bool:
    return key in ("program", "body", "then", "else")

"""`pypto-spec explain`: the page of a diagnostic, and the reference of a keyword, a field or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pypto_spec.diagnostics.pages import find_rule, load_page
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.driver.inputs import UsageError

_MOST: Final = 12
"""Places of a field that are listed; the rest are counted."""


def explain(word: str) -> str:
    """What there is to know of a word: a code or its name, a keyword, a function, or a path of keys.

    Markdown, not wrapped. Raises UsageError, with what is near, where the word means nothing.
    """
    word = word.strip()
    found = _page(word) or _reference(word) or _reference(word.casefold()) or _places(word)
    if found is None:
        raise UsageError(f"there is no code, keyword, field or function `{word}`; {_near(word)}")
    return found


def _page(word: str) -> str | None:
    rule = find_rule(word)
    if rule is None:
        return None
    page = load_page(rule.code)
    return page.text if page is not None else f"# {rule.code}: {rule.name}\n\n{rule.summary} ({rule.severity.value})\n"


def _reference(word: str) -> str | None:
    """The keyword, field and function of that name; what a keyword's text says of its function is not said again."""
    from pypto_spec.convert.function_reference import function_text
    from pypto_spec.ops.registry import function
    from pypto_spec.spec.models.reference import field_text

    field, called = field_text(word), function_text(word)
    if field is not None and [defn.name for defn in function(word)] == [word]:
        called = None
    parts = [text for text in (field, called) if text is not None]
    return "\n".join(parts) or None


def _places(name: str) -> str | None:
    """The fields of that name, wherever they are; the text itself where there is one only."""
    from pypto_spec.spec.models.reference import field_text, fields_called

    paths = fields_called(name)
    if len(paths) == 1:
        return field_text(paths[0])
    if not paths:
        return None
    lines = [f"# `{name}`: a field", "", *(f"* `pypto-spec explain {path}`" for path in paths[:_MOST])]
    if len(paths) > _MOST:
        lines.append(f"* and {len(paths) - _MOST} more: `pypto-spec explain --list fields` has them all")
    return "\n".join(lines) + "\n"


def _near(word: str) -> str:
    from pypto_spec.spec.models.reference import suggest_path

    near = suggest_path(word) if "." in word else []
    if near:
        return f"did you mean {' or '.join(f'`{path}`' for path in near)}?"
    return did_you_mean(word, _first_words()) or "`--list` shows what there is: `pypto-spec explain --help`"


def _first_words() -> list[str]:
    """All words that stand alone; paths of fields are found by their own keys."""
    from pypto_spec.spec.models.places import first_keys

    return [*rule_words(), *first_keys(), *_functions(), *{path.rpartition(".")[2] for path in _fields()}]


# --- lists ----------------------------------------------------------------------------------------------------------


def rule_list() -> str:
    """Every code with its name, severity and summary, one a line."""
    rules = all_rules().values()
    width = max(len(r.name) for r in rules)
    return "".join(f"{r.code:<9} {r.name:<{width}}  {r.severity.value:<7}  {r.summary}\n" for r in rules)


def keyword_list() -> str:
    """Every keyword of statements with what it does, one a line."""
    from pypto_spec.spec.models.keywords import default_table

    table = default_table()
    width = max(map(len, table.keywords))
    return "".join(f"{k.name:<{width}}  {' '.join(k.doc.split())}\n" for k in table)


def _functions() -> list[str]:
    from pypto_spec.convert.function_reference import function_names

    return function_names()


def _fields() -> tuple[str, ...]:
    from pypto_spec.spec.models.places import all_paths

    return all_paths()


LISTS: Final[Mapping[str, Callable[[], str]]] = {
    "codes": rule_list,
    "keywords": keyword_list,
    "functions": lambda: "".join(f"{name}\n" for name in _functions()),
    "fields": lambda: "".join(f"{path}\n" for path in _fields()),
}
"""What can be listed, by the word of `--list`."""


def rule_words() -> list[str]:
    """All codes and names of diagnostics."""
    return [word for r in all_rules().values() for word in (r.code, r.name)]


def words() -> list[str]:
    """Every word that can be explained, for completion."""
    from pypto_spec.spec.models.places import first_keys

    return list(dict.fromkeys([*rule_words(), *first_keys(), *_functions(), *_fields()]))

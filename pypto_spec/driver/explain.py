"""`pypto-spec explain`: the page of a diagnostic."""

from __future__ import annotations

from pypto_spec.diagnostics.pages import find_rule, load_page, suggest_rule
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.driver.inputs import UsageError


def explain(word: str) -> str:
    """The page of a code or name. Raises UsageError where there is none."""
    rule = find_rule(word)
    if rule is None:
        near = suggest_rule(word) or "`pypto-spec explain` lists them all"
        raise UsageError(f"there is no diagnostic `{word}`; {near}")
    page = load_page(rule.code)
    if page is None:
        return f"# {rule.code}: {rule.name}\n\n{rule.summary} ({rule.severity.value})\n"
    return page.text


def rule_list() -> str:
    """Every code with its name, severity and summary, one a line."""
    rules = all_rules().values()
    width = max(len(r.name) for r in rules)
    return "".join(f"{r.code:<9} {r.name:<{width}}  {r.severity.value:<7}  {r.summary}\n" for r in rules)


def rule_words() -> list[str]:
    """All codes and names, for completion."""
    return [word for r in all_rules().values() for word in (r.code, r.name)]

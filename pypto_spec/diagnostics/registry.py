"""The one table of rules, by code and by name."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Rule, Severity

_RULES: dict[str, Rule] = {}

PYPTO_HINTS = frozenset({"PH001", *(f"PH-AT-{n:03}" for n in (3, 5, 6, 7, 8, 9, 10, 11)), "PH-MR-001", "PH-DSA-001"})
"""Codes of PyPTO's performance hints; those that are no rules of ours may be named, and switch nothing."""


def rule(code: str, name: str, severity: Severity, summary: str) -> Rule:
    """Declare a rule. Codes and names are unique and never re-used."""
    made = Rule(code, name, severity, summary)
    clash = [r for r in _RULES.values() if code == r.code or name == r.name]
    if clash:
        raise ValueError(f"rule {code} ({name}) clashes with {clash[0].code} ({clash[0].name})")
    _RULES[code] = made
    return made


def all_rules() -> dict[str, Rule]:
    """Every rule by its code, all families loaded."""
    from pypto_spec.diagnostics.rules import (  # noqa: F401  (imported so that each family registers itself)
        calls,
        cores,
        flow,
        hints,
        internal,
        memory,
        names,
        shapes,
        sync,
        syntax,
        target,
        variants,
    )

    return dict(sorted(_RULES.items()))


def known_words() -> set[str]:
    """The codes and names that lists of diagnostics may hold."""
    return {*all_rules(), *(found.name for found in all_rules().values()), *PYPTO_HINTS}

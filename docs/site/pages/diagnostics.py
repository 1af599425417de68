"""A page for each diagnostic, with what the compiler says to its bad example, and an index of each family."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from docs.site.model import ROOT, Page, SiteError
from pypto_spec.diagnostics import rules
from pypto_spec.diagnostics.model import Rule
from pypto_spec.diagnostics.pages import Page as Explained
from pypto_spec.diagnostics.pages import load_page
from pypto_spec.diagnostics.registry import all_rules

FOLDER = "pypto_spec/diagnostics/pages"
MESSAGES = ROOT / "tests" / "diagnostics" / "__snapshots__" / "test_pages"
"""What the examples give, as the tests hold it."""

OTHERS = "PH"
"""The family of codes that have PyPTO's names."""


def family(code: str) -> str:
    """The family of a code: `PS4` of `PS4001`, `PH` of `PH-MR-001`."""
    return OTHERS if code.startswith(OTHERS) else code[:3]


def titles() -> dict[str, str]:
    """What each family is about, from the first lines of the modules of rules."""
    found: dict[str, str] = {}
    for module in iter_modules(rules.__path__):
        head = (import_module(f"{rules.__name__}.{module.name}").__doc__ or "").partition("\n")[0]
        for name, text in re.findall(r"(P[SH]\d?): ([^;.]+)", head):
            found.setdefault(name, text)
    return found


def pages() -> Iterator[Page]:
    """The pages of all families."""
    families: dict[str, list[Rule]] = {}
    for rule in all_rules().values():
        families.setdefault(family(rule.code), []).append(rule)
    known = titles()
    for name, members in families.items():
        if name not in known:
            raise SiteError(f"no module of pypto_spec/diagnostics/rules says in its first line what {name} is")
        group = f"{name}: {known[name]}"
        yield Page(
            f"diagnostics/{name}/index.md", _index(group, members), f"{FOLDER}/index.md", "diagnostics", group, {}
        )
        for rule in members:
            yield _page(rule, group)


def _index(title: str, members: list[Rule]) -> str:
    rows = "".join(
        f"| [{r.code}](site:diagnostics/{r.code}.md) | {r.name} | {r.severity.value} | {r.summary} |\n" for r in members
    )
    return f"# {title}\n\n| code | name | severity | summary |\n| --- | --- | --- | --- |\n{rows}"


def _page(rule: Rule, group: str) -> Page:
    found = load_page(rule.code)
    if found is None:
        raise SiteError(f"{FOLDER}/{rule.code}.md is missing")
    text = re.sub(
        r"^# .*\n",
        f"# {rule.code}: {rule.name}\n\n*{rule.severity.value}*: {rule.summary}. Found by `{found.command}`.\n",
        found.text,
    )
    if found.bad is not None:
        text = re.sub(r"(^## Example\n.*?^```\n)(?=\n## )", lambda m: m[1] + _message(found), text, flags=re.M | re.S)
    return Page(f"diagnostics/{rule.code}.md", text, f"{FOLDER}/{rule.code}.md", "diagnostics", group)


def _message(page: Explained) -> str:
    """What the compiler says to the example."""
    file = MESSAGES / f"test_bad_example_gives_the_code_and_the_text[{page.code}].txt"
    if not file.exists():
        raise SiteError(
            f"{file.relative_to(ROOT)} is missing: run the tests of tests/diagnostics with --snapshot-update"
        )
    return f"\nThe compiler says:\n\n```text\n{file.read_text(encoding='utf-8').rstrip()}\n```\n"

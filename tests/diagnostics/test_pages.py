"""Every rule has a page, and what the page says is true: its bad spec gives the rule, its good spec is clean."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.pages import (
    FOLDER,
    Example,
    Page,
    PageError,
    find_rule,
    load_page,
    parse_page,
    suggest_rule,
)
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.diagnostics.render import render

PAGES = {path.stem: parse_page(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md"))}
WITH_EXAMPLE = [page for page in PAGES.values() if page.without_example is None]


def run(page: Page, example: Example | None) -> list[Diagnostic]:
    """What the page's command finds in an example."""
    assert example is not None
    driver = import_module("pypto_spec.driver")
    command = cast(Callable[[str, str], list[Diagnostic]], getattr(driver, f"{page.command}_text"))
    return command(example.text, f"{page.name}.{example.kind}")


@pytest.mark.parametrize("code", sorted(all_rules()))
def test_every_rule_has_a_page(code: str) -> None:
    assert code in PAGES, f"write pypto_spec/diagnostics/pages/{code}.md"


@pytest.mark.parametrize(("code", "page"), PAGES.items(), ids=PAGES)
def test_every_page_has_a_rule(code: str, page: Page) -> None:
    rule = all_rules().get(code)
    assert rule is not None
    assert (page.code, page.name) == (rule.code, rule.name)


@pytest.mark.parametrize("page", WITH_EXAMPLE, ids=lambda page: page.code)
def test_bad_example_gives_the_code_and_the_text(page: Page, text_snapshot: SnapshotAssertion) -> None:
    found = run(page, page.bad)
    assert {d.rule.code for d in found} == {page.code}
    assert render(found) == text_snapshot


@pytest.mark.parametrize("page", WITH_EXAMPLE, ids=lambda page: page.code)
def test_good_example_is_clean(page: Page) -> None:
    found = run(page, page.good)
    assert [d for d in found if d.level is Severity.ERROR or d.rule.code == page.code] == []


def test_rules_are_found_by_code_and_by_name_in_any_case() -> None:
    assert find_rule("ps4001") is find_rule("Memory-Overflow") is all_rules()["PS4001"]
    assert find_rule("memory") is None
    assert suggest_rule("memory-overflw") == "did you mean `memory-overflow`?"


def test_pages_are_loaded_without_their_remarks() -> None:
    page = load_page("PS9001")
    assert page is not None
    assert page.bad is None
    assert page.without_example
    assert "<!--" not in page.text
    assert load_page("PS0000") is None


GOOD_FORM = """# PS1: a-name
<!-- command: build -->

## What it means

x

## Why

y

## Example

```toml
spec = 1
```

## Use instead

```yaml
spec: v1
```
"""


def test_form_of_a_page() -> None:
    page = parse_page(GOOD_FORM)
    assert (page.code, page.name, page.command) == ("PS1", "a-name", "build")
    assert page.bad == Example("toml", "spec = 1\n")
    assert page.good == Example("yaml", "spec: v1\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# PS1: a-name", "PS1", "starts with"),
        ("command: build", "command: run", "not one of check, build, test"),
        ("command: build", "example: none", "`none` and a reason"),
        ("## Why\n\ny", "", "`## Why` is missing"),
        ("spec: v1\n```", "spec: v1", "holds 0"),
        ("```toml\nspec = 1\n```", "```toml\nspec = 1\n```\n```yaml\n```", "holds 2"),
    ],
)
def test_malformed_pages_are_refused(old: str, new: str, message: str) -> None:
    assert old in GOOD_FORM
    with pytest.raises(PageError, match=message):
        parse_page(GOOD_FORM.replace(old, new))

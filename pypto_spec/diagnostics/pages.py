"""The page of a rule: what `pypto-spec explain` prints, and the specs on it that the tests run.

A page is `pages/CODE.md`:

    # CODE: name
    <!-- command: build -->          (optional; the command that reports the rule: check, build or test)
    <!-- example: none REASON -->    (instead of the two specs, for what no spec can bring about)
    ## What it means
    ## Why
    ## Example                       (holds one ```yaml or ```toml block, which gives exactly this code)
    ## Use instead                   (holds one such block, which has no errors)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pypto_spec.diagnostics.model import Rule
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.records import dataclass

FOLDER: Final = Path(__file__).with_name("pages")
COMMANDS: Final = ("check", "build", "test")

_TITLE = re.compile(r"# (\S+): (\S+)")
_REMARK = re.compile(r"<!-- (command|example): (.+?) -->")
_FENCE = re.compile(r"^```(yaml|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class PageError(ValueError):
    """A page that does not have the form above; the message says where. A bug of ours, found by the tests."""


@dataclass(frozen=True, slots=True)
class Example:
    """A whole spec on a page; `kind` is `yaml` or `toml`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what its remarks say.

    `text` is Markdown without the remarks. `bad` and `good` are None exactly when `without_example` gives a reason.
    """

    code: str
    name: str
    text: str
    command: str
    bad: Example | None
    good: Example | None
    without_example: str | None


def find_rule(word: str) -> Rule | None:
    """The rule with this code or name, in any case; None if there is none."""
    wanted = word.strip().casefold()
    for rule in all_rules().values():
        if wanted in (rule.code.casefold(), rule.name.casefold()):
            return rule
    return None


def suggest_rule(word: str) -> str | None:
    """The "did you mean" sentence for a word that is no code and no name; None where nothing is near."""
    rules = all_rules().values()
    return did_you_mean(word, [rule.code for rule in rules] + [rule.name for rule in rules])


def load_page(code: str) -> Page | None:
    """The page of a code, or None where none is written. A malformed page is a `PageError`."""
    try:
        text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return parse_page(text)


def parse_page(text: str) -> Page:
    """A page from its Markdown; `PageError` where it does not have the form of a page."""
    title = _TITLE.match(text)
    if title is None:
        raise PageError("a page starts with `# CODE: name`")
    remarks = dict(_REMARK.findall(text))
    command = remarks.get("command", "check")
    if command not in COMMANDS:
        raise PageError(f"`{command}` is not one of {', '.join(COMMANDS)}")
    without = remarks.get("example")
    if without is not None and not (without.startswith("none ") and without[5:].strip()):
        raise PageError("`example` can only be `none` and a reason")
    sections = _sections(text)
    required = ["What it means", "Why"] + ([] if without else ["Example", "Use instead"])
    missing = [name for name in required if not sections.get(name, "").strip()]
    if missing:
        raise PageError(f"section `## {missing[0]}` is missing or empty")
    return Page(
        code=title[1],
        name=title[2],
        text=re.sub(r"\n{3,}", "\n\n", _REMARK.sub("", text)).strip() + "\n",
        command=command,
        bad=None if without else _example("Example", sections["Example"]),
        good=None if without else _example("Use instead", sections["Use instead"]),
        without_example=without[5:].strip() if without else None,
    )


def _sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _example(section: str, text: str) -> Example:
    blocks = _FENCE.findall(text)
    if len(blocks) != 1:
        raise PageError(f"section `## {section}` holds {len(blocks)} yaml or toml blocks; it must hold one")
    kind, body = blocks[0]
    return Example(kind, body)

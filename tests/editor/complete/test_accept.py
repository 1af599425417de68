"""A text with a proposal in it can be read, and lacks nothing but values."""

from __future__ import annotations

import re

import pytest

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.rules.syntax import MISSING_KEY
from pypto_spec.diagnostics.rules.variants import NO_VARIANTS
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.models.document import load_document
from tests.editor.complete.asking import BODY, HEAD, TOML, accept, ask

S = HEAD + BODY
T = TOML + "]\n"

YAML_PLACES = [
    "|", "spec: v1\nname: a\n|\n", HEAD + "|\n", HEAD + "target: {|}\n", HEAD + "target:\n  |\n",
    HEAD + "golden:\n  |\n",
    HEAD + "golden: {|}\n", HEAD + "golden: {expect: {|}}\n", HEAD + "golden:\n  expect:\n    |\n",
    HEAD + "golden: {inputs: {|}}\n", HEAD + "golden: {sizes: [{|}]}\n", HEAD + "golden: {tolerance: {|}}\n",
    HEAD + "diagnostics:\n  |\n", HEAD + "variants:\n  |\n", HEAD + "variants: {matrix: {|}}\n",
    HEAD.replace("ub: {memory: vec, slots: 2}", "ub: {|}"), HEAD.replace("{M: {min: 1}}", "{M: {|}}"),
    HEAD.replace("  out: {", "  y: |\n  out: {"), HEAD.replace("  out: {", "  y:\n    |\n  out: {"),
    HEAD.replace("  norm: {args", "  other:\n    |\n  norm: {args"),
    HEAD + "  - |\n", HEAD + "  |\n", HEAD + "    |\n", HEAD + "        |\n", S + "- |\n", S + "|\n", S + "- {|}\n",
    S + "- if: i > 1\n" + BODY + "  then:\n" + BODY + "    - |\n", S + "- if: i > 1\n" + BODY + "  |\n",
    HEAD + "  - region: q\n    body: [|]\n",
    *(f"{S}- {word}: {{|}}\n" for word in ("load", "store", "for", "pipeline", "matmul", "full", "debug")),
    *(f"{S}- {word}: {{|}}\n" for word in ("call", "alloc", "set_flag")),
    *(f"{S}- {word}:\n{BODY}    |\n" for word in ("load", "select", "cast")),
]  # fmt: skip
TOML_PLACES = [
    "|", "name = 'a'\n|\n", "|\nname = 'a'\n", T + "|\n", T + "[target]\n|\n", T + "[golden]\n|\n",
    T + "[golden.expect]\n|\n",
    T + "[golden]\nexpect = { | }\n", T + "[buffers.b]\n|\n", T + "[buffers]\nb = |\n", T + "[buffers]\nb = { | }\n",
    T + "[diagnostics]\n|\n", T + "[tensors.y]\n|\n", T + "[symbols]\nM = { | }\n", T + "[[program]]\n|\n",
    T + "[[program]]\nregion = 'q'\nbody = []\n|\n", T + "[[program]]\nregion = 'q'\n[[program.body]]\n|\n",
    TOML + "  |\n]\n", TOML + "  { | }\n]\n", TOML + "  { load = { | } }\n]\n",
    TOML + "  { for = { index = 'i', count = 2 }, | }\n]\n",
]  # fmt: skip

LACKS = re.compile(
    r"found nothing|found 0|found an empty text|is empty|ends too early|`` is not spelt|has no keyword"
    r"|there is no diagnostic ``|of names, found a single value|is a mapping with a `matrix`"
    r"|is a mapping of constants to lists|is a list of values"
)


def findings(name: str, text: str) -> list[Diagnostic]:
    """What the loader says of a text."""
    try:
        load_document(Source(name, text))
    except CompileError as error:
        return list(error.diagnostics)
    return []


def _lacks(finding: Diagnostic) -> bool:
    """Whether it is about something that is not written yet."""
    return finding.rule in (MISSING_KEY, NO_VARIANTS) or bool(LACKS.search(finding.message))


@pytest.mark.parametrize(
    ("name", "text"),
    [*(("a.yaml", text) for text in YAML_PLACES), *(("a.toml", text) for text in TOML_PLACES)],
    ids=lambda text: text.removeprefix(HEAD).removeprefix(TOML).strip()[-40:] or "head",
)
def test_what_is_accepted_lacks_values_at_most(name: str, text: str) -> None:
    at = text.index("|")
    before = text[:at] + text[at + 1 :]
    known = {(finding.rule.code, finding.message) for finding in findings(name, before)}
    proposals = ask(text, name)
    assert proposals
    for item in proposals[:60]:
        found = [f for f in findings(name, accept(before, item)) if (f.rule.code, f.message) not in known]
        wrong = [f"{item.label}: {f.rule.code} {f.message}" for f in found if not _lacks(f)]
        assert not wrong, accept(before, item)[-300:]

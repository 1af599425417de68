"""What the documentation takes from the code is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pypto_spec.ops.reference import page
from pypto_spec.ops.reference_examples import EXAMPLES, example
from pypto_spec.ops.registry import OPS
from tests.docs.generated import BLOCK, DOCS, SECTIONS, finding_kinds, pages, renewed

HINT = "run `python -m tests.docs.generated`"


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.name)
def test_generated_parts_are_those_of_the_code(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == (page() if path.name == "ops.md" else renewed(text)), HINT


def test_every_generated_part_stands_somewhere() -> None:
    used = {m[1] for path in pages() for m in BLOCK.finditer(path.read_text(encoding="utf-8"))}
    assert used == set(SECTIONS)


def test_every_operator_has_an_entry_and_an_example() -> None:
    text = (DOCS / "ops.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^### (.+)$", text, re.MULTILINE)) == sorted(OPS)
    assert set(EXAMPLES) <= set(OPS)
    for defn in OPS.values():
        assert example(defn).defn is defn


def test_every_finding_of_the_host_model_is_described() -> None:
    text = (DOCS / "host-model.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    assert described == finding_kinds()


def test_no_page_is_forgotten() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for path in DOCS.glob("*.md"):
        assert f"docs/{path.name}" in readme, f"README.md does not mention docs/{path.name}"

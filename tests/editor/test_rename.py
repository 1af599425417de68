"""Renaming: the kernel stays what it is, and a name that cannot be is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.editor import names
from pypto_spec.editor.document import open_document
from pypto_spec.editor.names import RenameError
from pypto_spec.ir.nodes import Dump, Program
from pypto_spec.passes.base import Pass
from tests.editor.gallery import gallery, specs
from tests.editor.kernels import fresh, printed, same_up_to
from tests.editor.places import edited, place
from tests.editor.test_names import SPEC


def renamed(name: str, text: str, number: int, new: str | None = None) -> tuple[str, str, str]:
    """A text after the binding of a number got a fresh name, or `new`; the old name and the new one."""
    document = open_document(name, text)
    index = names.index(document)
    binding = index.bindings[number]
    new = fresh(index, binding) if new is None else new
    return edited(text, names.rename(document, binding.uses[-1].start, new)), binding.name, new


def check_all(name: str, text: str) -> None:
    """Rename every binding of a spec, each on top of the others, compare the kernels, and rename all back."""
    before = printed(name, text)
    changed: dict[str, set[str]] = {}
    done: list[tuple[str, str]] = []
    now = text
    for number in range(len(names.index(open_document(name, text)).bindings)):
        after, old, new = renamed(name, now, number)
        changed.setdefault(old, set()).add(new)
        done.append((now, old))
        now = after
    assert same_up_to(before, printed(name, now), changed) == ""
    for number in reversed(range(len(done))):
        now, _, _ = renamed(name, now, number, done[number][1])
        assert now == done[number][0]
    assert now == text


@pytest.mark.parametrize("name", gallery())
def test_renaming_everything_keeps_the_kernel(name: str) -> None:
    check_all(name, gallery()[name])


def test_a_difference_would_be_seen() -> None:
    name = "norms/layernorm.yaml"
    before = printed(name, gallery()[name])
    assert same_up_to(before, before, {}) == ""
    wrong = [re.sub(r"\bx\b", "out", text, count=2) for text in before]
    assert same_up_to(before, wrong, {}) != ""


@pytest.mark.long
@pytest.mark.parametrize("name", specs())
def test_renaming_one_by_one_keeps_the_kernel(name: str) -> None:
    text = specs()[name]
    before = printed(name, text)
    for number in range(len(names.index(open_document(name, text)).bindings)):
        after, old, new = renamed(name, text, number)
        assert same_up_to(before, printed(name, after), {old: {new}}) == "", old


@pytest.mark.long
@pytest.mark.parametrize("name", gallery())
def test_dumps_are_indexed_and_renamed(name: str) -> None:
    stages: list[tuple[str | None, Program]] = []

    def keep(step: Pass | None, program: Program) -> None:
        stages.append((step.name if step is not None else None, program))

    compile_source(Source(name, gallery()[name]), on_pass=keep)
    for step, program in stages:
        text = to_spec(replace(program, dump=Dump(step, name, "0" * 64)) if step is not None else program)
        index = names.index(open_document("dump.yaml", text))
        assert [u.text for u in index.unknown if not u.word] == []
    for step, program in (stages[len(stages) // 2], stages[-1]):
        assert step is not None
        text = to_spec(replace(program, dump=Dump(step, name, "0" * 64)))
        before = printed("dump.yaml", text)
        for number in range(len(names.index(open_document("dump.yaml", text)).bindings)):
            after, old, new = renamed("dump.yaml", text, number)
            assert same_up_to(before, printed("dump.yaml", after), {old: {new}}) == "", (step, old)


DOCUMENT = open_document("a.yaml", SPEC)


@pytest.mark.parametrize(
    ("line", "word", "new", "said"),
    [
        ("constants:", "TR", "1x", "is no name"),
        ("constants:", "TR", "", "is no name"),
        ("constants:", "TR", "a b", "is no name"),
        ("constants:", "TR", "größe", "is no name"),
        ("constants:", "TR", "t.1", "is no name"),
        ("constants:", "TR", "x" * 101, "100 characters"),
        ("constants:", "TR", "and", "a word of formulas"),
        ("constants:", "TR", "inf", "a word of formulas"),
        ("constants:", "TR", "TC", "line 3 has a constant"),
        ("constants:", "TR", "w", "line 29 has a tile"),
        ("constants:", "TR", "rint", "a word in line 3"),
        ("constants:", "TR", "tanh", "a word in a formula"),
        ("  scaled:", "scaled", "exp", "a function of the language"),
        ("  scaled:", "scaled", "gelu", "a function of the language"),
        ("let: row", "row", "i", "an index"),
        ("let: row", "row", "out", "a tensor"),
        ("args: {v:", "v", "by", "an argument"),
        ("args: {v:", "v", "y", "a tile"),
        ("region: first", "first", "second", "a region"),
        ("region: first", "first", "done", "a region"),
        ("let: w", "gelu", "gelu2", "no name of the spec"),
        ("name: everything", "everything", "other", "no name of the spec"),
    ],
)
def test_refused(line: str, word: str, new: str, said: str) -> None:
    with pytest.raises(RenameError) as error:
        names.rename(DOCUMENT, place(SPEC, line, word), new)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("line", "word", "new"),
    [
        ("let: row", "row", "total"),  # a value of another region
        ("let: row", "row", "ub"),  # buffers have names of their own
        ("let: row", "row", "first"),  # and so have launches
        ("  ub:", "ub", "x"),
        ("let: row", "row", "row"),
    ],
)
def test_allowed(line: str, word: str, new: str) -> None:
    after = edited(SPEC, names.rename(DOCUMENT, place(SPEC, line, word), new))
    index = names.index(open_document("a.yaml", after))
    assert len(index.bindings) == len(names.index(DOCUMENT).bindings)
    assert len(index.uses) == len(names.index(DOCUMENT).uses)


def test_a_parameter_keeps_its_sign() -> None:
    after = edited(SPEC, names.rename(DOCUMENT, place(SPEC, "  x: {dtype", "kind"), "dt"))
    assert after.count("$dt") == 2
    assert "kind" not in after.replace("kind:", "")


def test_a_quoted_formula_is_edited_in_its_quotes() -> None:
    text = 'symbols:\n  "M": {min: 1}\ntensors:\n  x: {dtype: fp32, shape: ["\\x4d * 2", \'M\']}\n'
    found = names.rename(open_document("a.yaml", text), text.index("M"), "Rows")
    assert edited(text, found) == text.replace('"M"', '"Rows"').replace("\\x4d", "Rows").replace("'M'", "'Rows'")

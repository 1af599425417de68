"""TOML: the same tree, and every way a text can be wrong."""

from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.toml_loader import load_toml
from tests.spec.places import cut


def errors(text: str) -> list[Diagnostic]:
    with pytest.raises(CompileError) as caught:
        load_toml(Source("spec.toml", text))
    return list(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("a = 1\nb = 2\na = 3\n", "PS1004", "a"),
        ("[t]\na = 1\n[t]\nb = 2\n", "PS1004", "t"),
        ("x = {a = 1, a = 2}\n", "PS1004", "a"),
        ("a.b = 1\na.b.c = 2\n", "PS1004", "b"),
        ("[[t]]\n[t]\n", "PS1004", "t"),
        ("t = []\n[[t]]\n", "PS1003", None),
        ("a: 1\n", "PS1003", ":"),
        ("a = \n", "PS1003", ""),
        ("a = hello\n", "PS1003", "h"),
        ("中 = 1\n", "PS1003", "中"),
        ("a = 'x\n", "PS1003", None),
        ("a = 99999999999999999999\n", "PS1018", "99999999999999999999"),
        ("a = " + "9" * 5000, "PS1018", "9" * 5000),
        ("a = " + "[" * 500 + "]" * 500, "PS1009", ""),
        (".".join("a" * 500) + " = 1", "PS1009", ""),
        ("a = '\x07'\n", "PS1010", "\x07"),
    ],
)
def test_wrong_texts(text: str, code: str, under: str | None) -> None:
    (found,) = errors(text)
    assert found.rule.code == code
    assert found.helps
    if under is not None:
        assert cut(found.primary.span) == under


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "{b = " * 50_000,
        ".".join("a" * 50_000) + " = 1",
        "[" * 100_000,
        "a = '" + "x" * 10**6,
    ],
)
def test_hostile_texts_end_soon(text: str) -> None:
    start = time.process_time()
    assert errors(text)[0].rule.code in ("PS1009", "PS1003")
    assert time.process_time() - start < 10


ATOMS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.sampled_from(["true", "false", "1.5", "inf", "1979-05-27", "0x1F", "'中'", '"\\u4e2d🚀"', "'''\na\n'''"]),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"k{i} = {item}" for i, item in enumerate(items)) + "}"
        ),
    ),
    max_leaves=6,
)
HEADS = st.sampled_from(["", "[t]\n", "[t.u]\n", "[[l]]\n", "[[l.m]]\n", "['q.r'.s]\n"])
LINES = st.tuples(HEADS, st.sampled_from(["a", "b.c", "'d e'", "中" * 0 + "f", '"g"."h"']), VALUES)


@given(st.lists(LINES, max_size=5))
def test_same_data_as_tomllib(lines: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{head}{key} = {value}  # 中\n" for head, key, value in lines)
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert errors(text)
        return
    found = load_toml(Source("s.toml", text)).to_plain()
    assert str(found).replace("'1979-05-27'", "datetime.date(1979, 5, 27)") == str(expected)


@given(st.text(alphabet="ab=[]{}.,'\"\n #1-:中\\", max_size=50))
def test_no_text_brings_a_traceback(text: str) -> None:
    try:
        plain = load_toml(Source("s.toml", text)).to_plain()
    except CompileError as error:
        found = error.diagnostics
    else:
        assert plain == tomllib.loads(text)
        return
    assert all(d.helps for d in found)

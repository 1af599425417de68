"""YAML: the 1.2 core schema, and every way a text can be wrong."""

from __future__ import annotations

import math
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.limits import MAX_TEXT
from pypto_spec.spec.reader import decode
from pypto_spec.spec.yaml_loader import load_yaml
from tests.spec.places import cut


def errors(text: str, *, pure: bool = False) -> list[Diagnostic]:
    with pytest.raises(CompileError) as caught:
        load_yaml(Source("spec.yaml", text), pure=pure)
    return list(caught.value.diagnostics)


def outcome(text: str, *, pure: bool = False) -> list[object]:
    """The data, or the codes of the errors."""
    try:
        return [load_yaml(Source("s", text), pure=pure).to_plain()]
    except CompileError as error:
        found = error.diagnostics
    assert found
    assert all(diagnostic.helps for diagnostic in found)
    return [diagnostic.rule.code for diagnostic in found]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("off", "off"),
        ("Null", None),
        ("~", None),
        ("", None),
        ("nULL", "nULL"),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("010", 10),
        ("+7", 7),
        ("-0", 0),
        ("0x1F", 31),
        ("0o17", 15),
        ("0x", "0x"),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.inf", -math.inf),
        (".Inf", math.inf),
        ("1:30", "1:30"),
        ("2026-01-02", "2026-01-02"),
        ("1.2.3", "1.2.3"),
        ("'1'", "1"),
        ('"~"', "~"),
        ("!!str 1", "1"),
        ("!!int '7'", 7),
        ("!!float 1", 1.0),
        ("! 3", "3"),
        ("=", "="),
        ("9223372036854775807", 2**63 - 1),
    ],
)
@pytest.mark.parametrize("pure", [False, True])
def test_core_schema(text: str, value: object, pure: bool) -> None:
    found = load_yaml(Source("s", f"k: {text}\n"), pure=pure).to_plain()["k"]
    assert found == value
    assert type(found) is type(value)


def test_nan() -> None:
    found = load_yaml(Source("s", "k: .NaN")).to_plain()["k"]
    assert isinstance(found, float)
    assert math.isnan(found)


# text, code, the text under the primary span, a piece of the message or of a help
WRONG = [
    ("a: 1\nb: 2\na: 3\n", "PS1004", "a", "given twice"),
    ("x: {a: 1, 'a': 2}\n", "PS1004", "'a'", "given twice"),
    ("\ta: 1\n", "PS1005", "\t", "blanks"),
    ("a:\n\tb: 1\n", "PS1005", "\t", "blanks"),
    ("a:\tb\n", "PS1005", "\t", "blanks"),
    ("a: [1,\t2]\n", "PS1005", "\t", "blanks"),
    ("a: b\tc\n", "PS1005", "\t", "blanks"),
    ("a\tb: c\n", "PS1005", "\t", "blanks"),
    ("a: &x [1, {b: *x}]\n", "PS1006", "*x", "contains itself"),
    ("a: !thing 1\n", "PS1007", "!thing", "means nothing"),
    ("a: !!python/object/apply:os.system [ls]\n", "PS1007", "!!python/object/apply:os.system", "means nothing"),
    ("a: !!set {b}\n", "PS1007", "!!set", "means nothing"),
    ("a: 1\n---\nb: 2\n", "PS1008", "---", "second YAML document"),
    ("a: " + "[" * 201 + "]" * 201, "PS1009", "[", "200 levels"),
    ("a: \x07\n", "PS1010", "\x07", "U+0007"),
    ("a: b\0c\n", "PS1010", "\0", "U+0000"),
    ("k:\n  - let: s = k[a : b, :]\n", "PS1011", "s = k[a : b, :]", '`let: "s = k[a : b, :]"`'),
    ("k:\n  - let: s = k[a : b, :] # why\n", "PS1011", "s = k[a : b, :]", "`s = k[a:b, :]`"),
    ("about: one: two\n", "PS1011", "one: two", '"one: two"'),
    ("v: [min(TR, M - i * TR), TC]\n", "PS1011", "min(TR, M - i * TR)", '"min(TR, M - i * TR)"'),
    ("v: [a, max(b, min(c, d)) + 1, e]\n", "PS1011", "max(b, min(c, d)) + 1", "quote it"),
    ("v: {w: min(a, b), x: 1}\n", "PS1011", "min(a, b)", "quote it"),
    ("v: [k[0, 1], 2]\n", "PS1011", "k[0, 1]", "quote it"),
    ("v: {w: k[0, 1] + f(2), x: 1}\n", "PS1011", "k[0, 1] + f(2)", "quote it"),
    ("v: [f(k[0, 1]), 2]\n", "PS1011", "f(k[0, 1])", "quote it"),
    ("size: &size 1\na: *sise\n", "PS1012", "*sise", "did you mean `*size`?"),
    ("a: *\n", "PS1002", "", "name must follow"),
    ("?\n: 1\n", "PS1013", "\n", "key is missing"),
    ("? [a]\n: 1\n", "PS1013", "[a]", "a key is a word"),
    ("a: {<<: 3}\n", "PS1013", "3", "merges mappings"),
    ("", "PS1014", "", "found nothing"),
    ("# only a remark\n", "PS1014", "", "found nothing"),
    ("- a\n", "PS1014", "- a", "found a list"),
    ("a: !!int x\n", "PS1014", "!!int x", "not a int"),
    ("a: 9223372036854775808\n", "PS1018", "9223372036854775808", "64 bits"),
    ("a: 'b\n", "PS1002", "'", "never closed"),
    ("a: [1, 2\nb: 3\n", "PS1002", "[", "missing"),
    ("a: 1\n  b: 2\n", "PS1002", ":", "cannot stand"),
    ("a:\n    b: 1\n  c: 2\n", "PS1002", "c", "indent"),
    ('a: "\\q"\n', "PS1002", "\\", "escape"),
    ("a: @b\n", "PS1002", "@", "cannot start"),
    ("%YAML 3.0\n---\na: 1\n", "PS1002", "%", "version"),
]


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize(("text", "code", "under", "words"), WRONG)
def test_wrong_texts(text: str, code: str, under: str, words: str, pure: bool) -> None:
    (found,) = errors(text, pure=pure)
    assert found.rule.code == code
    assert words in " ".join([found.message, *found.helps])
    if not pure or code != "PS1002":
        assert cut(found.primary.span) == under


@pytest.mark.parametrize("text", [text for text, code, _, _ in WRONG if code == "PS1011"])
def test_the_fix_of_an_unquoted_expression_loads(text: str) -> None:
    (found,) = errors(text)
    (fix,) = found.fixes
    span = fix.span
    starts = span.source.line_starts()
    begin, end = starts[span.line - 1] + span.col - 1, starts[span.end_line - 1] + span.end_col - 1
    repaired = text[:begin] + fix.replacement + text[end:]
    assert "'" + cut(span) + "'" in repr(load_yaml(Source("s", repaired)).to_plain())


def test_several_errors_come_together() -> None:
    found = errors("a: 1\na: 2\nb: !x 3\nc: *d\ne: {f: 99999999999999999999, f: 1}\n")
    assert [d.rule.code for d in found] == ["PS1004", "PS1007", "PS1012", "PS1018", "PS1004"]


def test_merges_and_tabs_in_scalars_are_fine() -> None:
    text = "a: &a {x: 1, y: 2}\nb:\n  <<: [*a, {y: 3, z: 4}]\n  x: 0\nc: 'p\tq'\nd: r s #\tt\n#\t\ne: |\n  u\tv\n"
    plain = load_yaml(Source("s", text)).to_plain()
    assert plain["b"] == {"x": 0, "y": 2, "z": 4}
    assert (plain["c"], plain["d"], plain["e"]) == ("p\tq", "r s", "u\tv\n")


def test_own_keys_are_not_part_of_the_data() -> None:
    root = load_yaml(Source("s", "x-base: &b {p: 1, x-note: 2}\nq: *b\n"))
    assert root.to_plain() == {"q": {"p": 1}}
    assert "x-base" in root


def test_alias_bomb() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
    )
    start = time.process_time()
    (found,) = errors(text)
    assert found.rule.code == "PS1009"
    assert time.process_time() - start < 5


def test_aliases_nest_no_deeper_than_text() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 400))
    assert [d.rule.code for d in errors(text)] == ["PS1009"]


@pytest.mark.parametrize("text", ["a: " + "[" * 100_000, "{a: " * 100_000, "- " * 100_000, "a: " + "x" * 1_000_000])
def test_hostile_texts_end_soon(text: str) -> None:
    start = time.process_time()
    assert outcome(text)[0] in ("PS1009", "PS1002", {"a": "x" * 1_000_000})
    assert time.process_time() - start < 5


def test_size_limit() -> None:
    assert [d.rule.code for d in errors("a" * (MAX_TEXT + 1))] == ["PS1009"]


@pytest.mark.parametrize(
    ("data", "line", "col"),
    [(b"a: 1\nb: \xc3\xa9\xff\n", 2, 5), (b"\xef\xbb\xbfa: \xe4\xb8", 1, 4), (b"\xff\xfea\0", 1, 1)],
)
def test_bytes_that_are_not_utf8(data: bytes, line: int, col: int) -> None:
    with pytest.raises(CompileError) as caught:
        decode("s", data)
    (found,) = caught.value.diagnostics
    assert found.rule.code == "PS1010"
    assert found.primary.span.start == (line, col)


def test_byte_order_mark_is_dropped() -> None:
    assert decode("s", b"\xef\xbb\xbfa: 1").text == "a: 1"


@given(st.text(alphabet="ab: -[]{},#&*!|>'\"%@\n\t\r 1()中", max_size=60))
def test_no_text_brings_a_traceback(text: str) -> None:
    fast, pure = outcome(text), outcome(text, pure=True)
    assert (fast == pure) or (isinstance(fast[0], str) and isinstance(pure[0], str)), text


def test_the_pure_parser_serves_without_the_c_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert load_yaml(Source("s", "a: [1, '中']")).to_plain() == {"a": [1, "中"]}

"""`-D` options and the files behind `-D @FILE`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pypto_spec.driver.defines import defines_text, parse_defines, read_defines
from pypto_spec.driver.inputs import UsageError
from pypto_spec.driver.tuning.space import plain


def test_the_last_of_several_counts() -> None:
    assert parse_defines(["A=1", "B = x=y", "A=2"]) == {"A": "2", "B": "x=y"}
    for word in ("A", "=1", " =1"):
        with pytest.raises(UsageError, match="write -D NAME=VALUE, or -D @FILE"):
            parse_defines([word])


def test_a_file_stands_where_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "k.defines"
    file.write_text("# a comment\nTR: 64\nmode: rint\n")
    assert parse_defines(["TR=1", f"@{file}"]) == {"TR": "64", "mode": "rint"}
    assert parse_defines([f"@{file}", "TR=1"]) == {"TR": "1", "mode": "rint"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k.defines", "{A: 64, B: 2.5, C: true, D: rint, E: R // 2, F: 'min(R, 8)'}"),
        ("k.toml", 'A = 64\nB = 2.5\nC = true\nD = "rint"\nE = "R // 2"\nF = "min(R, 8)"\n'),
        ("k.defines", "\ufeffA: 0x40\r\nB: 2.5\r\nC: true\r\nD: rint\r\nE: R // 2\r\nF: min(R, 8)\r\n"),
        ("k.toml", 'A = 0b100_0000\nB = 2.5\nC = true\nD = "rint"\nE = "R // 2"\nF = "min(R, 8)"\n'),
    ],
)
def test_values_are_texts(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert read_defines(str(tmp_path / name)) == {
        "A": "64", "B": "2.5", "C": "true", "D": "rint", "E": "R // 2", "F": "min(R, 8)",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"TR: 64\nTR: 32\n", "k.defines:2:1: "),
        (b"TR: [64, 32]\n", "k.defines:1:1: `TR` has one value, found a list; "),
        (b"TR: 64\nmode:\n", "k.defines:2:1: `mode` has one value, found nothing; "),
        (b"- TR\n", "k.defines:1:1: there are no defines in it; "),
        (b"# only a comment\n", "there are no defines in it; "),
        (b"{}\n", "k.defines:1:1: there are no defines in it; "),
        (b"", "there are no defines in it; "),
        (b"TR: 64\n  x: {\n", "k.defines:2:"),
        (b"TR: !!int x\n", "k.defines:1:"),
        (b"TR: \xff\n", "k.defines:1:5: byte 0xff is not UTF-8 text; "),
        (b"\xff\xfeT\x00", "k.defines:1:1: the file is UTF-16"),
        (b"TR: \x00\n", "k.defines:1:5: "),
        (b"TR: *x\n", "k.defines:1:5: "),
    ],
)
def test_mistakes_in_a_file_have_a_line_and_a_way_out(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.defines").write_bytes(data)
    with pytest.raises(UsageError) as caught:
        parse_defines(["@k.defines"])
    assert message in str(caught.value)
    assert all("; " in line for line in str(caught.value).splitlines())
    assert "a spec is a mapping" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for word, said in (
        ("@", "name the file"),
        (f"@{tmp_path}", "is a directory"),
        (f"@{tmp_path}/none", "there is no such file; `pypto-spec tune` writes one"),
        ("@a\0b", "cannot read it"),
    ):
        with pytest.raises(UsageError, match=said):
            parse_defines([word])


@given(st.text(min_size=1, max_size=20))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    assume(plain(text) is not None)
    assume(not any(0xD800 <= ord(sign) <= 0xDFFF for sign in text))
    file = tmp_path_factory.mktemp("d") / "k.defines"
    file.write_text(defines_text({"A": text, "B": "1"}, ["where it comes from"]), encoding="utf-8", newline="")
    found = read_defines(str(file))
    assert list(found) == ["A", "B"]
    assert found["A"] == text or (plain(found["A"]) == plain(text) and not isinstance(plain(text), str))


def test_the_form_of_a_file() -> None:
    made = defines_text({"TR": "64", "mode": "rint", "half": "R // 2", "low": "-1.5", "odd": "a: b"}, ["one", "two"])
    assert made == '# one\n# two\nTR: 64\nmode: rint\nhalf: R // 2\nlow: -1.5\nodd: "a: b"\n'

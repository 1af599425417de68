"""The schema in the TOML servers, tombi and taplo.

Limits of the servers: tombi names the pattern that a misspelt key would have to match, and proposes all keys of a
statement at once. taplo proposes nothing inside tables in lists, marks all keys of the table that a misspelt one
stands in, and says `anyOf` where words were expected; its own distribution on PyPI starts no server, so that the one
from npm is run, with `taplo.mjs` between it and the streams.
"""

from __future__ import annotations

import pytest

from pypto_spec.ir.dtype import DTYPES
from pypto_spec.spec.models.fields import MEMORY_WORDS
from pypto_spec.spec.models.keywords import default_table
from tests.servers.conftest import ROOT
from tests.servers.editor import CURSOR, Editor, Problem

HEAD = '#:schema ../../pypto_spec/spec/schema.json\nspec = "v1"\nname = "a"\n'
LOAD = 'load = { into = "t", from = "a", at = [0, 0], shape = [1, 1] }'
SQUARE = (ROOT / "specs" / "vector" / "square.toml").read_text(encoding="utf-8")
GALLERY = sorted((ROOT / "specs").rglob("*.toml"))


def body(statement: str) -> str:
    """A spec with one region of one statement."""
    return f'{HEAD}[[program]]\nregion = "r"\nbody = [\n  {{ {statement} }},\n]\n'


def test_every_gallery_file_is_clean(tombi_editor: Editor, taplo_editor: Editor) -> None:
    texts = [path.read_text(encoding="utf-8") for path in GALLERY]
    assert texts
    assert tombi_editor.problems_of(texts) == [[]] * len(texts)
    assert taplo_editor.problems_of(texts) == [[]] * len(texts)


def test_tombi_proposes_keys(tombi_editor: Editor) -> None:
    assert "tensors" in tombi_editor.labels(f"{HEAD}{CURSOR}\n")
    assert tombi_editor.labels(f"{HEAD}te{CURSOR}\n") == ["tensors"]
    assert tombi_editor.labels(f"{HEAD}[te{CURSOR}]\n") == ["tensors"]
    assert tombi_editor.labels(f"{HEAD}[[program]]\nre{CURSOR}\n") == ["region", "results"]
    assert tombi_editor.labels(body(f"lo{CURSOR}")) == ["load", "log"]
    names = {keyword.name for keyword in default_table() if not keyword.reserved}
    assert names <= set(tombi_editor.labels(body(CURSOR)))


def test_tombi_proposes_fields_and_words(tombi_editor: Editor) -> None:
    fields = tombi_editor.labels(body(f"load = {{ {CURSOR} }}"))
    assert fields[:9] == ["into", "from", "at", "shape", "valid", "memory", "layout", "buffer", "slot"]
    assert tombi_editor.labels(body(f'load = {{ into = "t", fr{CURSOR} }}')) == ["from"]
    words = tombi_editor.labels(body(f'load = {{ into = "t", memory = "{CURSOR}" }}'))
    assert words == [f'"{word}"' for word in MEMORY_WORDS]
    for text in (f'[tensors]\na = {{ dtype = "{CURSOR}" }}\n', f'[tensors.a]\ndtype = "{CURSOR}"\n'):
        assert tombi_editor.labels(HEAD + text) == [f'"{word}"' for word in DTYPES]


KEY = "key must match the pattern `^x-`"
PROBLEMS = {
    f"{HEAD}tensor = {{}}\nprogram = []\n": [Problem(4, "tensor", KEY)],
    body(LOAD.replace("load", "lod")): [Problem(7, "lod", KEY)],
    body(LOAD.replace("] }", '], memry = "vec" }')): [Problem(7, "memry", KEY)],
    body(LOAD.replace("] }", '], memory = "ub" }')): [
        Problem(
            7,
            '"ub"',
            'the value must be one of ["vec", "mat", "left", "right", "acc", "bias"], but found "ub"',
        )
    ],
    body(LOAD.replace("[0, 0]", "0")): [Problem(7, "0", "expected a value of type Array, but found Integer")],
    body('load = "t"'): [Problem(7, '"t"', "expected a value of type Table, but found String")],
    f'{HEAD}target = "a9"\nprogram = []\n': [
        Problem(4, '"a9"', 'the value must be one of ["a2a3", "a5"], but found "a9"')
    ],
    f'{HEAD}tensors.a = {{ dtype = "fp33", shape = [1] }}\nprogram = []\n': [
        Problem(
            4,
            '"fp33"',
            f'the value must be one of [{", ".join(f"{chr(34)}{w}{chr(34)}" for w in DTYPES)}], but found "fp33"',
        )
    ],
    f"{HEAD}[[program]]\n{LOAD}\n": [Problem(5, "load", KEY)],
}


def test_tombi_says_one_thing_for_each_mistake(tombi_editor: Editor) -> None:
    found = dict(zip(PROBLEMS, tombi_editor.problems_of(list(PROBLEMS)), strict=True))
    assert found == PROBLEMS


def test_tombi_takes_parameters(tombi_editor: Editor) -> None:
    assert tombi_editor.problems(body(LOAD.replace("] }", '], memory = "$where" }'))) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (body(LOAD.replace("load", f"lo{CURSOR}ad")), ["#### load: {into, from, at, shape}", "copy a window"]),
        (body(LOAD.replace("into", f"in{CURSOR}to")), ["name of the result"]),
        (body(LOAD.replace("] }", f'], me{CURSOR}mory = "vec" }}')), ["where the tile lives", '- `"vec"`\n- `"mat"`']),
        (f'{HEAD}[ten{CURSOR}sors]\na = {{ dtype = "fp32", shape = [1] }}\n', ["the program's arguments in order"]),
    ],
)
def test_tombi_hover(tombi_editor: Editor, text: str, words: list[str]) -> None:
    shown = tombi_editor.hover(text)
    assert [word for word in words if word not in shown] == [], shown


def _labels(editor: Editor, text: str) -> set[str]:
    result = editor._ask("textDocument/completion", text)
    return {item["label"] for item in result}  # taplo proposes a key once for each form of its value


def test_taplo_proposes_keys_and_words(taplo_editor: Editor) -> None:
    assert {"tensors", "target", "program", "golden.expect"} <= _labels(taplo_editor, f"{HEAD}{CURSOR}\n")
    keys = _labels(taplo_editor, f"{HEAD}[[program]]\n{CURSOR}\n")
    assert {"region", "for", "parallel", "spmd", "if", "body"} <= keys
    assert "load" not in keys
    assert {"dtype", "shape", "access"} <= _labels(taplo_editor, f"{HEAD}[tensors]\na = {{ {CURSOR} }}\n")
    words = _labels(taplo_editor, f'{HEAD}[tensors.a]\ndtype = "{CURSOR}"\n')
    assert {f'"{word}"' for word in DTYPES} <= words


def test_taplo_finds_mistakes_and_explains_keys(taplo_editor: Editor) -> None:
    (found,) = taplo_editor.problems(body(LOAD.replace("[0, 0]", "0")))
    assert found.message == '0 is not of type "array"'
    assert {p.message for p in taplo_editor.problems(body(LOAD.replace("load", "lod")))} == {
        "Additional properties are not allowed ('lod' was unexpected)"
    }
    assert len(taplo_editor.problems(f'{HEAD}tensors.a = {{ dtype = "fp33", shape = [1] }}\nprogram = []\n')) == 1
    hover = taplo_editor.hover(f'{HEAD}[ten{CURSOR}sors]\na = {{ dtype = "fp32", shape = [1] }}\n')
    assert "the program's arguments in order" in hover

"""The schema in yaml-language-server: what is proposed, what hover says, and what is said about mistakes.

A known limit of the server: it proposes nothing in a flow mapping before the first letter of a key.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.new import new_spec
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.spec.models.document import load_document
from pypto_spec.spec.models.fields import MEMORY_WORDS
from pypto_spec.spec.models.keywords import Keyword, default_table
from tests.servers.conftest import ROOT
from tests.servers.editor import CURSOR, Editor, Problem, accepted

HEAD = "# yaml-language-server: $schema=../../pypto_spec/spec/schema.json\nspec: v1\nname: a\n"
BODY = f"{HEAD}program:\n  - region: r\n    body:\n      - "
LOAD = "load: {into: t, from: a, at: [0, 0], shape: [64, 128]}\n"
GALLERY = sorted((ROOT / "specs").rglob("*.yaml"))
WRITTEN = [keyword for keyword in default_table() if not keyword.reserved and keyword.name != "yield"]
"""The keywords that authors write."""


def test_every_gallery_file_is_clean(yaml_editor: Editor) -> None:
    texts = []
    for path in GALLERY:  # as if it stood beside those of `specs/vector`, which its modeline fits
        assert path.parent.parent == ROOT / "specs"
        texts.append(path.read_text(encoding="utf-8"))
    found = dict(zip(GALLERY, yaml_editor.problems_of(texts), strict=True))
    assert {path: problems for path, problems in found.items() if problems} == {}
    assert len(found) >= 69


def test_a_new_spec_leads_to_the_installed_schema(yaml_editor: Editor, tmp_path: Path) -> None:
    text = new_spec(str(tmp_path / "mine.kernel.yaml"), "softmax").read_text(encoding="utf-8")
    assert yaml_editor.problems(text) == []
    found = yaml_editor.problems(text.replace("into: t", "int: t"))
    assert [problem.marked for problem in found] == ["load", "int"]


def test_top_level_keys(yaml_editor: Editor) -> None:
    labels = yaml_editor.labels(f"{HEAD}{CURSOR}\n")
    whole = {"about", "target", "constants", "symbols", "scalars", "tensors", "buffers", "functions", "program"}
    whole |= {"golden", "diagnostics", "variants"}
    assert set(labels) == {*whole, "pypto-spec v1"}  # the last one inserts what is required
    assert set(yaml_editor.labels(f"{HEAD}te{CURSOR}\n")) == set(labels)


def test_program_proposes_what_may_stand_there(yaml_editor: Editor) -> None:
    labels = yaml_editor.labels(f"{HEAD}program:\n  - {CURSOR}\n")
    assert labels == [k.name for k in WRITTEN if "control" in k.planes]


@pytest.mark.parametrize("typed", ["", "lo"])
def test_a_body_proposes_each_keyword_and_nothing_else(yaml_editor: Editor, typed: str) -> None:
    assert yaml_editor.labels(f"{BODY}{typed}{CURSOR}\n") == [k.name for k in WRITTEN]


@pytest.mark.parametrize(
    ("statement", "labels"),
    [
        (LOAD, ["type", "allow"]),
        ("let: y = x\n", ["type", "allow"]),
        ("barrier: v\n", ["allow"]),
        ("if: i == 0\n", ["allow", "carry", "results", "then", "else", "yield", "what else it needs"]),
        ("for: {index: i, count: 2}\n", ["allow", "error", "carry", "results", "body", "yield", "what else it needs"]),
    ],
)
def test_beside_a_keyword_is_proposed_what_it_takes(yaml_editor: Editor, statement: str, labels: list[str]) -> None:
    assert sorted(yaml_editor.labels(f"{BODY}{statement}        {CURSOR}\n")) == sorted(labels)


def test_beside_a_region(yaml_editor: Editor) -> None:
    labels = yaml_editor.labels(f"{HEAD}program:\n  - region: r\n    {CURSOR}\n")
    assert labels == ["as", "after", "core", "blocks", "order", "allow", "body", "what else it needs"]


LOAD_FIELDS = ["into", "from", "at", "shape", "valid", "memory", "layout", "buffer", "slot"]


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        (f"\n          {CURSOR}\n", []),
        (f"\n          into: t\n          {CURSOR}\n", ["into"]),
        (f" {{i{CURSOR}}}\n", []),
        (f" {{into: t, f{CURSOR}}}\n", ["into"]),
    ],
)
def test_fields_of_load(yaml_editor: Editor, fields: str, written: list[str]) -> None:
    labels = yaml_editor.labels(f"{BODY}load:{fields}")
    whole = "load: {into, from, at, shape}"  # inserts all of these
    assert [label for label in labels if label != whole] == [name for name in LOAD_FIELDS if name not in written]
    assert whole in labels


@pytest.mark.parametrize("typed", ["", "v"])
def test_words_in_flow_and_in_block(yaml_editor: Editor, typed: str) -> None:
    memory = list(MEMORY_WORDS)
    flow = f"{BODY}load: {{into: t, memory: {typed}{CURSOR}, at: [0, 0]}}\n"
    block = f"{BODY}load:\n          into: t\n          memory: {typed}{CURSOR}\n"
    assert yaml_editor.labels(flow) == memory
    assert yaml_editor.labels(block) == memory
    assert yaml_editor.labels(f"{HEAD}tensors:\n  a: {{dtype: {CURSOR}}}\n") == list(DTYPES)
    assert yaml_editor.labels(f"{HEAD}tensors:\n  a:\n    dtype: {CURSOR}\n") == list(DTYPES)


def test_words_say_what_they_are(yaml_editor: Editor) -> None:
    item = yaml_editor.completions(f"{HEAD}tensors:\n  a: {{dtype: {CURSOR}}}\n")["bf16"]
    assert item["documentation"] == "16-bit floating point: 7 bits of fraction, the range of fp32"


ENUM = "Value is not accepted. Valid values: "
PROBLEMS = {
    f"{HEAD}tensor: {{}}\nprogram: []\n": [Problem(4, "tensor", "Property tensor is not allowed.")],
    f"{BODY}lod: {{into: t}}\n": [Problem(7, "lod", "Property lod is not allowed.")],
    BODY + LOAD.replace("]}", "], memry: vec}"): [Problem(7, "memry", "Property memry is not allowed.")],
    BODY + LOAD.replace("into", "int"): [
        Problem(7, "load", 'Missing property "into".'),
        Problem(7, "int", "Property int is not allowed."),
    ],
    BODY + LOAD.replace("]}", "], memory: ub}"): [
        Problem(7, "ub", ENUM + ", ".join(f'"{word}"' for word in MEMORY_WORDS) + ".")
    ],
    BODY + LOAD.replace("]}", "], memory: 3}"): [Problem(7, "3", 'Incorrect type. Expected "string".')],
    f"{HEAD}tensors:\n  a: {{dtype: fp33, shape: [1]}}\nprogram: []\n": [
        Problem(5, "fp33", ENUM + ", ".join(f'"{word}"' for word in DTYPES) + ".")
    ],
    BODY + LOAD.replace("[0, 0]", "0"): [Problem(7, "0", 'Incorrect type. Expected "array".')],
    BODY + LOAD.replace("[0, 0]", "[[0], 0]"): [Problem(7, "[0]", "a number or a formula is needed")],
    BODY + LOAD.replace("into: t", "into: 3a"): [
        Problem(7, "3a", "names are letters, digits and `_`, and start with no digit")
    ],
    f"{BODY}load: t\n": [Problem(7, "t", 'Incorrect type. Expected "load: {into, from, at, shape}".')],
    f"{BODY}barrier: x\n": [
        Problem(7, "x", "`barrier` is `s`, `v`, `m`, `mte1`, `mte2`, `mte3`, `fix`, `all` or a mapping with pipe, for")
    ],
    f"{HEAD}target: {{platfrm: a5}}\nprogram: []\n": [
        Problem(
            4,
            "{platfrm: a5}",
            "`target` is `a2a3`, `a5` or a mapping with "
            "platform, planner, l0c_double_buffer, unit_flag, sync, precision",
        )
    ],
    f"{HEAD}target: {{platform: a5, snc: auto}}\nprogram: []\n": [Problem(4, "snc", "Property snc is not allowed.")],
    f"{HEAD}tensors:\n  1a: {{dtype: fp32, shape: [1]}}\nprogram: []\n": [
        Problem(
            5,
            "1a",
            "a mapping from names is needed; names are letters, digits and `_`, and start with no digit",
        )
    ],
    f"{HEAD}program:\n  - {LOAD}": [Problem(5, "load", "Property load is not allowed.")],
    f"{HEAD}program:\n  - region: r\n": [Problem(5, "r", 'Missing property "body".')],
    HEAD.replace("v1", "v2") + "program: []\n": [Problem(2, "v2", f'{ENUM}"v1".')],
}


def test_each_mistake_gives_one_message_at_its_place(yaml_editor: Editor) -> None:
    found = dict(zip(PROBLEMS, yaml_editor.problems_of(list(PROBLEMS)), strict=True))
    assert found == PROBLEMS


def test_hover_of_a_keyword_is_its_reference(yaml_editor: Editor) -> None:
    text = yaml_editor.hover(f"{BODY}lo{CURSOR}{LOAD[2:]}")
    assert text.startswith(r"#### load: \{into, from, at, shape\}")
    keyword = default_table().keywords["load"]
    assert keyword.doc in text
    assert f"```yaml\n{keyword.example}\n```" in text


@pytest.mark.parametrize(
    ("text", "heading", "words"),
    [
        (BODY + LOAD.replace("from", f"fr{CURSOR}om"), "from", "the tensor to read"),
        (BODY + LOAD.replace("]}", f"], mem{CURSOR}ory: vec}}"), "memory", "* `mat`: L1, where"),
        (f"{BODY}barr{CURSOR}ier: v\n", "barrier", "Later instructions of a pipe"),
        (f"{HEAD}ten{CURSOR}sors:\n  a: {{dtype: fp32, shape: [1]}}\n", "tensors", "arguments in order"),
        (f"{HEAD}tensors:\n  a: {{dt{CURSOR}ype: fp32, shape: [1]}}\n", "dtype", "* `fp32`: 32-bit floating point"),
        (f"{HEAD}program:\n  - region: r\n    bo{CURSOR}dy: []\n", "body", "the statements inside"),
    ],
)
def test_hover(yaml_editor: Editor, text: str, heading: str, words: str) -> None:
    shown = yaml_editor.hover(text)
    assert shown.startswith(f"#### {heading}\n"), shown
    assert words in shown
    assert shown.count("Example:") <= 2, shown  # no example twice


def _errors(text: str) -> list[str]:
    try:
        load_document(Source("s.yaml", text))
    except CompileError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


def test_an_accepted_keyword_is_a_whole_statement(yaml_editor: Editor) -> None:
    control = f"{HEAD}program:\n  - {CURSOR}\n"
    region = f"{BODY}{CURSOR}\n"
    items = {text: yaml_editor.completions(text) for text in (control, region)}
    wrong: dict[str, list[str]] = {}
    for keyword in WRITTEN:
        text = region if "execution" in keyword.planes else control
        typed = accepted(text, items[text][keyword.name], last=_inner(keyword))
        if errors := _errors(typed):
            wrong[typed] = errors
    assert list(wrong) == [f"{BODY}barrier: \n"]  # its words are proposed next


def _inner(keyword: Keyword) -> str:
    return "barrier: v" if "execution" in keyword.planes or keyword.opens else "region: q\n      body: []"


@pytest.mark.parametrize(
    ("section", "inserted"),
    [
        ("tensors", "tensors:\n  x: {dtype: fp32, shape: [M, 128]}\n"),
        ("scalars", "scalars:\n  x: fp32\n"),
        ("buffers", "buffers:\n  x: {memory: vec}\n"),
        ("constants", "constants: {N: 64}\n"),
        ("target", "target: a2a3\n"),
    ],
)
def test_an_accepted_section_can_be_read(yaml_editor: Editor, section: str, inserted: str) -> None:
    text = f"{HEAD}{CURSOR}\nprogram: []\n"
    typed = accepted(text, yaml_editor.completions(text)[section])
    assert typed == f"{HEAD}{inserted}program: []\n"
    assert _errors(typed) == []


def test_keywords_in_one_line(yaml_editor: Editor) -> None:
    text = f"{BODY}lo{CURSOR}\n"
    typed = accepted(text, yaml_editor.completions(text)["load"])
    assert typed == f"{BODY}load: {{into: t, from: x, at: [i * 64, 0], shape: [64, 128]}}\n"
    text = f"{BODY}load: {CURSOR}\n"
    (item,) = yaml_editor.completions(text).values()
    assert accepted(text, item) == typed

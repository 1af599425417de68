"""The JSON Schema: committed, valid draft-07, and of one mind with the models."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.load import load
from pypto_spec.spec.models.keywords import default_table
from pypto_spec.spec.schema import FILE, make_schema, schema_text
from tests.spec.fake_ops import TABLE

SCHEMA = make_schema()
SPECS = sorted(path for path in Path("specs").rglob("*") if path.suffix in (".yaml", ".toml"))


def problems(text: str, name: str = "s.yaml") -> list[str]:
    validator = jsonschema.Draft7Validator(make_schema(TABLE))
    return [error.message for error in validator.iter_errors(load(Source(name, text)).to_plain())]


def test_committed_schema_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), "run `python -m tests.docs.generated`"


def test_it_is_draft_07() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    text = json.dumps(SCHEMA)
    empty = sum(json.dumps(SCHEMA["definitions"][name]["if"]).count('"null"') for name in ("launch", "statement"))
    assert text.count('"null"') == empty == 2  # a keyword without a value yet
    for later in ("$defs", "prefixItems", '"const"', "unevaluated"):
        assert later not in text


def test_a_statement_is_one_object_with_a_property_per_keyword() -> None:
    statement = SCHEMA["definitions"]["statement"]
    assert "anyOf" not in statement
    assert "oneOf" not in statement
    for keyword in default_table():
        assert (keyword.name in statement["properties"]) is (not keyword.reserved)
    for name, reference in statement["properties"].items():
        entry = SCHEMA["definitions"][reference["$ref"].rsplit("/", 1)[-1]]
        assert entry.get("description"), name
        for field, part in entry.get("properties", {}).items():
            assert part.get("description"), (name, field)


def test_every_reference_has_a_definition() -> None:
    text = schema_text()
    for name in set(text.split('"#/definitions/')[1:]):
        assert name.split('"')[0] in SCHEMA["definitions"]


def test_program_takes_the_keywords_of_launches_alone() -> None:
    launch, statement = (SCHEMA["definitions"][name]["properties"] for name in ("launch", "statement"))
    control = {k.name for k in default_table() if not k.reserved and "control" in k.planes}
    execution = {k.name for k in default_table() if not k.reserved and "control" not in k.planes}
    assert SCHEMA["properties"]["program"]["items"] == {"$ref": "#/definitions/launch"}
    assert control <= set(launch)
    assert not execution & set(launch)
    assert set(launch) <= set(statement)


GOOD = """spec: v1
name: n
target: {planner: $p}
constants: {p: pypto, N: 2 * 4}
tensors: {a: {dtype: fp32, shape: [N, 64], access: inout}}
x-own: 1
program:
  - region: r
    after: [q]
    body:
      - for: {index: i, range: [0, 8, 1]}
        x-own: 2
        src: [1, 2]
        body:
          - load: {into: t, from: a, at: [i * 8, 0], shape: [8, 64], memory: vec}
            type: {dtype: fp32, shape: [8, 64]}
          - let: y = exp(t)
          - barrier: v
          - barrier: {pipe: all, for: [[1, 2], [3, 4]]}
"""


def test_good_specs_pass() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("into: t", "int: t"),
        ("let: y", "lett: y"),
        ("fp32, shape: [N", "fp23, shape: [N"),
        ("target", "targt"),
        ("barrier: v", "barrier: x"),
        ("at: [i * 8, 0]", "at: 8"),
        ("access: inout", "acces: inout"),
        ("name: n", "name: 1n"),
        ("after: [q]", "aftr: [q]"),
        ("  - region: r\n", "  - exp: {into: y, x: t}\n  - region: r\n"),
        ("body:\n      - for", "bdy:\n      - for"),
    ],
)
def test_bad_specs_fail(old: str, new: str) -> None:
    assert old in GOOD
    assert problems(GOOD.replace(old, new, 1))


MODELINES = {".yaml": "# yaml-language-server: $schema=", ".toml": "#:schema "}


@pytest.mark.parametrize("path", SPECS, ids=str)
def test_each_gallery_file_names_the_schema(path: Path) -> None:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    lead = MODELINES[path.suffix]
    assert first.startswith(lead)
    assert (path.parent / first.removeprefix(lead)).resolve() == FILE.resolve()


@pytest.mark.parametrize("path", SPECS, ids=str)
def test_the_gallery_passes(path: Path) -> None:
    plain = load(Source(str(path), path.read_text(encoding="utf-8"))).to_plain()
    assert [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(plain)] == []

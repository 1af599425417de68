from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pypto_spec import __version__
from pypto_spec.diagnostics.model import Diagnostic, Label, diagnose
from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.render.json import SCHEMA
from pypto_spec.diagnostics.span import Source, Span
from tests.diagnostics.samples import KEY, LOSS, all_samples, overflow, short_rows, span


def validate(document: object, schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize("findings", [[], all_samples()], ids=["none", "some"])
def test_json_keeps_to_its_schema(findings: list[Diagnostic]) -> None:
    validate(json.loads(render(findings, "json")), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_json_holds_all_parts() -> None:
    document = json.loads(render([overflow(), short_rows()], "json"))
    assert document["version"] == 1
    assert document["summary"] == {"errors": 1, "warnings": 0, "hints": 1, "notes": 0}
    hint, error = document["diagnostics"]
    assert (hint["code"], hint["severity"]) == ("PH001", "hint")
    assert error["name"] == "memory-overflow"
    assert error["file"] == "sum.yaml"
    assert error["span"] == {"start": {"line": 11, "column": 9}, "end": {"line": 11, "column": 12}}
    assert error["secondary"][2]["file"] == "targets/a2a3.toml"
    assert error["secondary"][2]["label"] == "capacity stated here"
    assert error["figures"] == {"needed": 205312, "available": 196608, "memory": "vec"}
    assert [(fix["replacement"], fix["safe"]) for fix in error["fixes"]] == [("32", False), ("# small\n", True)]
    assert error["explain"] == "pypto-spec explain PS4001"


def test_json_survives_text_that_is_no_unicode() -> None:
    source = Source("k\ud800.yaml", "a: \ud800")
    text = render([diagnose(KEY, Span(source, 1, 4, 1, 5), "m \ud800")], "json")
    assert text.isascii()
    assert json.loads(text)["diagnostics"][0]["message"] == "m \ud800"


REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "additionalProperties": {"type": "integer", "minimum": 1},
}
ARTIFACT = {"type": "object", "required": ["uri"], "properties": {"uri": {"type": "string", "pattern": "^[!-~]+$"}}}
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
        },
        "message": MESSAGE,
    },
}
FIX = {
    "type": "object",
    "required": ["description", "artifactChanges"],
    "properties": {
        "description": MESSAGE,
        "artifactChanges": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["artifactLocation", "replacements"],
                "properties": {
                    "artifactLocation": ARTIFACT,
                    "replacements": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "required": ["deletedRegion"],
                            "properties": {"deletedRegion": REGION, "insertedContent": MESSAGE},
                        },
                    },
                },
            },
        },
    },
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "minItems": 1, "items": LOCATION},
        "relatedLocations": {"type": "array", "items": LOCATION},
        "fixes": {"type": "array", "items": FIX},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
"""What SARIF 2.1.0 and code scanning ask of the parts that we write."""


def sarif(*findings: Diagnostic) -> dict[str, Any]:
    document = json.loads(render(findings, "sarif"))
    validate(document, SARIF)
    run: dict[str, Any] = document["runs"][0]
    return run


def test_sarif_without_findings_is_a_complete_log() -> None:
    run = sarif()
    assert run["results"] == []
    assert run["tool"]["driver"]["name"] == "pypto-spec"
    assert run["tool"]["driver"]["version"] == __version__


def test_sarif_results_name_their_rules() -> None:
    run = sarif(*all_samples())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["PH001", "PS1001", "PS3001", "PS4001"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert "## What it means" in rules[0]["help"]["markdown"]


def test_sarif_places_fixes_and_figures() -> None:
    (result,) = sarif(overflow())["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "sum.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 11, "startColumn": 9, "endLine": 11, "endColumn": 12}
    assert [related["message"]["text"] for related in result["relatedLocations"]][2] == "capacity stated here"
    assert result["fixes"][0]["description"]["text"] == "line 10: replace `64` with `32`"
    replacement = result["fixes"][1]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"] == {"text": "# small\n"}
    assert result["properties"]["figures"]["needed"] == 205312
    assert "help: `shape: [32, 64]` needs 100 KiB" in result["message"]["text"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("./specs/a.yaml", "specs/a.yaml"),
        ("specs/规格 1%.yaml", "specs/%E8%A7%84%E6%A0%BC%201%25.yaml"),
        ("/home/me/a.yaml", "file:///home/me/a.yaml"),
        ("-", "stdin"),
    ],
)
def test_sarif_uris(name: str, expected: str) -> None:
    source = Source(name, "a: b")
    (result,) = sarif(diagnose(KEY, Span(source, 1, 1, 1, 2), "m"))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == expected


def prints(text: str, *lines: int) -> list[str]:
    source = Source("k.yaml", text)
    results = sarif(*(diagnose(KEY, Span(source, line, 1, line, 2), "m") for line in lines))["results"]
    return [result["partialFingerprints"]["pyptoSpec/v1"] for result in results]


def test_fingerprints_stay_when_lines_move_and_tell_equal_lines_apart() -> None:
    assert prints("bad: 1\n", 1) == prints("# new\n\n  bad: 1\n", 3)
    assert prints("bad: 1\n", 1) != prints("bad: 2\n", 1)
    first, second = prints("bad: 1\nbad: 1\n", 1, 2)
    assert first != second
    assert [first] == prints("bad: 1\n", 1)


def test_github_commands() -> None:
    lines = render(all_samples(), "github").splitlines()
    assert lines[0] == (
        "::notice file=sum.yaml,title=PH001 tile-innermost-dim,line=10,endLine=10,col=47,endColumn=62::"
        "moves 16384 bytes as 64 rows of 256 bytes%0Apypto-spec explain PH001"
    )
    assert lines[3].startswith("::error file=sum.yaml,title=PS1001 unknown-key,line=12,endLine=17::")
    assert render([], "github") == ""


def test_github_escapes() -> None:
    source = Source("a,b:c%.yaml", "x")
    command = render([diagnose(LOSS, Span(source, 1, 1, 1, 2), "50%, say: a\r\nb ::error::", label="")], "github")
    assert command == (
        "::warning file=a%2Cb%3Ac%25.yaml,title=PS3900 value-changed,line=1,endLine=1,col=1,endColumn=2::"
        "50%25, say: a%0D%0Ab ::error::%0Apypto-spec explain PS3900\n"
    )


def test_github_names_no_file_for_standard_input() -> None:
    source = Source("-", "x")
    assert "file=" not in render([diagnose(KEY, Span(source, 1, 1, 1, 2), "m")], "github")


def test_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="text, json, sarif, github"):
        render([], "xml")


@pytest.mark.parametrize("format", ["json", "sarif", "github"])
def test_colour_is_for_text_only(format: str) -> None:
    findings = [replace(overflow(), secondary=(Label(span(1, "spec"), "x"),))]
    assert render(findings, format, colour=True) == render(findings, format)

"""A keyword that comes later needs no work here: it is in the schema, and so in what editors propose and check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from pypto_spec.ir.opdef import Field, OpDef
from pypto_spec.spec.models.keywords import KeywordTable
from pypto_spec.spec.schema import make_schema
from tests.servers.editor import CURSOR, Editor, Problem, accepted
from tests.spec.fake_ops import FakeOp

FADE = FakeOp(
    "fade",
    Field(name="into", kind="bind", doc="what comes out"),
    Field(name="x", kind="tile", doc="what goes in"),
    Field(name="curve", kind="word", doc="how it fades", words=("linear", "steep")),
)
FADE.doc = "Fades a tile out."
FADE.example = "- fade: {into: y, x: t, curve: steep}"


def _schema(folder: Path) -> str:
    path = folder / "later.json"
    table = KeywordTable.with_ops({"fade": cast(OpDef, FADE)})
    path.write_text(json.dumps(make_schema(table)), encoding="utf-8")
    return path.as_uri()


def test_yaml(yaml_editor: Editor, tmp_path: Path) -> None:
    body = (
        f"# yaml-language-server: $schema={_schema(tmp_path)}\nspec: v1\nname: a\nprogram:\n  - region: r\n    body:\n"
    )
    text = f"{body}      - {CURSOR}\n"
    items = yaml_editor.completions(text)
    assert "load" not in items
    typed = accepted(text, items["fade"])
    assert typed == f"{body}      - fade: {{into: y, x: t, curve: steep}}\n"
    assert yaml_editor.problems(typed) == []
    assert yaml_editor.labels(typed.replace("steep", CURSOR)) == ["linear", "steep"]
    wrong = typed.replace("curve", "curv")
    assert Problem(7, "curv", "Property curv is not allowed.") in yaml_editor.problems(wrong)
    assert "Fades a tile out." in yaml_editor.hover(typed.replace("fade", f"fa{CURSOR}de"))


def test_toml(tombi_editor: Editor, tmp_path: Path) -> None:
    head = f'#:schema {_schema(tmp_path)}\nspec = "v1"\nname = "a"\n'
    body = f'{head}[[program]]\nregion = "r"\nbody = [{{{{ {{}} }}}}]\n'
    assert tombi_editor.labels(body.format(f"fa{CURSOR}")) == ["fade"]
    assert tombi_editor.labels(body.format(f'fade = {{ curve = "{CURSOR}" }}')) == ['"linear"', '"steep"']

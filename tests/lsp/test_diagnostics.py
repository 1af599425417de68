"""Findings as they arrive in an editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.wire import ROOT, editor, text_at

SOFTMAX = (ROOT / "specs/vector/softmax.yaml").read_text(encoding="utf-8")
SQUARE = (ROOT / "specs/vector/square.toml").read_text(encoding="utf-8")


@pytest.mark.asyncio
async def test_a_misspelt_name(tmp_path: Path) -> None:
    async with editor(tmp_path / "log") as made:
        uri = made.open(SOFTMAX)
        assert await made.findings(uri) == []
        made.edit(uri, "from: y", "from: 名")
        (found,) = [d for d in await made.findings(uri) if d.severity is types.DiagnosticSeverity.Error]
        assert text_at(made.texts[uri], found.range) == "名"
        assert found.code == "PS2012"
    assert made.complaints() == ""

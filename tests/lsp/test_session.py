"""What a client can ask for or do wrong, in this process: settings, encodings, versions, cancels."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pypto_spec.driver import live
from pypto_spec.lsp.settings import Settings, read_settings
from tests.lsp.inside import Inside
from tests.lsp.wire import ROOT, text_in

pytestmark = pytest.mark.asyncio(loop_scope="function")

SOFTMAX = (ROOT / "specs/vector/softmax.yaml").read_text(encoding="utf-8")
URI = "file:///work/x.yaml"


@asynccontextmanager
async def session(text: str, options: object = None, general: dict[str, Any] | None = None) -> AsyncIterator[Inside]:
    """A server with one open document."""
    made = Inside()
    await made.begin(options, general)
    made.open(URI, text)
    yield made
    await made.end()


async def test_defines_and_wrong_settings(caplog: pytest.LogCaptureFixture) -> None:
    async with session(SOFTMAX, {"pyptoSpec": {"defines": {"C": 1_000_000, "OTHER": 1}, "delay": -1}}) as made:
        assert await made.errors(URI)
        made.tell("workspace/didChangeConfiguration", settings={"pyptoSpec": {"defines": {"C": "128"}}})
        assert not await made.errors(URI)
    assert "`pyptoSpec.delay` is a number of milliseconds" in caplog.text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_encodings(encoding: str) -> None:
    text = SOFTMAX[: SOFTMAX.index("tensors")] + "tensors: {'😀名': {dtype: fp64, shape: [1, 8]}}\n"
    async with session(text, general={"positionEncodings": [encoding]}) as made:
        found = next(d for d in await made.errors(URI) if "fp64" in d["message"])
        assert text_in(text, found["range"], encoding) == "fp64"


async def test_findings_that_are_fetched() -> None:
    async with session(SOFTMAX.replace("from: y", "from: z"), {"diagnostics": "pull"}) as made:
        report = await made.ask("textDocument/diagnostic", textDocument={"uri": URI})
        assert report["kind"] == "full"
        assert [d["code"] for d in report["items"] if d["severity"] == 1]
        made.open("file:///work/pod.yaml", "kind: Pod\nspec: {}\n")
        report = await made.ask("textDocument/diagnostic", textDocument={"uri": "file:///work/pod.yaml"})
        assert report["items"] == []
        made.replace(URI, SOFTMAX + "# more\n", 2)
        asked = asyncio.ensure_future(made.ask("textDocument/diagnostic", textDocument={"uri": URI}))
        await asyncio.sleep(0)  # the request is sent
        await asyncio.sleep(0)  # and waits for its check
        made.replace(URI, SOFTMAX, 3)
        with pytest.raises(RuntimeError, match="changed"):
            await asked
        report = await made.ask("textDocument/diagnostic", textDocument={"uri": URI})
        assert report["items"] == []
        made.tell("workspace/didChangeConfiguration", settings={"pyptoSpec": {"defines": {"C": "1"}}})
        report = await made.ask("textDocument/diagnostic", textDocument={"uri": URI})
        assert report["kind"] == "full"
        assert not [m for m in made.said if m["method"] == "textDocument/publishDiagnostics"]


async def test_findings_are_either_sent_or_fetched() -> None:
    made = Inside()
    await made.begin()
    with pytest.raises(RuntimeError, match="Method Not Found"):
        await made.ask("textDocument/diagnostic", textDocument={"uri": URI})
    await made.end()


async def test_edits_of_unknown_documents(caplog: pytest.LogCaptureFixture) -> None:
    async with session(SOFTMAX) as made:
        made.replace("file:///work/never.yaml", SOFTMAX, 7)
        made.tell("textDocument/didClose", textDocument={"uri": "file:///work/never.yaml"})
        made.replace(URI, SOFTMAX.replace("from: y", "from: z"), -5)  # what arrives last is what counts
        assert await made.errors(URI, -5)
    assert "never.yaml" in caplog.text
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


async def test_a_check_that_is_overtaken_stops_between_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = live.check_live

    def slow(source: Any, format: Any, defines: Any, checkpoint: Any) -> Any:
        def look() -> None:
            seen.append(source.text)
            while source.text != last and (opened := made.server.documents.get(URI)) and opened.version == 1:
                pass  # hold the check until the next version is there
            checkpoint()

        return real(source, format, defines, look)

    monkeypatch.setattr("pypto_spec.lsp.checking.check_live", slow)
    last = SOFTMAX + "# last\n"
    async with session(SOFTMAX, {"delay": 0}) as made:
        while not seen:
            await asyncio.sleep(0.005)
        made.replace(URI, last, 2)
        assert await made.errors(URI) == []
    assert seen.count(SOFTMAX) == 1
    assert seen.count(last) > 20
    assert [m["params"]["version"] for m in made.said if m["method"] == "textDocument/publishDiagnostics"] == [2]


async def test_a_failure_of_the_compiler_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError("on purpose")

    for place in ("pypto_spec.driver.live.variants_of", "pypto_spec.driver.compile.check_program"):
        with monkeypatch.context() as patched:
            patched.setattr(place, fail)
            async with session(SOFTMAX) as made:
                (found,) = await made.errors(URI)
                assert found["code"] == "PS9001"
                assert "on purpose" in found["message"]
                made.replace(URI, SOFTMAX + "\n", 2)
                assert await made.errors(URI, 2)


async def test_a_feature_that_fails_answers_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("pypto_spec.lsp.features.outline.folds", fail)
    async with session(SOFTMAX) as made:
        assert await made.ask("textDocument/foldingRange", textDocument={"uri": URI}) is None
        assert await made.ask("textDocument/documentSymbol", textDocument={"uri": URI})
    assert "on purpose" in caplog.text


@pytest.mark.parametrize(
    ("given", "settings", "problems"),
    [
        (None, Settings(), 0),
        ([], Settings(), 0),
        ({}, Settings(), 0),
        ({"pyptoSpec": None}, Settings(), 0),
        ({"pyptoSpec": 3}, Settings(), 1),
        (
            {"defines": {"A": 1, "B": "x", "C": True}},
            Settings({"A": "1", "B": "x", "C": "true"}),
            0,
        ),
        ({"defines": [1], "delay": "x", "diagnostics": "both", "inlayHints": 1}, Settings(), 4),
        ({"pyptoSpec": {"delay": 0, "diagnostics": "pull", "inlayHints": False}}, Settings({}, 0, True, False), 0),
        ({"diagnostics": "push"}, Settings(), 0),
    ],
)
async def test_settings(given: object, settings: Settings, problems: int) -> None:
    found, wrong = read_settings(given)
    assert found == settings
    assert len(wrong) == problems

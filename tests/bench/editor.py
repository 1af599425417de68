"""The language server over the wire: from an edit to its findings, and how long an answer waits for a check."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from lsprotocol import types

from tests.bench.chains import mixed
from tests.bench.measure import ROOT, Figure, figure
from tests.lsp.wire import Editor, editor

BUDGET = 50.0
"""Milliseconds from the edit to its findings, without the delay before a check."""
STATEMENTS = 4_000
ANSWERS = 50


def live(runs: int) -> Iterator[Figure]:
    """Each kernel of the gallery, edited at its end; then answers while a long spec is being checked."""
    yield from asyncio.run(_measured(runs))


async def _measured(runs: int) -> list[Figure]:
    with TemporaryDirectory() as scratch:
        async with editor(Path(scratch, "log"), {"delay": 0}) as made:
            found = [await _edits(made, path, runs) for path in _gallery()]
            found.append(await _answers(made, "no check", "x.yaml", "spec: v1\n"))
            found.append(await _answers(made, f"a check of {STATEMENTS:,} statements", "y.yaml", mixed(STATEMENTS)))
            return found


def _gallery() -> list[Path]:
    return [path for path in sorted((ROOT / "specs").rglob("*")) if path.suffix in (".yaml", ".toml")]


async def _edits(made: Editor, path: Path, runs: int) -> Figure:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT / "specs").as_posix()
    uri = made.open(text, name)
    await made.findings(uri)
    times: list[float] = []
    for _ in range(runs):
        started = perf_counter()
        made.splice(uri, len(made.texts[uri]), len(made.texts[uri]), "#")
        await made.findings(uri)
        times.append((perf_counter() - started) * 1e3)
        await asyncio.sleep(0.05)  # until what is behind the findings is done too
    made.close(uri)
    return figure("editor", f"{name}: edit to findings", "ms", times, BUDGET)


async def _answers(made: Editor, what: str, name: str, text: str) -> Figure:
    """Folds of a small document: hardly any work, so that the time is that of waiting."""
    small = made.open("spec: v1\nname: x\n", "small.yaml")
    await made.findings(small)
    made.open(text, name)
    params = types.FoldingRangeParams(types.TextDocumentIdentifier(small))
    times: list[float] = []
    for _ in range(ANSWERS):
        started = perf_counter()
        await made.client.text_document_folding_range_async(params)
        times.append((perf_counter() - started) * 1e3)
    return figure("editor", f"an answer during {what}", "ms", times, None)

"""Random edits of gallery files, with requests of every kind in between: no exception, and no answer out of place."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pypto_spec.lsp.refusal import unless_refused
from tests.lsp.inside import Inside
from tests.lsp.requests import METHODS, check_answer, parameters, place
from tests.lsp.wire import ROOT, Editor

FILES = ["vector/softmax.yaml", "vector/square.toml"]
PIECES = [
    *"{}[]:,.-#|>&*'\"=$@!%\n\t 0aé名😀",
    "\r\n", "  ", "- ", ": ", "load: ", "let: y = exp(t", "- for: {index: i, count: 4}\n", "<<: *x", "\u2028", "\ud83d",
    '"""', "[[program]]\n", "spec: v1\n", "v1 = [\n", "matmul(", "${", "exp(exp(exp(", "-99999999999999999999", "1e999",
]  # fmt: skip


def edits(rng: Random, text: str) -> Iterator[tuple[int, int, str]]:
    """Ever more edits: of what a hand does, and of what a cat on the keyboard does. Undone now and then."""
    undo: list[tuple[int, int, str]] = []
    now = text
    while True:
        start = rng.randrange(len(now) + 1)
        kind = rng.randrange(10)
        if undo and (kind < 3 or len(undo) > 6):
            edit = undo.pop()
        elif kind < 7:
            edit = (start, start, rng.choice(PIECES))
        elif kind < 9:
            edit = (start, min(len(now), start + rng.choice([1, 1, 2, 5, 40])), "")
        else:
            first = rng.randrange(len(now) + 1)
            edit = (start, min(len(now), start + rng.choice([0, 0, 9])), now[first : first + rng.choice([5, 60, 200])])
        begin, end, new = edit
        if any(now[at - 1 : at + 1] == "\r\n" for at in (begin, end) if at):
            continue
        if kind >= 3:
            undo.append((begin, begin + len(new), now[begin:end]))
        now = now[:begin] + new + now[end:]
        yield edit


async def _drive(name: str, seed: int, count: int, requests: float) -> None:
    """So many edits, with so many requests for each on average."""
    text = (ROOT / "specs" / name).read_text(encoding="utf-8")
    rng = Random(seed)
    made = Inside()
    await made.begin({"delay": 0})
    uri = f"file:///work/{name}"
    made.open(uri, text, Path(name).suffix[1:])
    for version, (start, end, new) in enumerate(edits(rng, text), 2):
        where = {"start": place(text, start), "end": place(text, end)}
        made.tell(
            "textDocument/didChange",
            textDocument={"uri": uri, "version": version},
            contentChanges=[{"range": where, "text": new}],
        )
        text = text[:start] + new + text[end:]
        for _ in range(int(requests + rng.random())):
            method = rng.choice(METHODS)
            try:
                answer = await made.ask(method, **parameters(rng, method, uri, text))
            except RuntimeError:
                assert method == "textDocument/rename"  # which says why it cannot be
            else:
                check_answer(method, answer, text)
        if version % 50 == 0:
            await made.errors(uri, version)
        if version > count:
            break
    opened = made.server.documents.get(uri)
    assert opened is not None
    assert opened.source.text == text.replace("\ud83d", "\ufffd")
    await made.end()


@pytest.mark.asyncio
@pytest.mark.parametrize("name", FILES)
async def test_random_edits(name: str, caplog: pytest.LogCaptureFixture) -> None:
    await _drive(name, 1, 500, 0.5)
    assert not _complaints(caplog)


@pytest.mark.long
@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", [*FILES, "cube/ffn_swiglu.yaml", "loss/cross_entropy.yaml"])
async def test_many_random_edits(name: str, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    await _drive(name, seed, 1_000, 3)
    assert not _complaints(caplog)


def _complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the server logs of itself; a refused rename is logged by the library before it is sent."""
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR and unless_refused(r)]


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("name", FILES)
async def test_random_edits_over_the_wire(name: str, wired: Editor) -> None:
    text = (ROOT / "specs" / name).read_text(encoding="utf-8")
    rng = Random(2)
    uri = wired.open(text, f"random/{name}")
    protocol = wired.client.protocol
    for count, (start, end, new) in enumerate(edits(rng, text), 1):
        wired.splice(uri, start, end, new)
        method = METHODS[count % len(METHODS)]
        given = parameters(rng, method, uri, wired.texts[uri])
        request: Any = types.METHOD_TO_TYPES[method][2]
        asked = protocol.send_request_async(method, protocol._converter.structure(given, request))  # type: ignore[no-untyped-call]
        try:
            answer = await asked
        except JsonRpcException:
            assert method == "textDocument/rename"
        else:
            check_answer(method, json.loads(json.dumps(answer, default=protocol._serialize_message)), wired.texts[uri])
        if count == 50:
            break
    await wired.findings(uri)

"""What a person does in an editor: type a text, see what is wrong, ask for completions and hover, accept one."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tests.servers.client import Client

CURSOR = "<>"
"""Stands where the cursor is."""

_STOP = re.compile(r"\$\{(\d+)(?::((?:[^}\\]|\\.)*)|\|([^,|]*)[^|]*\|)\}|\$(\d+)")


class Problem(NamedTuple):
    """A finding, by the text it underlines."""

    line: int
    marked: str
    message: str


class Editor:
    """Documents of one language, open in one server.

    They stand beside the gallery's files, where its modelines lead to the schema; nothing is written.
    """

    def __init__(self, client: Client, language: str, folder: Path) -> None:
        self.client = client
        self.language = language
        self.folder = folder
        self._numbers = count(1)

    def problems(self, text: str) -> list[Problem]:
        """What is wrong with a text."""
        return self.problems_of([text])[0]

    def problems_of(self, texts: list[str]) -> list[list[Problem]]:
        """What is wrong with each text; the server sees all of them at once."""
        opened = [(self._open(text), text) for text in texts]
        return [[_problem(text, found) for found in self.client.diagnostics(uri)] for uri, text in opened]

    def completions(self, text: str) -> dict[str, dict[str, Any]]:
        """What is proposed at the cursor, by label; a label that comes twice fails."""
        result = self._ask("textDocument/completion", text)
        items = result["items"] if isinstance(result, dict) else result or []
        found = {item["label"]: item for item in items}
        assert len(found) == len(items), sorted(item["label"] for item in items)
        return found

    def labels(self, text: str) -> list[str]:
        """The labels of what is proposed at the cursor."""
        return list(self.completions(text))

    def hover(self, text: str) -> str:
        """What is shown for the place of the cursor, in Markdown."""
        result = self._ask("textDocument/hover", text)
        return str(result["contents"]["value"]) if result else ""

    def _open(self, text: str) -> str:
        uri = (self.folder / f"open{next(self._numbers)}.{self.language}").as_uri()
        document = {"uri": uri, "languageId": self.language, "version": 1, "text": text}
        self.client.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def _ask(self, method: str, text: str) -> Any:
        before, _, after = text.partition(CURSOR)
        uri = self._open(before + after)
        self.client.diagnostics(uri)  # the document has been read
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        answer = self.client.request(method, {"textDocument": {"uri": uri}, "position": position})
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return answer


def accepted(text: str, item: dict[str, Any], last: str = "") -> str:
    """The text after a completion was accepted at the cursor, with the placeholders as they are.

    `last` is typed at the last stop. As editors do, further lines get the indentation of the line.
    """
    before, _, after = text.partition(CURSOR)
    inserted = item.get("insertText") or item["label"]
    if edit := item.get("textEdit"):
        inserted, place = edit["newText"], edit["range"]
        lines = (before + after).split("\n")
        starts = [sum(len(line) + 1 for line in lines[: place[end]["line"]]) for end in ("start", "end")]
        first, end = starts[0] + place["start"]["character"], starts[1] + place["end"]["character"]
        before, after = (before + after)[:first], (before + after)[end:]
    line = before[before.rfind("\n") + 1 :]
    indent = line[: len(line) - len(line.lstrip())]
    return before + _filled(inserted, last).replace("\n", "\n" + indent) + after


def _filled(snippet: str, last: str) -> str:
    def stop(match: re.Match[str]) -> str:
        if match[4] is not None:
            return last
        return re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]

    return re.sub(r"\\([$}\\])", r"\1", _STOP.sub(stop, snippet))


def _problem(text: str, found: dict[str, Any]) -> Problem:
    lines = text.split("\n")
    start, end = found["range"]["start"], found["range"]["end"]
    line = lines[start["line"]]
    stop = end["character"] if end["line"] == start["line"] else len(line)
    message = found["message"]
    return Problem(start["line"] + 1, line[start["character"] : stop], message)

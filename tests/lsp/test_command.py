"""The command itself: its options, its log, and TCP."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import run
from tests.lsp.wire import MAIN, ROOT


@pytest.mark.parametrize("word", ["nowhere", "localhost:", "localhost:http", "localhost:70000"])
def test_addresses_that_are_none(word: str) -> None:
    found = run("lsp", "--tcp", word)
    assert found.exit_code == 2
    assert "write HOST:PORT" in found.output


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    found = run("lsp", "--log", str(tmp_path / "no" / "log"))
    assert found.exit_code == 2
    assert "cannot serve: no such file or directory" in found.output


def test_over_tcp(tmp_path: Path) -> None:
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
    log = tmp_path / "log"
    command = [sys.executable, "-c", MAIN, "lsp", "--tcp", f"localhost:{port}", "--log", str(log), "--verbose"]
    with subprocess.Popen(command, cwd=ROOT) as server:
        try:
            with _connected(port) as editor:
                editor.settimeout(20)
                editor.sendall(_message(1, "initialize", processId=None, rootUri=None, capabilities={}))
                answer = _answer(editor)
                assert answer["result"]["serverInfo"]["name"] == "pypto-spec"
                assert answer["result"]["capabilities"]["positionEncoding"] == "utf-16"
                editor.sendall(_message(2, "shutdown"))
                assert _answer(editor)["result"] is None
                editor.sendall(_message(None, "exit"))
            assert server.wait(20) == 0
        finally:
            server.kill()
    assert "Traceback" not in log.read_text(encoding="utf-8")


def test_input_that_ends_ends_the_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "lsp"], cwd=ROOT, input=b"", capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert done.stdout == b""
    assert done.stderr == b""


def _connected(port: int) -> socket.socket:
    for _ in range(400):
        try:
            return socket.create_connection(("localhost", port))
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the server does not listen")


def _message(number: int | None, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
    body = json.dumps(message | ({"id": number} if number is not None else {})).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _answer(editor: socket.socket) -> Any:
    data = b""
    while b"\r\n\r\n" not in data:
        data += editor.recv(4096)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += editor.recv(4096)
    return json.loads(body)

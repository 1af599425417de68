"""Starting the server for one editor, over standard input and output or over TCP."""

from __future__ import annotations

import logging
import os
import sys
from typing import BinaryIO

from pypto_spec.lsp.checking import TURN
from pypto_spec.lsp.refusal import unless_refused


def serve(address: tuple[str, int] | None = None, log_file: str | None = None, verbose: bool = False) -> None:
    """Serve until the editor says that it is done. Raises OSError where the address or the log cannot be had."""
    _log_to(log_file, verbose)
    sys.setswitchinterval(TURN)
    from pypto_spec.lsp.wiring import make_server

    server = make_server()
    if address is None:
        server.start_io(stdout=_own_output())
    else:
        server.start_tcp(*address)


def _own_output() -> BinaryIO:
    """Standard output for the protocol alone: what else is printed there goes to standard error."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _log_to(file: str | None, verbose: bool) -> None:
    """Standard error is the log: standard output belongs to the protocol."""
    handler: logging.Handler = logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(unless_refused)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of a cancel that comes too late, as many do
    logging.getLogger("pypto_spec").setLevel(logging.INFO if verbose else logging.WARNING)

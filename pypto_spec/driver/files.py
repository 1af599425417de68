"""Writing one file: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from pypto_spec.driver.inputs import UsageError


def write_file(path: str, text: str) -> None:
    """Replace a file, or the one that a link leads to, by a new text in one step; it keeps its mode.

    Raises UsageError where that cannot be done.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(made, target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~mask)
            os.replace(made, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(made)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error

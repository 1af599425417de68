"""Writing one file: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from pypto_spec.driver.inputs import UsageError


def write_file(path: str, text: str) -> None:
    """Replace a file by a new text in one step. Raises UsageError where that cannot be done.

    A file that is there keeps its permissions; behind a symbolic link it is the file itself that is replaced.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            os.chmod(made, _mode(target))
            os.replace(made, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(made)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error


def _mode(target: Path) -> int:
    """The permissions of a file that is there, else those that a new file gets."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

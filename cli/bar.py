"""A line of progress on a terminal."""

from __future__ import annotations

import sys


class Bar:
    """Drawn anew on standard error until there is other text to show."""

    def __init__(self) -> None:
        self.shown = False

    def show(self, done: int, total: int, what: str = "") -> None:
        """Draw it anew; `what` stands behind the numbers."""
        if total > 1:
            self.shown = True
            filled = 30 * done // total
            word = f" {what}" if what else ""
            sys.stderr.write(f"\r\x1b[K[{'#' * filled}{'.' * (30 - filled)}] {done}/{total}{word}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Make room for other text."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.shown = False

"""A spec whose text a command has changed: what is shown of it, and its file."""

from __future__ import annotations

from difflib import unified_diff

from pypto_spec.driver.files import write_file
from pypto_spec.driver.inputs import STDIN, Spec
from pypto_spec.records import dataclass

_MARK = "\ufeff"


@dataclass(slots=True)
class Rewritten:
    """The text of one spec before and after, with the byte order mark of its file."""

    name: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether the text is another."""
        return self.before != self.after

    @property
    def standard_input(self) -> bool:
        """Whether it came from there, and goes to standard output."""
        return self.name == STDIN

    def diff(self) -> str:
        """What changes, as a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        lines = unified_diff(before, after, self.name, self.name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self) -> None:
        """Replace the file by the new text. Raises UsageError."""
        write_file(self.name, self.after)


def mark_of(spec: Spec) -> str:
    """The byte order mark that a file begins with, if any: the source of a spec is without it."""
    return _MARK if spec.data.startswith(_MARK.encode()) else ""

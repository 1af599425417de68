"""Fenced blocks of the documentation, and what the words behind their language ask for.

* `yaml`, `toml`: a whole spec with a `spec` key, compiled; `file=NAME`: also written for the page's console blocks
* `yaml body`: statements of a region, put into `FRAME`
* `yaml error CODE`, `yaml body error CODE`: the same, and it gives exactly that code
* `yaml statement`: part of a statement, not compiled (the examples of docs/ops.md have a test of their own)
* `console`: commands with what they print, all of which can run here; `console skip: REASON` is not run
* `cpp beside=FILE`: a kernel by hand, run on the host model in the place of the kernel of the page's spec FILE
* `text message=FILE s/OLD/NEW/`: what the compiler says first of the page's spec FILE after that change
* `text diagram`: a drawing
* `python shown: REASON`: Python of another project, not run; so too `lua`, `elisp`, `json`, `toml`: settings of editors
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.generated import pages

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FRAME = """\
spec: v1
name: frame
constants: {N: 8}
scalars: {alpha: fp32}
tensors:
  a:   {dtype: fp32, shape: [512, 128]}
  b:   {dtype: fp32, shape: [512, 128]}
  out: {dtype: fp32, shape: [512, 128], access: inout}
program:
  - region: frame
    body:
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """One block: its page, line, language, and the words behind the language."""

    page: str
    line: int
    kind: str
    words: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name under which console blocks find it."""
        return self.named("file")

    def named(self, key: str) -> str | None:
        """What stands behind `KEY=` among the words."""
        return next((w.removeprefix(f"{key}=") for w in self.words if w.startswith(f"{key}=")), None)

    @property
    def skipped(self) -> bool:
        """Whether it says that it is not run."""
        return "skip:" in self.words

    @property
    def spec(self) -> str | None:
        """The whole spec it stands for; None if it is none."""
        if self.kind not in ("yaml", "toml") or {"statement", "shown:"} & {*self.words}:
            return None
        if "body" in self.words:
            return FRAME + "".join(f"      {line}\n" for line in self.text.splitlines())
        return self.text if re.search(r"^spec\s*[:=]", self.text, re.MULTILINE) else None

    @property
    def code(self) -> str | None:
        """The code that the spec must give."""
        return self.words[self.words.index("error") + 1] if "error" in self.words else None


def samples(path: Path) -> list[Sample]:
    """All blocks of a page in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Sample(path.name, text.count("\n", 0, m.start()) + 1, m[1], tuple(m[2].split()), m[3])
        for m in FENCE.finditer(text)
    ]


ALL = [sample for path in pages() for sample in samples(path)]

"""The gallery: a page for each group of specs, with their source and links to what they use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.site.model import ROOT, Page
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.keywords import default_table

SPECS = ROOT / "specs"
_ABOUT = re.compile(r"^about\s*[:=]\s*(.+)$", re.MULTILINE)
_KEYWORD = re.compile(r"(?:- |^\s*\[*)\{?\s*([a-z_0-9]+)\s*[:=]", re.MULTILINE)
_MODELINE = re.compile(r"\A#[^\n]*schema[^\n]*\n")


def pages() -> Iterator[Page]:
    """The index, and a page for each folder."""
    rows = []
    for folder in sorted(p for p in SPECS.iterdir() if p.is_dir()):
        files = [p for p in sorted(folder.iterdir()) if p.suffix in (".yaml", ".toml")]
        rows += [
            f"| [{f.stem}](site:gallery/{folder.name}.md#{f.stem}) | {folder.name} | {about(f)} |\n" for f in files
        ]
        yield Page(
            f"gallery/{folder.name}.md",
            f"# Gallery: {folder.name}\n\n" + "\n".join(_entry(f) for f in files),
            f"specs/{folder.name}/index.md",
            "gallery",
            short=folder.name,
            stands_for={**{f"specs/{folder.name}/{f.name}": f.stem for f in files}, f"specs/{folder.name}": ""},
        )
    head = (
        "# Gallery\n\nKernels as specs, each with a golden that the tests run. `pypto-spec new NAME --from KERNEL` "
        "makes a copy of one.\n\n| kernel | group | what it is |\n| --- | --- | --- |\n"
    )
    yield Page("gallery/index.md", head + "".join(rows), "specs/index.md", stands_for={"specs": ""})


def about(file: Path) -> str:
    """The line for people of a spec."""
    found = _ABOUT.search(file.read_text(encoding="utf-8"))
    return found[1].strip().strip("\"'").replace("|", "\\|") if found else ""


def _entry(file: Path) -> str:
    text = _MODELINE.sub("", file.read_text(encoding="utf-8")).strip()
    used = [k.name for k in default_table() if not k.reserved and k.name in set(_KEYWORD.findall(text))]
    links = ", ".join(f"[`{name}`]({_reference(name)})" for name in used)
    parts = [f"## {file.stem}", about(file) + "." if about(file) else "", f"Uses {links}." if links else ""]
    parts.append(f"```{file.suffix[1:]} file={file.name}\n{text}\n```")
    golden = file.with_suffix(".py")
    if golden.exists():
        parts.append(f"```python file={golden.name}\n{golden.read_text(encoding='utf-8').strip()}\n```")
    return "\n\n".join(filter(None, parts)) + "\n"


def _reference(name: str) -> str:
    return f"site:ops/{OPS[name].family}.md#{name}" if name in OPS else f"site:reference/statements.md#{name}"

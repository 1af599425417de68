"""Builds the site: its pages into `build/site-source`, and from these `build/site`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import yaml

from docs.site.check import problems
from docs.site.links import Places
from docs.site.markdown import translate
from docs.site.model import DOCS, ROOT, Page, SiteError
from docs.site.nav import complete
from docs.site.pages import commands, diagnostics, documents, gallery, language, operators

HERE = Path(__file__).parent
SOURCES: tuple[Callable[[], Iterator[Page]], ...] = (
    documents.pages,
    language.pages,
    operators.pages,
    commands.pages,
    gallery.pages,
    diagnostics.pages,
)
"""Where pages come from."""


def pages() -> list[Page]:
    """All pages of the site."""
    return list(chain.from_iterable(source() for source in SOURCES))


def write(folder: Path) -> list[Page]:
    """Write the sources of all pages, their images and the settings. Raises SiteError for a link into nowhere."""
    made = pages()
    places = Places(made, operators.moved())
    shutil.rmtree(folder, ignore_errors=True)
    for page in made:
        file = folder / "pages" / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(translate(page.text, places.translator(page)), encoding="utf-8")
    for name, source in (("assets", HERE / "assets"), ("images", DOCS / "images")):
        if source.exists():
            shutil.copytree(source, folder / "pages" / name)
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    head, mark, menu = text.partition("\nnav:\n")
    assert mark
    full = complete(yaml.safe_load(f"nav:\n{menu}")["nav"], made)
    nav = yaml.safe_dump({"nav": full}, sort_keys=False)
    (folder / "mkdocs.yml").write_text(f"{head}\ndocs_dir: pages\nsite_dir: ../site\n{nav}", encoding="utf-8")
    return made


def build(folder: Path) -> list[str]:
    """Build the site of the sources in a folder beside it. Returns what is wrong with it, one line each."""
    site = folder.parent / "site"
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(folder / "mkdocs.yml")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if done.returncode or said:
        return said or [f"mkdocs ends with {done.returncode}"]
    return problems(site)


def main() -> int:
    """Build `build/site`; print what is wrong, and say so with the exit code."""
    folder = ROOT / "build" / "site-source"
    try:
        made = write(folder)
        wrong = build(folder)
    except SiteError as error:
        wrong, made = [str(error)], []
    print("\n".join(wrong) if wrong else f"build/site: {len(made)} pages, open build/site/index.html")
    return 1 if wrong else 0

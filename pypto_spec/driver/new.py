"""`pypto-spec new`: a starting spec from a gallery kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.driver.inputs import ENDINGS, UsageError
from pypto_spec.driver.schema import FILE

GALLERY = Path(__file__).parents[1] / "gallery"
"""The gallery's specs, package data of an installation."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ABOUT = re.compile(r"""^about\s*[:=]\s*["']?(.*?)["']?\s*$""", re.MULTILINE)
_NAME_LINES = {
    "yaml": re.compile(r"^(name:[ \t]*)\S+", re.MULTILINE),
    "toml": re.compile(r"^(name[ \t]*=[ \t]*)\S+", re.MULTILINE),
}
_MODELINES = {
    "yaml": re.compile(r"\A# yaml-language-server: \$schema=\S*\n"),
    "toml": re.compile(r"\A#:schema \S*\n"),
}

_REFERENCE = re.compile(r"""^[ \t]*python[ \t]*[:=][ \t]*["']?([^"':\s]+\.py):""", re.MULTILINE)


def templates() -> dict[str, Path]:
    """The specs that `--from` takes, by name."""
    return {path.stem: path for path in sorted(GALLERY.rglob("*")) if path.suffix in ENDINGS}


def template_list() -> list[tuple[str, str]]:
    """Each template with what it says about itself."""
    found: list[tuple[str, str]] = []
    for name, path in templates().items():
        about = _ABOUT.search(path.read_text(encoding="utf-8"))
        found.append((name, about[1] if about else ""))
    return found


def new_spec(word: str, template: str) -> Path:
    """Write a starting spec and return its path. `word` is a name, or a path with it. Raises UsageError.

    The file of its reference comes along. The first line tells editors where the schema of this installation is.
    """
    known = templates()
    source = known.get(template)
    if source is None:
        near = did_you_mean(template, known) or f"the templates are {', '.join(known)}"
        raise UsageError(f"there is no template `{template}`; {near}")
    kind = "toml" if source.suffix == ".toml" else "yaml"
    path = Path(word)
    if path.suffix.lower() not in ENDINGS:
        path = path.with_name(f"{path.name}{source.suffix}")
    elif (path.suffix.lower() == ".toml") != (kind == "toml"):
        raise UsageError(f"the template `{template}` is {kind.upper()}: write {path.with_suffix('.' + kind)}")
    name = path.stem.removesuffix(".kernel")  # by `NAME.kernel.yaml` an editor tells specs from other files
    if not _NAME.match(name):
        raise UsageError(f"`{name}` cannot name a program: names are ASCII letters, digits and `_`")
    text = source.read_text(encoding="utf-8")
    text = _MODELINES[kind].sub("", text)
    text, count = _NAME_LINES[kind].subn(rf'\g<1>"{name}"' if kind == "toml" else rf"\g<1>{name}", text, count=1)
    assert count == 1, f"{source} has no name"
    files: dict[Path, str] = {}
    reference = _REFERENCE.search(text)
    if reference is not None:  # it comes along, under the new name
        own = path.with_name(f"{name}.py")
        text = f"{text[: reference.start(1)]}{own.name}{text[reference.end(1) :]}"
        files[own] = (source.parent / reference[1]).read_text(encoding="utf-8").replace(source.name, path.name)
    _write_new({path: modeline(kind) + text, **files})
    return path


def _write_new(files: Mapping[Path, str]) -> None:
    """Write files that do not exist yet: all of them or none. Raises UsageError."""
    made: list[Path] = []
    path = Path()
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for written in made:
            with suppress(OSError):
                written.unlink()
        if isinstance(error, FileExistsError):
            raise UsageError(f"{path} exists already and is left alone") from None
        raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error


def modeline(kind: str) -> str:
    """The line by which editors find the schema of this installation."""
    if kind == "toml":
        return f"#:schema {FILE.as_uri()}\n"
    return f"# yaml-language-server: $schema={FILE.as_uri()}\n"

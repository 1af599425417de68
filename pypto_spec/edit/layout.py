"""`formatted`: the text of a spec in the style of the gallery, saying exactly what it said."""

from __future__ import annotations

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.edit.pieces import UnusualError, comments, plain_lines
from pypto_spec.edit.same import same_tree
from pypto_spec.records import dataclass
from pypto_spec.spec.load import Format, load


@dataclass(frozen=True, slots=True)
class Layout:
    """A text in the project's style; `reason` says why it is still as it was, where a form has no rule."""

    text: str
    reason: str = ""


def formatted(source: Source, format: Format) -> str:
    """The text in the project's style; line ends stay those of its first line. Raises CompileError."""
    return lay_out(source, format).text


def lay_out(source: Source, format: Format) -> Layout:
    """The text in the project's style. Raises CompileError for a text that cannot be read.

    What comes out is read again: its data, the order of its keys and its comments are those of `source`, and it is its
    own layout. Where a rare form defeats that, the text comes back as it was.
    """
    before = load(source, format)
    text, ending = plain_lines(source.text)
    try:
        made, remarks = _laid_out(text, format)
        after = load(Source(source.name, made), format)
        again, kept = _laid_out(made, format)
    except UnusualError as error:
        return Layout(source.text, str(error))
    except CompileError:
        return Layout(source.text, _DIFFERS)
    if again != made or kept != remarks or not same_tree(before, after):
        return Layout(source.text, _DIFFERS)
    return Layout(made.replace("\n", ending))


_DIFFERS = "its layout would not say the same"


def _laid_out(text: str, format: Format) -> tuple[str, list[str]]:
    """The layout of a text that loads, and its comments."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    if format == "toml":
        from pypto_spec.edit.layout_toml import toml_text
        from pypto_spec.edit.toml_reader import read_toml, statement_comments

        lines = read_toml(text.removeprefix(mark))
        return mark + toml_text(lines), list(statement_comments(lines))
    from pypto_spec.edit.layout_yaml import yaml_text
    from pypto_spec.edit.yaml_reader import read_yaml

    pieces = read_yaml(text.removeprefix(mark))
    remarks = list(comments(pieces.root))
    return mark + yaml_text(pieces), remarks

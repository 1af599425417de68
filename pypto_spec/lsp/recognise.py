"""Which of an editor's documents are specs: other YAML and TOML must not be drowned in errors.

A document is one if its name says so (`*.kernel.yaml`), if a modeline in its first lines names our schema, or if a
`spec` key with a scalar stands at its top level. A mapping under `spec` is a manifest of something else. While `spec:`
is still without a value, the document counts unless it has the keys of such a manifest. `documents.py` remembers the
answer: what has been a spec stays one until it is closed, whatever is half typed meanwhile.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Format: TypeAlias = Literal["yaml", "toml"]

NAMED = re.compile(r"\.kernel\.(ya?ml|toml)\Z", re.IGNORECASE)
HEAD = 10
"""Lines in which a modeline is looked for."""

_ENDINGS: tuple[tuple[str, Format], ...] = ((".toml", "toml"), (".yaml", "yaml"), (".yml", "yaml"))
_MODELINE = re.compile(r"^#.*(?:\$schema\s*[=:]|:schema\s).*pypto[-_]spec", re.IGNORECASE)
_YAML = re.compile(r"""(?m)^(?:\ufeff)?(?:\{\s*)?(?:spec|"spec"|'spec')[ \t]*:(?=\s|\Z)[ \t]*([^\s#]?)""")
_TOML = re.compile(r"""(?m)^(?:\ufeff)?(?:spec|"spec"|'spec')[ \t]*=""")
_NO_SCALAR = "{[|>&!*"
_MANIFEST = re.compile(r"(?m)^(?:apiVersion|kind|metadata|openapi)[ \t]*:")
_NESTED = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n)+(?:[ \t]+\S|- )")


def format_of(language: str, name: str) -> Format | None:
    """The format of a document by the editor's name for its language, else by its file's name; None for others."""
    word = language.lower()
    for known in ("toml", "yaml"):
        if known in word:
            return "toml" if known == "toml" else "yaml"
    return next((format for ending, format in _ENDINGS if name.lower().endswith(ending)), None)


def is_spec(name: str, format: Format, text: str) -> bool:
    """Whether a text is meant to be a spec, as far as a look at its lines can tell."""
    if NAMED.search(name) or any(_MODELINE.match(line) for line in text.split("\n", HEAD)[:HEAD]):
        return True
    if format == "toml":
        return _TOML.search(text) is not None
    found = _YAML.search(text)
    if found is None:
        return False
    if found[1]:
        return found[1] not in _NO_SCALAR
    return _NESTED.match(text, found.end()) is None and _MANIFEST.search(text) is None

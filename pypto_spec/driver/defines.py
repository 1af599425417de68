"""Constants from the command line: `-D NAME=VALUE`, and files of them that `-D @FILE` reads.

A file of defines is a YAML mapping of constants to values (TOML where its name ends in `.toml`). A value is taken as
the text that stands there, as after `-D NAME=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.driver.inputs import UsageError
from pypto_spec.records import dataclass

MARK = "@"
"""What stands before the name of a file."""

ENDING = ".defines"
"""Of the files that `tune` writes. No ending of specs, so that no search for specs finds them."""

_WAY = "a file of defines holds a constant and its value on each line, such as `TR: 64`"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*|-[0-9][0-9A-Za-z_.+-]*")
"""Values that mean themselves in YAML without quotes."""


@dataclass(frozen=True, slots=True)
class Define:
    """One constant with the text of its value; `written`: it stands in a file."""

    name: str
    text: str
    written: bool = False


def parse_defines(words: Sequence[str]) -> dict[str, str]:
    """`-D` options as a mapping; the last of several with one name counts, in a file or not. Raises UsageError."""
    return {define.name: define.text for define in split_defines(words)}


def split_defines(words: Sequence[str]) -> Iterator[Define]:
    """What the `-D` options set, in their order. Raises UsageError."""
    for word in words:
        if word.startswith(MARK):
            yield from (Define(name, text, written=True) for name, text in read_defines(word[len(MARK) :]).items())
            continue
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"-D {word}: write -D NAME=VALUE, or -D {MARK}FILE for a file of defines")
        yield Define(name.strip(), value.strip())


def read_defines(path: str) -> dict[str, str]:
    """The constants of a file with the texts of their values. Raises UsageError with a line for each mistake."""
    from pypto_spec.spec.load import load
    from pypto_spec.spec.reader import decode

    if not path:
        raise UsageError(f"-D {MARK}: name the file, -D {MARK}FILE")
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"-D {MARK}{path}: there is no such file; `pypto-spec tune` writes one") from None
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise UsageError(f"-D {MARK}{path}: cannot read it: {why}") from error
    try:
        root = load(decode(path, data))
    except CompileError as error:
        raise UsageError("\n".join(_wrong(d) for d in error.diagnostics)) from error
    from pypto_spec.spec.tree import ScalarNode

    made: dict[str, str] = {}
    problems: list[str] = []
    for key, node in root.items:
        if isinstance(node, ScalarNode) and node.value is not None:
            made[key.text] = _text(node.value, node.text)
        else:
            found = "nothing" if isinstance(node, ScalarNode) else f"a {node.kind}"
            problems.append(f"{key.span}: `{key.text}` has one value, found {found}; {_WAY}")
    if not root.items:
        problems.append(f"{root.span}: there are no defines in it; {_WAY}")
    if problems:
        raise UsageError("\n".join(problems))
    return made


def _wrong(diagnostic: Diagnostic) -> str:
    from pypto_spec.diagnostics.rules.syntax import WRONG_TYPE

    label = diagnostic.primary
    if diagnostic.rule is WRONG_TYPE and label.text == "no mapping":  # the loader speaks of specs here
        return f"{label.span}: there are no defines in it; {_WAY}"
    return f"{label.span}: {diagnostic.message}; {diagnostic.helps[0] if diagnostic.helps else _WAY}"


def _text(value: str | float | bool, text: str) -> str:
    """The text of a value as YAML writes it: TOML knows other forms of numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text.replace("_", "") if isinstance(value, float) else text


def defines_text(values: Mapping[str, str], about: Sequence[str]) -> str:
    """A file of defines; the lines `about` stand before them as comments."""
    from pypto_spec.convert import emit

    head = [f"# {line}" for line in about]
    body = [f"{name}: {text if _PLAIN.fullmatch(text) else emit.line(text)}" for name, text in values.items()]
    return "\n".join([*head, *body]) + "\n"

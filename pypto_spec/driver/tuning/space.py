"""What `tune` may choose from: `-D NAME=A..B:STEP`, `-D NAME=a,b,c`, and constants that stay as they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.driver.defines import split_defines
from pypto_spec.driver.inputs import UsageError
from pypto_spec.records import dataclass
from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain

MOST = 256
"""Candidates that are tried where nothing else is said."""

_RANGE = re.compile(r"(?P<first>[^.:]*)\.\.(?P<last>[^.:]*)(?::(?P<step>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Axis:
    """A constant with the values to try, as texts, each once."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """Constants with several values, in the order in which they were first named, and those with one."""

    axes: tuple[Axis, ...]
    fixed: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The constants to choose."""
        return tuple(axis.name for axis in self.axes)

    def choices(self) -> Iterator[dict[str, str]]:
        """All combinations; the last axis changes first."""
        for values in product(*(axis.values for axis in self.axes)):
            yield dict(zip(self.names, values, strict=True))


def parse_space(words: Sequence[str], most: int = MOST) -> Space:
    """The space behind `-D` options; of several with one name the last counts. Raises UsageError."""
    found: dict[str, list[range | str]] = {}
    for define in split_defines(words):
        written = define.written
        found[define.name] = [define.text] if written else [*_items(define.name, define.text)]
    counts = {name: sum(map(_count, items)) for name, items in found.items()}
    total = prod(counts.values())
    if total > most:
        sizes = " x ".join(f"{count:,}" for count in counts.values() if count > 1)
        raise UsageError(
            f"{sizes}{f' = {total:,}' if ' x ' in sizes else ''} candidates, at most {most:,} are tried; "
            f"leave values out, take larger steps, or allow more with --most {total}"
        )
    axes: list[Axis] = []
    fixed: dict[str, str] = {}
    for name, items in found.items():
        values = _different(items)
        if len(values) == 1:
            fixed[name] = values[0]
        else:
            axes.append(Axis(name, values))
    return Space(tuple(axes), fixed)


def _items(name: str, text: str) -> Iterator[range | str]:
    for item in _split(text):
        if not item:
            where = "between two commas" if "," in text else "behind the sign"
            raise UsageError(f"-D {name}={text}: there is no value {where}; write values such as {name}=16,32,64")
        yield _range(name, item) if ".." in item else item


def _count(item: range | str) -> int:
    """How many values it stands for; `len` has no number for the longest ranges."""
    return 1 if isinstance(item, str) else (item.stop - item.start - 1) // item.step + 1


def _split(text: str) -> Iterator[str]:
    """The parts between commas, but for those in parentheses: `min(R, 64), 32` are two."""
    depth = start = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _range(name: str, text: str) -> range:
    shown = f"-D {name}={text}"
    match = _RANGE.fullmatch(text)
    first, last = (_integer(match[part]) if match is not None else None for part in ("first", "last"))
    if match is None or first is None or last is None:
        raise UsageError(
            f"{shown}: a range goes from one integer to another, both included, such as {name}=16..256:16; "
            f"list other values with commas, such as {name}=1.5,2.5"
        )
    if match["step"] is None:
        step: int | None = 1
    else:
        step = _integer(match["step"])
    if step is None or step < 1:
        raise UsageError(f"{shown}: the step `{match['step']}` is no integer above 0; leave it out to count by 1")
    if last < first:
        ending = f":{step}" if match["step"] is not None else ""
        raise UsageError(
            f"{shown}: the range is empty, it counts up; write the smaller number first, {name}={last}..{first}{ending}"
        )
    return range(first, last + 1, step)


def _integer(text: str) -> int | None:
    value = plain(text.strip())
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def plain(text: str) -> str | int | float | bool | None:
    """What a text means as a value in a spec."""
    try:
        return resolve_plain(text)
    except IntegerTooLargeError:
        return text


def _different(items: Sequence[range | str]) -> tuple[str, ...]:
    """The values as texts, equal ones once: `64` and `0x40` are."""
    found: dict[tuple[type, object], str] = {}
    for item in items:
        for text in (item,) if isinstance(item, str) else map(str, item):
            value = plain(text)
            found.setdefault((type(value), value), text)
    return tuple(found.values())


def known_names(space: Space, constants: Sequence[str], of_variants: Sequence[str], name: str) -> None:
    """Raises UsageError unless every name is a constant of the spec, there is a choice, and no variant makes it.

    `constants` are the spec's, `of_variants` those that its `variants` give values to.
    """
    for word in (*space.names, *space.fixed):
        if word not in constants:
            listed = (
                f"the constants are {', '.join(constants)}" if constants else "there are none; `constants` adds them"
            )
            raise UsageError(f"-D {word}: {name} has no constant `{word}`; {did_you_mean(word, constants) or listed}")
    if not space.axes:
        example = next(iter([*space.fixed, *constants]), "TR")
        raise UsageError(
            f"there is nothing to choose from; give a constant several values, such as -D {example}=16..64:16 or "
            f"-D {example}=16,32,64" + (f" (constants: {', '.join(constants)})" if constants else "")
        )
    for word in space.names:
        if word in of_variants:
            raise UsageError(
                f"-D {word}: the variants of {name} give `{word}` its values; tune another constant of one variant "
                f"with --variant, or take `{word}` out of the matrix"
            )

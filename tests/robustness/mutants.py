"""Mutants of gallery specs: damaged bytes, lines, tokens and nodes, each made from one seed."""

from __future__ import annotations

import copy
import functools
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pypto_spec.spec.load import Format, format_of
from tests.robustness.words import BYTES, KEYS, NAMES, NUMBERS, VALUES

SPECS = Path(__file__).resolve().parents[2] / "specs"


@dataclass(frozen=True)
class Mutant:
    """A damaged spec: its bytes, and what was done to which spec."""

    seed: int
    origin: str
    what: str
    data: bytes
    format: Format


@functools.cache
def gallery() -> tuple[tuple[str, str, Format], ...]:
    """Name, text and format of each spec of the gallery."""
    files = sorted(p for p in SPECS.rglob("*") if p.suffix in (".yaml", ".toml"))
    return tuple((str(p.relative_to(SPECS)), p.read_text(), format_of(p.name)) for p in files)


def mutants(count: int, first: int = 0) -> Iterator[Mutant]:
    """`count` mutants, those of the seeds from `first` on."""
    return (mutant(seed) for seed in range(first, first + count))


def mutant(seed: int) -> Mutant:
    """The mutant of a seed: one of the gallery, with damage done to it."""
    rng = random.Random(seed)
    return damaged(rng, seed, *rng.choice(gallery()))


def damaged(rng: random.Random, seed: int, origin: str, text: str, format: Format) -> Mutant:
    """A text with one to three kinds of damage."""
    if rng.random() < 0.45:
        return _of_tree(rng, seed, origin, text, format)
    data, done = text.encode(), []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.choice(_TEXT_KINDS)
        data = kind(rng, data)
        done.append(kind.__name__.strip("_"))
    return Mutant(seed, origin, ", ".join(done), data, format)


# -- text -----------------------------------------------------------------------------------------------------------


def _insert_bytes(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(BYTES) + data[place:]


def _replace_byte(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice((rng.choice(BYTES), bytes([rng.randrange(256)]))) + data[place + 1 :]


def _delete_bytes(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.choice((1, 1, 2, 5, 40)) :]


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(5)
    if what == 0:
        del lines[place]
    elif what == 1:
        lines.insert(other, lines[place])
    elif what == 2:
        lines[place], lines[other] = lines[other], lines[place]
    elif what == 3:
        lines[place] = b" " * rng.choice((1, 2, 4)) + lines[place]
    else:
        lines[place] = lines[place].removeprefix(b"  ")
    return b"\n".join(lines)


def _line_ends(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\n\t", b"\xc2\x85", b"\xe2\x80\xa8", b" ", b"")))


def _token(pattern: bytes, words: tuple[str, ...]) -> Callable[[random.Random, bytes], bytes]:
    def mutate(rng: random.Random, data: bytes) -> bytes:
        found = list(re.finditer(pattern, data))
        if not found:
            return data
        new, chosen = rng.choice(words).encode(), rng.choice(found)
        if rng.random() < 0.5:
            return re.sub(rb"(?<![A-Za-z0-9_.])" + re.escape(chosen[0]) + rb"(?![A-Za-z0-9_])", lambda _: new, data)
        return data[: chosen.start()] + new + data[chosen.end() :]

    return mutate


_number = _token(rb"(?<![A-Za-z0-9_.])\d[\d.e]*", NUMBERS)
_number.__name__ = "number"
_name = _token(rb"[A-Za-z_][A-Za-z0-9_]*", NAMES)
_name.__name__ = "name"
_key = _token(rb"[A-Za-z_][A-Za-z0-9_]*(?=:)", KEYS)
_key.__name__ = "key"


def _swap_names(rng: random.Random, data: bytes) -> bytes:
    found = list(re.finditer(rb"[A-Za-z_][A-Za-z0-9_]*|\d+", data))
    if len(found) < 2:
        return data
    one, two = sorted(rng.sample(found, 2), key=lambda m: m.start())
    return data[: one.start()] + two[0] + data[one.end() : two.start()] + one[0] + data[two.end() :]


_TEXT_KINDS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _insert_bytes,
    _replace_byte,
    _delete_bytes,
    _truncate,
    _lines,
    _line_ends,
    _number,
    _number,
    _number,
    _name,
    _name,
    _name,
    _key,
    _swap_names,
)


# -- tree -----------------------------------------------------------------------------------------------------------


def _of_tree(rng: random.Random, seed: int, origin: str, text: str, format: Format) -> Mutant:
    tree = tomllib.loads(text) if format == "toml" else yaml.safe_load(text)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.choice(_TREE_KINDS)
        kind(rng, tree)
        done.append(kind.__name__.strip("_"))
    style = rng.choice((False, False, None, True))
    dumped = yaml.safe_dump(
        tree, sort_keys=False, default_flow_style=style, allow_unicode=rng.random() < 0.5, width=100
    )
    return Mutant(seed, origin, ", ".join(done), dumped.encode("utf-8", "surrogatepass"), "yaml")


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Each (container, key) below the root."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
        for key in keys:
            found.append((node, key))
            waiting.append(node[key])
    return found


def _place(rng: random.Random, tree: Any) -> tuple[Any, Any]:
    found = _places(tree)
    return rng.choice(found) if found else ({}, "x")


def _delete_node(rng: random.Random, tree: Any) -> None:
    node, key = _place(rng, tree)
    if isinstance(node, list) or key in node:
        del node[key]


def _duplicate_node(rng: random.Random, tree: Any) -> None:
    node, key = _place(rng, tree)
    if isinstance(node, list):
        node.insert(rng.randrange(len(node) + 1), copy.deepcopy(node[key]))
    elif key in node:
        node[f"{key}2"] = copy.deepcopy(node[key])


def _alias_node(rng: random.Random, tree: Any) -> None:
    """One object at two places: the dumper writes an anchor and an alias."""
    (node, key), (other, at) = _place(rng, tree), _place(rng, tree)
    value = node[key] if isinstance(node, list) else node.get(key)
    if not isinstance(value, dict | list) or not _contains(value, other):
        other[at] = value


def _contains(value: Any, wanted: Any) -> bool:
    return value is wanted or any(_contains(node[key], wanted) for node, key in _places(value) if node is value)


def _swap_nodes(rng: random.Random, tree: Any) -> None:
    (node, key), (other, at) = _place(rng, tree), _place(rng, tree)
    if isinstance(node, dict) and key not in node:
        return
    one, two = copy.deepcopy(node[key]), copy.deepcopy(other[at])
    node[key] = two
    if isinstance(other, list) or at in other:
        other[at] = one


def _rename_key(rng: random.Random, tree: Any) -> None:
    node, key = _place(rng, tree)
    if isinstance(node, dict) and key in node:
        new = rng.choice((rng.choice(KEYS), rng.choice(NAMES), str(key)[:-1], f"{key}s", rng.choice(VALUES[:16])))
        items = [(new if k == key else k, v) for k, v in node.items()]
        node.clear()
        node.update(items)


def _set_value(rng: random.Random, tree: Any) -> None:
    node, key = _place(rng, tree)
    node[key] = copy.deepcopy(rng.choice(VALUES))


def _add_key(rng: random.Random, tree: Any) -> None:
    node, _ = _place(rng, tree)
    if isinstance(node, dict):
        node[rng.choice(KEYS)] = copy.deepcopy(rng.choice(VALUES))
    else:
        node.insert(rng.randrange(len(node) + 1), copy.deepcopy(rng.choice(VALUES)))


def _wrap(rng: random.Random, tree: Any) -> None:
    node, key = _place(rng, tree)
    if isinstance(node, dict) and key not in node:
        return
    value = node[key]
    depth = rng.choice((1, 1, 2, 60, 250))
    if depth > 2 and "deep" in str(tree):
        return  # PyYAML's dumper has its own limit of depth
    for _ in range(depth):
        value = [value] if rng.random() < 0.5 else {"deep" if depth > 2 else rng.choice(KEYS): value}
    node[key] = value


def _shape(rng: random.Random, tree: Any) -> None:
    """A number of the spec becomes another one that a kernel author could have written."""
    found = [(n, k) for n, k in _places(tree) if isinstance(n[k], int) and not isinstance(n[k], bool)]
    if found:
        node, key = rng.choice(found)
        node[key] = rng.choice(
            (1, 2, 3, 5, 7, 8, 15, 16, 17, 24, 31, 32, 33, 40, 56, 63, 64, 65, 96, 100, 128, 200, 255, 300)
        )


def _dtype(rng: random.Random, tree: Any) -> None:
    found = [(n, k) for n, k in _places(tree) if k == "dtype"]
    if found:
        node, key = rng.choice(found)
        node[key] = rng.choice(("fp32", "fp16", "bf16", "int32", "int16", "int8", "uint8", "int64", "uint32"))


def _operator(rng: random.Random, tree: Any) -> None:
    pairs = (
        ("exp", "log", "sqrt", "rsqrt", "recip", "neg", "abs", "relu"),
        ("add", "sub", "mul", "div", "maximum", "minimum"),
        ("adds", "subs", "muls", "divs", "maxs", "mins"),
        ("row_sum", "row_max", "row_min", "col_sum", "col_max", "col_min"),
        ("for", "pipeline", "parallel", "spmd"),
        (" + ", " - ", " * ", " / ", " // ", " % ", " ** ", " == "),
    )
    found = _places(tree)
    rng.shuffle(found)
    for node, key in found:
        for row in pairs:
            if isinstance(node, dict) and key in row:
                items = [(rng.choice(row) if k == key else k, v) for k, v in node.items()]
                node.clear()
                node.update(items)
                return
            value = node.get(key) if isinstance(node, dict) else node[key]
            hits = [w for w in row if w in value] if isinstance(value, str) else []
            if isinstance(value, str) and hits:
                node[key] = value.replace(rng.choice(hits), rng.choice(row), 1)
                return


_TREE_KINDS: tuple[Callable[[random.Random, Any], None], ...] = (
    _delete_node,
    _duplicate_node,
    _alias_node,
    _swap_nodes,
    _rename_key,
    _set_value,
    _add_key,
    _wrap,
    _shape,
    _shape,
    _shape,
    _shape,
    _dtype,
    _operator,
    _operator,
)

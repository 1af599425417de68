"""Cases of whole tiles, written anew for tiles of which only a part is valid.

The specs of the matrix load whole tensors and store one result. A form says how many of the rows and columns exist;
every operand that has the case's rows or columns is cut there, so that a new operator needs no case of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from tests.golden.harness import Case
from tests.golden.spec_text import Shape

TILE: Shape = (20, 64)
"""Rows and columns of the tiles that are cut; neither is an extent of anything else in a case."""
PART: Shape = (13, 37)
"""What of them is valid, where that is known at compile time: no multiple of a block in any dtype."""
LAST: Shape = (7, 5)
"""What is valid of the last tile, where a tensor takes three tiles of rows, or two of columns."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What happens to an axis: `static` is cut once, `loop` is walked in tiles of which the last one is cut.

    `symbol`: the tensor's extent is a run-time symbol; its smallest value makes a tile of one element.
    """

    rows: str = ""
    cols: str = ""
    symbol: bool = False


CUTS: Mapping[str, Cut] = {
    "rows": Cut(rows="static"),
    "columns": Cut(cols="static"),
    "corner": Cut(rows="static", cols="static"),
    "run-time rows": Cut(rows="loop", symbol=True),
    "run-time columns": Cut(cols="loop", symbol=True),
    "extents": Cut(rows="loop", cols="loop"),
}
"""The forms in which only a part of a tile is valid."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

COUNT = (3, 2)
INDEX = ("i", "j")
SYMBOL = ("M", "N")


class NotCutError(ValueError):
    """The case has no operand that a form could cut."""


def cut(case: Case, form: str) -> Case:
    """The case in a form; raises NotCutError where it is none of whole tiles of `TILE`."""
    doc = yaml.load(case.text, Loader=LOADER)
    how = CUTS[form]
    body = doc["program"][0]["body"]
    if not all(_whole(doc, s["load"]) for s in body if "load" in s) or any("for" in s for s in body):
        raise NotCutError(f"{doc['name']} has windows of its own")
    axes = [axis for axis, kind in enumerate((how.rows, how.cols)) if kind]
    loops = [axis for axis in axes if (how.rows, how.cols)[axis] == "loop"]
    narrowed = [s["set_validshape"] for s in body if "set_validshape" in s]
    done = [_narrow(s, axes, loops, how.symbol) for s in narrowed] or [
        _load(doc, s["load"], axes, loops, how.symbol) for s in body if "load" in s
    ]
    if not any(done):
        raise NotCutError(f"no operand of {doc['name']} has what `{form}` cuts")
    _indices(doc, axes, loops, how.symbol)
    for name in dict.fromkeys(s["store"]["to"] for s in body if "store" in s):
        _out(doc["tensors"][name], loops, how.symbol)
    for statement in body:
        if "store" in statement:
            statement["store"]["at"] = [*(INDEX[axis] for axis in loops), *statement["store"]["at"]]
    for axis in reversed(loops):
        body = [{"for": {"index": INDEX[axis], "count": _count(axis, how.symbol)}, "body": body}]
    doc["program"][0]["body"] = body
    doc["name"] += f"_p{list(CUTS).index(form)}"  # names of kernels are short
    if how.symbol:
        (axis,) = loops
        most = COUNT[axis] * TILE[axis]
        doc["symbols"] = {SYMBOL[axis]: {"min": 1, "max": most}}
        last = most - TILE[axis] + LAST[axis]
        doc.setdefault("golden", {})["sizes"] = [{SYMBOL[axis]: size} for size in (1, TILE[axis], last)]
    return replace(case, text=yaml.dump(doc, Dumper=DUMPER, sort_keys=False, default_flow_style=None, width=200))


def _count(axis: int, symbol: bool) -> int | str:
    return f"ceil_div({SYMBOL[axis]}, {TILE[axis]})" if symbol else COUNT[axis]


def _extent(axis: int, symbol: bool) -> int | str:
    return SYMBOL[axis] if symbol else (COUNT[axis] - 1) * TILE[axis] + LAST[axis]


def _whole(doc: Any, load: Any) -> bool:
    return load["shape"] == doc["tensors"][load["from"]]["shape"] and "valid" not in load


def _valid(axis: int, loops: list[int], symbol: bool) -> int | str:
    """What of an axis of the tile is valid."""
    if axis not in loops:
        return PART[axis]
    return f"min({TILE[axis]}, {_extent(axis, symbol)} - {INDEX[axis]} * {TILE[axis]})"


def _load(doc: Any, load: Any, axes: list[int], loops: list[int], symbol: bool) -> bool:
    """Cut one operand; whether it has an axis to cut."""
    shape = doc["tensors"][load["from"]]["shape"]
    here = [axis for axis in axes if len(shape) == 2 and load["shape"][axis] == TILE[axis]]
    if here:
        load["valid"] = list(load["shape"])
    for axis in here:
        load["valid"][axis] = _valid(axis, loops, symbol)
        shape[axis] = _extent(axis, symbol) if axis in loops else PART[axis]
        if axis in loops:
            load["at"][axis] = f"{INDEX[axis]} * {TILE[axis]}"
    return bool(here)


def _narrow(statement: Any, axes: list[int], loops: list[int], symbol: bool) -> bool:
    """Cut what set_validshape leaves of its operand, which stays whole."""
    for axis in axes:
        statement["valid"][axis] = _valid(axis, loops, symbol)
    return bool(axes)


def _indices(doc: Any, axes: list[int], loops: list[int], symbol: bool) -> None:
    """Indices of columns stay among those that always exist."""
    for given in doc.get("golden", {}).get("inputs", {}).values():
        if 1 in axes and given.get("max") == TILE[1] - 1:
            given["max"] = (0 if symbol else LAST[1] - 1) if 1 in loops else PART[1] - 1


def _out(tensor: Any, loops: list[int], symbol: bool) -> None:
    """Each round of the loops has a place of its own, so that any shape of result will do."""
    tensor["access"] = "inout"
    tensor["shape"] = [*(_count(axis, symbol) for axis in loops), *tensor["shape"]]

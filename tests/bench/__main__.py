"""`python -m tests.bench`: compile times with the budgets that the issues state, memory plans, and the editor."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from tests.bench.editor import live
from tests.bench.measure import Figure, chains, cold, gallery
from tests.bench.memory import memory

GROUPS = ("cold", "gallery", "chains", "memory", "editor")


def main() -> None:
    """Measure and print; a budget that is not kept shows in the table and nowhere else."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "groups", nargs="*", metavar="GROUP", help=f"what to measure: {', '.join(GROUPS)} (default: all)"
    )
    parser.add_argument("--runs", type=int, default=7, help="runs of each figure (chains, memory: at most 3)")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the cold commands")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args()
    unknown = [g for g in given.groups if g not in GROUPS]
    if unknown:
        parser.error(f"there is no group {', '.join(unknown)}; groups are {', '.join(GROUPS)}")
    figures = _measure(given.groups or list(GROUPS), given.runs, given.python)
    if given.json:
        print(json.dumps([f.plain() for f in figures], indent=2))
        return
    print(f"{'':52} {'min':>9} {'median':>9} {'budget':>9}")
    missed = 0
    for found in figures:
        print(_line(found), flush=True)
        missed += found.met is False
    print(f"\n{missed} over budget" if missed else "\nall within budget")


def _measure(groups: list[str], runs: int, python: str) -> Iterator[Figure]:
    if "cold" in groups:
        yield from cold(python, runs)
    if "gallery" in groups:
        yield from gallery(runs)
    if "chains" in groups:
        yield from chains(min(runs, 3))
    if "memory" in groups:
        yield from memory(min(runs, 3))
    if "editor" in groups:
        yield from live(runs)


def _line(found: Figure) -> str:
    digits = 0 if found.unit == "" else 2 if found.unit == "x" else 1
    budget = "" if found.budget is None else f"{found.budget:9.{digits}f}"
    mark = "  over" if found.met is False else ""
    return f"{found.name:52} {found.least:9.{digits}f} {found.median:9.{digits}f} {budget:>9} {found.unit}{mark}"


if __name__ == "__main__":
    main()

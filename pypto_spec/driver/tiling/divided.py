"""A product of whole arrays that is divided into blocks: its plan, the terms of a round, and why not the other one."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from pypto_spec.driver.tiling.words import OPEN
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.passes.products.plan import Division, Plan
from pypto_spec.passes.products.product import Product
from pypto_spec.records import dataclass

FORMULA = (
    "each core makes one tile a round: wall = rounds x (max(read, load, mad) + drain);",
    "with 2 accumulators wall = rounds x max(read, load, mad, drain) + the lesser of both",
)
"""How the terms make the wall; `docs/tiling.md` has the terms."""

_HEAD = ("acc", "m x n", "K in L1", "in L0", "tiles", "rounds", "read", "load", "mad", "drain", "wall")
_LEFT = frozenset({"m x n"})
_BOUND = {"read": "reads from GM and L2", "load": "loads from L1", "mad": "MADs", "drain": "drains"}


@dataclass(frozen=True, slots=True)
class Divided:
    """One product of a spec, its place there, and how it is divided."""

    where: str
    platform: str
    planner: str
    product: Product
    division: Division


def lines(it: Divided) -> Iterator[str]:
    """The text of one product."""
    taken = it.division.taken
    yield _title(it)
    yield (
        f"  tile {taken.m} x {taken.n}, K in chunks of {taken.chunk} in L1 and in blocks of {taken.block} in L0, "
        f"{_accumulators(taken)}: modelled {taken.cycles:,} cycles, mostly {_bound(taken)}"
    )
    yield from _table(it.division)
    yield from (f"  {line}" for line in FORMULA)
    name, why = _other(it.division)
    yield "  not taken:"
    yield f"    {name}  {why}"
    if it.division.turns and not it.division.asked and _saves(it.division) > 0:
        yield f"  help: for two accumulators, {OPEN}"


def plain(it: Divided) -> dict[str, Any]:
    """The product as plain data."""
    m, n, k = it.product.extents
    division = it.division
    return {
        "where": it.where,
        "platform": it.platform,
        "planner": it.planner,
        "shape": {"m": m, "n": n, "k": k},
        "batch": prod(it.product.result[:-2]),
        "dtype": it.product.operand_dtype.name,
        "acc": ACCUMULATOR[it.product.operand_dtype].name,
        "cores": division.cores,
        "two_accumulators_open": division.asked and division.turns,
        "taken": _plan(division.taken),
        "one_accumulator": _plan(division.single),
        "two_accumulators": _plan(division.double) if division.double is not None else None,
        "reason": _other(division)[1],
    }


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "m": plan.m,
        "n": plan.n,
        "k_in_l1": plan.chunk,
        "k_in_l0": plan.block,
        "accumulators": 2 if plan.double else 1,
        "tiles": plan.tiles,
        "rounds": plan.rounds,
        "read_cycles": round(plan.read, 3),
        "load_cycles": round(plan.load, 3),
        "mad_cycles": round(plan.mad, 3),
        "drain_cycles": round(plan.drain, 3),
        "wall_cycles": plan.cycles,
    }


def _title(it: Divided) -> str:
    m, n, k = it.product.extents
    batch = prod(it.product.result[:-2])
    times = f"{batch:,} times " if batch != 1 else ""
    cores = f"{it.division.cores} core{'s' * (it.division.cores != 1)}"
    dtype = it.product.operand_dtype
    return (
        f"{it.where}: {times}[{m}, {k}] @ [{k}, {n}] of {dtype}, added up in {ACCUMULATOR[dtype]}, "
        f"in blocks over {cores}, on {it.platform}, planner {it.planner}"
    )


def _accumulators(plan: Plan) -> str:
    return "2 accumulators" if plan.double else "1 accumulator"


def _bound(plan: Plan) -> str:
    terms = {"read": plan.read, "load": plan.load, "mad": plan.mad, "drain": plan.drain}
    return _BOUND[max(terms, key=lambda name: terms[name])]


def _table(division: Division) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("", *_HEAD)]
    for plan in (division.single, division.double):
        number = "2" if plan is None or plan.double else "1"
        mark = "*" if plan is division.taken else ""
        rows.append((mark, number, *(_cells(plan) if plan is not None else ("-",))))
    widths = [max(len(row[column]) for row in rows if column < len(row)) for column in range(len(_HEAD) + 1)]
    for row in rows:
        cells = [
            cell.ljust(width) if not head or head in _LEFT else cell.rjust(width)
            for cell, width, head in zip(row, widths, ("", *_HEAD), strict=False)
        ]
        yield "  " + "  ".join(cells).rstrip()


def _cells(plan: Plan) -> tuple[str, ...]:
    terms = (plan.read, plan.load, plan.mad, plan.drain)
    return (
        f"{plan.m} x {plan.n}",
        f"{plan.chunk:,}",
        f"{plan.block:,}",
        f"{plan.tiles:,}",
        f"{plan.rounds:,}",
        *(f"{cycles:,.0f}" for cycles in terms),
        f"{plan.cycles:,}",
    )


def _saves(division: Division) -> int:
    """Cycles that two accumulators would save."""
    return 0 if division.double is None else division.single.cycles - division.double.cycles


def _other(division: Division) -> tuple[str, str]:
    """The number of accumulators that was not taken, and why."""
    saves, taken = _saves(division), division.taken
    if taken.double:
        return _accumulators(division.single), f"costs {_cycles(saves, taken)} more"
    name = "2 accumulators"
    if division.double is None:
        return name, "no tile leaves each block two of them, so that no drain runs under the next tile"
    if saves < 0:
        return name, f"costs {_cycles(-saves, taken)} more"
    if saves == 0:
        return name, "costs the same; of equals one accumulator is taken"
    would = f"would save {_cycles(saves, taken)}"
    if not division.turns:
        why = "with `blocks: auto` how many tiles a block has is known at run time only"
        return name, f"{would}, but {why}; give a number of `blocks`"
    return name, f"{would}; two accumulators are not asked for"


def _cycles(cycles: int, taken: Plan) -> str:
    return f"{cycles:,} cycle{'s' * (cycles != 1)} ({100 * cycles / taken.cycles:.1f} %)"

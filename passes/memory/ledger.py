"""The overflow error of a memory: who lives there at the peak, with bytes, and by how much it is too much."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Label
from pypto_spec.diagnostics.rules.memory import CAPACITY
from pypto_spec.ir.nodes import Buffer, Region
from pypto_spec.ir.types import Memory
from pypto_spec.passes.base import Context
from pypto_spec.passes.memory.lifetimes import Lifetime, Lifetimes, peak

SHOWN = 8
"""Buffers named in the message; the rest are summed up."""


def size(count: int) -> str:
    """Bytes for people: `98304 B (96 KiB)`."""
    if count < 1024:
        return f"{count} B"
    kib = count / 1024
    return f"{count} B ({kib:.0f} KiB)" if count % 1024 == 0 else f"{count} B ({kib:.1f} KiB)"


def _who(buffer: Buffer, life: Lifetime) -> str:
    if life.scratch and not life.values:
        return f"scratch of `{life.first.name}`" if life.first else "scratch"
    names = list(dict.fromkeys(f"`{v.name.split('.')[0]}` {v.type}" for v in life.values))
    return ", then ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _lines(life: Lifetime) -> str:
    first, last = life.first, life.last
    if first is None or last is None:
        return ""
    a, b = first.loc.span.line, last.loc.span.line
    return f", line {a}" if a == b else f", lines {a} to {b}"


def overflow(
    region: Region, memory: Memory, placed: list[Buffer], end: int, lives: Lifetimes, context: Context
) -> None:
    """Report that `placed` needs `end` bytes of a memory that has fewer."""
    available = context.target.capacity[memory]
    sizes = {b.name: (b.bytes or 0) * b.slots for b in placed}
    where, _ = peak({n: lives.of[n] for n in sizes}, sizes)
    op = lives.ops.get(where) or next((o for n, o in sorted(lives.ops.items()) if n >= where), None)
    span = op.loc.span if op is not None else region.loc.span
    order = sorted(placed, key=lambda b: -sizes[b.name])
    ledger = [f"{size(sizes[b.name])}: {_who(b, lives.of[b.name])}{_lines(lives.of[b.name])}" for b in order[:SHOWN]]
    if len(order) > SHOWN:
        rest = sum(sizes[b.name] for b in order[SHOWN:])
        ledger.append(f"{size(rest)}: {len(order) - SHOWN} smaller buffers")
    labels = [
        Label(first.loc.span, f"`{life.values[0].name.split('.')[0]}` takes {size(sizes[b.name])}")
        for b in order[:3]
        if (life := lives.of[b.name]).values and (first := life.first) is not None and first.loc.span != span
    ]
    context.sink.report(
        CAPACITY,
        span,
        f"region `{region.name}` needs {size(end)} of `{memory.value}` memory, {size(available)} are available",
        label="the most is live here",
        secondary=labels,
        notes=["live in `" + memory.value + "`:\n" + "\n".join("  " + line for line in ledger)],
        helps=[f"{size(end - available)} too much: use smaller tiles, or load less at a time in a loop"],
        figures=[("needed_bytes", end), ("available_bytes", available), ("excess_bytes", end - available)],
    )

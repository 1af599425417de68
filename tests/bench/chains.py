"""Long specs: a chain of statements, each on the result of one before it."""

from __future__ import annotations

from collections.abc import Callable

HEAD = """\
spec: v1
name: chain

tensors:
  a:   {{dtype: fp32, shape: [{rows}, 64]}}
  b:   {{dtype: fp32, shape: [{rows}, 64]}}
  out: {{dtype: fp32, shape: [{rows}, 64], access: out}}

program:
  - region: chain
    body:
"""
ROWS = 32


def _spec(lines: list[str], tiles: int = 1) -> str:
    return HEAD.format(rows=ROWS * tiles) + "".join(f"      {line}\n" for line in lines)


def _load(into: str, tensor: str, tile: int = 0) -> str:
    return f"- load:  {{into: {into}, from: {tensor}, at: [{tile * ROWS}, 0], shape: [{ROWS}, 64]}}"


def _store(value: str, tile: int = 0) -> str:
    return f"- store: {{from: {value}, to: out, at: [{tile * ROWS}, 0]}}"


def operators(count: int) -> str:
    """Operator statements on tiles, between loads and one store."""
    lines = [_load("t0", "a"), _load("u", "b")]
    for n in range(1, count - 2):
        written = (
            f"- add: {{into: t{n}, lhs: t{n - 1}, rhs: u}}",
            f"- muls: {{into: t{n}, x: t{n - 1}, scalar: 0.5}}",
            f"- relu: {{into: t{n}, x: t{n - 1}}}",
            f"- maximum: {{into: t{n}, lhs: t{n - 1}, rhs: u}}",
        )
        lines.append(written[n % 4])
    return _spec([*lines, _store(f"t{count - 3}")])


def lets(count: int) -> str:
    """Formulas of about two operators each."""
    lines = [_load("t0", "a"), _load("u", "b")]
    for n in range(1, count - 2):
        formula = (f"t{n - 1} + u", f"exp(t{n - 1} * 0.5)", f"maximum(t{n - 1}, u) - 1.0", f"sqrt(abs(t{n - 1}))")[
            n % 4
        ]
        lines.append(f"- let: t{n} = {formula}")
    return _spec([*lines, _store(f"t{count - 3}")])


def mixed(count: int) -> str:
    """Loads, operators, formulas and stores: eight statements for each tile."""
    lines: list[str] = []
    tiles = count // 8
    for n in range(tiles):
        lines += [
            _load(f"x{n}", "a", n),
            _load(f"y{n}", "b", n),
            f"- add: {{into: s{n}, lhs: x{n}, rhs: y{n}}}",
            f"- let: e{n} = exp(s{n} * 0.5)",
            f"- row_sum: {{into: r{n}, x: e{n}}}",
            f"- let: q{n} = e{n} / r{n}",
            f"- maximum: {{into: m{n}, lhs: q{n}, rhs: x{n}}}",
            _store(f"m{n}", n),
        ]
    return _spec(lines, tiles)


def looped(count: int) -> str:
    """The operators of `operators` inside a loop that runs eight times."""
    text = operators(count)
    head, body = text.split("    body:\n", 1)
    body = body.replace("at: [0, 0]", f"at: [i * {ROWS}, 0]").replace("\n      ", "\n          ")
    loop = "      - for: {index: i, count: 8}\n        body:\n"
    return head.replace(f"[{ROWS}, 64]", f"[{8 * ROWS}, 64]") + "    body:\n" + loop + "    " + body


CHAINS: dict[str, Callable[[int], str]] = {"operators": operators, "lets": lets, "mixed": mixed, "looped": looped}
"""Makers of spec texts by the number of statements."""

"""Random matmuls of every form that AutoTileMatmulL0 takes, as spec text."""

from __future__ import annotations

from random import Random

TARGETS = (
    "",
    "planner: ptoas",
    "l0c_double_buffer: true",
    "unit_flag: true",
    "l0c_double_buffer: true, unit_flag: true",
)
CAPACITY = 500_000
"""Bytes that operands may take together in `mat`."""


def random_spec(rng: Random) -> str:
    """One product, or a chain of several, of random extents, dtypes, forms and targets."""
    while True:
        dtype = rng.choice(["fp16", "bf16", "fp32", "int8"])
        m, n, k = (_extent(rng) for _ in range(3))
        size = {"fp32": 4, "int8": 1}.get(dtype, 2)
        up = [-(-e // 32) * 32 for e in (m, n, k)]
        form = rng.choice(["plain", "plain", "bias", "acc", "loop", "blocks", "chain"])
        need = (up[0] + up[1]) * up[2] * size * (2 if form in ("loop", "blocks") else 1)
        if form == "chain":
            need += (up[0] + 64) * up[1] * size
        if need < CAPACITY:
            break
    wide = rng.choice([16, 48, 64])
    acc = "int32" if dtype == "int8" else "fp32"
    a_turned, b_turned = rng.random() < 0.3 and k > 1, rng.random() < 0.3 and n > 1
    if dtype == "int8" or form in ("loop", "chain"):
        a_turned = b_turned = False
    a = [k, m] if a_turned else [m, k]
    b = [n, k] if b_turned else [k, n]
    lines = [
        f"- load: {{into: a1, from: a, at: [0, 0], shape: {a}}}",
        f"- load: {{into: b1, from: b, at: [0, 0], shape: {b}}}",
    ]
    if a_turned:
        lines.append("- transpose_view: {into: a2, x: a1}")
    if b_turned:
        lines.append("- transpose_view: {into: b2, x: b1}")
    lhs, rhs = "a2" if a_turned else "a1", "b2" if b_turned else "b1"
    store = "- store: {from: c, to: out, at: [0, 0]" + _way(rng, form) + "}"
    tensors = {"a": (dtype, a), "b": (dtype, b)}
    if form == "bias":
        tensors["bias"] = (acc, [1, n])
        lines.append(f"- load: {{into: d, from: bias, at: [0, 0], shape: [1, {n}]}}")
        lines.append(f"- matmul_bias: {{into: c, lhs: {lhs}, rhs: {rhs}, bias: d}}")
    elif form == "acc":
        lines.append(f"- matmul: {{into: c, lhs: {lhs}, rhs: {rhs}}}")
        lines.append(f"- matmul_acc: {{into: c, acc: c, lhs: {lhs}, rhs: {rhs}}}")
    elif form in ("loop", "blocks"):
        lines = _loop(rng, (m, n, k), acc, form == "blocks", a_turned, b_turned)
        rounds = lines.pop()
        count = int(rounds)
        tensors["a"] = (dtype, [k * count, m] if a_turned else [m, k * count])
        tensors["b"] = (dtype, [n, k * count] if b_turned else [k * count, n])
    elif form == "chain" and dtype in ("fp16", "bf16"):
        tensors["d"] = (dtype, [n, wide])
        lines.append(f"- load: {{into: d1, from: d, at: [0, 0], shape: [{n}, {wide}]}}")
        lines.append("- matmul: {into: e, lhs: a1, rhs: b1}")
        lines.append(
            rng.choice(
                [
                    f"- cast: {{into: e1, x: e, dtype: {dtype}}}",
                    f"- move: {{into: e1, from: e, memory: mat, dtype: {dtype}}}",
                ]
            )
        )
        lines.append("- matmul: {into: c, lhs: e1, rhs: d1}")
        n = wide
    else:
        lines.append(f"- matmul: {{into: c, lhs: {lhs}, rhs: {rhs}}}")
    tensors["out"] = (acc, [m, n])
    lines.append(store)
    target = rng.choice(TARGETS)
    head = ["spec: v1", "name: k", f"target: {{platform: a2a3{', ' if target else ''}{target}}}", "tensors:"]
    head += [
        f"  {name}: {{dtype: {kind}, shape: {shape}{', access: inout' if name == 'out' else ''}}}"
        for name, (kind, shape) in tensors.items()
    ]
    return "\n".join([*head, "program:", "  - region: r", "    body:", *(f"      {line}" for line in lines)]) + "\n"


def _extent(rng: Random) -> int:
    kind = rng.random()
    if kind < 0.5:
        return 16 * rng.randint(1, 24)
    if kind < 0.6:
        return rng.randint(1, 16)
    return rng.randint(16, 400)


def _way(rng: Random, form: str) -> str:
    return rng.choice(["", "", "", ", relu: true", ", atomic: add"])


def _loop(
    rng: Random, shape: tuple[int, int, int], acc: str, blocks: bool, a_turned: bool, b_turned: bool
) -> list[str]:
    """A loop that adds up products of blocks of K that it loads, or that were loaded in one."""
    m, n, k = shape
    count = rng.choice([2, 3, 4])
    first = rng.random() < 0.5
    kind = rng.choice(["for: {index: i, range: [%d, %d]}", "pipeline: {index: i, range: [%d, %d], stages: 2}"])
    a = f"[i * {k}, 0], shape: [{k}, {m}]" if a_turned else f"[0, i * {k}], shape: [{m}, {k}]"
    b = f"[0, i * {k}], shape: [{n}, {k}]" if b_turned else f"[i * {k}, 0], shape: [{k}, {n}]"
    loads = [f"- load: {{into: a1, from: a, at: {a}}}", f"- load: {{into: b1, from: b, at: {b}}}"]
    if a_turned:
        loads.append("- transpose_view: {into: a2, x: a1}")
    if b_turned:
        loads.append("- transpose_view: {into: b2, x: b1}")
    lhs, rhs = "a2" if a_turned else "a1", "b2" if b_turned else "b1"
    init = "" if first else ", init: i == 0"
    lines = [f"- create_tile: {{into: c, shape: [{m}, {n}], dtype: {acc}, memory: acc}}"]
    if first:
        lines = [line.replace("i * ", "0 * ") for line in loads]
        lines.append(f"- matmul: {{into: c, lhs: {lhs}, rhs: {rhs}}}")
    lines.append("- " + kind % (1 if first else 0, count))
    lines.append("  body:")
    lines += [f"    {line}" for line in loads]
    lines.append(f"    - matmul_acc: {{into: c, acc: c, lhs: {lhs}, rhs: {rhs}{init}}}")
    return [*lines, str(count)]

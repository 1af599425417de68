"""Programs made by hypothesis, as spec text."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.convert.reading import HEAD

FORMULAS = (
    "{} + {}",
    "exp({}) * 0.5 - {}",
    "maximum({}, -inf) / {}",
    "cast(cast({}, fp16), fp32) + {}",
    "{} - row_max({})",
    "{} * col_sum({}) + eps",
)
LOAD = 'load: {{into: {}, from: x, at: ["min(M, 8) * 8", 0], shape: [64, 128], valid: ["min(64, M)", 128]}}'


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0, bound: tuple[str, ...] = ("t",)) -> list[str]:
    """Lines of statements in which the `bound` names are tiles of one type."""
    lines: list[str] = []
    names = list(bound)
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["let", "op", "load", "for", "if"] if depth < 2 else ["let", "op"]))
        value, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        if kind == "let":
            name = draw(st.sampled_from(["t", "u", "v.3"]))
            lines.append(f"- let: {name} = {draw(st.sampled_from(FORMULAS)).format(value, other)}")
            names.append(name)
        elif kind == "op":
            name = draw(st.sampled_from(["t", "w"]))
            lines.append(f"- muls: {{into: {name}, x: {value}, scalar: 1.0e-05}}")
            names.append(name)
        elif kind == "load":
            lines.append(f"- {LOAD.format('part')}")
        elif kind == "for":
            inner = draw(bodies(depth + 1, tuple(names)))
            lines += [f"- for: {{index: i{depth}, range: [0, M, 3]}}", "  body:", *(f"    {line}" for line in inner)]
        else:
            lines += ["- if: M % 3 == 1 and not (M < 7 or M >= 9)"]
            for arm in ("then", "else"):
                inner = draw(bodies(depth + 1, tuple(names)))
                lines += [f"  {arm}:", *(f"    {line}" for line in inner)]
    return lines


def spec(lines: list[str]) -> str:
    """A spec with such statements, whose last value is stored."""
    start = "- load: {into: t, from: a, at: [0, 0], shape: [64, 128]}"
    body = "".join(f"      {line}\n" for line in [start, *lines, "- store: {from: t, to: res, at: [0, 0]}"])
    return f"{HEAD}  - region: k\n    body:\n{body}"

"""Comparisons, choices and whole division, rendered and run: every mode in one kernel per dtype and shape."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT8, UINT16, UINT32, DType
from pypto_spec.ops.compare import MODES
from tests.golden.harness import Case, assert_good
from tests.golden.spec_text import Spec

SHAPES = {"tail": (33, 100), "odd": (7, 9), "row": (1, 100), "wide": (3, 512), "rows": (256, 8)}
COLUMN = (70, 1)
PAIRS = ((FP32, FP32), (FP16, FP16), (INT32, INT32), (FP32, BF16), (FP16, INT32), (INT32, UINT16))
"""What is compared, and what is chosen."""


class Outputs(Spec):
    """A spec with any number of outputs."""

    def result(self, source: str, dtype: DType, shape: tuple[int, ...]) -> None:
        number = sum(line.startswith("store") for line in self.body)
        self.tensor(f"out{number}", dtype, shape, "out")
        self.body.append(f"store: {{from: {source}, to: out{number}, at: {[0] * len(shape)}}}")


def start(name: str, asked: DType, chosen: DType, shape: tuple[int, int]) -> Outputs:
    spec = Outputs(name)
    for word, dtype in (("l", asked), ("r0", asked), ("p", chosen), ("q", chosen)):
        spec.load(word, dtype, shape)
    # Some are equal: where l is not above 0.
    spec.body.append("selects: {into: r, lhs: l, scalar: 0, cmp_type: gt, a: r0, b: l}")
    return spec


def choices(asked: DType, chosen: DType, word: str, shape: tuple[int, int]) -> Iterator[Case]:
    spec = start(f"select_{asked}_{chosen}_{word}", asked, chosen, shape)
    for mode in MODES:
        spec.body.append(f"select: {{into: s_{mode}, lhs: l, rhs: r, cmp_type: {mode}, a: p, b: q}}")
        spec.result(f"s_{mode}", chosen, shape)
        spec.body.append(f"selects: {{into: n_{mode}, lhs: l, scalar: 1, cmp_type: {mode}, a: p, b: q}}")
        spec.result(f"n_{mode}", chosen, shape)
    yield Case(spec.text(), True, schedules=1)


def predicates(asked: DType, chosen: DType, word: str, shape: tuple[int, int]) -> Iterator[Case]:
    spec = start(f"cmp_{asked}_{chosen}_{word}", asked, chosen, shape)
    for mode in MODES:
        spec.body += [
            f"cmp: {{into: m_{mode}, lhs: l, rhs: r, cmp_type: {mode}}}",
            f"sel: {{into: s_{mode}, mask: m_{mode}, a: p, b: q}}",
        ]
        spec.result(f"s_{mode}", chosen, shape)
    for mode in ("ge", "ne"):
        spec.body += [
            f"cmps: {{into: k_{mode}, x: l, scalar: 0, cmp_type: {mode}}}",
            f"sels: {{into: n_{mode}, mask: k_{mode}, x: p, scalar: 2}}",
        ]
        spec.result(f"n_{mode}", chosen, shape)
    if shape[1] % 8 == 0:
        spec.result("m_le", UINT8, (shape[0], shape[1] // 8))
    yield Case(spec.text(), True, schedules=2)


def test_choices() -> None:
    cases = [c for pair in PAIRS for word in ("tail", "odd") for c in choices(*pair, word, SHAPES[word])]
    cases += [c for word in ("row", "wide") for c in choices(FP32, FP32, word, SHAPES[word])]
    cases += [c for pair in PAIRS[::2] for c in choices(*pair, "column", COLUMN)]
    cases += [c for dtype in (INT16, UINT32) for c in choices(FP32, dtype, "tail", SHAPES["tail"])]
    assert_good(cases)


def test_predicates() -> None:
    cases = [c for pair in PAIRS[:4] for word in ("tail", "odd") for c in predicates(*pair, word, SHAPES[word])]
    cases += [c for pair in PAIRS[:3] for word in ("wide", "row") for c in predicates(*pair, word, SHAPES[word])]
    cases += list(predicates(FP32, FP32, "rows", SHAPES["rows"]))
    assert_good(cases)


WHERE = (
    "where(a > 0, a, 0)",
    "where(0 <= a, b, a)",
    "where(a > b and not (a < 0.5), a, -b)",
    "where(a > b or a < r, 1, b)",
    "where(c == a, c, r)",
    "where(a > -0.25, 1, 0)",
)


def test_where_in_formulas() -> None:
    """At tensor level and on tiles, with vectors spread."""
    cases = []
    for number, formula in enumerate(WHERE):
        spec = Spec(f"where_{number}")
        for name, shape in (("a", (40, 100)), ("b", (40, 100)), ("r", (40, 1)), ("c", (1, 100))):
            spec.tensor(name, FP32, shape)
        spec.tensor("out", FP32, (40, 100), "out")
        spec.body.append(f"let: out = {formula}")
        cases.append(Case(spec.text(), True, schedules=1))
    spec = Spec("where_mask")
    spec.load("t", FP32, (16, 64))
    spec.body += ["let: m = t >= 0.25", "let: y = where(m, t, -1)"]
    spec.store("y", FP32, (16, 64))
    cases.append(Case(spec.text(), True))
    assert_good(cases)


FACTORS = ((1, 1), (1640531527, 715827883), (1640531527, 65537), (-2147483648, 1))
"""By these the operands are multiplied, so that quotients of all sizes and both ends of int32 are met."""
DIVISORS = (7, -3, 8, 1, -1, 2147483647, -2147483648, 1073741824)


def test_whole_division_is_exact() -> None:
    cases = []
    for word, shape in (("tail", (33, 100)), ("column", COLUMN)):
        for number, (of, by) in enumerate(FACTORS):
            spec = Outputs(f"divide_{word}_{number}")
            spec.load("a", INT32, shape)
            spec.load("b", INT32, shape)
            spec.body += [f"let: c = a * {of}", f"let: d = bit_or(b * {by}, 1)"]
            spec.body += ["let: y0 = c // d", "let: y1 = c % d", "let: y2 = fmod(c, d)", "let: y3 = 1000 // d"]
            for name in ("y0", "y1", "y2", "y3"):
                spec.result(name, INT32, shape)
            cases.append(Case(spec.text(), True, schedules=1))
        spec = Outputs(f"divide_{word}_numbers")
        spec.load("a", INT32, shape)
        spec.body.append("let: c = a * 1640531527")
        for number, by in enumerate(DIVISORS):
            for op in ("floordivs", "rems", "fmods"):
                spec.body.append(f"{op}: {{into: {op}_{number}, x: c, scalar: {by}}}")
                spec.result(f"{op}_{number}", INT32, shape)
        cases.append(Case(spec.text(), True, schedules=1))
    assert_good(cases)

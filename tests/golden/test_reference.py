"""References: Python functions and what can be wrong with them, sizes, and tolerances in ULPs."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from pypto_spec.driver.inputs import gather  # noqa: E402
from pypto_spec.driver.lower_check import check_passes  # noqa: E402
from pypto_spec.driver.test import TestOptions, run_goldens  # noqa: E402
from pypto_spec.golden.compare import Allowed, allowed_for, compare, ulps  # noqa: E402
from pypto_spec.golden.formula import GoldenError  # noqa: E402
from pypto_spec.golden.python import reference  # noqa: E402
from pypto_spec.golden.run import GoldenRun, sizes  # noqa: E402
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT32  # noqa: E402
from tests.convert.reading import read  # noqa: E402

FUNCTIONS = """\
def good(a, scale): return {"out": a * scale, "two": a}
def rest(a, **more): return {"out": a * more["M"], "two": a}
def wide(a, out): return a
def one(a, scale): return a
def short(a, scale): return {"out": a}
def more(a, scale): return {"out": a, "two": a, "three": a}
def words(a, scale): return {"out": "x", "two": a}
def raising(a, scale):
    raise ValueError("no such thing")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.py").write_text(FUNCTIONS)
    (tmp_path / "broken.py").write_text("def f(:\n")
    return tmp_path


def call(folder: Path, where: str) -> dict[str, object]:
    given = {"a": torch.ones(2, 2, dtype=torch.float64), "scale": 3.0}
    return reference(where, folder, given, {"M": 2}, ["out", "two"])


def test_good_functions(folder: Path) -> None:
    assert call(folder, "ref.py:good")["out"].sum() == 12  # type: ignore[attr-defined]
    assert call(folder, "ref.py:rest")["out"].sum() == 8  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("none.py:f", "there is no file"),
        ("broken.py:f", r"broken.py raised SyntaxError: .* \(line 1 of broken.py\)"),
        ("ref.py:god", "has no function `god`"),
        ("ref.py:wide", r"`wide\(a, out\)` of ref.py cannot be called"),
        ("ref.py:one", "returned a Tensor, but the program has 2 outputs"),
        ("ref.py:short", "returned nothing for `two`"),
        ("ref.py:more", "returned `three`, which is no output"),
        ("ref.py:words", "returned a str for `out`"),
        ("ref.py:raising", r"`raising` raised ValueError: no such thing \(line 9 of ref.py\)"),
    ],
)
def test_wrong_functions(folder: Path, where: str, message: str) -> None:
    with pytest.raises(GoldenError, match=message):
        call(folder, where)


def test_a_function_that_fails_is_a_finding(folder: Path) -> None:
    (folder / "k.yaml").write_text("""\
spec: v1
name: k
tensors:
  a: {dtype: fp32, shape: [16, 64]}
  out: {dtype: fp32, shape: [16, 64], access: out}
program:
  - region: k
    body:
      - let: out = a + a
golden: {python: "ref.py:wide"}
""")
    (tested,) = run_goldens(gather([str(folder / "k.yaml")]), TestOptions(jobs=1, schedules=1))
    (only,) = [d for d in tested.findings if d.rule.code != "PH001"]
    assert (only.rule.code, only.primary.span.line) == ("PS7032", 10)
    assert "def wide(a):" in only.helps[0]


INPUTS = """\
spec: v1
name: k
constants: {C: 64}
symbols: {M: {min: 1, max: 8}}
tensors:
  a: {dtype: fp32, shape: [8, C]}
  out: {dtype: fp32, shape: [8, C], access: out}
program:
  - region: k
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [8, C], valid: [M, C]}
      - let: u = fillpad(t, zero)
      - store: {from: u, to: out, at: [0, 0]}
golden:
  sizes: [{M: 2}, {M: 7}]
  inputs: {a: WORDS}
"""


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("{min: -C, max: C - 1, distribution: integers}", -64, 63),
        ("{min: M, max: 2 * M + 0.5}", 2, 14.5),
        ('{values: [M, "-C // 2", 1e3]}', -32, 1000),
    ],
)
def test_bounds_of_inputs_are_expressions(tmp_path: Path, words: str, low: float, high: float) -> None:
    (tmp_path / "k.yaml").write_text(INPUTS.replace("WORDS", words))
    (tested,) = run_goldens(gather([str(tmp_path / "k.yaml")]), TestOptions(jobs=1, schedules=2))
    assert tested.subject is not None
    assert [d.message for d in tested.findings if d.rule.code != "PH001"] == []
    drawn = [GoldenRun(tested.subject, row, 0).inputs["a"] for row in sizes(tested.subject.program)]
    assert low <= min(float(x.min()) for x in drawn) <= max(float(x.max()) for x in drawn) <= high
    assert len({float(v) for x in drawn for v in x.flatten()}) > 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("{max: D - 1}", "`D` is no tensor, scalar or constant"),
        ("{max: C / (M - M)}", "has no value: division by zero"),
        ("{min: 10 ** 400 * 1.5}", "has no value"),
        ("{max: inf}", "no finite number"),
        ("{max: 1e999}", "no finite number"),
        ('{max: "M < C"}', "no finite number"),
        ("{min: 3, max: 2}", "`min` is 3 and `max` is 2"),
        ("{min: 100}", "`min` is 100 and `max` is 4"),
        ("{values: [D]}", "`D` is no tensor"),
    ],
)
@pytest.mark.parametrize("command", ["test", "lower"])
def test_wrong_bounds_of_inputs_are_findings(tmp_path: Path, words: str, message: str, command: str) -> None:
    (tmp_path / "k.yaml").write_text(INPUTS.replace("WORDS", words))
    gathered = gather([str(tmp_path / "k.yaml")])
    if command == "test":
        found = next(iter(run_goldens(gathered, TestOptions(jobs=1, schedules=2)))).findings
    else:
        found = check_passes(gathered.specs[0]).findings
    (only,) = [d for d in found if d.rule.code != "PH001"]
    assert (only.rule.code, only.primary.span.line) == ("PS7032", 16)
    assert only.message.startswith("the inputs cannot be drawn: ")
    assert message in only.message
    assert only.helps


def test_default_sizes_keep_to_the_symbols() -> None:
    program = read("""\
spec: v1
name: k
symbols: {M: {min: 1, max: 5000, multiple_of: 48}, N: {multiple_of: 128}}
tensors:
  a: {dtype: fp32, shape: [M, N]}
  out: {dtype: fp32, shape: [1, 64], access: out}
program:
  - region: k
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [1, 64]}
      - store: {from: t, to: out, at: [0, 0]}
""")
    assert [{d.name: v for d, v in row.items()} for row in sizes(program)] == [{"M": 48, "N": 128}, {"M": 96, "N": 128}]


def test_ulps() -> None:
    assert ulps(1 + 2.0**-23, 1.0, FP32) == 1
    assert ulps(1 + 2.0**-10, 1.0, FP16) == 1
    assert ulps(2.0**-133, 2.0**-132, BF16) == 1
    assert ulps(1e-3, 0.0, FP32) is None
    assert ulps(float("nan"), 1.0, FP32) is None
    assert ulps(5, 3, INT32) == 2
    assert allowed_for(FP32, ulps=2) == Allowed(0, 0, 2)
    assert allowed_for(FP32).ulps == 0
    want = torch.tensor([1.0, 0.0, 1e30], dtype=torch.float64)
    near = torch.tensor([1 + 2.0**-22, 0.0, 1e30], dtype=torch.float32)
    assert compare("y", near, want, FP32, Allowed(0, 0, 2)) is None
    difference = compare("y", near, want, FP32, Allowed(0, 0, 1))
    assert difference is not None
    assert "2 ULPs apart (allowed: 1 ULPs)" in str(difference)
    zero = compare("y", near + 1, want, FP32, Allowed(0, 0, 1))
    assert zero is not None
    assert zero.off == 2

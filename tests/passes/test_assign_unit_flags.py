"""AssignUnitFlags: which phase each product and store gets, and when none does."""

from __future__ import annotations

import pytest

from pypto_spec.convert.instructions import condition_text
from pypto_spec.ir.expr import Expr, evaluate, symbols
from pypto_spec.ir.instr import Instr, Struct
from pypto_spec.ir.nodes import Condition, Op
from tests.passes.tiling_programs import LOADS, Run, differing, spec

ON = "unit_flag: true"
OWN = """\
- create_tile: {into: c, shape: [<M>, <N>], dtype: fp32, memory: acc}
- for: {index: i, count: 4}
  body:
    - load: {into: a1, from: a, at: [0, i * 32], shape: [<M>, 32]}
    - load: {into: b1, from: b, at: [i * 32, 0], shape: [32, <N>]}
    - matmul_acc: {into: c, acc: c, lhs: a1, rhs: b1, init: i == 0}
- store: {from: c, to: out, at: [0, 0]}
"""


UNEVEN = """\
- load: {into: a1, from: a, at: [0, 0], shape: [<M>, 32]}
- load: {into: b1, from: b, at: [0, 0], shape: [32, <N>]}
- matmul: {into: c, lhs: a1, rhs: b1}
- store: {from: c, to: out, at: [0, 0]}
- load: {into: b2, from: b, at: [0, 0], shape: [32, 32]}
- matmul: {into: d, lhs: a1, rhs: b2}
- store: {from: d, to: out, at: [0, 0]}
"""


def phases(run: Run, after: str = "AssignUnitFlags") -> list[tuple[str, str, str]]:
    """Name, phase and condition of what has a phase."""
    found = []
    for name in ("matmul", "matmul_acc", "matmul_bias", "store", "move", "assemble"):
        found += [_of(op) for op in run.ops(name, after) if "phase" in op.attrs]
    return found


def _of(op: Op) -> tuple[str, str, str]:
    final = op.attrs.get("final")
    return op.name, str(op.attrs["phase"]), condition_text(final) if isinstance(final, Condition) else ""


def test_one_product() -> None:
    run = Run(spec((64, 64, 64), target=ON))
    assert phases(run) == [("matmul", "final", ""), ("store", "final", "")]
    flags, _ = run.counts()
    assert "m>fix" not in flags and "fix>m" not in flags


def test_a_loop_knows_its_last_round() -> None:
    run = Run(spec((64, 64, 128), body=OWN, target=ON))
    assert phases(run) == [("matmul_acc", "partial", "i == 3"), ("store", "final", "")]
    (instr,) = run.ops("matmul_acc", "ExpandToInstructions")[0].instrs or ()
    assert isinstance(instr, Instr) and isinstance(instr.args[-1], Struct)
    flag = instr.args[-1].args[3]
    assert isinstance(flag, Expr)
    (index,) = symbols(flag)
    assert [evaluate(flag, {index: i}) for i in range(4)] == [2, 2, 2, 3]
    assert differing(run) == []


def test_copies_that_cannot_be_the_last_are_partial() -> None:
    run = Run(spec((256, 256, 128), "fp32", target=ON))
    assert [p for p in phases(run, "LowerPipelineLoops") if p[0] == "matmul_acc"] == [
        ("matmul_acc", "partial", ""),
        ("matmul_acc", "partial", "kb + 32 == 96"),
    ]


def test_one_round_of_copies_settles_it() -> None:
    run = Run(spec((128, 256, 128), "fp16", target=ON))
    last = phases(run, "LowerPipelineLoops")
    assert all(condition == "" for _, _, condition in last)
    assert sorted({phase for _, phase, _ in last}) in (["final"], ["final", "partial"])


@pytest.mark.parametrize(
    ("shape", "body", "why"),
    [
        ((64, 64, 64), LOADS + "- matmul: {into: c, lhs: a1, rhs: b1}\n- store: {from: c, to: out, at: [0, 0]}\n"
         "- store: {from: c, to: out, at: [0, 0]}\n", "read twice"),
        ((270, 336, 336), "", "accumulators of several extents"),
        ((64, 64, 64), LOADS + "- matmul: {into: c, lhs: a1, rhs: b1, phase: final}\n"
         "- store: {from: c, to: out, at: [0, 0], phase: final}\n", "written by hand"),
    ],
)  # fmt: skip
def test_what_is_left_as_it_is(shape: tuple[int, int, int], body: str, why: str) -> None:
    run = Run(spec(shape, body=body, target=ON))
    before, after = (phases(run, step) for step in ("ResolveBackendOpLayouts", "AssignUnitFlags"))
    assert before == after, why


def test_int8_raises_the_flags_of_32_columns() -> None:
    assert phases(Run(spec((64, 48, 64), "int8", target=ON))) == []
    assert phases(Run(spec((64, 64, 64), "int8", target=ON))) != []


def test_without_the_option_nothing_is_written() -> None:
    run = Run(spec((64, 64, 64)))
    assert run.after["AssignUnitFlags"] is run.after["ResolveBackendOpLayouts"]


@pytest.mark.parametrize(
    ("body", "label"),
    [
        (UNEVEN, "makes 64 x 32"),
        (OWN.replace("count: 4", "count: R"), "runs as often as a run-time value says"),
        (OWN + "- store: {from: c, to: out, at: [0, 0]}\n", "not emptied as a whole by one statement"),
    ],
    ids=["extents", "rounds", "twice"],
)
def test_what_is_in_the_way_is_told(body: str, label: str) -> None:
    text = spec((64, 64, 128), body=body, target=ON)
    if "count: R" in body:
        text = text.replace("program:", "symbols: {R: {min: 1, max: 4}}\nprogram:", 1)
    run = Run(text)
    assert phases(run) == []
    (found,) = [d for d in run.found if d.rule.code == "PS7002"]
    assert found.message == "`unit_flag: true` has no effect in region `r`"
    assert found.primary.text == label


def test_nothing_is_told_where_unit_flags_are_used() -> None:
    assert not [d for d in Run(spec((64, 64, 128), body=OWN, target=ON)).found if d.rule.code == "PS7002"]

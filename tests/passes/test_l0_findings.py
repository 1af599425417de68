"""What is said of matmuls that were not cut, or not as the chooser would: codes, figures, and how to silence them."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.driver.check import check_text
from pypto_spec.ir.nodes import For
from pypto_spec.ir.rewrite import regions, statements
from tests.passes.tiling_programs import LOADS, PLAIN, Run, spec

TWICE = LOADS + (
    "- matmul: {into: c, lhs: a1, rhs: b1}\n"
    "- store: {from: c, to: out, at: [0, 0]}\n"
    "- store: {from: c, to: out, at: [0, 0]}\n"
)


def found(shape: tuple[int, int, int], dtype: str = "fp16", body: str = "", target: str = "") -> list[Diagnostic]:
    run = Run(spec(shape, dtype, body, target), after="AutoTileMatmulL0")
    return [d for d in run.found if d.rule.code.startswith("PH-AT")]


def refused(shape: tuple[int, int, int], dtype: str, body: str) -> Diagnostic:
    with pytest.raises(CompileError) as raised:
        Run(spec(shape, dtype, body))
    return raised.value.diagnostics[-1]


@pytest.mark.parametrize(
    ("shape", "body", "target", "code", "figures"),
    [
        ((4, 64, 64), PLAIN, "", "PH-AT-005", {"M": 4}),
        ((64, 64, 40), PLAIN, "", "PH-AT-007", {"K": 40}),
        ((40, 128, 1000), PLAIN, "", "PH-AT-008", {"M": 40, "m": 48, "K": 1000}),
        ((256, 128, 192), TWICE, "l0c_double_buffer: true", "PH-AT-006", {"m": 64, "instead_k": 64}),
    ],
)  # fmt: skip
def test_hints(shape: tuple[int, int, int], body: str, target: str, code: str, figures: dict[str, int]) -> None:
    (only,) = found(shape, body=body, target=target)
    assert only.rule.code == code
    assert only.primary.span.line > 10 and only.helps
    assert figures.items() <= dict(only.figures).items()


def test_what_a_way_out_says_is_true() -> None:
    """`make K 48`: with it the hint is gone."""
    (hint,) = found((64, 64, 40))
    assert "make K 48" in hint.helps[0]
    assert found((64, 64, 48)) == []


@pytest.mark.parametrize("code", ["PH-AT-005", "tiling-refused"])
def test_a_statement_may_allow_them(code: str) -> None:
    allowed = PLAIN.replace("rhs: b1}\n", f"rhs: b1}}\n  allow: [{code}]\n")
    assert found((4, 64, 64), body=allowed) == []


def test_switched_off_for_all() -> None:
    text = spec((4, 64, 64)).replace("name: k\n", "name: k\ndiagnostics: {disable: PH-AT-005}\n")
    assert [d.rule.code for d in check_text(text, "k.yaml") if d.rule.code.startswith("PH-AT")] == []


def test_loops_that_were_written_allow_what_the_matmul_does() -> None:
    allowed = PLAIN.replace("rhs: b1}\n", "rhs: b1}\n  allow: [PH-MR-001]\n")
    run = Run(spec((64, 64, 512), body=allowed), after="AutoTileMatmulL0")
    loops = [s for r in regions(run.last.body) for s in statements(r.body) if isinstance(s, For)]
    assert [loop.allow for loop in loops] == [frozenset({"PH-MR-001"})]


def test_an_operand_put_into_l0_that_is_too_large() -> None:
    body = LOADS + (
        "- move: {into: a0, from: a1, memory: left}\n"
        "- matmul: {into: c, lhs: a0, rhs: b1}\n"
        "- store: {from: c, to: out, at: [0, 0]}\n"
    )
    error = refused((128, 32, 512), "fp16", body)
    assert error.rule.code == "PS4021"
    assert dict(error.figures) == {"needed": 131072, "available": 65536, "k": 256}
    assert all(word in error.message for word in ("`a0`", "fp16[128, 512]", "131,072", "65,536"))
    assert len(error.helps) == 2


def test_chains_that_cannot_wait_in_mat() -> None:
    chain = LOADS + (
        "- matmul: {into: c, lhs: a1, rhs: b1}\n"
        "- move: {into: c1, from: c}\n"
        "- matmul: {into: e, lhs: c1, rhs: b1}\n"
        "- store: {from: e, to: out, at: [0, 0]}\n"
    )
    assert refused((256, 208, 208), "fp32", chain).rule.code == "PH-AT-009"


def test_a_cast_that_rounds_otherwise() -> None:
    chain = LOADS + (
        "- matmul: {into: c, lhs: a1, rhs: b1}\n"
        "- cast: {into: c1, x: c, dtype: fp16, mode: floor}\n"
        "- matmul: {into: e, lhs: c1, rhs: b1}\n"
        "- store: {from: e, to: out, at: [0, 0]}\n"
    )
    assert refused((64, 64, 64), "fp16", chain).rule.code == "PH-AT-010"


def test_hints_are_said_once_a_statement() -> None:
    looped = LOADS + (
        "- for: {index: i, count: 2}\n"
        "  body:\n"
        "    - matmul: {into: c, lhs: a1, rhs: b1}\n"
        "    - store: {from: c, to: out, at: [0, 0]}\n"
    )
    assert [d.rule.code for d in found((4, 64, 64), body=looped)] == ["PH-AT-005"]

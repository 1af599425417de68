"""What the checker does not know is an error, never a pass."""

from __future__ import annotations

from dataclasses import replace

from pypto_spec.check import check_program
from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.expr import Sym, mod, sym
from pypto_spec.ir.instr import Effect, InnerBarrier, Instr
from pypto_spec.ir.instr import Region as Bytes
from pypto_spec.ir.nodes import Op, Program, Region, SetFlag, Stmt, WaitFlag
from pypto_spec.targets import A2A3
from tests.check.making import At, Do, Down, Maker, Up

MAKER = Maker()
PROGRAM = MAKER.program([Do("v", (), (At(0, 64),)), Up("v", "mte3"), Down("v", "mte3")])
(REGION,) = PROGRAM.body
assert isinstance(REGION, Region)
OP, SET, WAIT = REGION.body
assert isinstance(OP, Op) and isinstance(SET, SetFlag) and isinstance(WAIT, WaitFlag)


def found(*body: Stmt, program: Program = PROGRAM) -> list[tuple[str, str]]:
    assert isinstance(REGION, Region)
    sink = Sink()
    check_program(replace(program, body=(replace(REGION, body=body),)), A2A3, sink, MAKER.effect)
    return [(d.rule.code, d.message) for d in sink.found]


def test_the_program_is_right() -> None:
    assert found(OP, SET, WAIT) == []


def test_an_op_that_was_not_expanded() -> None:
    assert isinstance(OP, Op)
    assert [c for c, _ in found(replace(OP, instrs=None), SET, WAIT)] == ["PS5107"]


def test_a_call_that_nobody_knows() -> None:
    assert isinstance(OP, Op)
    ((code, message),) = found(replace(OP, instrs=(Instr("Teleport", ()),)), SET, WAIT)
    assert code == "PS5107"
    assert "Teleport" in message


def test_an_operand_and_a_buffer_without_a_place() -> None:
    assert isinstance(OP, Op)
    MAKER.effects["lost"] = Effect("v", (Bytes("lost", 0, 32, (), True),))
    MAKER.effects["spare"] = Effect("v", (Bytes("scratch.1", 0, 32, (), True),))
    for call in ("lost", "spare"):
        assert [c for c, _ in found(replace(OP, instrs=(Instr(call, ()),)))] == ["PS5107"]
    nowhere = replace(PROGRAM, buffers=tuple(replace(b, address=None) for b in PROGRAM.buffers))
    assert [c for c, _ in found(OP, program=nowhere)] == ["PS5107"]


def test_an_id_that_is_not_a_number() -> None:
    assert isinstance(SET, SetFlag) and isinstance(WAIT, WaitFlag)
    turn = mod(sym(Sym("i", "loop", 0, 7)), 2)
    assert {c for c, _ in found(OP, replace(SET, id=turn), replace(WAIT, id=turn))} == {"PS5107"}


def test_a_barrier_inside_a_recipe() -> None:
    assert isinstance(OP, Op) and OP.instrs is not None
    MAKER.effects["again"] = Effect("v", (Bytes("vec", 32, 64, (), False),))
    steps = (*OP.instrs, InnerBarrier("v"), Instr("again", ()))
    assert found(replace(OP, instrs=steps)) == []
    ((code, message),) = found(replace(OP, instrs=(steps[0], steps[2])))
    assert code == "PS5101"
    assert "another of its instructions on v" in message
    assert "bytes 32..64 of vec" in message

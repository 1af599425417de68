"""Simplify on toy programs."""

from __future__ import annotations

import gc
from dataclasses import replace
from time import process_time

import pytest

from pypto_spec.diagnostics.model import Sink
from pypto_spec.ir.condition import decide
from pypto_spec.ir.expr import Index, Sym, add, sym
from pypto_spec.ir.nodes import Condition, For, If, Op, Program, Region, Relation, Stmt
from pypto_spec.ir.verifier import verify
from pypto_spec.passes.base import Context
from pypto_spec.passes.convert_to_ssa import CONVERT_TO_SSA
from pypto_spec.passes.simplify import SIMPLIFY
from pypto_spec.targets import A2A3
from tests.passes.shape import statements_text
from tests.passes.toys import context, loc, make, program, region, see

INDEX = Sym("i", "loop", 0, 7)
SIZE = Sym("M", "dim", 1, 100)


def simplified(*body: Stmt, sink: Sink | None = None, manual: bool = False) -> list[str]:
    made = program(region(*body))
    if manual:
        made = replace(made, target=replace(made.target, sync="manual"))
    made = CONVERT_TO_SSA.run(made, context())
    made = SIMPLIFY.run(made, Context(A2A3, sink or Sink()))
    assert verify(made, ["SSAForm"]) is None
    assert SIMPLIFY.run(made, context()) is made
    return text(made)


def text(made: Program) -> list[str]:
    (only,) = made.body
    assert isinstance(only, Region)
    return statements_text(only.body)


def loop(stop: Index, *body: Stmt, start: Index = 0, step: Index = 1) -> For:
    return For(index=INDEX, start=start, stop=stop, step=step, body=body, loc=loc())


def when(left: Index, op: Relation, right: Index, then: list[Stmt], other: list[Stmt] | None = None) -> If:
    return If(condition=Condition(op, left, right), then=tuple(then), other=tuple(other or ()), loc=loc())


def test_nothing_to_do_gives_the_same_program() -> None:
    made = CONVERT_TO_SSA.run(program(region(make("a"), see("a"))), context())
    assert SIMPLIFY.run(made, context()) is made


def test_decided_condition() -> None:
    assert simplified(make("a"), when(sym(SIZE), ">=", 1, [make("a", "a")], [make("a")]), see("a")) == [
        "a.1 = make()", "a.2 = make(a.1)", "see(a.2)",
    ]  # fmt: skip


def test_open_condition_stays() -> None:
    assert len(simplified(make("a"), when(sym(SIZE), ">", 1, [see("a")]))) == 3


def test_loop_that_never_runs() -> None:
    assert simplified(make("a"), loop(0, make("a", "a")), see("a")) == ["a.1 = make()", "see(a.1)"]


def test_loop_that_runs_once_is_unrolled() -> None:
    body = replace(make("b", "a"), attrs={"at": (sym(INDEX), add(sym(INDEX), 1))})
    made = simplified(make("a"), loop(6, body, see("b"), make("a", "b"), start=4, step=2), see("a"))
    assert made == [
        "a.1 = make()", "b.1 = make(a.1, at=[4, 5])", "see(b.1)", "a.3 = make(b.1)", "see(a.3)",
    ]  # fmt: skip


def test_a_carry_that_only_feeds_itself_goes() -> None:
    sink = Sink()
    made = simplified(make("a"), make("s"), loop(8, make("s", "s"), see("a")), sink=sink)
    assert made == ["a.1 = make()", "for i []", "  see(a.1)"]
    assert [d.message for d in sink.found] == ["`s` is computed and never used"]


def test_unused_chain_warns_once_at_its_end() -> None:
    sink = Sink()
    last = make("c", "b")
    assert simplified(make("a"), see("a"), make("b", "a"), last, sink=sink) == ["a.1 = make()", "see(a.1)"]
    (found,) = sink.found
    assert (found.rule.code, found.primary.span) == ("PS2020", last.loc.span)


def test_unused_value_may_be_allowed() -> None:
    sink = Sink()
    simplified(replace(make("a"), allow=frozenset({"PS2020"})), sink=sink)
    assert sink.found == []


def test_manual_sync_keeps_everything() -> None:
    assert simplified(make("a"), manual=True) == ["a.1 = make()"]


@pytest.mark.parametrize(
    ("op", "left", "right", "answer"),
    [
        ("<", sym(SIZE), 1, False), ("<=", 100, sym(SIZE), None), ("<", sym(SIZE), 101, True), ("==", 3, 3, True),
        ("==", sym(SIZE), 0, False), ("!=", sym(SIZE), 0, True), (">", sym(SIZE), 0, True), (">=", 0, sym(SIZE), False),
        ("==", sym(SIZE), 5, None),
    ],
)  # fmt: skip
def test_decide(op: Relation, left: Index, right: Index, answer: bool | None) -> None:
    assert decide(Condition(op, left, right)) is answer


def test_decide_combinations() -> None:
    true, false, open_ = Condition("==", 1, 1), Condition("==", 1, 2), Condition("==", sym(SIZE), 5)
    assert decide(Condition("and", open_, false)) is False
    assert decide(Condition("and", open_, true)) is None
    assert decide(Condition("or", open_, true)) is True
    assert decide(Condition("or", false, false)) is False
    assert decide(Condition("not", false)) is True
    assert decide(Condition("not", open_)) is None


def test_chain_of_ten_thousand_is_quick() -> None:
    body: list[Op] = [make("a")]
    body += [make("a", "a") for _ in range(10_000)]
    made = program(region(*body, see("a")))
    gc.disable()  # what other tests left behind is not this one's to collect
    started = process_time()
    made = CONVERT_TO_SSA.run(made, context())
    middle = process_time()
    kept = SIMPLIFY.run(made, context())
    end = process_time()
    gc.enable()
    assert kept is made
    assert middle - started < 1
    assert end - middle < 1

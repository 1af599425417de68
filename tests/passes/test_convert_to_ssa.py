"""ConvertToSSA on toy programs: renaming against an interpreter of names, and its two errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.dtype import FP32
from pypto_spec.ir.expr import Sym, evaluate, sub, sym
from pypto_spec.ir.nodes import Carry, Condition, For, If, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.types import TileType
from pypto_spec.ir.verifier import verify
from pypto_spec.passes.convert_to_ssa import CONVERT_TO_SSA
from tests.passes.shape import statements_text
from tests.passes.toys import context, loc, make, program, region, see, value

Env = dict[str, object]


def convert(made: Program) -> Program:
    converted = CONVERT_TO_SSA.run(made, context())
    assert verify(converted, ["SSAForm"]) is None
    return converted


def body_of(made: Program) -> tuple[Stmt, ...]:
    only = made.body[0]
    assert isinstance(only, Region)
    return only.body


def loop(index: Sym, stop: int, *body: Stmt) -> For:
    return For(index=index, start=0, stop=stop, step=1, body=body, loc=loc())


def branch(index: Sym, then: Sequence[Stmt], other: Sequence[Stmt] = ()) -> If:
    return If(condition=Condition("==", sym(index), 0), then=tuple(then), other=tuple(other), loc=loc())


class Names:
    """Runs a program before ConvertToSSA: names are looked up in scopes that end."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def run(self, body: Sequence[Stmt], env: Env, indices: Mapping[Sym, int]) -> None:
        for node in body:
            if isinstance(node, Op):
                inputs = tuple(env[v.name] for v in node.operands.values())
                if node.results:
                    env[node.result.name] = hash((node.loc.span.line, inputs))
                else:
                    self.seen.append(inputs)
            elif isinstance(node, For):
                outside = set(env)
                for i in range(evaluate(node.stop, {})):
                    self.run(node.body, env, {**indices, node.index: i})
                    for name in set(env) - outside:
                        del env[name]
            elif isinstance(node, If):
                outside = set(env)
                taken = evaluate(sub(as_index(node.condition.left), as_index(node.condition.right)), indices) == 0
                self.run(node.then if taken else node.other, env, indices)
                both = bound(node.then) & bound(node.other)
                for name in set(env) - outside - both:
                    del env[name]


def as_index(side: object) -> int:
    return side  # type: ignore[return-value]


def bound(body: Sequence[Stmt]) -> set[str]:
    """Names bound on a block's own level, those merged by an `if` included."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, Op):
            names |= {r.name for r in node.results}
        elif isinstance(node, If):
            names |= bound(node.then) & bound(node.other)
    return names


class Values:
    """Runs a program after ConvertToSSA."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def run(self, body: Sequence[Stmt], env: dict[Value, object], indices: Mapping[Sym, int]) -> None:
        for node in body:
            if isinstance(node, Op):
                inputs = tuple(env[v] for v in node.operands.values())
                if node.results:
                    env[node.result] = hash((node.loc.span.line, inputs))
                else:
                    self.seen.append(inputs)
            elif isinstance(node, For):
                current = [env[c.init] for c in node.carries]
                for i in range(evaluate(node.stop, {})):
                    env.update(zip([c.arg for c in node.carries], current, strict=True))
                    self.run(node.body, env, {**indices, node.index: i})
                    current = [env[c.yielded] for c in node.carries]
                env.update(zip([c.result for c in node.carries], current, strict=True))
            elif isinstance(node, If):
                taken = evaluate(sub(as_index(node.condition.left), as_index(node.condition.right)), indices) == 0
                self.run(node.then if taken else node.other, env, indices)
                for phi in node.phis:
                    env[phi.result] = env[phi.then if taken else phi.other]


@st.composite
def blocks(draw: st.DrawFn, visible: frozenset[str], index: Sym, depth: int) -> tuple[list[Stmt], frozenset[str]]:
    """A block that uses visible names only, and the names visible behind it."""
    made: list[Stmt] = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["make", "make", "make", "see", "for", "if"] if depth < 3 else ["make", "see"]))
        known = sorted(visible)
        if kind == "make":
            name = draw(st.sampled_from("abcd"))
            operands = draw(st.lists(st.sampled_from(known), max_size=2)) if known else []
            made.append(make(name, *operands))
            visible |= {name}
        elif kind == "see" and known:
            made.append(see(draw(st.sampled_from(known))))
        elif kind == "for":
            inner = Sym(f"i{depth}", "loop")
            body, _ = draw(blocks(visible, inner, depth + 1))
            made.append(loop(inner, draw(st.integers(0, 3)), *body))
        elif kind == "if":
            then, a = draw(blocks(visible, index, depth + 1))
            other, b = draw(blocks(visible, index, depth + 1))
            made.append(branch(index, then, other))
            visible |= a & b
    return made, visible


@given(blocks(frozenset(), Sym("blk", "block"), 0))
def test_renaming_means_what_names_mean(made: tuple[list[Stmt], frozenset[str]]) -> None:
    body, visible = made
    body = [*body, *(see(name) for name in sorted(visible))]
    before = program(region(*body))
    after = convert(before)
    names, values = Names(), Values()
    blk = dict.fromkeys(_free(body), 0)
    names.run(body, {}, blk)
    values.run(body_of(after), {}, blk)
    assert names.seen == values.seen
    assert convert(after) is after


def _free(body: Sequence[Stmt]) -> set[Sym]:
    found: set[Sym] = set()
    for node in body:
        if isinstance(node, For):
            found |= _free(node.body)
        elif isinstance(node, If):
            found |= {atom for atom, _ in node.condition.left.terms if isinstance(atom, Sym)}  # type: ignore[union-attr]
            found |= _free(node.then) | _free(node.other)
    return found


I = Sym("i", "loop")  # noqa: E741


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            [make("t"), make("t", "t"), see("t")], ["t.1 = make()", "t.2 = make(t.1)", "see(t.2)"], id="chain"
        ),
        pytest.param(
            [make("m"), loop(I, 3, make("t", "m"), make("m", "m", "t")), see("m")],
            [
                "m.1 = make()",
                "for i [m.4 = m.2 <- m.1, m.3]",
                "  t.1 = make(m.2)",
                "  m.3 = make(m.2, t.1)",
                "see(m.4)",
            ],
            id="carried",
        ),
        pytest.param(
            [make("t"), see("t"), loop(I, 3, make("t"), see("t"))],
            ["t.1 = make()", "see(t.1)", "for i []", "  t.2 = make()", "  see(t.2)"],
            id="a temporary of the same name is not carried",
        ),
        pytest.param(
            [make("t"), loop(I, 3, branch(I, [make("t")])), see("t")],
            ["t.1 = make()", "for i [t.5 = t.2 <- t.1, t.4]", "  if [t.4 = t.3 | t.2]", "    t.3 = make()", "see(t.5)"],
            id="one arm",
        ),
        pytest.param(
            [loop(I, 3, branch(I, [make("t")], [make("t")]), see("t"))],
            ["for i []", "  if [t.3 = t.1 | t.2]", "    t.1 = make()", "  else", "    t.2 = make()", "  see(t.3)"],
            id="both arms",
        ),
        pytest.param(
            [make("t.1"), make("t", "t.1"), make("t", "t"), make("u.7"), make("u"), see("t")],
            ["t.1 = make()", "t.2 = make(t.1)", "t.3 = make(t.2)", "u.7 = make()", "u.1 = make()", "see(t.3)"],
            id="written versions are kept and skipped",
        ),
    ],
)
def test_golden(body: list[Stmt], expected: list[str]) -> None:
    assert statements_text(body_of(convert(program(region(*body))))) == expected


def test_explicit_carry_is_kept() -> None:
    arg, end = value("m.2"), make("m.3", "m.2")
    first, result = make("m.1"), value("m.4")
    node = replace(loop(I, 3, end), carries=(Carry(arg, value("m.1"), value("m.3"), result),))
    made = body_of(convert(program(region(first, node, see("m.4")))))
    assert statements_text(made)[1] == "for i [m.4 = m.2 <- m.1, m.3]"
    assert made[0] is first


def test_explicit_phi_is_kept() -> None:
    node = replace(branch(I, [make("t.1")], [make("t.2")]), phis=(Phi(value("t.3"), value("t.1"), value("t.2")),))
    made = body_of(convert(program(region(loop(I, 2, node, see("t.3"))))))
    assert statements_text(made)[1] == "  if [t.3 = t.1 | t.2]"


def test_use_after_the_end_of_a_scope() -> None:
    with pytest.raises(CompileError) as error:
        convert(program(region(loop(I, 3, make("t")), see("t"))))
    (found,) = error.value.diagnostics
    assert (found.rule.code, found.message) == (
        "PS2001",
        "`t` is not defined here: it is first bound inside a loop or one arm of an `if`, and ends there",
    )
    assert found.secondary[0].text == "`t` is first bound here"


def test_carried_type_changes() -> None:
    other = TileType(FP32, (1, 16))
    with pytest.raises(CompileError) as error:
        convert(program(region(make("t"), loop(I, 3, make("t", "t", kind=other)), see("t"))))
    (found,) = error.value.diagnostics
    assert found.rule.code == "PS3020"
    assert found.message == "`t` is fp32[8, 16] before the loop and fp32[1, 16] at the end of an iteration"
    assert found.primary.span.line > found.secondary[0].span.line

"""The gallery's kernels are accepted; without any set, wait, barrier or whole dependency of theirs they are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_spec.check import check_program
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.instr import InnerBarrier, Step
from pypto_spec.ir.nodes import Barrier, Branch, Control, For, If, Op, Program, Region, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.ops.instructions import effects
from pypto_spec.targets import TARGETS

FOLDER = Path(__file__).parents[2] / "specs"
SPECS = sorted(p for p in FOLDER.rglob("*") if p.suffix in (".yaml", ".toml"))

Wanted = Callable[[object], bool]
"""Whether a statement or an inner barrier stays."""


def codes(program: Program) -> set[str]:
    sink = Sink()
    check_program(program, TARGETS[program.target.platform], sink, effects)
    return {d.rule.code for d in sink.found}


def kept(program: Program, wanted: Wanted) -> Program:
    return replace(program, body=tuple(_control(c, wanted) for c in program.body))


def _control(node: Control, wanted: Wanted) -> Control:
    if isinstance(node, Region):
        return replace(node, body=_block(node.body, wanted))
    if isinstance(node, Branch):
        then, other = (tuple(_control(c, wanted) for c in arm) for arm in (node.then, node.other))
        return replace(node, then=then, other=other)
    return replace(node, body=tuple(_control(c, wanted) for c in node.body))


def _block(body: Sequence[Stmt], wanted: Wanted) -> tuple[Stmt, ...]:
    made: list[Stmt] = []
    for node in body:
        if isinstance(node, Op) and node.instrs is not None:
            steps: tuple[Step, ...] = tuple(s for s in node.instrs if not isinstance(s, InnerBarrier) or wanted(s))
            made.append(node if len(steps) == len(node.instrs) else replace(node, instrs=steps))
        elif isinstance(node, For):
            made.append(replace(node, body=_block(node.body, wanted)))
        elif isinstance(node, If):
            made.append(replace(node, then=_block(node.then, wanted), other=_block(node.other, wanted)))
        elif wanted(node):
            made.append(node)
    return tuple(made)


def order(program: Program) -> Iterator[SetFlag | WaitFlag | Barrier | InnerBarrier]:
    for region in regions(program.body):
        for node in statements(region.body):
            if isinstance(node, SetFlag | WaitFlag | Barrier):
                yield node
            elif isinstance(node, Op):
                yield from (s for s in node.instrs or () if isinstance(s, InnerBarrier))


@pytest.mark.parametrize("path", SPECS, ids=lambda p: str(p.relative_to(FOLDER)))
def test_kernel_and_mutants(path: Path) -> None:
    result = compile_source(Source(str(path), path.read_text(encoding="utf-8")))
    assert result.program is not None, [d.message for d in result.diagnostics]
    program = result.program
    assert codes(program) == set()
    drops = list(order(program))
    assert len({id(drop) for drop in drops}) == len(drops)
    for drop in drops:
        found = codes(kept(program, lambda node, drop=drop: node is not drop))  # type: ignore[misc]
        assert found, f"nobody misses {drop}"
        if isinstance(drop, Barrier | InnerBarrier):
            assert found == {"PS5101"}, drop
    sets = [d for d in drops if isinstance(d, SetFlag)]
    for pair in {p for d in sets for p in d.pairs}:
        keys = {_key(d) for d in sets if pair in d.pairs}
        found = codes(kept(program, lambda node, keys=keys: _key(node) not in keys))  # type: ignore[misc]
        assert "PS5101" in found, f"nobody misses the order of {pair}"


def _key(node: object) -> object:
    return (node.source, node.target, node.id) if isinstance(node, SetFlag | WaitFlag) else None

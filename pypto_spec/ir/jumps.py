"""Where `break` and `continue` stand."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.ir.nodes import If, Jump, Stmt


def jumps(body: Sequence[Stmt]) -> bool:
    """Whether a `break` or `continue` of the loop around `body` stands in it."""
    return any(isinstance(s, Jump) or (isinstance(s, If) and (jumps(s.then) or jumps(s.other))) for s in body)


def leaves(body: Sequence[Stmt]) -> bool:
    """Whether control never comes to the end of `body`."""
    return any(isinstance(s, Jump) or (isinstance(s, If) and leaves(s.then) and leaves(s.other)) for s in body)

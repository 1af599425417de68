"""Choices in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pypto_spec.passes.l0.choice import Choice, Considered, Why
from pypto_spec.passes.l0.problem import Form, Stationary
from pypto_spec.passes.l0.search import Candidate

_LINE: Mapping[Stationary, str] = {Stationary.A: "row", Stationary.B: "column"}
_BOUND: Mapping[str, str] = {"load": "loads", "mad": "MADs", "drain": "drains"}

OPEN = "set `l0c_double_buffer: true` in `target`, or `planner: ptoas`"
"""How two accumulators are asked for."""


def form_name(form: Form) -> str:
    """`A stays, 2 accumulators`."""
    return f"{form.stationary.value} stays, {'2 accumulators' if form.double else '1 accumulator'}"


def tile(candidate: Candidate) -> str:
    """`128 x 256 x 64`."""
    return " x ".join(map(str, candidate.tile))


def cost(candidate: Candidate) -> str:
    """The wall, and what most of it is."""
    return f"modelled {candidate.terms.wall:,} cycles, mostly {_BOUND[candidate.terms.bound]}"


def schedule(candidate: Candidate) -> str:
    """What the loops of a tile do."""
    if candidate.kept is None:
        return f"a tile of the output stays in L0C over {candidate.blocks:,} blocks of K"
    return f"{candidate.kept.value} stays in L0 while the tiles of one {_LINE[candidate.kept]} of the output pass"


def reason(choice: Choice, considered: Considered) -> str:
    """Why a form was or was not taken, with its figures."""
    return _REASONS[considered.verdict.why](choice, considered)


def _taken(choice: Choice, it: Considered) -> str:
    return "taken"


def _not_cheaper(choice: Choice, it: Considered) -> str:
    if not it.verdict.cycles:
        return "costs the same; of equals the first is taken"
    return f"costs {_cycles(choice, it)} more"


def _untiled(choice: Choice, it: Considered) -> str:
    why = "the whole matmul fits, so nothing is cut"
    saves = it.verdict.cycles is not None and it.verdict.cycles < 0
    return f"{why}; would save {_cycles(choice, it)}" if saves else why


def _needs_whole_k(choice: Choice, it: Considered) -> str:
    return f"needs tiles with all of K: at most {it.verdict.longest_k:,} of {choice.problem.k:,} fit"


def _one_moving_tile(choice: Choice, it: Considered) -> str:
    return "no tile leaves two full ones in the inner loop, so no drain runs under the next tile"


def _bias_too_wide(choice: Choice, it: Considered) -> str:
    width = choice.problem.width
    assert width is not None
    return f"several biases are in flight, and the bias table has {width.most:,} columns for all"


def _no_room(choice: Choice, it: Considered) -> str:
    return "not even the smallest tile fits"


def _gate_off(choice: Choice, it: Considered) -> str:
    return f"would save {_cycles(choice, it)}; two accumulators are not asked for"


def _forbidden(choice: Choice, it: Considered) -> str:
    return f"would save {_cycles(choice, it)}, but {it.form.stationary.value} may not stay put here"


_REASONS: Mapping[Why, Callable[[Choice, Considered], str]] = {
    Why.TAKEN: _taken,
    Why.NOT_CHEAPER: _not_cheaper,
    Why.UNTILED: _untiled,
    Why.NEEDS_WHOLE_K: _needs_whole_k,
    Why.ONE_MOVING_TILE: _one_moving_tile,
    Why.BIAS_TOO_WIDE: _bias_too_wide,
    Why.NO_ROOM: _no_room,
    Why.GATE_OFF: _gate_off,
    Why.FORBIDDEN: _forbidden,
}


def _cycles(choice: Choice, it: Considered) -> str:
    """`461 cycles (12.7 %)` of the winner's, without a sign."""
    assert it.verdict.cycles is not None
    cycles = abs(it.verdict.cycles)
    return f"{cycles:,} cycle{'s' * (cycles != 1)} ({100 * cycles / choice.winner.terms.wall:.1f} %)"

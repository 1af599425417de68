"""Which statements are proposed first: those that a kernel is made of, then what is written now and then."""

from __future__ import annotations

from pypto_spec.convert.loops import UNLEAVABLE
from pypto_spec.editor.complete.spot import Spot
from pypto_spec.ops.registry import FAMILIES, OPS
from pypto_spec.spec.models.keywords import Keyword


def rank(keyword: Keyword, spot: Spot | None) -> int:
    """The place of a keyword among the statements at a spot.

    Formulas and copies come first (on the control plane what stands nowhere else), then loops and branches, the other
    operators, and in the end what is seldom written by hand. A jump is among the loops inside of one that it can leave,
    and at the end elsewhere.
    """
    if keyword.bare:
        return 1 if _leaves_a_loop(spot) else 3
    if keyword.name in OPS:
        return 0 if OPS[keyword.name].family == FAMILIES[0] else 2
    if "instructions" in keyword.extras or "execution" not in keyword.planes:  # `let` stands for operators
        return 0
    return 1 if keyword.blocks else 3


def _leaves_a_loop(spot: Spot | None) -> bool:
    """Whether the innermost loop around a spot is one that `break` and `continue` can leave."""
    around = [frame.keyword for frame in spot.around] if spot is not None else []
    loops = [keyword for keyword in around if keyword is not None and keyword.blocks == ("body",)]
    return bool(loops) and loops[-1].opens is None and loops[-1].name not in UNLEAVABLE

"""InlineFunctions: the body of a function stands in the place of each call.

It decides the names: each one that the body binds gets a version that nothing else has. Arguments and results are
passed without a copy.
"""

from __future__ import annotations

from pypto_spec.ir.inline import inlined
from pypto_spec.ir.nodes import Program
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.base import Context, Pass, Property


def run(program: Program, context: Context) -> Program:
    """Inline every call."""
    return inlined(program, OPS["reshape"])


INLINE_FUNCTIONS = Pass(
    name="InlineFunctions",
    run=run,
    produces=frozenset({Property.INLINE_FUNCTIONS_ELIMINATED}),
    doc=__doc__,
)

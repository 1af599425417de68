"""Reading what nobody wrote: the result of `create_tile` as an operand.

A created tile is there to be carried into a loop, or to be changed in place. An op that reads it reads undefined lanes:
a store would bring them to GM, a reduction would spread them. Followed through views; what a loop carries or a branch
merges is not judged, because it may have been written by then.
"""

from __future__ import annotations

from pypto_spec.diagnostics.model import Label, Sink
from pypto_spec.diagnostics.rules.names import UNDEFINED_CONTENTS
from pypto_spec.ir.nodes import Op, Program, Value
from pypto_spec.ir.rewrite import ops, regions


def check_contents(program: Program, sink: Sink) -> None:
    """Report ops that read a created tile before anything is written to it."""
    for region in regions(program.body):
        created: dict[Value, Op] = {}
        told: set[Op] = set()
        for op in ops(region.body):
            if op.name == "create_tile":
                created[op.result] = op
                continue
            if not created:
                continue
            for field, value in op.operands.items():
                origin = created.get(value)
                if origin is None:
                    continue
                if op.defn.role == "view":
                    created[op.result] = origin
                elif (field != op.defn.reuses or _adds(op, field)) and origin not in told:
                    told.add(origin)
                    _report(op, field, value, origin, sink)


def _adds(op: Op, field: str) -> bool:
    """Whether an op that changes an operand in place adds to what stands there, whatever happens."""
    return op.defn.role == "matmul" and field == op.defn.reuses and "init" not in op.attrs


def _report(op: Op, field: str, value: Value, origin: Op, sink: Sink) -> None:
    name, created = value.name.split(".")[0], origin.result.name.split(".")[0]
    what = f"`{name}` is" if name == created else f"`{name}` is a part of `{created}`,"
    sink.report(
        UNDEFINED_CONTENTS,
        op.loc.field(field),
        f"{what} created without contents, and `{op.name}` reads it before anything is written to it",
        label="reads undefined elements",
        secondary=[Label(origin.loc.span, f"`{created}` is created here")],
        helps=[f"start from zero with `{op.name.removesuffix('_acc')}`, or say when with `init`"]
        if _adds(op, field)
        else [
            f"start from a value: `- full: {{into: {created}, ..., value: 0}}`",
            f"or bind `{created}` again before it is read; a `load` and every other statement makes its own tile, "
            "`create_tile` is needed only for what a loop carries",
        ],
    )

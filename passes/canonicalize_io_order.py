"""CanonicalizeIOOrder: in a pipeline's body the loads of all stages come first, then each stage's compute and stores.

So the copies of later stages are issued before the compute of the first has begun. Only what has copies (a `stage` tag)
is moved, and nothing passes what it depends on: values, GM and buffers that may be shared, flags. After it the pipeline
is an ordinary loop. Where memory is short MemoryReuse moves loads back again.

In a loop with `l0c_double_buffer` the copies go in pairs: the products of both, then what takes the accumulators away.
So both accumulators are alive, in two places, and one drains while the next product is summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pypto_spec.ir.nodes import For, Program, Stmt
from pypto_spec.ir.rewrite import Rewriter, ops
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.stages.order import ordered


class _Order(Rewriter):
    def loop(self, loop: For) -> Sequence[Stmt]:
        (made,) = super().loop(loop)
        if loop.kind != "pipeline":
            return (made,)
        body = cast(For, made).body
        if any(op.stages for op in ops(body)):
            body = ordered(body, paired=loop.l0c_double_buffer)
        return (replace(cast(For, made), kind="for", body=body),)


def run(program: Program, context: Context) -> Program:
    """Order the bodies of all pipelines."""
    return _Order().program(program)


CANONICALIZE_IO_ORDER = Pass(
    name="CanonicalizeIOOrder",
    run=run,
    requires=frozenset({Property.PIPELINES_REPLICATED}),
    produces=frozenset({Property.PIPELINE_RESOLVED}),
    doc=__doc__,
)

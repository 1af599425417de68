"""Operators that bring elements to other places: extract, assemble and concat.

Windows that start and end on 32 B boundaries are copied block by block; any other is gathered (see `shuffle`).
"""

from pypto_spec.ops.rearrange import assemble, concat, extract

__all__ = ["assemble", "concat", "extract"]

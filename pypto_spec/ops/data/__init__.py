"""Movement of data: load from a tensor, store to one, and move between tiles."""

from pypto_spec.ops.data import load, move, store

__all__ = ["load", "move", "store"]

"""The planners of on-chip memory: pure functions from a `Problem` to a `Placement`, and who is asked in which order."""

"""Pipelines: copies of a loop's body that run side by side, their order, and the buffers that each keeps for itself."""

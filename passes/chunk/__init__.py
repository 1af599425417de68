"""How ChunkTensorOps works: what belongs together, in which rounds it can be computed, and writing the loops."""

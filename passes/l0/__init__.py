"""How a matmul is cut for L0: the pure decision that AutoTileMatmulL0 carries out (PyPTO's cost model)."""

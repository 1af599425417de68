"""How AutoTileMatmulL0 writes down what the chooser decided: loops over tiles of L0 in place of one matmul."""

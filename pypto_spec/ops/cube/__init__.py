"""Recipes of the cube: the copies between its memories, and the product itself."""

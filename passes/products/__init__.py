"""Products of whole arrays as loops over tiles: what a product is, how it is divided, and how it is written."""

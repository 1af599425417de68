"""Explaining how matmuls are cut for L0; `driver/explain_tiling.py` puts the parts together."""

"""Between spec text and the IR, both ways.

`to_ir.convert` makes a program of a loaded document (`let.py` turns formulas into one-op statements), `to_spec.to_spec`
prints a program as spec text that reads back to it.
"""

"""The rules: one module per family, one line per rule. `registry.py` knows them all.

PS1 syntax and schema, PS2 names, PS3 shapes and dtypes, PS4 memory, PS5 pipelines and synchronisation, PS6 planes and
cores, PS7 target and rendering, PS8 hints of ours, PS9 internal; PH* keep PyPTO's names.
"""

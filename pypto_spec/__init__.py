"""pypto-spec: a compiler for declarative kernel specs on Ascend NPUs.

A spec (YAML or TOML) is loaded with its source positions, becomes an immutable SSA program, is lowered by small
passes, and is rendered as Ascend C; the rendered C++ itself is what the golden tests run on the host model.
"""

__version__ = "0.1.0"

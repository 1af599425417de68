"""The models of a spec's sections and statements: what may be written, its defaults, and its JSON Schema."""

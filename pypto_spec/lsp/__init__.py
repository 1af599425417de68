"""The language server: `pypto_spec.editor` and the compiler over the Language Server Protocol."""

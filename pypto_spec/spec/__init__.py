"""The spec language: loading with positions, formulas, models, and the JSON Schema.

`load.load` gives the node tree of a YAML or TOML text, `models.document.load_document` the validated spec,
`formula` reads expressions, `schema.schema_text` prints the JSON Schema. Nothing is imported here, so that a caller
pays for what it uses.
"""

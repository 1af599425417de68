"""What an editor can know about a spec: pure functions from a text and a place in it to answers.

Nothing here knows a protocol: places are code-point offsets and spans of a `Source`. `pypto_spec.lsp` talks to editors.
"""

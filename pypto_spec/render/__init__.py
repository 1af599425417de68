"""Rendering: a program after InsertSync becomes Ascend C, host code, build projects and a manifest, through Jinja.

All decisions are made before or in Python; templates loop and print. Entry points: `program.render_kernels` (kernels
with their line maps), `tree.render_program` (all files by path), `write.write_tree`, `typecheck.typecheck`.
"""

"""Everything a build writes, as texts by relative path."""

from __future__ import annotations

from pypto_spec.ir.nodes import Program
from pypto_spec.render.launcher import binding_files, host_files
from pypto_spec.render.manifest import manifest
from pypto_spec.render.model import RenderedProgram
from pypto_spec.render.program import render_kernels


def render_program(program: Program, *, spec_sha256: str | None = None) -> dict[str, str]:
    """The files of a program after InsertSync: kernels, launcher, build projects, binding, manifest."""
    return tree_of(render_kernels(program, spec_sha256))


def tree_of(rendered: RenderedProgram) -> dict[str, str]:
    """The files of rendered kernels, sorted by path."""
    files = {kernel.path: kernel.text for kernel in rendered.kernels}
    files |= host_files(rendered)
    files |= binding_files(rendered)
    files["manifest.json"] = manifest(rendered)
    return dict(sorted(files.items()))

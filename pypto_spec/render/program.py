"""A whole program: its kernels, and its launches in the order in which the host makes them."""

from __future__ import annotations

import hashlib
from collections.abc import Set

from pypto_spec import __version__
from pypto_spec.ir.dtype import INT64
from pypto_spec.ir.expr import Index, Sym, add, ceil_div, mul
from pypto_spec.ir.nodes import Branch, Control, Grid, Loop, Program, Region
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TensorType
from pypto_spec.render.kernel import render_kernel, spec_name
from pypto_spec.render.model import (
    Argument,
    Created,
    HostBranch,
    HostLoop,
    HostStep,
    Launch,
    RenderedKernel,
    RenderedProgram,
)
from pypto_spec.render.names import HOST_RESERVED, Names, external
from pypto_spec.render.scope import host_type, scalar_argument


def render_kernels(program: Program, spec_sha256: str | None = None) -> RenderedProgram:
    """All kernels of a program after InsertSync. `spec_sha256` is the hash of the file's bytes where known."""
    walk = _Walk(program)
    launches = walk.controls(program.body, ())
    if spec_sha256 is None:
        text = program.loc.span.source.text
        spec_sha256 = program.dump.sha256 if program.dump is not None else hashlib.sha256(text.encode()).hexdigest()
    arguments = _arguments(program)
    used = {argument.name for kernel in walk.kernels for argument in kernel.arguments}
    created, workspace = _workspace(program, arguments, used)
    return RenderedProgram(
        name=program.name,
        symbol=external(program.name),
        about=program.about,
        spec=spec_name(program),
        spec_sha256=spec_sha256,
        version=__version__,
        arguments=arguments,
        kernels=tuple(walk.kernels),
        launches=launches,
        created=created,
        workspace=workspace,
        debug=any(op.defn.effects == "shows" for region in regions(program.body) for op in ops(region.body)),
    )


class _Walk:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernels: list[RenderedKernel] = []
        self.taken: set[str] = set()

    def controls(self, body: tuple[Control, ...], indices: tuple[Sym, ...]) -> tuple[HostStep, ...]:
        return tuple(step for node in body for step in self.control(node, indices))

    def control(self, node: Control, indices: tuple[Sym, ...]) -> tuple[HostStep, ...]:
        if isinstance(node, Region):
            return (self.launch(node, None, indices),)
        if isinstance(node, Grid):
            made: list[HostStep] = []
            for inner in node.body:
                assert isinstance(inner, Region), "a launch holds regions only (OutlineIncoreScopes)"
                made.append(self.launch(inner, node, indices))
            return tuple(made)
        if isinstance(node, Loop):
            body = self.controls(node.body, (*indices, node.index))
            return (HostLoop(node.index, node.start, node.stop, node.step, body, node.loc),)
        assert isinstance(node, Branch)
        then, other = self.controls(node.then, indices), self.controls(node.other, indices)
        return (HostBranch(node.condition, then, other, node.loc),)

    def launch(self, region: Region, grid: Grid | None, indices: tuple[Sym, ...]) -> Launch:
        assert region.kernel is not None, f"region {region.name} is not outlined"
        first = name = external(region.kernel)
        number = 1
        while name in self.taken:
            number += 1
            name = f"{first}_{number}"
        self.taken.add(name)
        kernel = render_kernel(self.program, region, grid, indices, name=name)
        self.kernels.append(kernel)
        return Launch(kernel, region.loc)


WORKSPACE_GRID = 512
"""Bytes on whose multiples tensors start in the workspace: a burst of GM and a line of the L2 cache; copies need 32."""


def _workspace(program: Program, arguments: tuple[Argument, ...], used: Set[str]) -> tuple[tuple[Created, ...], Index]:
    """The created tensors that kernels use, one behind the other, and the bytes of all."""
    names = Names(HOST_RESERVED | {a.cpp for a in arguments})
    made: list[Created] = []
    end: Index = 0
    for value in program.created:
        if value.name not in used:
            continue
        kind = value.type
        assert isinstance(kind, TensorType)
        size = mul(kind.elements, kind.dtype.bytes)
        made.append(Created(value.name, names.unique(value.name), kind.dtype.name, kind.shape, end, size))
        end = add(end, mul(ceil_div(size, WORKSPACE_GRID), WORKSPACE_GRID))
    return tuple(made), end


def _arguments(program: Program) -> tuple[Argument, ...]:
    """The program's arguments in order: tensors, scalars, run-time dimensions."""
    names = Names(HOST_RESERVED)
    made: list[Argument] = []
    for value in program.tensors:
        assert isinstance(value.type, TensorType)
        kind = value.type
        made.append(
            Argument(
                value.name,
                names.unique(value.name),
                "tensor",
                "void*",
                kind.dtype.name,
                kind.shape,
                kind.access,
                strides=kind.pitches,
            )
        )
    made += [scalar_argument(value, names.unique(value.name)) for value in program.scalars]
    made += [Argument(d.name, names.unique(d.name), "dim", host_type(INT64), "int64", symbol=d) for d in program.dims]
    return tuple(made)

"""`manifest.json`: what was built, for programs that load or launch it. Keys stand in a fixed order."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from pypto_spec.ir.expr import Index
from pypto_spec.render.comments import condition_text, index_text
from pypto_spec.render.model import Argument, Created, HostLoop, HostStep, Launch, RenderedProgram

VERSION = 1
"""Version of the manifest's form."""


def _index(index: Index | str) -> int | str:
    return index if isinstance(index, int | str) else index_text(index)


def _argument(argument: Argument) -> dict[str, Any]:
    made: dict[str, Any] = {"name": argument.name, "kind": argument.kind, "dtype": argument.dtype}
    if argument.kind == "tensor":
        assert argument.access is not None
        made["shape"] = [_index(e) for e in argument.shape]
        if argument.strides is not None:
            made["strides"] = [_index(s) for s in argument.strides]
        made["access"] = argument.access.value
    made["cpp"] = argument.cpp
    made["ctype"] = argument.ctype
    return made


def _created(created: Created) -> dict[str, Any]:
    return {
        "name": created.name,
        "dtype": created.dtype,
        "shape": [_index(e) for e in created.shape],
        "workspace_offset": _index(created.offset),
        "bytes": _index(created.bytes),
    }


def _step(step: HostStep) -> dict[str, Any]:
    line = step.loc.span.line
    if isinstance(step, Launch):
        return {"kernel": step.kernel.name, "line": line}
    if isinstance(step, HostLoop):
        limits = [_index(i) for i in (step.start, step.stop, step.step)]
        return {"for": step.index.name, "range": limits, "line": line, "body": [_step(s) for s in step.body]}
    return {
        "if": condition_text(step.condition),
        "line": line,
        "then": [_step(s) for s in step.then],
        "else": [_step(s) for s in step.other],
    }


def manifest(program: RenderedProgram) -> str:
    """The text of `manifest.json`."""
    made = {
        "manifest": VERSION,
        "name": program.name,
        "about": program.about,
        "spec": {"file": program.spec, "sha256": program.spec_sha256},
        "pypto_spec": program.version,
        "arguments": [_argument(a) for a in program.arguments],
        "kernels": [
            {
                "name": kernel.name,
                "region": kernel.region,
                "core": kernel.core,
                "blocks": _index(kernel.blocks),
                "file": kernel.path,
                "sha256": hashlib.sha256(kernel.text.encode()).hexdigest(),
                "arguments": [_argument(a) for a in kernel.arguments],
                "on_chip_bytes": dict(sorted(kernel.memory.items())),
                **({"placed_by": dict(sorted(kernel.planners.items()))} if kernel.planners else {}),
            }
            for kernel in program.kernels
        ],
        "launches": [_step(s) for s in program.launches],
        "launch_function": f"{program.symbol}_launch",
        "workspace_bytes": _index(program.workspace),
        **({"created": [_created(c) for c in program.created]} if program.created else {}),
        "debug": program.debug,
    }
    return _FLAT.sub(_join, json.dumps(made, indent=2, ensure_ascii=False)) + "\n"


_FLAT = re.compile(r"\[\n[^\[\]{}]*\]")
"""A list without lists or mappings in it: printed on one line."""


def _join(match: re.Match[str]) -> str:
    return "[" + ", ".join(line.strip().rstrip(",") for line in match[0].split("\n")[1:-1]) + "]"

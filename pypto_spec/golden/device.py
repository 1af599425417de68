"""What runs a golden on a device: inputs and references as raw files, and a host program that launches and compares."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from typing import Any

from pypto_spec.golden.compare import DIGITS, LOWEST
from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.golden.storage import store, strides_of
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.render.comments import safe
from pypto_spec.render.model import Argument
from pypto_spec.render.tree import tree_of
from pypto_spec.templating import render

FOLDER = "golden"
"""Where everything but the built program itself stands."""

_TYPES = {"fp32": "kFp32", "fp16": "kFp16", "bf16": "kBf16"}


def device_files(subject: Subject, *, seed: int = 0) -> dict[str, str | bytes]:
    """The built program and its golden by path: one case for each size, expected values as raw doubles."""
    files: dict[str, str | bytes] = dict(tree_of(subject.rendered))
    cases: list[dict[str, object]] = []
    index: list[dict[str, object]] = []
    for number, values in enumerate(sizes(subject.program)):
        run = GoldenRun(subject, values, seed)
        name = f"case{number}"
        cases.append(_case(run, name, number))
        index.append(_entry(run, name))
        for path, data in _data(run):
            files[f"{FOLDER}/data/{name}/{path}"] = data
    view = {"program": subject.rendered, "spec": safe(subject.rendered.spec), "cases": cases}
    files[f"{FOLDER}/run.cpp"] = render("device/run.cpp.j2", **view)
    files[f"{FOLDER}/cann81/CMakeLists.txt"] = render("device/cann81.txt.j2", **view)
    files[f"{FOLDER}/asc/CMakeLists.txt"] = render("device/asc.txt.j2", **view)
    files[f"{FOLDER}/index.json"] = (
        json.dumps({"program": subject.program.name, "seed": seed, "cases": index}, indent=2) + "\n"
    )
    return dict(sorted(files.items()))


def _data(run: GoldenRun) -> Iterator[tuple[str, bytes]]:
    for tensor in run.subject.program.tensors:
        access = _access(tensor)
        strides = strides_of(tensor, run.values)
        if _given(run, tensor):
            yield f"{tensor.name}.in.bin", raw(store(run.inputs[tensor.name], strides).flat)
        if access is not Access.IN:
            yield f"{tensor.name}.expected.bin", raw(store(_reference(run, tensor), strides).flat)


def _given(run: GoldenRun, tensor: Value) -> bool:
    """Whether a case brings the contents of a tensor: inputs, and outputs with something between their rows."""
    return _access(tensor) is not Access.OUT or strides_of(tensor, run.values) is not None


def _reference(run: GoldenRun, tensor: Value) -> Any:
    """The expected values as doubles; what is beyond the output's range is the infinity it rounds to."""
    module = torch()
    expected = run.expected[tensor.name].to(module.float64)
    if not tensor.type.dtype.is_float:
        return expected
    rounded = expected.to(run.inputs[tensor.name].dtype).to(module.float64)
    return module.where(rounded.isinf(), rounded, expected)


def raw(tensor: Any) -> bytes:
    """The bytes of a tensor in C order."""
    dense = tensor.contiguous()
    return ctypes.string_at(dense.data_ptr(), dense.numel() * dense.element_size()) if dense.numel() else b""


def _access(tensor: Value) -> Access:
    assert isinstance(tensor.type, TensorType)
    return tensor.type.access


def _tolerance(run: GoldenRun, tensor: Value) -> tuple[float, float]:
    dtype = tensor.type.dtype
    allowed = run.allowed(tensor)
    if not dtype.is_float:
        return allowed.rtol, max(allowed.atol, allowed.ulps)
    # A unit in the last place is at most this part of the value, or the smallest subnormal number.
    part, least = 2.0 ** (1 - DIGITS[dtype.name]), 2.0 ** (LOWEST[dtype.name] - DIGITS[dtype.name])
    return max(allowed.rtol, allowed.ulps * part), max(allowed.atol, allowed.ulps * least)


def _case(run: GoldenRun, name: str, number: int) -> dict[str, object]:
    """What the host program holds of one case: a table of its tensors, and a function that launches it."""
    program = run.subject.rendered
    tensors: list[str] = []
    for tensor in run.subject.program.tensors:
        dtype = tensor.type.dtype
        count = store(run.inputs[tensor.name], strides_of(tensor, run.values)).flat.numel()
        rtol, atol = _tolerance(run, tensor)
        access = _access(tensor)
        fields = [
            f'"{tensor.name}"', f"Type::{_TYPES.get(dtype.name, 'kInt')}", str(dtype.bytes),
            _flag(dtype.kind != "uint"), str(count), _flag(_given(run, tensor)), _flag(access is not Access.IN),
            repr(rtol), repr(atol),
        ]  # fmt: skip
        tensors.append(f"{{{', '.join(fields)}}}")
    places = iter(range(len(tensors)))
    passed = [f"tensors[{next(places)}]" if a.kind == "tensor" else _passed(run, a) for a in program.arguments]
    own_head = ", void* workspace" if program.created else ""
    head = f"int32_t Launch{number}(void* const* tensors{own_head}, void* stream) {{"
    own = ["workspace"] if program.created else []
    sizes = [_passed(run, a) for a in program.workspace_arguments]
    bytes_of = f"{program.symbol}_workspace_bytes({', '.join(sizes)})" if program.created else "0"
    call = [f"    return {program.symbol}_launch({', '.join([*passed, *own, 'stream'])});"]
    return {"name": name, "tensors": tensors, "workspace": bytes_of, "launch": [head, *call, "}"]}


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _passed(run: GoldenRun, argument: Argument) -> str:
    """The value of a scalar or run-time size."""
    if argument.kind == "scalar":
        value = run.scalars[argument.name].item()
        if isinstance(value, float):
            return f"static_cast<float>({value.hex()})"
        return f"INT64_C({value})" if argument.dtype == "int64" else str(value)
    return f"INT64_C({next(v for s, v in run.values.items() if s.name == argument.name)})"


def _entry(run: GoldenRun, name: str) -> dict[str, object]:
    """What `index.json` says about one case."""
    tensors = []
    for tensor in run.subject.program.tensors:
        access = _access(tensor)
        rtol, atol = _tolerance(run, tensor)
        entry: dict[str, object] = {
            "name": tensor.name, "dtype": tensor.type.dtype.name, "shape": list(run.shape(tensor)),
            "access": access.value,
        }  # fmt: skip
        strides = strides_of(tensor, run.values)
        if strides is not None:
            entry["strides"] = list(strides)
        if _given(run, tensor):
            entry["input"] = f"data/{name}/{tensor.name}.in.bin"
        if access is not Access.IN:
            entry |= {"expected": f"data/{name}/{tensor.name}.expected.bin", "rtol": rtol, "atol": atol}
        tensors.append(entry)
    return {
        "name": name,
        "reference": run.label,
        "sizes": {symbol.name: value for symbol, value in run.values.items()},
        "scalars": {name: value.item() for name, value in run.scalars.items()},
        "tensors": tensors,
    }

"""`golden.python: file.py:function`: a reference written as a Python function, and what can be wrong with one."""

from __future__ import annotations

import importlib.util
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.need_torch import torch

_WHERE = "golden.python: "


def reference(
    where: str, folder: Path, given: Mapping[str, Any], extra: Mapping[str, Any], outputs: Sequence[str]
) -> dict[str, Any]:
    """The outputs by the function `where` names, in a file of `folder`.

    It is called with everything in `given` by name, and with those of `extra` that it takes. Raises GoldenError.
    """
    file, _, name = where.rpartition(":")
    path = folder / file
    function = _function(path, name)
    arguments = _arguments(function, name, path, given, extra)
    try:
        made = function(**arguments)
    except Exception as error:
        raise GoldenError(f"{_WHERE}`{name}` {_raised(error, path)}") from error
    return _outputs(made, name, outputs)


def _function(path: Path, name: str) -> Callable[..., Any]:
    if not path.is_file():
        raise GoldenError(f"{_WHERE}there is no file {path}", "the path is relative to the spec's folder")
    module = _module(path)
    found = getattr(module, name, None)
    if not callable(found):
        known = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        meant = did_you_mean(name, known)
        raise GoldenError(
            f"{_WHERE}{path.name} has no function `{name}`", meant or f"define it there: `def {name}(...):`"
        )
    return cast(Callable[..., Any], found)


class _Reader(SourceFileLoader):
    """Imports a file and leaves nothing beside it: a folder of specs is only read."""

    def set_data(self, path: str, data: object, *, _mode: int = 0) -> None:
        """Where bytecode would be written."""


def _module(path: Path) -> ModuleType:
    if path.suffix != ".py":
        raise GoldenError(f"{_WHERE}{path.name} is no Python file", "its name ends in .py")
    loader = _Reader("pypto_spec_golden", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader, origin=str(path))
    assert spec is not None and spec.loader is not None, "a loader was given"
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise GoldenError(f"{_WHERE}{path.name} {_raised(error, path)}") from error
    return module


def _arguments(
    function: Callable[..., Any], name: str, path: Path, given: Mapping[str, Any], extra: Mapping[str, Any]
) -> dict[str, Any]:
    signature = inspect.signature(function)
    takes = {p.name for p in signature.parameters.values() if p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)}
    rest = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    arguments = {**given, **{n: v for n, v in extra.items() if rest or n in takes}}
    try:
        signature.bind(**arguments)
    except TypeError as error:
        listed = ", ".join(given)
        raise GoldenError(
            f"{_WHERE}`{name}{signature}` of {path.name} cannot be called: {error}",
            f"it gets the tensors that come with values, and the scalars, by name: `def {name}({listed}):`; symbols "
            "too where it names them",
        ) from error
    return arguments


def _raised(error: Exception, path: Path) -> str:
    """What an exception says, and the line of the author's file it passed last."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines = [error.lineno]
    said = str(error).splitlines()
    text = f"raised {type(error).__name__}" + (f": {said[0]}" if said else "")
    return text + (f" (line {lines[-1]} of {path.name})" if lines and lines[-1] else "")


def _outputs(made: Any, name: str, outputs: Sequence[str]) -> dict[str, Any]:
    """What the function returned, by output, as tensors of doubles or 64-bit integers."""
    module = torch()
    way_out = (
        f"return the tensor `{outputs[0]}`" if len(outputs) == 1
        else f"return a mapping: `return {{{', '.join(f'{o!r}: {o}' for o in outputs)}}}`"
    )  # fmt: skip
    if not isinstance(made, Mapping):
        if len(outputs) > 1:
            raise GoldenError(
                f"{_WHERE}`{name}` returned {_kind(made)}, but the program has {len(outputs)} outputs", way_out
            )
        made = {outputs[0]: made}
    missing = [o for o in outputs if o not in made]
    if missing:
        listed = ", ".join(f"`{o}`" for o in missing)
        raise GoldenError(f"{_WHERE}`{name}` returned nothing for {listed}", way_out)
    unknown = [n for n in made if n not in outputs]
    if unknown:
        raise GoldenError(f"{_WHERE}`{name}` returned `{unknown[0]}`, which is no output of the program", way_out)
    found: dict[str, Any] = {}
    for output in outputs:
        try:
            value = module.as_tensor(made[output])
        except (TypeError, ValueError, RuntimeError) as error:
            raise GoldenError(f"{_WHERE}`{name}` returned {_kind(made[output])} for `{output}`", way_out) from error
        found[output] = value.to(module.float64 if value.is_floating_point() else module.int64)
    return found


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"

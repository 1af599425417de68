"""What the command line, the pytest plugin and the language server call; one module per task, imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypto_spec.driver.build import build_text
    from pypto_spec.driver.check import check_text
    from pypto_spec.driver.compile import Compilation, compile_source
    from pypto_spec.driver.test import test_text

__all__ = ["Compilation", "build_text", "check_text", "compile_source", "test_text"]

_HOMES = {
    "Compilation": "compile",
    "build_text": "build",
    "check_text": "check",
    "compile_source": "compile",
    "test_text": "test",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)

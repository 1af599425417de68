"""torch, or a clear word that it is missing."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any


class TorchMissingError(RuntimeError):
    """Goldens need torch and it is not installed."""

    def __init__(self) -> None:
        super().__init__("goldens need torch, which is not installed: pip install 'pypto-spec[golden]'")


@cache
def torch() -> Any:
    """The torch module. Raises TorchMissingError where there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch says at import that numpy is missing; nothing here needs it
            import torch as module
    except ImportError as error:
        raise TorchMissingError from error
    module.set_num_threads(1)  # kernels are small, and tests run side by side
    return module

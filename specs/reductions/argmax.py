"""What argmax.yaml is compared with."""

import torch


def row_argmax(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Largest elements of rows and their first positions, each [M, 1]; a stable sort keeps equal ones in order."""
    values, positions = torch.sort(x, dim=1, descending=True, stable=True)
    return {"value": values[:, :1], "first": positions[:, :1]}

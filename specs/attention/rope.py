"""What rope.yaml is compared with: pairs (x[k], x[k + D/2]) as complex numbers, turned by cos + i sin."""

import torch


def rotate(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    """Rows [M, D] turned by the angles whose cosines and sines are [M, D/2]."""
    half = x.shape[1] // 2
    turned = torch.complex(x[:, :half], x[:, half:]) * torch.complex(cosines, sines)
    return torch.cat([turned.real, turned.imag], dim=1)

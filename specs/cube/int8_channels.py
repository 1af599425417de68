"""What int8_channels.yaml is compared with."""

import torch


def dequantized(a: torch.Tensor, b: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The product of `a` and `b` times the scale of each column, of which `scales` are the bits as fp32."""
    return (a @ b) * scales.to(torch.int32).view(torch.float32)

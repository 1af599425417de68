"""Data types of tensors and tiles."""

from __future__ import annotations

from typing import Literal

from pypto_spec.records import dataclass

Kind = Literal["float", "int", "uint"]

BLOCK_BYTES = 32
"""A data block: the unit of alignment and of vector strides (Ascend C `ONE_BLK_SIZE`)."""
REPEAT_BYTES = 256
"""What one repeat of a vector instruction touches (Ascend C `ONE_REPEAT_BYTE_SIZE`)."""


@dataclass(frozen=True, slots=True)
class DType:
    """A data type: its name in specs, its size in bytes, and its name in Ascend C."""

    name: str
    bytes: int
    kind: Kind
    cpp: str

    @property
    def block(self) -> int:
        """Elements in a 32 B block."""
        return BLOCK_BYTES // self.bytes

    @property
    def lanes(self) -> int:
        """Elements in a 256 B repeat."""
        return REPEAT_BYTES // self.bytes

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def __str__(self) -> str:
        return self.name


FP32 = DType("fp32", 4, "float", "float")
FP16 = DType("fp16", 2, "float", "half")
BF16 = DType("bf16", 2, "float", "bfloat16_t")
INT32 = DType("int32", 4, "int", "int32_t")
INT16 = DType("int16", 2, "int", "int16_t")
INT8 = DType("int8", 1, "int", "int8_t")
INT64 = DType("int64", 8, "int", "int64_t")
UINT64 = DType("uint64", 8, "uint", "uint64_t")
UINT32 = DType("uint32", 4, "uint", "uint32_t")
UINT16 = DType("uint16", 2, "uint", "uint16_t")
UINT8 = DType("uint8", 1, "uint", "uint8_t")

DTYPES: dict[str, DType] = {d.name: d for d in (FP32, FP16, BF16, INT32, INT16, INT8, INT64, UINT32, UINT16, UINT8)}

"""What products and the way out of L0C mean, against values by hand."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pypto_spec.ops.registry import OPS

torch: Any = pytest.importorskip("torch")


def meaning(name: str, inputs: dict[str, Any], **attrs: Any) -> Any:
    defn = OPS[name]
    filled = {f.name: f.default for f in defn.fields if f.kind not in ("bind", "tile", "tensor")}
    return defn.torch(torch, inputs, {**filled, **attrs})


A = [[1, 2], [3, 4]]
B = [[5, 6], [7, 8]]


def test_products() -> None:
    lhs, rhs = torch.tensor(A, dtype=torch.float16), torch.tensor(B, dtype=torch.float16)
    made = meaning("matmul", {"lhs": lhs, "rhs": rhs})
    assert (made.dtype, made.tolist()) == (torch.float32, [[19, 22], [43, 50]])
    bias = torch.tensor([[100.0, 200.0]])
    assert meaning("matmul_bias", {"lhs": lhs, "rhs": rhs, "bias": bias}).tolist() == [[119, 222], [143, 250]]
    acc = torch.ones(2, 2)
    assert meaning("matmul_acc", {"acc": acc, "lhs": lhs, "rhs": rhs}).tolist() == [[20, 23], [44, 51]]
    assert meaning("matmul_acc", {"acc": acc, "lhs": lhs, "rhs": rhs}, init=True).tolist() == [[19, 22], [43, 50]]
    assert meaning("gemv", {"lhs": lhs[:1], "rhs": rhs}).tolist() == [[19, 22]]
    stack = meaning("batch_matmul", {"lhs": torch.stack([lhs, rhs]), "rhs": rhs})
    assert stack.tolist() == [[[19, 22], [43, 50]], [[67, 78], [91, 106]]]


def test_products_of_8_bits_add_up_in_32() -> None:
    low = torch.full((1, 1000), -128, dtype=torch.int8)
    made = meaning("matmul", {"lhs": low, "rhs": low.T})
    assert (made.dtype, made.item()) == (torch.int32, 16_384_000)


def test_transposed_whole_arrays() -> None:
    lhs, rhs = torch.tensor(A, dtype=torch.float32), torch.tensor(B, dtype=torch.float32)
    assert meaning("matmul", {"lhs": lhs, "rhs": rhs}, a_trans=True).tolist() == [[26, 30], [38, 44]]
    assert meaning("matmul", {"lhs": lhs, "rhs": rhs}, b_trans=True).tolist() == [[17, 23], [39, 53]]


def stored(values: list[float], dtype: Any, out: Any, **more: Any) -> list[float]:
    tile = torch.tensor([values], dtype=dtype)
    inputs = {"from": tile, "to": torch.zeros((1, len(values)), dtype=out), **more.pop("inputs", {})}
    found: list[float] = meaning("store", inputs, at=(0, 0), **more)[0].tolist()
    return found


def test_relu_and_scales() -> None:
    assert stored([-3.0, 0.5], torch.float32, torch.float32, relu=True) == [0.0, 0.5]
    assert stored([-30, 10], torch.int32, torch.float16, quant=0.5) == [-15, 5]
    # halves go to the even number, and what is beyond int8 to its ends
    assert stored([1, 3, 5, -3, 4000, -4000], torch.int32, torch.int8, quant=0.5) == [0, 2, 2, -2, 127, -128]
    assert stored([-6, 6], torch.int32, torch.int8, quant=0.5, relu=True) == [0, 3]


def test_a_scale_loses_its_low_bits() -> None:
    bits = struct.unpack("<I", struct.pack("<f", 0.5))[0]
    scale = struct.unpack("<f", struct.pack("<I", bits | 0x1FFF))[0]
    assert stored([2**20], torch.int32, torch.float16, quant=scale / 2**10) == stored(
        [2**20], torch.int32, torch.float16, quant=0.5 / 2**10
    )


def test_a_scale_for_each_column() -> None:
    bits = [struct.unpack("<I", struct.pack("<f", scale))[0] for scale in (0.5, -2.0)]
    scales = torch.tensor([[bits[0], bits[1] | 1 << 46]], dtype=torch.int64)
    assert stored([6, 7], torch.int32, torch.float16, inputs={"scales": scales}) == [3, -14]


def test_on_the_way_to_l1() -> None:
    tile = torch.tensor([[-1.0, 2049.0]])
    assert meaning("move", {"from": tile}, dtype=None).tolist() == [[-1, 2049]]
    target = torch.zeros(1, 4, dtype=torch.float16)
    made = meaning("assemble", {"target": target, "x": tile}, at=(0, 1), relu=True)
    assert made.tolist() == [[0, 0, 2048, 0]]  # 2049 is half way between two numbers of fp16

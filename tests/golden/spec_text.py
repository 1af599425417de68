"""A spec being written for a test."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_spec.ir.dtype import DType

Shape = tuple[int, int]


@dataclass(slots=True)
class Spec:
    """A spec being written: its tensors, then its statements."""

    name: str
    tensors: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)

    def tensor(self, name: str, dtype: DType, shape: tuple[int, ...], access: str = "in") -> None:
        """Declare a tensor argument."""
        self.tensors.append(f"{name}: {{dtype: {dtype}, shape: {list(shape)}, access: {access}}}")

    def load(self, into: str, dtype: DType, shape: tuple[int, ...]) -> None:
        """Declare a tensor and bring it on chip whole."""
        self.tensor(f"g_{into}", dtype, shape)
        self.body.append(f"load: {{into: {into}, from: g_{into}, at: {[0] * len(shape)}, shape: {list(shape)}}}")

    def store(self, source: str, dtype: DType, shape: tuple[int, ...]) -> None:
        """Declare an output and store a tile to it."""
        self.tensor("out", dtype, shape, "out")
        self.body.append(f"store: {{from: {source}, to: out, at: {[0] * len(shape)}}}")

    def text(self, more: str = "") -> str:
        """The whole spec."""
        lines = ["spec: v1", f"name: {self.name}", "tensors:"]
        lines += [f"  {t}" for t in self.tensors]
        lines += ["program:", "  - region: r", "    body:"]
        lines += [f"      - {s}" for s in self.body]
        return "\n".join([*lines, *([more] if more else []), ""])

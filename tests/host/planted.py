"""Faults planted in cube kernels that are otherwise correct, and the kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pypto_spec.host import Arg
from tests.host.cube import HEAD, Matmul
from tests.host.rendered import Batch, line_of
from tests.host.test_cube_forms import operands

PLAIN = Matmul("fp16", 40, 48, 64)
FLOATS = Matmul("fp32", 40, 48, 36, a_trans=True)
BYTES = Matmul("int8", 40, 64, 64)
TURNED = Matmul("fp16", 40, 48, 64, b_trans=True)
BIASED = Matmul("fp16", 40, 48, 64, bias=True)
TWICE = Matmul("fp16", 40, 48, 64, steps=2)


@dataclass
class Fault:
    """`old` becomes `new` in the kernel of `case`; a finding of `kind` names the lines of the tags and says `says`."""

    kind: str
    case: Matmul
    old: str = ""
    new: str = ""
    lines: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    head: str = HEAD
    args: Callable[[Matmul], list[Arg]] | None = None
    params: tuple[tuple[str, str], ...] = ()


def split(*params: object, dst: str = "a2", src: str = "a1") -> str:
    return f"LoadData({dst}, {src}, LoadData2DParams({', '.join(str(p) for p in params)})); // split_a"


WINDOW = "LoadData(a2, a1, MatrixParams<half>(48, 64, 0, 0, 48, 64, false)); // split_a"
LOAD = "Nd2NzParams(1, 40, 64, 0, 64, 48, 1, 0)"
MAD = "MmadParams(40, 48, 64, 0, false, true)"
DRAIN = "FixpipeParamsV220(48, 40, 48, 48, false, QuantMode_t::NoQuant, 0, 1, 0, 0, 0)"


def plant(batch: Batch, faults: Mapping[str, Fault]) -> None:
    """Adds the kernel of each fault."""
    for name, fault in faults.items():
        body = fault.case.body()
        assert not fault.old or fault.old in body, (name, body)
        changed = body.replace(fault.old, fault.new) if fault.old else body
        batch.kernel(name, (*fault.case.params(), *fault.params), changed, head=fault.head)


def find(batch: Batch, name: str, fault: Fault, seed: int) -> None:
    """Runs the kernel: the finding must be there, and name the lines."""
    args = operands(fault.case)[-1] if fault.args is None else fault.args(fault.case)
    report = batch.run(name, args, seed=seed, max_steps=3_000_000, max_events=20_000)
    matching = [f for f in report.findings if f.kind == fault.kind]
    assert matching, report
    if fault.lines:
        wanted = {line_of(batch.sources[name], tag) for tag in fault.lines}
        matching = [f for f in matching if set(f.lines) == wanted]
        assert matching, (wanted, report)
        for line in wanted:
            assert any(str(line) in f.message for f in matching)
    assert any(all(word in f.message for word in fault.says) for f in matching), matching

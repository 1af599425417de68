"""A golden of which each run computes a sample: some windows of the outputs, and the blocks that store them.

The blocks' stores are found first, without computing (`stores`): together they must cover every output. `golden.sample`
of their windows are drawn, the blocks that store one of these run on the host model, and all that these blocks store is
compared with the same part of the reference (`parts`). Everything else must be as it was before the launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from random import Random
from types import SimpleNamespace
from typing import Any

from pypto_spec.golden.compare import Difference, compare
from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.launches import Run, launches
from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.parts import Parts
from pypto_spec.golden.run import Fault, GoldenRun, Subject, access_of, explained
from pypto_spec.golden.storage import undefined
from pypto_spec.golden.stores import Window, only_launch, stores
from pypto_spec.golden.sums import recorded
from pypto_spec.host.run import Finding, RunReport
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Golden
from pypto_spec.ir.types import Access
from pypto_spec.render.model import RenderedKernel
from pypto_spec.targets import TARGETS

WINDOWS = (2, 3)
"""Windows of one block where their number is `auto`, in turn: a few, so that a block goes from one to the next."""
MOST_BLOCKS = 65_535

_WHERE = "golden.sample: "
_BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
"""The integer that holds an element of so many bytes, whose values are compared as bits."""


class SampledRun(GoldenRun):
    """Inputs of one program at one size, and what is known of the parts of its outputs that were run."""

    def __init__(self, subject: Subject, values: Mapping[Sym, int], seed: int, sample: int) -> None:
        self.seed = seed
        self.sample = sample
        self.parts: Parts | None = None
        self.windows: list[Window] = []
        """What was run last."""
        self.seen: set[Window] = set()
        self.known: dict[int, dict[int, list[Window]]] = {}
        """What each block stores, by the number of blocks."""
        self.count: int | None = None
        """How many windows one block alone stores."""
        super().__init__(subject, values, seed)

    def _reference(self) -> tuple[dict[str, Any], str]:
        """No output as a whole; raises GoldenError where parts cannot be had."""
        program, golden = self.subject.program, self.golden
        if only_launch(program) is None:
            raise GoldenError(
                f"{_WHERE}the program makes several launches, and a part of one is not enough for the next",
                "sample a program with one launch, or leave `sample` out and take smaller sizes",
            )
        without = [t.name for t in self.outputs if t.name not in golden.expect]
        if without:
            raise GoldenError(
                f"{_WHERE}parts of an output are computed by its formula, and `{without[0]}` has none",
                f"write one: `expect: {{{without[0]}: ...}}`",
            )
        scalars = {name: value.item() for name, value in self.scalars.items()}
        self.parts = Parts({**{d.name: v for d, v in self.values.items()}, **self.inputs, **scalars})
        for name, text in golden.expect.items():
            with explained(name):
                shape = self.parts.shape(text)
            self._check_shape(f"golden.expect.{name}", "formula", name, SimpleNamespace(shape=shape))
        return {}, "golden"

    @property
    def golden(self) -> Golden:
        """The section, which says how much is run."""
        found = self.subject.program.golden
        assert found is not None
        return found

    @property
    def share(self) -> float:
        """The share of the outputs that was compared so far."""
        whole = sum(prod(self.shape(t)) for t in self.outputs)
        return min(1.0, sum(w.size for w in self.seen) / whole) if whole else 1.0

    # -- host model -----------------------------------------------------------------------------------------------

    def run(
        self,
        schedule: int,
        auto_blocks: int,
        drop: Mapping[str, Sequence[int]] | None = None,
        watch: Callable[[Run, RunReport], None] | None = None,
        *,
        only: Sequence[int] = (),
    ) -> tuple[dict[str, Any], list[Fault]]:
        """Run some blocks of the launch; the others have not begun. `auto_blocks` does not count (see `WINDOWS`)."""
        kernel, blocks = self._launch(schedule)
        if blocks not in self.known:
            self.known[blocks] = self._stores(blocks, range(blocks))
            self._check_cover(self.known[blocks])
        windows = self.known[blocks]
        stored = [(block, window) for block, found in windows.items() for window in found]
        drawn = Random(f"{self.seed} {schedule}").sample(stored, min(self.sample, len(stored)))
        chosen = sorted({block for block, _ in drawn})
        self.windows = [window for block in chosen for window in windows[block]]
        self.seen.update(self.windows)
        target = TARGETS[self.subject.program.target.platform]
        cores = {"aiv": target.vector_cores, "aic": target.cube_cores}[kernel.core]
        auto = blocks * target.vector_cores // cores
        outputs, faults = super().run(schedule, auto, drop, watch, only=chosen)
        return outputs, [*faults, *self._strays(kernel.name, outputs, schedule)]

    def _launch(self, schedule: int) -> tuple[RenderedKernel, int]:
        """The kernel, and on how many blocks it is launched."""
        (launch,) = launches(self.subject.rendered.launches, self.values, {"aiv": 1, "aic": 1})
        if not isinstance(launch.kernel.blocks, str):
            return launch.kernel, max(1, launch.blocks)
        if self.count is None:
            self.count = len(self._stores(1, [0])[0])
        return launch.kernel, min(MOST_BLOCKS, max(1, -(-self.count // WINDOWS[schedule % len(WINDOWS)])))

    def _stores(self, blocks: int, which: Iterable[int]) -> dict[int, list[Window]]:
        program = self.subject.program
        scalars = {s: self.scalars[s.name] for s in program.scalars}
        return stores(program, self.values, scalars, blocks, which)

    def _check_cover(self, windows: Mapping[int, Sequence[Window]]) -> None:
        """Every element of an output is stored, and by one block."""
        for tensor in self.outputs:
            owner = torch().full(self.shape(tensor), -1, dtype=torch().int32)
            for block, found in windows.items():
                for window in found:
                    if window.tensor != tensor.name:
                        continue
                    before = owner[window.part]
                    if bool(((before != -1) & (before != block)).any()):
                        raise GoldenError(
                            f"{_WHERE}blocks {int(before.max())} and {block} both store to `{tensor.name}` from "
                            f"{list(window.at)} on, so that one of them alone does not make it",
                            "leave `sample` out and take smaller sizes",
                        )
                    owner[window.part] = block
            missing = torch().nonzero(owner == -1)
            if len(missing) and access_of(tensor) is Access.OUT:
                raise GoldenError(
                    f"{_WHERE}no block stores element {missing[0].tolist()} of `{tensor.name}`", "store all of it"
                )

    def _strays(self, kernel: str, outputs: Mapping[str, Any], schedule: int) -> list[Fault]:
        """What was written where no block that ran stores anything."""
        faults: list[Fault] = []
        for tensor in self.outputs:
            found, whole = outputs[tensor.name], access_of(tensor) is Access.OUT
            before = undefined(self.shape(tensor), tensor.type.dtype) if whole else self.inputs[tensor.name]
            other = torch().ones(self.shape(tensor), dtype=torch().bool)
            for window in self.windows:
                if window.tensor == tensor.name:
                    other[window.part] = False
            bits = _BITS[tensor.type.dtype.bytes]
            wide = getattr(torch(), bits)
            places = torch().nonzero(other & (found.contiguous().view(wide) != before.contiguous().view(wide)))
            if len(places):
                said = f"`{tensor.name}` is written at {places[0].tolist()}, where no block that ran stores anything"
                faults.append(Fault(kernel, Finding("outside-sample", said, (), 0), schedule, ()))
        return faults

    # -- comparison -----------------------------------------------------------------------------------------------

    def compare(self, outputs: Mapping[str, Any]) -> list[Difference]:
        """What differs from the reference in the windows of the last run."""
        assert self.parts is not None
        made: list[Difference] = []
        for tensor in self.outputs:
            name, text = tensor.name, self.golden.expect[tensor.name]
            mine = [window for window in self.windows if window.tensor == name]
            found: list[Difference] = []
            for window in mine:
                with explained(name), recorded() as sums:
                    expected = self.parts.evaluate(text, window.part)
                self.slack[name] = sum(sums)
                part = outputs[name][window.part]
                difference = compare(name, part, expected, tensor.type.dtype, self.allowed(tensor))
                if difference is not None:
                    at = tuple(a + i for a, i in zip(window.at, difference.index, strict=True))
                    found.append(replace(difference, index=at))
            if found:
                off, total = sum(d.off for d in found), sum(w.size for w in mine)
                made.append(replace(found[0], off=off, total=total))
        return made


def golden_run(subject: Subject, values: Mapping[Sym, int], seed: int, most: int | None = None) -> GoldenRun:
    """The runs of a golden with these inputs: of all of it, or of the sample it asks for, of `most` windows at most."""
    golden = subject.program.golden
    if golden is None or golden.sample is None:
        return GoldenRun(subject, values, seed)
    return SampledRun(subject, values, seed, golden.sample if most is None else min(most, golden.sample))

"""`pypto-spec test --emit-device`: folders that run the goldens on a device."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from pypto_spec.driver.inputs import UsageError
from pypto_spec.driver.test import Tested
from pypto_spec.golden.device import device_files
from pypto_spec.golden.formula import GoldenError
from pypto_spec.render.write import write_tree


def emit(tested: Sequence[Tested], out: str, *, seed: int = 0, several: bool = False) -> Iterator[tuple[Tested, str]]:
    """Write the folder of every spec that was compiled; of several, each below `out` under its program's name."""
    ready = [t for t in tested if t.subject is not None]
    names = [t.subject.program.name for t in ready if t.subject is not None]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice and several:
        raise UsageError(f"several programs are named `{twice[0]}` and would be written into one folder")
    for one in ready:
        assert one.subject is not None
        folder = os.path.join(out, one.subject.program.name) if several else out
        try:
            write_tree(device_files(one.subject, seed=seed), folder)
        except GoldenError:
            continue  # reported by the test itself
        yield one, folder

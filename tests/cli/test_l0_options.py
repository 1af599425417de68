"""Options of the cube: builds with and without dumps, dumps that are built again, and kernels that differ by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import run
from tests.passes.tiling_programs import spec

SHAPE = (256, 128, 192)
TARGETS = ["", "l0c_double_buffer: true", "unit_flag: true", "planner: ptoas"]


def built(folder: Path, text: str, *more: str) -> dict[str, bytes]:
    """The kernels of a build, by name."""
    folder.mkdir()
    (folder / "k.yaml").write_text(text)
    assert run("build", str(folder / "k.yaml"), "-o", str(folder / "out"), *more).exit_code == 0
    found = {p.name: p.read_bytes() for p in (folder / "out").rglob("*.cpp")}
    assert found
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_dumps_change_nothing(tmp_path: Path, target: str) -> None:
    text = spec(SHAPE, target=target)
    plain = built(tmp_path / "plain", text)
    dumped = built(tmp_path / "dumped", text, "--dump-passes", str(tmp_path / "dumps"))
    assert plain == dumped
    assert any(p.is_file() for p in (tmp_path / "dumps").rglob("*AutoTileMatmulL0*"))


def test_each_option_gives_a_kernel_of_its_own(tmp_path: Path) -> None:
    """Goldens are compiled by what a kernel holds, so that no option can take another one's library."""
    kernels = [built(tmp_path / str(n), spec(SHAPE, target=t)) for n, t in enumerate(TARGETS[:3])]
    assert kernels[0] != kernels[1] != kernels[2] != kernels[0]

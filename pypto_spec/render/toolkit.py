"""Where an installed CANN toolkit keeps the headers that a type check on this machine needs.

Two layouts: CANN 8.1 (`compiler/ascendc/include` or `compiler/tikcpp/tikcfw`) and newer (`asc/`). The intrinsics'
declarations (`tikicpulib.h`, `stub_fun.h`) come with the part `tools` of a full toolkit only, never with a runtime.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.target import NO_TOOLKIT
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.records import dataclass

PLACES = ("/usr/local/Ascend/cann", "/usr/local/Ascend/ascend-toolkit/latest")
"""Where toolkits are installed by default, newest first."""

_CPU = ("tools/tikicpulib/lib/include", "tools/cpudebug/include")
_NEW = ("asc", "asc/include", "asc/include/basic_api", "asc/include/utils", "asc/impl", "asc/impl/basic_api")
_OLD = "ascendc/include/basic_api"
_FRAMEWORK = "tikcpp/tikcfw"
_TILING = ("ascendc/include/highlevel_api", "ascendc/include/highlevel_api/lib", "ascendc/include/highlevel_api/impl")


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A toolkit's headers: `layout` is `8.1` or `newer`, `includes` the folders in the order of their search."""

    root: Path
    layout: str
    includes: tuple[Path, ...]


def _spots(root: Path, name: str) -> Iterator[Path]:
    """A folder of the toolkit by its short name: at the root, under `compiler/`, under the architecture's folder."""
    yield root / name
    yield root / "compiler" / name
    yield from (arch / name for arch in sorted(root.glob("*-linux")))


def _folder(root: Path, name: str) -> Path | None:
    return next((spot for spot in _spots(root, name) if spot.is_dir()), None)


def candidates(given: str | os.PathLike[str] | None) -> list[Path]:
    """The folders to look in: the one given and nothing else, or the usual ones."""
    if given is not None:
        found = [Path(given)]
    else:
        named = [os.environ.get(name) for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")]
        found = [Path(place) for place in (*filter(None, named), *PLACES)]
    return [path for place in found for path in (place, place / "latest")]


def find_toolkit(given: str | os.PathLike[str] | None = None) -> Toolkit:
    """The toolkit under `given` (or where toolkits usually are); raises CompileError where there is none."""
    tried = candidates(given)
    for root in tried:
        for layout, includes in (("newer", _newer(root)), ("8.1", _older(root))):
            if includes:
                return _complete(Toolkit(root, layout, includes))
    shown = os.fspath(given) if given is not None else ", ".join(map(str, tried[::2]))
    raise _missing(
        f"no CANN toolkit found in {shown}",
        "neither `asc/include/kernel_operator.h` nor `compiler/ascendc/include/basic_api/kernel_operator.h` is there",
        "name the folder of a toolkit with `--cann DIR`, or set ASCEND_HOME_PATH",
    )


def _newer(root: Path) -> tuple[Path, ...]:
    main = next((s for s in _spots(root, "asc") if (s / "include" / "kernel_operator.h").is_file()), None)
    if main is None:
        return ()
    beside = main.parent
    own = (beside / name for name in (*_NEW, "asc/impl/utils"))
    return _existing([*_each(root, *_CPU), *_each(root, "include"), *own, *_each(root, _TILING[0])])


def _older(root: Path) -> tuple[Path, ...]:
    basic = next((s for s in _spots(root, _OLD) if (s / "kernel_operator.h").is_file()), None)
    if basic is not None:
        own = [basic, basic / "impl", basic / "interface"]
    else:
        frame = next((s for s in _spots(root, _FRAMEWORK) if (s / "kernel_operator.h").is_file()), None)
        if frame is None:
            return ()
        own = [frame, frame / "impl", frame / "interface"]
    return _existing([*_each(root, *_CPU), *_each(root, "include"), *own, *_each(root, *_TILING)])


def _each(root: Path, *names: str) -> list[Path]:
    return [found for name in names if (found := _folder(root, name)) is not None]


def _existing(paths: list[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(path for path in paths if path.is_dir()))


def _complete(toolkit: Toolkit) -> Toolkit:
    """Refuse a toolkit without the headers for type checks on a host, by the name of what is missing."""
    for header in ("tikicpulib.h", "stub_fun.h", "kernel_tiling/kernel_tiling.h"):
        if not any((folder / header).is_file() for folder in toolkit.includes):
            raise _missing(
                f"the toolkit in {toolkit.root} has no {header}",
                "it comes with the full toolkit package for Linux (its part `tools`), not with a runtime",
                "install the toolkit package, or name another toolkit with `--cann DIR`",
            )
    return toolkit


def _missing(message: str, note: str, way_out: str) -> CompileError:
    where = Span(Source("--cann", ""), 1, 1, 1, 1)
    return CompileError([diagnose(NO_TOOLKIT, where, message, notes=[note], helps=[way_out])])

"""The report folder of an internal error: the spec, the traceback, and the program after every pass that still ran."""

from __future__ import annotations

import platform
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pypto_spec import __version__
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.driver.inputs import Spec

if TYPE_CHECKING:
    from pypto_spec.ir.nodes import Program
    from pypto_spec.passes.base import Pass


def write_report(
    spec: Spec, failed: Compilation, defines: Mapping[str, str] | None, after: str | None = None
) -> str | None:
    """Compile again, keep what each pass made, and write everything into a new folder; None where that fails too."""
    from pypto_spec.driver.dumps import dump_files

    stages: list[tuple[str | None, Program]] = []

    def keep(step: Pass | None, program: Program) -> None:
        stages.append((step.name if step is not None else None, program))

    again = compile_source(
        spec.source, format=spec.format, defines=defines, variant=spec.variant, after=after, on_pass=keep
    )
    cause = again.failure or failed.failure
    lines = [
        f"pypto-spec {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"spec: {spec.name}",
        *(f"-D {name}={value}" for name, value in (defines or {}).items()),
        *(f"{d.rule.code} {d.primary.span}: {d.message}" for d in failed.diagnostics),
        "",
    ]
    if cause is not None:
        lines.append("".join(traceback.format_exception(cause)))
    try:
        folder = Path(tempfile.mkdtemp(prefix="pypto-spec-report-"))
        (folder / "error.txt").write_text("\n".join(lines), encoding="utf-8", errors="replace")
        (folder / f"spec.{spec.format}").write_bytes(spec.data)
        for name, program in stages:
            for path, text in dump_files(
                spec, [(name, program)], folder, first=len(list(folder.glob("[0-9]*")))
            ).items():
                (folder / path).write_text(text, encoding="utf-8")
    except Exception:  # what cannot be written must not hide the first failure
        return None
    return str(folder)


def write_traceback(error: BaseException) -> str | None:
    """A file with the traceback of a failure outside of any compilation; None where it cannot be written."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="pypto-spec-error-", suffix=".txt", delete=False) as file:
            file.write(f"pypto-spec {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n")
            file.write("".join(traceback.format_exception(error)))
            return file.name
    except OSError:
        return None

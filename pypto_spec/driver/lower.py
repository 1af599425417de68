"""`pypto-spec lower`: the program after a pass, as spec text."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.driver.dumps import FRONTEND, dump_text
from pypto_spec.driver.inputs import Spec, UsageError
from pypto_spec.driver.session import compile_spec
from pypto_spec.passes.pipeline import PASSES, position
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Lowered:
    """A dump, None after an error, and what was found on the way."""

    text: str | None
    findings: list[Diagnostic]


def pass_list() -> list[tuple[str, str]]:
    """Every pass in its order, with the first sentence of what it does."""
    return [(p.name, " ".join(p.doc.partition("\n\n")[0].split()).partition(": ")[2]) for p in PASSES]


def find_pass(name: str) -> str | None:
    """The exact name of a pass, written in any case; None for the program as it was read. Raises UsageError."""
    known = {p.name.casefold(): p.name for p in PASSES}
    wanted = name.strip().casefold()
    if wanted == FRONTEND:
        return None
    if wanted in known:
        return known[wanted]
    near = did_you_mean(name, [*known.values(), FRONTEND])
    raise UsageError(f"there is no pass `{name}`; " + (near or f"the passes are {', '.join(known.values())}"))


def lower_spec(
    spec: Spec,
    after: str | None,
    *,
    folder: str | os.PathLike[str] = ".",
    defines: Mapping[str, str] | None = None,
    debug: bool = False,
) -> Lowered:
    """The dump of a spec after a pass, None being the program as it was read. Raises UsageError for a later dump."""
    first = PASSES[0].name
    done = compile_spec(spec, defines=defines, after=after or first, keep_stages=True, debug=debug)
    if not done.stages:
        return Lowered(None, done.findings)
    frontend = done.frontend
    if after is None:
        return Lowered(dump_text(frontend, None, spec, folder), done.findings)
    if frontend.dump is not None and position(frontend.dump.after) > position(after):
        raise UsageError(f"{spec.name} is a dump after {frontend.dump.after}, which comes later than {after}")
    if done.program is None:
        return Lowered(None, done.findings)
    return Lowered(dump_text(done.program, after, spec, folder), done.findings)

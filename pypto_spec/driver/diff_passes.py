"""`pypto-spec diff-passes`: what each pass changed, on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.lower import pass_list
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.records import dataclass
from pypto_spec.report.passes_page import Stage, Title, passes_page


@dataclass(frozen=True, slots=True)
class PassesDiff:
    """The page, None where not even the spec could be read, and what was found on the way."""

    text: str | None
    findings: list[Diagnostic]


def diff_passes(spec: Spec, *, defines: Mapping[str, str] | None = None, debug: bool = False) -> PassesDiff:
    """The page of a spec's passes; where one of them finds errors, of those before it."""
    done = compile_spec(spec, defines=defines, keep_stages=True, debug=debug)
    if not done.stages:
        return PassesDiff(None, done.findings)
    program = done.frontend
    name = program.name if spec.variant is None else f"{program.name} [{spec.variant}]"
    return PassesDiff(passes_page(_stages(done), Title(name, spec.name, _trouble(done))), done.findings)


def _stages(done: Compiled) -> list[Stage]:
    """The texts without the header of dumps, which says another pass each time."""
    about = dict(pass_list())
    dump = done.frontend.dump
    read = f"the dump as it was read: the program after {dump.after}" if dump is not None else "the spec as it was read"
    return [
        Stage(name or "as read", about[name] if name else read, dump_text(replace(program, dump=None), None, done.spec))
        for name, program in done.stages
    ]


def _trouble(done: Compiled) -> str:
    """Which pass found errors, where not all of them ran."""
    names = [name for name, _ in pass_list()]
    last = done.stages[-1][0] or (done.frontend.dump.after if done.frontend.dump is not None else None)
    behind = names[names.index(last) + 1 if last is not None else 0 :]
    return f"{behind[0]} did not accept the program; the command's output says why" if behind else ""

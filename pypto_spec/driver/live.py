"""Checking a text while it is being written: with what its programs are, and in a way that can be called off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from pypto_spec.diagnostics.model import CompileError, Diagnostic, diagnose
from pypto_spec.diagnostics.render.common import arrange
from pypto_spec.diagnostics.rules.internal import INTERNAL_ERROR
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.driver.variants import merged, variants_of
from pypto_spec.records import dataclass
from pypto_spec.spec.load import Format

BUG = "this is a bug of the compiler, not of the spec; `pypto-spec check` writes a report about it"


class Stopped(BaseException):
    """Raised by a checkpoint: nobody waits for this check any more. No `Exception`, which the compiler would report."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known about one version of a text: its findings in order, and each of its variants with its stages."""

    source: Source
    findings: list[Diagnostic]
    compiled: list[Compiled] = field(default_factory=list)


def check_live(
    source: Source,
    format: Format,
    defines: Mapping[str, str] | None = None,
    checkpoint: Callable[[], None] | None = None,
) -> Checked:
    """Everything there is to say about a text. `checkpoint` is called between the passes and may raise `Stopped`.

    A constant of `defines` that the text does not declare is left out: they are meant for many specs. A failure of
    the compiler is a finding as always, but writes no report folder: there would be one for each key that is pressed.
    """
    try:
        return _checked(source, format, defines, checkpoint)
    except Exception as error:  # of what stands around the compilation, which reports its own
        what = f"the compiler failed: {type(error).__name__}: {error}"
        return Checked(source, [diagnose(INTERNAL_ERROR, Span(source, 1, 1, 1, 1), what, notes=[BUG])])


def _checked(
    source: Source, format: Format, defines: Mapping[str, str] | None, checkpoint: Callable[[], None] | None
) -> Checked:
    spec = Spec(source, format, source.text.encode("utf-8", "surrogatepass"))
    given = _known(source, format, defines) if defines else None
    made: list[Compiled] = []
    for variant in variants_of(spec, given):
        if checkpoint is not None:
            checkpoint()
        made.append(compile_spec(variant, defines=given, keep_stages=True, checkpoint=checkpoint, reports=False))
    return Checked(source, arrange(merged((one.spec, one.findings) for one in made)), made)


def _known(source: Source, format: Format, defines: Mapping[str, str]) -> dict[str, str]:
    """The defines that replace something in this text."""
    from pypto_spec.spec.load import load
    from pypto_spec.spec.tree import MappingNode

    try:
        constants = load(source, format).get("constants")
    except CompileError:
        return {}
    return {name: text for name, text in defines.items() if isinstance(constants, MappingNode) and name in constants}


def warm_up() -> Checked:
    """Check a kernel of the gallery: what that needs is loaded then, and the first check of a session is quick."""
    from pypto_spec.driver.new import templates

    path = templates()["add"]
    return check_live(Source(path.name, path.read_text(encoding="utf-8")), "yaml")

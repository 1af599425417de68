"""`pypto-spec convert`: a spec of one format in the other."""

from __future__ import annotations

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.driver.inputs import STDIN, UsageError, gather
from pypto_spec.records import dataclass
from pypto_spec.spec.load import Format, format_of


@dataclass(frozen=True, slots=True)
class Converted:
    """The text in the other format, None after an error; `notes` say in a line each what is written out now."""

    text: str | None
    findings: list[Diagnostic]
    notes: tuple[str, ...] = ()


def convert_format(path: str, to: Format | None, out: str | None, stdin_format: Format = "yaml") -> Converted:
    """The spec at `path` in the format `to`, in that of the name `out`, or in the one that it is not in.

    Raises UsageError where `path` holds no or several specs, is in that format already, or cannot be taken apart.
    """
    from pypto_spec.edit.pieces import UnusualError
    from pypto_spec.edit.transcribe import transcribe

    gathered = gather([path], stdin_format)
    if len(gathered.specs) > 1:
        raise UsageError(f"{path} holds several specs; `convert` takes one")
    if not gathered.specs:
        return Converted(None, gathered.findings)
    (spec,) = gathered.specs
    other: Format = "yaml" if spec.format == "toml" else "toml"
    wanted = to or (format_of(out) if out is not None and out != STDIN else other)
    if wanted == spec.format:
        raise UsageError(f"{path} is {wanted.upper()} already; `pypto-spec fmt` puts it into the project's style")
    try:
        done = transcribe(spec.source, spec.format, wanted)
    except CompileError as error:
        return Converted(None, list(error.diagnostics))
    except UnusualError as error:
        raise UsageError(f"cannot convert {path}: {error}") from error
    notes = tuple(f"{one.span}: `{one.alias}` is written out, TOML has no aliases" for one in done.expanded)
    return Converted(done.text, [], notes)

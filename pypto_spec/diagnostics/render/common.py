"""What all formats share: the order of findings, the count of them, and the words for a fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, Severity
from pypto_spec.diagnostics.span import Span

SpanKey = tuple[str, int, int, int, int]


def arrange(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings by file name, position and code, each of them once.

    Position comes before severity because people work through a file from top to bottom. Two findings that a reader
    could not tell apart (an unrolled loop reports its body once per copy) are one.
    """
    unique = {_identity(d): d for d in reversed(list(diagnostics))}
    return sorted(unique.values(), key=_order)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """One line such as `2 errors, 1 warning, 3 hints`; `no findings` when there is none."""
    counts = count(diagnostics)
    parts = [f"{n} {level.value}{'s' * (n != 1)}" for level, n in counts.items() if n]
    return ", ".join(parts) or "no findings"


def count(diagnostics: Iterable[Diagnostic]) -> dict[Severity, int]:
    """How many findings there are of each severity, worst first, zeros included."""
    counts = Counter(d.level for d in diagnostics)
    return {level: counts[level] for level in Severity}


def explain_command(diagnostic: Diagnostic) -> str:
    """The command that shows the page of a finding's rule."""
    return f"pypto-spec explain {diagnostic.rule.code}"


def paragraphs(diagnostic: Diagnostic) -> list[str]:
    """The finding without its source lines, for formats that show the source themselves."""
    lines = [diagnostic.message]
    if diagnostic.primary.text:
        lines.append(diagnostic.primary.text)
    lines += [f"note: {note}" for note in diagnostic.notes]
    lines += [f"help: {text}" for text in diagnostic.helps]
    return lines


def fix_text(fix: Fix) -> str:
    """A fix in words, on one line, with the line of the file it changes."""
    old, new = (text.replace("\n", "\\n").replace("\t", "\\t") for text in (text_of(fix.span), fix.replacement))
    where = f"line {fix.span.line}"
    if fix.title:
        return f"{where}: {fix.title}"
    if not old:
        return f"{where}: insert `{new}` at column {fix.span.col}"
    if not new:
        return f"{where}: delete `{old}`"
    return f"{where}: replace `{old}` with `{new}`"


def fix_title(fix: Fix) -> str:
    """A fix in a few words, without its place."""
    if fix.title:
        return fix.title
    old, new = (text.strip() for text in (text_of(fix.span), fix.replacement))
    if not old:
        return f"insert `{_short(new)}`"
    return f"replace `{_short(old)}` by `{_short(new)}`" if new else f"delete `{_short(old)}`"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


def text_of(span: Span) -> str:
    r"""The user's text under a span, line ends as "\n"."""
    if span.end_line <= span.line:
        return span.source.line(span.line)[span.col - 1 : span.end_col - 1]
    lines = [span.source.line(number) for number in range(span.line, span.end_line + 1)]
    lines[0] = lines[0][span.col - 1 :]
    lines[-1] = lines[-1][: span.end_col - 1]
    return "\n".join(lines)


def _span_key(span: Span) -> SpanKey:
    return span.source.name, span.line, span.col, span.end_line, span.end_col


def _label_keys(labels: Sequence[Label]) -> tuple[tuple[SpanKey, str], ...]:
    return tuple((_span_key(label.span), label.text) for label in labels)


def _identity(d: Diagnostic) -> tuple[object, ...]:
    fixes = tuple((_span_key(fix.span), fix.replacement, fix.safe) for fix in d.fixes)
    labels = _label_keys((d.primary, *d.secondary))
    return d.rule.code, d.level, d.message, labels, d.notes, d.helps, fixes, d.figures


def _order(d: Diagnostic) -> tuple[SpanKey, str, str, str, tuple[tuple[SpanKey, str], ...], tuple[str, ...]]:
    return (
        _span_key(d.primary.span),
        d.rule.code,
        d.message,
        d.primary.text,
        _label_keys(d.secondary),
        (*d.notes, *d.helps),
    )

"""The variants of specs: a spec with `variants` stands for as many programs, and each is worked on like a spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.driver.inputs import Gathered, Spec, UsageError

MARK = b"variants"


def variants_of(spec: Spec, defines: Mapping[str, str] | None = None) -> list[Spec]:
    """The spec once for each of its variants; as it is where it has none, or where they cannot be read."""
    if MARK not in spec.data or spec.variant is not None:
        return [spec]
    from pypto_spec.spec.load import load
    from pypto_spec.spec.variants import read_variants

    try:
        found, _ = read_variants(load(spec.source, spec.format), defines)
    except CompileError:
        return [spec]
    return [replace(spec, variant=variant.key) for variant in found] or [spec]


def expand(gathered: Gathered, defines: Mapping[str, str], wanted: Sequence[str] = ()) -> Gathered:
    """All variants of all specs, or those of the `wanted` keys. Raises UsageError for a key that no spec has."""
    specs = [one for spec in gathered.specs for one in variants_of(spec, defines)]
    if wanted:
        known = [spec.variant for spec in specs if spec.variant is not None]
        for key in wanted:
            if key not in known:
                near = did_you_mean(key, known) or (
                    f"variants are {', '.join(dict.fromkeys(known))}" if known else "none of the specs has `variants`"
                )
                raise UsageError(f"there is no variant `{key}`; {near}")
        specs = [spec for spec in specs if spec.variant in wanted]
    gathered.specs = specs
    return gathered


def merged(results: Iterable[tuple[Spec, Sequence[Diagnostic]]]) -> list[Diagnostic]:
    """The findings of all specs. What all variants of a spec have is said once, else it names those that have it."""
    by_file: dict[str, list[tuple[Spec, Sequence[Diagnostic]]]] = {}
    for spec, findings in results:
        by_file.setdefault(spec.name, []).append((spec, findings))
    made: list[Diagnostic] = []
    for entries in by_file.values():
        if len(entries) == 1 and entries[0][0].variant is None:
            made += entries[0][1]
            continue
        found: dict[tuple[object, ...], tuple[Diagnostic, list[str]]] = {}
        for spec, findings in entries:
            for diagnostic in findings:
                mark = (diagnostic.rule.code, diagnostic.primary.span.start, diagnostic.message)
                found.setdefault(mark, (diagnostic, []))[1].append(spec.variant or "")
        for diagnostic, keys in found.values():
            names = list(dict.fromkeys(keys))
            everywhere = len(names) == len(entries) and len(entries) > 1
            note = f"in the variant{'s' if len(names) > 1 else ''} {', '.join(f'`{n}`' for n in names)}"
            made.append(diagnostic if everywhere else replace(diagnostic, notes=(*diagnostic.notes, note)))
    return made

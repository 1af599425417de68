"""Whether two texts are one kernel up to names: their programs are printed and compared word by word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from pypto_spec.convert.to_ir import convert
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.names import Binding, Index, RenameError
from pypto_spec.editor.names.rename import rename_use
from pypto_spec.spec.load import format_of, load
from pypto_spec.spec.models.document import load_document
from pypto_spec.spec.variants import read_variants

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[0-9]+)?|[^A-Za-z_]+")


def printed(name: str, text: str) -> list[str]:
    """The program of each variant as text; an assertion fails on any error."""
    source = Source(name, text)
    keys: list[str | None] = [v.key for v in read_variants(load(source, format_of(name)))[0]]
    made = []
    for key in keys or [None]:
        sink = Sink()
        program = to_spec(convert(load_document(source, variant=key), sink))
        made.append(program.replace(f"__{key}", ""))  # keys are made of the names of constants
        assert not sink.has_errors, sink.found
    return made


def same_up_to(before: list[str], after: list[str], names: Mapping[str, Set[str]]) -> str:
    """What differs between two lists of programs beside the names that were changed; nothing where they are one.

    The numbers of versions are given out by name, so that others may be counted; one version stays one version.
    """
    if len(before) != len(after):
        return "another number of variants"
    for one, other in zip(before, after, strict=True):
        left, right = (_WORD.findall(re.sub(" +", " ", text)) for text in (one, other))
        if len(left) != len(right):
            return "another number of words"
        there: dict[str, str] = {}
        back: dict[str, str] = {}
        for old, new in zip(left, right, strict=True):
            if old == "region":  # values end with their region
                there, back = {}, {}
            (base, _, version), (now, _, number) = old.partition("."), new.partition(".")
            if (base != now and now not in names.get(base, frozenset())) or bool(version) != bool(number):
                return f"`{old}` became `{new}`"
            if version and (there.setdefault(old, new) != new or back.setdefault(new, old) != old):
                return f"`{old}` became `{new}`, and another one"
    return ""


def fresh(index: Index, binding: Binding) -> str:
    """A new name that sorts where the old one does: sums are printed in the order of their names."""
    for digits in ("0", "00", "000", "0000"):
        new = binding.name + digits
        try:
            rename_use(index, binding.uses[0], new)
        except RenameError:
            continue
        return new
    raise AssertionError(f"no name is free for `{binding.name}`")

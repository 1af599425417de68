"""What can stand at a place of a spec, and the call around it."""

from __future__ import annotations

from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Completion, Signature


def completions(document: Document, at: int) -> list[Completion]:
    """What can stand at an offset, best first. Editors narrow the list down by what is typed already."""
    return []


def signature(document: Document, at: int) -> Signature | None:
    """The call around an offset of a formula; None outside of calls."""
    return None

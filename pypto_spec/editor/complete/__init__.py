"""What can stand at a place of a spec, and the call around it.

The place is found in the text (`text/`), since a spec that is being written can seldom be loaded; what the language has
there follows from the models (`shapes`, `spot`), the names from the text above (`scope`).
"""

from __future__ import annotations

from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Completion, Signature


def completions(document: Document, at: int) -> list[Completion]:
    """What can stand at an offset, best first. Editors narrow the list down by what is typed already."""
    from pypto_spec.editor.complete.proposals import proposals  # loads the registry

    return proposals(document, at)


def signature(document: Document, at: int) -> Signature | None:
    """The call around an offset of a formula; None outside of calls."""
    from pypto_spec.editor.complete.request import Request  # loads the registry
    from pypto_spec.editor.complete.signatures import signature_at

    return signature_at(Request(document, at))

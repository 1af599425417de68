"""What the compiler decided about one text, as plain data that is found by the places of its statements.

`facts_of` makes it of a compile with its stages; nothing of the program is kept alive. Facts know the text they are of:
`Facts.on` gives them for a later text, of which only statements that are unchanged still have any.
"""

from pypto_spec.editor.facts.build import facts_of, together
from pypto_spec.editor.facts.model import Facts

__all__ = ["Facts", "facts_of", "together"]

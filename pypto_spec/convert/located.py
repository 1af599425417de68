"""Which tree node stands behind an IR node, so that diagnostics find the span of one written field."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Loc, Located, Span


class Written:
    """The fields of a flag or barrier that the author wrote.

    Those of the compiler have other fields behind them, or none: that is how the printer knows which have a `src`.
    """

    __slots__ = ("fields",)

    def __init__(self, fields: Located) -> None:
        self.fields = fields

    def field_span(self, name: str) -> Span | None:
        """Span of the value of field `name`."""
        return self.fields.field_span(name)


def is_written(loc: Loc) -> bool:
    """Whether this is the place of a flag or barrier from the author's own text."""
    return isinstance(loc.fields, Written)

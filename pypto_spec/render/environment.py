"""The Jinja environment: strict, made once, templates read from the package and compiled on first use."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The one environment; an undefined name in a template is an error."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    root = Path(__file__).parents[1] / "templates"

    def load(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    return Environment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=False,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **view: object) -> str:
    """The text of a template for a view."""
    return environment().get_template(template).render(view)

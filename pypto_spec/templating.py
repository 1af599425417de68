"""Text from the templates of the package: an undefined name is an error, and each is compiled on first use."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


@lru_cache
def environment(folder: str = "", *, escape: bool = False) -> Environment:
    """The one environment of a folder of templates; `escape` is for HTML and XML."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str:
        return (TEMPLATES / folder / name).read_text(encoding="utf-8")

    return Environment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=escape,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **view: object) -> str:
    """The text of a template of code for a view."""
    return environment().get_template(template).render(view)

"""Templates: what they must not do, and that pages alone are escaped."""

from __future__ import annotations

import re

import pytest
from jinja2 import UndefinedError

from pypto_spec.templating import TEMPLATES, environment

ENVIRONMENTS = pytest.mark.parametrize("escape", [False, True])


@ENVIRONMENTS
def test_an_undefined_name_is_an_error(escape: bool) -> None:
    with pytest.raises(UndefinedError, match="'nothing' is undefined"):
        environment(escape=escape).from_string("{{ nothing }}").render()


def test_pages_are_escaped_and_code_is_not() -> None:
    text, view = "{% if true %}\n  {{ x }}\n{% endif %}\n", {"x": "a < b && c"}
    assert environment().from_string(text).render(view) == "  a < b && c\n"
    assert environment("pages", escape=True).from_string(text).render(view) == "  a &lt; b &amp;&amp; c\n"


def test_there_is_one_environment_for_each_folder() -> None:
    assert environment() is environment()
    assert environment() is not environment("pages", escape=True)


def test_every_template_compiles_and_finds_what_it_includes() -> None:
    """By its name in the folder that its environment reads."""
    found = list(TEMPLATES.rglob("*.j2"))
    assert found
    for path in found:
        page = path.parent.name == "pages"
        folder = TEMPLATES / "pages" if page else TEMPLATES
        made = environment("pages", escape=True) if page else environment()
        made.get_template(path.relative_to(folder).as_posix())
        for name in re.findall(r'{% (?:include|import) "([^"]+)" (?:as \w+ )?%}', path.read_text(encoding="utf-8")):
            made.get_template(name)

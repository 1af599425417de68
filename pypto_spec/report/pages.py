"""Pages from templates, in which everything is escaped, and the data in them."""

from __future__ import annotations

import json
import re

from pypto_spec.templating import environment

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def page(template: str, **view: object) -> str:
    """The text of a page: Unicode that every reader of HTML or XML takes."""
    text = environment("pages", escape=True).get_template(template).render(view)
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.encode("utf-8", "replace").decode("utf-8"))


def data(document: object) -> str:
    """A document for a `script` element of a page, marked as safe: no character in it can end that element."""
    from markupsafe import Markup

    text = json.dumps(document, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def lines(text: str) -> list[str]:
    """The lines of a text, without an empty one at its end."""
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return found[:-1] if len(found) > 1 and not found[-1] else found

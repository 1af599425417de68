"""The site of the documentation: it says what the pages say on a code host, and `make docs` finds nothing wrong."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest
from markdown_it import MarkdownIt

from docs.site import build
from docs.site.check import problems
from docs.site.links import Places
from docs.site.markdown import translate
from docs.site.model import Page, SiteError
from docs.site.nav import complete
from docs.site.pages import diagnostics, operators
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.keywords import default_table
from pypto_spec.spec.models.sections import DocumentModel

PAGES = build.pages()
TEXTS = {page.path: page.text for page in PAGES}
COUNTED = ("li", "ul", "ol", "pre", "table", "tr", "h1", "h2", "h3", "a", "em", "strong", "img", "blockquote")


class _Shape(HTMLParser):
    """How many elements of each kind there are, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.text = ""
        self.feed(html)
        self.words = self.text.split()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in COUNTED:
            self.counts[tag] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def on_a_code_host(text: str) -> _Shape:
    """A page in CommonMark with tables."""
    return _Shape(MarkdownIt("commonmark").enable("table").render(re.sub(r"^<!--.*?-->\n", "", text, flags=re.M)))


def on_the_site(text: str) -> _Shape:
    """The same page as the site reads it, without the titles of fences."""
    plain = re.sub(r'^( *```\w+) title=".*"$', r"\1", translate(text, lambda link: link), flags=re.MULTILINE)
    extensions = ["tables", "attr_list", "md_in_html", "pymdownx.superfences", "pymdownx.highlight", "toc"]
    return _Shape(
        markdown.markdown(
            plain, extensions=extensions, extension_configs={"pymdownx.highlight": {"use_pygments": False}}
        )
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_a_page_says_on_the_site_what_it_says_on_a_code_host(page: Page) -> None:
    text = re.sub(r"\A---\n.*?\n---\n", "", page.text, flags=re.DOTALL)
    there, here = on_a_code_host(text), on_the_site(text)
    assert here.counts == there.counts
    assert here.words == there.words


def test_everything_the_code_knows_has_a_place() -> None:
    for code in all_rules():
        assert f"diagnostics/{code}.md" in TEXTS
        assert f"diagnostics/{code}.md)" in TEXTS[f"diagnostics/{diagnostics.family(code)}/index.md"]
    for name, defn in OPS.items():
        assert re.search(rf"^## {name}$", TEXTS[f"ops/{defn.family}.md"], re.MULTILINE)
    for keyword in default_table():
        if keyword.name not in OPS:
            assert f"`{keyword.name}`" in TEXTS["reference/statements.md"]
    for key in DocumentModel.model_fields:
        assert f"| `{key}` |" in TEXTS["reference/document.md"]
    for page in operators.moved().values():
        assert page.partition("#")[0] in TEXTS


def test_every_page_stands_in_the_menu_once() -> None:
    menu = complete([{"One": ["index.md", "... reference", "... operators"]}, "... guides"], PAGES)
    shown = re.findall(r"[\w/-]+\.md", str(menu))
    assert len(shown) == len(set(shown))
    assert {p.path for p in PAGES if p.section in ("reference", "operators", "")} == set(shown)


def place(*pages: Page) -> Places:
    return Places(pages, {"docs/ops.md#exp": "ops/unary.md#exp"})


def test_links_lead_to_where_things_stand_on_the_site() -> None:
    home = Page("index.md", "", "README.md")
    deep = Page("diagnostics/PS1.md", "", "pypto_spec/diagnostics/pages/PS1.md")
    gallery = Page("gallery/a.md", "", "specs/a/index.md", stands_for={"specs/a/k.yaml": "k"})
    tiling = Page("tiling.md", "", "docs/tiling.md")
    places = place(home, deep, gallery, tiling)
    assert places.turn("docs/tiling.md#the-cost", home) == "tiling.md#the-cost"
    assert places.turn("../../../docs/tiling.md", deep) == "../tiling.md"
    assert places.turn("../specs/a/k.yaml", tiling) == "gallery/a.md#k"
    assert places.turn("ops.md#exp", tiling) == "ops/unary.md#exp"
    assert places.turn("site:index.md", deep) == "../index.md"
    assert places.turn("#the-cost", tiling) == "#the-cost"
    assert places.turn("https://example.org/x", tiling) == "https://example.org/x"
    assert places.turn("../pyproject.toml", tiling) is None
    with pytest.raises(SiteError, match=r"docs/tiling.md: the link `none.md` leads nowhere"):
        places.turn("none.md", tiling)


def test_what_is_wrong_with_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<h1 id="top">b</h1><a href="/a.html">a</a>', encoding="utf-8")
    (tmp_path / "a.html").write_text(
        '<a href="b.html#top">good</a><a href="b.html#none">1</a><a href="c.html">2</a><img src="i.svg">'
        '<script src="https://example.org/x.js"></script><a href="https://example.org">good</a>',
        encoding="utf-8",
    )
    (tmp_path / "s.css").write_text("@import 'https://example.org/f.css'; a { b: url(data:x) }", encoding="utf-8")
    assert problems(tmp_path) == [
        "a.html: loads i.svg, which is not there",
        "a.html: loads https://example.org/x.js",
        "a.html: the link b.html#none has no such anchor",
        "a.html: the link c.html leads nowhere",
        "s.css: loads https://example.org/f.css",
    ]


def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    made = build.write(tmp_path / "site-source")
    assert build.build(tmp_path / "site-source") == []
    assert (tmp_path / "site" / "search" / "search_index.js").stat().st_size > 100_000
    assert all((tmp_path / "site" / page.path.replace(".md", ".html")).exists() for page in made)

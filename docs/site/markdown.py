"""From the Markdown of code hosts to that of Python-Markdown, which the site is made with.

The same text means other things there: a list needs an empty line before it, what belongs to an item is indented by
four, a fence takes no words of ours, and a bar inside of code in a table stays as it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"^( *)(```+|~~~+)(\w*)([^\n]*)$")
_ITEM = re.compile(r"^( *)([*+-]|\d+[.)])( +)(?=\S)")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_ERROR = re.compile(r"\berror (P[A-Z]-?[A-Z0-9-]+)")
_BESIDE = re.compile(r"\bbeside=(\S+)")
_FILE = re.compile(r"\bfile=(\S+)")


def translate(text: str, link: Callable[[str], str | None]) -> str:
    """A page in the site's Markdown. `link` gives the target of a link; None leaves its text without a link."""
    pieces = []
    for fenced, lines in _blocks(_indented(text)):
        if fenced:
            pieces.append("\n".join([_head(lines[0]), *lines[1:]]))
        else:
            pieces.append(_prose("\n".join(lines), link))
    return "\n".join(pieces).rstrip() + "\n"


def _blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Fenced blocks and what stands between them, each as its lines."""
    held: list[str] = []
    closing: str | None = None
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if closing is None and fence:
            if held:
                yield False, held
            held, closing = [line], fence[1] + fence[2]
        elif closing is not None and line.rstrip() == closing:
            yield True, [*held, line]
            held, closing = [], None
        else:
            held.append(line)
    if held:
        yield closing is not None, held


def _head(line: str) -> str:
    """The first line of a fence: our words become a title."""
    fence = _FENCE.match(line)
    assert fence is not None
    indent, ticks, kind, words = fence.groups()
    file, error = _FILE.search(words), _ERROR.search(words)
    beside = _BESIDE.search(words)
    title = file[1] if file else f"by hand, beside {beside[1]}" if beside else ""
    if error:
        title = f"{title}: gives {error[1]}" if title else f"gives {error[1]}"
    return f"{indent}{ticks}{kind or 'text'}" + (f' title="{title}"' if title else "")


def _prose(text: str, link: Callable[[str], str | None]) -> str:
    codes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        codes.append(match[0])
        return f"\x02{len(codes) - 1}\x03"

    def show(match: re.Match[str]) -> str:
        return codes[int(match[1])]

    def target(match: re.Match[str]) -> str:
        found = link(match[3])
        return match[2] if found is None else f"{match[1]}[{match[2]}]({found})"

    text = _COMMENT.sub("", _CODE.sub(hide, text))
    return _bars(re.sub("\x02(\\d+)\x03", show, _LINK.sub(target, text)))


def _bars(text: str) -> str:
    r"""Rows of tables with `\|` inside of code, which Python-Markdown would show as written."""
    return "\n".join(
        _CODE.sub(_bar, line) if line.lstrip().startswith("|") and "\\|" in line else line for line in text.split("\n")
    )


def _bar(match: re.Match[str]) -> str:
    if "\\|" not in match[2]:
        return match[0]
    plain = match[2].replace("&", "&amp;").replace("<", "&lt;").replace("\\|", "&#124;")
    return f"<code>{plain}</code>"


def _indented(text: str) -> str:
    """Lists with an empty line before them, and what belongs to an item indented by four for each level."""
    made: list[str] = []
    levels: list[int] = []  # where the text of each open item starts
    blank, closing = True, ""
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        if not line.strip():
            made.append("")
            blank = True
            continue
        if not closing:
            item = _ITEM.match(line)
            while levels and depth < levels[-1] and (item or blank):
                levels.pop()
            if item:
                if not levels and not blank and made and not _ITEM.match(made[-1]) and not _continues(made):
                    made.append("")
                made.append("    " * len(levels) + item[2] + " " + line[item.end() :])
                levels.append(item.end())
                blank = False
                continue
        inside = levels[-1] if levels else 0
        made.append("    " * len(levels) + line[min(depth, inside) :])
        fence = _FENCE.match(line)
        if closing and line.strip() == closing:
            closing = ""
        elif not closing and fence:
            closing = fence[2]
        blank = False
    return "\n".join(made)


def _continues(made: list[str]) -> bool:
    """Whether the last line goes on with an item: then the next item follows it without an empty line."""
    for line in reversed(made):
        if not line:
            return False
        if _ITEM.match(line):
            return True
    return False

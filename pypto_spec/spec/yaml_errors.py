"""What a YAML syntax error means to the author of a spec.

The parser's wording is about its tokens. Two traps of YAML that formulas walk into are recognised and answered with the
quoted text: `: ` ends a plain scalar, and inside `[...]` or `{...}` so do commas and brackets.
"""

from __future__ import annotations

import re

import yaml

from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, diagnose
from pypto_spec.diagnostics.rules.syntax import ENCODING, INVALID_YAML, LIMIT, TAB, UNQUOTED
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.open_brackets import unclosed_in_yaml
from pypto_spec.spec.tree import MappingNode as _Mapping
from pypto_spec.spec.tree import Node, ScalarNode, SequenceNode, span_between

_PAIR = re.compile(r"[ ]*(?:- +)*(?P<key>[^\s:#'\"\[\]{},&*!|>%@`-][^:#]*):[ \t]+(?P<value>.*)")
_COMMENT = re.compile(r"[ \t]#.*$")
_REMARK = re.compile(r"(?:^|[ \t\]}'\"])#", re.MULTILINE)
_LINE_END = re.compile(r"[\r\n]")
MAX_TABS = 10
"""Tabs reported of one file."""
_CLOSERS = {"(": ")", "[": "]", "{": "}"}

_MEANINGS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a `:` with a blank after it cannot stand here",
        "quote the value if the `:` belongs to it, or start a new line for a new key",
    ),
    (
        "could not find expected ':'",
        "this line is neither `key: value` nor a list item",
        "write a `:` and a blank after the key, or quote a text of several lines",
    ),
    ("',' or ']'", "a `,` or the closing `]` is missing", "quote an item that has brackets, commas or quotes inside"),
    ("',' or '}'", "a `,` or the closing `}` is missing", "quote a value that has brackets, commas or quotes inside"),
    ("expected node content", "a key or a value is missing before this", "write it, or take out the sign before it"),
    ("expected key", "this line is indented unlike the keys above it", "indent it by as many blanks as its neighbours"),
    ("<block end>", "this does not continue the lines above it", "indent it by as many blanks as its neighbours"),
    (
        "'-' indicator",
        "this line is indented unlike the list items above it",
        "indent it by as many blanks as its neighbours and start it with `- `",
    ),
    (
        "block sequence entries are not allowed",
        "a list item cannot stand on the line of its key",
        "start the list on the next line",
    ),
    ("cannot start any token", "a plain value cannot start with this character", "quote the value"),
    (
        "unknown escape character",
        "double quotes know no such escape",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    ("unexpected end of stream", "a quoted text is never closed", "close it with the same quote"),
    ("hexdecimal number", "the escape has too few hexadecimal digits", "`\\x` takes 2, `\\u` 4 and `\\U` 8 digits"),
    ("hexadecimal number", "the escape has too few hexadecimal digits", "`\\x` takes 2, `\\u` 4 and `\\U` 8 digits"),
    (
        "alphabetic or numeric character",
        "a name must follow `*` or `&`",
        "quote the value if it starts with `*` or `&` and is no alias",
    ),
    ("document start", "a second document or stray text follows the end of the first", "a spec is one document"),
    ("incompatible YAML", "the `%YAML` directive names another version", "leave the directive out"),
)


def quoted(text: str) -> str:
    """`text` as a YAML scalar in quotes, double ones where they need no escape."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"


def syntax_error(source: Source, error: yaml.YAMLError, shift: int) -> Diagnostic:
    """The diagnostic of an error of the parser; `shift` is 1 where it did not see a byte order mark."""
    if not isinstance(error, yaml.MarkedYAMLError):
        position = getattr(error, "position", 0)
        return diagnose(
            ENCODING,
            span_between(source, position, position + 1),
            "a character may not stand in a spec",
            helps=["remove it"],
        )
    text = source.text
    mark = error.problem_mark or error.context_mark
    at = min(mark.index + shift if mark is not None else 0, len(text))
    problem = error.problem or error.context or "not YAML"
    trap = _colon_trap(source, at, problem) or _bracket_trap(source, at, problem)
    trap = trap or unclosed_in_yaml(source, at, problem)
    if trap is not None:
        return trap
    if _tab_near(text, at) is not None:
        return _tab(source, _tab_near(text, at) or 0)
    if "nesting depth" in problem:
        return diagnose(
            LIMIT,
            span_between(source, at, _word_end(text, at)),
            "collections nest too deeply",
            label="here",
            helps=["write it flatter"],
        )
    if "end of stream" in problem and error.context_mark is not None:
        at = error.context_mark.index + shift
    message, help_text = next(((m, h) for key, m, h in _MEANINGS if key in problem), (problem, ""))
    if "mapping values are not allowed" in problem and source.line(source.position(at)[0]).lstrip().startswith("- "):
        help_text = (
            "a list needs a key of its own above it, such as `body:`; or quote the value if the `:` belongs to it"
        )
    secondary = []
    if error.context_mark is not None and error.context and error.context_mark.index + shift < at:
        opened = error.context_mark.index + shift
        what = error.context.removeprefix("while ").replace("parsing a", "in this").replace("scanning a", "in this")
        secondary.append(Label(span_between(source, opened, opened + 1), what))
    return diagnose(
        INVALID_YAML,
        span_between(source, at, _word_end(text, at)),
        message,
        label="YAML stops here",
        secondary=secondary,
        helps=[help_text] if help_text else ["see https://yaml.org for the syntax"],
    )


def _word_end(text: str, at: int) -> int:
    return at + 1 if at < len(text) and text[at] not in "\r\n" else at


def _colon_trap(source: Source, at: int, problem: str) -> Diagnostic | None:
    """`let: s = k[a : b, :]`: a blank after a colon inside a value of one line."""
    if "mapping values are not allowed" not in problem:
        return None
    begin = source.line_starts()[source.position(at)[0] - 1]
    line = source.line(source.position(at)[0])
    match = _PAIR.match(line)
    if match is None or match.end("key") + begin >= at:
        return None
    value = _COMMENT.sub("", match.group("value")).rstrip()
    if not value or value[0] in "\"'[{|>&*!":
        return None
    start = begin + match.start("value")
    span = span_between(source, start, start + len(value))
    closer = re.sub(r"\s*:\s+(?=[^\s])", ":", value) if "[" in value else None
    helps = [f"quote it: `{match.group('key')}: {quoted(value)}`"]
    if closer is not None and not re.search(r":(\s|$)", closer):
        helps.append(f"or write the slice without blanks: `{closer}`")
    return diagnose(
        UNQUOTED,
        span,
        "a `:` with a blank after it ends the value for YAML",
        label="needs quotes",
        secondary=[Label(span_between(source, at, at + 1), "this `:`")],
        helps=helps,
        fixes=[Fix(span, quoted(value), safe=True)],
    )


def _bracket_trap(source: Source, at: int, problem: str) -> Diagnostic | None:
    """`at: [k[0, 1], 2]`: a bracket right behind a plain value of a flow collection."""
    text = source.text
    if not (
        "',' or" in problem and at < len(text) and text[at] in "[{" and at > 0 and text[at - 1] not in " \t\r\n,[{:"
    ):
        return None
    begin = at
    while (
        begin > 0 and text[begin - 1] not in ",[{}]\r\n" and not (text[begin - 1] in " \t" and text[begin - 2] == ":")
    ):
        begin -= 1
    while text[begin] in " \t":
        begin += 1
    return _quote_extent(source, begin)


def unquoted_call(source: Source, start: int) -> tuple[int, Diagnostic] | None:
    """`valid: [min(TR, M - i), TC]`: the plain item at `start` opens a parenthesis a later item closes.

    Gives the offset behind the whole expression too, where looking for the next one may go on.
    """
    found = _quote_extent(source, start)
    if found is None:
        return None
    return start + len(found.fixes[0].replacement) - 2, found


def _quote_extent(source: Source, start: int) -> Diagnostic | None:
    text = source.text
    stack: list[str] = []
    at, limit = start, min(len(text), start + 2000)
    while at < limit:
        char = text[at]
        if char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif stack and char == stack[-1]:
            stack.pop()
        elif char in ",)]}\r\n" and (not stack or char in "\r\n"):
            break
        at += 1
    expression = text[start:at].rstrip()
    if stack or not expression:
        return None
    span = span_between(source, start, start + len(expression))
    return diagnose(
        UNQUOTED,
        span,
        "commas and brackets end a plain value inside `[...]` and `{...}`",
        label="YAML reads this as several values",
        helps=[f"quote it: `{quoted(expression)}`"],
        fixes=[Fix(span, quoted(expression), safe=True)],
    )


def _tab_near(text: str, at: int) -> int | None:
    """A tab at the error, or in the indentation of its line."""
    if text[at : at + 1] == "\t":
        return at
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    end = begin
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    found = text.find("\t", begin, end)
    return found if found >= 0 else None


def _tab(source: Source, at: int) -> Diagnostic:
    text = source.text
    end = at
    while text[end : end + 1] == "\t":
        end += 1
    span = span_between(source, at, end)
    return diagnose(
        TAB,
        span,
        "tabs may not separate or indent anything in a spec",
        label="tab",
        helps=["use blanks"],
        fixes=[_without_tab(source, at, end)],
    )


def _without_tab(source: Source, at: int, end: int) -> Fix:
    """Blanks for tabs; at the start of a line as many as the line above has, which is a guess."""
    text = source.text
    row = source.position(at)[0]
    begin = source.line_starts()[row - 1]
    if text[begin:at].strip():
        return Fix(span_between(source, at, end), "  " * (end - at), safe=True, title="write blanks for the tab")
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    above = next((line for number in range(row - 1, 0, -1) if (line := source.line(number)).strip()), "")
    blanks = len(above) - len(above.lstrip(" ")) + 2 * above.rstrip().endswith(":")
    return Fix(span_between(source, begin, end), " " * blanks, title="indent it by blanks, like the line above")


def tab_errors(source: Source, root: Node) -> list[Diagnostic]:
    """Tabs outside quoted text, block text and comments. Parsers differ in where they let them pass."""
    text = source.text
    covered: list[tuple[int, int]] = []
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, _Mapping):
            for key, value in node.entries.values():
                if text[key.start : key.start + 1] in ("'", '"'):
                    covered.append((key.start, key.end))
                pending.append(value)
        elif isinstance(node, SequenceNode):
            pending.extend(node.items)
        elif isinstance(node, ScalarNode) and node.style:
            covered.append((node.start, node.end))
    covered.sort()
    found: list[Diagnostic] = []
    index, at = 0, text.find("\t")
    while at >= 0 and len(found) < MAX_TABS:
        while index < len(covered) and covered[index][1] <= at:
            index += 1
        if index < len(covered) and covered[index][0] <= at:
            at = text.find("\t", covered[index][1])
            continue
        begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        behind = max(begin, covered[index - 1][1] if index else 0)
        after = at + 1
        if _REMARK.search(text, behind, at):
            after = _line_end(text, at)
        else:
            found.append(_tab(source, at))
            while text[after : after + 1] == "\t":
                after += 1
        at = text.find("\t", after)
    return found


def _line_end(text: str, at: int) -> int:
    end = _LINE_END.search(text, at)
    return end.start() if end else len(text)

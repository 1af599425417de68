"""Asking for proposals at a `|` in a text, and accepting one as an editor does."""

from __future__ import annotations

import re

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.complete import completions, signature
from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Completion, Signature
from pypto_spec.spec.load import format_of

HEAD = """\
spec: v1
name: a
constants: {N: 4, TR: 64, mode: rint, half: fp16, scale: 0.5, flag: true}
symbols: {M: {min: 1}}
scalars: {eps: fp32, n: int32}
tensors:
  x: {dtype: fp32, shape: [M, 128]}
  out: {dtype: fp32, shape: [M, 128], access: out}
buffers: {ub: {memory: vec, slots: 2}}
functions:
  norm: {args: {t: tile, k: index}, returns: [y], body: [{let: y = t * 2}]}
program:
  - create_tensor: {into: tmp, dtype: fp32, shape: [8, 128]}
  - region: first
    as: begun
    body:
      - let: tmp = full([8, 128], 0, dtype=fp32)
  - region: second
    body:
      - for: {index: i, count: N}
        body:
          - load: {into: t, from: x, at: [i * TR, 0], shape: [TR, 128]}
          - let: row = i * 64
"""
"""A spec to write on in: what follows stands in the loop of the second region, ten columns deep."""

BODY = " " * 10

TOML = """\
spec = "v1"
name = "a"

[constants]
N = 4
mode = "rint"

[tensors]
x = { dtype = "fp32", shape = [64, 128] }
out = { dtype = "fp32", shape = [64, 128], access = "out" }

[[program]]
region = "r"
body = [
  { load = { into = "t", from = "x", at = [0, 0], shape = [64, 128] } },
"""


def parse(text: str, name: str = "a.yaml") -> tuple[Document, int]:
    """The document of a text, without its mark, and where that is. As an editor has it: without a tree."""
    at = text.index("|")
    return document(text[:at] + text[at + 1 :], name), at


def document(text: str, name: str = "a.yaml") -> Document:
    """A document without a tree: completion must not need one."""
    return Document(Source(name, text), format_of(name), None)


def ask(text: str, name: str = "a.yaml") -> list[Completion]:
    """The proposals at the mark."""
    return completions(*parse(text, name))


def labels(text: str, name: str = "a.yaml") -> list[str]:
    """The labels of the proposals at the mark, in their order."""
    return [item.label for item in ask(text, name)]


def item(text: str, label: str, name: str = "a.yaml") -> Completion:
    """One proposal at the mark."""
    return next(found for found in ask(text, name) if found.label == label)


def call(text: str, name: str = "a.yaml") -> Signature | None:
    """The call around the mark."""
    return signature(*parse(text, name))


def expanded(text: str) -> str:
    """A snippet with its places filled as proposed."""
    text = re.sub(r"\$\{\d+:((?:[^}\\]|\\.)*)\}", r"\1", text)
    return re.sub(r"\\([\\$}])", r"\1", re.sub(r"\$\{?\d+\}?", "", text))


def accept(text: str, found: Completion) -> str:
    """The text with a proposal in it; further lines of it are indented as the line that it goes into."""
    edit = found.edit
    new = expanded(edit.text) if found.snippet else edit.text
    line = text[text.rfind("\n", 0, edit.start) + 1 : edit.start]
    new = new.replace("\n", "\n" + line[: len(line) - len(line.lstrip(" "))])
    edits = [(edit.start, edit.end, new), *((also.start, also.end, also.text) for also in found.also)]
    for start, end, put in sorted(edits, reverse=True):
        text = text[:start] + put + text[end:]
    return text


def typed(text: str, label: str, name: str = "a.yaml") -> str:
    """The text with the mark replaced by the proposal of that label."""
    at = text.index("|")
    return accept(text[:at] + text[at + 1 :], item(text, label, name))

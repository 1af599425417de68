"""Pieces of YAML without aliases and merge keys: each is replaced by what it stands for."""

from __future__ import annotations

from pypto_spec.edit.pieces import Alias, Collection, Member, Piece, Remark, Scalar, UnusualError

Expansion = tuple[int, str]
"""Where an alias stands, and the alias as it is written."""


def written_out(root: Piece) -> tuple[Piece, list[Expansion]]:
    """The pieces of a document with everything written out, in the order in which the loader has it, and what was.

    Copies are without comments: those stay where the anchor is. Raises UnusualError for an alias as a key.
    """
    expander = _Expander()
    return expander.piece(root), expander.found


class _Expander:
    def __init__(self) -> None:
        self.anchors: dict[str, Piece] = {}
        self.found: list[Expansion] = []

    def piece(self, piece: Piece) -> Piece:
        if isinstance(piece, Alias):
            self.found.append((piece.at, piece.raw))
            made = bare(self.anchors[piece.raw.removeprefix("*").strip()])
            made.tail = piece.tail
            return made
        anchor = next((part[1:] for part in piece.props.split() if part.startswith("&")), None)
        made = self.collection(piece) if isinstance(piece, Collection) else Scalar(
            piece.raw, piece.text, piece.style, "", piece.tail
        )  # fmt: skip
        if anchor is not None:
            self.anchors[anchor] = made
        return made

    def collection(self, piece: Collection) -> Collection:
        made = Collection(piece.mapping, piece.flow, [], "", piece.tail, piece.broken, piece.pair)
        merged: list[Piece] = []
        waiting: list[Remark] = []
        for member in piece.members:
            if isinstance(member.key, Alias):
                raise UnusualError("a key is an alias")
            value = self.piece(member.value)
            key = Scalar(member.key.raw, member.key.text, member.key.style) if member.key is not None else None
            if key is not None and key.text == "<<" and not key.style:
                # What it brings comes last; its comments stay where they are.
                merged.append(value)
                around = [member.opener, *(remark.text for remark in member.inner), value.tail]
                waiting += [*member.lead, *(Remark(text) for text in around if text)]
                continue
            opener = member.opener
            if isinstance(value, Collection) and not value.flow and value.tail:  # behind an alias of a block
                opener, value.tail = value.tail, ""
            made.members.append(Member(value, key, [*waiting, *member.lead], member.blank, opener, member.inner))
            waiting = []
        made.trail = [*waiting, *piece.trail]
        _merge(made, merged)
        return made


def _merge(made: Collection, merged: list[Piece]) -> None:
    known = {member.key.text for member in made.members if isinstance(member.key, Scalar)}
    for value in merged:
        assert isinstance(value, Collection)
        parts = [value] if value.mapping else [part.value for part in value.members]
        for entry in (entry for part in parts if isinstance(part, Collection) for entry in part.members):
            assert isinstance(entry.key, Scalar)
            if entry.key.text not in known:
                known.add(entry.key.text)
                made.members.append(Member(bare(entry.value), entry.key))


def bare(piece: Piece) -> Piece:
    """A copy without comments."""
    if isinstance(piece, Scalar):
        return Scalar(piece.raw, piece.text, piece.style)
    assert isinstance(piece, Collection)
    members = [Member(bare(member.value), member.key) for member in piece.members]
    return Collection(piece.mapping, piece.flow, members, broken=piece.broken, pair=piece.pair)

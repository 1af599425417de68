"""The names that can be read at the cursor, from the text as it was read tolerantly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pypto_spec.convert.exprs import FUNCTIONS as WHOLE_FUNCTIONS
from pypto_spec.editor.complete.spot import Around, Block, Spot, keyword_of, text_of
from pypto_spec.editor.complete.text.tree import Map, Node, Scalar, Seq
from pypto_spec.editor.model import Kind
from pypto_spec.records import dataclass
from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain
from pypto_spec.spec.models.keywords import BLOCK_KEYS, Keyword

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PARTS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[0-9]+)?(\s*\()?|[0-9.]+(?:[eE][-+]?[0-9]+)?|//|[^\s]")
_LET = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Named:
    """A name. `of` is the dtype of a tensor or scalar, or what a constant holds: `int`, `float`, `bool` or `word`."""

    name: str
    kind: Kind
    detail: str = ""
    of: str = ""
    access: str = ""
    value: str = ""
    fixed: bool = False
    """Of an index: whether it is a constant in each iteration."""

    @property
    def whole(self) -> bool:
        """Whether it is an integer."""
        return self.kind in (Kind.SYMBOL, Kind.INDEX, Kind.NUMBER) or (
            self.kind in (Kind.CONSTANT, Kind.SCALAR) and (self.of == "int" or self.of.startswith(("int", "uint")))
        )


@dataclass(frozen=True, slots=True)
class Called:
    """A function of the spec."""

    name: str
    args: tuple[tuple[str, str], ...]
    returns: tuple[str, ...]
    about: str


class Scope:
    """What a place sees. Names are listed in the order of the text, the nearest last."""

    def __init__(self, spot: Spot) -> None:
        self.root = spot.tree.root
        self.names: dict[str, Named] = {}
        self.buffers: dict[str, Named] = {}
        self.carried: dict[str, Named] = {}
        self.grid = False
        """Whether `num_blocks()` exists."""
        self.functions = {f.name: f for f in _functions(self.root.get("functions"))}
        for named in _sections(self.root):
            self.names[named.name] = named
        for name, node in _table(self.root.get("buffers")):
            self.buffers[name] = Named(name, Kind.BUFFER, _field(node, "memory"))
        for keyword, node in statements(self.root.get("program")):
            if keyword.name == "create_tensor":
                self._created(node.get(keyword.name))
        if spot.path[:1] == ("functions",) and len(spot.path) > 2:
            self._arguments(str(spot.path[1]))
        for frame in spot.frames:
            if isinstance(frame, Block):
                for item in frame.statements.items[: frame.number]:
                    self._bind(item)
            else:
                self._enter(frame)

    def kinds(self, *kinds: Kind) -> list[Named]:
        """The names of some kinds."""
        return [named for named in self.names.values() if named.kind in kinds]

    def launches(self) -> Iterator[Named]:
        """The names that `after` may have."""
        for keyword, node in statements(self.root.get("program")):
            if keyword.name == "region":
                for key in ("region", "as"):
                    word = text_of(node.get(key))
                    if word and _WORD.match(word):
                        yield Named(word, Kind.REGION, "a region" if key == "region" else "a launch")

    # Binding

    def _put(self, name: str, kind: Kind, detail: str = "") -> None:
        known = self.names.get(name)
        if _WORD.match(name) and (known is None or known.kind is not Kind.TENSOR):
            self.names.pop(name, None)
            self.names[name] = Named(name, kind, detail)

    def _created(self, node: Node | None) -> None:
        name = _field(node, "into")
        if name and _WORD.match(name):
            detail = f"{_field(node, 'dtype')} {_field(node, 'shape')}".strip()
            self.names[name] = Named(name, Kind.TENSOR, detail, _field(node, "dtype"), "inout")

    def _arguments(self, function: str) -> None:
        called = self.functions.get(function)
        kinds = {"index": Kind.INDEX, "tensor": Kind.TENSOR, "scalar": Kind.SCALAR, "tile": Kind.TILE}
        for name, what in called.args if called is not None else ():
            kind = kinds.get(what, Kind.TILE)
            access = "inout" if kind is Kind.TENSOR else ""
            self.names[name] = Named(name, kind, f"argument{', ' + what if what else ''}", "", access)

    def _bind(self, item: Node | None) -> None:
        """What an earlier statement binds."""
        if not isinstance(item, Map):
            return
        keyword = keyword_of(item)
        if keyword is None:
            return
        value = item.get(keyword.name)
        if keyword.name == "let":
            self._let(text_of(value))
        elif keyword.name == "alloc":
            name = _field(value, "buffer")
            if name:
                self.buffers[name] = Named(name, Kind.BUFFER, _field(value, "memory"))
        elif keyword.blocks:
            for name in self._left_by(item, keyword):
                self._put(name, self._kind_of(item, name), keyword.name)
        elif keyword.name != "create_tensor":
            for name in _names(value.get("into") if isinstance(value, Map) else None):
                shape = _field(value, "shape")
                self._put(name, Kind.TILE, f"{keyword.name} {shape}".strip())

    def _let(self, text: str) -> None:
        match = _LET.match(text)
        if match is not None:
            formula = match.group(2).strip()
            kind = Kind.NUMBER if self.is_whole(formula) else Kind.TILE
            self._put(match.group(1), kind, f"= {formula}")

    def _left_by(self, item: Map, keyword: Keyword) -> Iterator[str]:
        """The names that a loop or branch leaves behind: its results, and what all arms of it bind."""
        results = item.get("results")
        if results is not None:
            yield from ([name for name, _ in _table(results)] if isinstance(results, Map) else _names(results))
        elif item.get("carry") is not None:
            yield from (name for name, _ in _table(item.get("carry")))
        arms = [set(self.bound(item.get(key))) for key in keyword.blocks]
        if len(arms) > 1:
            yield from sorted(set.intersection(*arms))

    def bound(self, block: Node | None) -> Iterator[str]:
        """The names that the statements of a list bind."""
        for _, node in statements(block, deep=False):
            keyword = keyword_of(node)
            value = node.get(keyword.name) if keyword is not None else None
            match = _LET.match(text_of(value)) if isinstance(value, Scalar) else None
            if match is not None:
                yield match.group(1)
            elif isinstance(value, Map) and not (keyword is not None and keyword.blocks):
                yield from _names(value.get("into"))

    def _kind_of(self, item: Map, name: str) -> Kind:
        """Whether what a loop carries is a tile or a number."""
        carry, results = item.get("carry"), item.get("results")
        source = text_of(results.get(name)) if isinstance(results, Map) else name
        start = carry.get(source or name) if isinstance(carry, Map) else None
        return Kind.NUMBER if start is not None and self.is_whole(text_of(start)) else Kind.TILE

    def _enter(self, frame: Around) -> None:
        """What a statement binds for what stands inside of it."""
        keyword = frame.keyword
        if keyword is None:
            return
        for name, start in _table(frame.node.get("carry")):
            text = _field(start, "init") if isinstance(start, Map) else text_of(start)
            self.carried[name] = Named(name, Kind.NUMBER if self.is_whole(text) else Kind.TILE, f"carried from {text}")
            if frame.key in BLOCK_KEYS or frame.key in ("yield", ""):
                self._put(name, self.carried[name].kind, f"carried from {text}")
        for name in _names(frame.node.get("results")):
            self.carried[name] = Named(name, Kind.TILE, "result")
        value = frame.node.get(keyword.name)
        if frame.key not in keyword.blocks or not isinstance(value, Map):
            return
        self.grid = self.grid or keyword.name in ("parallel", "spmd")
        for name in _names(value.get("index")):
            self._put(name, Kind.INDEX, f"index of {keyword.name}")
            if keyword.name == "unroll":
                self.names[name] = Named(name, Kind.INDEX, "constant in each iteration", fixed=True)

    def is_whole(self, formula: str) -> bool:
        """Whether a formula is made of integers alone."""
        found = False
        for match in _PARTS.finditer(formula):
            part = match.group()
            if part[:1].isalpha() or part[:1] == "_":
                name = part.rstrip("( \t")
                known = self.names.get(name)
                if not (name in WHOLE_FUNCTIONS if match.group(1) else known is not None and known.whole):
                    return False
                found = True
            elif part[:1].isdigit() or part[:1] == ".":
                if not part.isdigit():
                    return False
                found = True
            elif part not in ("+", "-", "*", "//", "%", "(", ")", ","):
                return False
        return found


def statements(block: Node | None, *, deep: bool = True) -> Iterator[tuple[Keyword, Map]]:
    """The statements of a list, with those in their blocks."""
    for item in block.items if isinstance(block, Seq) else ():
        keyword = keyword_of(item) if isinstance(item, Map) else None
        if keyword is not None and isinstance(item, Map):
            yield keyword, item
            for key in keyword.blocks if deep and keyword.opens is None else ():
                yield from statements(item.get(key))


def _sections(root: Map) -> Iterator[Named]:
    """The names that the sections of a document bind."""
    constants: dict[str, Named] = {}
    for name, node in _table(root.get("constants")):
        constants[name] = _constant(name, node, constants)
    yield from constants.values()
    for name, node in _table(root.get("symbols")):
        bounds = ", ".join(f"{key} {text_of(value)}" for key, value in _table(node))
        yield Named(name, Kind.SYMBOL, bounds or "run-time dimension", "int")
    for name, node in _table(root.get("scalars")):
        yield Named(name, Kind.SCALAR, text_of(node), text_of(node))
    for name, node in _table(root.get("tensors")):
        access = _field(node, "access") or "in"
        detail = f"{_field(node, 'dtype')} {_field(node, 'shape')}".strip()
        yield Named(
            name, Kind.TENSOR, f"{detail}{', ' + access if access != 'in' else ''}", _field(node, "dtype"), access
        )


def _constant(name: str, node: Node | None, known: dict[str, Named]) -> Named:
    text = text_of(node)
    kind = "int"
    try:
        value = resolve_plain(text)
    except IntegerTooLargeError:
        value = 0
    if isinstance(value, bool):
        kind = "bool"
    elif isinstance(value, float):
        kind = "float"
    elif isinstance(value, str):
        names = [known[n.group()].of for n in _PARTS.finditer(text) if n.group() in known]
        if _WORD.match(text) and text not in known:
            kind = "word"
        elif "float" in names or re.search(r"[0-9]\.|(?<!/)/(?!/)|sqrt|exp|log", text):
            kind = "float"
    return Named(name, Kind.CONSTANT, f"= {text}", kind, value=text)


def _functions(node: Node | None) -> Iterator[Called]:
    for name, function in _table(node):
        args = function.get("args") if isinstance(function, Map) else None
        listed = [(n, "") for n in _names(args)] if not isinstance(args, Map) else []
        listed += [
            (n, text_of(what) if isinstance(what, Scalar) else _field(what, "dtype")) for n, what in _table(args)
        ]
        returns = tuple(_names(function.get("returns") if isinstance(function, Map) else None))
        yield Called(name, tuple(listed), returns, _field(function, "about"))


def _table(node: Node | None) -> Iterable[tuple[str, Node | None]]:
    """The named entries of a mapping, but for the one that is being written."""
    if not isinstance(node, Map):
        return ()
    return [(e.key.word, e.value) for e in node.entries if e.colon and e.key.word and not e.key.word.startswith("x-")]


def _names(node: Node | None) -> list[str]:
    if isinstance(node, Seq):
        return [text_of(item) for item in node.items if isinstance(item, Scalar) and item.word]
    return [node.word] if isinstance(node, Scalar) and node.word else []


def _field(node: Node | None, key: str) -> str:
    return text_of(node.get(key)) if isinstance(node, Map) else ""

"""The names of statements: what each binds, what it reads, and the scopes of loops, arms, regions and functions.

The rules are those of `convert.scope`: a name first bound inside a loop or arm ends there, bound in both arms it lives
on; a loop carries what its body binds again; values end with their region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_spec.editor.model import Kind
from pypto_spec.editor.names.details import shortened
from pypto_spec.editor.names.fields import Fields, Found
from pypto_spec.editor.names.formulas import Places, parts
from pypto_spec.editor.names.model import Binding, Extent, Use
from pypto_spec.editor.names.table import Env, Table
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import Keyword, default_table
from pypto_spec.spec.models.roles import NOTHING, fields_of
from pypto_spec.spec.models.statement import SIBLINGS
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

_KINDS = {"index": Kind.INDEX, "tensor": Kind.TENSOR, "launch": Kind.REGION, "buffer": Kind.BUFFER}
_OFFSET = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?: as [a-z0-9]+)?\s*\+(.+)", re.DOTALL)
"""The offset of an operand of an instruction, `x + i * 64`."""


def starts_at(node: Node) -> int:
    """Where a node begins at its own place: for an aliased one, where the alias does."""
    return node.via[-1][0] if node.via else node.start


def ends_at(node: Node) -> int:
    """Where a node ends at its own place."""
    return node.via[-1][1] if node.via else node.end


def keyword_of(node: MappingNode) -> tuple[Keyword, KeyNode, Node] | None:
    """The keyword of a statement with its key and value; None where there is none yet."""
    table = default_table()
    for name, (key, value) in node.entries.items():
        keyword = table.keywords.get(name)
        if keyword is not None and name not in SIBLINGS and (name != "yield" or len(node.entries) == 1):
            return keyword, key, value
    return None


class Statements:
    """Walks lists of statements."""

    def __init__(self, table: Table, fields: Fields) -> None:
        self.table = table
        self.fields = fields
        self.functions: dict[str, Env] = {}
        """The arguments of each function."""
        self.created: Env = {}
        """Tensors that the program creates."""
        self.made: list[Use] = []
        """What the region being walked binds first."""

    def extent(self, node: Node, limit: int) -> Extent:
        """The scope of a list of statements."""
        start, end = starts_at(node), ends_at(node)
        flow = isinstance(node, MappingNode | SequenceNode) and node.flow
        if node.via or flow:
            return Extent(start, end, end)
        toml = isinstance(node, SequenceNode) and any(_is_table(item) for item in node.items)
        return Extent(start, end, max(limit, end), None if toml else self.table.index.column(start))

    def block(self, node: Node | None, env: Env, limit: int) -> None:
        """The statements of a list, in `env`, which they change."""
        if not isinstance(node, SequenceNode):
            return
        extent = self.extent(node, limit)
        items = node.items
        for number, item in enumerate(items):
            last = number + 1 == len(items)
            if isinstance(item, MappingNode):
                self.statement(item, env, extent, limit if last else max(starts_at(items[number + 1]), ends_at(item)))

    def statement(self, item: MappingNode, env: Env, extent: Extent, limit: int) -> None:
        """One statement."""
        parts = keyword_of(item)
        if parts is None:
            return
        keyword, key, value = parts
        found = Found()
        self._own_fields(keyword, item, value, env, found)
        for node in found.let:
            self._let(node, env, extent, ends_at(item), keyword, key)
        if keyword.opens is not None:
            self._region(item, found, env, limit)
        elif "body" in keyword.blocks:
            self._loop(item, found, env, extent, limit)
        elif keyword.blocks:
            self._branch(item, env, extent, limit)
        else:
            self._bind(found, env, extent, ends_at(item), self._detail(key, value))

    def _own_fields(self, keyword: Keyword, item: MappingNode, value: Node, env: Env, found: Found) -> None:
        if keyword.reserved:
            return
        plans = fields_of(default_table().model(keyword.name))
        if isinstance(value, MappingNode) and keyword.fields:
            self.fields.arguments = self._arguments(value)
            for name, node in value.items:
                plan = plans.get(name.text, NOTHING)
                if not name.text.startswith("x-"):
                    self.fields.walk(node, plan, env, found)
        elif keyword.scalar is not None:
            self.fields.walk(value, plans[keyword.scalar], env, found)
        for name, node in item.items:
            if name.text in keyword.options:
                self.fields.walk(node, plans[name.text], env, found)
            elif name.text == "instructions":
                self._instructions(node, env)
            elif name.text in keyword.extras and name.text not in ("carry", "yield", "results"):
                self.fields.walk(node, fields_of(Extras)[name.text], env, found)

    def _arguments(self, value: MappingNode) -> Env:
        function = value.get("function")
        return self.functions.get(function.text, {}) if isinstance(function, ScalarNode) else {}

    def _detail(self, key: KeyNode, value: Node) -> str:
        """A statement in one line."""
        text = key.source.text
        start = key.start
        end = value.end if not value.via and value.start >= key.start else key.end
        return shortened(text[start:end])

    # Binding

    def _bind(self, found: Found, env: Env, extent: Extent, after: int, detail: str) -> None:
        for role, text, start, end in found.binds:
            if role.of == "buffer":
                use = self.table.declare(self.table.spaces["buffers"], text, start, end, Kind.BUFFER, "buffers", detail)
            else:
                kind = _KINDS.get(role.of, Kind.TILE)
                use = self._declare(env, text, start, end, kind, detail)
                if role.of == "tensor":
                    self.created[text] = use
            self.table.show(use, after, extent)

    def _declare(self, env: Env, text: str, start: int, end: int, kind: Kind, detail: str = "") -> Use:
        new = text not in env
        use = self.table.declare(env, text, start, end, kind, "names", detail)
        if new and kind in (Kind.TILE, Kind.NUMBER):
            self.made.append(use)
        return use

    def _let(self, node: ScalarNode, env: Env, extent: Extent, after: int, keyword: Keyword, key: KeyNode) -> None:
        found = self.table.formula(env, node, let=True)
        target = next((part for part in found if part.kind == "target"), None)
        if target is None:
            return
        start, end = Places(node).of(target.start, target.end)
        rest = found[found.index(target) + 2 :]
        kind = Kind.NUMBER if self.table.is_whole(env, rest) else Kind.TILE
        use = self._declare(env, target.text, start, end, kind, self._detail(key, node))
        self.table.show(use, after, extent)

    # Scopes

    def limit_of(self, item: MappingNode, name: str, limit: int) -> int:
        """Where the next thing stands behind the block under a key."""
        key = item.key_node(name)
        if key is None or key.via:
            return limit
        return min((other.start for other, _ in item.items if other.start > key.start and not other.via), default=limit)

    def _region(self, item: MappingNode, found: Found, env: Env, limit: int) -> None:
        launches = self.table.spaces["launches"]
        whole = Extent(0, len(self.table.source.text), len(self.table.source.text))
        for _, text, start, end in found.binds:
            self.table.show(self.table.declare(launches, text, start, end, Kind.REGION, "launches"), 0, whole)
        inner = dict(env)
        self.made = []
        self.block(item.get("body"), inner, self.limit_of(item, "body", limit))
        for name in env:
            if inner[name].binding is env[name].binding:
                env[name] = inner[name]
        self.versions(self.made)

    def versions(self, made: list[Use]) -> None:
        """Values that are versions of each other (`t`, `t.1`) are one thing."""
        numbered = {use.binding.name for use in made if use.stop > use.end}
        first: dict[str, Binding] = {}
        for use in made:
            if use.binding.name in numbered:
                self.table.join(first.setdefault(use.binding.name, use.binding), use.binding)

    def _loop(self, item: MappingNode, found: Found, env: Env, extent: Extent, limit: int) -> None:
        inner, after = dict(env), ends_at(item)
        body = item.get("body")
        scope = self.extent(body if body is not None else item, self.limit_of(item, "body", limit))
        for role, text, start, end in found.binds:
            if role.of == "index":
                self.table.show(self._declare(inner, text, start, end, Kind.INDEX, "loop index"), scope.start, scope)
        carried = list(self._carried(item, env, inner, scope))
        for node in found.inside:
            self.table.formula(inner, node)
        outer, self.fields.carried = self.fields.carried, {}
        self.block(body, inner, scope.limit)
        self._yields(item, inner)
        self.fields.carried = outer
        self.show_in(item, ("yield", "results"), inner, env)
        results = self._results(item, inner)
        named = {of for of, _ in results}
        for name, site in env.items():
            if name not in carried and inner[name].binding is site.binding:
                env[name] = inner[name]
        for name in carried:
            if name not in named:
                env[name] = inner[name]
                self.table.show(inner[name], after, extent)
        for of, (text, start, end) in results:
            known = inner.get(of)
            use = self._declare(env, text, start, end, known.binding.kind if known is not None else Kind.TILE, "result")
            self.table.show(use, after, extent)

    def show_in(self, item: MappingNode, keys: tuple[str, ...], inner: Env, outer: Env) -> None:
        """What is in force at the end of a body can be read in fields beside it."""
        for key in keys:
            node = item.get(key)
            if node is not None and not node.via:
                extent = Extent(node.start, node.end, node.end)
                for name, use in inner.items():
                    if outer.get(name) is not use:
                        self.table.show(use, node.start, extent)

    def _carried(self, item: MappingNode, env: Env, inner: Env, scope: Extent) -> Iterator[str]:
        """Bind what a loop carries by hand."""
        carry = item.get("carry")
        if not isinstance(carry, MappingNode):
            return
        plan = fields_of(Extras)["carry"]
        whole: dict[str, bool] = {}
        for key, node in carry.items:
            init = node.get("init") if isinstance(node, MappingNode) else node
            self.fields.walk(node, plan.at(key.text), env, Found())
            whole[key.text] = isinstance(init, ScalarNode) and self._is_number(init, env)
        for key, _ in carry.items:
            word = self.table.word(key)
            if word is not None:
                kind = Kind.NUMBER if whole[key.text] else Kind.TILE
                use = self._declare(inner, *word, kind, "carried by the loop")
                self.table.show(use, scope.start, scope)
                yield word[0]

    def _is_number(self, node: ScalarNode, env: Env) -> bool:
        return type(node.value) is int or (isinstance(node.value, str) and self.table.is_whole(env, parts(node.text)))

    def _yields(self, item: MappingNode, *envs: Env) -> None:
        """What stands in a `yield` beside a loop, or beside an `if` with a value for each arm."""
        beside = item.get("yield")
        if not isinstance(beside, MappingNode):
            return
        plan = fields_of(Extras)["yield"]
        assert plan.keys is not None
        for key, node in beside.items:
            self.fields.key(key, plan.keys, envs[0], Found())
            values = node.items if isinstance(node, SequenceNode) else [node] * len(envs)
            for value, env in zip(values, envs, strict=False):
                self.fields.walk(value, plan.at(key.text).item, env, Found())

    def _results(self, item: MappingNode, inner: Env) -> list[tuple[str, tuple[str, int, int]]]:
        """The names behind a loop or `if`: what each is inside, and the name with its place."""
        node, plan = item.get("results"), fields_of(Extras)["results"]
        made: list[tuple[str, tuple[str, int, int]]] = []
        if isinstance(node, MappingNode):
            for key, value in node.items:
                word = self.table.word(key)
                self.fields.walk(value, plan.at(key.text), inner, Found())
                of = value.get("of") if isinstance(value, MappingNode) else value
                if word is not None:
                    made.append((of.text if isinstance(of, ScalarNode) else word[0], word))
        for value in node.items if isinstance(node, SequenceNode) else ():
            name = value.get("name") if isinstance(value, MappingNode) else value
            word = self.table.word(name) if isinstance(name, ScalarNode) else None
            if isinstance(value, MappingNode):
                self.fields.walk(value, plan.at(""), inner, Found())
            if word is not None:
                made.append((word[0], word))
        return made

    def _branch(self, item: MappingNode, env: Env, extent: Extent, limit: int) -> None:
        after = ends_at(item)
        given: Env = {}
        results = [word for _, word in self._results(item, env)]
        for text, start, end in results:
            if text in env:
                given[text] = env[text]
            self._declare(given, text, start, end, Kind.TILE, "result of the `if`")
        outer, self.fields.carried = self.fields.carried, given
        then, other = dict(env), dict(env)
        self.block(item.get("then"), then, self.limit_of(item, "then", limit))
        self.block(item.get("else"), other, self.limit_of(item, "else", limit))
        self._yields(item, then, other)
        self.fields.carried = outer
        for name, site in then.items():
            also = other.get(name)
            if name in env:
                before = env[name]
                env[name] = also if also is not None and also is not before else site
            elif also is not None and self._both_values(site, also):
                self.table.join(site.binding, also.binding)
                env[name] = also
                self.table.show(also, after, extent)
        for text, use in given.items():
            env[text] = use
            self.table.show(use, after, extent)

    def _both_values(self, one: Use, other: Use) -> bool:
        return self.table.leader(one.binding).space == self.table.leader(other.binding).space

    def _instructions(self, node: Node, env: Env) -> None:
        """The index expressions in the written instructions of a dump."""
        for item in node.items if isinstance(node, SequenceNode) else ():
            args = item.get("args") if isinstance(item, MappingNode) else None
            for arg in args.items if isinstance(args, SequenceNode) else ():
                if isinstance(arg, MappingNode):
                    for key, value in arg.items:
                        if isinstance(value, ScalarNode) and key.text != "word":
                            self.table.formula(env, value, words=True)
                elif isinstance(arg, ScalarNode) and isinstance(arg.value, str):
                    match = _OFFSET.match(arg.text)
                    if match is not None:
                        self.table.stretch(env, arg, match.start(1), len(arg.text))


def _is_table(node: Node) -> bool:
    return isinstance(node, MappingNode) and not node.flow and node.source.text[node.start : node.start + 2] == "[["

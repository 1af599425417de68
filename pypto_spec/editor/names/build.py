"""The index of a whole document: its sections, its program, the bodies of its functions."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.model import Kind
from pypto_spec.editor.names.details import detail_of
from pypto_spec.editor.names.fields import Fields, Found
from pypto_spec.editor.names.formulas import parts
from pypto_spec.editor.names.model import Extent, Index, Space, Use
from pypto_spec.editor.names.statements import Statements
from pypto_spec.editor.names.table import Env, Table
from pypto_spec.spec.models.roles import Plan, fields_of
from pypto_spec.spec.models.sections import DocumentModel
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

_DECLARED: Mapping[str, tuple[Kind, Space]] = {
    "constant": (Kind.CONSTANT, "names"),
    "symbol": (Kind.SYMBOL, "names"),
    "scalar": (Kind.SCALAR, "names"),
    "tensor": (Kind.TENSOR, "names"),
    "buffer": (Kind.BUFFER, "buffers"),
    "function": (Kind.FUNCTION, "functions"),
}
"""What the keys of a section are, by the mark of the model."""
_LAST = ("program", "functions")
"""Sections whose statements are walked once all sections have been read."""


def build(source: Source, root: MappingNode | None) -> Index:
    """The index of a tree."""
    table = _OfFunctions(source)
    if root is not None:
        _Builder(table, root).build()
    return table.finish()


class _OfFunctions(Table):
    """A table that knows the arguments of the functions of the spec."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.functions: dict[str, Env] = {}

    def arguments_of(self, function: str) -> Mapping[str, Use]:
        return self.functions.get(function, {})


class _Builder:
    def __init__(self, table: _OfFunctions, root: MappingNode) -> None:
        self.table = table
        self.root = root
        self.fields = Fields(table)
        self.statements = Statements(table, self.fields)
        table.functions = self.statements.functions
        self.env: Env = {}
        length = len(table.source.text)
        self.everywhere = Extent(0, length, length)

    def build(self) -> None:
        """Declarations first, as sections may stand in any order."""
        plans = fields_of(DocumentModel)
        for name, plan in plans.items():
            self.declare(plan, self.root.get(name))
        for name, plan in plans.items():
            node = self.root.get(name)
            if node is None:
                continue
            if name == "constants":
                self.constants(node)
            elif name not in _LAST and plan.keys is not None and isinstance(node, MappingNode):
                for key, value in node.items:
                    self.fields.walk(value, plan.at(key.text), self.env, Found())
            elif name == "variants":
                self.variants(node, plan)
            elif name not in _LAST and name != "golden":
                self.fields.walk(node, plan, self.env, Found())
        self.program()
        self.functions()
        golden = self.root.get("golden")
        if golden is not None:
            self.fields.walk(golden, plans["golden"], {**self.env, **self.statements.created}, Found())
        for name, found in self.table.functions.items():
            self.table.index.arguments[name] = [self.table.leader(use.binding) for use in found.values()]
        for text, start, end in self.fields.deferred:
            self.table.read(self.table.spaces["launches"], text, start, end)

    def declare(self, plan: Plan, node: Node | None) -> None:
        """The keys of a section that are names."""
        declared = _DECLARED.get(plan.keys.of) if plan.keys is not None and plan.keys.act == "binds" else None
        if declared is None or not isinstance(node, MappingNode):
            return
        kind, space = declared
        env = self.env if space == "names" else self.table.spaces[space]
        for key, value in node.items:
            word = self.table.word(key) if not key.text.startswith("x-") else None
            if word is None or word[0] in env:
                continue
            use = self.table.declare(env, *word, kind, space, detail_of(kind, value))
            self.table.show(use, 0, self.everywhere)
            if kind is Kind.FUNCTION and isinstance(value, MappingNode):
                self.statements.functions[key.text] = self._arguments(value)
            if isinstance(value, ScalarNode) and (
                (kind is Kind.CONSTANT and self._whole(value)) or (kind is Kind.SCALAR and "int" in value.text)
            ):
                self.table.whole.add(use.binding)

    def _arguments(self, node: MappingNode) -> Env:
        """The arguments of a function, which calls give by name."""
        args, found = node.get("args"), Env()
        named: list[tuple[KeyNode | ScalarNode, str]] = []
        if isinstance(args, MappingNode):
            named = [(key, detail_of(Kind.ARGUMENT, value)) for key, value in args.items]
        elif isinstance(args, SequenceNode):
            named = [(item, "") for item in args.items if isinstance(item, ScalarNode)]
        for item, detail in named:
            word = self.table.word(item)
            if word is not None and word[0] not in found:
                self.table.declare(found, *word, Kind.ARGUMENT, "names", detail)
        return found

    def _whole(self, value: ScalarNode) -> bool:
        """Whether a constant is an integer, as far as its own text says."""
        if isinstance(value.value, str):
            return not any(p.text == "/" or (p.kind == "number" and "." in p.text) for p in parts(value.text))
        return type(value.value) is int

    def constants(self, node: Node) -> None:
        """Values of constants know other constants; a word that is none is itself."""
        known = {n: u for n, u in self.env.items() if u.binding.kind is Kind.CONSTANT}
        for _, value in node.items if isinstance(node, MappingNode) else ():
            if isinstance(value, ScalarNode):
                self.table.formula(known, value, words=True)

    def variants(self, node: Node, plan: Plan) -> None:
        """Axes are constants, or options of the target; their values are written like those of constants."""
        known = {n: u for n, u in self.env.items() if u.binding.kind is Kind.CONSTANT}
        for key, value in node.items if isinstance(node, MappingNode) else ():
            rows = value.items if isinstance(value, SequenceNode) else [value]
            for row in rows:
                for axis, values in row.items if isinstance(row, MappingNode) else ():
                    self._axis(axis, plan.at(key.text), known)
                    for item in values.items if isinstance(values, SequenceNode) else [values]:
                        if isinstance(item, ScalarNode):
                            self.table.formula(known, item, words=True)

    def _axis(self, key: KeyNode, plan: Plan, known: Env) -> None:
        role = plan.keys or plan.item.keys
        if role is not None and "." not in key.text:
            self.fields.key(key, role, known, Found())

    def program(self) -> None:
        """The statements of the control plane."""
        env = dict(self.env)
        self.statements.block(self.root.get("program"), env, self._limit("program"))

    def _limit(self, name: str) -> int:
        key = self.root.key_node(name)
        at = key.start if key is not None else 0
        return min((k.start for k, _ in self.root.items if k.start > at), default=len(self.table.source.text))

    def functions(self) -> None:
        """The bodies of functions: each sees what the whole program has, and its arguments."""
        section = self.root.get("functions")
        entries = section.items if isinstance(section, MappingNode) else []
        for number, (key, node) in enumerate(entries):
            after = entries[number + 1][0].start if number + 1 < len(entries) else self._limit("functions")
            if isinstance(node, MappingNode):
                self._function(key, node, after)

    def _function(self, key: KeyNode, node: MappingNode, limit: int) -> None:
        plans = fields_of(DocumentModel)["functions"].at(key.text)
        body = node.get("body")
        limit = self.statements.limit_of(node, "body", limit)
        scope = self.statements.extent(body if body is not None else node, limit)
        env: Env = {**self.env, **self.statements.created}
        for name, use in self.table.functions.get(key.text, {}).items():
            env[name] = use
            self.table.show(use, scope.start, scope)
        args = node.get("args")
        for _, value in args.items if isinstance(args, MappingNode) else ():
            self.fields.walk(value, plans.at("args").at(""), self.env, Found())
        self.statements.made = []
        self.statements.block(body, env, limit)
        self.statements.versions(self.statements.made)
        self.statements.show_in(node, ("returns",), env, self.env)
        returns = node.get("returns")
        for item in returns.items if isinstance(returns, SequenceNode) else [returns]:
            word = self.table.word(item) if isinstance(item, ScalarNode) else None
            if word is not None:
                self.table.read(env, *word)

"""The names in the fields of a mapping, by the marks of its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from pypto_spec.editor.names.table import Env, Table
from pypto_spec.records import dataclass
from pypto_spec.spec.models.marks import Role
from pypto_spec.spec.models.roles import Plan
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

Later = Callable[[Env], None]


@dataclass(slots=True, eq=False)
class Found:
    """What the fields of one statement bind, and what is read in the scope that it opens."""

    binds: list[tuple[Role, str, int, int]] = field(default_factory=list)
    inside: list[ScalarNode] = field(default_factory=list)
    let: list[ScalarNode] = field(default_factory=list)


class Fields:
    """Walks values with the plans of their models; names that are read are looked up at once, in `env`."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.carried: Env = {}
        """What the `if` around a `yield` gives by its own names."""
        self.arguments: Env = {}
        """The arguments of the function that is called."""
        self.deferred: list[tuple[str, int, int]] = []
        """Names of launches, which may stand below the place that waits for them."""

    def walk(self, node: Node, plan: Plan, env: Env, found: Found) -> None:
        """All names below a node."""
        if isinstance(node, MappingNode):
            for key, value in node.items:
                if key.text.startswith("x-"):
                    continue
                if plan.model is None and plan.keys is not None:
                    self.key(key, plan.keys, env, found)
                self.walk(value, plan.at(key.text), env, found)
        elif isinstance(node, SequenceNode):
            for item in node.items:
                self.walk(item, plan.item, env, found)
        elif isinstance(node, ScalarNode):
            self.scalar(node, plan.role, env, found)

    def key(self, key: KeyNode, role: Role, env: Env, found: Found) -> None:
        """A key that is a name."""
        word = self.table.word(key)
        if word is not None:
            self._name(*word, role, env, found)

    def scalar(self, node: ScalarNode, role: Role | None, env: Env, found: Found) -> None:
        """A single value."""
        if not node.text or node.value is None or self.table.parameter(env, node) or role is None:
            return
        if role.act == "expression" and role.inside:
            found.inside.append(node)
        elif role.act == "expression":
            self.table.formula(env, node)
        elif role.act == "let":
            found.let.append(node)
        elif role.act == "format":
            self.table.braces(env, node)
        elif role.act in ("binds", "reads"):
            word = self.table.word(node)
            if word is not None:
                self._name(*word, role, env, found)

    def _name(self, text: str, start: int, end: int, role: Role, env: Env, found: Found) -> None:
        table = self.table
        if role.act == "binds":
            found.binds.append((role, text, start, end))
        elif role.of == "launch":
            self.deferred.append((text, start, end))
        elif role.of == "buffer":
            table.read(table.spaces["buffers"], text, start, end)
        elif role.of == "function":
            table.read(table.spaces["functions"], text, start, end)
        elif role.of == "argument":
            table.read(self.arguments, text, start, end)
        elif role.of == "carried" and text in self.carried:
            table.read(self.carried, text, start, end)
        elif role.of != "returned":
            table.read(env, text, start, end)

"""The functions that formulas may call, with their arguments: from the operators, and from those who compute them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pypto_spec.convert.exprs import FUNCTIONS as SIZE_FUNCTIONS
from pypto_spec.convert.let_composites import COMPOSITES
from pypto_spec.editor.complete.grammars import Grammar
from pypto_spec.editor.complete.scope import Called, Scope
from pypto_spec.ir.opdef import Field, OpDef
from pypto_spec.ops.registry import OPS, function, functions
from pypto_spec.records import dataclass
from pypto_spec.spec.formula.integer import FUNCTION_DOCS, arity
from pypto_spec.spec.formula.integer import FUNCTIONS as CONSTANT_FUNCTIONS
from pypto_spec.spec.models.fields import DTYPE_WORDS, MEMORY_WORDS

CHOICE = "where"
"""The function of `let` that is no operator by itself: `select` and others, as its condition is."""


@dataclass(frozen=True, slots=True)
class Param:
    """An argument. `kind` is that of an operator's field, or `any` of what is wanted around the call."""

    name: str
    kind: str = "any"
    required: bool = True
    words: tuple[str, ...] = ()
    default: str = ""
    doc: str = ""

    @property
    def text(self) -> str:
        """How it stands in a signature."""
        return self.name if self.required else f"{self.name}={self.default or '...'}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function. The last argument may come again where `more` holds."""

    name: str
    params: tuple[Param, ...]
    doc: str
    more: bool = False
    own: bool = False
    """Whether it is one of the spec's `functions`."""

    @property
    def text(self) -> str:
        """Its signature."""
        return f"{self.name}({', '.join([p.text for p in self.params] + ['...'] * self.more)})"


def functions_of(grammar: Grammar, scope: Scope) -> Mapping[str, Function]:
    """The functions that formulas of a grammar may call."""
    if grammar == "let":
        own = {f.name: _own(f) for f in scope.functions.values() if len(f.returns) == 1}
        return {**_kernel(tuple(OPS)), **own}
    if grammar == "golden":
        return _golden(tuple(OPS))
    names: Iterable[str] = CONSTANT_FUNCTIONS if grammar == "constant" else SIZE_FUNCTIONS
    return {name: _whole(name) for name in sorted(names) if name != "num_blocks" or scope.grid}


@lru_cache(maxsize=64)
def _whole(name: str) -> Function:
    least, most = arity(name)
    params = tuple(Param("abcdefgh"[n], "expr") for n in range(least))
    return Function(name, params, FUNCTION_DOCS.get(name, ""), most > least)


def _own(called: Called) -> Function:
    params = tuple(Param(name, "any", doc=what) for name, what in called.args)
    return Function(called.name, params, called.about or "a function of this spec", own=True)


@lru_cache(maxsize=4)
def _kernel(ops: tuple[str, ...]) -> Mapping[str, Function]:
    """Those of `let`; `ops` tells one set of operators from another."""
    found = {name: _of_operators(name, function(name)) for name in functions()}
    for name, composite in COMPOSITES.items():
        params = [Param("x", "tile")]
        if composite.forms:
            params.append(Param("approximate", "word", True, composite.forms))
        found[name] = Function(name, tuple(params), composite.formula)
    if "select" in OPS:
        chosen = OPS["select"]
        taken = [Param(name, "any", doc=chosen.field(name).doc) for name in ("a", "b")]
        condition = Param("condition", "any", doc="a comparison, or several with `and`, `or` and `not`")
        found[CHOICE] = Function(CHOICE, (condition, *taken), "a where the condition holds, else b, element by element")
    return found


def _of_operators(name: str, defns: tuple[OpDef, ...]) -> Function:
    """A function; where it stands for several operators its operands are tiles or numbers."""
    params = [_param(field) for field in defns[0].fields if field.kind != "bind"]
    if len(defns) > 1:
        params = [Param(p.name, "any", p.required, p.words, p.default, p.doc) for p in params]
    return Function(name, tuple(params), defns[0].doc)


def _param(field: Field) -> Param:
    words = field.words or {"dtype": DTYPE_WORDS, "memory": MEMORY_WORDS}.get(field.kind, ())
    default = field.default
    shown = "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
    return Param(field.name, field.kind, field.required, words, shown if shown.isidentifier() else "", field.doc)


@lru_cache(maxsize=4)
def _golden(ops: tuple[str, ...]) -> Mapping[str, Function]:
    """Those of references; what an argument is, the operator of the same name knows."""
    from pypto_spec.golden.functions import FUNCTIONS  # needs no torch before one is called

    kernel = _kernel(ops)
    found: dict[str, Function] = {}
    for name, python in FUNCTIONS.items():
        alike = kernel.get(name)
        kinds = {p.name: p for p in alike.params} if alike is not None else {}
        params = []
        for given in inspect.signature(python).parameters.values():
            default = given.default
            optional = default is not inspect.Parameter.empty
            known = kinds.get(given.name)
            kind = "flag" if isinstance(default, bool) else known.kind if known is not None else "any"
            words = known.words if known is not None else ()
            shown = str(default).lower() if optional and default not in ("", None) else ""
            params.append(Param(given.name, kind, not optional, words, shown, known.doc if known is not None else ""))
        found[name] = Function(name, tuple(params), alike.doc if alike is not None else "")
    return found

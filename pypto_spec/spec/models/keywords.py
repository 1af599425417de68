"""The keywords of statements: where each may stand, what it holds, and its model, built when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache, partial
from typing import Literal, TypeAlias

from pypto_spec.ir.opdef import OpDef
from pypto_spec.records import dataclass
from pypto_spec.spec.models import structure
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.fields import op_model

Plane: TypeAlias = Literal["control", "execution"]

PLANES: dict[Plane, str] = {"control": "the control plane", "execution": "a region"}
"""How messages call the planes."""

BOTH: frozenset[Plane] = frozenset({"control", "execution"})
CONTROL: frozenset[Plane] = frozenset({"control"})
EXECUTION: frozenset[Plane] = frozenset({"execution"})

BLOCK_KEYS = ("body", "then", "else")
_COMMON = frozenset({"src", "allow"})
_LOOP = _COMMON | {"carry", "yield", "results"}
_STAGED = _LOOP | {"error"}
_OP = _COMMON | {"type", "stage", "instructions"}


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword.

    `scalar` names the model's field that a scalar value fills (`region: NAME`); where `fields` is false the value is
    always that scalar. `options` are model fields that stand beside the keyword, `extras` the other siblings it takes,
    `blocks` the keys of its bodies, of which `needs` must be there. A `bare` one stands alone: `- break:`.
    """

    name: str
    planes: frozenset[Plane]
    doc: str
    factory: Callable[[], type[Model]] | None
    scalar: str | None = None
    fields: bool = True
    options: frozenset[str] = frozenset()
    extras: frozenset[str] = _COMMON
    blocks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    opens: Plane | None = None
    bare: bool = False
    example: str = ""

    @property
    def reserved(self) -> bool:
        """Whether the keyword is known and not there yet."""
        return self.factory is None

    @property
    def siblings(self) -> frozenset[str]:
        """All keys that may stand beside the keyword."""
        return self.options | self.extras | set(self.blocks)


def _loop(
    name: str, planes: frozenset[Plane], model: type[Model], example: str, extras: frozenset[str] = _LOOP
) -> Keyword:
    return Keyword(
        name, planes, _doc(model), lambda: model, extras=extras, blocks=("body",), needs=("body",), example=example
    )


def _same(model: type[Model]) -> type[Model]:
    return model


def _doc(model: type[Model]) -> str:
    return (model.__doc__ or "").strip()


def _reserved(planes: frozenset[Plane], **docs: str) -> list[Keyword]:
    return [Keyword(name, planes, f"{doc} (reserved: not there yet)", None) for name, doc in docs.items()]


_REGION_OPTIONS = frozenset({"as", "after", "core", "blocks", "order", "split", "ring", "kernel"})

STRUCTURE: tuple[Keyword, ...] = (
    Keyword(
        "region",
        CONTROL,
        _doc(structure.Region),
        lambda: structure.Region,
        scalar="name",
        fields=False,
        options=_REGION_OPTIONS,
        blocks=("body",),
        needs=("body",),
        opens="execution",
        example="region: exp",
    ),
    Keyword(
        "create_tensor",
        CONTROL,
        _doc(structure.CreateTensor),
        lambda: structure.CreateTensor,
        example="create_tensor: {into: tmp, dtype: fp32, shape: [M, N]}",
    ),
    _loop("for", BOTH, structure.For, "for: {index: i, count: 8}", _STAGED),
    _loop("parallel", CONTROL, structure.Parallel, "parallel: {index: i, count: 8}"),
    _loop("spmd", CONTROL, structure.Spmd, "spmd: {index: blk, blocks: auto}"),
    _loop("pipeline", EXECUTION, structure.Pipeline, "pipeline: {index: i, count: 8, stages: 2}", _STAGED),
    _loop("unroll", EXECUTION, structure.Unroll, "unroll: {index: i, count: 4}"),
    Keyword(
        "while",
        EXECUTION,
        _doc(structure.While),
        lambda: structure.While,
        scalar="condition",
        fields=False,
        extras=_LOOP,
        blocks=("body",),
        needs=("body",),
        example="while: k < N",
    ),
    *(
        Keyword(name, EXECUTION, _doc(model), partial(_same, model), bare=True, example=f"{name}: {{}}")
        for name, model in (("break", structure.Break), ("continue", structure.Continue))
    ),
    Keyword(
        "if",
        BOTH,
        _doc(structure.If),
        lambda: structure.If,
        scalar="condition",
        fields=False,
        extras=_LOOP,
        blocks=("then", "else"),
        needs=("then",),
        example="if: i == 0",
    ),
    Keyword(
        "let",
        EXECUTION,
        _doc(structure.LetStatement),
        lambda: structure.LetStatement,
        scalar="formula",
        fields=False,
        extras=_OP,
        example="let: y = exp(x)",
    ),
    Keyword(
        "call",
        EXECUTION,
        _doc(structure.Call),
        lambda: structure.Call,
        example="call: {function: normalise, args: {x: t}, into: y}",
    ),
    Keyword(
        "yield",
        BOTH,
        _doc(structure.Yield),
        lambda: structure.Yield,
        scalar="values",
        fields=False,
        example="yield: {m: m.1}",
    ),
    Keyword(
        "alloc",
        EXECUTION,
        _doc(structure.Alloc),
        lambda: structure.Alloc,
        example="alloc: {buffer: ub, memory: vec, bytes: 32768}",
    ),
    Keyword(
        "set_flag",
        EXECUTION,
        _doc(structure.SetFlag),
        lambda: structure.SetFlag,
        example="set_flag: {from: mte2, to: v, id: 0}",
    ),
    Keyword(
        "wait_flag",
        EXECUTION,
        _doc(structure.WaitFlag),
        lambda: structure.WaitFlag,
        example="wait_flag: {from: mte2, to: v, id: 0}",
    ),
    Keyword(
        "barrier", EXECUTION, _doc(structure.Barrier), lambda: structure.Barrier, scalar="pipe", example="barrier: v"
    ),
    *_reserved(
        CONTROL,
        read="Reads a scalar from a tensor.",
        cluster="Groups cores that share work.",
    ),
    *_reserved(
        EXECUTION,
        split_aiv="Work shared by the two vector lanes.",
        aiv_shard="A lane's part of a value.",
        aic_gather="Both lanes' parts as one value.",
        tpush="Pushes a tile into a pipe.",
        tpop="Takes a tile from a pipe.",
        tfree="Frees a slot of a pipe.",
        initialize_pipe="Sets up a pipe between cube and vector.",
        reserve_buffer="Reserves the ring of a pipe.",
        import_peer_buffer="Names the ring of the other side.",
    ),
)
"""The keywords that are no operators."""


@dataclass(slots=True)
class KeywordTable:
    """Keywords by name, in the order of the reference, with their models."""

    keywords: dict[str, Keyword]
    _models: dict[str, type[Model]] = field(default_factory=dict)

    @classmethod
    def with_ops(cls, ops: Mapping[str, OpDef]) -> KeywordTable:
        """The table of the structure's keywords and the operators `ops`."""
        keywords = {keyword.name: keyword for keyword in STRUCTURE}
        for name, defn in ops.items():
            if name in keywords and not keywords[name].reserved:
                raise ValueError(f"operator {name} has the name of a keyword")
            keywords[name] = _op_keyword(defn)
        return cls(keywords)

    def __contains__(self, name: str) -> bool:
        return name in self.keywords

    def __iter__(self) -> Iterator[Keyword]:
        return iter(self.keywords.values())

    def get(self, name: str) -> Keyword | None:
        """The keyword, or None."""
        return self.keywords.get(name)

    def names(self, plane: Plane) -> list[str]:
        """Keywords that can be used on a plane."""
        return [k.name for k in self if plane in k.planes and not k.reserved]

    def model(self, name: str) -> type[Model]:
        """The model of a keyword that is not reserved."""
        found = self._models.get(name)
        if found is None:
            factory = self.keywords[name].factory
            if factory is None:
                raise KeyError(name)
            found = self._models[name] = factory()
        return found


def _op_keyword(defn: OpDef) -> Keyword:
    return Keyword(defn.name, EXECUTION, defn.doc, lambda: op_model(defn), extras=_OP, example=defn.example)


@lru_cache(maxsize=1)
def default_table() -> KeywordTable:
    """The table of this version: all operators of the registry."""
    from pypto_spec.ops.registry import OPS  # the op families are imported when the first spec is checked

    return KeywordTable.with_ops(OPS)

"""What becomes of each matmul of a region: left as it is, cut along K where it stands, or cut where its result goes.

An output that has to be cut can be cut where the one statement that reads it takes it away: a store, or a copy into L1
that products read. Everything else that reads it sees an accumulator, which is one tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from pypto_spec.ir.expr import Index
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Condition, For, Op, Region, Stmt, TargetOptions, Value
from pypto_spec.ir.rewrite import ops
from pypto_spec.ir.types import Layout, Memory, TileType
from pypto_spec.passes.l0.choice import Choice
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.rewrite.casts import casts, feeds_products
from pypto_spec.passes.l0.rewrite.chain import Chain, chains
from pypto_spec.passes.l0.rewrite.findings import Findings
from pypto_spec.passes.l0.rewrite.grid import Tiling
from pypto_spec.passes.l0.rewrite.product import Product
from pypto_spec.passes.l0.rewrite.question import Question, tiling_of
from pypto_spec.passes.l0.rewrite.sinks import can_be_cut
from pypto_spec.passes.l0.rewrite.uses import Readers
from pypto_spec.passes.l0.rewrite.windows import Part, Window, window_of
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target

PRODUCTS = ("matmul", "matmul_acc", "matmul_bias")
"""The operators that are cut."""
_IN_L0 = (Memory.LEFT, Memory.RIGHT)
_HALF = ("fp16", "bf16")


@dataclass(frozen=True, slots=True)
class Site:
    """A product that is cut, and by which op its result leaves: None where it stays one accumulator."""

    op: Op
    product: Product
    tiling: Tiling
    leaves: Op | None = None


@dataclass(frozen=True, slots=True)
class ChainSite:
    """A chain of products whose output is cut into tiles of m x n; `blocks` of K by product."""

    chain: Chain
    m: int
    n: int
    blocks: Mapping[Op, int]


@dataclass(slots=True)
class Sites:
    """Sites by the statement in whose place they are written; `gone` are statements that are written elsewhere.

    `folded` are casts that become copies into L1.
    """

    at: dict[Op, Site | ChainSite] = field(default_factory=dict)
    gone: set[Stmt] = field(default_factory=set)
    folded: set[Op] = field(default_factory=set)


class Finder:
    """Looks at the products of one region."""

    def __init__(self, region: Region, target: Target, options: TargetOptions, findings: Findings) -> None:
        self.region = region
        self.target = target
        self.options = options
        self.findings = findings
        self.readers = Readers(region.body)
        self.sites = Sites()
        self.chained: set[Op] = set()

    def find(self) -> Sites:
        """All sites of the region."""
        for cast in casts(self.region.body):
            self._fold(cast)
        for chain in chains(self.region.body, self.readers, self.product_of, self._takes_away):
            self._chain(chain)
        for op in ops(self.region.body):
            if op.name in PRODUCTS and op not in self.chained:
                self._product(op)
        return self.sites

    def _takes_away(self, op: Op) -> bool:
        """Whether an op takes an accumulator that is larger than L0C away, in any pieces."""
        value = op.operands.get("from")
        if value is None or not isinstance(value.type, TileType) or value.type.memory is not Memory.ACC:
            return False
        if value.type.bytes <= self.target.capacity[Memory.ACC]:
            return False
        return not self._why_not_taken(value, op)

    def _chain(self, chain: Chain) -> None:
        """Cut the output of a chain; the widest product says how."""
        widest = self.question(chain.widest)
        answer = widest.answer(stages=chain.stages)
        if isinstance(answer, Refusal):
            return
        m, n = answer.winner.m, answer.winner.n
        blocks: dict[Op, int] = {}
        for op, product in chain.products.items():
            question = self.question(product)
            blocks[op] = min(answer.winner.k, question.k)
            if not (isinstance(product.depth, int) or question.k % blocks[op] == 0):
                return
        if answer.problem.is_padded:
            self.findings.padded(next(iter(chain.products)), answer)
        self.chained.update(chain.products)
        self.sites.gone.update(chain.steps)
        self.sites.at[chain.leaves] = ChainSite(chain, m, n, blocks)

    def _product(self, op: Op) -> None:
        for name in ("lhs", "rhs"):
            kind = op.operands[name].type
            assert isinstance(kind, TileType)
            if kind.memory in _IN_L0:
                self.findings.check_resident(op, name, self.target)
        product = self.product_of(op)
        if product is None or op.attrs.get("phase", "unspecified") != "unspecified":
            return
        question = self.question(product)
        answer = question.answer()
        if isinstance(answer, Refusal):
            self.findings.refused(op, answer)
            return
        if not answer.is_tiled:
            refusal = question.refusal
            if refusal is not None:
                self.findings.whole(op, refusal)
            return
        self._cut(op, question, answer)

    # -- what is multiplied ---------------------------------------------------------------------------------------

    def product_of(self, op: Op) -> Product | None:
        """The product in windows of L1, cut to the K that is there; None where an operand does not stand in L1."""
        lhs, rhs = self.window(op, "lhs"), self.window(op, "rhs")
        bias = self.window(op, "bias")
        if lhs is None or rhs is None or (bias is None and "bias" in op.operands):
            return None
        depth = lhs.valid[1]
        if isinstance(depth, int) and depth < lhs.shape[1]:
            lhs = lhs.part(Part(0, lhs.shape[0]), Part(0, depth))
            rhs = rhs.part(Part(0, depth), Part(0, rhs.shape[1]))
        init = op.attrs.get("init")
        assert init is None or isinstance(init, Condition)
        return Product(split(op.result.name)[0], lhs, rhs, bias, op.operands.get("acc"), init)

    def window(self, op: Op, name: str) -> Window | None:
        """The window that an operand is; None without one."""
        value = op.operands.get(name)
        if value is None:
            return None
        kind = value.type
        assert isinstance(kind, TileType)
        if name == "bias" and kind.memory is Memory.BIAS:
            return Window(value, 0, 0, (1, kind.cols), (1, kind.cols if kind.valid is None else kind.valid[1]))
        return window_of(value, self.readers.makers)

    def question(self, product: Product) -> Question:
        """What the chooser is asked: extents that are known, of what is there."""
        m, n, k = product.shape
        m, n = _known(product.lhs.valid[0], m), _known(product.rhs.valid[1], n)
        return Question(self.target, self.options, product, m, n, k)

    # -- how it is cut --------------------------------------------------------------------------------------------

    def _cut(self, op: Op, question: Question, choice: Choice) -> None:
        product, winner = question.product, choice.winner
        tiling = tiling_of(winner)
        if choice.problem.is_padded:
            self.findings.padded(op, choice)
        if not choice.cuts_output:
            self._along_k(op, question, tiling.k)
            return
        why = self.why_kept(op, question)
        leaves = None if why else self.readers.only(op.result)
        if leaves is not None and self._steps_evenly(op, question, tiling):
            self.sites.gone.add(op)
            self.sites.at[leaves] = Site(op, _cut_to_valid(product), tiling, leaves)
            return
        if why:
            k = question.whole_output()
            if not (k and self._is_added_to(op)):
                self.findings.output_kept(op, question, choice, why, k)
            if k:
                self._along_k(op, question, k)

    def _is_added_to(self, op: Op) -> bool:
        """Whether a product is a part of a sum, which is one tile by its nature."""
        return op.name == "matmul_acc" or any(
            isinstance(r, For) or (isinstance(r, Op) and r.operands.get("acc") is op.result)
            for r in self.readers.of(op.result)
        )

    def _along_k(self, op: Op, question: Question, k: int) -> None:
        """Cut K only, where the product stands."""
        if k >= question.k:
            return
        if isinstance(question.product.depth, int) or question.k % k == 0:
            self.sites.at[op] = Site(op, question.product, Tiling(question.m, question.n, k))
            return
        step = question.units[2]
        even = [d for d in range(step, k + 1, step) if question.k % d == 0]
        if not even:
            self.findings.uneven_k(op, question.k, k)
            return
        self.sites.at[op] = Site(op, question.product, Tiling(question.m, question.n, even[-1]))

    def _steps_evenly(self, op: Op, question: Question, tiling: Tiling) -> bool:
        """Whether extents that are known at run time only are cut into whole tiles."""
        product = question.product
        pairs = [(product.lhs.valid[0], question.m, tiling.m), (product.rhs.valid[1], question.n, tiling.n)]
        pairs.append((product.depth, question.k, tiling.k))
        if all(isinstance(valid, int) or extent % tile == 0 for valid, extent, tile in pairs):
            return True
        self.findings.uneven_k(op, question.k, tiling.k)
        return False

    def why_kept(self, op: Op, question: Question) -> str:
        """Why the output of a product cannot be cut; empty where it can."""
        if op.name == "matmul_acc":
            return "it adds to an accumulator, which is one tile"
        bias = question.product.bias
        if bias is not None and bias.kind.memory is not Memory.MAT:
            return "its bias stands in the bias table already"
        reader = self.readers.only(op.result)
        if reader is None:
            return f"its result is read {len(self.readers.of(op.result))} times"
        why = self._why_not_taken(op.result, reader, op)
        if why or self.readers.follows(op, reader):
            return why
        return f"other statements stand before its `{reader.name}`"

    def _why_not_taken(self, value: Value, reader: Op, op: Op | None = None) -> str:
        """Why an op cannot take an accumulator away in pieces; empty where it can. `op` is the product, if one is."""
        if reader.name == "store":
            if not can_be_cut(reader):
                return "its store writes rows as several axes of the tensor"
            if reader.attrs.get("phase", "unspecified") != "unspecified":
                return "the unit flag of its store is written by hand"
            return ""
        return self._why_not_in_mat(value, reader, op)

    def _why_not_in_mat(self, value: Value, reader: Op, op: Op | None) -> str:
        kind = value.type
        assert isinstance(kind, TileType)
        if reader.name in PRODUCTS:
            if reader.operands.get("acc") is value:
                return "another product adds to it, and an accumulator is one tile"
            if op is not None and kind.bytes > self.target.capacity[Memory.ACC]:
                self.findings.chained(op, kind.dtype)
            return "another product reads it as it is"
        if not self.goes_to_mat(reader):
            return f"`{reader.name}` reads it"
        made = reader.result.type
        assert isinstance(made, TileType)
        if made.dtype.name not in _HALF:
            if op is not None and kind.bytes > self.target.capacity[Memory.ACC]:
                self.findings.chained(op, made.dtype)
            return f"it goes to `mat` as {made.dtype}"
        if kind.valid is not None:
            return "only a part of it is valid, and it stays in `mat`"
        scratch = TileType(made.dtype, made.shape, Memory.MAT)
        if scratch.bytes > self.target.capacity[Memory.MAT]:
            return f"in `mat` it takes {scratch.bytes:,} B of {self.target.capacity[Memory.MAT]:,} B"
        return ""

    def goes_to_mat(self, op: Op) -> bool:
        """Whether an op copies an accumulator into L1."""
        if op in self.sites.folded:
            return True
        if op.name != "move" or op.attrs.get("layout") not in (None, Layout.NZ.value):
            return False
        memory = op.attrs.get("memory")
        return memory is Memory.MAT or (memory is None and feeds_products(self.readers, op.result))

    def _fold(self, cast: Op) -> None:
        """Take a `cast` between two products for the rounding on the way out of L0C."""
        source, target = cast.operands["x"].type, cast.result.type
        assert isinstance(source, TileType) and isinstance(target, TileType)
        mode = cast.attrs.get("mode")
        if source.dtype.name == "fp32" and target.dtype.name in _HALF and mode in (None, "rint"):
            self.sites.folded.add(cast)
        else:
            self.findings.not_folded(cast, source.dtype, str(mode))


def _known(valid: Index, extent: int) -> int:
    return valid if isinstance(valid, int) else extent


def _cut_to_valid(product: Product) -> Product:
    """The product without rows and columns that are not there, where that is known."""
    m, n, k = product.shape
    rows, cols = Part(0, _known(product.lhs.valid[0], m)), Part(0, _known(product.rhs.valid[1], n))
    bias = None if product.bias is None else product.bias.part(Part(0, 1), cols)
    return replace(product, lhs=product.lhs.part(rows, Part(0, k)), rhs=product.rhs.part(Part(0, k), cols), bias=bias)

"""What is said about matmuls that were not cut, or not as the chooser would have them."""

from __future__ import annotations

from pypto_spec.diagnostics.model import CompileError, Repair, Rule, Sink, diagnose
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.diagnostics.rules import hints
from pypto_spec.diagnostics.rules.memory import OPERAND_TOO_LARGE
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.l0.choice import Choice
from pypto_spec.passes.l0.operands import too_large
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.rewrite.question import Question
from pypto_spec.targets.model import Target


class Findings:
    """Reports, each once for a statement; `allow` are the codes that the region lets pass."""

    def __init__(self, sink: Sink, allow: frozenset[str]) -> None:
        self.sink = sink
        self.allow = allow
        self.told: set[tuple[str, object]] = set()

    def _tell(
        self,
        rule: Rule,
        op: Op,
        message: str,
        label: str,
        helps: list[str],
        figures: list[tuple[str, int | str]],
        notes: tuple[str, ...] = (),
        fixes: tuple[Repair, ...] = (),
    ) -> None:
        key = rule.code, op.loc.span.start
        if key in self.told:
            return
        self.told.add(key)
        self.sink.report(
            rule, op.loc.span, message, label=label, helps=helps, notes=notes, figures=figures,
            allow=op.allow | self.allow, fixes=fixes,
        )  # fmt: skip

    # -- left whole -----------------------------------------------------------------------------------------------

    def whole(self, op: Op, refusal: Refusal) -> None:
        """A matmul that fits as it is, and could not be cut as it is."""
        self._tell(
            all_rules()[refusal.code], op,
            f"`{op.name}` is not cut for L0: {refusal.text}",
            "stays one product, which fits as it is",
            [refusal.help],
            _extents(op),
        )  # fmt: skip

    def refused(self, op: Op, refusal: Refusal) -> None:
        """A matmul that does not fit and cannot be cut."""
        self._tell(
            all_rules()[refusal.code], op,
            f"`{op.name}` is not cut for L0: {refusal.text}",
            "stays one product, which does not fit",
            [refusal.help],
            _extents(op),
        )  # fmt: skip

    def padded(self, op: Op, choice: Choice) -> None:
        """A matmul that is cut as if it were larger."""
        problem, winner = choice.problem, choice.winner
        pairs = [(n, a, b) for n, a, b in zip("MNK", problem.asked, problem.shape, strict=True) if a != b]
        odd = " and ".join(f"{name} {asked} counts as {counted}" for name, asked, counted in pairs)
        wanted = " and ".join(f"{name} {counted}" for name, _, counted in pairs)
        self._tell(
            hints.TILE_PADDED, op,
            f"`{op.name}` is cut into tiles of {_tile(winner.tile)} as if it were larger: {odd}",
            f"{_waste(problem.asked, problem.shape)} of the cube's work is on what is not there",
            [f"let it be {wanted}, with real data in it, or give the rest to another product"],
            [*_extents(op), ("m", winner.m), ("n", winner.n), ("k", winner.k)],
        )  # fmt: skip

    def output_kept(self, op: Op, question: Question, choice: Choice, why: str, deepest: int) -> None:
        """An output that would be cut, and is not."""
        winner = choice.winner
        name = split(op.result.name)[0]
        instead = (
            f"the output stays one tile, and K is cut into blocks of {deepest}"
            if 0 < deepest < question.k
            else "the output stays one tile"
        )
        self._tell(
            hints.OUTPUT_KEPT, op,
            f"the output [{question.m}, {question.n}] of `{op.name}` is not cut into tiles of {_tile(winner.tile)}: "
            f"{why}",
            instead,
            [
                f"let one `store` right behind it be all that reads `{name}`, or one "
                f"`move: {{into: ..., from: {name}, memory: mat, dtype: fp16}}` for the next product",
                f"or make its output at most [{winner.m}, {winner.n}]",
            ],
            [*_extents(op), ("m", winner.m), ("n", winner.n), ("k", winner.k), ("instead_k", deepest)],
        )  # fmt: skip

    def uneven_k(self, op: Op, extent: int, block: int) -> None:
        """A K known at run time only that the blocks do not divide."""
        self._tell(
            hints.K_UNALIGNED, op,
            f"`{op.name}` is not cut for L0: how much of K is there is known at run time only, and blocks of {block} "
            f"do not divide its {extent}",
            "stays one product",
            [f"load tiles of a K that {block} divides, such as {-(-extent // block) * block}"],
            [*_extents(op), ("k", block)],
        )  # fmt: skip

    # -- chains ---------------------------------------------------------------------------------------------------

    def chained(self, op: Op, dtype: DType) -> None:
        """A product that another one reads, too large for L0C, that cannot wait in L1."""
        name = split(op.result.name)[0]
        self._tell(
            hints.CHAIN_DTYPE, op,
            f"`{name}` {_shape(op)} is larger than L0C in one piece, and the next product reads it as {dtype}: pieces "
            "come back to `mat` as fp16 or bf16 only",
            f"{dtype} cannot wait in `mat`",
            [
                f"round it on the way: `- move: {{into: {name}_l1, from: {name}, memory: mat, dtype: bf16}}`, and let "
                f"the next product read `{name}_l1`",
                "or store it to a tensor, and load that for the next product",
            ],
            [*_extents(op), ("dtype", dtype.name)],
        )  # fmt: skip
        self.sink.stop_on_errors()

    def not_folded(self, cast: Op, source: DType, mode: str) -> None:
        """A cast between two products that the way out of L0C does not do."""
        found = f"it rounds by `{mode}`" if source.name == "fp32" else f"it starts from {source}"
        rounded = Repair("set", cast.loc.field("mode"), ("mode",), "rint", title="write `mode: rint`")
        ways = (rounded,) if source.name == "fp32" else ()
        self._tell(
            hints.CAST_NOT_FOLDED, cast,
            f"the `cast` between two products is not done on the way out of L0C: {found}; there is fp32 to fp16 or "
            "bf16 by `rint`",
            "the cube has no other way to do it",
            ["write `mode: rint`, or leave `mode` out" if source.name == "fp32" else
             "store it with `quant` to a tensor, and load that for the next product"],
            [("mode", mode), ("dtype", source.name)],
            fixes=ways,
        )  # fmt: skip
        self.sink.stop_on_errors()

    # -- operands in L0 -------------------------------------------------------------------------------------------

    def check_resident(self, op: Op, field: str, target: Target) -> None:
        """Refuse an operand put into L0 by hand that is larger than its memory."""
        value = op.operands[field]
        kind = value.type
        assert isinstance(kind, TileType) and kind.memory is not None
        found = too_large(target, kind)
        if found is None:
            return
        name, memory = split(value.name)[0], kind.memory
        axes = "[rows, k]" if memory is Memory.LEFT else "[k, columns]"
        raise CompileError([
            diagnose(
                OPERAND_TOO_LARGE,
                op.loc.field(field),
                f"`{name}`, {kind} in `{memory.value}`, needs {found.needed:,} B; {memory.value} has "
                f"{found.available:,} B",
                label=f"{found.needed - found.available:,} B too much",
                helps=[
                    f"leave it in `mat`: load it there, and let `{op.name}` read that; it is cut into blocks that fit",
                    f"or multiply blocks {axes} of K {found.k} in a loop, with `matmul_acc`"
                    if found.k
                    else "or use smaller tiles: not even the smallest block of K fits",
                ],
                figures=[("needed", found.needed), ("available", found.available), ("k", found.k)],
            )
        ])  # fmt: skip


def _tile(tile: tuple[int, int, int]) -> str:
    return " x ".join(map(str, tile))


def _shape(op: Op) -> str:
    kind = op.result.type
    assert isinstance(kind, TileType)
    return f"[{', '.join(map(str, kind.shape))}]"


def _extents(op: Op) -> list[tuple[str, int | str]]:
    lhs, rhs = op.operands["lhs"].type, op.operands["rhs"].type
    assert isinstance(lhs, TileType) and isinstance(rhs, TileType)
    return [("M", lhs.rows), ("N", rhs.cols), ("K", lhs.cols)]


def _waste(asked: tuple[int, int, int], counted: tuple[int, int, int]) -> str:
    real = asked[0] * asked[1] * asked[2]
    all_ = counted[0] * counted[1] * counted[2]
    return f"{100 * (all_ - real) / all_:.0f} %"

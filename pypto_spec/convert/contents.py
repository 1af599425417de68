"""What tensors hold when they are used: nothing is in an output or a created tensor before a launch has written it.

The launches are walked in their order. What one of them may have written counts as written: what is reported here is
certain, and errors. Elements are not told apart; a golden runs with undefined contents and sees the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.convert.context import Reading
from pypto_spec.convert.scope import span_of
from pypto_spec.diagnostics.model import Label, Repair, accessed
from pypto_spec.diagnostics.rules.cores import NOTHING_TO_ADD_TO
from pypto_spec.diagnostics.rules.names import UNDEFINED_CONTENTS, UNUSED_VALUE
from pypto_spec.diagnostics.rules.shapes import WRONG_ACCESS
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.nodes import Branch, Control, Grid, If, Loop, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Access, TensorType
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a tensor: `role` says how, `sure` that no `if` is around it in its region."""

    tensor: Value
    role: str
    op: Op
    field: str
    sure: bool


def uses_in(body: Sequence[Stmt], sure: bool = True) -> Iterator[Use]:
    """The uses of tensors by a region, in the order of the text; an op reads before it writes."""
    for stmt in body:
        if isinstance(stmt, If):
            yield from uses_in(stmt.then, False)
            yield from uses_in(stmt.other, False)
        elif isinstance(stmt, Op):
            target = stmt.operands.get("to") if stmt.defn.effects == "writes_gm" else None
            for name, value in stmt.operands.items():
                if isinstance(value.type, TensorType) and value is not target:
                    yield Use(value, "shows" if stmt.defn.effects == "shows" else "reads", stmt, name, sure)
            if target is not None:
                yield Use(target, "adds" if is_atomic(stmt) else "writes", stmt, "to", sure)
        else:
            yield from uses_in(getattr(stmt, "body", ()), sure)


def is_atomic(op: Op) -> bool:
    """Whether a store adds to what is there."""
    return op.attrs.get("atomic", "none") == "add"


def check_tensors(program: Program, reading: Reading) -> None:
    """Report tensors that are read, or added to, before anything was written to them; warn of what nobody reads."""
    _Walk(program, reading).walk(program.body, set(), None)
    if reading.dump is None:
        for tensor in program.created:
            _unused(program, tensor, reading)


def report_early(reading: Reading, *, ordered: bool) -> None:
    """Report early reads of a program that has errors anyway; not where `after` may put a writer before them."""
    for read in reading.early if not ordered else ():
        value = next((n.value for n in reading.scope if n.text == read.tensor and n.value is not None), None)
        if value is not None:
            _undefined(reading, value, span_of(read.place), None)


class _Walk:
    def __init__(self, program: Program, reading: Reading) -> None:
        self.program = program
        self.reading = reading
        self.created = set(program.created)
        self.writers: dict[Value, list[tuple[Region, Use]]] = {}
        for region in regions(program.body):
            for use in uses_in(region.body):
                if use.role == "writes":
                    self.writers.setdefault(use.tensor, []).append((region, use))

    def walk(self, body: Sequence[Control], filled: set[Value], grid: Grid | None) -> None:
        """Go through launches; `filled` grows by what they write."""
        for node in body:
            if isinstance(node, Region):
                self.region(node, filled, grid)
            elif isinstance(node, Branch):
                other = set(filled)
                self.walk(node.then, filled, grid)
                self.walk(node.other, other, grid)
                filled |= other
            elif isinstance(node, Loop):
                # An iteration may use what an earlier one wrote.
                filled |= {u.tensor for r in regions(node.body) for u in uses_in(r.body) if u.role == "writes"}
                self.walk(node.body, filled, grid)
            else:
                self.walk(node.body, filled, node)

    def region(self, region: Region, filled: set[Value], grid: Grid | None) -> None:
        """One launch."""
        uses = [use for use in uses_in(region.body) if self.starts_undefined(use.tensor)]
        written = {use.tensor for use in uses if use.role != "reads" and use.role != "shows"}
        told: set[Value] = set()
        early = {read.tensor: read.place for read in reversed(self.reading.early) if read.region == region.name}
        for use in uses:
            if use.tensor in filled or use.tensor in told:
                continue
            if use.tensor.name in early:
                self.undefined(use.tensor, span_of(early[use.tensor.name]), region)
                told.add(use.tensor)
            elif self.reading.dump is not None:
                continue
            elif use.role in ("reads", "shows") and use.tensor not in written:
                self.undefined(use.tensor, use.op.loc.field(use.field), region)
                told.add(use.tensor)
            elif use.role == "adds" and not self.prepared(use, uses, grid, region):
                self.nothing_to_add_to(region, use, uses)
                told.add(use.tensor)
        filled |= written

    def starts_undefined(self, tensor: Value) -> bool:
        """Whether nothing is in a tensor when the program starts."""
        kind = tensor.type
        return tensor in self.created or (isinstance(kind, TensorType) and kind.access is Access.OUT)

    def undefined(self, tensor: Value, span: Span, region: Region) -> None:
        """A read of what nobody wrote."""
        later = (found for found in self.writers.get(tensor, ()) if found[0] is not region)
        _undefined(self.reading, tensor, span, next(later, None))

    # Sums

    def prepared(self, add: Use, uses: Sequence[Use], grid: Grid | None, region: Region) -> bool:
        """Whether the launch itself has written the tensor before it adds to it.

        What stands under an `if` is done by some blocks only, and nothing orders the others behind them.
        """
        several = grid is not None and grid.count != 1
        several = several or region.blocks not in (None, 1)
        before = uses[: uses.index(add)]
        return any(use.tensor is add.tensor and use.role == "writes" and (use.sure or not several) for use in before)

    def nothing_to_add_to(self, region: Region, add: Use, uses: Sequence[Use]) -> None:
        """An atomic add to undefined contents."""
        name, loc = add.tensor.name, add.op.loc
        here = [use for use in uses if use.tensor is add.tensor and use.role == "writes"]
        elsewhere = [(r, use) for r, use in self.writers.get(add.tensor, ()) if r is not region]
        why, labels = "nothing was stored to it before", []
        helps = [_zeroing(add.tensor)]
        if elsewhere:
            other, use = elsewhere[0]
            why = f"region `{other.name}`, which stores to it, runs later"
            labels = [Label(use.op.loc.span, f"region `{other.name}` stores to it")]
            helps = [
                f"write `after: [{_called(other)}]` beside region `{region.name}`, or move region `{other.name}` in "
                "front of it"
            ]
        elif here and uses.index(here[0]) < uses.index(add):
            why = "its other blocks do not wait for the one that stores to it"
            labels = [Label(here[0].op.loc.span, "not every block comes here")]
        elif here:
            labels = [Label(here[0].op.loc.span, "stored to only here, behind it")]
        fixes: list[Repair] = []
        if add.tensor not in self.created:
            fixes.append(accessed(name, "inout"))
            helps.append("or declare it as `access: inout`, if the sum is to be added to what the caller put into it")
        self.reading.sink.report(
            NOTHING_TO_ADD_TO, loc.field("to"), f"region `{region.name}` adds to `{name}`, and {why}",
            label="adds to undefined contents", secondary=labels, helps=helps, fixes=fixes,
        )  # fmt: skip


def _called(region: Region) -> str:
    """The name of a launch for `after`."""
    return region.alias or region.name


def _zeroing(tensor: Value) -> str:
    kind = tensor.type
    assert isinstance(kind, TensorType)
    if not all(isinstance(n, int) for n in kind.shape):
        return f"store zeros to all of `{tensor.name}` in a region of its own before this one, tile by tile"
    formula = f"let: {tensor.name} = full([{', '.join(map(str, kind.shape))}], 0, dtype={kind.dtype})"
    return f"zero it in a region of its own before this one, whose body is `{formula}`"


def _undefined(reading: Reading, tensor: Value, span: Span, writer: tuple[Region, Use] | None) -> None:
    """Report a read of a tensor before anything was stored to it; `writer` is a store that runs later."""
    rule, name = WRONG_ACCESS, tensor.name
    helps = ["store to it first, or give it `access: inout` if it comes with values"]
    fixes = [accessed(name, "inout")]
    if tensor in reading.created:
        rule, fixes = UNDEFINED_CONTENTS, []
        helps = [f"store to `{name}` before, in this region or in one that runs before it"]
    labels: list[Label] = []
    if writer is not None:
        region, use = writer
        labels = [Label(use.op.loc.span, f"region `{region.name}` stores to it, and runs later")]
        helps.append(f"or let this region wait for the other one: `after: [{_called(region)}]`")
    reading.sink.report(
        rule, span, f"`{name}` is read before anything was stored to it",
        label="nothing is in it yet", secondary=labels, helps=helps, fixes=fixes,
    )  # fmt: skip


def _unused(program: Program, tensor: Value, reading: Reading) -> None:
    """Warn of a created tensor that no region reads."""
    found = {use.role for region in regions(program.body) for use in uses_in(region.body) if use.tensor is tensor}
    if "reads" in found:
        return
    loc = program.tensor_locs[tensor.name]
    what = "stored to and never read" if found - {"shows"} else "never used"
    reading.sink.report(
        UNUSED_VALUE, loc.span, f"`{tensor.name}` is created and {what}",
        label="no region reads it", allow=reading.created[tensor],
        helps=["remove it, or `load` it in a region behind the one that stores to it"],
        fixes=[Repair("remove", loc.span, safe=True, title=f"remove `{tensor.name}`")] if not found else [],
    )  # fmt: skip

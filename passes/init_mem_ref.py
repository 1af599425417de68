"""InitMemRef: every tile gets a buffer of its own.

A tile's buffer is as large as its padded form on chip; a view (slice, reshape) lives in its input's buffer, what an op
changes in place (`assemble`) in that operand's, of which a copy is made (`move`) where it is still needed, a carried
value in the buffer of its initial value (if that is not needed again), and the scratch an op's recipe asks for gets
buffers too. Tiles that the author bound to a buffer stay there; a buffer that nothing is bound to any more goes. What
shares memory is decided later, by MemoryReuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.ir.expr import add
from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import BufferRef, For, If, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, ops, regions, with_parts
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.view import view_offset
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.making import make
from pypto_spec.passes.memory.buffers import BufferPool
from pypto_spec.passes.memory.lifetimes import Lifetimes, scratch_bytes
from pypto_spec.passes.memory.no_copy import can_copy, still_needed
from pypto_spec.passes.memory.takeover import Takeovers
from pypto_spec.passes.memory.uses import Uses


class _Initialiser(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.precision = program.target.precision
        self.pool = BufferPool(program)
        self.sizes: dict[str, int] = {}
        self.names: Names | None = None
        self.takeovers: Takeovers | None = None
        self.uses: Uses | None = None

    def region(self, region: Region) -> Region:
        self.uses = Uses(region.body)
        if any(op.defn.reuses is not None for op in ops(region.body)):
            self.names, self.takeovers = Names.of(region), Takeovers(region.body)
        return super().region(region)

    def measure(self, ref: BufferRef, kind: TileType) -> None:
        """Note how large a written buffer has to be for a tile."""
        self.sizes[ref.buffer] = max(self.sizes.get(ref.buffer, 0), kind.bytes)

    def place(self, value: Value, op: Op) -> Value:
        """The result value with its buffer."""
        kind = value.type
        if not isinstance(kind, TileType):
            return value
        if value.buffer is not None:
            self.measure(value.buffer, kind)
            return value
        if op.defn.role == "view":
            source = next(iter(op.operands.values()))
            assert source.buffer is not None
            return self.bind(value, replace(value, buffer=view_ref(op, source)))
        if op.defn.reuses is not None:
            return self.bind(value, replace(value, buffer=op.operands[op.defn.reuses].buffer))
        assert kind.memory is not None
        return self.bind(value, replace(value, buffer=self.pool.fresh(kind.memory, kind.bytes, op.loc)))

    def kept(self, op: Op) -> Op | None:
        """The copy of the operand that an op changes in place, where it is needed unchanged or stands elsewhere."""
        field = op.defn.reuses
        if field is None:
            return None
        assert self.names is not None and self.takeovers is not None
        source, home = op.operands[field], op.result.buffer
        if home == source.buffer if home is not None else op.result not in self.takeovers:
            return None
        kind = source.type
        assert isinstance(kind, TileType) and kind.memory is not None
        if not can_copy(kind.memory):
            raise still_needed(op, field, self.takeovers.reader(op.result))
        name = self.names.fresh(split(source.name)[0])
        copy = make("move", {"from": source}, {"memory": kind.memory}, op.loc, into=name, like=source)
        return replace(copy, results=(self.place(replace(copy.result, buffer=home), copy),))

    def op(self, op: Op) -> Sequence[Stmt]:
        copy = self.kept(op)
        if copy is not None:
            assert op.defn.reuses is not None
            made = replace(op, operands={**op.operands, op.defn.reuses: copy.result})
            return (copy, *self.placed(made))
        return self.placed(op)

    def placed(self, op: Op) -> Sequence[Stmt]:
        """The op with buffers for its results and scratch."""
        results = tuple(self.place(v, op) for v in op.results)
        made = op if all(a is b for a, b in zip(results, op.results, strict=True)) else with_parts(op, results=results)
        if not made.scratch and made.instrs is None:
            memory = next((v.type.memory for v in made.operands.values() if isinstance(v.type, TileType)), Memory.VEC)
            sizes = scratch_bytes(made, self.precision)
            if sizes:
                scratch = tuple(self.pool.fresh(memory or Memory.VEC, size, made.loc) for size in sizes)
                made = with_parts(made, scratch=scratch)
        return (made,)

    def loop(self, loop: For) -> Sequence[Stmt]:
        assert self.uses is not None
        seen: set[Value] = set()
        for carry in loop.carries:
            init, owner = self.use(carry.init), self.uses.owner(carry.init)
            home = init.buffer
            if home is None or not isinstance(init.type, TileType):
                continue
            if carry.arg.buffer is not None:
                home = carry.arg.buffer
                self.measure(home, init.type)
            elif owner in seen or self.uses.needed(carry.init, loop):
                assert init.type.memory is not None
                home = self.pool.fresh(init.type.memory, replace(init.type, pitch=None).bytes, loop.loc)
            seen.add(owner)
            for value in (carry.arg, carry.result):
                if value.buffer is None:
                    self.bind(value, replace(value, buffer=home))
        return super().loop(loop)

    def branch(self, branch: If) -> Sequence[Stmt]:
        (made,) = super().branch(branch)
        assert isinstance(made, If)
        phis = tuple(self._phi(p, made, old) for p, old in zip(made.phis, branch.phis, strict=True))
        return (made if all(a is b for a, b in zip(phis, made.phis, strict=True)) else replace(made, phis=phis),)

    def _phi(self, phi: Phi, branch: If, old: Phi) -> Phi:
        kind = phi.result.type
        if not isinstance(kind, TileType):
            return phi
        if phi.result.buffer is not None:
            self.measure(phi.result.buffer, kind)
            return phi
        assert kind.memory is not None
        assert self.uses is not None
        home = phi.then.buffer
        # One value of which an arm has changed a part, or none has, stays where it is.
        if home is None or home != phi.other.buffer or self.uses.owner(old.then) is not self.uses.owner(old.other):
            home = self.pool.fresh(kind.memory, kind.bytes, branch.loc)
        result = replace(phi.result, buffer=home)
        return Phi(self.bind(phi.result, result), phi.then, phi.other)


def view_ref(op: Op, source: Value) -> BufferRef:
    """Where the result of a view op lives: in its input's buffer, `at` rows and columns in."""
    assert source.buffer is not None
    return replace(source.buffer, offset=add(source.buffer.offset, view_offset(op)))


def run(program: Program, context: Context) -> Program:
    """Give every tile and every scratch area a buffer."""
    initialiser = _Initialiser(program)
    made = initialiser.program(program)
    buffers = tuple(
        replace(b, bytes=initialiser.sizes[b.name]) if b.bytes is None and b.name in initialiser.sizes else b
        for b in initialiser.pool.buffers
    )
    if any(b.owner == "author" for b in buffers):
        used = {name for region in regions(made.body) for name in Lifetimes(region.body).of}
        buffers = tuple(b for b in buffers if b.name in used)
    if made is program and buffers == program.buffers:
        return program
    return replace(made, buffers=buffers)


INIT_MEM_REF = Pass(
    name="InitMemRef",
    run=run,
    requires=frozenset({Property.TILE_MEMORY_INFERRED, Property.TILE_OPS_2D}),
    produces=frozenset({Property.HAS_MEM_REFS}),
    doc=__doc__,
)

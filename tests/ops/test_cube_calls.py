"""The calls of the cube: bytes against every address worked out one by one, limits, grids and amounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, DType
from pypto_spec.ir.expr import Sym, mul, sym
from pypto_spec.ir.instr import Arg, Instr, Ref, Region, Struct, Word
from pypto_spec.ir.nodes import Condition
from pypto_spec.ir.types import Memory
from pypto_spec.ops.amounts import amounts
from pypto_spec.ops.decoding import InstructionError
from pypto_spec.ops.instructions import decode, effect, effects, form_of, validate

Types = dict[str, DType]
Bytes = set[tuple[str, int]]
N = Sym("n", "dim", 0, 48)


def types(found: Types) -> Callable[[Ref], DType]:
    return lambda ref: ref.dtype or found[ref.name]


def into(memory: Memory) -> Callable[[Ref], Memory]:
    return lambda ref: memory


def spread(regions: Iterable[Region], *, write: bool) -> Bytes:
    found: Bytes = set()
    for region in regions:
        if region.write == write:
            assert isinstance(region.base, int)
            starts = [region.base]
            for count, stride in region.steps:
                starts = [s + k * stride for s in starts for k in range(count)]
            found |= {(region.operand, s + b) for s in starts for b in range(region.width)}
    return found


def run(name: str, start: int, count: int) -> Bytes:
    return {(name, start + b) for b in range(count)}


# --- into L1 --------------------------------------------------------------------------------------------------------


def nz(*values: Arg) -> Instr:
    return Instr("DataCopy", (Ref("into"), Ref("from"), Struct("Nd2NzParams", values)))


@pytest.mark.parametrize("dtype", [FP16, FP32, INT8])
def test_nd_to_nz(dtype: DType) -> None:
    """20 rows of 37 columns in a tensor 50 wide, as blocks of 32 rows."""
    instr = nz(1, 20, 37, 0, 50, 32, 1, 0)
    made = effect(instr, types({"into": dtype, "from": dtype}))
    block = 32 // dtype.bytes
    reads: Bytes = set()
    writes: Bytes = set()
    for row in range(20):
        reads |= run("from", row * 50 * dtype.bytes, 37 * dtype.bytes)
        for column in range(-(-37 // block)):
            writes |= run("into", column * 32 * 32 + row * 32, 32)
    assert made.pipe == "mte2"
    assert spread(made.regions, write=False) == reads
    assert spread(made.regions, write=True) == writes
    assert amounts(instr, types({"into": dtype, "from": dtype})) == (740, 740 * dtype.bytes, 20)


def test_several_matrices_at_once() -> None:
    made = effect(nz(3, 2, 16, 320, 16, 16, 1, 512), types({"into": FP16, "from": FP16}))
    reads: Bytes = set().union(*(run("from", m * 640 + r * 32, 32) for m in range(3) for r in range(2)))
    writes: Bytes = set().union(*(run("into", m * 1024 + r * 32, 32) for m in range(3) for r in range(2)))
    assert spread(made.regions, write=False) == reads
    assert spread(made.regions, write=True) == writes


def test_rows_known_at_run_time_stand_for_all_of_them() -> None:
    dtypes = types({"into": FP16, "from": FP16})
    assert effect(nz(1, sym(N), 32, 0, 64, 48, 1, 0), dtypes) == effect(nz(1, 48, 32, 0, 64, 48, 1, 0), dtypes)
    validate(nz(1, sym(N), 32, 0, 64, 48, 1, 0), dtypes)


# --- from L1 --------------------------------------------------------------------------------------------------------


def load(*values: Arg) -> Instr:
    return Instr("LoadData", (Ref("into"), Ref("x"), Struct("MatrixParams", values)))


def window(rows: int, row: int, col: int, count_rows: int, count_cols: int, size: int) -> Bytes:
    """The bytes of a window of an NZ matrix, element by element."""
    block = 32 // size
    found: Bytes = set()
    for r in range(row, row + count_rows):
        for c in range(col, col + -(-count_cols // block) * block):
            found |= run("x", (c // block) * rows * 32 + r * 32 + (c % block) * size, size)
    return found


@pytest.mark.parametrize("dtype", [FP16, BF16, FP32, INT8])
def test_a_window_to_l0a(dtype: DType) -> None:
    block = 32 // dtype.bytes
    instr = load(48, 4 * block, 16, block, 32, 2 * block, False)
    made = effect(instr, types({"into": dtype, "x": dtype}), into(Memory.LEFT))
    assert made.pipe == "mte1"
    assert spread(made.regions, write=False) == window(48, 16, block, 32, 2 * block, dtype.bytes)
    assert spread(made.regions, write=True) == run("into", 0, 2 * 2 * 512)
    assert amounts(instr, types({"into": dtype, "x": dtype}), into(Memory.LEFT)) == (2048 // dtype.bytes, 2048, 4)


@pytest.mark.parametrize(("side", "memory"), [("left", Memory.LEFT), ("right", Memory.RIGHT)])
def test_a_window_is_transposed(side: str, memory: Memory) -> None:
    instr = load(64, 48, 0, 16, 32, 32, side == "left")
    made = effect(instr, types({"into": FP16, "x": FP16}), into(memory))
    assert form_of(instr, into(memory)) == f"LoadData.{side}"
    assert spread(made.regions, write=False) == window(64, 0, 16, 32, 32, 2)
    assert spread(made.regions, write=True) == run("into", 0, 4 * 512)


@pytest.mark.parametrize("cols", [8, 16, 24, 40])
def test_squares_of_fp32_at_l0a(cols: int) -> None:
    """24 rows become K, padded to 32 in slices of 8; of a last square of 8 columns only its 8 rows are written."""
    made = effect(load(32, cols, 0, 0, 24, cols, True), types({"into": FP32, "x": FP32}), into(Memory.LEFT))
    writes: Bytes = set()
    for m in range(cols):
        for k in range(32):
            fractal = (m // 16) * 4 + k // 8
            writes |= run("into", fractal * 512 + (m % 16) * 32 + (k % 8) * 4, 4)
    assert spread(made.regions, write=True) == writes


@pytest.mark.parametrize("cols", [8, 16, 24, 40])
def test_squares_of_fp32_at_l0b(cols: int) -> None:
    """Slices of 8 along K, in each the columns one behind the other, padded to 16."""
    instr = load(32, cols, 0, 0, 24, cols, False)
    made = effect(instr, types({"into": FP32, "x": FP32}), into(Memory.RIGHT))
    writes: Bytes = set()
    pitch = -(-cols // 16) * 16
    for k in range(32):
        for n in range(cols):
            writes |= run("into", (k // 8) * pitch * 32 + n * 32 + (k % 8) * 4, 4)
    assert spread(made.regions, write=True) == writes
    found = amounts(instr, types({"into": FP32, "x": FP32}), into(Memory.RIGHT))
    assert found == (pitch * 32, pitch * 32 * 4, 4 * pitch // 16)


def test_where_a_window_starts_may_depend_on_a_loop() -> None:
    k = Sym("k", "loop", 0, 3)
    made = effect(load(64, 64, 0, mul(sym(k), 16), 64, 16, False), types({"into": FP16, "x": FP16}), into(Memory.LEFT))
    (read,) = (r for r in made.regions if not r.write)
    assert (read.base, read.width, read.steps) == (mul(sym(k), 64 * 32), 64 * 32, ())


def test_whole_fractals() -> None:
    params = Struct("LoadData2DParams", (3, 4, 2, 0, 1, False, 0))
    instr = Instr("LoadData", (Ref("into", 256), Ref("x"), params))
    made = effect(instr, types({"into": FP16, "x": FP16}), into(Memory.RIGHT))
    assert spread(made.regions, write=False) == set().union(*(run("x", (3 + 2 * k) * 512, 512) for k in range(4)))
    assert spread(made.regions, write=True) == set().union(*(run("into", 512 + k * 1024, 512) for k in range(4)))
    assert amounts(instr, types({"into": FP16, "x": FP16}), into(Memory.RIGHT)) == (1024, 2048, 4)


@pytest.mark.parametrize(("dtype", "parts"), [(FP16, 1), (INT8, 2), (FP32, 2)])
def test_squares_with_gaps(dtype: DType, parts: int) -> None:
    gap = 0 if parts == 1 else 2
    params = Struct("LoadData2dTransposeParams", (1, 3, 2, 0, gap))
    instr = Instr("LoadDataWithTranspose", (Ref("into"), Ref("x"), params))
    made = effect(instr, types({"into": dtype, "x": dtype}), into(Memory.RIGHT))
    square = parts * 512
    reads: Bytes = set().union(*(run("x", (1 + 2 * k) * square, square) for k in range(3)))
    writes: Bytes = set().union(
        *(run("into", k * 512 + part * (gap + 1) * 512, 512) for k in range(3) for part in range(parts))
    )
    assert spread(made.regions, write=False) == reads
    assert spread(made.regions, write=True) == writes
    assert amounts(instr, types({"into": dtype, "x": dtype}), into(Memory.RIGHT)) == (
        3 * square // dtype.bytes, 3 * square, 3 * parts,
    )  # fmt: skip


@pytest.mark.parametrize(("have", "want", "wide"), [(FP32, FP32, 128), (INT32, INT32, 128), (FP16, FP32, 256)])
def test_a_bias(have: DType, want: DType, wide: int) -> None:
    instr = Instr("DataCopy", (Ref("into"), Ref("x"), Struct("DataCopyParams", (2, 2, 1, 1))))
    dtypes, memory = types({"into": want, "x": have}), into(Memory.BIAS)
    made = effect(instr, dtypes, memory)
    assert made.pipe == "mte1"
    assert spread(made.regions, write=False) == run("x", 0, 128) | run("x", 160, 128)
    assert spread(made.regions, write=True) == run("into", 0, wide) | run("into", wide + 64, wide)
    assert amounts(instr, dtypes, memory) == (256 // have.bytes, 256, 2)
    assert effect(instr, dtypes, into(Memory.VEC)).pipe == "v"


# --- on L0C ---------------------------------------------------------------------------------------------------------


def mmad(*values: Arg, bias: bool = False, params: str = "MmadParams") -> Instr:
    more = (Ref("bias"),) if bias else ()
    return Instr("Mmad", (Ref("into"), Ref("lhs"), Ref("rhs"), *more, Struct(params, values)))


HALVES = types({"into": FP32, "lhs": FP16, "rhs": FP16, "bias": FP32})
FLOATS = types({"into": FP32, "lhs": FP32, "rhs": FP32, "bias": FP32})


def test_mmad_from_zero_does_not_read_its_result() -> None:
    made = effect(mmad(20, 40, 24, 0, False, True), HALVES)
    assert made.pipe == "m"
    assert spread(made.regions, write=True) == run("into", 0, 2 * 3 * 1024)
    assert spread(made.regions, write=False) == run("lhs", 0, 2 * 2 * 512) | run("rhs", 0, 2 * 3 * 512)
    assert amounts(mmad(20, 40, 24, 0, False, True), HALVES) == (20 * 40 * 24, 0, 2 * 3 * 2)
    assert amounts(mmad(20, 40, 24, 0, False, True), FLOATS) == (20 * 40 * 24, 0, 2 * 3 * 3 * 2)


@pytest.mark.parametrize("init", [False, Condition("==", sym(N), 0)])
def test_mmad_reads_what_it_adds_to(init: Arg) -> None:
    made = effect(mmad(16, 16, 16, 0, False, init), HALVES)
    assert run("into", 0, 1024) <= spread(made.regions, write=False)


def test_a_bias_stands_in_for_the_accumulator() -> None:
    made = effect(mmad(16, 40, 16, 0, True, False, bias=True), HALVES)
    assert spread(made.regions, write=False) == run("lhs", 0, 512) | run("rhs", 0, 3 * 512) | run("bias", 0, 3 * 64)


def test_gemv_reads_a_row() -> None:
    made = effect(mmad(1, 32, 300, 0, False, True), HALVES)
    assert spread(made.regions, write=False) == run("lhs", 0, 1024) | run("rhs", 0, 19 * 2 * 512)


def test_operands_padded_along_k() -> None:
    """K is 36: five slices of 8 are read, of rows of six."""
    made = effect(mmad(32, 16, 36, 0, False, True, params="AlignedMmadParams"), FLOATS)
    lhs = run("lhs", 0, 5 * 512) | run("lhs", 6 * 512, 5 * 512)
    assert spread(made.regions, write=False) == lhs | run("rhs", 0, 5 * 512)


@pytest.mark.parametrize(
    ("m", "n", "ordered"), [(16, 160, {"m"}), (80, 32, {"m"}), (79, 32, set()), (16, 144, set()), (1, 4095, set())]
)
def test_large_tiles_are_ordered_among_mmads(m: int, n: int, ordered: set[str]) -> None:
    (result, *_) = effect(mmad(m, n, 16, 0, False, True), HALVES).regions
    assert result.ordered == ordered


def test_tiles_of_unknown_size_are_ordered_if_the_least_is_large() -> None:
    low = Sym("r", "dim", 160, 320)
    (result, *_) = effect(mmad(sym(low), 16, 16, 0, False, True), HALVES).regions
    assert result.ordered == {"m"}
    (result, *_) = effect(mmad(sym(N), 320, 16, 0, False, True), HALVES).regions
    assert result.ordered == set()


# --- from L0C -------------------------------------------------------------------------------------------------------


def fixpipe(*values: Arg, gm: bool = True, quant: str = "NoQuant", factors: bool = False, unit: Arg = 0) -> Instr:
    n, m, src, dst = values
    params = Struct("FixpipeParamsV220", (n, m, src, dst, False, Word(f"QuantMode_t::{quant}"), 0, 1, 0, 0, unit))
    form = ("T", "U", "CFG_ROW_MAJOR" if gm else "CFG_NZ")
    return Instr("Fixpipe", (Ref("to" if gm else "into"), Ref("x"), *([Ref("quant")] if factors else []), params), form)


def test_rows_to_gm() -> None:
    instr = fixpipe(40, 20, 32, 100, quant="F322F16")
    dtypes = types({"to": FP16, "x": FP32})
    made = effect(instr, dtypes)
    assert (made.pipe, made.fenced) == ("fix", True)
    assert spread(made.regions, write=True) == set().union(*(run("to", row * 200, 80) for row in range(20)))
    assert spread(made.regions, write=False) == set().union(*(run("x", c * 32 * 64, 20 * 64) for c in range(3)))
    assert amounts(instr, dtypes) == (800, 3200, 20)


def test_blocks_to_l1() -> None:
    instr = fixpipe(48, 20, 32, 64, gm=False, quant="F322F16")
    made = effect(instr, types({"into": FP16, "x": FP32}))
    assert spread(made.regions, write=True) == set().union(*(run("into", c * 64 * 32, 20 * 32) for c in range(3)))
    assert not made.fenced
    assert form_of(instr) == "Fixpipe.mat"


def test_factors_are_read_by_128_bytes() -> None:
    made = effect(fixpipe(48, 16, 16, 48, quant="VREQ8", factors=True), types({"to": INT8, "x": INT32, "quant": FP32}))
    assert run("quant", 0, 384) <= spread(made.regions, write=False)
    assert made.fenced


def test_unit_flags_are_of_whole_fractals() -> None:
    drained = effect(fixpipe(32, 20, 32, 32, unit=3), types({"to": FP32, "x": FP32}))
    made = effect(mmad(20, 32, 16, 3, False, True), HALVES)
    result, source = made.regions[0], drained.regions[1]
    assert (result.width, result.steps) == (source.width, source.steps)
    assert "fix" in result.ordered
    assert source.ordered == {"m"}
    assert (made.unit, drained.unit) == (3, 3)


def test_atomic_adds_are_those_to_gm() -> None:
    on, off = Instr("SetAtomicAdd", (), ("float",)), Instr("SetAtomicNone", ())
    steps = (on, fixpipe(16, 16, 16, 16), fixpipe(16, 16, 16, 16, gm=False, quant="F322F16"), off)
    dtypes = types({"to": FP32, "into": FP16, "x": FP32})
    assert [e.atomic for e in effects(steps, dtypes) if e is not None] == [False, True, False, False]


# --- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instr", "memory", "message"),
    [
        (nz(1, 16_385, 16, 0, 16, 16, 1, 0), Memory.MAT, "nValue 16385 is outside 0..16384"),
        (nz(1, 16, 16, 0, 65_536, 16, 1, 0), Memory.MAT, "srcDValue 65536 is outside 1..65535"),
        (nz(1, 16, 16, 0, 16, 0, 1, 0), Memory.MAT, "dstNzC0Stride 0 is outside 1..16384"),
        (load(64, 60, 0, 0, 64, 60, False), Memory.LEFT, "cols 60 is not a multiple of 16"),
        (load(64, 64, 0, 8, 64, 16, False), Memory.LEFT, "colStart 8 is not a multiple of 16"),
        (load(64, 64, 0, 0, 8, 16, False), Memory.LEFT, "rowCount 8 is not a multiple of 16"),
        (load(64, 64, 48, 0, 32, 16, False), Memory.LEFT, "rows behind the window -16 is outside"),
        (load(64, 64, 0, 0, 64, 64, False), Memory.MAT, "LoadData does not write to `mat`"),
        (mmad(4096, 16, 16, 0, False, True), Memory.ACC, "m 4096 is outside 1..4095"),
        (mmad(16, 16, 16, 1, False, True), Memory.ACC, "unitFlag 1 is outside 2..3"),
        (mmad(16, 16, 16, 0, True, True), Memory.ACC, "Mmad with a bias has cmatrixSource true"),
        (fixpipe(4096, 16, 16, 16), Memory.GM, "nSize 4096 is outside 0..4095"),
        (fixpipe(16, 8193, 8208, 16), Memory.GM, "mSize 8193 is outside 0..8192"),
        (fixpipe(20, 16, 16, 16, gm=False, quant="F322F16"), Memory.MAT, "nSize 20 is not a multiple of 16"),
        (fixpipe(16, 16, 16, 16, gm=False), Memory.MAT, "Fixpipe with NoQuant does not make fp16 of fp32"),
        (fixpipe(16, 16, 16, 16, quant="VREQ8"), Memory.GM, "does not make fp32 of fp32"),
    ],
)
def test_limits(instr: Instr, memory: Memory, message: str) -> None:
    names = {"into": FP16, "x": FP16, "from": FP16, "lhs": FP16, "rhs": FP16, "to": FP32}
    if instr.call in ("Mmad", "Fixpipe"):
        names |= {"into": FP32 if instr.call == "Mmad" else FP16, "x": FP32}
    with pytest.raises(InstructionError, match=message.replace("(", r"\(")):
        validate(instr, types(names), into(memory))


def test_one_byte_types_are_not_transposed_by_matrix_loads() -> None:
    with pytest.raises(InstructionError, match="cannot transpose int8"):
        validate(load(64, 64, 0, 0, 64, 64, False), types({"into": INT8, "x": INT8}), into(Memory.RIGHT))
    validate(load(64, 64, 0, 0, 64, 64, False), types({"into": INT8, "x": INT8}), into(Memory.LEFT))


@pytest.mark.parametrize(
    ("instr", "memory", "grids"),
    [
        (load(64, 64, 0, 0, 64, 64, False), Memory.LEFT, {"into": 512}),
        (mmad(16, 16, 16, 0, True, False, bias=True), Memory.ACC, {"into": 1024, "lhs": 512, "rhs": 512, "bias": 64}),
        (Instr("DataCopy", (Ref("into"), Ref("x"), Struct("DataCopyParams", (1, 1, 0, 0)))), Memory.BIAS, {"into": 64}),
        (fixpipe(16, 16, 16, 16), Memory.GM, {"x": 64}),
    ],
)
def test_grids(instr: Instr, memory: Memory, grids: dict[str, int]) -> None:
    names = {"into": FP32, "x": FP32, "lhs": FP16, "rhs": FP16, "bias": FP32, "to": FP32}
    assert dict(decode(instr, types(names), into(memory)).grids) == grids


def test_off_its_grid() -> None:
    off = Instr("Mmad", (Ref("into", 16), *mmad(16, 16, 16, 0, False, True).args[1:]))
    with pytest.raises(InstructionError, match="`into` starts 16 elements of 4 B in, not on a 1024 B boundary"):
        validate(off, HALVES)

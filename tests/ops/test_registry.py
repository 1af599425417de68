"""The table of operators: no part missing anywhere, and every part agrees with the others."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, get_args

import pytest
import yaml

from pypto_spec.ir.dtype import FP32, INT32, UINT8, DType
from pypto_spec.ir.opdef import REDUCED_AXIS, OpDef, Role
from pypto_spec.ir.types import ScalarType, TensorType, TileType, ValueType
from pypto_spec.ops.build import torch_dtype
from pypto_spec.ops.cast import NATIVE
from pypto_spec.ops.compare_steps import COMPARED
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.ops.registry import COMMUTATIVE, FAMILIES, OPS, form, function, functions, signs
from tests.ops.making import make, recipe, scratch, tensor, tile

torch: Any = pytest.importorskip("torch")

AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.keywords import default_table
seen, ready = [], threading.Barrier(4)
def look(table):
    ready.wait()
    seen.append(len(list(table())))
threads = [threading.Thread(target=look, args=(one,)) for one in (lambda: OPS, default_table) * 2]
for one in threads: one.start()
for one in threads: one.join()
table = [keyword.name for keyword in default_table()]
print(seen.count(len(OPS)), seen.count(len(table)), set(OPS) <= set(table))
"""
"""The server reads the table first in the thread that checks and in the one that answers, at the same time."""

EACH = pytest.mark.parametrize("defn", OPS.values(), ids=list(OPS))


@EACH
def test_no_part_is_missing(defn: OpDef) -> None:
    fields = {f.name: f for f in defn.fields}
    assert len(fields) == len(defn.fields)
    assert defn.doc
    assert defn.family in FAMILIES
    assert defn.dtypes
    assert defn.dtype_of in fields
    assert fields[defn.dtype_of].kind in ("tile", "tensor", "dtype")
    assert all(f.doc for f in defn.fields)
    assert all(bool(f.words) == (f.kind == "word") for f in defn.fields)
    assert all(f.required or f.kind not in ("bind", "tensor") for f in defn.fields)
    on_chip = {f.name for f in defn.fields if f.kind in ("bind", "tile")}
    assert set(defn.spaces) == on_chip
    assert all(defn.spaces.values())
    assert defn.no_alias <= {f.name for f in defn.fields if f.kind == "tile"}
    assert [f.kind for f in defn.fields].count("bind") == (defn.effects not in ("writes_gm", "shows"))


def test_every_reducing_role_names_its_axis() -> None:
    assert set(REDUCED_AXIS) == {role for role in get_args(Role) if role.endswith("_reduce")}


@pytest.mark.parametrize("defn", [d for d in OPS.values() if d.role in REDUCED_AXIS], ids=lambda d: d.name)
def test_a_reduction_joins_the_axis_of_its_role(defn: OpDef) -> None:
    x = torch.ones(3, 5, dtype=torch_dtype(torch, defn.dtypes[0]))
    wanted = [3, 5]
    wanted[REDUCED_AXIS[defn.role]] = 1
    assert list(defn.torch(torch, {"x": x}, {"precision": "exact"}).shape) == wanted


@EACH
def test_example_is_a_statement_of_the_op(defn: OpDef) -> None:
    (statement,) = yaml.safe_load(defn.example)
    ((keyword, written),) = statement.items()
    assert keyword == defn.name
    assert set(written) <= {f.name for f in defn.fields}
    assert {f.name for f in defn.fields if f.required} <= set(written)


ATTRS: dict[str, dict[str, Any]] = {
    "load": {"at": (0, 0), "shape": (8, 32)},
    "store": {"at": (0, 0)},
    "create_tile": {"shape": (8, 32), "dtype": FP32},
    "full": {"shape": (8, 32), "value": 1},
    "arange": {"shape": (8, 32), "start": 1},
    "tri": {"shape": (8, 32)},
    "extract": {"at": (0, 0), "shape": (4, 32)},
    "assemble": {"at": (0, 0)},
    "fillpad": {"pad": "zero"},
    "gather_mask": {"pattern": "p0101"},
    "mrgsort": {"run": 4},
    "topk": {"k": 3},
    "fillpad_inplace": {"pad": "zero"},
    "fillpad_expand": {"shape": (16, 64), "pad": "zero"},
    "set_validshape": {"valid": (4, 32)},
    "slice": {"at": (0, 0), "shape": (4, 32)},
    "reshape": {"shape": (4, 64)},
    "cast": {"dtype": FP32},
    **{name: {"cmp_type": "gt"} for name in ("cmp", "cmps", "select", "selects")},
    "row_expand": {"cols": 32},
    "col_expand": {"rows": 8},
}
VECTOR = {"row_expand": (8, 1), "col_expand": (1, 32)}
PRODUCT = {"lhs": (8, 32), "rhs": (32, 16), "acc": (8, 16), "bias": (1, 16)}
"""Operands of a product; of a GEMV, M is 1."""


def example_operands(defn: OpDef, dtype: DType) -> dict[str, ValueType]:
    found: dict[str, ValueType] = {}
    for field in defn.fields:
        if field.kind == "tensor":
            found[field.name] = tensor(dtype, 8, 32)
        elif field.name == "index":
            found[field.name] = tile(INT32, 8, 32 if defn.name == "sort32" else 16)
        elif field.name == "scales":
            continue  # of accumulators only
        elif defn.role == "matmul" and field.kind == "tile":
            rows, cols = PRODUCT[field.name]
            kind = dtype if field.name in ("lhs", "rhs") else ACCUMULATOR[dtype]
            shape = (1 if rows == 8 and defn.name.startswith("gemv") else rows, cols)
            stack = (2,) if defn.name.startswith("batch") else ()
            found[field.name] = TileType(kind, (*stack, *shape), defn.spaces[field.name][0])
        elif field.kind == "tile":
            spread = defn.role in VECTOR and (field.name != defn.dtype_of or defn.name in VECTOR)
            if defn.family == "compare" and field.name != defn.dtype_of and field.name != "b":
                kind = UINT8 if field.name == "mask" else dtype if dtype in COMPARED else FP32
                found[field.name] = tile(kind, 8, 32)
                continue
            found[field.name] = tile(dtype, *VECTOR[defn.role] if spread else (8, 32))
    return found


@EACH
def test_every_dtype_infers_renders_and_computes(defn: OpDef) -> None:
    for dtype in defn.dtypes:
        attrs = dict(ATTRS.get(defn.name, {}))
        attrs |= {f.name: 2 for f in defn.fields if f.kind == "number" and f.required and f.name not in attrs}
        if defn.dtype_of == "dtype":
            attrs["dtype"] = dtype
        operands = example_operands(defn, dtype)
        if defn.name == "cast" and (dtype, FP32) not in NATIVE:
            attrs["dtype"] = dtype
        op = make(defn.name, operands, **attrs)
        for precision in ("exact", "fast"):
            assert all(size > 0 for size in scratch(op, precision))
            recipe(op, precision)
        if not op.results:
            continue
        inputs = {name: _ones(kind) for name, kind in operands.items()}
        filled = {f.name: f.default for f in defn.fields if f.kind not in ("bind", "tile", "tensor")}
        made = defn.torch(torch, inputs, {**filled, **attrs})
        kind = op.result.type
        assert isinstance(kind, TileType)
        assert (tuple(made.shape), made.dtype) == (kind.shape, torch_dtype(torch, kind.dtype))


def _ones(kind: ValueType) -> Any:
    assert not isinstance(kind, ScalarType)
    extents = kind.shape if not isinstance(kind, TensorType) else [n for n in kind.shape if isinstance(n, int)]
    return torch.ones(tuple(extents), dtype=torch_dtype(torch, kind.dtype))


def test_formulas_find_ops_by_what_stands_beside_a_sign() -> None:
    def found(symbol: str, *kinds: Any) -> tuple[str, tuple[str, ...]] | None:
        made = form(symbol, *kinds)
        return None if made is None else (made.defn.name, made.fields)

    assert found("+", "tile", "tile") == ("add", ("lhs", "rhs"))
    assert found("-", "tile", "scalar") == ("subs", ("x", "scalar"))
    assert found("-", "scalar", "tile") == ("rsubs", ("scalar", "x"))
    assert found("+", "scalar", "tile") == ("adds", ("scalar", "x"))
    assert found("/", "scalar", "tile") == ("rdivs", ("scalar", "x"))
    assert found("maximum", "scalar", "tile") == ("maximums", ("scalar", "x"))
    assert found("-", "tile") == ("neg", ("x",))
    assert found("exp", "tile") == ("exp", ("x",))
    assert found("*", "tile", "row") == ("row_expand_mul", ("x", "v"))
    assert found("*", "col", "tile") == ("col_expand_mul", ("v", "x"))
    assert found("%", "tile", "tile") == ("rem", ("lhs", "rhs"))
    assert found("**", "tile", "tile") is None


def test_every_sign_and_function_has_its_forms() -> None:
    for symbol in (*signs(), "maximum", "minimum"):
        if symbol in ("//", "%"):  # others are spread by `let`
            assert form(symbol, "tile", "tile") is not None
            assert form(symbol, "tile", "scalar") is not None
            continue
        for kinds in (("tile", "tile"), ("tile", "scalar"), ("scalar", "tile"), ("tile", "row"), ("tile", "col")):
            assert form(symbol, *kinds) is not None, (symbol, kinds)
        if symbol in COMMUTATIVE:
            assert form(symbol, "row", "tile") is not None
    for name in functions():
        assert function(name)
    assert {d.name for d in function("maximum")} >= {"maximum", "maximums"}


def test_torch_is_not_imported() -> None:
    code = "from pypto_spec.ops.registry import OPS; len(OPS); import sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_order_is_that_of_the_families_whichever_was_imported_first() -> None:
    code = "import pypto_spec.ops.{}; from pypto_spec.ops.registry import OPS, functions; print(*OPS, *functions())"
    found = {
        subprocess.run([sys.executable, "-c", code.format(first)], capture_output=True, text=True, check=True).stdout
        for first in ("registry", "expand", "reduce")
    }
    assert len(found) == 1
    families = [d.family for d in OPS.values() if d.family in FAMILIES]  # toys of other tests have none
    assert families == sorted(families, key=FAMILIES.index)


def test_threads_that_need_the_table_first_all_see_the_whole_of_it() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["2", "2", "True"], done.stderr

"""Test values for a program's arguments.

Unless the spec says otherwise, values are drawn from a domain that suits what is done with them: positive for what goes
straight into a logarithm or root, away from zero for a divisor, small for exponentials of low precision. Among them are
zeros (where the domain has them), both ends of the domain and runs of one value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pypto_spec.golden.formula import GoldenError, evaluate
from pypto_spec.golden.need_torch import torch
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.nodes import Program, Value
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import ScalarType, TensorType
from pypto_spec.ops.build import torch_dtype
from pypto_spec.spec.formula import FormulaError

POSITIVE = frozenset({"log", "sqrt", "rsqrt"})
"""Ops that need a positive operand."""
DIVISORS = {"div": "rhs", "recip": "x", "rdivs": "x", "row_expand_div": "v", "col_expand_div": "v"}
"""Ops with a divisor, and its field."""
CARRIERS = frozenset({"load", "slice", "reshape", "cast", "move"})
"""Ops through which a tensor's values pass unchanged."""


@dataclass(frozen=True, slots=True)
class Domain:
    """Where values are drawn from; `gap` is the half-width of a gap around zero."""

    low: float
    high: float
    gap: float = 0.0


def domains(program: Program) -> dict[Value, Domain]:
    """A domain for each argument, from what is done with it directly."""
    origin: dict[Value, Value] = {t: t for t in program.tensors}
    needs: dict[Value, set[str]] = {}
    for region in regions(program.body):
        for op in ops(region.body):
            source = op.operands.get("from") or op.operands.get("x")
            if op.name in CARRIERS and op.results and source in origin:
                origin[op.result] = origin[source]
            for field, value in op.operands.items():
                tensor = origin.get(value)
                if tensor is None:
                    continue
                if op.name in POSITIVE and field == "x":
                    needs.setdefault(tensor, set()).add("positive")
                if DIVISORS.get(op.name) == field:
                    needs.setdefault(tensor, set()).add("divisor")
    return {t: _domain(t.type.dtype, needs.get(t, set())) for t in (*program.tensors, *program.scalars)}


def _domain(dtype: DType, needs: set[str]) -> Domain:
    if not dtype.is_float:
        return Domain(0, 100) if dtype.kind == "uint" else Domain(-100, 100)
    if "positive" in needs:
        return Domain(0.0625, 8.0)
    if "divisor" in needs:
        return Domain(-4.0, 4.0, 0.25)
    return Domain(-4.0, 4.0)


def _numbers(name: str, written: Mapping[str, object], symbols: Mapping[str, int]) -> dict[str, Any]:
    """What `golden.inputs` says about one argument, its expressions computed at one size of the symbols.

    Raises GoldenError for an expression that has no finite value.
    """
    made = dict(written)
    for key in ("min", "max"):
        if made.get(key) is not None:
            made[key] = _number(f"golden.inputs.{name}.{key}", made[key], symbols)
        else:
            made.pop(key, None)
    values = made.get("values")
    if isinstance(values, list | tuple):
        made["values"] = [_number(f"golden.inputs.{name}.values", v, symbols, any_float=True) for v in values]
    return made


def _number(where: str, written: object, symbols: Mapping[str, int], *, any_float: bool = False) -> float:
    try:
        found = evaluate(written, symbols) if isinstance(written, str) else written
    except (FormulaError, ArithmeticError, TypeError, RuntimeError) as error:
        raise GoldenError(f"{where}: `{written}` has no value: {error}", _NUMBER) from error
    except GoldenError as error:
        raise GoldenError(f"{where}: {error}", error.way_out or _NUMBER) from error
    if not isinstance(found, int | float) or isinstance(found, bool) or not (any_float or math.isfinite(found)):
        raise GoldenError(f"{where}: `{written}` is no finite number", _NUMBER)
    return found


_NUMBER = "write a number, or an expression of constants and symbols"


def draw(
    value: Value,
    shape: tuple[int, ...],
    domain: Domain,
    written: Mapping[str, object] | None,
    seed: int,
    symbols: Mapping[str, int],
) -> Any:
    """Values for one tensor (or a 0-d one for a scalar), in its dtype; the same for the same seed.

    Raises GoldenError where `written`, with these values of the symbols, says nothing that can be drawn.
    """
    module = torch()
    kind = value.type
    assert isinstance(kind, TensorType | ScalarType)
    generator = module.Generator().manual_seed(seed)
    words = _numbers(value.name, written or {}, symbols)
    low, high = words.get("min", domain.low), words.get("max", domain.high)
    assert isinstance(low, int | float) and isinstance(high, int | float), "`_numbers` has computed them"
    if low > high:
        raise GoldenError(
            f"golden.inputs.{value.name}: `min` is {low:g} and `max` is {high:g}", "give both, the smaller one as `min`"
        )
    dtype = torch_dtype(module, kind.dtype)
    distribution = words.get("distribution") or "uniform"
    count = 1
    for extent in shape:
        count *= extent
    if words.get("values"):
        choice = module.tensor([float(v) for v in words["values"]], dtype=module.float64)
        flat = choice[module.randint(len(choice), (count,), generator=generator)]
    elif distribution in ("zeros", "ones"):
        flat = module.full((count,), 0.0 if distribution == "zeros" else 1.0, dtype=module.float64)
    elif distribution == "sequence":
        flat = module.arange(count, dtype=module.float64)
    elif distribution == "integers" or not kind.dtype.is_float:
        flat = module.randint(round(low), round(high) + 1, (count,), generator=generator).to(module.float64)
        if not written:
            _season(flat, [low, high, 0.0], generator)
    elif distribution == "normal":
        flat = module.randn((count,), generator=generator, dtype=module.float64)
        flat = (low + high) / 2 + flat * (high - low) / 8
    else:
        flat = low + (high - low) * module.rand((count,), generator=generator, dtype=module.float64)
        if not written:
            if domain.gap:
                flat = module.where(
                    flat.abs() < domain.gap, module.where(flat < 0, flat - domain.gap, flat + domain.gap), flat
                )
            _season(flat, [low, high] + ([0.0] if low <= 0 <= high and not domain.gap else []), generator)
    return flat.to(dtype).reshape(shape)


def _season(flat: Any, special: list[float], generator: Any) -> None:
    """Put special values and a run of one value among drawn ones."""
    module = torch()
    count = flat.numel()
    if count < 8:
        return
    for value in special:
        flat[module.randint(count, (max(1, count // 64),), generator=generator)] = value
    start = int(module.randint(count, (1,), generator=generator))
    length = min(count - start, max(1, count // 32))
    flat[start : start + length] = flat[start].clone()

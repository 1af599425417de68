"""PS3: shapes, dtypes and values."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

SHAPE_MISMATCH = rule("PS3001", "shape-mismatch", Severity.ERROR, "operand shapes do not fit the operation")
DTYPE_MISMATCH = rule("PS3002", "dtype-mismatch", Severity.ERROR, "operands have different dtypes")
DTYPE_UNSUPPORTED = rule("PS3003", "dtype-unsupported", Severity.ERROR, "the operation does not exist for this dtype")
OUT_OF_BOUNDS = rule("PS3004", "window-out-of-bounds", Severity.ERROR, "a window reaches outside what it is cut from")
UNALIGNED_SLICE = rule(
    "PS3005", "unaligned-slice", Severity.ERROR, "a slice of a tile does not start on a 32 B boundary"
)
RESHAPE_ILLEGAL = rule("PS3006", "illegal-reshape", Severity.ERROR, "a reshape would have to move elements")
COLUMN_WINDOW = rule("PS3007", "column-window", Severity.ERROR, "one column of a wider tensor cannot be copied densely")
CAST_MODE = rule("PS3008", "cast-mode", Severity.ERROR, "the conversion does not exist in this rounding mode")
LITERAL_CHANGED = rule(
    "PS3009", "literal-changed", Severity.WARNING, "a literal changes when it takes the tile's dtype"
)
RUNTIME_EXTENT = rule("PS3010", "run-time-extent", Severity.ERROR, "an extent must be known at compile time here")
LEVEL_MIX = rule("PS3011", "tile-meets-tensor", Severity.ERROR, "one statement mixes tiles with whole tensors")
WRONG_ACCESS = rule("PS3012", "wrong-access", Severity.ERROR, "a tensor is used against its `access`")
TYPE_CHANGES = rule("PS3020", "type-changes", Severity.ERROR, "a name has another type where two ways of control meet")
WRONG_PAD = rule("PS3022", "wrong-pad", Severity.ERROR, "a reduction takes in lanes that were filled with a wrong pad")
CANNOT_FLATTEN = rule("PS3021", "cannot-flatten", Severity.ERROR, "a tile has no two-dimensional form of one meaning")
SPREAD_ELEMENTS = rule("PS3061", "spread-elements", Severity.ERROR, "the elements of a tensor's row stand apart")
OVERLAPPING = rule("PS3062", "overlapping-strides", Severity.ERROR, "two indices of an output name one element")
CANNOT_DUMP = rule("PS3060", "cannot-dump", Severity.ERROR, "the device cannot show this window or tile as asked")
WINDOW_MAY_LEAVE = rule(
    "PS3063", "window-may-leave", Severity.WARNING, "a window leaves its tensor for some run-time sizes"
)
INTEGER_DIVISION = rule("PS3030", "integer-division", Severity.ERROR, "`/` between integers, which has no one meaning")
LITERAL_RANGE = rule(
    "PS3031", "literal-range", Severity.WARNING, "a literal overflows, or is lost, in the tile's dtype"
)
RUNTIME_SIZE = rule("PS3035", "run-time-size", Severity.ERROR, "a size or count must be known at compile time")
NOT_AN_INDEX = rule("PS3032", "not-an-index", Severity.ERROR, "an expression is no integer expression of the language")
NO_TILE = rule("PS3033", "let-without-tile", Severity.ERROR, "a `let` computes a number, not a tile or array")
BAD_ARGUMENT = rule("PS3034", "bad-argument", Severity.ERROR, "a function of a formula got arguments it does not take")
EXP_OVERFLOW = rule(
    "PS3036", "exp-overflow", Severity.WARNING, "a softmax of values that nothing keeps from overflowing"
)

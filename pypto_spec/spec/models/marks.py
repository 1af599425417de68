"""The marks of `roles.py`: what a name in a field is for. They stand in the annotations of the models."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pypto_spec.records import dataclass

Act: TypeAlias = Literal["binds", "reads", "expression", "let", "format", "word"]
"""What a text does: it binds a name, reads one, is a formula of some form, or is no name of the spec at all."""

Named: TypeAlias = Literal[
    "value",  # a tile, array or number, or whatever shares their namespace
    "index",
    "tensor",
    "constant",
    "symbol",
    "scalar",
    "argument",  # of a function: bound in its own declaration, read by the keys of a call
    "returned",  # what the body of a function binds and a call gives
    "carried",  # what a loop or an `if` carries, by its name inside
    "buffer",
    "function",
    "launch",
    "",
]


@dataclass(frozen=True, slots=True)
class Role:
    """`inside` marks an expression that is read in the scope which its statement opens."""

    act: Act
    of: Named = ""
    inside: bool = False


EXPRESSION: Final = Role("expression")
INSIDE: Final = Role("expression", inside=True)
LET: Final = Role("let", "value")
FORMAT: Final = Role("format")
WORD: Final = Role("word")
"""A name of the world outside, such as that of a C++ kernel."""

BINDS_VALUE: Final = Role("binds", "value")
BINDS_INDEX: Final = Role("binds", "index")
BINDS_TENSOR: Final = Role("binds", "tensor")
BINDS_CONSTANT: Final = Role("binds", "constant")
BINDS_SYMBOL: Final = Role("binds", "symbol")
BINDS_SCALAR: Final = Role("binds", "scalar")
BINDS_ARGUMENT: Final = Role("binds", "argument")
BINDS_BUFFER: Final = Role("binds", "buffer")
BINDS_FUNCTION: Final = Role("binds", "function")
BINDS_LAUNCH: Final = Role("binds", "launch")
BINDS_CARRIED: Final = Role("binds", "carried")

READS_VALUE: Final = Role("reads", "value")
READS_TENSOR: Final = Role("reads", "tensor")
READS_CONSTANT: Final = Role("reads", "constant")
READS_SYMBOL: Final = Role("reads", "symbol")
READS_ARGUMENT: Final = Role("reads", "argument")
READS_RETURNED: Final = Role("reads", "returned")
READS_CARRIED: Final = Role("reads", "carried")
READS_BUFFER: Final = Role("reads", "buffer")
READS_FUNCTION: Final = Role("reads", "function")
READS_LAUNCH: Final = Role("reads", "launch")

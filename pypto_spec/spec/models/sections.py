"""The sections of a document."""

# Without `from __future__ import annotations`: pydantic would compile each annotation from its text again.

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from pypto_spec.spec.models.base import Codes, Formula, Model, Name, Names, Text, ValueName, Whole
from pypto_spec.spec.models.fields import DType, OnChip
from pypto_spec.spec.models.kinds import LIST, MAPPING, WORD, forms
from pypto_spec.spec.models.marks import (
    BINDS_ARGUMENT,
    BINDS_BUFFER,
    BINDS_CONSTANT,
    BINDS_FUNCTION,
    BINDS_SCALAR,
    BINDS_SYMBOL,
    BINDS_TENSOR,
    EXPRESSION,
    READS_CONSTANT,
    READS_RETURNED,
    READS_SYMBOL,
    READS_TENSOR,
    READS_VALUE,
)
from pypto_spec.spec.models.marks import WORD as OUTER
from pypto_spec.spec.models.words import Meanings

PLATFORMS = Meanings(
    a2a3="the Ascend 910B family", a5="Ascend 950: can be checked, lowered and planned; `build` refuses it"
)
PlatformWord = Annotated[Literal["a2a3", "a5"], PLATFORMS]
PlannerWord = Annotated[
    Literal["pypto", "ptoas"],
    Meanings(
        pypto="pipelines by copies of the body, which overlap stores as well as loads",
        ptoas="pipelines by slots for the loads: fewer statements, and no rest behind the loop",
    ),
]
SyncWord = Annotated[
    Literal["auto", "manual"],
    Meanings(
        auto="the compiler puts flags and barriers in", manual="flags and barriers are written in the spec, and checked"
    ),
]
PrecisionWord = Annotated[
    Literal["exact", "fast"],
    Meanings(exact="what operators compute is rounded once", fast="approximate instructions where there are some"),
]
AccessWord = Annotated[
    Literal["in", "out", "inout"],
    Meanings(
        **{"in": "it is read and never written"},
        out="it must be written, and is not read before",
        inout="it holds values at the start, and is written",
    ),
]
LayoutWord = Annotated[
    Literal["nd", "dn", "nz", "zn"],
    Meanings(
        nd="rows one behind the other",
        dn="columns one behind the other (not there yet)",
        nz="fractals by columns, rows within them (not there yet)",
        zn="fractals by rows, columns within them (not there yet)",
    ),
]
OwnerWord = Annotated[
    Literal["author", "compiler"],
    Meanings(author="its place and size are kept as written", compiler="in dumps: the compiler made it"),
]
FinderWord = Annotated[
    Literal["first_fit", "exact"],
    Meanings(first_fit="the first gap that was large enough", exact="a search for a packing"),
]
DistributionWord = Annotated[
    Literal["uniform", "normal", "integers", "zeros", "ones", "sequence"],
    Meanings(
        uniform="numbers from `min` to `max`, all as likely",
        normal="normally distributed around the middle of `min` and `max`, which are four deviations away",
        integers="integers from `min` to `max`",
        zeros="0 everywhere",
        ones="1 everywhere",
        sequence="0, 1, 2 and so on",
    ),
]
ArgumentWord = Annotated[
    Literal["tile", "tensor", "index", "scalar"],
    Meanings(
        tile="a tile on chip", tensor="a tensor in global memory", index="an integer expression", scalar="a number"
    ),
]
FunctionWord = Annotated[
    Literal["inline", "incore", "aic", "aiv", "group", "spmd"],
    Meanings(
        inline="its statements stand in the place of each call",
        **dict.fromkeys(("incore", "aic", "aiv", "group", "spmd"), "reserved: not there yet"),
    ),
]

_Symbol = Annotated[Name, BINDS_SYMBOL]
_Scalar = Annotated[Name, BINDS_SCALAR]
_Tensor = Annotated[Name, BINDS_TENSOR]
_Buffer = Annotated[ValueName, BINDS_BUFFER]
_Function = Annotated[Name, BINDS_FUNCTION]
_Argument = Annotated[Name, BINDS_ARGUMENT]
_Output = Annotated[Name, READS_TENSOR]
_Size = Annotated[Name, READS_SYMBOL]
_Input = Annotated[Name, READS_VALUE]


class Target(Model):
    """What the program is compiled for."""

    platform: Annotated[PlatformWord, Field(description="the chip family")] = "a2a3"
    planner: Annotated[PlannerWord, Field(description="who plans memory and pipelines")] = "pypto"
    l0c_double_buffer: Annotated[bool, Field(description="two halves of L0C in turn", strict=True)] = False
    unit_flag: Annotated[bool, Field(description="cube and fixpipe synchronise by unit flag", strict=True)] = False
    sync: Annotated[SyncWord, Field(description="`manual`: flags are written in the spec")] = "auto"
    precision: Annotated[PrecisionWord, Field(description="`fast` allows approximate instructions")] = "exact"


class Symbol(Model):
    """A run-time dimension with its bounds."""

    min: Annotated[Formula | None, Field(description="smallest value")] = None
    max: Annotated[Formula | None, Field(description="largest value")] = None
    multiple_of: Annotated[Formula | None, Field(description="it is a multiple of this")] = None


class TensorSpec(Model):
    """An argument of the program in global memory."""

    dtype: Annotated[DType, Field(description="data type")]
    shape: Annotated[tuple[Formula, ...], Field(description="extents", examples=[["M", 128]], min_length=1)]
    strides: Annotated[
        tuple[Formula, ...] | None,
        Field(description="elements between neighbours of each dimension; dense rows if left out", examples=[[256, 1]]),
    ] = None
    access: Annotated[AccessWord, Field(description="what the program does with it")] = "in"
    layout: Annotated[LayoutWord, Field(description="storage order")] = "nd"


class BufferSpec(Model):
    """An on-chip allocation. An author's buffer is pinned; compiler-made ones say `owner: compiler`."""

    memory: Annotated[OnChip, Field(description="memory it lives in")]
    slots: Annotated[Formula | None, Field(description="number of slots", examples=[2])] = None
    bytes: Annotated[Formula | None, Field(description="bytes of one slot")] = None
    address: Annotated[Formula | None, Field(description="bytes from the start of the memory")] = None
    owner: Annotated[OwnerWord, Field(description="who made it")] = "author"
    planner: Annotated[
        FinderWord | None,
        Field(description="in dumps: who found the address where shared places did not fit"),
    ] = None


class InputSpec(Model):
    """How test values of one tensor or scalar are drawn."""

    distribution: Annotated[
        DistributionWord | None,
        Field(description="kind of values"),
    ] = None
    min: Annotated[Formula | None, Field(description="smallest value")] = None
    max: Annotated[Formula | None, Field(description="largest value")] = None
    values: Annotated[tuple[Formula, ...] | None, Field(description="values to choose from")] = None


class Tolerance(Model):
    """How far a result may be off; what is left out follows the dtype."""

    rtol: Annotated[float | None, Field(description="relative", ge=0, strict=True)] = None
    atol: Annotated[float | None, Field(description="absolute", ge=0, strict=True)] = None
    ulps: Annotated[float | None, Field(description="units in the last place", ge=0, strict=True)] = None


class GoldenSpec(Model):
    """How to check the result."""

    expect: Annotated[
        dict[_Output, Formula],
        Field(description="one formula per output over the initial values"),
    ] = Field(default_factory=dict)
    python: Annotated[Text | None, Field(description="`file.py:function`", pattern=r"^[^:]+\.py:[A-Za-z_]\w*$")] = None
    sizes: Annotated[
        tuple[dict[_Size, Whole], ...],
        Field(description="values of the symbols, one mapping per run"),
    ] = ()
    inputs: Annotated[dict[_Input, InputSpec], Field(description="how inputs are drawn")] = Field(default_factory=dict)
    tolerance: Annotated[Tolerance | None, Field(description="how far results may be off")] = None
    seed: Annotated[int | None, Field(description="seed of the inputs", strict=True)] = None
    sample: Annotated[
        int | None,
        Field(description="windows of the outputs that each run computes; all by default", strict=True, ge=1),
    ] = None


class DiagnosticsSpec(Model):
    """Warnings and hints switched off, or made errors, for the whole file."""

    disable: Annotated[Codes, Field(description="codes to switch off", examples=[["PH001"]])] = ()
    error: Annotated[Codes, Field(description="codes to treat as errors", examples=[["PH-MR-001"]])] = ()


class DumpSpec(Model):
    """The header of a dump: loading it skips the passes up to `after`."""

    after: Annotated[Text, Field(description="the last pass that ran")]
    source: Annotated[Text, Field(description="the file it came from")]
    sha256: Annotated[Text, Field(description="hash of that file, in quotes", pattern="^[0-9a-f]{64}$")]


class ArgumentSpec(Model):
    """What an argument of a function must be, where the function says so."""

    dtype: Annotated[DType | None, Field(description="data type")] = None
    shape: Annotated[tuple[Formula, ...] | None, Field(description="extents in elements", min_length=1)] = None


Argument = (
    Annotated[
        Annotated[ArgumentWord, WORD] | Annotated[ArgumentSpec, MAPPING],
        forms("argument_form"),
    ]
    | None
)


class FunctionSpec(Model):
    """A function: statements that are put in the place of each call."""

    kind: Annotated[
        FunctionWord,
        Field(description="`inline`; the others are reserved: not there yet"),
    ] = "inline"
    about: Annotated[Text, Field(description="one line for people")] = ""
    args: Annotated[
        Annotated[tuple[_Argument, ...], LIST] | Annotated[dict[_Argument, Argument], MAPPING],
        forms("arguments_form"),
        Field(description="names of the arguments, or a mapping that says what they are", examples=[["x", "row"]]),
    ] = ()
    returns: Annotated[
        Names, READS_RETURNED, Field(description="names in the body that a call gives", examples=[["y"]])
    ] = ()
    body: Annotated[Any, Field(description="its statements, as in a region")]


Choices = dict[Annotated[str, READS_CONSTANT], tuple[Annotated[int | float | bool | str, EXPRESSION], ...]]
Combination = dict[Annotated[str, READS_CONSTANT], Annotated[int | float | bool | str, EXPRESSION]]


class VariantsSpec(Model):
    """One program for each combination of values."""

    matrix: Annotated[
        Choices, Field(description="values of constants, or of `target.OPTION`", examples=[{"TR": [32, 64]}])
    ]
    include: Annotated[tuple[Combination, ...], Field(description="combinations beside those of the matrix")] = ()
    exclude: Annotated[tuple[Combination, ...], Field(description="parts of combinations that are left out")] = ()


def as_platform(value: object) -> object:
    """A word that stands for a target."""
    return {"platform": value} if isinstance(value, str) else value


_FREE = WithJsonSchema({"type": "object"})


class DocumentModel(Model):
    """One spec: a program with its tensors, the work placed on cores, and how to check the result."""

    spec: Annotated[Literal["v1"], Field(description="version of the language")]
    dump: Annotated[DumpSpec | None, Field(description="header of a dump")] = None
    name: Annotated[Name, OUTER, Field(description="identifier of the program")]
    about: Annotated[Text, Field(description="one line for people")] = ""
    target: Annotated[Target, BeforeValidator(as_platform), Field(description="what it is compiled for")] = Field(
        default_factory=Target
    )
    constants: Annotated[Any, _FREE, BINDS_CONSTANT, Field(description="compile-time integers, floats and words")] = (
        None
    )
    symbols: Annotated[dict[_Symbol, Symbol], Field(description="run-time dimensions")] = Field(default_factory=dict)
    scalars: Annotated[dict[_Scalar, DType], Field(description="run-time scalar arguments: `{eps: fp32}`")] = Field(
        default_factory=dict
    )
    tensors: Annotated[dict[_Tensor, TensorSpec], Field(description="the program's arguments in order")] = Field(
        default_factory=dict
    )
    buffers: Annotated[dict[_Buffer, BufferSpec], Field(description="on-chip allocations")] = Field(
        default_factory=dict
    )
    functions: Annotated[dict[_Function, FunctionSpec], Field(description="named functions")] = Field(
        default_factory=dict
    )
    program: Annotated[Any, Field(description="regions, launches and their order")]
    golden: Annotated[GoldenSpec | None, Field(description="how to check the result")] = None
    diagnostics: Annotated[DiagnosticsSpec, Field(description="codes to disable or to make errors")] = Field(
        default_factory=DiagnosticsSpec
    )
    variants: Annotated[VariantsSpec | None, Field(description="a matrix of constants and target options")] = None

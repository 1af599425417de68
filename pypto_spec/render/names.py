"""C++ names: the one place where names of a spec become identifiers of a kernel, readable and unique.

What a C++ compiler or the Ascend C headers take for themselves is never given to a name of the spec: keywords, types,
macros, the calls a kernel makes, our own helpers and the fixed names of the kernel's frame. Names in capitals with
three letters or more are written in small letters, because headers are full of macros spelt that way.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from pypto_spec.ops.instructions import CALLS

LONGEST = 40
"""Letters of a name taken from a spec; beyond it a name is cut."""

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
"""

_TYPES = """
half bfloat16_t float16_t float32_t int4b_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t
ssize_t ptrdiff_t intptr_t uintptr_t event_t pipe_t std AscendC tikcpp pypto_host complex32 complex64 fp8_e5m2_t
fp8_e4m3fn_t fp8_e8m0_t hifloat8_t bool2 vector_bool
"""

_MACROS = """
GM_ADDR EOF NULL NAN INFINITY EDOM EIO SNAN unix linux likely unlikely assert ascendc_assert errno stdin stdout stderr
offsetof alloca printf PRINTF assert_perror be16toh be32toh be64toh htobe16 htobe32 htobe64 htole16 htole32 htole64
le16toh le32toh le64toh issubnormal math_errhandling sigmask strdupa strndupa va_arg va_copy va_end va_start va_args_get
va_args_num sa_handler sa_sigaction sched_priority st_atime st_ctime st_mtime strcat_sp strcpy_sp memcpy_sp memset_sp
isnan isinf isfinite isnormal signbit fpclassify Mode_Zeroing_Type FORMAT_C1HWNCoC0 complex imaginary
"""

_ASCEND = """
TPipe TBuf TQue TQueBind TBufPool TPosition QuePosition LocalTensor GlobalTensor HardEvent TEventID RoundMode MaskMode
ReduceOrder CMPMODE SELMODE SetFlag WaitFlag PipeBarrier SetMaskCount SetMaskNorm ResetMask SetVectorMask SetAtomicAdd
SetAtomicMax SetAtomicMin SetAtomicNone SetDeqScale GetBlockIdx GetBlockNum GetSubBlockIdx GetSubBlockNum GetTaskRatio
GetWithOffset InitBuffer Destroy UnaryRepeatParams BinaryRepeatParams BrcbRepeatParams CopyRepeatParams DataCopyParams
DataCopyExtParams DataCopyPadExtParams DataCopyPadParams Nd2NzParams MmadParams LoadData2DParams LoadData3DParamsV2
LoadData2dTransposeParams FixpipeParamsV220 QuantMode_t CFG_NZ CFG_ROW_MAJOR And Or Not Select
Compare Gather Broadcast Transpose Sort Concat Extract MrgSortSrcList MrgSort4Info block_idx block_num sub_block_idx
blockDim blockIdx gridDim threadIdx warpSize dav_c220 dav_2201 cce aicore global aicpu kernel_operator get_block_idx
get_block_num get_subblockid set_flag wait_flag pipe_barrier
"""

_FRAME = "pipe ub l1 l0a l0b l0c bt stream blocks workspace tiling main"

HELPERS = (
    "FloorDivide",
    "FloorRemainder",
    "CeilDivide",
    "SmallerOf",
    "LargerOf",
    "FloatFromBits",
    "HalfFromBits",
    "BFloat16FromBits",
    "BFloat16FromFloat",
    "MergeInfo",
    "MatrixParams",
    "AlignedMmadParams",
)
"""Functions of ours that a kernel may start with."""

_C_LIBRARY = """
abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi atol bcmp bcopy bsearch bzero calloc cbrt ceil clock
close copysign cos cosh creat ctime daemon div drem dup erf erfc exit exp exp10 exp2 expm1 fabs fclose fdim feof ferror
fflush ffs fgets fileno finite floor fma fmax fmin fmod fopen fork fprintf fputs fread free freopen frexp fscanf fseek
ftell fwrite gamma getc getenv gets hypot ilogb index isalpha isdigit j0 j1 jn kill labs ldexp ldiv lgamma link llabs
llrint llround log log10 log1p log2 logb longjmp lrint lround malloc memchr memcmp memcpy memmove memset mktime modf
nearbyint nextafter open pause perror pipe pow puts qsort raise rand random read realloc remainder remove rename rewind
rindex rint round scalb scalbn scanf select setjmp signal significand sin sincos sinh sleep sprintf sqrt srand sscanf
strcat strchr strcmp strcpy strlen strncmp sync system tan tanh tgamma time times trunc truncate tzset ungetc unlink
wait write y0 y1 yn
"""

RESERVED = frozenset(f"{_KEYWORDS} {_TYPES} {_MACROS} {_ASCEND} {_FRAME}".split() + list(CALLS) + list(HELPERS))
"""What no name inside a kernel may be."""
EXTERNAL = RESERVED | frozenset(_C_LIBRARY.split())
"""What no function with C linkage may be: besides, the functions of the C library."""

_HOST = "error workspace device found cores cube_cores num_blocks stream blocks at c10_npu torch Run Check BFloat16Bits"
HOST_RESERVED = EXTERNAL | frozenset(_HOST.split())
"""What no argument of the launcher or of the torch binding may be."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*\Z")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]{2,}\Z")
_TAIL = {RESERVED: "v", EXTERNAL: "kernel"}


def _spelt(char: str) -> str:
    """ASCII letters for one character."""
    if char.isascii():
        return char if char.isalnum() else "_"
    plain = "".join(c for c in unicodedata.normalize("NFKD", char) if c.isascii() and c.isalnum())
    if plain:
        return plain
    called = unicodedata.name(char, "")
    if called.startswith(("GREEK", "CYRILLIC")) and "LETTER" in called:
        return called.split("LETTER ")[1].split(" WITH")[0].lower().replace(" ", "_")
    return f"u{ord(char):x}"


@lru_cache(maxsize=4096)
def identifier(name: str, reserved: frozenset[str] = RESERVED) -> str:
    """A C++ identifier that reads like `name`; the same name always gives the same one, clashes are not looked at."""
    made = name
    if not _PLAIN.match(name):
        made = re.sub("_+", "_", "".join(map(_spelt, unicodedata.normalize("NFC", name)))).strip("_")
        if not made[:1].isalpha():
            made = f"v{made}" if made else "v"
    if _CAPITALS.match(made):
        made = made.lower()
    made = made[:LONGEST].rstrip("_")
    return f"{made}_{_TAIL.get(reserved, 'v')}" if made in reserved else made


@lru_cache(maxsize=4096)
def base(name: str) -> str:
    """The name as the spec has it: `t` of the value `t.3`."""
    front, dot, tail = name.rpartition(".")
    return front if dot and front and tail.isascii() and tail.isdigit() else name


def external(name: str) -> str:
    """The name of a function with C linkage (a kernel, a launch function)."""
    return identifier(name, EXTERNAL)


class Names:
    """The names in use in one C++ scope."""

    __slots__ = ("_next", "_taken")

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """An identifier like `name` that nothing else has; later ones of that name get a number."""
        first = identifier(name)
        made, number = first, self._next.get(first, 1)
        while made in self._taken:
            number += 1
            made = f"{first}_{number}"
        self._next[first] = number
        self._taken.add(made)
        return made

"""The words that mutants are made with."""

from __future__ import annotations

import math
from typing import Any

NUMBERS = tuple(
    """
    0 -1 1 2 3 7 8 16 17 31 33 63 65 127 255 256 257 1000 4096 65535 65536 2147483647 2147483648 -2147483648
    4294967296 9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551616 1e400 1e-400 1.5
    0.1 -0.0 .inf .nan 0x40 0o17 1_000 007 10**10**10 1e3 true null ~
    """.split()
)
"""Numbers at the edges of types, and what is nearly a number."""

NAMES = (
    *"""
    half GM_ADDR PIPE_V PIPE_ALL printf float int pipe ub AscendC class for while namespace template operator auto
    main int32_t int64_t uint8_t size_t TPipe TBuf LocalTensor GlobalTensor DataCopy DataCopyPad SetFlag WaitFlag
    PipeBarrier HardEvent EVENT_ID0 Exp Add Max Cast RoundMode GetBlockIdx GetBlockNum block_idx __aicore__
    __global__ __gm__ std NULL nullptr true True None this new delete and or not xor bitand alignas export
    register signed INFINITY NAN min max abs ceil_div exp let load store region num_blocks i x a out t t.1 t.0 _
    __ _x x_ x__y a.b a-b 9a ü 变量 $x x-y << * & inf nan on yes kernel argc assert errno stdin linux unix i386 I
    EOF ASCENDC_ASSERT UB L1 GM ASCEND_IS_AIV stream blocks aclrtStream KERNEL_TASK_TYPE_DEFAULT bfloat16_t
    float16_t ceilDiv floorDiv CeilDiv Min Mod TPosition Duplicate
    """.split(),
    'a b', '', 'a\nb', 'a\tb', "a" * 300,
)  # fmt: skip
"""Keywords of C++, names and macros of Ascend C, of libraries and of the language, and what is nearly a name."""

KEYS = tuple(
    """
    spec name about target constants symbols scalars tensors buffers functions program golden diagnostics variants
    dump region for parallel spmd pipeline if then else let load store exp add muls row_sum col_max cast full
    slice reshape create_tile yield carry results alloc set_flag wait_flag barrier src type allow instructions
    into from to at shape valid dtype access layout buffer slot offset scratch x lhs rhs scalar index count range
    blocks order as after core body memory bytes slots address expect sizes inputs tolerance seed atomic mode
    x-mine matmul while
    """.split()
)
"""Keys of the language, wherever they belong."""

BYTES = (
    b"\x00", b"\t", b"\r", b"\r\n", b"\n", b" ", b"  ", b":", b": ", b"- ", b"[", b"]", b"{", b"}", b",", b"'",
    b'"', b"#", b" #", b"&a ", b"*a", b"!", b"!!int ", b"|", b">", b"%", b"@", b"`", b"?", b"? ", b"---\n",
    b"...\n", b"<<: ", b"\\", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xe4\xb8\xad", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xe2\x80\xae", b"\x1b[2J", b"(", b")", b"+", b"-", b"*", b"**", b"/", b"//", b"=", b"==", b"<", b".",
    b"0", b"1", b"9" * 40, b"$", b"~", b"\x7f", b"[" * 300, b"(" * 300, b"{" * 300, b"-" * 300, b"x" * 5000,
    b" " * 5000, b"\xf0\x9f\x98\x80",
)  # fmt: skip
"""What YAML, TOML and formulas give a meaning, and what they forbid."""

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 8, 64, 100, 2147483648, 9223372036854775808, -9223372036854775808, 1.5,
    math.inf, math.nan, "", "x", "auto", "a2a3", "a5", "fp16", "bf16", "fp32", "int32", "int8", "uint8",
    "int64", "inout", "in", "out", "nz", [], {}, [0, 0], [64, 64], [0], [1, 1, 1], [[]], {'a': 1}, "x * x",
    "exp(x)", "i", "i * 64", "num_blocks()", "min(1, 2)", "$mode", "v1", "[0, 0]", "1 // 0", "1 / 0",
    "x[0:8, :]", "x[:, 0:1]", "aiv", "aic", ['a'], "PH001", ['PH001'], "manual", [None, None],
)  # fmt: skip
"""Values of all types."""

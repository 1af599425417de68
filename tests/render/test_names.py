from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.render.names import EXTERNAL, LONGEST, RESERVED, Names, base, external, identifier

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*\Z")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t", "t"),
        ("row_max", "row_max"),
        ("M", "M"),
        ("TR", "TR"),
        ("vec.0", "vec_0"),
        ("ROWS", "rows"),
        ("BLOCK_SIZE", "block_size"),
        ("half", "half_v"),
        ("int", "int_v"),
        ("and", "and_v"),
        ("GM_ADDR", "gm_addr"),
        ("Exp", "Exp_v"),
        ("pipe", "pipe_v"),
        ("stream", "stream_v"),
        ("blockDim", "blockDim_v"),
        ("block_idx", "block_idx_v"),
        ("printf", "printf_v"),
        ("CeilDivide", "CeilDivide_v"),
        ("__a__b_", "a_b"),
        ("2x", "v2x"),
        ("é", "e"),
        ("α", "alpha"),
        ("矩阵", "u77e9u9635"),
        ("", "v"),
        ("num_blocks()", "num_blocks"),
    ],
)
def test_identifiers_read_like_the_name(name: str, expected: str) -> None:
    assert identifier(name) == expected


@given(st.text(max_size=80))
def test_every_name_becomes_a_legal_identifier(name: str) -> None:
    made = identifier(name)
    assert IDENTIFIER.match(made)
    assert made not in RESERVED
    assert len(made) <= LONGEST + 2


@given(st.lists(st.sampled_from(["t", "t_2", "t.2", "T", "t 2", "half", "half_v", "é", "e"]), max_size=12))
def test_names_in_a_scope_are_unique(wanted: list[str]) -> None:
    names = Names(RESERVED)
    made = [names.unique(name) for name in wanted]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("name", ["exp", "add", "softmax", "main", "read", "log", "ROW"])
def test_kernels_do_not_take_names_of_the_c_library(name: str) -> None:
    made = external(name)
    assert made not in EXTERNAL
    assert made == {"exp": "exp_kernel", "main": "main_kernel", "read": "read_kernel", "log": "log_kernel"}.get(
        name, name.lower()
    )


def test_base_drops_the_version_only() -> None:
    assert [base(n) for n in ("t.3", "t", "a.b", "t.1.2")] == ["t", "t", "a.b", "t.1"]


def test_python_keywords_are_no_trouble_in_cpp() -> None:
    assert identifier("lambda") == "lambda"
    assert keyword.iskeyword("lambda")

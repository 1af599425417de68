"""Every spec of the documentation compiles, or gives the code that it is shown for; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.render import render
from pypto_spec.driver import check_text
from pypto_spec.ops.registry import OPS
from tests.docs.generated import DOCS, pages
from tests.docs.samples import ALL, Sample

SPECS = [sample for sample in ALL if sample.spec is not None]
_TEXT = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("sample", SPECS, ids=str)
def test_spec_compiles(sample: Sample) -> None:
    assert sample.spec is not None
    found = check_text(sample.spec, f"sample.{sample.kind}")
    errors = [d for d in found if d.level is Severity.ERROR]
    if sample.code is not None:
        assert {d.rule.code for d in found} == {sample.code}
    else:
        assert not errors, render(errors)


def test_yaml_and_toml_blocks_are_specs_or_say_what_they_are() -> None:
    plain = [
        s for s in ALL if s.kind in ("yaml", "toml") and s.spec is None and not {"statement", "shown:"} & {*s.words}
    ]
    assert not plain, f"no spec, and not marked as part of a statement: {', '.join(map(str, plain))}"


PREDICATE = "          - cmps: {into: m, x: p, scalar: 0, cmp_type: gt}\n"


INDICES = "          - arange: {into: n, shape: [64, 128], start: 0, dtype: int32}\n"


def product(name: str) -> str:
    """The example of an operator of the cube, between loads of what it takes and a store of its result."""
    example = OPS[name].example
    rows = 1 if name.startswith("gemv") else 64
    bring = "".join(
        f"      - load: {{into: {tile}, from: g_{tile}, at: [0, 0], shape: {shape}}}\n"
        for tile, shape in (("a", [rows, 128]), ("b", [128, 128]), ("d", [1, 128]))
    )
    if name == "batch_matmul":
        return (
            "spec: v1\nname: k\ntensors:\n  a: {dtype: fp16, shape: [2, 64, 32]}\n"
            "  b: {dtype: fp16, shape: [2, 32, 64]}\n  out: {dtype: fp32, shape: [2, 64, 64], access: out}\n"
            "program:\n  - region: k\n    body:\n"
            "      - load: {into: l, from: a, at: [0, 0, 0], shape: [2, 64, 32]}\n"
            "      - load: {into: r, from: b, at: [0, 0, 0], shape: [2, 32, 64]}\n"
            f"      {example.replace(': a', ': l').replace(': b', ': r')}\n"
            "      - store: {from: c, to: out, at: [0, 0, 0]}\n"
        )
    if name.endswith("_acc"):
        bring += f"      - {name.removesuffix('_acc')}: {{into: c, lhs: a, rhs: b}}\n"
    last = "      - matmul: {into: c, lhs: a, rhs: bt}\n" if name == "transpose_view" else ""
    return (
        "spec: v1\nname: k\ntensors:\n"
        f"  g_a: {{dtype: fp16, shape: [{rows}, 128]}}\n  g_b: {{dtype: fp16, shape: [128, 128]}}\n"
        f"  g_d: {{dtype: fp32, shape: [1, 128]}}\n  out: {{dtype: fp32, shape: [{rows}, 128], access: out}}\n"
        f"program:\n  - region: k\n    body:\n{bring}      {example}\n{last}"
        "      - store: {from: c, to: out, at: [0, 0]}\n"
    )


def result_of(name: str, dtype: str) -> tuple[str, int]:
    """Dtype and columns of what the example of an operator makes."""
    if name.startswith("cmp"):
        return "uint8", 16
    if name in ("concat", "sort32", "sort", "mrgsort_lists"):
        return dtype, 256
    if name == "topk":
        return dtype, 16
    if name.startswith("record_"):
        return "int32" if name == "record_indices" else dtype, 64
    if name in ("cast", "arange") or "_arg" in name:
        return "bf16" if name == "cast" else "int32", 1 if name.startswith("row_arg") else 128
    return dtype, 1 if name.startswith("row_") and "expand" not in name else 128


@pytest.mark.parametrize("name", OPS)
def test_example_of_an_operator_compiles(name: str) -> None:
    if OPS[name].role == "matmul" or name == "transpose_view":
        found = [d for d in check_text(product(name), "k.yaml") if d.level is Severity.ERROR]
        assert not found, render(found)
        return
    dtypes = [d.name for d in OPS[name].dtypes]
    dtype = "fp32" if "fp32" in dtypes or name in ("load", "store") else dtypes[0]
    kind = "col" if name.startswith("col_expand") else "row"
    shape = "[8, 8]" if name == "reshape" else "[16, 128]" if OPS[name].family == "divide" else "[64, 128]"
    example = OPS[name].example
    tiles = "".join(
        f"          - load: {{into: {tile}, from: x, at: [i * 64, 0], shape: {shape}}}\n"
        for tile in ("a", "b", "t", "y", "s", "p", "q", "w")
        if re.search(rf"\b{tile}\b", example.partition("into: ")[2] or example) or tile in ("t", "y")
    )
    if re.search(r"\bmask: m\b", example):
        tiles += PREDICATE
    if re.search(r"\bindex: n\b", example):
        tiles += INDICES
    bound = re.search(r"into: (\w+)", example)
    used = f"          - store: {{from: {bound[1]}, to: res, at: [0, 0]}}\n" if bound and name != "create_tile" else ""
    made, width = result_of(name, dtype)
    text = (
        "spec: v1\nname: k\ntensors:\n"
        f"  x:   {{dtype: {dtype}, shape: [512, 128]}}\n"
        f"  res: {{dtype: {made}, shape: [512, {width}], access: inout}}\n"
        f"  out: {{dtype: {dtype}, shape: [512, 128], access: inout}}\n"
        "program:\n  - region: k\n    body:\n      - for: {index: i, count: 8}\n        body:\n"
        f"{tiles}          - {kind}_max: {{into: r, x: t}}\n          {example}\n{used}"
    )
    found = check_text(text, "k.yaml")
    errors = [d for d in found if d.level is Severity.ERROR]
    assert not errors, f"{text}\n{render(errors)}"


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.name)
def test_relative_links_lead_somewhere(path: Path) -> None:
    text = _TEXT.sub("", path.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{path.name}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors(target), f"{path.name}: {link} has no such heading"


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as a forge makes them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_pages_hold_no_machine_paths() -> None:
    for path in [*pages(), *DOCS.glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.])/(?:home|root|tmp|work|usr/local)/", text), path.name

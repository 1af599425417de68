"""Strided tensor views: through the rendered C++ against torch, with what stands between the rows left alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.driver.test import prepare
from pypto_spec.golden.device import device_files
from pypto_spec.golden.goldens import golden_test
from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.run import GoldenRun
from pypto_spec.golden.storage import GAP, store
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.strides import are_distinct
from pypto_spec.ops.data.store import ATOMIC
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.render.launcher import binding_files
from pypto_spec.render.manifest import manifest
from pypto_spec.render.program import render_kernels
from pypto_spec.render.tree import tree_of
from tests.golden.harness import Case, assert_good
from tests.render.tools import STUBS, compile_and_run

COPY = """\
spec: v1
name: {name}
{symbols}tensors:
  a:   {{dtype: {dtype}, shape: {shape}{sa}}}
  out: {{dtype: {dtype}, shape: {shape}{so}, access: out}}
program:
  - region: {name}
    body:
      - load:  {{into: t, from: a, at: {at}, shape: {window}}}
      - move:  {{into: y, from: t}}
      - store: {{from: y, to: out, at: {at}}}
golden: {{expect: {{out: a}}{sizes}}}
"""


def copy(name: str, dtype: str, shape: str, sa: str | None, so: str | None, **more: str) -> Case:
    fields = {"symbols": "", "sizes": "", "window": shape, "at": f"[{', '.join('0' for _ in shape.split(','))}]"} | more
    sa, so = (f", strides: {s}" if s else "" for s in (sa, so))
    return Case(COPY.format(name=name, dtype=dtype, shape=shape, sa=sa, so=so, **fields), exact=True, schedules=3)


def spec(text: str) -> Spec:
    return Spec(Source("strided.yaml", text), "yaml", text.encode())


def compiled(text: str) -> Compiled:
    done = compile_spec(spec(text), keep_stages=True)
    assert done.ok, done.findings
    return done


def kernel(text: str) -> str:
    done = compiled(text)
    assert done.program is not None
    return render_kernels(done.program).kernels[0].text


def found(text: str) -> list[Diagnostic]:
    return [d for d in compile_spec(spec(text)).findings if d.rule.code.startswith("PS")]


DTYPES = ("fp32", "fp16", "bf16", "int32", "int16", "int8", "int64", "uint8")


def test_copies_of_every_dtype_and_odd_extents() -> None:
    assert_good(
        [
            copy(f"c_{dtype}_{cols}_{gap}", dtype, f"[7, {cols}]", f"[{cols + gap}, 1]", f"[{cols + 2 * gap}, 1]")
            for dtype in DTYPES
            for cols, gap in ((2, 3), (5, 1), (33, 7), (64, 64))
        ]
    )


def test_views_of_three_dimensions_permuted_rows_and_single_rows() -> None:
    assert_good(
        [
            copy("planes", "fp32", "[3, 5, 12]", "[100, 17, 1]", "[61, 12, 1]"),
            copy("permuted", "fp32", "[3, 5, 12]", "[12, 36, 1]", "[13, 40, 1]"),
            copy("one_row", "fp16", "[1, 40]", "[1000, 1]", "[999, 1]"),
            copy("line", "fp32", "[4, 1, 24]", "[30, 5, 1]", "[25, 1, 1]"),
            copy("whole", "fp32", "[4, 16]", "[16, 1]", None),
        ]
    )


def test_inputs_whose_rows_overlap_are_read_row_by_row() -> None:
    case = copy("sliding", "fp32", "[20, 16]", "[1, 1]", None)
    assert_good(
        [case, copy("same", "fp16", "[9, 24]", "[0, 1]", "[32, 1]"), copy("half", "int8", "[6, 40]", "[8, 1]", None)]
    )
    assert len(re.findall(r"DataCopy\(t", kernel(case.text))) == 20


SYMBOLS = """\
spec: v1
name: pitched
symbols: {{M: {{min: 1, max: 64}}, P: {{min: 40, max: 4096}}, Q: {{min: 64}}}}
tensors:
  a:   {{dtype: fp32, shape: [M, 40], strides: [P, 1]}}
  b:   {{dtype: fp32, shape: [M, 40], access: inout, strides: [P + Q, 1]}}
  out: {{dtype: fp32, shape: [M, 40], strides: [2 * P, 1], access: out}}
program:
  - {grid}
    body:
      - region: pitched
        body:
          - for: {{index: i, count: "ceil_div(M, 32)"}}
            body:
              - load: {{into: t, from: a, at: [{at}, 0], shape: [16, 40], valid: ["{valid}", 40]}}
              - load: {{into: u, from: b, at: [{at}, 0], shape: [16, 40], valid: ["{valid}", 40]}}
              - let: y = t + u
              - store: {{from: y, to: out, at: [{at}, 0]}}
              - store: {{from: t, to: b, at: [{at}, 0]}}
golden:
  sizes: [{{M: 7, P: 48, Q: 64}}, {{M: 64, P: 40, Q: 65}}, {{M: 33, P: 4096, Q: 70}}]
  expect: {{out: a + b, b: a}}
"""


def pitched() -> str:
    row = "b_ * 16 + i * 32"
    return SYMBOLS.format(grid="spmd: {index: b_, blocks: 2}", at=row, valid="min(16, max(0, M - (b_ * 16 + i * 32)))")


def test_row_pitches_of_symbols_in_several_blocks() -> None:
    assert_good([Case(pitched(), schedules=4)])


def test_formulas_on_whole_strided_arrays_are_cut_up_like_dense_ones() -> None:
    text = """\
spec: v1
name: whole
tensors:
  a:   {dtype: fp32, shape: [300, 70], strides: [96, 1]}
  out: {dtype: fp32, shape: [300, 70], strides: [71, 1], access: out}
program:
  - region: whole
    blocks: auto
    body:
      - let: out = exp(a - row_max(a))
golden: {expect: {out: exp(a - row_max(a))}}
"""
    assert_good([Case(text, schedules=4)])


def test_atomic_addition_through_a_strided_view() -> None:
    cases = []
    for dtype in ATOMIC:
        if dtype.name in ("fp16", "bf16", "int8"):  # rounded, or past its range
            continue
        text = copy(f"atomic_{dtype.name}", dtype.name, "[6, 20]", None, "[29, 1]").text
        text = text.replace("access: out", "access: inout").replace(
            "to: out, at: [0, 0]}", "to: out, at: [0, 0], atomic: add}"
        )
        cases.append(Case(text.replace("{out: a}", "{out: a + out}"), exact=dtype.is_float is False, schedules=3))
    assert_good(cases)


def test_a_kernel_that_writes_between_the_rows_is_caught() -> None:
    (tested,) = prepare([spec(copy("gap", "fp32", "[8, 16]", None, "[32, 1]").text)], {}, 1)
    assert tested.subject is not None
    run = GoldenRun(tested.subject, {}, 0)
    assert run.run(0, 1)[1] == []
    (made,) = tested.subject.rendered.kernels
    text = made.text.replace("DataCopyExtParams(8, 64, 0, 64, 0)", "DataCopyExtParams(8, 64, 0, 60, 0)")
    assert text != made.text
    wrong = replace(made, text=text)
    library = compile_kernels([KernelSource(wrong.name, text)])
    outcome = golden_test(replace(tested.subject, library=library))
    assert any("written between its rows" in str(fault) for fault in outcome.faults)


def test_storage_says_which_elements_are_nobodys() -> None:
    module = torch()
    made = store(module.arange(6, dtype=module.float32).reshape(2, 3), (5, 1))
    assert made.flat.tolist() == [0, 1, 2, GAP, GAP, 3, 4, 5]
    assert made.view.tolist() == [[0, 1, 2], [3, 4, 5]]
    made.view[1, 0] = 9
    assert made.touched() == []
    made.flat[4] = 0
    assert made.touched() == [4]
    assert store(module.zeros(0, 3), (5, 1)).flat.numel() == 0


@pytest.mark.parametrize("step", [p.name for p in PASSES])
def test_the_dump_law_holds_for_strided_tensors(step: str) -> None:
    first = compiled(pitched())
    text = dump_text(dict(first.stages)[step], step, first.spec, ".")
    assert "strides: [P, 1]" in text
    again = compiled(text)
    assert kernel(text) == kernel(pitched())
    assert dump_text(again.frontend, step, again.spec, ".") == text


def test_rows_too_far_apart_for_one_copy_are_copied_one_by_one() -> None:
    widest = (4_294_967_295 + 64) // 4 // 8 * 8
    near = copy("near", "fp32", "[4, 16]", f"[{widest}, 1]", None).text
    far = copy("far", "fp32", "[4, 16]", f"[{widest + 16}, 1]", None).text
    assert f"DataCopyExtParams(4, 64, {widest * 4 - 64}, 0, 0)" in kernel(near)
    assert re.findall(r"DataCopy\(t.*", kernel(far)) == [
        "DataCopy(t, a, 16);", *(f"DataCopy(t[{n * 16}], a[{n * (widest + 16)}], 16);" for n in (1, 2, 3))
    ]  # fmt: skip
    (wrong,) = found(copy("many", "fp32", "[300, 16]", f"[{widest + 16}, 1]", None).text)
    assert wrong.rule.code == "PS3001"
    assert "each row is a copy of its own, 256 at most" in wrong.message


def test_the_binding_and_the_manifest_know_the_strides() -> None:
    done = compiled(pitched())
    assert done.program is not None
    rendered = render_kernels(done.program)
    text = binding_files(rendered)["binding/binding.cpp"]
    assert 'Strided(a, {P, 1}, "a");' in text
    assert 'Strided(b, {P + Q, 1}, "b");' in text
    assert "Contiguous(" not in text
    assert "const int64_t P = a.stride(0);" in text
    assert "at::empty_strided({M, 40}, {P * 2, 1}, a.options()" in text
    assert json.loads(manifest(rendered))["arguments"][0]["strides"] == ["P", 1]


def test_the_binding_compiles(tmp_path: Path) -> None:
    done = compiled(pitched())
    assert done.program is not None
    files = tree_of(render_kernels(done.program))
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    signature = re.search(r"int32_t pitched_launch\([^;]*\)", files["launcher/launch.h"])
    assert signature is not None
    bare = re.sub(r" (\w+)(?=[,)])", "", signature[0])
    (tmp_path / "main.cpp").write_text(f'#include "launcher/launch.h"\n{bare} {{ return 0; }}\nint main() {{}}\n')
    compile_and_run(tmp_path, [tmp_path / "main.cpp", tmp_path / "binding/binding.cpp"], [tmp_path, STUBS])


def test_elements_that_stand_apart_can_be_loaded_as_the_message_says() -> None:
    text = """\
spec: v1
name: every_other
tensors:
  a:   {dtype: fp32, shape: [8, 16, 1], strides: [40, 2, 1]}
  out: {dtype: fp32, shape: [128, 1], access: out}
program:
  - region: every_other
    body:
      - load: {into: wide, from: a, at: [0, 0, 0], shape: [8, 16, 8], valid: [8, 16, 1]}
      - row_max: {into: c, x: wide}
      - reshape: {into: y, x: c, shape: [128, 1]}
      - store: {from: y, to: out, at: [0, 0]}
golden: {expect: {out: "reshape(a, [128, 1])"}}
"""
    assert_good([Case(text, exact=True)])


def test_a_device_case_brings_whole_memories() -> None:
    (tested,) = prepare([spec(copy("dev", "fp32", "[4, 8]", "[9, 1]", "[10, 1]").text)], {}, 1)
    assert tested.subject is not None
    files = device_files(tested.subject)
    assert len(files["golden/data/case0/a.in.bin"]) == (3 * 9 + 8) * 4
    assert len(files["golden/data/case0/out.in.bin"]) == (3 * 10 + 8) * 4
    assert len(files["golden/data/case0/out.expected.bin"]) == (3 * 10 + 8) * 8
    (case,) = json.loads(files["golden/index.json"])["cases"]
    assert [t["strides"] for t in case["tensors"]] == [[9, 1], [10, 1]]


def test_a_window_outside_the_shape_is_refused_though_memory_is_there() -> None:
    text = copy("out_of", "fp32", "[8, 16]", "[64, 1]", None, window="[8, 24]").text
    assert [d.rule.code for d in found(text)] == ["PS3004"]


BAD = [
    ("[16, 2]", None, "PS3061", "8 B apart"),
    (None, "[16, 2]", "PS3061", "8 B apart"),
    ("[16]", None, "PS3001", "1 entries"),
    ("[-16, 1]", None, "PS1019", "is -16"),
    (None, "[8, 1]", "PS3062", "share memory"),
    (None, "[0, 1]", "PS3062", "share memory"),
    (None, "[P, 1]", "PS3062", "may share memory"),
    ("[P - 9, 1]", None, "PS1019", "at least -8"),
]


@pytest.mark.parametrize(("sa", "so", "code", "said"), BAD)
def test_strides_that_cannot_be(sa: str | None, so: str | None, code: str, said: str) -> None:
    text = copy("bad", "fp32", "[8, 16]", sa, so, symbols="symbols: {P: {min: 1}}\n", sizes=", sizes: [{P: 16}]").text
    (wrong,) = found(text)
    assert (wrong.rule.code, said in wrong.message) == (code, True), wrong.message
    assert wrong.helps


def test_one_strided_column_says_how_to_load_it() -> None:
    (wrong,) = found(copy("column", "fp32", "[64, 1]", "[8, 1]", None).text)
    assert wrong.rule.code == "PS3007"
    assert any("shape: [64, 8], valid: [64, 1]" in way for way in wrong.helps)
    good = """\
spec: v1
name: column
tensors:
  a:   {dtype: fp32, shape: [64, 1], strides: [9, 1]}
  out: {dtype: fp32, shape: [64, 1], access: out}
program:
  - region: column
    body:
      - load: {into: wide, from: a, at: [0, 0], shape: [64, 8], valid: [64, 1]}
      - row_max: {into: c, x: wide}
      - store: {from: c, to: out, at: [0, 0]}
golden: {expect: {out: a}}
"""
    assert_good([Case(good, exact=True)])


def test_which_strides_keep_elements_apart() -> None:
    pitch = sym(Sym("P", "dim", 40))
    rows = sym(Sym("M", "dim", 1))
    assert are_distinct((rows, 40), (pitch, 1))
    assert not are_distinct((rows, 41), (pitch, 1))
    assert are_distinct((3, 4), (1, 3))
    assert not are_distinct((3, 4), (1, 2))
    assert are_distinct((1, 4), (0, 1))
    assert not are_distinct((2, 2, 2, 2, 2, 2, 2), (1,) * 7)

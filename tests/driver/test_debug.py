"""Debug statements: gone without `--debug`, shown by the host model with it, and always the finished value."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("torch")

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver import test as driver
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Gathered, Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.golden.mutate import judge
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.render.manifest import manifest
from pypto_spec.render.program import render_kernels

HEAD = """\
spec: v1
name: shown
scalars: {eps: fp32, n: int32}
constants: {TR: 8, half: 0.5, word: rint}
tensors:
  a:   {dtype: fp32, shape: [4 * TR, 20]}
  out: {dtype: fp32, shape: [4 * TR, 20], access: out}
program:
  - spmd: {index: b, blocks: 2}
    body:
      - region: shown
        body:
          - for: {index: i, count: 2}
            body:
              # first
              - load: {into: t, from: a, at: [(b * 2 + i) * TR, 0], shape: [TR, 20]}
              # second
              - let: y = t * 2 + 1
              # third
              - store: {from: y, to: out, at: [(b * 2 + i) * TR, 0]}
              # fourth
golden: {expect: {out: a * 2 + 1}}
"""
SHOWN = {
    "first": '- debug: {print: "block {b} row {(b * 2 + i) * TR} {eps} {n - 1} {half} {word} {{x}} \\"y.1\\""}',
    "second": '- debug: {dump: t, count: 30, label: "as loaded"}',
    "third": "- debug: {dump: y}",
    "fourth": "- debug: {dump: out, at: [(b * 2 + i) * TR, 0], shape: [2, 8], label: stored}",
}


def spec(*wanted: str, text: str = HEAD) -> Spec:
    for word in wanted:
        text = text.replace(f"# {word}\n", f"{SHOWN[word]}\n")
    return Spec(Source("shown.yaml", text), "yaml", text.encode())


def compiled(one: Spec, debug: bool = True) -> Compiled:
    done = compile_spec(one, keep_stages=True, debug=debug)
    assert done.ok, done.findings
    return done


def kernel(done: Compiled) -> str:
    assert done.program is not None
    return render_kernels(done.program).kernels[0].text


def shown_by(one: Spec) -> driver.Tested:
    (made,) = driver.run_goldens(Gathered([one]), driver.TestOptions(jobs=1, debug=True))
    assert made.ok, made.findings
    return made


def test_without_debug_the_kernel_is_the_same_by_the_byte() -> None:
    plain = compiled(spec(), debug=False)
    asked = compiled(spec(*SHOWN), debug=False)
    assert kernel(asked) == kernel(plain)
    assert not asked.findings
    assert asked.program is not None
    assert json.loads(manifest(render_kernels(asked.program)))["debug"] is False


def test_without_debug_what_only_a_dump_reads_is_no_unused_value() -> None:
    text = HEAD.replace("# third\n", "- let: extra = exp(t) + y\n").replace("# fourth\n", "- debug: {dump: extra}\n")
    assert not compiled(spec(text=text), debug=False).findings
    without = text.replace("- debug: {dump: extra}\n", "\n")
    assert [d.rule.code for d in compiled(spec(text=without), debug=False).findings] == ["PS2020"]
    assert "Exp(" not in kernel(compiled(spec(text=text), debug=False))
    assert "Exp(" in kernel(compiled(spec(text=text)))


def test_with_debug_the_manifest_says_so() -> None:
    done = compiled(spec("third"))
    assert done.program is not None
    assert json.loads(manifest(render_kernels(done.program)))["debug"] is True


def test_the_calls_and_what_they_wait_for() -> None:
    text = kernel(compiled(spec(*SHOWN)))
    assert 'printf("block %d row %d %f %d 0.5 rint {x} \\"y.1\\"\\n", b, b * 16 + i * 8, eps, n - 1);' in text
    assert 'WaitFlag<HardEvent::MTE2_S>(0);\n        printf("line 17: t, fp32[8, 20]: as loaded\\n");' in text
    assert "DumpTensor(t, 17, 32);" in text, "rounded up to 32 B"
    assert "DumpTensor(out[b * 320 + i * 160 + 20], 21, 8);" in text


def test_the_host_model_shows_finished_values_block_by_block() -> None:
    made = shown_by(spec(*SHOWN))
    assert made.outcome is not None and made.subject is not None
    lines = made.outcome.shown
    assert [line.split("]")[0] for line in lines] == [
        f"[shown block {b}/2" for b in range(2) for _ in range(2 * (1 + 2 + 2 + 3))
    ]
    starts = [line.split("] ")[1] for line in lines if "row" in line]
    assert [re.sub(r" -?[0-9.]+ -?[0-9]+ 0\.5.*", "", s) for s in starts] == [
        f"block {b} row {(b * 2 + i) * 8}" for b in range(2) for i in range(2)
    ]
    loaded = [_numbers(line) for line in lines if "DumpTensor 17" in line]
    doubled = [_numbers(line) for line in lines if "DumpTensor 19" in line]
    stored = [_numbers(line) for line in lines if "DumpTensor 21" in line]
    assert len(loaded) == len(doubled) == 4
    assert len(stored) == 8
    for first, then in zip(loaded, doubled, strict=True):
        assert then[:20] == pytest.approx([x * 2 + 1 for x in first[:20]], rel=1e-5)
    for number, row in enumerate(stored):
        tile = doubled[number // 2]
        assert row == (tile[:8] if number % 2 == 0 else tile[24:32])


def _numbers(line: str) -> list[float]:
    return [float(word) for word in line.partition("[")[2].partition("[")[2].strip("]").split(", ") if word != "?"]


def test_an_undefined_element_is_shown_as_such() -> None:
    text = HEAD.replace("shape: [TR, 20]}", "shape: [TR, 24], valid: [TR, 20]}")
    made = shown_by(spec("second", text=text))
    assert made.outcome is not None
    shown = next(line for line in made.outcome.shown if "DumpTensor" in line)
    values = shown.partition(": [")[2].strip("]").split(", ")
    assert len(values) == 32
    assert "?" not in values[:20]
    assert values[20:24] == ["0"] * 4 or "?" in values[20:24] or values[20] == values[0]


def test_every_flag_between_a_dump_and_another_pipe_is_needed() -> None:
    made = shown_by(spec("second", "third"))
    assert made.subject is not None
    verdicts = [v for v in judge(made.subject) if re.search(r"\bs>|>s\b", str(v.mutant))]
    assert len(verdicts) > 6
    assert all(v.dead for v in verdicts), [str(v.mutant) for v in verdicts if not v.dead]


def test_a_dump_keeps_its_tile_alive() -> None:
    late = HEAD.replace("# fourth\n", "- debug: {dump: t}\n")
    with_dump, without = kernel(compiled(spec(text=late))), kernel(compiled(spec(text=late), debug=False))
    places = re.compile(r"LocalTensor<float> (\w) = ub.GetWithOffset<float>\(\d+, (\d+)\)")
    assert dict(places.findall(without)) == {"t": "0", "y": "0"}
    assert dict(places.findall(with_dump))["t"] != dict(places.findall(with_dump))["y"]
    shown_by(spec(text=late))


@pytest.mark.parametrize("step", [p.name for p in PASSES])
def test_the_dump_law_holds_with_debug_statements(step: str) -> None:
    first = compiled(spec(*SHOWN))
    text = dump_text(dict(first.stages)[step], step, first.spec, ".")
    assert text.count("- debug: {") == 4
    again = compiled(Spec(Source("dump.yaml", text), "yaml", text.encode()), debug=False)
    assert kernel(again) == kernel(first)
    assert dump_text(again.frontend, step, again.spec, ".") == text


def test_the_text_follows_unrolled_indices_and_numbers() -> None:
    text = HEAD.replace("- for: {index: i, count: 2}", "- unroll: {index: i, count: 2}").replace(
        "# first\n", '- let: row = i * 8 + b\n              - debug: {print: "row {row + 1}"}\n'
    )
    made = kernel(compiled(spec(text=text)))
    assert 'printf("row %d\\n", b + 1);' in made
    assert 'printf("row %d\\n", b + 9);' in made


def test_a_long_dump_is_cut_and_rows_that_lie_apart_are_shown_one_by_one() -> None:
    text = """\
spec: v1
name: long
tensors:
  a:   {dtype: fp16, shape: [128, 128]}
  out: {dtype: fp16, shape: [128, 128], access: out}
program:
  - region: long
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [128, 128]}
      - debug: {dump: t}
      - slice: {into: s, x: t, at: [3, 16], shape: [4, 32]}
      - debug: {dump: s}
      - store: {from: t, to: out, at: [0, 0]}
golden: {expect: {out: a}}
"""
    one = Spec(Source("long.yaml", text), "yaml", text.encode())
    made = kernel(compiled(one))
    assert re.findall(r"DumpTensor\((.*)\);", made) == [
        "t, 10, 8192", "t[8192], 10, 8192", "s, 12, 32", "s[128], 12, 32", "s[256], 12, 32", "s[384], 12, 32",
    ]  # fmt: skip
    shown_by(one)


CASES = [
    ('- debug: {print: "row {i"}', "PS1060", "a `{` without its `}`"),
    ('- debug: {print: "row i}"}', "PS1060", "a `}` without its `{`"),
    ('- debug: {print: "row {}"}', "PS1060", "braces hold one integer expression"),
    ('- debug: {print: "row {i:d}"}', "PS1060", "braces hold one integer expression"),
    ('- debug: {print: "row {i +}"}', "PS1017", ""),
    ('- debug: {print: "row {j}"}', "PS2001", "`j` is not defined"),
    ('- debug: {print: "50 %"}', "PS1060", "cannot print '%'"),
    ('- debug: {print: "größe"}', "PS1060", "cannot print"),
    ("- debug: {dump: t, label: 50 %}", "PS1060", "cannot print '%'"),
    ("- debug: {}", "PS1015", "found neither"),
    ("- debug: {print: hello, dump: t}", "PS1022", "found both"),
    ("- debug: {print: hello, count: 3}", "PS1022", "`count` belongs to `dump`"),
    ("- debug: {dump: t, count: 0}", "PS1019", "192 elements"),
    ("- debug: {dump: t, count: 193}", "PS1019", "193"),
    ("- debug: {dump: t, count: i}", "PS1019", "`count` is i"),
    ("- debug: {dump: t, at: [0, 0]}", "PS1022", "`at` cuts a window of a tensor"),
    ("- debug: {dump: a}", "PS1015", "needs `at`"),
    ("- debug: {dump: a, at: [0, 0], shape: [40, 8]}", "PS3004", ""),
    ("- debug: {dump: a, at: [0, 0], shape: [2, 5]}", "PS3060", "20 B"),
    ("- debug: {dump: out, at: [0, 0], shape: [2, 5], count: 3}", "PS1022", "`count` is for tiles"),
    ("- debug: {dump: eps}", "PS3011", "`eps` is fp32"),
    ("- debug: {dump: nothing}", "PS2001", ""),
]


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(("line", "code", "said"), CASES)
def test_mistakes_are_found_with_and_without_debug(line: str, code: str, said: str, debug: bool) -> None:
    text = HEAD.replace("# fourth", line)
    done = compile_spec(spec(text=text), debug=debug)
    assert [d.rule.code for d in done.findings] == [code], done.findings
    assert said in done.findings[0].message
    assert done.findings[0].primary.span.line == 21
    assert done.findings[0].helps


def test_a_region_on_whole_arrays_says_that_tiles_are_needed() -> None:
    text = """\
spec: v1
name: whole
tensors:
  a:   {dtype: fp32, shape: [64, 64]}
  out: {dtype: fp32, shape: [64, 64], access: out}
program:
  - region: whole
    body:
      - debug: {print: hello}
      - let: out = a * 2
"""
    done = compile_spec(Spec(Source("whole.yaml", text), "yaml", text.encode()), debug=True)
    assert [d.rule.code for d in done.findings] == ["PS3011"]

"""`fix`: what is applied, what is refused, and that safe fixes keep the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.driver.fix import Fixed, fix_spec
from pypto_spec.driver.inputs import Spec, gather
from pypto_spec.render.program import render_kernels
from pypto_spec.spec.load import format_of
from tests.diagnostics.test_fixes import GOOD, LOAD, STORE, headed, spec

THREE = spec(LOAD, "exp: {into: y, x: tt}", "exp: {into: z, x: t}", STORE).replace("fp32", "float32", 1)


def fixed(text: str, *, unsafe: bool = False, name: str = "k.yaml", data: bytes | None = None) -> Fixed:
    return fix_spec(Spec(Source(name, text), format_of(name), text.encode() if data is None else data), unsafe=unsafe)


def kernels(text: str) -> list[str]:
    program = compile_source(Source("k.yaml", text)).program
    assert program is not None
    return [
        line for k in render_kernels(program, None).kernels for line in k.text.splitlines() if "// line" not in line
    ]


def test_safe_fixes_alone_without_unsafe() -> None:
    text = spec(LOAD, "exp: {into: y, x: tt}", "exp: {into: z, x: t}", STORE).replace(
        "dtype: fp32", "dtype: float32", 1
    )
    done = fixed(text)
    assert done.after == text.replace("float32", "fp32")
    assert done.done == ["replace `float32` by `fp32`"]
    assert [d.rule.code for d in done.findings] == ["PS2001"]
    assert done.unsafe_left == 1


def test_unsafe_fixes_all_until_nothing_changes() -> None:
    text = spec(LOAD, "exp: {into: y, x: tt}", "exp: {into: z, x: t}", STORE).replace(
        "dtype: fp32", "dtype: float32", 1
    )
    done = fixed(text, unsafe=True)
    assert done.after == GOOD
    assert done.findings == []
    assert fixed(done.after, unsafe=True).changed is False


def test_a_chain_of_unused_statements_goes_round_by_round() -> None:
    done = fixed(spec(LOAD, "exp: {into: y, x: t}", "exp: {into: u, x: t}", "log: {into: v, x: u}", STORE))
    assert done.after == GOOD


def test_safe_fixes_keep_the_kernel() -> None:
    text = spec(
        LOAD, "exp: {into: y, x: t}", "log: {into: v, x: t}", STORE,
        head="spec: v1\nname: k\ntarget: {platform: a2a3, unit_flag: true}\ndiagnostics: {disable: [PS4001]}\n",
    )  # fmt: skip
    done = fixed(text)
    assert done.findings == [] and len(done.done) == 3
    assert kernels(done.after) == kernels(text)


def test_fixes_that_make_it_worse_are_left_out() -> None:
    # `[0]` is a list, as was asked, and has too few entries then: nothing is gained but nothing is lost either.
    done = fixed(GOOD.replace("at: [0, 0], shape", "at: 0, shape"), unsafe=True)
    assert "at: [0], shape" in done.after
    # The nearest name is no tile: the error stays one error, in another place.
    assert not fixed(GOOD.replace("x: t}", "x: qqqq}"), unsafe=True).changed


def test_an_unreadable_result_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from pypto_spec.driver import fix

    monkeypatch.setattr(fix, "with_fixes", lambda text, fixes: text + "]")
    done = fixed(headed("target: {unit_flag: true}"))
    assert not done.changed and done.done == []


def test_what_two_fixes_undo_each_other_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from pypto_spec.driver import fix

    other = headed("target: {l0c_double_buffer: true}")
    text = headed("target: {unit_flag: true}")
    monkeypatch.setattr(fix, "with_fixes", lambda old, fixes: other if old == text else text)
    assert fixed(text).after in (text, other)


def test_variants_are_fixed_alike_and_only_in_what_they_share() -> None:
    head = "spec: v1\nname: k\nconstants: {USE: 1}\nvariants: {matrix: {USE: [0, 1]}}\n"
    text = spec(
        LOAD, "exp: {into: y, x: t}", "log: {into: v, x: t}", "let: w = t * 2",
        "if: USE == 1\n        then: [{store: {from: w, to: out, at: [0, 0]}}]", STORE, head=head,
    )  # fmt: skip
    done = fixed(text)
    assert "log:" not in done.after
    assert "let: w" in done.after


def test_toml_and_the_mark_at_the_start() -> None:
    text = 'spec = "v1"\nname = "k"\n[target]\nunit_flag = true\n[tensors]\n' + (
        'a = {dtype = "float32", shape = [64, 64]}\nout = {dtype = fp32, shape = [64, 64], access = "out"}\n'
        '[[program]]\nregion = "r"\n[[program.body]]\nlet = "out = exp(a)"\n'
    )
    done = fixed(text, name="k.toml", data=b"\xef\xbb\xbf" + text.encode())
    assert done.after.startswith("\ufeff") and done.findings == []
    assert "unit_flag" not in done.after and 'dtype = "fp32", shape' in done.after


def test_files_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text(headed("target: {unit_flag: true}"))
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    (one,) = (fix_spec(s) for s in gather([str(link)]).specs)
    one.write()
    assert link.is_symlink() and path.read_text() == GOOD


@pytest.mark.parametrize("text", ["", "\t", "[", "spec: v1\n\ud800", "a: &a [*a]", "- - -\n\t- x"])
def test_nonsense_never_raises(text: str) -> None:
    fixed(text, unsafe=True, data=b"")

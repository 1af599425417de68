"""Building: caching by content, isolation inside a batch, and messages when building fails."""

from __future__ import annotations

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pypto_spec.host import (
    ArgSpec,
    CompileError,
    CompilerMissingError,
    GmArg,
    KernelSource,
    ScalarArg,
    compile_kernels,
    default_cache,
)
from tests.host.rendered import gm, pack, render, values

AO = (("a", "fp32"), ("out", "fp32"))


def simple(name: str, helper: int, note: str = "") -> KernelSource:
    source = render(
        name,
        AO,
        f"""
        LocalTensor<float> t = ub.GetWithOffset<float>(64, 0);
        DataCopy(t, ga, 64);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Adds(t, t, (float)kHelper, 64);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(gout, t, 64); // store {note}
        """,
        ub=helper,
    )
    return source


def test_kernels_of_a_batch_may_use_the_same_names() -> None:
    library = compile_kernels([simple("same_a", 4096), simple("same_b", 8192)])
    for name, helper in (("same_a", 4096), ("same_b", 8192)):
        args = [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]
        assert library.run(name, args).ok
        assert values(args[1]) == [1.0 + helper] * 64
    assert library.kernels == ("same_a", "same_b")


def test_second_compile_takes_the_cached_library(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [simple("cached_a", 4096), simple("cached_b", 4096)]
    compile_kernels(kernels)
    monkeypatch.setattr("subprocess.run", lambda *args, **options: pytest.fail("compiled again"))
    compile_kernels(kernels)
    compile_kernels(kernels[1:])


def test_only_missing_kernels_are_compiled() -> None:
    fresh = str(time.time_ns())
    kept = simple("kept", 4096)
    compile_kernels([kept])
    library = compile_kernels([kept, simple("added", 4096, fresh)])
    args = [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]
    assert library.run("added", args).ok and library.run("kept", args).ok


def test_same_name_with_other_text_is_another_kernel() -> None:
    first = compile_kernels([simple("twin", 4096)])
    second = compile_kernels([simple("twin", 8192)])
    for library, helper in ((first, 4096), (second, 8192), (first, 4096)):
        args = [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]
        library.run("twin", args)
        assert values(args[1])[0] == 1.0 + helper


def test_compile_error_names_the_kernel_and_its_line() -> None:
    broken = KernelSource("broken", simple("broken", 4096).text.replace("Adds(t, t,", "Addz(t, t,"))
    with pytest.raises(CompileError, match=r"broken\.cpp:\d+.*Addz") as caught:
        compile_kernels([simple("fine", 4096, "beside a broken one"), broken])
    line = next(i for i, text in enumerate(broken.text.splitlines(), 1) if "Addz" in text)
    assert f"broken.cpp:{line}:" in str(caught.value)


def test_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(CompilerMissingError, match=r"apt-get install g\+\+"):
        compile_kernels([simple("any", 4096)], cache=tmp_path)


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match="identifier"):
        compile_kernels([KernelSource("a-b", "")])
    with pytest.raises(ValueError, match="twice"):
        compile_kernels([simple("twice", 4096), simple("twice", 8192)])


def test_kernel_may_be_called_like_a_function_of_the_c_library() -> None:
    library = compile_kernels([simple("exp", 4096), simple("abs", 4096)])
    assert library.run("exp", [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]).ok


SCALARS = render(
    "scalars",
    (("out", "int32"), ("i", "int32_t"), ("l", "int64_t"), ("f", "float"), ("b", "bool"), ("h", "half")),
    """
    LocalTensor<int32_t> t = ub.GetWithOffset<int32_t>(8, 0);
    Duplicate(t, (int32_t)(i + l + (int64_t)f + (b ? 1000 : 0) + (int32_t)(float)h), 8);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gout, t, 8);
    """,
)


def test_arguments_by_value() -> None:
    library = compile_kernels([SCALARS])
    assert library.signature("scalars") == (
        ArgSpec("gm", ""),
        ArgSpec("scalar", "int32"),
        ArgSpec("scalar", "int64"),
        ArgSpec("scalar", "fp32"),
        ArgSpec("scalar", "bool"),
        ArgSpec("scalar", "fp16"),
    )
    out = gm("int32", [0] * 8)
    by_value = [ScalarArg(-5), ScalarArg(2**31), ScalarArg(40.0), ScalarArg(True), ScalarArg(7.0)]
    assert library.run("scalars", [out, *by_value]).ok
    assert values(out) == [-5 + 2**31 + 40 + 1000 + 7 - 2**32] * 8
    with pytest.raises(TypeError, match="6 arguments"):
        library.run("scalars", [out])
    with pytest.raises(TypeError, match="not an integer"):
        library.run("scalars", [out, ScalarArg(0.5), *by_value[1:]])
    with pytest.raises(TypeError, match="passed by value"):
        library.run("scalars", [out, out, *by_value[1:]])
    with pytest.raises(TypeError, match="GM address"):
        library.run("scalars", [ScalarArg(1), *by_value])


def test_buffers_of_every_sort() -> None:
    library = compile_kernels([simple("buffers", 4096)])
    source = bytes(pack("fp32", [1.0] * 64))
    array = (ctypes.c_float * 64)()
    address = GmArg(ctypes.addressof(array), "fp32", nbytes=256)
    assert library.run("buffers", [GmArg(source, "fp32", readonly=True), address]).ok
    assert list(array) == [4097.0] * 64
    view = memoryview(bytearray(512))[256:]
    assert library.run("buffers", [GmArg(source, "fp32", readonly=True), GmArg(view, "fp32")]).ok
    assert bytes(view) == bytes(array)
    with pytest.raises(ValueError, match="readonly=True"):
        library.run("buffers", [GmArg(source, "fp32"), address])
    with pytest.raises(TypeError, match="nbytes"):
        library.run("buffers", [GmArg(source, "fp32", readonly=True), GmArg(ctypes.addressof(array), "fp32")])


def test_default_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYPTO_SPEC_CACHE", str(tmp_path))
    assert default_cache() == tmp_path / "host"
    monkeypatch.delenv("PYPTO_SPEC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_cache() == tmp_path / "x" / "pypto-spec" / "host"


def test_fifty_kernels_compile_within_their_budget() -> None:
    compile_kernels([simple("warm_up", 4096)])
    fresh = str(time.time_ns())
    kernels = [simple(f"many_{i}", 4096, fresh) for i in range(50)]
    start = time.perf_counter()
    compile_kernels(kernels)
    assert time.perf_counter() - start < 2.5 * 4  # measured 0.4 s; the machine may be shared


def test_caches_in_several_places_share_one_engine(tmp_path: Path) -> None:
    here = compile_kernels([simple("elsewhere", 4096)])
    engines = list(default_cache().glob("libpypto_host_*.so"))  # older ones too; only the current is asked for
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for engine in engines:
            (tmp_path / name / engine.name).symlink_to(engine)
    for library in (
        here,
        compile_kernels([simple("elsewhere", 4096)], cache=tmp_path / "one"),
        compile_kernels([simple("elsewhere", 4096)], cache=tmp_path / "two"),
    ):
        args = [gm("fp32", [1.0] * 64), gm("fp32", [0.0] * 64)]
        assert library.run("elsewhere", args).ok
        assert values(args[1]) == [4097.0] * 64


FAULTY = render("divides", (("n", "int32_t"),), "volatile int z = n;\nz = 1000 / z;\n")


def test_threads_run_kernels_side_by_side() -> None:
    library = compile_kernels([simple("threaded", 4096), FAULTY])

    def work(seed: int) -> bool:
        args = [gm("fp32", [float(seed)] * 64), gm("fp32", [0.0] * 64)]
        sound = library.run("threaded", args, seed=seed).ok and values(args[1]) == [4096.0 + seed] * 64
        return sound and library.run("divides", [ScalarArg(0)], seed=seed).kinds() == {"crash"}

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(200)))

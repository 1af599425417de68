"""`map` and `diff-passes`: what they write, and what they say where they cannot."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.run import process, run
from tests.cli.specs import BAD, GOOD, OVERFLOW, ROOT, write
from tests.pages.specs import overlapping

VARIANTS = str(ROOT / "specs" / "vector" / "axpy_variants.yaml")


def test_formats_and_where_they_go(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, good=GOOD)
    printed = run("map", spec, "--format", "json")
    assert json.loads(printed.stdout)["map"] == 1
    assert run("map", spec, "--format", "json", "-o", str(tmp_path / "m.json")).stdout == ""
    assert (tmp_path / "m.json").read_text() == printed.stdout
    drawing = run("map", spec, "--format", "svg").stdout
    assert ElementTree.fromstring(drawing).tag == "{http://www.w3.org/2000/svg}svg"
    page = run("map", spec)
    assert page.exit_code == 2
    assert "name a file for the page with -o" in page.stderr
    target = tmp_path / "new" / "m.html"
    done = run("map", spec, "-o", str(target))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"written: {target}\n")
    assert target.read_text().startswith("<!doctype html>")
    assert [p.name for p in target.parent.iterdir()] == ["m.html"]


def test_output_depends_on_the_spec_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, good=GOOD)
    for command in ("map", "diff-passes"):
        for seed in ("1", "2"):
            done = process(command, "good.yaml", "-o", seed, cwd=tmp_path, PYTHONHASHSEED=seed)
            assert done.returncode == 0, done.stderr
        assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_all_variants_or_those_that_are_named() -> None:
    keys = [p["variant"] for p in json.loads(run("map", VARIANTS, "--format", "json").stdout)["programs"]]
    assert len(keys) == 5
    one = json.loads(run("map", VARIANTS, "--format", "json", "--variant", keys[1]).stdout)
    assert [p["variant"] for p in one["programs"]] == [keys[1]]
    assert len(run("map", VARIANTS, "--format", "svg").stdout) > 3 * len(
        run("map", VARIANTS, "--format", "svg", "--variant", keys[1]).stdout
    )


def test_constants_are_replaced(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, good=GOOD)
    found = json.loads(run("map", spec, "--format", "json", "-D", "C=128").stdout)
    assert found["programs"][0]["kernels"][0]["memories"][0]["end"] == 16 * 128 * 4


def test_steps_through_one_variant(tmp_path: Path) -> None:
    done = run("diff-passes", VARIANTS, "-o", str(tmp_path / "p.html"))
    assert done.exit_code == 2
    assert "holds several variants; choose one with --variant" in done.stderr
    key = json.loads(run("map", VARIANTS, "--format", "json").stdout)["programs"][0]["variant"]
    assert run("diff-passes", VARIANTS, "-o", str(tmp_path / "p.html"), "--variant", key).exit_code == 0
    assert f"[{key}]</h1>" in (tmp_path / "p.html").read_text()


def test_a_dump_with_wrong_addresses_is_drawn_and_refused(tmp_path: Path) -> None:
    dump = overlapping(ROOT / "specs" / "vector" / "softmax.yaml", tmp_path / "d.yaml")
    done = run("map", str(dump), "-o", str(tmp_path / "m.html"))
    assert done.exit_code == 1
    assert "error[PS4004]" in done.stderr
    assert 'class="conflict"' in (tmp_path / "m.html").read_text()
    over = run("map", *write(tmp_path, over=OVERFLOW), "--format", "svg")
    assert over.exit_code == 1
    assert "PS4001" in over.stderr
    assert "<svg" in over.stdout


@pytest.mark.parametrize("command", ["map", "diff-passes"])
def test_what_is_wrong_ends_without_a_file_and_without_a_traceback(command: str, tmp_path: Path) -> None:
    good, bad = write(tmp_path, good=GOOD, bad=BAD)
    target = tmp_path / "out.html"
    for text, code in ((bad, 1), (str(tmp_path / "none.yaml"), 2), (str(tmp_path), 2)):
        done = process(command, text, "-o", str(target))
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert not target.exists()
    (tmp_path / "file").write_text("")
    done = process(command, good, "-o", str(tmp_path / "file" / "out.html"))
    assert (done.returncode, "cannot write" in done.stderr) == (2, True)
    assert run(command, good, "-o", str(target), "--variant", "x").exit_code == 2


def test_nothing_on_chip_is_a_page_too(tmp_path: Path) -> None:
    text = "spec: v1\nname: idle\ntensors: {x: {dtype: fp32, shape: [8]}}\nprogram: []\n"
    (spec,) = write(tmp_path, idle=text)
    done = run("map", spec, "-o", str(tmp_path / "m.html"))
    assert done.exit_code == 0, done.stderr
    assert "keeps anything on chip" in (tmp_path / "m.html").read_text()
    assert run("map", spec, "--format", "svg").exit_code == 0

"""`tune`: what is tried, what is compared, who wins."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pypto_spec.driver import test as goldens
from pypto_spec.driver.inputs import UsageError
from pypto_spec.driver.session import compile_spec
from pypto_spec.driver.tune import TuneOptions, tune_spec
from pypto_spec.driver.tuning.candidate import Candidate, Modelled, Refused, model
from pypto_spec.driver.tuning.document import SCHEMA, document_text
from pypto_spec.driver.tuning.ranking import rank
from pypto_spec.driver.tuning.space import parse_space
from pypto_spec.driver.tuning.text import text
from pypto_spec.driver.variants import variants_of
from pypto_spec.render.program import render_kernels
from pypto_spec.report.timeline import modelled
from pypto_spec.report.timeline import program as timelines
from pypto_spec.targets import TARGETS
from tests.driver.tunable import PIPELINED, REPEATED, RESIZED, RUN_TIME, VARIANTS, spec_of, tuned


def axes(*words: str) -> dict[str, tuple[str, ...]]:
    return {axis.name: axis.values for axis in parse_space(words).axes}


def test_ranges_and_lists() -> None:
    assert axes("TR=16..64:16") == {"TR": ("16", "32", "48", "64")}
    assert axes("TR=16..63:16", "s=1..4") == {"TR": ("16", "32", "48"), "s": ("1", "2", "3", "4")}
    assert axes("TR = -1..1") == {"TR": ("-1", "0", "1")}
    assert axes("TR=0x10..0x12") == {"TR": ("16", "17", "18")}
    assert axes("m=rint, floor", "g=1,2.5") == {"m": ("rint", "floor"), "g": ("1", "2.5")}
    assert axes("TR=8,16..32:8") == {"TR": ("8", "16", "24", "32")}
    assert axes("TR=min(R, 64),R // 2") == {"TR": ("min(R, 64)", "R // 2")}
    assert axes("TR=64,0x40,32,64") == {"TR": ("64", "32")}
    space = parse_space(["TR=1..3", "C=8", "s=4..4", "TR=5,6"])
    assert ({axis.name: axis.values for axis in space.axes}, space.fixed) == ({"TR": ("5", "6")}, {"C": "8", "s": "4"})
    assert list(space.choices()) == [{"TR": "5"}, {"TR": "6"}]


def test_a_value_in_a_file_is_one_value(tmp_path: Path) -> None:
    (tmp_path / "k.defines").write_text("mode: 'a,b'\nTR: 1..4\n")
    space = parse_space([f"@{tmp_path}/k.defines"])
    assert (space.axes, space.fixed) == ((), {"mode": "a,b", "TR": "1..4"})


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("TR=3..1", "the range is empty, it counts up; write the smaller number first, TR=1..3"),
        ("TR=64..16:16", "TR=16..64:16"),
        ("TR=1..4:0", "the step `0` is no integer above 0"),
        ("TR=1..4:-1", "the step `-1`"),
        ("TR=1..4:x", "the step `x`"),
        ("TR=1..4:", "the step ``"),
        ("TR=a..b", "a range goes from one integer to another"),
        ("TR=1.5..2.5", "a range goes from one integer to another"),
        ("TR=1..", "a range goes from one integer to another"),
        ("TR=..4", "a range goes from one integer to another"),
        ("TR=1..2..3", "a range goes from one integer to another"),
        ("TR=true..2", "a range goes from one integer to another"),
        ("TR=1,,2", "no value between two commas"),
        ("TR=1,", "no value between two commas"),
        ("TR=", "no value behind the sign"),
        ("TR", "write -D NAME=VALUE"),
        ("TR=1..999999999999", "999,999,999,999 candidates, at most 256 are tried"),
        ("TR=-9223372036854775808..9223372036854775807", "at most 256 are tried"),
        ("TR=1..9999999999999999999", "a range goes from one integer to another"),
    ],
)
def test_mistakes_in_the_values(word: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_space([word])
    assert said in str(caught.value)


def test_too_many_candidates_say_how_many() -> None:
    with pytest.raises(UsageError, match=r"20 x 20 = 400 candidates, at most 256 .* --most 400"):
        parse_space(["A=1..20", "B=1..20"])
    assert len(list(parse_space(["A=1..20", "B=1..20"], 400).choices())) == 400


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["TX=1..2"], "has no constant `TX`; the constants are R, C, TR, stages"),
        (["stage=1..2"], "did you mean `stages`"),
        (["TR=16,32", "X=1"], "has no constant `X`"),
        (["TR=16"], "nothing to choose from; give a constant several values, such as -D TR=16..64:16"),
        ([], "nothing to choose from"),
    ],
)
def test_the_space_is_of_the_spec(words: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        tuned(PIPELINED, *words)
    assert said in str(caught.value)


def test_two_stages_win_where_copies_decide() -> None:
    made = tuned(PIPELINED, "stages=1..2", "TR=64")
    first, second = made.ranking.ranked
    assert made.winner is first
    assert first.choice == {"stages": "2"}
    assert (made.current is second, made.space.fixed) == (True, {"TR": "64"})
    assert first.figures.timeline.cycles < 0.7 * second.figures.timeline.cycles
    assert first.figures.timeline.bound_by == "mte2"


def test_figures_are_those_of_a_build() -> None:
    made = tuned(PIPELINED, "TR=16,32", "stages=2,3")
    assert len(made.ranking.ranked) == 4
    for candidate in made.ranking.ranked:
        program = compile_spec(spec_of(PIPELINED), defines=candidate.choice).program
        assert program is not None
        timeline = modelled(program, TARGETS["a2a3"])
        assert candidate.figures.timeline.cycles == timeline.cycles
    cycles = [c.figures.timeline.cycles for c in made.ranking.ranked]
    assert cycles == sorted(cycles)


def test_ties_take_fewer_bytes_then_smaller_values() -> None:
    """With 64 rows, two stages fit: four are as two, and take the same bytes."""
    made = tuned(PIPELINED, "stages=4,2", "TR=64")
    assert [c.choice["stages"] for c in made.ranking.ranked] == ["2", "4"]
    one, other = (c.figures for c in made.ranking.ranked)
    assert (one.timeline.cycles, one.bytes) == (other.timeline.cycles, other.bytes)
    assert [(d.requested, d.achieved, d.memory) for d in other.depths] == [(4, 2, "vec")]
    idle = PIPELINED.replace("stages: 1}", "stages: 1, unused: 1}")
    made = tuned(idle, "unused=3,-1,2")
    assert [c.values for c in made.ranking.ranked] == [(-1,), (2,), (3,)]


def test_fewer_bytes_win_where_cycles_are_equal() -> None:
    made = tuned(PIPELINED, "TR=32,64", "stages=1")
    one = made.ranking.ranked[0].figures
    much, little = (
        Candidate({"TR": text}, (int(text),), replace(one, memory={"vec": size}))
        for text, size in (("32", 2048), ("64", 1024))
    )
    assert rank([much, little], made.current, ["TR"]).ranked == (little, much)


def test_bytes_on_chip_are_those_of_the_largest_kernel() -> None:
    head, body = PIPELINED.split("program:\n")
    region, golden = body.split("golden:")
    small = region.replace("region: scaled", "region: again").replace("TR", "8").replace("stages: stages", "stages: 1")
    source = f"{head}program:\n{region}{small}golden:{golden}"
    program = compile_spec(spec_of(source)).program
    assert program is not None
    kernels = [kernel.memory["vec"] for kernel in render_kernels(program, "").kernels]
    assert kernels == [16384, 8192]
    found = model(spec_of(source), {})
    assert isinstance(found, Modelled)
    assert found.memory == {"vec": 16384}


def test_what_does_not_compile_is_listed() -> None:
    made = tuned(PIPELINED, "TR=64,192,words")
    assert [c.choice["TR"] for c in made.ranking.ranked] == ["64"]
    found = {c.values: c.result for c in made.ranking.refused}
    assert all(isinstance(r, Refused) for r in found.values())
    assert {values: r.code for values, r in found.items() if isinstance(r, Refused)} == {
        (192,): "PS4001", ("words",): "PS2011",
    }  # fmt: skip
    assert (made.failed, made.findings) == (False, [])


def test_what_does_less_is_no_candidate() -> None:
    """80 does not divide 1024: the rest would not be computed, which takes less time."""
    made = tuned(PIPELINED, "TR=64,80", "stages=2")
    assert [c.choice["TR"] for c in made.ranking.ranked] == ["64"]
    (other,) = made.ranking.refused
    assert isinstance(other.result, Refused)
    assert other.result.code == "PS2035"
    partly = PIPELINED.replace("R: 1024", "R: 1000")
    assert len(tuned(partly, "TR=64,80", "stages=2").ranking.ranked) == 2


def test_without_any_program_the_spec_is_to_blame() -> None:
    made = tuned(PIPELINED.replace("t * 2", "u * 2"), "TR=16,32")
    assert (made.winner, made.why) == (None, "no candidate gives a program")
    assert [d.rule.code for d in made.findings] == ["PS2001"]
    made = tuned(PIPELINED, "TR=192,256")
    assert (made.winner, made.why, made.findings) == (None, "no candidate gives a program", [])


def test_arguments_of_other_sizes_are_compared_by_element() -> None:
    made = tuned(RESIZED, "TR=16,64", "stages=2")
    assert (made.ranking.resized, made.ranking.resizing) == (True, ("TR",))
    first, second = made.ranking.ranked
    assert first.choice["TR"] == "64"
    assert first.figures.timeline.cycles > second.figures.timeline.cycles
    assert first.figures.elements == 8 * 64 * 256
    assert first.figures.per_element == Fraction(first.figures.timeline.cycles, 8 * 64 * 256)
    assert "the arguments change with `TR`" in text(made, 0)
    assert not tuned(RESIZED, "stages=1,2").ranking.resized


def test_the_current_values_have_a_place() -> None:
    made = tuned(PIPELINED, "TR=32,64", "stages=2")
    assert made.current not in made.ranking.ranked
    assert made.ranking.place(made.current) == 3
    assert made.current.values == (16,)
    assert "(TR=16) are no candidate and would be at place 3: modelled 1.43 times as long" in text(made, 0)
    written = PIPELINED.replace("TR: 16", "TR: R // 16")
    made = tuned(written, "TR=32,64")
    assert made.current is next(c for c in made.ranking.ranked if c.values == (64,))
    made = tuned(written, "TR=16,32")
    assert "(TR=64) are no candidate and better than all of them" in text(made, 0)


def test_run_time_sizes_are_the_goldens_first() -> None:
    made = tuned(RUN_TIME, "TR=16,32", "gain=1,2")
    assert made.current.values == (16, 2.0)
    assert made.current in made.ranking.ranked
    assert {c.figures.elements for c in made.ranking.ranked} == {100 * 64}
    assert "modelled for M = 100 (the golden's first)" in text(made, 0)


def test_a_program_too_long_to_model_does_not_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "MOST_EVENTS", 150)
    made = tuned(PIPELINED, "stages=1,4")
    whole = [(c.choice["stages"], c.figures.timeline.complete) for c in made.ranking.ranked]
    assert whole == [("1", True), ("4", False)]
    assert made.winner is made.ranking.ranked[0]
    monkeypatch.setattr(timelines, "MOST_EVENTS", 10)
    made = tuned(PIPELINED, "stages=1,4")
    assert made.winner is None
    assert "no candidate can be modelled to its end" in (made.why or "")


def test_the_axes_of_variants_are_not_tuned() -> None:
    one = next(s for s in variants_of(spec_of(VARIANTS)) if s.variant == "C64")
    made = tune_spec(one, parse_space(["TR=16,32"]), TuneOptions(0, 1))
    assert made.winner is not None
    assert made.winner.figures.timeline.program == "scaled__C64"
    assert made.winner.figures.elements == 1024 * 64
    with pytest.raises(UsageError, match=r"the variants of k\.yaml give `C` its values"):
        tune_spec(one, parse_space(["C=16,32"]), TuneOptions(0, 1))


def test_the_same_answer_whoever_works() -> None:
    words = ("TR=16..96:16", "stages=1..3")
    one, other = (tuned(PIPELINED, *words, jobs=jobs) for jobs in (1, 2))
    assert text(one, 0) == text(other, 0)
    assert document_text(one, None) == document_text(other, None)


def test_documents_are_as_the_schema_says() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    for source, words in (
        (PIPELINED, ("TR=64,80,192", "stages=2..4", "C=128")),
        (PIPELINED, ("TR=192,256",)),
        (RESIZED, ("TR=16,64",)),
        (RUN_TIME, ("TR=16,32", "gain=1,2.5")),
        (PIPELINED.replace("t * 2", "u"), ("TR=64,80",)),
    ):
        document = json.loads(document_text(tuned(source, *words), None))
        Draft202012Validator(schema).validate(document)
        assert document["modelled"] is True


torch_needed = pytest.mark.skipif(find_spec("torch") is None, reason="goldens compare with torch")


@torch_needed
def test_a_failing_golden_never_wins() -> None:
    made = tuned(REPEATED, "reps=1..3", goldens=1)
    assert [(c.choice["reps"], c.golden) for c in made.ranking.ranked] == [("1", False), ("2", True), ("3", None)]
    assert made.winner is made.ranking.ranked[1]
    (failed, *_) = made.ranking.ranked
    assert failed.said is not None
    assert failed.said.code == "PS7030"
    assert tuned(REPEATED, "reps=1..3", goldens=0).winner is not made.winner
    document = json.loads(document_text(made, "d"))
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document)
    assert document["candidates"][0]["golden_code"] == "PS7030"


@torch_needed
def test_a_golden_that_is_wrong_itself_is_not_run_for_all() -> None:
    wrong = REPEATED.replace("x * 4", "x * 5")
    made = tuned(wrong, "reps=1..2", "TR=8,16,32,64", "C=32", goldens=2)
    ran = [c for c in made.ranking.ranked if c.golden is not None]
    assert made.winner is None
    assert made.why is not None
    assert made.why.startswith("the golden fails with the current values as well; `pypto-spec test k.yaml -D C=32`")
    assert len(ran) == 3
    assert made.current in ran
    made = tuned(wrong, "reps=1,3", goldens=1)
    assert made.current.golden is False


@torch_needed
def test_no_golden_is_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    plain = goldens.rendered

    def counted(*args: Any) -> goldens.Tested:
        ran.append(args[1]["reps"])
        return plain(*args)

    monkeypatch.setattr(goldens, "rendered", counted)
    made = tuned(REPEATED, "reps=1,2,3", goldens=1)
    assert made.winner is made.current
    assert ran == ["1", "2"]


@torch_needed
def test_none_of_the_candidates_is_right() -> None:
    made = tuned(REPEATED, "reps=1,3,4", goldens=1)
    assert [c.golden for c in made.ranking.ranked] == [False, False, False]
    assert (made.winner, made.why) == (None, "the golden of no candidate is good")
    assert made.current.golden is True


@torch_needed
def test_goldens_of_several_at_once() -> None:
    made = tuned(PIPELINED.replace("R: 1024", "R: 128"), "TR=16,32,64", "stages=1..2", goldens=3)
    assert [c.golden for c in made.ranking.ranked] == [True, True, True, None, None, None]


def test_without_the_tools_for_goldens(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise UsageError("there is no C++ compiler")

    monkeypatch.setattr(goldens, "make_ready", missing)
    with pytest.raises(UsageError, match=r"no C\+\+ compiler\n.*--goldens 0"):
        tuned(PIPELINED, "TR=16,32", goldens=1)


def test_goldens_of_a_target_without_kernels() -> None:
    other = PIPELINED.replace("constants:", "target: a5\nconstants:")
    with pytest.raises(UsageError, match="goldens cannot be run for `a5`; rank without them: --goldens 0"):
        tuned(other, "TR=16,32", goldens=1)
    assert tuned(other, "TR=16,32").winner is not None

"""Choices in words and as documents, and questions from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pypto_spec.driver.explain_tiling import LARGEST, Question, parse_dtype, parse_shape, subject_of
from pypto_spec.driver.inputs import UsageError
from pypto_spec.driver.tiling.document import SCHEMA, document_text
from pypto_spec.driver.tiling.subject import Subject, runners_up
from pypto_spec.driver.tiling.text import text
from pypto_spec.driver.tiling.words import reason
from pypto_spec.ir.types import Memory
from pypto_spec.passes.l0.choice import Choice, Why
from pypto_spec.passes.l0.problem import FORMS, Form, Stationary, Width, pose
from pypto_spec.passes.l0.refusals import Reason
from pypto_spec.passes.l0.search import candidates, rank
from pypto_spec.targets import A2A3

QUESTIONS = (
    Question("256,256,128", "bf16"),
    Question("256,256,128", "bf16", planner="ptoas"),
    Question("256,256,128", "bf16", l0c_double_buffer=True, platform="a5"),
    Question("4096,4096,4096", "fp16", planner="ptoas"),
    Question("64,256,64", "fp16", planner="ptoas"),
    Question("24,16,512", "bf16", planner="ptoas"),
    Question("16,1152,512", "int8"),
    Question("1,100,36", "fp32", pad=True, bias="mat"),
    Question("1,100,36", "fp32"),
    Question("64,64,36", "bf16"),
    Question("64,64,64", "int16"),
    Question("512,160,256", "bf16", bias="bias"),
    Question("512,512,256", "bf16", bias="bias"),
    Question("20,100,48", "bf16", bias="mat"),
)


def choice_of(subject: Subject) -> Choice:
    assert isinstance(subject.choice, Choice)
    return subject.choice


def document(*subjects: Subject, most: int = 0) -> dict[str, Any]:
    plain = json.loads(document_text(subjects, most))
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(plain)
    assert isinstance(plain, dict)
    return plain


def test_the_schema_is_a_schema_and_knows_all_words() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    defs = schema["$defs"]
    assert defs["form"]["properties"]["why"]["enum"] == [w.value for w in Why]
    said = defs["matmul"]["properties"]["refused"]["anyOf"][1]["properties"]
    assert said["reason"]["enum"] == [r.value for r in Reason]
    assert defs["stationary"]["enum"] == [s.value for s in Stationary]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_documents_are_as_the_schema_says(question: Question) -> None:
    subject = subject_of(question)
    (matmul,) = document(subject, most=3)["matmuls"]
    assert matmul["shape"] == dict(zip("mnk", parse_shape(question.shape), strict=True))
    if matmul["refused"] is not None:
        assert matmul["winner"] is None
        return
    choice = choice_of(subject)
    taken = [form for form in matmul["forms"] if form["why"] == "taken"]
    assert [form["best"] for form in taken] == [matmul["winner"]]
    assert matmul["winner"]["wall_cycles"] == choice.winner.terms.wall
    assert matmul["legal"] == sum(form["legal"] for form in matmul["forms"])
    for form in matmul["forms"]:
        if form["best"] is not None:
            assert form["more_cycles"] == form["best"]["wall_cycles"] - matmul["winner"]["wall_cycles"]
    for buffers in matmul["buffers"].values():
        assert buffers["count"] * buffers["bytes"] <= buffers["available"]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_texts_name_every_form_and_the_figures(question: Question) -> None:
    subject = subject_of(question)
    shown = text([subject], 2)
    if not isinstance(subject.choice, Choice):
        refused = subject.choice
        assert f"[{refused.code}]: {refused.text}\n  help: {refused.help}\n" in shown
        return
    assert all(len(line) <= 120 for line in shown.splitlines())
    choice = subject.choice
    rows = [line.split() for line in shown.splitlines() if line.startswith(("     ", "  *  "))]
    marked = [row for row in rows if row[0] == "*"]
    assert len(marked) == 1
    assert marked[0][-1] == f"{choice.winner.terms.wall:,}"
    for considered in choice.forms:
        if considered.form != choice.winner.form:
            assert reason(choice, considered) in shown


def test_several_matmuls_are_one_document() -> None:
    first, second = subject_of(QUESTIONS[0]), replace(subject_of(QUESTIONS[3]), where="region mm, `c`")
    assert [m["where"] for m in document(first, second)["matmuls"]] == [None, "region mm, `c`"]
    shown = text([first, second])
    assert "\n\nregion mm, `c`: [4096, 4096] @ [4096, 4096] of fp16" in shown
    assert shown.count("not measured") == 1


def test_next_best_tiles_are_in_order_and_of_the_winners_form() -> None:
    choice = choice_of(subject_of(QUESTIONS[0]))
    every = sorted(candidates(choice.problem, choice.winner.form), key=rank)
    assert [choice.winner, *runners_up(choice, 4)] == every[:5]
    assert runners_up(choice, 0) == ()
    few = choice_of(subject_of(Question("16,16,16", "fp16")))
    assert list(runners_up(few, 5)) == []


REASONS = {
    (Why.TAKEN, "taken"),
    (Why.NOT_CHEAPER, "costs 42 cycles (0.9 %) more"),
    (Why.NOT_CHEAPER, "costs the same; of equals the first is taken"),
    (Why.GATE_OFF, "would save 1,229 cycles (26.5 %); two accumulators are not asked for"),
    (Why.NEEDS_WHOLE_K, "needs tiles with all of K: at most 1,024 of 4,096 fit"),
    (Why.UNTILED, "the whole matmul fits, so nothing is cut; would save 59 cycles (5.1 %)"),
    (Why.UNTILED, "the whole matmul fits, so nothing is cut"),
    (Why.ONE_MOVING_TILE, "no tile leaves two full ones in the inner loop, so no drain runs under the next tile"),
    (Why.FORBIDDEN, "would save 42 cycles (0.9 %), but B may not stay put here"),
    (Why.BIAS_TOO_WIDE, "several biases are in flight, and the bias table has 128 columns for all"),
    (Why.NO_ROOM, "not even the smallest tile fits"),
}


def test_every_reason_in_words() -> None:
    plain = pose(A2A3, 256, 256, 128, parse_dtype("bf16"))
    biased = replace(pose(A2A3, 2048, 128, 64, parse_dtype("bf16")), width=Width(128, 64, 32, whole=True))
    cramped = replace(pose(A2A3, 64, 64, 32, parse_dtype("bf16")), acc_bytes=16 * 16 * 4)
    forced = replace(plain, stationary=(Stationary.OUTPUT,))
    subjects = [
        *(subject_of(question) for question in (QUESTIONS[0], QUESTIONS[3], QUESTIONS[4], QUESTIONS[5])),
        subject_of(Question("256,256,64", "bf16")),
        *(Subject(problem, "a2a3", "pypto") for problem in (biased, cramped, forced)),
    ]
    said = {
        (c.verdict.why, reason(s.choice, c)) for s in subjects if isinstance(s.choice, Choice) for c in s.choice.forms
    }
    assert said >= REASONS
    assert {why for why, _ in REASONS} == set(Why)


def test_what_the_buffers_take() -> None:
    (matmul,) = document(subject_of(QUESTIONS[0]))["matmuls"]
    assert matmul["buffers"] == {
        "left": {"count": 2, "bytes": 32_768, "available": 65_536},
        "right": {"count": 1, "bytes": 65_536, "available": 65_536},
        "acc": {"count": 1, "bytes": 131_072, "available": 131_072},
    }
    (int8,) = document(subject_of(Question("16,32,64", "int8")))["matmuls"]
    assert {name: b["bytes"] for name, b in int8["buffers"].items()} == {
        "left": 32 * 64,  # int8 comes in squares of 32 x 32
        "right": 64 * 32,
        "acc": 32 * 32 * 4,  # rows of int32 are padded to 32
    }
    assert {b["count"] for b in int8["buffers"].values()} == {1}


def test_the_help_for_two_accumulators_stands_where_it_helps() -> None:
    assert "help: for two accumulators, set `l0c_double_buffer: true`" in text([subject_of(QUESTIONS[0])])
    assert "help:" not in text([subject_of(QUESTIONS[1])])
    opened = choice_of(subject_of(replace(QUESTIONS[0], l0c_double_buffer=True)))
    assert opened.winner.form == Form(Stationary.B, double=True)
    assert opened.winner == choice_of(subject_of(QUESTIONS[1])).winner
    assert [c.form for c in opened.forms] == list(FORMS)


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ("256,128,64", (256, 128, 64)),
        (" 1 x 2 x 3 ", (1, 2, 3)),
        ("16,16x16", (16, 16, 16)),
        (f"{LARGEST},1,1", (LARGEST, 1, 1)),
    ],
)
def test_shapes(written: str, shape: tuple[int, int, int]) -> None:
    assert parse_shape(written) == shape


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "`` is no shape of a matmul; write M,N,K, such as 256,256,128"),
        ("256,256", "`256,256` is no shape"),
        ("256,256,256,256", "is no shape"),
        ("256,-1,16", "is no shape"),
        ("256,1e3,16", "is no shape"),
        ("٣,٣,٣", "is no shape"),
        ("9999999999,1,1", "is no shape"),
        ("0,16,16", "M is 0; it has to be from 1 to 1,048,576"),
        ("16,16,1048577", "K is 1,048,577; it has to be from 1 to 1,048,576"),
    ],
)
def test_shapes_that_are_none(written: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_shape(written)
    assert said in str(error.value)


def test_dtypes() -> None:
    assert parse_dtype(" BF16 ").name == "bf16"
    with pytest.raises(UsageError, match="there is no dtype `bf61`; did you mean `bf16`"):
        parse_dtype("bf61")
    with pytest.raises(UsageError, match="there is no dtype `double`; the dtypes are fp32, fp16, "):
        parse_dtype("double")


def test_the_largest_question_is_answered() -> None:
    subject = subject_of(Question(f"{LARGEST},{LARGEST},{LARGEST}", "fp32", platform="a5", planner="ptoas"))
    assert choice_of(subject).winner.terms.wall < 2**53
    assert subject_of(Question("64,64,64", "fp16", bias="bias")).problem.width == Width(256, 256, 256, whole=True)
    assert A2A3.capacity[Memory.BIAS] == 1024
